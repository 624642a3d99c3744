"""The version of loopwright."""

__version__ = "0.1.0"
