"""Front ends: programs in other languages, translated to affine MLIR text."""
