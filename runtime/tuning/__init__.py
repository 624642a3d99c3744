"""Finding the fastest schedule of a function: runs of candidates, and what was found before."""
