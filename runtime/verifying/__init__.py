"""Comparison of two programs: a proof that they are equal, or a run that tells them apart."""
