"""Are two static affine programs equal, for all sizes for which they are defined?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from ....dialects.errors import SourceError
from ....support.user_error import UserError
from ..bounds import sizes_outside
from ..isl_context import ISL_LOCK, TooComplexError, bounded, coalesced
from ..scop import Array, Scop
from .last_writers import LastWriters, written
from .proof import Proof, UndecidedError, UnequalTermsError
from .reassociation import Reassociation

OPERATIONS = 50_000_000
"""What isl may spend on one comparison: some ten seconds."""

_PARAM = isl.dim_type.param


class AssumptionError(UserError):
    """A condition that is none on sizes; `str()` is one line."""


class OutsideError(Exception):
    """One program leaves an array for sizes for which the other does not."""

    def __init__(self, reason: str, sizes: isl.Set) -> None:
        super().__init__(reason)
        self.sizes = sizes


@dataclass(frozen=True)
class Comparison:
    """What a proof has come to: proved where there is no reason why not.

    `sizes` are such that the first term that was not shown to be equal is needed, where there are
    any: candidates for a witness.
    """

    reason: str | None = None
    sizes: Mapping[str, int] | None = None

    @property
    def is_proved(self) -> bool:
        """Whether the programs are equal."""
        return self.reason is None


def assumption(scop: Scop, condition: str) -> isl.Set:
    """The sizes for which a condition in isl's syntax holds; raises AssumptionError."""
    names = ", ".join(size.name for size in scop.sizes)
    with ISL_LOCK:
        try:
            return isl.Set(f"[{names}] -> {{ : {condition or '1 = 1'} }}").params()
        except isl.Error:
            raise AssumptionError(
                f"cannot read the assumption '{condition}'; it is a condition on sizes, such as "
                f"'n >= 1 and m >= n', of {names or 'which there are none'}"
            ) from None


def compare(
    first: Scop,
    second: Scop,
    assumed: isl.Set | None = None,
    *,
    fast_math: bool = False,
    operations: int = OPERATIONS,
    replaces: bool = False,
) -> Comparison:
    """Whether two programs leave the same values, for all sizes with which neither is undefined.

    Scalar results count, and all elements of array arguments. With `assumed`, only those of its
    sizes count (see `assumption`). Programs must have the same parameters (`with_parameters_of`).
    Operations that are exact in any order may be in any; with `fast_math`, also sums and products
    of floating-point numbers. With `replaces`, sizes do not count with which only the first program
    leaves an array: the second one may stand for it. The limits are operations and CPU time of
    isl: the answer is the same on a busy machine.
    """
    if first.opaque_statements or second.opaque_statements:
        return Comparison("parts of a program are not affine")
    rules = Reassociation(fast_math)
    attempts: list[Reassociation | None] = [None]
    if any(_reassociates(scop, rules) for scop in (first, second)):
        # Few sums are in order with fast math; those that are need no rules.
        attempts = [rules, None] if fast_math else [None, rules]
    comparisons: list[Comparison] = []
    with bounded():
        # Both attempts together: isl is not stopped twice.
        for each in attempts:
            found = _prove(first, second, assumed, each, operations, replaces)
            if found.is_proved:
                return found
            comparisons.append(found)
    return comparisons[0 if fast_math else -1]


def _reassociates(scop: Scop, rules: Reassociation) -> bool:
    return any(
        rules.name(operation.name, frozenset(operation.properties.items())) is not None
        for statement in scop.statements
        for operation in statement.body
    )


def _prove(
    first: Scop,
    second: Scop,
    assumed: isl.Set | None,
    rules: Reassociation | None,
    operations: int,
    replaces: bool,
) -> Comparison:
    try:
        with bounded(operations):
            context = first.context.intersect(second.context)
            if assumed is not None:
                context = context.intersect(assumed)
            _check_bounds(first, second, context, replaces)
            outputs = list(_outputs(first, second))
            Proof(
                LastWriters(first, [(one, elements) for one, _, elements in outputs]),
                LastWriters(second, [(other, elements) for _, other, elements in outputs]),
                context,
                rules,
            ).check()
    except UnequalTermsError as error:
        return Comparison(str(error), _sizes(error.pairs.params()))
    except OutsideError as error:
        return Comparison(str(error), _sizes(error.sizes))
    except UndecidedError as error:
        return Comparison(str(error))
    except RecursionError:
        return Comparison("the expressions are too large")
    except (TooComplexError, isl.Error) as error:
        reason = error if isinstance(error, TooComplexError) else "isl fails"
        return Comparison(f"too complex: {reason}")
    return Comparison()


def _outputs(first: Scop, second: Scop) -> Iterator[tuple[Array, Array, isl.Set]]:
    """Arrays whose contents at the end count, in both programs, with the elements in question."""
    others = {array.argument: array for array in second.arrays if array.argument is not None}
    for array in first.arrays:
        if array.argument is not None:
            other = others[array.argument]
            elements = [
                part.set_tuple_name("element")
                for part in (written(first, array), written(second, other))
                if part is not None
            ]
            if elements:
                yield array, other, coalesced(reduce(isl.Set.union, elements))
    for array, other in zip(first.returns, second.returns, strict=True):
        point = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0))
        yield array, other, point.align_params(first.context.get_space())


def _check_bounds(first: Scop, second: Scop, context: isl.Set, replaces: bool) -> None:
    """Both leave their arrays for the same sizes: neither is defined where the other is not.

    Or the second one is where the first one is.
    """
    try:
        sizes = [sizes_outside(scop, {}) for scop in (first, second)]
    except SourceError as error:
        raise UndecidedError(error.message) from None
    pairs = list(zip((second, first), sizes[::-1], sizes, strict=True))
    for scop, one, other in pairs[:1] if replaces else pairs:
        more = one.intersect(context).subtract(other)
        if not more.is_empty():
            raise OutsideError(f"'@{scop.name}' accesses arrays where the other does not", more)


def _sizes(values: isl.Set) -> dict[str, int] | None:
    """Small values of parameters out of a set of them."""
    # The smallest ones make the quickest run, where there are smallest ones.
    positive = isl.Set.universe(values.get_space())
    for position in range(values.dim(_PARAM)):
        positive = positive.lower_bound_val(_PARAM, position, isl.Val(0))
    for candidates in (values.intersect(positive), values):
        if not candidates.is_empty():
            point = candidates.sample_point()
            return {
                candidates.get_dim_name(_PARAM, n) or "": point.get_coordinate_val(
                    _PARAM, n
                ).to_python()
                for n in range(candidates.dim(_PARAM))
            }
    return None
