"""Helpers independent of compilation."""
