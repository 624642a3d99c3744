"""Proves that two programs compute the same, or shows that they do not.

Statements are compared by what they compute, and their values followed to the last writers, for
all sizes at once: tiled, interchanged, fused, distributed, unrolled and jammed loops, and values
kept in registers, are seen through. Functions are compared with that of the same name, or the only
one of each program. The first word of each line is the answer: 'equal' (proved), 'different' (a
run at small sizes shows it), or 'not known' with the reason.

exit codes: 0 all are equal; 1 some are different, or the command line or a program is wrong;
2 none is different, but not all are known to be equal

examples:
  loopwright verify gemm.mlir tiled.mlir
  loopwright verify gemm.mlir unrolled.mlir --assume 'ni >= 1 and nj >= 1 and nk >= 1'
  loopwright verify sum.mlir partial_sums.mlir --fast-math
  loopwright verify polybench/gemm mine.mlir --func gemm
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from ..runtime.program import Function, Program
from . import UsageError
from .common import add_fast_math_argument, add_quiet_argument
from .file_arguments import ReadFile
from .shipped import add_cflags_argument, find_kernel, load_program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright verify`."""
    for name, what in (("first", "FILE"), ("second", "OTHER")):
        parser.add_argument(
            name,
            metavar=what,
            type=ReadFile,
            help="a program in affine MLIR or C, or a shipped kernel (polybench/gemm)",
        )
    add_cflags_argument(parser)
    parser.add_argument("-f", "--func", metavar="NAME", help="the function (default: all of FILE)")
    parser.add_argument(
        "--assume",
        metavar="CONDITION",
        default="",
        help="compare for sizes with this property only, such as 'n >= 1 and m >= n'",
    )
    add_fast_math_argument(parser)
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints an answer for each function."""
    names = arguments.first, arguments.second
    # What is not there is told before the compiler is loaded for the other one.
    missing = [each for each in names if find_kernel(each) is None and not Path(each).exists()]
    order = dict.fromkeys((*missing, *names))
    programs = {name: load_program(name, arguments.cflags) for name in order}
    first, second = (programs[name] for name in names)
    found = list(_pairs(arguments, first, second))
    from .verify_run import show_answers

    return show_answers(arguments, found)


def _pairs(
    arguments: argparse.Namespace, first: Program, second: Program
) -> Iterator[tuple[Function, Function]]:
    if arguments.func is not None:
        yield first[arguments.func], second[arguments.func]
        return
    if not first:
        raise UsageError(f"{arguments.first} has no function with a body")
    if len(first) == len(second) == 1:
        yield next(iter(first.values())), next(iter(second.values()))
        return
    missing = [name for name in first if name not in second]
    if missing:
        raise UsageError(f"{arguments.second} has no function {', '.join(missing)}")
    yield from ((first[name], second[name]) for name in first)
