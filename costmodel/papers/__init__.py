"""Reproductions of papers, which join loopwright through entry points; nothing imports them."""
