"""Runs a nest call by call, with the origin of every value in place of the value.

What an instance stores is known by the instance; a copy hands on what it reads, and a reduction
whose steps may run in any order stores the set of its steps. So two runs of a program compute the
same when every read of every instance sees the same origin, and all elements have the same one in
the end. Iterations of parallel loops run backwards, and lanes of vectors access by access.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from loopwright.lowering.loops.storage import placements_by_user
from loopwright.lowering.nest.index_expression import (
    Atom,
    Comparison,
    Condition,
    Extremum,
    Index,
    Quotient,
    Variable,
    linear_form,
)
from loopwright.lowering.nest.nest import Block, Call, For, Guard, Nest, Once, TileSplit
from loopwright.lowering.validation.correspondence import correspond
from loopwright.lowering.validation.generated import Generated
from loopwright.lowering.validation.kept_dependences import KeptDependences
from loopwright.passes.polyhedral.scop import Access, AccessKind

Values = Mapping[int, int]
Origin = object
Reads = dict[tuple[str, tuple[int, ...], int], Origin]


class WrongRunError(Exception):
    """An instance that is none or runs twice, or an access outside of what is allocated."""


@dataclass(frozen=True)
class Sum:
    """Some steps of a reduction, in whatever order, from a value on; None: a neutral element."""

    base: Origin
    steps: frozenset[tuple[str, tuple[int, ...]]]


@dataclass
class Outcome:
    """What every read saw, and what is in the arguments and results in the end."""

    reads: Reads = field(default_factory=dict)
    memory: dict[tuple[str, tuple[int, ...]], Origin] = field(default_factory=dict)


Homes = Mapping[tuple[str, str], tuple[object, tuple[int, ...]]]
"""Allocations of local arrays and where they begin, by array and statement."""


@dataclass(frozen=True)
class Step:
    """A call that runs: with which values, and where local arrays are then."""

    call: Call
    arguments: tuple[int, ...]
    homes: Homes


class NestExecution:
    """A run of what was generated for a program, with all sizes known."""

    def __init__(self, kept: KeptDependences, generated: Generated) -> None:
        self.kept = kept
        self.program = program = kept.dependences.scop
        self.scop = generated.scop
        self.generated = generated
        self.placements = placements_by_user(generated.placements)
        found = correspond(program, generated.scop)
        self.origins, self.found = found.origins, found
        self.sizes = [
            generated.parameters[parameter.name].constant for parameter in self.scop.parameters
        ]
        self.allocations = 0

    def sequence(self) -> list[Step]:
        """The instances in the order in which they run, with no loop parallel or in vectors."""
        homes = self._allocate(None, {}, {}, {})
        steps = self._steps(self.generated.nest, {}, {}, homes, in_order=True)
        return [step for (step,) in steps]

    def run(self) -> Outcome:
        """Runs the nest; raises WrongRunError."""
        outcome = Outcome()
        memory: dict[tuple[str, object, tuple[int, ...]], Origin] = {}
        done: set[tuple[str, tuple[int, ...]]] = set()
        homes = self._allocate(None, {}, {}, {})
        for lanes in self._steps(self.generated.nest, {}, {}, homes):
            self._execute(lanes, memory, outcome.reads, done)
        kept = {array.name for array in self.program.arrays if not array.is_local}
        kept |= {array.name for array in self.program.returns}
        for (name, _, subscripts), origin in memory.items():
            if name in kept:
                outcome.memory[name, subscripts] = origin
        return outcome

    def _execute(
        self,
        lanes: Sequence[Step],
        memory: dict[tuple[str, object, tuple[int, ...]], Origin],
        reads: Reads,
        done: set[tuple[str, tuple[int, ...]]],
    ) -> None:
        """Instances of one statement, each access of all of them before the next one."""
        statement = self.scop.statement(lanes[0].call.statement)
        origin = self.origins.get(statement.name)
        name = statement.name if origin is None else origin.name
        values: list[dict[int, Origin]] = [{} for _ in lanes]
        for step in lanes:
            if (name, step.arguments) in done:
                raise WrongRunError(f"{name}{step.arguments} runs twice")
            done.add((name, step.arguments))
        for position, access in enumerate(statement.accesses):
            for step, own in zip(lanes, values, strict=True):
                place = self._place(access, step)
                if access.kind is AccessKind.WRITE:
                    memory[place] = self._stored(step, position, own)
                    continue
                unknown = ("undefined", place) if access.array.is_local else (place[0], place[2])
                own[position] = memory.get(place, unknown)
                if origin is not None and position != self._accumulated(statement.name):
                    reads[name, step.arguments, position] = own[position]

    def _accumulated(self, statement: str) -> int | None:
        """The place of the load of a reduction whose steps may run in any order."""
        origin = self.origins.get(statement)
        if origin is None or not self.kept.may_reorder(origin.name):
            return None
        load = self.kept.dependences.accumulations[origin.name].load
        return origin.accesses.index(load)

    def _stored(self, step: Step, position: int, values: Mapping[int, Origin]) -> Origin:
        name = step.call.statement
        origin = self.origins.get(name)
        if origin is not None:
            place = self._accumulated(name)
            if place is None:
                return origin.name, step.arguments, position
            return self._combine(values[place], frozenset({(origin.name, step.arguments)}))
        if name in self.found.initialisations:
            return None
        if name in self.found.combinations:
            parts = self.found.combinations[name]
            accesses = parts.statement.accesses
            part = values[accesses.index(parts.part)]
            (whole,) = [value for k, value in values.items() if accesses[k] is not parts.part]
            if part is None:
                return whole
            if not isinstance(part, Sum) or part.base is not None:
                raise WrongRunError(f"{name} combines {part}")
            return self._combine(whole, part.steps)
        (value,) = values.values()
        return value

    def _combine(self, value: Origin, steps: frozenset[tuple[str, tuple[int, ...]]]) -> Sum:
        """More steps; those of statements that accumulate alike are in no order."""
        if not isinstance(value, Sum):
            return Sum(value, steps)
        one, other = next(iter(value.steps))[0], next(iter(steps))[0]
        if one != other and self.kept.free_steps(one, other) is None:
            return Sum(value, steps)
        if value.steps & steps:
            raise WrongRunError(f"steps of a reduction twice: {value.steps & steps}")
        return Sum(value.base, value.steps | steps)

    def _place(self, access: Access, step: Step) -> tuple[str, object, tuple[int, ...]]:
        values = dict(enumerate((*step.arguments, *self.sizes)))
        subscripts = tuple(
            evaluate(linear_form(expression, access.map.num_dims), values)
            for expression in access.map.results
        )
        array = access.array.name
        if not access.array.is_local:
            return array, None, subscripts
        key = array, step.call.statement
        if key not in step.homes:
            raise WrongRunError(f"{array} is not allocated")
        allocation, offsets = step.homes[key]
        placement = self.placements[key]
        inside = tuple(s - offset for s, offset in zip(subscripts, offsets, strict=True))
        sizes = [evaluate(size, {}) for size in placement.sizes]
        if not all(0 <= s < size for s, size in zip(inside, sizes, strict=True)):
            raise WrongRunError(f"{array}{inside} is outside of {sizes}")
        return array, allocation, inside

    def _allocate(
        self,
        node: For | Once | None,
        values: Values,
        loops: Mapping[str, int],
        homes: Homes,
    ) -> Homes:
        result = dict(homes)
        for placement in self.generated.placements:
            if placement.last is (None if node is None else node.loop):
                if any(loop.name not in loops for loop in placement.outer):
                    continue
                outer = [Index(loops[loop.name]) for loop in placement.outer]
                offsets = tuple(evaluate(offset(outer), values) for offset in placement.offsets)
                self.allocations += 1
                found = self.allocations, offsets
                result |= {(placement.array.name, user): found for user in placement.users}
        return result

    def _steps(
        self,
        nest: Nest,
        values: Values,
        loops: Mapping[str, int],
        homes: Homes,
        in_order: bool = False,
    ) -> Iterator[tuple[Step, ...]]:
        """What runs: an instance at a time, or the same one in all lanes of a vector.

        With `in_order`, as inside of a vector, neither vectors nor parallel loops are.
        """
        match nest:
            case Call(arguments=arguments):
                yield (Step(nest, tuple(evaluate(a, values) for a in arguments), homes),)
            case Block(parts):
                for part in parts:
                    yield from self._steps(part, values, loops, homes, in_order)
            case Guard(condition, one, other) | TileSplit(condition, one, other):
                part = one if holds(condition, values) else other
                yield from self._steps(part, values, loops, homes, in_order)
            case Once(loop, value, body):
                inside = {**loops, loop.name: evaluate(value, values)}
                homes = self._allocate(nest, values, inside, homes)
                yield from self._steps(body, values, inside, homes, in_order)
            case For(loop=loop):
                is_vector = any(nest is other for other in self.generated.vectors)
                width = loop.vector or 1
                if in_order or loop.parallel or not is_vector:
                    width = 1
                iterations = self._iterations(nest, values, loops, homes, in_order or width > 1)
                if width == 1:
                    for steps in iterations:
                        yield from steps
                    return
                while lanes := [list(steps) for steps in islice(iterations, width)]:
                    yield from _in_lockstep(lanes)

    def _iterations(
        self,
        nest: For,
        values: Values,
        loops: Mapping[str, int],
        homes: Homes,
        in_order: bool,
    ) -> Iterator[Iterator[tuple[Step, ...]]]:
        """What runs in each iteration."""
        first = max(evaluate(bound, values) for bound in nest.lower)
        limit = min(evaluate(bound, values) for bound in nest.upper)
        iterations: Sequence[int] = range(first, limit, nest.step)
        if nest.loop.parallel and not in_order:
            iterations = iterations[::-1]
        for value in iterations:
            inside = {**values, nest.variable: value}
            names = {**loops, nest.loop.name: value}
            own = self._allocate(nest, inside, names, homes)
            yield self._steps(nest.body, inside, names, own, in_order)


def _in_lockstep(lanes: Sequence[Sequence[tuple[Step, ...]]]) -> Iterator[tuple[Step, ...]]:
    """The instances of lanes together, or lane by lane where these do different things."""
    calls = [[step.call for (step,) in steps] for steps in lanes]
    if all(same == calls[0] for same in calls):
        for steps in zip(*lanes, strict=True):
            yield tuple(step for (step,) in steps)
    else:
        for steps in lanes:
            yield from steps


def evaluate(index: Index, values: Values) -> int:
    """The value of an index."""
    return index.constant + sum(c * _atom(atom, values) for atom, c in index.terms)


def _atom(atom: Atom, values: Values) -> int:
    match atom:
        case Variable(number):
            return values[number]
        case Quotient(numerator, divisor):
            return evaluate(numerator, values) // divisor
        case Extremum(kind, operands):
            return (max if kind == "max" else min)(evaluate(o, values) for o in operands)
        case _:
            chosen = atom.then if holds(atom.condition, values) else atom.otherwise
            return evaluate(chosen, values)


def holds(condition: Condition, values: Values) -> bool:
    """Whether a condition holds."""
    if isinstance(condition, Comparison):
        value = evaluate(condition.left, values)
        return value >= 0 if condition.kind == ">=" else value == 0
    results = (holds(operand, values) for operand in condition.operands)
    return all(results) if condition.kind == "all" else any(results)
