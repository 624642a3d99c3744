"""Shared by several papers: computation vectors, loop trees, recursive networks."""
