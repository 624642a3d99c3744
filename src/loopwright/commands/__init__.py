"""The subcommands of `loopwright`: one module each, with these two functions.

    def add_arguments(parser: argparse.ArgumentParser) -> None
    def run(arguments: argparse.Namespace) -> int          # the exit code

The docstring of the module is the long help: its first line says what the command does, the rest
shows examples. A module is imported only when its command is used.
"""

from __future__ import annotations

import argparse
from types import ModuleType

from .file_arguments import WrittenFile

COMMANDS = {
    "run": "run a program with and without a schedule, compare and time them",
    "build": "write an object file or shared library for C programs",
    "cc": "compile C with optimised regions, in place of a C compiler",
    "schedule": "print the loops of a program, before and after a schedule",
    "report": "write what a schedule does to a program as an HTML page",
    "verify": "prove that two programs compute the same",
    "deps": "print the dependences of a program",
    "train": "train a cost model on labelled pairs, and report how good it is",
    "calibrate": "adapt a cost model to this machine in a few minutes",
    "tune": "search for the fastest schedule of a program",
    "tuning": "share tuned schedules: export and merge tuning databases",
    "bench": "benchmark kernels against installed peers",
    "data": "label training data: programs, schedules, times",
    "serve": "let programs drive the compiler, over MCP or HTTP",
    "machine": "measure the limits of this machine and print its roofline",
    "convert": "print a program of any language as MLIR, C or Python",
    "emit": "print a program as loops, C, LLVM IR or assembly",
    "completion": "print a script that completes commands in a shell",
}
"""Every subcommand (a module of this package) and its short help."""


STANDARD_OUTPUT = "-"
"""The value of `--json` without a file."""


def add_command_arguments(module: ModuleType, parser: argparse.ArgumentParser) -> None:
    """The arguments of a command, and `--json`, which all have; actions have their own."""
    module.add_arguments(parser)
    if not getattr(module, "ACTIONS", None):
        add_json_argument(parser)


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """The argument `--json`."""
    parser.add_argument(
        "--json",
        nargs="?",
        const=STANDARD_OUTPUT,
        type=WrittenFile,
        metavar="FILE",
        help="print the result as JSON, or write it to a file (docs/reference/json.md)",
    )


class UsageError(Exception):
    """A mistake on the command line; `str()` is one line."""
