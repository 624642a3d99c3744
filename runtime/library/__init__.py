"""Machine code for programs in C and C++: object files, shared libraries and their headers.

`interface.py` is what a C program sees of a function, `header.py` writes it down, `link.py` finds a
linker, and `build.py` puts it all together.
"""
