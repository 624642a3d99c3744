"""Transformations as xDSL passes, which append to a function's schedule."""

from __future__ import annotations

import dataclasses
import functools
import re
import typing
from abc import ABC
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.errors import SourceError
from ...dialects.schedule import SequenceOp
from ..polyhedral.raising.raise_function import raise_function
from ..polyhedral.scop import Scop
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Transformation
from ..transformations.registry import all_transformations
from .schedule_ops import apply_sequence, to_sequence


@dataclass(frozen=True)
class TransformationPass(ModulePass, ABC):
    """Appends a transformation to a function's schedule, after a legality check.

    Subclasses have the fields of the transformation, and `func`: which function, if there are
    several. Raises TransformationError or SourceError, and leaves the module as it is then.
    """

    transformation: ClassVar[type[Transformation]]

    func: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = [field.name for field in dataclasses.fields(self.transformation)]
        step = self.transformation(**{name: getattr(self, name) for name in names})
        function = find_function(op, self.func)
        sequence = find_sequence(op, function)
        schedule = read_schedule(function, sequence).apply(step)
        new = to_sequence(schedule)
        if sequence is not None:
            op.body.block.insert_op_after(new, sequence)
            sequence.detach()
            sequence.erase()
        else:
            op.body.block.insert_op_after(new, function)


def find_function(module: ModuleOp, name: str | None) -> func.FuncOp:
    """The function with a body called `name`, or the only one; raises MalformedTransformation."""
    functions = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, func.FuncOp) and not op.is_declaration
    }
    known = ", ".join(functions) or "none"
    if name is None:
        if len(functions) != 1:
            raise MalformedTransformation(
                f"say which function with the option func: the module has {known}"
            )
        (name,) = functions
    if name not in functions:
        raise MalformedTransformation(f"there is no function {name}; the module has {known}")
    return functions[name]


def scheduled_functions(module: ModuleOp) -> tuple[str, ...]:
    """The names of the functions that have a schedule in the module."""
    sequences = (op for op in module.ops if isinstance(op, SequenceOp))
    return tuple(dict.fromkeys(op.function.root_reference.data for op in sequences))


def find_sequence(module: ModuleOp, function: func.FuncOp) -> SequenceOp | None:
    """The schedule of a function in its module; raises SourceError when there are several."""
    name = function.sym_name.data
    sequences = (op for op in module.ops if isinstance(op, SequenceOp))
    found = [op for op in sequences if op.function.root_reference.data == name]
    if len(found) > 1:
        raise SourceError.at(found[1], f"there is already a schedule of {name}", "merge the two")
    return found[0] if found else None


def read_schedule(function: func.FuncOp, sequence: SequenceOp | None) -> Schedule:
    """The schedule of a function, original without `sequence`; raises SourceError."""
    schedule = Schedule.original(raise_function(function))
    return schedule if sequence is None else apply_sequence(sequence, schedule)


def read_sizes(name_of_pass: str, texts: tuple[str, ...], scops: Sequence[Scop]) -> dict[str, int]:
    """Symbolic sizes of Scops from `NAME:VALUE`; raises MalformedTransformation."""
    sizes: dict[str, int] = {}
    names = list(dict.fromkeys(name for scop in scops for name in size_names(scop)))
    for text in texts:
        name, _, value = text.partition(":")
        if not re.fullmatch(r"\d{1,18}", value, re.ASCII):
            raise MalformedTransformation(f"{name_of_pass}: write sizes as N:100, not {text!r}")
        if name not in names or name in sizes:
            problem = "is given twice" if name in sizes else "does not exist"
            known = ", ".join(names) or "none"
            raise MalformedTransformation(
                f"{name_of_pass}: the size {name} {problem}; the sizes are {known}"
            )
        sizes[name] = int(value)
    return sizes


def size_names(scop: Scop) -> list[str]:
    """The names of all symbolic sizes: the parameters, then extents that no loop depends on."""
    names = [parameter.name for parameter in scop.parameters]
    extents = (extent for array in scop.arrays for extent in array.shape)
    return list(dict.fromkeys([*names, *(name for name in extents if isinstance(name, str))]))


@functools.cache
def transformation_passes() -> dict[str, type[TransformationPass]]:
    """The pass of every transformation, by name."""
    return {name: _make_pass(cls) for name, cls in all_transformations().items()}


def _make_pass(cls: type[Transformation]) -> type[TransformationPass]:
    return typing.cast(
        type[TransformationPass],
        dataclasses.make_dataclass(
            f"{cls.__name__}Pass",
            list(_pass_fields(cls)),
            bases=(TransformationPass,),
            namespace={
                "__doc__": cls.__doc__,
                "name": cls.name,
                "transformation": cls,
            },
            frozen=True,
            kw_only=True,
        ),
    )


def _pass_fields(cls: type[Transformation]) -> Iterator[tuple[str, Any, Any]]:
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        yield field.name, hints[field.name], dataclasses.field(default=field.default)
