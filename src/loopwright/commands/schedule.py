"""Prints the loops of a program, before and after a schedule, as an indented tree.

Each loop has its name, the function whose values it runs over where that is not the iterator of
the program, and its marks; each statement what it writes and from what. Below come the other
text formats of the schedule. In the picture, parallel loops are green and vector loops blue. A
certificate holds the program and the generated loops, for `loopwright-check`, which proves without
the compiler that they compute the same.

examples:
  loopwright schedule polybench/gemm
  loopwright schedule polybench/gemm -p 'tile{loops=k,S1.j sizes=32,32},parallel{loops=i}'
  loopwright schedule polybench/gemm -p 'I(L1,L2)P(L0)' --svg gemm.svg
  loopwright schedule field/layer_norm --size LARGE -p default --explain
  loopwright schedule polybench/gemm -p default --certificate gemm.json
  loopwright schedule polybench/gemm -p default --size LARGE --target neoverse-v1
"""

from __future__ import annotations

import argparse
import json

from ..lowering.certificate import certificate
from ..passes.polyhedral.descriptions import describe_tree
from ..passes.schedules.schedule import Schedule
from ..passes.syntax.compact_notation import print_notation
from ..passes.syntax.graphs import tree_graph
from ..passes.syntax.schedule_ops import to_sequence
from ..runtime.program import DEFAULT, Function
from ..support.output_files import write_output
from . import UsageError
from .common import (
    add_fast_math_argument,
    add_program_arguments,
    add_schedule_arguments,
    add_target_argument,
    named_target,
    one_function,
    read_schedule,
)
from .pictures import add_picture_arguments, write_pictures
from .shipped import add_size_arguments, given_sizes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright schedule`."""
    add_program_arguments(parser)
    add_schedule_arguments(parser)
    add_size_arguments(parser)
    parser.add_argument(
        "-t", "--threads", type=int, metavar="T", help="threads that 'default' plans for"
    )
    add_fast_math_argument(parser)
    add_target_argument(parser)
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say how 'default' is decided: the best candidates, what the model predicts, and why",
    )
    add_picture_arguments(parser)
    parser.add_argument(
        "--certificate",
        metavar="FILE",
        help="write program and generated loops, for all sizes, as loopwright-check reads them",
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the tree, or both trees, and writes the pictures."""
    function = one_function(arguments)
    if arguments.explain and arguments.pipeline != DEFAULT:
        raise UsageError(f"--explain is about the default schedule: give -p {DEFAULT}")
    after = read_schedule(
        arguments,
        function,
        given_sizes(arguments),
        threads=arguments.threads,
        target=named_target(arguments),
        fast_math=arguments.fast_math,
    )
    schedules = {"before": function.schedule()}
    if after is not None:
        schedules["after"] = after
    print(_describe(function, schedules))
    if arguments.explain:
        how = function.explain_default(
            given_sizes(arguments), threads=arguments.threads, fast_math=arguments.fast_math
        )
        print(f"\n  how it was chosen:\n{_indent(_indent(how))}")
    titles = {f"{function.name}, {title}": each for title, each in schedules.items()}
    write_pictures(arguments, lambda: tree_graph(titles))
    if arguments.certificate is not None:
        text = json.dumps(certificate(list(schedules.values())[-1]), indent=1)
        write_output(arguments.certificate, f"{text}\n")
    return 0


def _describe(function: Function, schedules: dict[str, Schedule]) -> str:
    before, *rest = schedules.values()
    if not rest:
        return f"{function.name}\n{_indent(describe_tree(before.scop, before.tree))}"
    parts = [function.name]
    for title, schedule in schedules.items():
        parts += [f"\n  {title}:", _indent(_indent(describe_tree(schedule.scop, schedule.tree)))]
    (after,) = rest
    formats = {
        "pipeline": str(after),
        "compact": print_notation(after),
        "operations": str(to_sequence(after)),
    }
    for title, text in formats.items():
        parts += [f"\n  as {title}:", _indent(_indent(text or "(nothing)"))]
    return "\n".join(parts)


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
