"""Printing of affine MLIR text, shared by the front ends."""
