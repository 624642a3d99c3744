"""Merouani et al., "LOOPer: a learned automatic code optimizer for polyhedral compilers", 2024."""
