"""Choosing tile sizes of one program by measuring a small part of all combinations."""
