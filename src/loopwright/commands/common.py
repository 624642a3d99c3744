"""Shared by subcommands: program and function arguments, tables, checks."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..dialects.errors import SourceError
from ..frontends.c.flags import LIMITED_RANGE
from ..passes.machine.target import Target
from ..runtime.calling.ranges import MOST_SECONDS, MOST_THREADS
from ..runtime.choosing.schedule_names import CHOSEN
from ..support.bounded_files import read_text
from . import UsageError
from .file_arguments import ReadFile
from .shipped import (
    STANDARD_INPUT,
    add_cflags_argument,
    find_kernel,
    load_program,
    read_standard_input,
    shown,
)

if TYPE_CHECKING:
    from ..lowering.validation.verdict import Verdict
    from ..passes.schedules.schedule import Schedule
    from ..runtime.program import Function

_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}

LARGEST_SEED = 2**63
"""What torch and files of labels can hold is less."""


def add_fast_math_argument(parser: argparse.ArgumentParser) -> None:
    """The argument `--fast-math`."""
    parser.add_argument(
        "--fast-math",
        action="store_true",
        help="let floating-point operations be reassociated and approximated",
    )


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments `FILE` and `--func`."""
    parser.add_argument(
        "file",
        metavar="FILE",
        type=ReadFile,
        help="a program in affine MLIR (-: standard input), C (.c) or Python (.py), or a shipped "
        "kernel (polybench/gemm)",
    )
    parser.add_argument(
        "-f", "--func", metavar="NAME", help="the function (needed when there are several)"
    )
    add_cflags_argument(parser)


def add_values_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments `--set` and `--input`: what a program is called with."""
    parser.add_argument(
        "-s",
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a size (n=1000), an extent of an array (A_dim0=64) or a scalar (alpha=1.5)",
    )
    parser.add_argument(
        "-i",
        "--input",
        metavar="NAME=FILE",
        action="append",
        default=[],
        help="contents of an array from a .npy file (default: random numbers)",
    )


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments `--set`, `--input`, `--threads` and `--fast-math`: how a program is run."""
    add_values_arguments(parser)
    parser.add_argument(
        "-t", "--threads", type=int, metavar="T", help="threads of parallel loops (default: all)"
    )
    add_fast_math_argument(parser)


def add_schedule_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments `-p` and `--schedule-file`."""
    schedule = parser.add_mutually_exclusive_group()
    schedule.add_argument(
        "-p",
        "--pipeline",
        metavar="PASSES",
        help="the schedule: a pipeline of passes, compact notation, 'default', 'rules' or 'auto'",
    )
    schedule.add_argument(
        "-S",
        "--schedule-file",
        metavar="FILE",
        type=ReadFile,
        help="a file with the schedule: a schedule.sequence, a pipeline or compact notation "
        "(-: standard input)",
    )


def add_quiet_argument(parser: argparse.ArgumentParser) -> None:
    """The argument `--quiet`, which `loopwright.cli` heeds."""
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def add_verify_argument(parser: argparse.ArgumentParser) -> None:
    """The argument `--verify`."""
    parser.add_argument(
        "--verify",
        action="store_true",
        help="prove that the loops that are generated are the program "
        "(docs/reference/validation.md)",
    )


VERDICT = "what the validation of the generated loops has said, where it was asked for"


def tell_verdict(function: str, verdict: Verdict | None) -> None:
    """Says on standard error what a validation has found, if there was one."""
    if verdict is not None:
        print(f"loopwright: {function}: validation: {verdict}", file=sys.stderr)


def add_target_argument(parser: argparse.ArgumentParser) -> None:
    """The argument `--target`."""
    parser.add_argument(
        "--target",
        metavar="CPU",
        default="host",
        help=f"the processor: {', '.join(Target.names())}, or LLVM's name of it (znver4, "
        "x86-64-v3; default: host, this machine's)",
    )


def named_target(arguments: argparse.Namespace) -> Target:
    """The target that `--target` names; raises UsageError."""
    try:
        return Target.named(arguments.target)
    except ValueError as error:
        raise UsageError(f"--target: {error}") from error


def read_schedule(
    arguments: argparse.Namespace,
    function: Function,
    sizes: Mapping[str, int],
    *,
    threads: int | None = None,
    target: Target | None = None,
    fast_math: bool = False,
) -> Schedule | None:
    """The schedule that the arguments give, if any, `default` for these sizes.

    Raises SourceError, TransformationError, UsageError.
    """
    name = arguments.schedule_file
    if name is None:
        text = arguments.pipeline
        if text not in CHOSEN:
            return None if text is None else function.schedule(text, target, fast_math=fast_math)
        missing = [p.name for p in function.scop.parameters if p.name not in sizes]
        if missing:
            options = " ".join(f"--set {name}=..." for name in missing)
            raise UsageError(f"the {text} schedule of {function.name} needs sizes; add {options}")
        return function.choose_schedule(
            text, sizes, threads=threads, fast_math=fast_math, target=target
        )
    text = _read_text(name, arguments)
    try:
        return function.schedule(text, target, fast_math=fast_math)
    except SourceError as error:
        place = replace(error.location, file=shown(name)) if error.location else None
        message = error.message if place else f"{shown(name)}: {error.message}"
        raise SourceError(message, place, error.hint) from error


def _read_text(name: str, arguments: argparse.Namespace) -> str:
    """The contents of a schedule file; raises UsageError, OSError."""
    if name == STANDARD_INPUT:
        if arguments.file == STANDARD_INPUT:
            raise UsageError("standard input cannot be both the program and the schedule")
        return read_standard_input()
    try:
        return read_text(name)
    except UnicodeDecodeError:
        raise UsageError(f"cannot read '{name}': it is not UTF-8 text") from None


def functions(arguments: argparse.Namespace) -> list[Function]:
    """The function that `--func` names, or all of the program; raises SourceError and others."""
    flags = arguments.cflags
    if getattr(arguments, "fast_math", False):
        flags = f"{LIMITED_RANGE} {flags}"
    program = load_program(arguments.file, flags)
    if arguments.func is not None:
        return [program[arguments.func]]
    if not program:
        raise UsageError(f"{shown(arguments.file)} has no function with a body")
    return list(program.values())


def one_function(arguments: argparse.Namespace) -> Function:
    """The function that `--func` names, or the only one of the program."""
    found = functions(arguments)
    if len(found) > 1:
        names = ", ".join(function.name for function in found)
        raise UsageError(
            f"{shown(arguments.file)} has several functions, choose with --func: {names}"
        )
    return found[0]


def source_text(arguments: argparse.Namespace) -> str:
    """The text of the program."""
    if arguments.file == STANDARD_INPUT:
        return read_standard_input()
    entry = find_kernel(arguments.file)
    return entry.text if entry is not None else read_text(arguments.file)


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """The values of an option that is given as NAME=VALUE several times; raises UsageError."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals or not value:
            raise UsageError(f"{option} expects NAME=VALUE, got '{text}'")
        if re.match(r"[-+.\d]+,\s*\w+=", value):
            each = text.replace(",", f" {option} ").replace("  ", " ")
            raise UsageError(f"{option} takes one value, got '{text}': write {option} {each}")
        if name in pairs:
            raise UsageError(f"{option} gives '{name}' twice")
        pairs[name] = value
    return pairs


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


