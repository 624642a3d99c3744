"""The shipped kernels, as package data (see `catalogue`)."""
