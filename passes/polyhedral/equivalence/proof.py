"""Proof of equivalence by coinduction over pairs of terms.

Two terms are equal at pairs of instances where they apply the same operation to equal operands. A
load is what its last writer has stored, in an instance that has run before; so what is assumed of
pairs that the proof comes to again is what it proves of earlier instances: an induction over the
order of execution. Verdoolaege, Janssens, Bruynooghe, "Equivalence checking of static affine
programs using widening to handle recurrences", TOPLAS 2012.

    for k: s += A[k]       assumed  { S[k] -> T[l] : k = l = n - 1 }      from the last step on
                           needed   { S[k] -> T[l] : k = l = n - 2 }      by the step before
                           widened  { S[k] -> T[l] : k = l }              needs only itself
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import islpy as isl

from ..affine_text import to_text
from ..isl_context import coalesced
from .last_writers import LastWriters
from .reassociation import Combination, Reassociation
from .sums import NoSumError, Summand, Sums, match
from .terms import Affine, Apply, Input, Load, Scalar, Term, Undefined, describe

_OUT = isl.dim_type.out

# The hull of a recurrence grows at most once per dimension.
_DEPTH = 12

# Relations that were widened too far; programs that are equal need a few.
_FAILURES = 100

STEPS = 20_000
"""Pairs of terms that are compared; the largest kernels need some hundreds."""


class UnequalTermsError(Exception):
    """Two terms that are not shown to be equal; `pairs` are instances at which they are needed."""

    def __init__(self, reason: str, pairs: isl.Map) -> None:
        super().__init__(reason)
        self.pairs = pairs


class UndecidedError(Exception):
    """The proof ends without an answer."""


@dataclass(eq=False)
class Proof:
    """A proof that outputs of two programs have the same values.

    `assumed` has the pairs of instances at which two terms are equal, or were assumed to be.
    `context` are the sizes for which outputs are compared. `rules` say what may be reassociated:
    sums in any order are compared by their summands.
    """

    first: LastWriters
    second: LastWriters
    context: isl.Set
    rules: Reassociation | None = None
    assumed: dict[tuple[Term, Term], isl.Map] = field(
        default_factory=dict[tuple[Term, Term], isl.Map], init=False
    )
    _active: defaultdict[tuple[Term, Term], list[isl.Map]] = field(
        default_factory=lambda: defaultdict[tuple[Term, Term], list[isl.Map]](list), init=False
    )
    _guesses: int = field(default=0, init=False)
    _failures: int = field(default=0, init=False)
    _steps: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        rules = self.rules
        self._sums = rules and (Sums(self.first, rules), Sums(self.second, rules))

    def check(self) -> None:
        """Raises UnequalTermsError, UndecidedError."""
        for mine, other in zip(self.first.ends, self.second.ends, strict=True):
            domain, range_ = mine.statement.domain, other.statement.domain
            same = isl.Map.identity(
                domain.get_space().map_from_domain_and_range(domain.get_space())
            )
            same = same.set_tuple_name(_OUT, other.statement.name)
            pairs = same.intersect_domain(domain).intersect_range(range_)
            self._compare(mine, other, pairs.intersect_params(self.context))

    def _compare(self, mine: Term, other: Term, pairs: isl.Map) -> None:
        """Shows that two terms are equal at pairs of instances."""
        self._steps += 1
        if self._steps > STEPS:
            raise UndecidedError("the expressions are too large")
        match mine, other:
            case Load(), _:
                for source in self.first.sources(mine):
                    self._visit(source.term, other, pairs.apply_domain(source.relation))
            case _, Load():
                for source in self.second.sources(other):
                    self._visit(mine, source.term, pairs.apply_range(source.relation))
            case (Undefined(), _) | (_, Undefined()):
                term = mine if isinstance(mine, Undefined) else other
                raise UnequalTermsError(f"the result depends on {describe(term)}", pairs)
            case _ if self._are_sums(mine, other) and self._compare_sums(mine, other, pairs):
                pass
            case Input(), Input() if mine == other:
                self._require(pairs, _elements(pairs), mine, other)
            case Scalar(), Scalar() if mine.argument == other.argument:
                pass
            case Affine(), Affine():
                self._require(pairs, self._equal_values(mine, other), mine, other)
            case Apply(), Apply() if mine.kind == other.kind and len(mine.operands) == len(
                other.operands
            ):
                self._compare_operands(mine, other, pairs)
            case _:
                raise UnequalTermsError(f"{describe(mine)} is not {describe(other)}", pairs)

    def _are_sums(self, mine: Term, other: Term) -> bool:
        return self._combination(mine, other) is not None

    def _combination(self, mine: Term, other: Term) -> Combination | None:
        rules = self.rules
        return rules and (rules.combination(mine) or rules.combination(other))

    def _compare_sums(self, mine: Term, other: Term, pairs: isl.Map) -> bool:
        """Shows that two sums have the same summands; False where these are not known."""
        combination = self._combination(mine, other)
        assert self._sums is not None and combination is not None
        sides = zip(self._sums, (mine, other), (pairs.domain(), pairs.range()), strict=True)
        try:
            first, second = (
                [Summand(term, instances.identity(), 1)]
                if isinstance(term, Input)
                else sums.summands(term, combination)
                for sums, term, instances in sides
            )
            rest = match(first, second, pairs, self._are_equal)
        except NoSumError:
            return False
        if not rest.is_empty():
            reason = f"the summands of {describe(mine)} are not those of {describe(other)}"
            raise UnequalTermsError(reason, rest)
        return True

    def _are_equal(self, mine: Term, other: Term, pairs: isl.Map) -> bool:
        """Whether two summands are shown to be equal at pairs of instances.

        Those of a recurrence are sums that lead to themselves, of earlier instances.
        """
        saved = dict(self.assumed)
        try:
            self._visit(mine, other, pairs)
        except UnequalTermsError:
            self.assumed = saved
            return False
        return True

    def _require(self, pairs: isl.Map, equal: isl.Map, mine: Term, other: Term) -> None:
        """All pairs are among those at which two terms are equal."""
        wrong = pairs.subtract(equal)
        if not wrong.is_empty():
            raise UnequalTermsError(f"{describe(mine)} is not {describe(other)}", wrong)

    def _equal_values(self, mine: Affine, other: Affine) -> isl.Map:
        """Pairs of instances at which two affine values are equal."""
        one, two = (
            _value(term, [parameter.name for parameter in side.scop.parameters])
            for term, side in ((mine, self.first), (other, self.second))
        )
        return one.apply_range(two.reverse())

    def _compare_operands(self, mine: Apply, other: Apply, pairs: isl.Map) -> None:
        if not mine.commutes:
            for left, right in zip(mine.operands, other.operands, strict=True):
                self._compare(left, right, pairs)
            return
        one, two = mine.operands
        orders = [other.operands, other.operands[::-1]]
        scores = [_likeness(one, left) + _likeness(two, right) for left, right in orders]
        if scores[1] > scores[0]:
            orders.reverse()
        saved = dict(self.assumed)
        try:
            self._compare(one, orders[0][0], pairs)
            self._compare(two, orders[0][1], pairs)
        except UnequalTermsError:
            if scores[0] != scores[1]:
                raise
            self.assumed = saved
            self._compare(one, orders[1][0], pairs)
            self._compare(two, orders[1][1], pairs)

    def _visit(self, mine: Term, other: Term, pairs: isl.Map) -> None:
        """Compares terms behind a load, unless they have been assumed to be equal there."""
        if pairs.is_empty():
            return
        if isinstance(mine, Input) and isinstance(other, Input):
            self._compare(mine, other, pairs)
            return
        key = mine, other
        known = self.assumed.get(key)
        if known is not None and pairs.is_subset(known):
            return
        active = self._active[key]
        if len(active) > _DEPTH:
            reason = f"no relation between the iterations of {describe(mine)} is found"
            raise UnequalTermsError(reason, pairs)
        if active:
            widened = self._widen(mine, other, active[-1].union(pairs))
        elif known is not None and not self._guesses:
            widened = self._widen(mine, other, known.union(pairs))
        else:
            self._explore(key, known, pairs)
            return
        # What is claimed of more instances than needed may be wrong of the others. A claim that
        # was made in the course of another one falls with it: else their combinations are tried.
        saved = dict(self.assumed)
        self._guesses += 1
        try:
            self._explore(key, known, widened)
            return
        except UnequalTermsError:
            self._failures += 1
            if self._failures > _FAILURES:
                raise UndecidedError("too many relations between iterations fail") from None
            if self._guesses > 1:
                raise
            self.assumed = saved
        finally:
            self._guesses -= 1
        self._explore(key, known, pairs)

    def _explore(self, key: tuple[Term, Term], known: isl.Map | None, pairs: isl.Map) -> None:
        """Compares terms that are assumed to be equal from now on."""
        pairs = coalesced(pairs)
        self.assumed[key] = pairs if known is None else coalesced(known.union(pairs))
        self._active[key].append(pairs)
        try:
            self._compare(*key, pairs)
        finally:
            self._active[key].pop()

    def _widen(self, mine: Term, other: Term, pairs: isl.Map) -> isl.Map:
        """The affine hull of pairs, as far as there are such instances."""
        hull = isl.Map.from_basic_map(pairs.affine_hull()).intersect_params(self.context)
        if not isinstance(mine, Input | Undefined):
            hull = hull.intersect_domain(mine.statement.domain)
        if not isinstance(other, Input | Undefined):
            hull = hull.intersect_range(other.statement.domain)
        return coalesced(hull)


def _likeness(mine: Term, other: Term) -> int:
    """How much two terms look like each other: which operands of a sum or product to compare."""
    match mine, other:
        case Load(), Load():
            arguments = mine.access.array.argument, other.access.array.argument
            return 2 if arguments[0] == arguments[1] else 1
        case Apply(), Apply():
            return 2 if mine.kind == other.kind else 0
        case Scalar(), Scalar():
            return 2 if mine.argument == other.argument else 0
        case _:
            return 1 if type(mine) is type(other) else 0


def _elements(pairs: isl.Map) -> isl.Map:
    """Pairs of equal elements."""
    return isl.Map.identity(pairs.get_space())


def _value(term: Affine, parameters: Sequence[str]) -> isl.Map:
    """`{ S[i] -> [f(i)] }`"""
    statement = term.statement
    text = to_text(term.expression, statement.loops, parameters)
    head = f"[{', '.join(parameters)}] -> {{ {statement.name}[{', '.join(statement.loops)}]"
    return isl.Map(f"{head} -> [{text}] }}")
