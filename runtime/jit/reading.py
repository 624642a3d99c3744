"""Texts to programs, models and schedules."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from ...dialects.parse import parse_module
from ...passes.machine.target import Target
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.raising.importing.import_function import import_module
from ...passes.polyhedral.raising.raise_function import raise_function
from ...passes.polyhedral.scop import Scop
from ...passes.schedules.schedule import Schedule, dependences_of
from ...passes.syntax.formats import apply_text
from ...support.stage_times import stage


def read_module(text: str, file: str) -> ModuleOp:
    """The program in a text, ready to compile; raises SourceError."""
    with stage("parse"):
        return import_module(parse_module(text, file))


def functions_of(module: ModuleOp) -> Iterator[tuple[str, tuple[ModuleOp, func.FuncOp]]]:
    """The functions of a module that have bodies, by name."""
    for op in module.ops:
        if isinstance(op, func.FuncOp) and not op.is_declaration:
            yield op.sym_name.data, (module, op)


def model(function: func.FuncOp) -> Scop:
    """The polyhedral model of a function; raises SourceError."""
    with stage("raise"), ISL_LOCK:
        return raise_function(function)


def schedule_from(scop: Scop, text: str, target: Target, *, reassociate: bool = False) -> Schedule:
    """The schedule of `scop` that a text describes; raises SourceError, TransformationError."""
    with ISL_LOCK:
        with stage("dependences"):
            dependences_of(scop)
        with stage("legality"):
            original = Schedule.original(scop, target, reassociate=reassociate)
            return apply_text(text, original)
