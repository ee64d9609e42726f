"""Training by several workers, each with the nodes of its parts of the graph and with all of the weights."""
