"""Conversion between schedules and operations of the `schedule` dialect.

Everything here follows from the fields of the transformations: `loops` are operands, `names` are
the names of the results, all others are options.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Dialect, Operation, SSAValue

from ...dialects.errors import SourceError
from ...dialects.schedule import (
    Kind,
    LoopsOp,
    Option,
    SequenceOp,
    StepOp,
    Value,
    make_dialect,
    make_step,
)
from ..polyhedral.schedule_tree import Loop, loops, statements
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.registry import all_transformations


@functools.cache
def schedule_dialect() -> Dialect:
    """The `schedule` dialect with one operation per transformation."""
    return make_dialect(_steps().values())


@functools.cache
def _steps() -> dict[str, type[StepOp]]:
    return {name: _make_step(cls) for name, cls in all_transformations().items()}


@functools.cache
def _transformations() -> dict[str, type[Transformation]]:
    """The transformation for each name of an operation."""
    return {_steps()[name].name: cls for name, cls in all_transformations().items()}


def _make_step(cls: type[Transformation]) -> type[StepOp]:
    hints = typing.get_type_hints(cls)
    fields = {f.name: f for f in dataclasses.fields(cls)}
    options = {
        name: Option(
            f.metadata.get("keyword", name), _kind(hints[name]), f.default is dataclasses.MISSING
        )
        for name, f in fields.items()
        if name not in ("loops", "names")
    }
    return make_step(
        cls.name.replace("-", "_"),
        options,
        makes_loops="names" in fields,
        documentation=cls.__doc__,
    )


def _kind(hint: object) -> Kind | tuple[Kind]:
    if isinstance(hint, types.UnionType):
        (hint,) = (kind for kind in typing.get_args(hint) if kind is not types.NoneType)
    if typing.get_origin(hint) is tuple:
        return (typing.get_args(hint)[0],)
    return typing.cast(Kind, hint)


@dataclass(frozen=True)
class _Handle:
    """A loop handle: the loop of this name around this statement."""

    statement: str
    name: str

    @classmethod
    def of(cls, loop: Loop) -> _Handle:
        """The handle that a new value for this loop is."""
        return cls(statements(loop)[0], loop.name)

    def reaches(self, loop: Loop) -> bool:
        """Whether this is a handle of the loop."""
        return self.name == loop.name and self.statement in statements(loop)


def to_sequence(schedule: Schedule) -> SequenceOp:
    """The schedule as an operation of the dialect."""
    return _Writer(schedule).sequence()


class _Writer:
    """Makes the operation; loops get their handles at the top where they are from the program."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.original = Schedule.original(
            schedule.program, schedule.target, reassociate=schedule.reassociate
        )
        used = self._used_at_start()
        self.start = LoopsOp([self.original.short_name(loop) for loop in used])
        self.handles = [
            (_Handle.of(loop), value) for loop, value in zip(used, self.start.loops, strict=True)
        ]

    def sequence(self) -> SequenceOp:
        operations: list[Operation] = [self.start] if self.start.loops else []
        current = self.original
        for step in self.schedule.transformations:
            loops = [current.loop(name) for name in step.loops]
            missing = [loop for loop in loops if self._find(loop) is None]
            if missing:
                names = LoopsOp([current.short_name(loop) for loop in missing])
                self._add(missing, names.loops)
                operations.append(names)
            operands = [value for loop in loops if (value := self._find(loop)) is not None]
            operation = _steps()[step.name](operands, _options(step))
            operations.append(operation)
            made, current = _made(current, step)
            self._add(made, operation.new_loops)
            for loop, value in zip(made, operation.new_loops, strict=True):
                value.name_hint = loop.name
        return SequenceOp(self.schedule.program.name, operations)

    def _used_at_start(self) -> list[Loop]:
        used: list[Loop] = []
        known: list[_Handle] = []
        current = self.original
        for step in self.schedule.transformations:
            for name in step.loops:
                loop = current.loop(name)
                if any(handle.reaches(loop) for handle in known):
                    continue
                found = [o for o in loops(self.original.tree) if _Handle.of(o).reaches(loop)]
                used += found[:1]
                known.append(_Handle.of(found[0] if found else loop))
            made, current = _made(current, step)
            known += [_Handle.of(loop) for loop in made]
        return used

    def _find(self, loop: Loop) -> SSAValue | None:
        return next((value for handle, value in self.handles if handle.reaches(loop)), None)

    def _add(self, new: Sequence[Loop], values: Sequence[SSAValue]) -> None:
        self.handles += [(_Handle.of(loop), v) for loop, v in zip(new, values, strict=True)]


def _made(schedule: Schedule, step: Transformation) -> tuple[list[Loop], Schedule]:
    """The loops that a step makes, in the order of the operation's results, and what follows."""
    anchors = [statements(schedule.loop(name))[0] for name in step.loops]
    names = step.new_loops(schedule)
    after = schedule.apply(step)
    return [after.loop(f"{s}.{name}") for s, name in zip(anchors, names, strict=False)], after


def _options(step: Transformation) -> dict[str, Value]:
    return {
        f.name: getattr(step, f.name)
        for f in dataclasses.fields(step)
        if f.name not in ("loops", "names") and getattr(step, f.name) != f.default
    }


def apply_sequence(sequence: SequenceOp, schedule: Schedule) -> Schedule:
    """The schedule after the operations of `sequence`; raises SourceError at the one that fails."""
    handles: dict[SSAValue, _Handle] = {}
    for operation in sequence.body.block.ops:
        try:
            if isinstance(operation, LoopsOp):
                made = [schedule.loop(name.data) for name in operation.loop_names]
            else:
                assert isinstance(operation, StepOp), "verified before"
                made, schedule = _made(schedule, _read_step(operation, handles, schedule))
        except TransformationError as error:
            raise SourceError.at(operation, str(error)) from error
        handles |= {
            value: _Handle.of(loop) for value, loop in zip(operation.results, made, strict=True)
        }
    return schedule


def _read_step(
    operation: StepOp, handles: Mapping[SSAValue, _Handle], schedule: Schedule
) -> Transformation:
    cls = _transformations()[operation.name]
    values: dict[str, typing.Any] = dict(operation.values())
    loops = (handles[value] for value in operation.loops)
    values["loops"] = tuple(f"{handle.statement}.{handle.name}" for handle in loops)
    hints = [value.name_hint for value in operation.new_loops]
    if hints and all(hints):
        values["names"] = tuple(hints)
    return cls(**values).resolve(schedule)
