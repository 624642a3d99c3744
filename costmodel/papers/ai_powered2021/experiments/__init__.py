"""Experiments of the paper, as commands: they compile and run programs."""
