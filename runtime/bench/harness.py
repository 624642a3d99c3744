"""Interleaved measurement of the variants of a case, so that disturbances affect all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import numpy as np

from ...kernels.catalogue import TOLERANCES
from ..calling.errors import KernelError
from ..jit.threads import pinned
from ..machine.probes import probes
from ..measuring.compare import ROUNDING, Agreement, compare
from ..measuring.timing import Timing, is_steady
from .case import Array, Case, NotApplicable
from .variant import Prepared, Variant

TURN_SECONDS = 0.01
"""How long a variant runs before it is the next one's turn, if a call is not longer than that."""

WARM_UP_SECONDS = 0.03
MAXIMUM_CALLS = 2000

TOO_LONG_TO_REPEAT = 10.0
"""Seconds of a first run that counts, although it may have touched memory for the first time."""

PART = 1 << 24
"""Elements that are compared at a time."""


@dataclass
class Outcome:
    """Result of a variant on a case: its times, or (`obstacle`) the reason for none.

    `agreements` compare its results with those of the unscheduled program, array by array;
    relative differences up to `rounding` are fine.
    """

    variant: Variant
    seconds: list[float] = field(default_factory=list[float])
    agreements: list[Agreement] = field(default_factory=list[Agreement])
    obstacle: str | None = None
    was_pinned: bool = False
    rounding: float = 0.0

    @property
    def timing(self) -> Timing | None:
        """The times; None when the variant did not run."""
        if not self.seconds:
            return None
        return Timing(
            tuple(self.seconds),
            self.variant.threads,
            self.was_pinned,
            False,
            is_steady(self.seconds),
        )

    @property
    def agrees(self) -> bool:
        """Whether the results are right.

        The kernels that solve recurrences magnify the differences between two orders of rounding,
        such as those of two compilers, far beyond what the number of operations says.
        """
        return all(a.agrees or a.relative <= self.rounding for a in self.agreements)


def measure(
    case: Case,
    baseline: Variant,
    variants: Sequence[Variant],
    budget: float,
    progress: Callable[[str], None],
    outcomes: list[Outcome],
) -> None:
    """Prepares, checks and times every variant for `budget` seconds each at most.

    `baseline` gives the expected results. Appends to `outcomes` at once, so that after an
    interrupt they hold what is known by then.
    """
    progress("preparing the reference")
    reference = baseline.prepare(case)
    _run_pinned(baseline, reference)
    case.expected = {name: array.copy() for name, array in reference.outputs().items()}
    ready: list[tuple[Outcome, Prepared]] = []
    for variant in variants:
        progress(f"preparing {variant.name}")
        outcome = Outcome(variant, rounding=ROUNDING.get(case.entry.element_type, 0.0))
        outcomes.append(outcome)
        try:
            prepared = reference if variant is baseline else variant.prepare(case)
            first = _run_pinned(variant, prepared)
            outcome.agreements = check(case, prepared)
        except (NotApplicable, KernelError) as error:
            outcome.obstacle = str(error).partition("\n")[0]
            continue
        if first >= TOO_LONG_TO_REPEAT:
            outcome.seconds.append(first)
        else:
            ready.append((outcome, prepared))
    _warm_up()
    turn = 0
    while ready:
        turn += 1
        progress(f"turn {turn}, {len(ready)} variants to go")
        for outcome, prepared in ready:
            try:
                _take_turn(outcome, prepared)
            except NotApplicable as error:
                outcome.obstacle = str(error)
        ready = [pair for pair in ready if not _is_enough(pair[0], budget)]


def check(case: Case, prepared: Prepared) -> list[Agreement]:
    """Compares the results of the last run with the expected ones."""
    parameters = case.entry.parameter_values(case.size)
    arrays = {array.name: array for array in case.entry.arrays}
    agreements: list[Agreement] = []
    for name, result in prepared.outputs().items():
        expected = case.expected[name]
        operations = case.entry.flops(case.size) / max(1, expected.size)
        if arrays[name].determined is not None:
            mask = arrays[name].determined_mask(expected.shape, parameters)
            result, expected = (np.where(mask, a, np.zeros_like(a)) for a in (result, expected))
        agreement = _compare_in_parts(name, result, expected, operations)
        if case.entry.tolerance > TOLERANCES[case.entry.element_type]:
            # Its recurrences amplify rounding errors.
            allowed = max(agreement.tolerance, case.entry.tolerance)
            agreement = replace(agreement, tolerance=allowed)
        agreements.append(agreement)
    return agreements


def _compare_in_parts(name: str, result: Array, expected: Array, operations: float) -> Agreement:
    """As `compare`, for arrays of which there cannot be many copies."""
    result, expected = np.atleast_1d(result, expected)
    rows = max(1, PART * len(expected) // max(1, expected.size))
    starts = range(0, len(expected), rows)
    parts = [
        compare(name, result[s : s + rows], expected[s : s + rows], operations) for s in starts
    ]
    if len(parts) <= 1:
        return parts[0] if parts else compare(name, result, expected, operations)
    difference = max(part.difference for part in parts)
    scale = max(float(np.abs(expected[s : s + rows]).max()) for s in starts)
    return Agreement(
        name,
        all(part.bit_equal for part in parts),
        difference,
        difference / scale if scale else max(part.relative for part in parts),
        parts[0].tolerance,
        any(part.has_nan for part in parts),
    )


def _run_pinned(variant: Variant, prepared: Prepared) -> float:
    with pinned(variant.threads) if variant.pinned else nullcontext():
        return prepared.time()


def _take_turn(outcome: Outcome, prepared: Prepared) -> None:
    variant = outcome.variant
    with pinned(variant.threads) if variant.pinned else nullcontext(False) as is_pinned:
        outcome.was_pinned = is_pinned
        # After the other variants, caches and predictors are theirs.
        first = prepared.time()
        if first >= TURN_SECONDS:
            outcome.seconds.append(first)
        spent = 0.0
        calls = 0
        while spent < TURN_SECONDS - first and calls < MAXIMUM_CALLS:
            seconds = prepared.time()
            outcome.seconds.append(seconds)
            spent += seconds
            calls += 1
    if variant.settles:
        time.sleep(variant.settles)


def _is_enough(outcome: Outcome, budget: float) -> bool:
    total = sum(outcome.seconds)
    if outcome.obstacle is not None:
        return True
    return total >= budget or (total >= budget / 4 and is_steady(outcome.seconds))


def _warm_up() -> None:
    work = probes().arithmetic["f64"]
    end = time.perf_counter() + WARM_UP_SECONDS
    while time.perf_counter() < end:
        work(100_000)
