"""What comes in: benchmark files, a user's own file, neighbour graphs, synthetic graphs, and splits."""
