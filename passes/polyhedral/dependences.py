"""Dependence analysis: exact dependences between statement instances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import cast

import islpy as isl

from ...support.markup import MOST_ROWS, notebook, table
from ...support.summaries import summary
from .array_dataflow import ArrayAccesses, union
from .distance import distances
from .isl_context import TooComplexError, bounded, bounded_for, coalesced
from .reductions import Accumulation, find_accumulation, find_partial_accumulation
from .scop import Array, Scop
from .unimodular import UnimodularStatements

# What isl may spend on the dependences of one kind through one array: about a second, and eight
# times what any kernel of the catalogue needs. It looks at each pair of accesses: beyond so many of
# them, it may spend more.
ARRAY_OPERATIONS = 1_000_000
_MANY_ACCESSES = 100

# What it may spend in between, and arrays of a program for which it may be too little.
_OTHER_OPERATIONS = 10_000_000
_ATTEMPTS = 3

# Sets of dependences through an array that are remembered with a program: the last ones in use.
_MOST_REMEMBERED = 1_000


class DependenceKind(Enum):
    """Flow, anti, output or input."""

    FLOW = "flow"
    ANTI = "anti"
    OUTPUT = "output"
    INPUT = "input"


@dataclass(frozen=True, eq=False)
class Dependence:
    """Instances of `target` that must stay after instances of `source`, through `array`.

    `relation` is `[params] -> { source[...] -> target[...] }`, in program order. `reduction` is set
    when it only orders the steps of an accumulation (`Dependences.accumulations`), `memory_based`
    when other writes to the element may lie in between.
    """

    kind: DependenceKind
    source: str
    target: str
    array: str
    relation: isl.Map
    reduction: bool = False
    memory_based: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """Its properties as text, for display."""
        flags = {"reduction": self.reduction, "memory-based": self.memory_based}
        return tuple(flag for flag, is_set in flags.items() if is_set)

    def __repr__(self) -> str:
        return summary(self, f"{self.kind.value} {self.source} -> {self.target} on {self.array}")


@dataclass(frozen=True, eq=False)
class Dependences:
    """The dependences of a Scop.

    `items` has flow dependences (from the last write to a read), anti dependences (from a read to
    the next write) and output dependences (from a write to the next one). Chains of them order all
    pairs of instances that access the same element, at least one of which writes. Where isl does
    not find the last and next accesses to an array in reasonable time, the dependences through it
    are memory-based: they lead from all accesses before, and to all behind.
    `accumulations` has the statements that are reductions, by name; `conflicts` the memory-based
    dependences by the array's name, as far as anybody has asked for them: from each access to all
    later ones that conflict with it. `through` are exact dependences through arrays by what they
    follow from, of this program and those that steps make of it: the last ones in use.
    """

    scop: Scop
    items: tuple[Dependence, ...]
    accumulations: Mapping[str, Accumulation]
    conflicts: dict[str, tuple[Dependence, ...]] = field(
        default_factory=dict[str, tuple[Dependence, ...]]
    )
    through: dict[object, tuple[Dependence, ...]] = field(
        default_factory=dict[object, tuple[Dependence, ...]], repr=False
    )

    def __iter__(self) -> Iterator[Dependence]:
        return iter(self.items)

    @cached_property
    def relation(self) -> isl.UnionMap:
        """All of them in one relation."""
        return union(self.scop, (dependence.relation for dependence in self.items))

    @cached_property
    def with_partial_accumulations(self) -> Dependences:
        """The same, where statements are reductions in the instances in which they are."""
        partial = {
            statement.name: found
            for statement in self.scop.statements
            if statement.name not in self.accumulations
            and (found := find_partial_accumulation(statement)) is not None
        }
        if not partial:
            return self
        items = tuple(_split_reductions(self.items, partial))
        return Dependences(self.scop, items, {**self.accumulations, **partial})

    def readable(self) -> str:
        """All of them as text, two lines each: kind, statements, array, distances; relation.

        flow   S1 -> S1  C  (0, 1, 0) reduction
               [N] -> { S1[i, k, j] -> S1[i' = i, k' = 1 + k, j' = j] : ... }
        """
        lines: list[str] = []
        for item in self.items:
            vector = distances(self.scop, item.source, item.target, item.relation)
            suffix = "".join(f" {flag}" for flag in item.flags)
            lines += [
                f"{item.kind.value:6} {item.source} -> {item.target}  {item.array}"
                f"  ({', '.join(map(str, vector))}){suffix}",
                f"       {item.relation}",
            ]
        return "\n".join(lines)

    @cached_property
    def input(self) -> tuple[Dependence, ...]:
        """From a read to the next reads of the same value, for reuse; they order nothing.

        To all later reads of the element where those are too complex.
        """
        with bounded_for(self.scop.func, f"the reads of '@{self.scop.name}'", _OTHER_OPERATIONS):
            return tuple(_inputs(self.scop))

    @cached_property
    def relaxed(self) -> tuple[Dependence, ...]:
        """What must be kept when the steps of every accumulation may run in any order.

        No subset of `items`: other accesses to an element must then stay before or after all steps
        of an accumulation in it, not only the first or last one.
        """
        with bounded_for(
            self.scop.func, f"the dependences of '@{self.scop.name}'", _OTHER_OPERATIONS
        ):
            return tuple(_relaxed(self))

    def has_free_steps(self, array: str, names: Iterable[str] | None = None) -> bool:
        """Whether steps of a reduction in the array may change places without fast math.

        Those of the statements called `names`, by default of all.
        """
        chosen = self.accumulations if names is None else self.accumulations.keys() & set(names)
        found = (self.accumulations[name] for name in chosen)
        return any(each.reassociable and each.store.array.name == array for each in found)

    @cached_property
    def constraints(self) -> OrderConstraints:
        """What an order must keep, and the steps of reductions that it need not keep."""
        exact = {name: each for name, each in self.accumulations.items() if each.reassociable}
        if not exact:
            return OrderConstraints(self.items, ())
        with bounded_for(
            self.scop.func, f"the dependences of '@{self.scop.name}'", _OTHER_OPERATIONS
        ):
            return _constraints(self, exact)

    def __str__(self) -> str:
        """All of them, as `readable` has them."""
        return self.readable()

    def __repr__(self) -> str:
        counts = Counter(item.kind.value for item in self.items)
        listed = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        return summary(self, f"of {self.scop.name}: {listed or 'none'}")

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        rows = [["kind", "from", "to", "array", "distance"]]
        for item in self.items[:MOST_ROWS]:
            loops = self.scop.statement(item.source).loops
            steps = distances(self.scop, item.source, item.target, item.relation)
            vector = ", ".join(f"{n}: {step}" for n, step in zip(loops, steps, strict=False))
            kind = " ".join((item.kind.value, *(f"({flag})" for flag in item.flags)))
            rows.append([kind, item.source, item.target, item.array, vector])
        return notebook(f"Dependences of {self.scop.name}", table(rows), len(self.items))


@dataclass(frozen=True, eq=False)
class OrderConstraints:
    """The dependences that every order must keep, and the others.

    `steps` are pairs of steps of reductions, by one or several statements, in one element and by an
    operation that gives the same result in any order. They may change places, but not run together.
    Through their arrays, both are memory-based: of each pair of instances that access an element.
    `is_complete` says whether that was possible for all such arrays; the order of the program is
    kept through the others.
    """

    ordered: tuple[Dependence, ...]
    steps: tuple[Dependence, ...]
    is_complete: bool = True


def compute_dependences(
    scop: Scop, before: Dependences | None = None, *, reassociate: bool = False
) -> Dependences:
    """All flow, anti and output dependences, exact and symbolic in the parameters.

    `before` are those of a program of which `scop` is an edited version, in a legal order of it:
    they are kept for arrays whose accesses are the same ones. With `reassociate`, that order may
    have been legal only because steps of accumulations may change places. (Where these are exact in
    any order, dependences in either order are those of an equal program.) Raises SourceError where
    isl cannot find them in reasonable time.
    """
    with bounded_for(scop.func, f"the dependences of '@{scop.name}'", _OTHER_OPERATIONS):
        kept = [] if before is None else _kept(scop, before, reassociate)
        through = {name: tuple(i for i in before or () if i.array == name) for name in kept}
        conflicts = {} if before is None else before.conflicts
        known = {name: items for name, items in conflicts.items() if name in kept}
        memory = {} if before is None else before.through
        return replace(_compute(scop, through, memory), conflicts=known)


def note_dependences(scop: Scop, array: Array, items: Iterable[Dependence]) -> None:
    """Says which dependences there are through an array, where they follow from others."""
    scop.memory["noted"] = {**_noted(scop), array.name: tuple(items)}


def _noted(scop: Scop) -> Mapping[str, tuple[Dependence, ...]]:
    return cast("Mapping[str, tuple[Dependence, ...]]", scop.memory.get("noted", {}))


def _kept(scop: Scop, before: Dependences, reassociate: bool) -> list[str]:
    """The arrays whose dependences an edit has not changed, by name.

    A legal order keeps the order of all accesses to an element of which one is a write.
    """
    moved = {each.store.array.name for each in before.accumulations.values()}
    return [
        array.name
        for array in scop.arrays
        if not (reassociate and array.name in moved)
        and any(array is other for other in before.scop.arrays)
        and _users(scop, array) == _users(before.scop, array)
    ]


def _users(scop: Scop, array: Array) -> list[tuple[str, int, int]]:
    """The accesses to an array, as what tells objects apart, with their statements."""
    return [
        (statement.name, id(statement.domain), id(access))
        for statement in scop.statements
        for access in statement.accesses
        if access.array is array
    ]


def _compute(
    scop: Scop,
    kept: Mapping[str, Iterable[Dependence]],
    memory: dict[object, tuple[Dependence, ...]],
) -> Dependences:
    accumulations = {
        statement.name: accumulation
        for statement in scop.statements
        if (accumulation := find_accumulation(statement)) is not None
    }
    known = {**_noted(scop), **kept}
    items: list[Dependence] = []
    attempts = _ATTEMPTS
    for accesses in _by_array(scop):
        through = known.get(accesses.array.name)
        if through is None and attempts and accesses.are_exact:
            try:
                through = _remembered(accesses, accumulations, memory)
            except (TooComplexError, isl.Error):
                attempts -= 1
        if through is None:
            through = _conflicts(accesses, accumulations, last_only=False)
        items += through
    return Dependences(scop, tuple(items), accumulations, through=memory)


def _remembered(
    accesses: ArrayAccesses,
    accumulations: Mapping[str, Accumulation],
    memory: dict[object, tuple[Dependence, ...]],
) -> tuple[Dependence, ...]:
    """Exact dependences through an array, computed once for what they follow from.

    A step that changes one nest of a program leaves the arrays of the others as they were, also
    where it was made in another order of these.
    """
    steps = tuple(
        (name, each.operation, each.reassociable)
        for name, each in accumulations.items()
        if each.store.array is accesses.array
    )
    key = accesses.array.name, accesses.key, steps
    found = memory.pop(key, None)
    if found is None:
        found = tuple(_conflicts(accesses, accumulations, last_only=True))
        while len(memory) >= _MOST_REMEMBERED:
            del memory[next(iter(memory))]
    memory[key] = found
    return found


def _inputs(scop: Scop) -> Iterator[Dependence]:
    for accesses in _by_array(scop):
        if not accesses.are_exact:
            continue  # what is read again is not known
        try:
            with bounded(ARRAY_OPERATIONS):
                relation = accesses.next_reads()
                found = _dependences(accesses, DependenceKind.INPUT, relation)
        except (TooComplexError, isl.Error):
            relation = accesses.all_before(accesses.reads, accesses.reads)
            found = _dependences(accesses, DependenceKind.INPUT, relation, memory_based=True)
        yield from found


def _relaxed(dependences: Dependences) -> Iterator[Dependence]:
    scop, accumulations = dependences.scop, dependences.accumulations
    relaxed = {accumulation.store.array.name for accumulation in accumulations.values()}
    for dependence in dependences:
        if dependence.array not in relaxed:
            yield dependence
    for accesses in _by_array(scop):
        if accesses.array.name in relaxed:
            for part in _conflicts(accesses, accumulations, last_only=False):
                if not part.reduction:
                    yield part


def _constraints(dependences: Dependences, exact: Mapping[str, Accumulation]) -> OrderConstraints:
    arrays = {accumulation.store.array.name for accumulation in exact.values()}
    ordered = [item for item in dependences if item.array not in arrays]
    steps: list[Dependence] = []
    attempts = _ATTEMPTS
    for accesses in _by_array(dependences.scop):
        if accesses.array.name not in arrays:
            continue
        name = accesses.array.name
        through = [item for item in dependences if item.array == name]
        if through and all(item.memory_based for item in through):
            dependences.conflicts.setdefault(name, tuple(through))
        if name not in dependences.conflicts and attempts:
            try:
                found = _conflicts(accesses, dependences.accumulations, last_only=False)
                dependences.conflicts[name] = tuple(found)
            except (TooComplexError, isl.Error):
                attempts -= 1
        if name not in dependences.conflicts:
            ordered += through
            continue
        for part in dependences.conflicts[name]:
            if part.reduction and part.source in exact:
                steps.append(part)
            else:
                between = _exact_steps(part, exact)
                others = part.relation.subtract(between)
                for relation, kind in ((between, steps), (others, ordered)):
                    if not relation.is_empty():
                        kind.append(replace(part, relation=relation))
    return OrderConstraints(tuple(ordered), tuple(steps), attempts == _ATTEMPTS)


def _exact_steps(item: Dependence, exact: Mapping[str, Accumulation]) -> isl.Map:
    """The pairs of a dependence between two statements that may change places."""
    steps = steps_between(exact, item.source, item.target)
    space = item.relation.get_space()
    return isl.Map.empty(space) if steps is None else item.relation.intersect(steps)


def steps_between(
    accumulations: Mapping[str, Accumulation], source: str, target: str
) -> isl.Map | None:
    """The pairs of instances that accumulate in one element by one operation; None if none do.

    What a step adds does not depend on the element: so the steps of several statements commute as
    those of one do.
    """
    first, second = accumulations.get(source), accumulations.get(target)
    if first is None or second is None or first.operation != second.operation:
        return None
    if first.store.array is not second.store.array:
        return None
    return first.store.relation.apply_range(second.store.relation.reverse())


def _by_array(scop: Scop) -> Iterator[ArrayAccesses]:
    statements = UnimodularStatements(scop)
    return (ArrayAccesses(scop, array, statements) for array in scop.arrays)


def _conflicts(
    accesses: ArrayAccesses, accumulations: Mapping[str, Accumulation], *, last_only: bool
) -> list[Dependence]:
    """Dependences through an array: from the last access before, or from all accesses before.

    The two order the same pairs of instances.
    """
    if accesses.writes.is_empty():
        return []
    found: list[Dependence] = []
    operations = int(ARRAY_OPERATIONS * max(1.0, accesses.count / _MANY_ACCESSES) ** 2)
    for kind in (DependenceKind.FLOW, DependenceKind.ANTI, DependenceKind.OUTPUT):
        with bounded(operations):
            sink = accesses.exposed_reads if kind is DependenceKind.FLOW else accesses.writes
            source = accesses.reads if kind is DependenceKind.ANTI else accesses.writes
            if not last_only:
                relation = accesses.all_before(source, sink)
            elif kind is DependenceKind.ANTI:
                relation = accesses.next_write()
            else:
                relation = accesses.last_before(source, sink)
            parts = _dependences(accesses, kind, relation, memory_based=not last_only)
            found += _split_reductions(parts, accumulations)
    return found


def _dependences(
    accesses: ArrayAccesses,
    kind: DependenceKind,
    relation: isl.UnionMap,
    *,
    memory_based: bool = False,
) -> list[Dependence]:
    """One dependence per pair of statements, in textual order."""
    found: list[Dependence] = []
    array = accesses.array.name
    parts = relation.get_map_list()
    for number in range(parts.n_map()):
        part = parts.get_at(number)
        source = part.get_tuple_name(isl.dim_type.in_)
        target = part.get_tuple_name(isl.dim_type.out)
        assert source is not None and target is not None
        pairs = coalesced(part)
        found.append(Dependence(kind, source, target, array, pairs, memory_based=memory_based))
    order = {statement.name: number for number, statement in enumerate(accesses.scop.statements)}
    return sorted(found, key=lambda d: (order[d.source], order[d.target]))


def _split_reductions(
    dependences: Iterable[Dependence], accumulations: Mapping[str, Accumulation]
) -> Iterator[Dependence]:
    """Separates the pairs of instances that accumulate in the same element from the others."""
    for dependence in dependences:
        accumulation = accumulations.get(dependence.source)
        if (
            accumulation is None
            or dependence.source != dependence.target
            or accumulation.store.array.name != dependence.array
        ):
            yield dependence
            continue
        steps = dependence.relation.intersect(accumulation.pairs)
        others = dependence.relation.subtract(steps)
        for relation, reduction in ((steps, True), (others, False)):
            if not relation.is_empty():
                yield replace(dependence, relation=coalesced(relation), reduction=reduction)
