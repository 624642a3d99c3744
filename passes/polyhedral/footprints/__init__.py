"""Footprints of programs."""
