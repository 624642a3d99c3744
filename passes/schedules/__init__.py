"""Schedules: the core objects, legality and its explanations."""
