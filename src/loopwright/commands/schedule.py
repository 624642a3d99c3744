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
  loopwright schedule polybench/jacobi-1d -p 'affine-schedule,tile{loops=t,i sizes=4,8}' \\
      --plot tiles.svg
  loopwright schedule field/layer_norm --size LARGE -p default --explain
  loopwright schedule polybench/gemm --size LARGE -p default --certificate gemm.json
  loopwright schedule polybench/gemm -p default --size LARGE --target neoverse-v1
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from ..runtime.choosing.schedule_names import DEFAULT
from ..support.json_records import Document
from ..support.output_files import write_output
from ..support.progress import ProgressLine
from . import UsageError
from .common import (
    add_fast_math_argument,
    add_program_arguments,
    add_quiet_argument,
    add_schedule_arguments,
    add_target_argument,
    check_threads,
    named_target,
    one_function,
    read_schedule,
)
from .file_arguments import WrittenFile
from .json_output import emit
from .pictures import (
    add_picture_arguments,
    add_plot_argument,
    write_pictures,
    write_plot,
)
from .shipped import add_size_arguments, check_size_names, given_sizes

if TYPE_CHECKING:
    from ..passes.schedules.schedule import Schedule
    from ..runtime.program import Function


@dataclass(frozen=True)
class ScheduleDocument(Document):
    """Result of `loopwright schedule`."""

    document: ClassVar[str] = "schedule"

    function: Annotated[str, "the name of the function"]
    before: Annotated[tuple[str, ...], "the loops as written, line by line"]
    after: Annotated[tuple[str, ...] | None, "the loops after the schedule, if there is one"]
    pipeline: Annotated[str, "the schedule as a pipeline of passes"]
    compact: Annotated[str, "the schedule in compact notation"]
    operations: Annotated[str, "the schedule as operations of the `schedule` dialect"]
    decision: Annotated[str | None, "how the default schedule was decided, with --explain"]


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
    add_quiet_argument(parser)
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say how 'default' is decided: the best candidates, what the model predicts, and why",
    )
    add_picture_arguments(parser)
    add_plot_argument(parser, "the iteration spaces")
    parser.add_argument(
        "--certificate",
        metavar="FILE",
        type=WrittenFile,
        help="write program and generated loops, for all sizes, as loopwright-check reads them",
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the tree, or both trees, and writes the pictures."""
    check_threads(arguments.threads)
    if arguments.explain and arguments.pipeline != DEFAULT:
        raise UsageError(f"--explain is about the default schedule: give -p {DEFAULT}")
    sizes = given_sizes(arguments)
    function = one_function(arguments)
    check_size_names(arguments, (size.name for size in function.scop.sizes))
    with ProgressLine() as line:
        line.update(f"scheduling {function.name}")
        after = read_schedule(
            arguments,
            function,
            sizes,
            threads=arguments.threads,
            target=named_target(arguments),
            fast_math=arguments.fast_math,
        )
    from ..passes.polyhedral.descriptions import describe_tree
    from ..passes.syntax.graphs import tree_graph

    schedules = {"before": function.schedule()}
    if after is not None:
        schedules["after"] = after
    formats = {} if after is None else _formats(after)
    print(_describe(function, schedules, formats))
    trees = {
        title: tuple(describe_tree(each.scop, each.tree).splitlines())
        for title, each in schedules.items()
    }
    how = None
    if arguments.explain:
        how = function.explain_default(
            sizes, threads=arguments.threads, fast_math=arguments.fast_math
        )
        print(f"\n  how it was chosen:\n{_indent(_indent(how))}")
    emit(
        ScheduleDocument(
            function.name,
            trees["before"],
            trees.get("after"),
            formats.get("pipeline", ""),
            formats.get("compact", ""),
            formats.get("operations", ""),
            how,
        )
    )
    titles = {f"{function.name}, {title}": each for title, each in schedules.items()}
    write_pictures(arguments, lambda: tree_graph(titles))
    last = list(schedules.values())[-1]
    if arguments.plot is not None:
        from ..reports.spaces import spaces_drawing

        write_plot(arguments, lambda: spaces_drawing(function, last, sizes))
    if arguments.certificate is not None:
        from ..lowering.certificate import certificate

        text = json.dumps(certificate(last), indent=1)
        write_output(arguments.certificate, f"{text}\n")
    return 0


def _formats(schedule: Schedule) -> dict[str, str]:
    """The schedule in all text formats."""
    from ..passes.syntax.compact_notation import print_notation
    from ..passes.syntax.schedule_ops import to_sequence

    return {
        "pipeline": str(schedule),
        "compact": print_notation(schedule),
        "operations": str(to_sequence(schedule)),
    }


def _describe(
    function: Function, schedules: Mapping[str, Schedule], formats: Mapping[str, str]
) -> str:
    from ..passes.polyhedral.descriptions import describe_tree

    before, *rest = schedules.values()
    if not rest:
        return f"{function.name}\n{_indent(describe_tree(before.scop, before.tree))}"
    parts = [function.name]
    for title, schedule in schedules.items():
        parts += [f"\n  {title}:", _indent(_indent(describe_tree(schedule.scop, schedule.tree)))]
    for title, text in formats.items():
        parts += [f"\n  as {title}:", _indent(_indent(text or "(nothing)"))]
    return "\n".join(parts)


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
