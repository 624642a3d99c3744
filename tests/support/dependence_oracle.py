"""Dependences by enumeration at small sizes, from nothing but the order of the stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import islpy as isl
from xdsl.dialects.builtin import ModuleOp

from loopwright.passes.polyhedral.dependences import Dependence, DependenceKind, Dependences
from loopwright.passes.polyhedral.scop import AccessKind, Scop

from .interpreter import Interpreter, TraceEntry
from .scop_execution import Instance, bind, parameter_values, points

Pair = tuple[Instance, Instance]
Element = tuple[str, tuple[int, ...]]


def program_order(scop: Scop, arguments: Sequence[Any]) -> list[Instance]:
    """The statement instances in the order in which the interpreter meets their stores."""
    # The first store of a statement stands for all.
    names = {statement.writes[0].op: statement.name for statement in scop.statements}
    copy = scop.func.clone()
    originals = dict(zip(copy.walk(), scop.func.walk(), strict=True))
    trace: list[TraceEntry] = []
    Interpreter(ModuleOp([copy]), trace=trace).run(scop.name, *arguments)
    return [
        (names[originals[entry.op]], entry.iteration)
        for entry in trace
        if originals[entry.op] in names
    ]


@dataclass
class Conflicts:
    """All dependences of one run, and all conflicting pairs of instances, in program order."""

    flow: set[Pair] = field(default_factory=set[Pair])
    all: set[Pair] = field(default_factory=set[Pair])


def find_conflicts(scop: Scop, arguments: Sequence[Any], order: Sequence[Instance]) -> Conflicts:
    """What accesses the same element, by evaluating the subscripts of every access."""
    sizes = parameter_values(scop, arguments)
    symbols = [sizes[parameter.name] for parameter in scop.parameters]
    last_write: dict[Element, Instance] = {}
    users: dict[Element, list[tuple[Instance, bool]]] = defaultdict(list)
    found = Conflicts()
    for instance in order:
        name, iteration = instance
        for access in scop.statement(name).accesses:
            element = (access.array.name, access.map.eval(iteration, symbols))
            is_write = access.kind is AccessKind.WRITE
            found.all |= {
                (other, instance)
                for other, other_writes in users[element]
                if other != instance and (is_write or other_writes)
            }
            users[element].append((instance, is_write))
            if is_write:
                last_write[element] = instance
            elif last_write.get(element, instance) != instance:
                found.flow.add((last_write[element], instance))
    return found


def pairs_of(scop: Scop, dependences: Iterable[Dependence], arguments: Sequence[Any]) -> set[Pair]:
    """The pairs of instances in dependences, for given sizes."""
    sizes = parameter_values(scop, arguments)
    found: set[Pair] = set()
    for dependence in dependences:
        rank = dependence.relation.dim(isl.dim_type.in_)
        for point in points(bind(dependence.relation.wrap().flatten(), sizes)):
            source, target = (dependence.source, point[:rank]), (dependence.target, point[rank:])
            found.add((source, target))
    return found


def closure(pairs: set[Pair], order: Sequence[Instance]) -> set[Pair]:
    """All pairs that chains of pairs connect; each pair must follow the order."""
    numbers = {instance: number for number, instance in enumerate(order)}
    direct: dict[int, list[int]] = defaultdict(list)
    for source, target in pairs:
        assert numbers[source] < numbers[target]
        direct[numbers[target]].append(numbers[source])
    # Sets of instances as bits.
    before: list[int] = []
    for number in range(len(order)):
        found = 0
        for source in direct[number]:
            found |= before[source] | 1 << source
        before.append(found)
    return {
        (order[source], order[target])
        for target, sources in enumerate(before)
        for source in range(target)
        if sources >> source & 1
    }


def check_dependences(scop: Scop, dependences: Dependences, arguments: Sequence[Any]) -> None:
    """Compares with all conflicts of one run, in both directions."""
    order = program_order(scop, arguments)
    conflicts = find_conflicts(scop, arguments, order)
    flow = [d for d in dependences if d.kind is DependenceKind.FLOW]
    last = pairs_of(scop, (d for d in flow if not d.memory_based), arguments)
    assert last <= conflicts.flow
    assert pairs_of(scop, flow, arguments) >= conflicts.flow
    pairs = pairs_of(scop, dependences, arguments)
    assert pairs <= conflicts.all
    assert closure(pairs, order) >= conflicts.all
    steps = pairs_of(scop, [d for d in dependences if d.reduction], arguments)
    relaxed = pairs_of(scop, dependences.relaxed, arguments)
    assert relaxed <= conflicts.all
    assert not relaxed & closure(steps, order)
    assert closure(relaxed, order) | closure(steps, order) >= conflicts.all
