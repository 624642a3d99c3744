"""A transformation, a cost model and a search for loopwright."""
