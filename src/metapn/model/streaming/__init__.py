"""Training and prediction that read the graph, and features if need be, block by block from an engine."""
