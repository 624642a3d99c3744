"""The kernels shipped with loopwright, as package data (see `catalogue`)."""
