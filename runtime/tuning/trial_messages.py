"""Messages of the compiling and the running process."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..calling.signature import CValue, Signature
from ..measuring.candidate_code import ObjectCode


@dataclass(frozen=True)
class Program:
    """Initial message of a compiling process: a module as text, a function, compile options.

    `sizes` binds every size by name; with `fast_math`, sums may be reassociated. `memory` is the
    limit of the process, in bytes.
    """

    text: str
    function: str
    sizes: Mapping[str, int]
    threads: int
    fast_math: bool
    memory: int


@dataclass(frozen=True)
class Comparison:
    """Required agreement of a candidate's results with the program's.

    `elements` has every array that is compared, with a Boolean array that says which elements
    count, or None for all of them; without it, all arrays are compared. `tolerance` allows
    differences where recurrences amplify rounding errors, relative to the largest value.
    """

    elements: Mapping[str, NDArray[np.bool_] | None] | None = None
    tolerance: float = 0.0


@dataclass(frozen=True)
class Arguments:
    """Initial message of a running process: the arguments of all calls, by position.

    `tolerances` are the differences of each array that is compared, relative to the largest value,
    that other roundings explain; `elements` says which elements of it count, where not all do.
    """

    signature: Signature
    arrays: Mapping[int, NDArray[Any]] = field(repr=False)
    scalars: Mapping[int, CValue]
    tolerances: Mapping[int, float]
    threads: int
    memory: int
    elements: Mapping[int, NDArray[np.bool_]] = field(
        default_factory=dict[int, NDArray[np.bool_]], repr=False
    )


@dataclass(frozen=True)
class Compiled:
    """Object code of a schedule, or the reason for none."""

    code: ObjectCode | None
    message: str = ""


@dataclass(frozen=True)
class Trial:
    """Code to run. Its results become the reference, or must agree with it.

    A first run that takes longer than `cutoff` seconds is the only one; others are repeated for
    `budget` seconds. `tile_sizes` are those that the schedule leaves open.
    """

    code: ObjectCode
    is_reference: bool
    cutoff: float
    budget: float
    tile_sizes: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Outcome:
    """The shortest run in seconds; `message` describes wrong results."""

    seconds: float
    message: str = ""

    @property
    def is_possible(self) -> bool:
        """Whether it can take so long."""
        return 0 < self.seconds < math.inf