def check_threads(threads: int | None) -> None:
    """Raises UsageError."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise UsageError(f"--threads must be between 1 and {MOST_THREADS}, got {threads}")


def check_seconds(seconds: float, *, may_be_zero: bool = False) -> None:
    """Raises UsageError for what is no time to measure."""
    if not (seconds > 0 or (may_be_zero and seconds == 0)):
        allowed = "be 0 or more" if may_be_zero else "be positive"
        raise UsageError(f"--seconds must {allowed}, got {seconds}")
    if seconds > MOST_SECONDS:
        raise UsageError(f"--seconds must be at most {MOST_SECONDS}, got {seconds}")


def check_seed(seed: int) -> None:
    """Raises UsageError."""
    if seed < 0:
        raise UsageError(f"--seed must not be negative, got {seed}")
    if seed >= LARGEST_SEED:
        raise UsageError(f"--seed must be less than {LARGEST_SEED}, got {seed}")


def check_output(file: Path, *, is_replaced: bool = False) -> None:
    """Whether a file can be written in the end, before the work; raises UsageError.

    One that `is_replaced` is a file of its own first, which then takes its place.
    """
    if not file.parent.is_dir():
        raise UsageError(f"there is no directory {file.parent} for {file}")
    if file.is_dir():
        raise UsageError(f"{file} is a directory; name a file")
    if is_replaced and file.exists() and not file.is_file():
        raise UsageError(f"{file} is no ordinary file, and would be replaced; name another one")
    written = file if file.exists() and not is_replaced else file.parent
    if not os.access(written, os.W_OK):
        raise UsageError(f"{written} cannot be written; name another file")


def warn_of_damage(*directories: Path) -> bool:
    """Says which shards cannot be read, and whether there are any; raises DatasetError, OSError."""
    from ..costmodel.dataset.shards import list_shards

    damaged = [damage for directory in directories for damage in list_shards(directory).damaged]
    for damage in damaged:
        print(f"loopwright: warning: left out: {damage.reason}", file=sys.stderr)
    return bool(damaged)


def parse_time(text: str, option: str = "--budget") -> float:
    """Seconds from `2s`, `5m`, `1.5h`, `300ms` or a number; raises UsageError."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)(ms|s|m|h|)", text)
    if match is None or not float(match[1]):
        raise UsageError(f"{option} expects a time such as 2s, 5m or 300ms, got '{text}'")
    seconds = float(match[1]) * _UNITS[match[2]]
    if seconds > MOST_SECONDS:
        raise UsageError(f"{option} must be at most {MOST_SECONDS} seconds, got '{text}'")
    return seconds
