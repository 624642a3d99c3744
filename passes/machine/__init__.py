"""Machines: performance model, named targets, detection of the host."""
