"""Probability tables of the program generator (see `docs/reference/data.md`).

Weights need not add up to one. A change of anything here, or in how it is used, makes other
programs of the same seeds: increase `GENERATOR_VERSION`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

GENERATOR_VERSION = 1
"""Programs of one seed are the same text as long as this is the same."""

T = TypeVar("T")

ELEMENT_TYPES = {"f32": 0.4, "f64": 0.4, "i32": 0.1, "i64": 0.1}

NESTS = {1: 0.56, 2: 0.26, 3: 0.11, 4: 0.04, 5: 0.03}
"""Loop nests that follow each other."""

DEPTHS = {1: 0.10, 2: 0.34, 3: 0.34, 4: 0.12, 5: 0.05, 6: 0.03, 7: 0.02}
"""Loops around the innermost statements of a nest; a time loop counts."""

OTHER_DEPTH = (-1, 0, 0, 0, 0, 0, 1)
"""How much the depth of a nest differs from that of the program."""

DEEPEST = 7

PATTERNS = {"assignment": 0.35, "stencil": 0.27, "reduction": 0.38}
"""What the innermost statements of a nest do, by Tiramisu's three patterns."""

LEAST_DEPTHS = {"reduction": 2, "contraction": 3}
"""Loops around statements of these patterns, at least."""

STATEMENTS = {1: 0.78, 2: 0.16, 3: 0.06}
"""Statements in an innermost loop; those after the first may be of another pattern."""

OTHER_PATTERN = 0.3

TIME_LOOP = 0.13
"""Programs whose nests are repeated by a time loop."""

TIME_STEPS = (2, 3, 4, 5, 8, 10, 16, 20, 32, 50)

IN_PLACE = 0.22
"""Stencils that overwrite what they read (Gauss-Seidel instead of Jacobi)."""

SIZE_SYMBOLS = {1: 0.35, 2: 0.35, 3: 0.22, 4: 0.08}
"""Different symbolic sizes of a program; nests draw their loops from these."""

WINDOW = 0.22
"""Nests of three or more loops that have one or two loops of a small constant extent."""

WINDOW_EXTENTS = {2: 0.15, 3: 0.5, 4: 0.1, 5: 0.2, 7: 0.05}

TRIANGULAR = 0.35
"""Loops whose bounds depend on an outer loop over the same size, where there is one."""

TRIANGULAR_FORMS = {
    "below": 0.3,
    "below-inclusive": 0.15,
    "above": 0.15,
    "above-exclusive": 0.2,
    "trapezoid": 0.1,
    "band": 0.1,
}

STATEMENT_BETWEEN = 0.14
"""Levels of a nest with a statement before or after the loop inside: imperfect nests."""

BRANCH = 0.08
"""Levels of a nest with two loops inside, one after the other."""

READS = {
    1: 0.13,
    2: 0.29,
    3: 0.22,
    4: 0.14,
    5: 0.08,
    6: 0.05,
    8: 0.04,
    10: 0.02,
    14: 0.02,
    20: 0.01,
}
"""Array elements that an assignment reads."""

STENCIL_SHAPES = {"star": 0.5, "box": 0.3, "random": 0.2}

STENCIL_RADII = {1: 0.8, 2: 0.17, 3: 0.03}

MOST_READS = 20

REDUCTION_LOOPS = {1: 0.62, 2: 0.28, 3: 0.10}

REDUCTION_INNERMOST = 0.65
"""Reductions over the innermost loops; the others reduce over any."""

PERMUTED_SUBSCRIPTS = 0.22
"""Arrays whose subscripts are in another order than the loops: strided and transposed accesses."""

STRIDED_SUBSCRIPTS = 0.03
"""Subscripts of the form `2 * i`."""

SHIFTED_SUBSCRIPTS = 0.08
"""Subscripts of the form `i + c` outside of stencils."""

REUSE_ARRAY = 0.72
"""Reads of an array that is there already, rather than of a new input."""

EVERY_LOOP = 0.85
"""Reads that are chosen so that the statement's value depends on a loop of which it did not yet."""

FLOAT_OPERATIONS = {
    "addf": 0.36,
    "subf": 0.17,
    "mulf": 0.31,
    "divf": 0.04,
    "maximumf": 0.03,
    "minimumf": 0.03,
}

INTEGER_OPERATIONS = {
    "addi": 0.4,
    "subi": 0.18,
    "muli": 0.24,
    "maxsi": 0.06,
    "minsi": 0.06,
    "xori": 0.03,
    "andi": 0.03,
}

CALL = 0.05
"""Reads to which a function is applied."""

CALLS = {"sqrt": 0.45, "absf": 0.3, "exp": 0.2, "tanh": 0.05}

CONTRACTED_LOOPS = {1: 0.85, 2: 0.15}
"""Loops that a contraction reduces over."""

SHARED_BY_FACTORS = 0.25
"""Loops that are not reduced over and that both factors of a contraction depend on, beyond two."""

TRANSPOSED_FACTOR = 0.5
"""Factors of a contraction whose subscripts are in any order."""

REUSED_FACTOR = 0.5
"""Factors that are an array of the right dimensions which is there already."""

SCALED_CONTRACTION = 0.3
"""Contractions whose terms are multiplied by a scalar."""

FLOAT_REDUCTIONS = {"addf": 0.8, "subf": 0.05, "maximumf": 0.08, "minimumf": 0.07}

INTEGER_REDUCTIONS = {"addi": 0.75, "maxsi": 0.12, "minsi": 0.08, "muli": 0.05}

SECONDS = (6e-4, 2.5e-2)
"""The estimated time of an unscheduled run in scalar code, between these on a logarithmic scale.

Vectors and invariants that are hoisted make it shorter, by a factor of about 15 in the median.
"""


@dataclass(frozen=True)
class Mix:
    """Parameters of a kind of random programs; the defaults are those of the general mix."""

    nests: Mapping[int, float]
    depths: Mapping[int, float]
    seconds: tuple[float, float]
    triangular: float = TRIANGULAR
    patterns: Mapping[str, float] = field(default_factory=lambda: PATTERNS)
    time_loop: float = TIME_LOOP


GENERAL = Mix(NESTS, DEPTHS, SECONDS)

CONTRACTION = Mix(
    nests={1: 0.5, 2: 0.33, 3: 0.17},
    depths={3: 0.75, 4: 0.2, 5: 0.05},
    seconds=(5e-3, 1.2e-1),
    triangular=0.3,
    patterns={"contraction": 0.85, "reduction": 0.05, "assignment": 0.1},
    time_loop=0.0,
)
"""Sums of products of arrays that depend on some of the loops each, large enough for panels."""

MOST_BYTES = 48 << 20
"""All arrays of a program together."""

SNAPPED_SIZES = 0.5
"""Sizes that are rounded to a multiple of a power of two."""

RETRIES = 20
"""Attempts per seed until a program is accepted."""


def draw(random: Random, weights: Mapping[T, float]) -> T:
    """A key, as often as its weight says."""
    return random.choices(list(weights), list(weights.values()))[0]
