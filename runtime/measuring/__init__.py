"""Measurement of candidates: child processes, timing, comparison of results."""
