"""What one may believe: a look at the data first, calibrated probabilities, honest scores, what to label next."""
