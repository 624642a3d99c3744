"""Tuning: searches that run candidates."""
