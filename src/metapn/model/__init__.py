"""Meta-PN: propagator, transformer, their bi-level training, and the estimator."""
