"""Reproductions of papers; they join through entry points, and nothing imports them."""
