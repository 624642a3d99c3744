"""Graph output: Graphviz text, and SVG if Graphviz is installed."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from collections.abc import Callable

from ..reports.standalone import standalone
from ..support.markup import Markup
from ..support.output_files import write_output
from . import UsageError
from .file_arguments import WrittenFile


def add_picture_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments `--dot` and `--svg`."""
    parser.add_argument(
        "--dot", metavar="FILE", type=WrittenFile, help="write a picture as Graphviz text"
    )
    parser.add_argument(
        "--svg", metavar="FILE", type=WrittenFile, help="draw a picture (needs Graphviz's dot)"
    )


def add_plot_argument(parser: argparse.ArgumentParser, what: str) -> None:
    """The argument `--plot`, of a drawing that needs no other program."""
    parser.add_argument("--plot", metavar="FILE", type=WrittenFile, help=f"draw {what} (.svg)")


def write_plot(arguments: argparse.Namespace, make: Callable[[], Markup]) -> None:
    """Writes the drawing if it was asked for; raises UsageError, OSError."""
    if arguments.plot is None:
        return
    if not arguments.plot.lower().endswith(".svg"):
        raise UsageError(f"cannot draw {arguments.plot}: name it .svg")
    write_output(arguments.plot, standalone(make()))


def write_pictures(arguments: argparse.Namespace, make: Callable[[], str]) -> None:
    """Writes the graph in the formats that were asked for; raises UsageError, OSError."""
    if arguments.dot is None and arguments.svg is None:
        return
    text = make()
    if arguments.dot is not None:
        write_output(arguments.dot, f"{text}\n")
    if arguments.svg is not None:
        write_output(arguments.svg, _draw(text))


def _draw(text: str) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise UsageError("--svg needs Graphviz (its program dot is not installed); --dot does not")
    result = subprocess.run([program, "-Tsvg"], input=text.encode(), capture_output=True)
    if result.returncode:
        reason = result.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"dot failed: {reason[-1] if reason else 'without a message'}")
    return result.stdout
