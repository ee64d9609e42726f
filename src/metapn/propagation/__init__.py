"""What propagates: the transition matrix, the hop stack, personalised PageRank."""
