"""Learned cost models, one file each; `registry.py` lists them."""
