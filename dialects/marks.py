"""Names of the attributes by which front ends tell the compiler what types do not."""

from __future__ import annotations

UNSIGNED = "loopwright.unsigned"
"""Of arguments and results: their integers are those of the unsigned type."""

COMPLEX = "loopwright.complex"
"""Of arguments and results that are the parts of complex numbers: of arrays whose last dimension is
the part, and of real parts, whose imaginary parts come last, in order."""

FULL_RANGE = "loopwright.full_range"
"""Of a product or quotient of complex numbers: infinities are recovered from NaN, as in Annex G of
C."""

ASSUMPTION = "loopwright.assume"
"""Of a function: a set that its sizes lie in."""

REFUSED = "loopwright.refused"
"""Of a function: an array of sets that its sizes do not lie in."""
