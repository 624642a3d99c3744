"""Ranges of the numbers that the API and the commands take."""

from __future__ import annotations

MOST_THREADS = 1024
"""More than any machine has cores for."""

MOST_SECONDS = 10**9
"""About 30 years; the system's calls that wait take no more than ten times of it."""

INDICES = range(-(2**63), 2**63)
"""The values of `index`."""
