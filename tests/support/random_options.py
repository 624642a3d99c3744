"""Random options of transformations: made from their types, or from a row of `OPTIONS`."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Sequence
from typing import Any

from loopwright.passes.polyhedral import schedule_tree
from loopwright.passes.polyhedral.schedule_tree import Loop, statements, walk
from loopwright.passes.schedules.schedule import Schedule, Transformation

from .choice import Chooser, chance, choose, distinct

Option = Callable[[Chooser, Schedule, Sequence[Loop]], Any]


def _one_of(*values: Any) -> Option:
    return lambda chooser, _, __: choose(chooser, values)


def _size(chooser: Chooser) -> int:
    """The size of a tile: a few values, what is usual, or more than most loops have."""
    if chance(chooser, 50):
        return choose(chooser, (2, 1, 3, 1))
    return choose(chooser, (4, 8, 2, 3, 5, 7, 16, 32, 40, 100))


def _factors(chooser: Chooser, _: Schedule, loops: Sequence[Loop]) -> tuple[int, ...]:
    return tuple(choose(chooser, (1, 2, -1)) for _ in loops[1:])


def _wavefront_factors(chooser: Chooser, _: Schedule, loops: Sequence[Loop]) -> tuple[int, ...]:
    if len(loops) != 2:
        return (1, 1)
    return choose(chooser, (1, 2, 3)), choose(chooser, (1, 2, -1, 3))


def _array(chooser: Chooser, schedule: Schedule, _: Sequence[Loop]) -> str:
    return choose(chooser, [array.name for array in schedule.scop.arrays])


def _used_array(chooser: Chooser, schedule: Schedule, loops: Sequence[Loop]) -> str:
    """As a rule an array that a statement in the loop accesses."""
    used = [
        access.array.name
        for name in statements(loops[0])
        for access in schedule.scop.statement(name).accesses
    ]
    return choose(chooser, used) if used and chance(chooser, 90) else _array(chooser, schedule, ())


def _split_value(chooser: Chooser, schedule: Schedule, loops: Sequence[Loop]) -> str:
    """A size, a loop around, a multiple of one, or a number, and an offset."""
    around = [loop.name for loop in schedule.outer(loops[0])]
    sizes = [parameter.name for parameter in schedule.scop.parameters]
    names = ["", *sizes, *around, *around]
    factors = choose(chooser, ("", "", "2*", "-"))
    name = choose(chooser, names)
    offset = choose(chooser, ["+1", "-1", "+2", "-2", "+3", "+0"])
    return f"{factors}{name}{offset}" if name else offset


def _parts(chooser: Chooser, schedule: Schedule, _: Sequence[Loop]) -> tuple[str, ...]:
    """One statement of some of the parts of a sequence, in any order."""
    bodies = [n for n in walk(schedule.tree) if isinstance(n, schedule_tree.Sequence)]
    if not bodies:
        return ()
    parts = choose(chooser, bodies).children
    chosen = distinct(chooser, list(parts), chooser.integer(2, len(parts)))
    return tuple(choose(chooser, list(statements(part))) for part in chosen)


def _one_statement(chooser: Chooser, schedule: Schedule, _: Sequence[Loop]) -> tuple[str, ...]:
    return (choose(chooser, list(statements(schedule.tree))),)


def _some_statements(
    chooser: Chooser, _schedule: Schedule, loops: Sequence[Loop]
) -> tuple[str, ...]:
    """As a rule all, which is said by none."""
    return (choose(chooser, list(statements(loops[0]))),) if chance(chooser, 20) else ()


def _statement_inside(chooser: Chooser, _schedule: Schedule, loops: Sequence[Loop]) -> str:
    """As a rule of a part that is not the last one."""
    names = list(statements(loops[0]))
    return choose(chooser, names[:-1] or names)


def _order(chooser: Chooser, schedule: Schedule, _: Sequence[Loop]) -> tuple[int, ...]:
    """As a rule as it is, which is said by no order."""
    if not chance(chooser, 35):
        return ()
    rank = len(choose(chooser, schedule.scop.arrays).shape)
    return tuple(distinct(chooser, range(rank), rank))


def _panels(chooser: Chooser, schedule: Schedule, _: Sequence[Loop]) -> tuple[int, ...]:
    """As a rule no panels."""
    if not chance(chooser, 20):
        return ()
    rank = len(choose(chooser, schedule.scop.arrays).shape)
    return tuple(choose(chooser, (0, 2, 4, 3, 1)) for _ in range(rank))


def _reads(chooser: Chooser, _schedule: Schedule, loops: Sequence[Loop]) -> tuple[str, ...]:
    """As a rule all, which is said by none."""
    if not chance(chooser, 10):
        return ()
    return (f"{choose(chooser, list(statements(loops[0])))}.{chooser.integer(0, 2)}",)


# (transformation, option) -> a value, given the schedule and the loops
OPTIONS: dict[tuple[str, str], Option] = {
    ("tile", "sizes"): lambda chooser, _, loops: tuple(_size(chooser) for _ in loops),
    ("strip-mine", "size"): lambda chooser, _, __: _size(chooser),
    ("vectorize", "width"): _one_of(4, 8, 2, 3),
    ("unroll", "factor"): _one_of(2, 4, 3, 8, 0),
    ("modulo-unroll", "factor"): _one_of(2, 3, 0),
    ("skew", "factors"): _factors,
    ("wavefront", "factors"): _wavefront_factors,
    ("shift", "offset"): _one_of(1, -1, 2, 5),
    ("shift", "statements"): _some_statements,
    # Enough also on a busy machine: what comes next must not depend on the time.
    ("affine-schedule", "seconds"): _one_of(60),
    ("affine-schedule", "fusion"): _one_of("balanced", "minimal", "maximal"),
    ("pack", "array"): _used_array,
    ("pack", "order"): _order,
    ("pack", "panels"): _panels,
    ("pack", "reads"): _reads,
    ("expand", "array"): _array,
    ("split", "at"): _split_value,
    ("sink", "at"): _split_value,
    ("reorder", "statements"): _parts,
    ("hoist", "statements"): _one_statement,
    ("separate-offsets", "statements"): _one_statement,
    ("retime", "after"): _statement_inside,
    ("unroll-and-jam", "factor"): _one_of(2, 4, 3),
    ("diamond", "size"): _one_of(2, 3, 4, 8),
    ("fuse", "shift"): _one_of("none", "auto"),
}


def random_options(
    chooser: Chooser, schedule: Schedule, cls: type[Transformation], loops: Sequence[Loop]
) -> dict[str, Any]:
    """Values of the options of a transformation of these loops."""
    hints = typing.get_type_hints(cls)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.name == "loops":
            continue
        make = OPTIONS.get((cls.name, field.name))
        if make is not None:
            values[field.name] = make(chooser, schedule, loops)
        elif field.default is dataclasses.MISSING or chance(chooser, 30):
            value = _by_type(chooser, hints[field.name], len(loops))
            if value is not None:
                values[field.name] = value
    return values


def _by_type(chooser: Chooser, kind: Any, loops: int) -> Any:
    """A value of an option that has no row in `OPTIONS`; None where the default must do."""
    number = {int: lambda: chooser.integer(1, 8), bool: lambda: chance(chooser, 50)}
    if kind in number:
        return number[kind]()
    if typing.get_origin(kind) is tuple and typing.get_args(kind)[0] is int:
        return tuple(chooser.integer(1, 8) for _ in range(loops))
    return None
