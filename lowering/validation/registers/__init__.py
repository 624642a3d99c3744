"""Validation of register promotion: scalar replacement, predictive commoning, forwarding."""
