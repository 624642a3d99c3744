"""Polyhedral model: Scop, schedule tree, dependences, counting."""
