"""Reinforcement learning of register tiles: the agent, its network, and its search."""
