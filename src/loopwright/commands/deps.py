"""Prints the parameters, statements and dependences of the functions of a program.

For each dependence: kind, source -> target, array, the distance along each loop that both share
(0, 1 ...: constant; + - 0+ 0- : sign; *: any), and the exact relation between instances.

examples:
  loopwright deps gemm.mlir
  loopwright deps gemm.mlir --plot dependences.svg
"""

from __future__ import annotations

import argparse

from .common import add_program_arguments, functions, one_function
from .pictures import add_picture_arguments, add_plot_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright deps`."""
    add_program_arguments(parser)
    parser.add_argument(
        "--input-dependences",
        action="store_true",
        help="also pairs of reads of the same element (for reuse)",
    )
    add_picture_arguments(parser)
    add_plot_argument(parser, "the source with its dependences")


def run(arguments: argparse.Namespace) -> int:
    """Prints the dependences, and writes the pictures."""
    wants_picture = any((arguments.dot, arguments.svg, arguments.plot))
    found = [one_function(arguments)] if wants_picture else functions(arguments)
    from .deps_run import show_dependences

    return show_dependences(arguments, found)
