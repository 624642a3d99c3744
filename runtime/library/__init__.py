"""Ahead-of-time compilation: object files, shared libraries and C headers.

`interface.py` is what a C program sees of a function, `header.py` writes it down, `link.py` finds a
linker, and `build.py` puts it all together.
"""
