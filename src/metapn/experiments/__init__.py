"""Protocols, runs and statistics."""
