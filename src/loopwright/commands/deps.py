"""Prints the parameters, statements and dependences of the functions of a program.

For each dependence: kind, source -> target, array, the distance along each loop that both share
(0, 1 ...: constant; + - 0+ 0- : sign; *: any), and the exact relation between instances.

example:
  loopwright deps gemm.mlir
"""

from __future__ import annotations

import argparse

import islpy as isl

from ..passes.polyhedral.affine_text import to_readable_text
from ..passes.polyhedral.dependences import Dependence
from ..passes.polyhedral.distance import distances
from ..passes.polyhedral.scop import Access, Scop, Statement
from ..runtime.program import Function
from .common import add_program_arguments, format_table, functions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright deps`."""
    add_program_arguments(parser)
    parser.add_argument(
        "--input", action="store_true", help="also pairs of reads of the same element (for reuse)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the dependences."""
    found = functions(arguments)
    print("\n\n".join(describe(function, arguments.input) for function in found))
    return 0


def describe(function: Function, with_input: bool = False) -> str:
    """The model and the dependences of a function, for people."""
    scop = function.scop
    dependences = list(function.dependences)
    if with_input:
        dependences += function.dependences.input
    parameters = ", ".join(parameter.name for parameter in scop.parameters) or "none"
    lines = [scop.name, f"  parameters: {parameters}", "", "  statements:"]
    rows = [_statement(scop, statement) for statement in scop.statements]
    lines += _indent(format_table(rows or [["none"]]))
    lines += ["", "  dependences:"]
    rows = [_dependence(scop, dependence) for dependence in dependences]
    lines += _indent(format_table(rows or [["none"]]))
    return "\n".join(lines)


def _indent(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


def _statement(scop: Scop, statement: Statement) -> list[str]:
    reads = ", ".join(dict.fromkeys(_access(scop, statement, access) for access in statement.reads))
    writes = ", ".join(_access(scop, statement, access) for access in statement.writes)
    domain = statement.domain.gist_params(scop.context)
    return [
        f"{statement.name}({', '.join(statement.loops)})",
        f"writes {writes}",
        f"reads {reads}" if reads else "",
        _without_parameters(domain),
    ]


def _access(scop: Scop, statement: Statement, access: Access) -> str:
    loops = statement.loops
    symbols = [parameter.name for parameter in scop.parameters]
    subscripts = [to_readable_text(result, loops, symbols) for result in access.map.results]
    return f"{access.array.name}[{', '.join(subscripts)}]"


def _dependence(scop: Scop, dependence: Dependence) -> list[str]:
    source, target = scop.statement(dependence.source), scop.statement(dependence.target)
    pairs = isl.Map.from_domain_and_range(source.domain, target.domain)
    relation = dependence.relation.gist(pairs.intersect_params(scop.context))
    steps = distances(scop, source.name, target.name, dependence.relation)
    distance = ", ".join(f"{n}: {step}" for n, step in zip(source.loops, steps, strict=False))
    return [
        dependence.kind.value + (" (reduction)" if dependence.reduction else ""),
        f"{dependence.source} -> {dependence.target}",
        f"on {dependence.array}",
        f"({distance})",
        _without_parameters(relation),
    ]


def _without_parameters(text: object) -> str:
    return str(text)[str(text).index("{") :]
