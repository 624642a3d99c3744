"""The subcommands of `loopwright`: one module each, with these two functions.

    def add_arguments(parser: argparse.ArgumentParser) -> None
    def run(arguments: argparse.Namespace) -> int          # the exit code

The docstring of the module is the long help: its first line says what the command does, the rest
shows examples. A module is imported only when its command is used.
"""

from __future__ import annotations

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
    "bench": "benchmark kernels against installed peers",
    "data": "label training data: programs, schedules, times",
    "machine": "measure the limits of this machine and print its roofline",
    "convert": "print a program of any language as MLIR, C or Python",
    "emit": "print a program as loops, C, LLVM IR or assembly",
    "completion": "print a script that completes commands in a shell",
}
"""Every subcommand (a module of this package) and its short help."""


class UsageError(Exception):
    """A mistake on the command line; `str()` is one line."""
