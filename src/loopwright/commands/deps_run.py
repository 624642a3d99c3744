"""What `loopwright deps` prints of programs that it has found."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ..passes.polyhedral.dependences import Dependence
from ..passes.syntax.graphs import dependence_graph
from ..reports.source import source_drawing
from ..runtime.program import Function
from ..session.describing import describe_dependences, describe_program
from ..session.records import DependenceFacts, Description, StatementFacts
from ..support.json_records import Document, Record
from .common import format_table, source_text
from .json_output import emit
from .pictures import write_pictures, write_plot


@dataclass(frozen=True)
class FunctionDependences(Record):
    """The model and the dependences of a function."""

    model: Annotated[Description, "sizes, arrays, loops, statements"]
    dependences: Annotated[tuple[DependenceFacts, ...], "its dependences"]


@dataclass(frozen=True)
class DepsDocument(Document):
    """Result of `loopwright deps`."""

    document: ClassVar[str] = "deps"

    functions: Annotated[tuple[FunctionDependences, ...], "the functions of the program"]


def show_dependences(arguments: argparse.Namespace, found: Sequence[Function]) -> int:
    """Prints the dependences of functions, and writes the pictures of the first one."""
    described = tuple(_facts(function, arguments.input_dependences) for function in found)
    print("\n\n".join(map(_describe, described)))
    emit(DepsDocument(described))
    write_pictures(
        arguments,
        lambda: dependence_graph(found[0].scop, _chosen(found[0], arguments.input_dependences)),
    )
    write_plot(arguments, lambda: source_drawing(found[0], source_text(arguments)))
    return 0


def _facts(function: Function, with_input: bool) -> FunctionDependences:
    return FunctionDependences(
        describe_program(function.schedule()),
        describe_dependences(function.scop, _chosen(function, with_input)),
    )


def _chosen(function: Function, with_input: bool) -> list[Dependence]:
    return [*function.dependences, *(function.dependences.input if with_input else ())]


def _describe(found: FunctionDependences) -> str:
    model = found.model
    lines = [model.function, f"  parameters: {', '.join(model.parameters) or 'none'}"]
    lines += ["", "  statements:"]
    rows = [_statement(statement) for statement in model.statements]
    lines += _indent(format_table(rows or [["none"]]))
    lines += ["", "  dependences:"]
    loops = {statement.name: statement.loops for statement in model.statements}
    rows = [_dependence(dependence, loops) for dependence in found.dependences]
    lines += _indent(format_table(rows or [["none"]]))
    return "\n".join(lines)


def _indent(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


def _statement(statement: StatementFacts) -> list[str]:
    return [
        f"{statement.name}({', '.join(statement.loops)})",
        f"writes {', '.join(statement.writes)}",
        f"reads {', '.join(statement.reads)}" if statement.reads else "",
        statement.domain,
    ]


def _dependence(dependence: DependenceFacts, loops: Mapping[str, tuple[str, ...]]) -> list[str]:
    names = zip(loops[dependence.source], dependence.distance, strict=False)
    distance = ", ".join(f"{name}: {step}" for name, step in names)
    flags = {"reduction": dependence.reduction, "memory-based": dependence.memory_based}
    listed = ", ".join(flag for flag, is_set in flags.items() if is_set)
    return [
        f"{dependence.kind} ({listed})" if listed else dependence.kind,
        f"{dependence.source} -> {dependence.target}",
        f"on {dependence.array}",
        f"({distance})",
        dependence.relation,
    ]
