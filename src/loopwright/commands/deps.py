"""Prints the parameters, statements and dependences of the functions of a program.

For each dependence: kind, source -> target, array, the distance along each loop that both share
(0, 1 ...: constant; + - 0+ 0- : sign; *: any), and the exact relation between instances.

examples:
  loopwright deps gemm.mlir
  loopwright deps gemm.mlir --svg dependences.svg
"""

from __future__ import annotations

import argparse

import islpy as isl

from ..passes.polyhedral.dependences import Dependence
from ..passes.polyhedral.descriptions import describe_access
from ..passes.polyhedral.distance import distances
from ..passes.polyhedral.gathers import describe_gathers
from ..passes.polyhedral.scop import Scop, Statement
from ..passes.syntax.graphs import dependence_graph
from ..runtime.program import Function
from .common import add_program_arguments, format_table, functions, one_function
from .pictures import add_picture_arguments, write_pictures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright deps`."""
    add_program_arguments(parser)
    parser.add_argument(
        "--input-dependences",
        action="store_true",
        help="also pairs of reads of the same element (for reuse)",
    )
    add_picture_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the dependences, and writes the pictures."""
    wants_picture = arguments.dot is not None or arguments.svg is not None
    found = [one_function(arguments)] if wants_picture else functions(arguments)
    print("\n\n".join(describe(function, arguments.input_dependences) for function in found))
    write_pictures(
        arguments,
        lambda: dependence_graph(found[0].scop, _chosen(found[0], arguments.input_dependences)),
    )
    return 0


def describe(function: Function, with_input: bool = False) -> str:
    """The model and the dependences of a function as text."""
    scop = function.scop
    dependences = _chosen(function, with_input)
    parameters = ", ".join(parameter.name for parameter in scop.parameters) or "none"
    lines = [scop.name, f"  parameters: {parameters}", "", "  statements:"]
    rows = [_statement(scop, statement) for statement in scop.statements]
    lines += _indent(format_table(rows or [["none"]]))
    lines += ["", "  dependences:"]
    rows = [_dependence(scop, dependence) for dependence in dependences]
    lines += _indent(format_table(rows or [["none"]]))
    return "\n".join(lines)


def _chosen(function: Function, with_input: bool) -> list[Dependence]:
    return [*function.dependences, *(function.dependences.input if with_input else ())]


def _indent(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


def _statement(scop: Scop, statement: Statement) -> list[str]:
    reads = dict.fromkeys(describe_access(scop, statement, each) for each in statement.reads)
    reads |= dict.fromkeys(describe_gathers(scop, statement))
    writes = (describe_access(scop, statement, each) for each in statement.writes)
    domain = statement.domain.gist_params(scop.context)
    return [
        f"{statement.name}({', '.join(statement.loops)})",
        f"writes {', '.join(writes)}",
        f"reads {', '.join(reads)}" if reads else "",
        _without_parameters(domain),
    ]


def _dependence(scop: Scop, dependence: Dependence) -> list[str]:
    source, target = scop.statement(dependence.source), scop.statement(dependence.target)
    pairs = isl.Map.from_domain_and_range(source.domain, target.domain)
    relation = dependence.relation.gist(pairs.intersect_params(scop.context))
    steps = distances(scop, source.name, target.name, dependence.relation)
    distance = ", ".join(f"{n}: {step}" for n, step in zip(source.loops, steps, strict=False))
    return [
        f"{dependence.kind.value} ({', '.join(dependence.flags)})"
        if dependence.flags
        else dependence.kind.value,
        f"{dependence.source} -> {dependence.target}",
        f"on {dependence.array}",
        f"({distance})",
        _without_parameters(relation),
    ]


def _without_parameters(text: object) -> str:
    return str(text)[str(text).index("{") :]
