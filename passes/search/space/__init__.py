"""The search space: levels of moves, each a few legal steps, and where searches start."""
