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
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ..frontends.c.printing import print_c
from ..frontends.python.printing import print_file
from ..runtime.program import Function
from ..support.json_records import Document
from ..support.output_files import write_output
from .common import add_program_arguments, functions
from .file_arguments import WrittenFile
from .json_output import emit

LANGUAGES = ("mlir", "c", "python")


@dataclass(frozen=True)
class ConvertDocument(Document):
    """Result of `loopwright convert`."""

    document: ClassVar[str] = "convert"

    language: Annotated[str, "mlir, c or python"]
    functions: Annotated[tuple[str, ...], "the functions that were chosen"]
    text: Annotated[str, "the program"]
    file: Annotated[str | None, "where it was written; null: standard output"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright convert`."""
    add_program_arguments(parser)
    parser.add_argument("--to", choices=LANGUAGES, required=True, help="the language of the result")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=WrittenFile, help="default: standard output"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the functions that were chosen."""
    chosen = functions(arguments)
    text = _text(chosen, arguments)
    if arguments.output is None:
        print(text, end="")
    else:
        write_output(arguments.output, text)
    names = tuple(function.name for function in chosen)
    emit(ConvertDocument(arguments.to, names, text, arguments.output))
    return 0


def _text(chosen: list[Function], arguments: argparse.Namespace) -> str:
    if arguments.to == "c":
        one = chosen[0]
        return print_c(one.module if arguments.func is None else one.function)
    if arguments.to == "python":
        return print_file([each.function for each in chosen])
    return "".join(str(each.function) + "\n" for each in chosen)
