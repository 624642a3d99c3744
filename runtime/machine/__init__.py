"""Measured limits and the fingerprint of this machine."""
