"""What several subcommands share: reading a program, picking a function, tables."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..runtime.program import Function
from . import UsageError
from .shipped import load_program


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments `FILE` and `--func`."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a program in affine MLIR, or a shipped kernel (polybench/gemm)",
    )
    parser.add_argument(
        "-f", "--func", metavar="NAME", help="the function (needed when there are several)"
    )


def functions(arguments: argparse.Namespace) -> list[Function]:
    """The function that `--func` names, or all of the program; raises SourceError and others."""
    program = load_program(arguments.file)
    if arguments.func is not None:
        return [program[arguments.func]]
    if not program:
        raise UsageError(f"{arguments.file} has no function with a body")
    return list(program.values())


def one_function(arguments: argparse.Namespace) -> Function:
    """The function that `--func` names, or the only one of the program."""
    found = functions(arguments)
    if len(found) > 1:
        names = ", ".join(function.name for function in found)
        raise UsageError(f"{arguments.file} has several functions, choose with --func: {names}")
    return found[0]


def format_table(rows: Sequence[Sequence[str]], numbers: bool = False) -> str:
    """Rows of cells as aligned text; with `numbers`, all columns but the first to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines: list[str] = []
    for row in rows:
        cells = [
            cell.rjust(width) if numbers and column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
