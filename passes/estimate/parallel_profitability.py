"""Profitability threshold of parallel loops, in cycles and in statement instances."""

LEAST_CYCLES = 60_000
"""Work on one core from which on a second one saves more than starting it costs."""

LEAST_INSTANCES = 50_000
"""Statement instances below which a parallel loop costs more than it saves."""
