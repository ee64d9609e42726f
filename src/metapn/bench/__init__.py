"""What is timed: always a ratio of two things in one run, because machines are noisy and differ."""
