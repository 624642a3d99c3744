"""Prints a program of any language as MLIR, C or Python.

The C has a marked region in each function without results, the Python is a file of decorated
functions: both can be given to all commands again, and mean the same. A Python file is run for its
kernels, of which those are printed that have annotations.

examples:
  loopwright convert kernel.c --to mlir
  loopwright convert kernels.py --to c -o kernels.c
  loopwright convert polybench/gemm --to python
"""

from __future__ import annotations

import argparse

from ..frontends.c.printing import print_c
from ..frontends.python.printing import print_file
from ..runtime.program import Function
from ..support.output_files import write_output
from .common import add_program_arguments, functions

LANGUAGES = ("mlir", "c", "python")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright convert`."""
    add_program_arguments(parser)
    parser.add_argument("--to", choices=LANGUAGES, required=True, help="the language of the result")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")


def run(arguments: argparse.Namespace) -> int:
    """Prints the functions that were chosen."""
    text = _text(functions(arguments), arguments)
    if arguments.output is None:
        print(text, end="")
    else:
        write_output(arguments.output, text)
    return 0


def _text(chosen: list[Function], arguments: argparse.Namespace) -> str:
    if arguments.to == "c":
        one = chosen[0]
        return print_c(one.module if arguments.func is None else one.function)
    if arguments.to == "python":
        return print_file([each.function for each in chosen])
    return "".join(str(each.function) + "\n" for each in chosen)
