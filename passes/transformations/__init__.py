"""Transformations, one file each."""
