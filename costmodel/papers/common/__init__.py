"""What several papers share: computation vectors, loop trees, recursive networks."""
