"""Peers of the benchmark harness: one module each, detected at run time."""
