"""Names in generated modules: symbols of functions and records, marks, OpenMP's functions."""

from __future__ import annotations

FAILED_ALLOCATIONS = "loopwright_failed_allocations"
"""Counts allocations that failed; a module that allocates from the heap defines it."""

BOUNDS_VIOLATION = "loopwright_bounds_violation"
"""The record of accesses outside of arrays: how many there were; of the first one the array's
name, the number of the subscript, its value, the extent."""

ELEMENT_NUMBER = -1
"""In place of a subscript's number: the element is counted in the whole array, row by row."""

EXPLICIT_VECTORS = '"loopwright-explicit-vectors"'
"""The attribute of functions in whose module LLVM has nothing left to vectorise."""

RUNTIME_FUNCTIONS = ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads")
"""What parallel loops call of the OpenMP runtime."""


def symbol(name: str) -> str:
    """The symbol of function `name`; the prefix keeps it apart from the C library's functions."""
    return f"loopwright_{name}"
