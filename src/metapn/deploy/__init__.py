"""What leaves the house: the run folder, predictions for new nodes, ONNX."""
