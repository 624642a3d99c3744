"""Proves that two programs compute the same, or shows by a run that they do not."""

from __future__ import annotations

import time
from collections.abc import Mapping

import islpy as isl

from ...dialects.errors import SourceError
from ...passes.polyhedral.bounds import BoundsError, check_bounds
from ...passes.polyhedral.equivalence.equivalence import assumption, compare
from ...passes.polyhedral.equivalence.parameters import check_signatures, with_parameters_of
from ...passes.polyhedral.equivalence.reassociation import Reassociation
from ...passes.polyhedral.equivalence.symbolic_execution import STEPS, UnsupportedError
from ...passes.polyhedral.equivalence.witness import Witness, find_witness
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.scop import Scop
from ...support.typed_values import check_kind
from ..calling.api_checks import check_flags, check_text
from ..program import Function
from .answer import Answer, Relation
from .demonstration import demonstrate
from .sizes import candidates

# For the search of a witness, after the proof and before it; small programs take far less.
SECONDS = 20.0
QUICK_SECONDS = 2.0

# Executions before the proof: differences show in a few small ones, and proofs of them are long.
QUICK_STEPS = 30_000


def verify(
    first: Function, second: Function, *, assume: str = "", fast_math: bool = False
) -> Answer:
    """Whether two functions leave the same results and arrays, for all inputs and sizes.

    Sizes for which neither leaves an array count, and among these those of which the condition
    `assume` holds, in isl's syntax, over the names of the first function: `"n >= 1 and m >= n"`.
    Array arguments do not overlap. With `fast_math`, floating-point sums and products may be in any
    order, as those of integers always. *Equal* is proved; for *different* programs there is a run
    that shows it. Raises SourceError for functions of different signatures and for those that are
    not affine, AssumptionError.
    """
    for function in (first, second):
        check_kind("verify: what is compared", function, Function, "a Function of load(FILE)")
    check_text("verify", "assume", assume)
    check_flags(first.name, fast_math=fast_math)
    check_signatures(first.function, second.function)
    with ISL_LOCK:
        other = with_parameters_of(second.scop, first.scop)
    assumed = assumption(first.scop, assume) if assume else None
    search = _Search(first, second, other, assumed, Reassociation(fast_math))
    found = search.run(None, QUICK_STEPS, QUICK_SECONDS)
    if found is not None:
        return found
    comparison = compare(first.scop, other, assumed, fast_math=fast_math)
    if comparison.is_proved:
        return Answer(Relation.EQUAL)
    found = search.run(comparison.sizes, STEPS, SECONDS)
    return found or search.unknown(comparison.reason or "")


class _Search:
    """The search for a difference of two programs."""

    def __init__(
        self,
        first: Function,
        second: Function,
        other: Scop,
        assumed: isl.Set | None,
        rules: Reassociation,
    ) -> None:
        self.functions = first, second
        self.scops = first.scop, other
        self.assumed = assumed
        self.rules = rules
        self.unshown: Witness | None = None

    def run(self, suggested: Mapping[str, int] | None, steps: int, seconds: float) -> Answer | None:
        """A difference at small sizes, if one is found in this time."""
        end = time.monotonic() + seconds
        for sizes in candidates(*self.scops, suggested, self.assumed):
            if time.monotonic() > end:
                break
            outside = self._outside(sizes)
            if isinstance(outside, Answer):
                return outside
            if outside:
                continue
            try:
                witness = find_witness(*self.scops, sizes, steps, self.rules)
            except UnsupportedError:
                continue
            if witness is None:
                continue
            run = demonstrate(*self.functions, sizes, witness, fast_math=self.rules.fast_math)
            if run is not None:
                return Answer(Relation.DIFFERENT, None, witness, run)
            self.unshown = self.unshown or witness
        return None

    def unknown(self, reason: str) -> Answer:
        """That no difference is shown, and why there is no proof either."""
        if self.unshown is not None:
            element, first, second = (
                self.unshown.element,
                self.unshown.first.value,
                self.unshown.second.value,
            )
            reason = (
                f"runs give the same, but {element} is {first} in one and {second} in the other"
            )
        return Answer(Relation.NOT_KNOWN, reason)

    def _outside(self, sizes: Mapping[str, int]) -> Answer | bool:
        """Whether both programs leave an array; the answer where one of them alone does."""
        messages: list[str | None] = []
        for scop in self.scops:
            try:
                with ISL_LOCK:
                    check_bounds(scop, sizes)
                messages.append(None)
            except BoundsError as error:
                messages.append(error.message)
            except SourceError:  # of another kind: too complex
                return True
        match messages:
            case [None, None]:
                return False
            case [str(message), None]:
                which = "first"
            case [None, str(message)]:
                which = "second"
            case _:
                return True
        values = ", ".join(f"{name}={value}" for name, value in sizes.items())
        reason = f"the {which} program alone {message}" + (f" ({values})" if values else "")
        return Answer(Relation.DIFFERENT, reason)
