"""Types of the part of llvmlite that loopwright uses; llvmlite itself has none."""

__version__: str
