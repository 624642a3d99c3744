"""Which two loops of a nest to interchange: models that answer for all pairs at once."""
