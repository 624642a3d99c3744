"""How often the best interchange is among the first answers.

Source: Mezdoor et al., "A deep learning model for loop interchange", CC 2023, section 6.1. Two
orders that take the same time are told apart by noise only, so there are two counts: *strict*, as
in the paper, and one in which what is as fast as the best within the noise is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...learning.examples import ProgramExamples
from .classes import CLASSES, SHOTS, answers

NOISE = 0.05
"""Speed-ups that are measured twice differ by 2 to 3 % in the median."""

CUT_OFF = 8.0
"""How many times slower than the program what was cut off is, at least."""

_COUNTS = {"1-shot": 1, "2-shot": 2, "any-shot": SHOTS}


def times_of(program: ProgramExamples) -> NDArray[np.float64]:
    """Times of the classes (22,) relative to the program's own; infinite where not measured.

    Where all were cut off, nothing tells them apart: all count as just that slow.
    """
    times = np.full(len(CLASSES), np.inf)
    numbers = [each.number for each in program.features]
    if program.censored.all():
        times[numbers] = CUT_OFF
    else:
        times[numbers] = np.where(program.censored, np.inf, 1.0 / program.speedups)
    return times


def accuracies(
    programs: Sequence[ProgramExamples], ratings: NDArray[np.float64]
) -> Mapping[str, float]:
    """Shares of the programs; `ratings` is (programs, shots, classes).

    `strict` and `ties` with the number of shots; `loss` is by how much the first answers are
    slower than the best ones, in the geometric mean.
    """
    result = {"programs": float(len(programs))}
    orders = [
        answers(rated, [each.number for each in program.features])
        for program, rated in zip(programs, ratings, strict=True)
    ]
    times = [times_of(program) for program in programs]
    for kind, tolerance in (("strict", 0.0), ("ties", NOISE)):
        for name, count in _COUNTS.items():
            right = [
                float(found[order[:count]].min()) <= found.min() * (1 + tolerance)
                for order, found in zip(orders, times, strict=True)
            ]
            result[f"{kind} {name}"] = float(np.mean(right))
    slower = [
        min(float(found[order[0]]), CUT_OFF) / found.min()
        for order, found in zip(orders, times, strict=True)
    ]
    result["loss"] = float(np.exp(np.mean(np.log(slower))) - 1.0)
    return result
