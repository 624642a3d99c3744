"""Equivalence of two static affine programs, parametric in their sizes."""
