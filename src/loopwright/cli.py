"""The command `loopwright`: dispatch to subcommands, and user errors."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from .commands import COMMANDS, STANDARD_OUTPUT, UsageError, add_command_arguments
from .dialects.errors import SourceError
from .support.extras import extra_for
from .support.progress import quiet
from .support.termination import termination_interrupts
from .support.user_error import UserError
from .support.version import __version__

INTERRUPTED = 130
TERMINATED = 143
BROKEN_PIPE = 141

_DESCRIPTION = "A polyhedral compiler for loop nests: affine programs in, fast machine code out."
_EXAMPLES = """\
examples:
  loopwright run gemm.mlir --set ni=1000 --set nj=1100 --set nk=1200
  loopwright run jacobi-2d.mlir --set tsteps=100 --set n=500 -p 'tile{loops=S0.i,S0.j sizes=8,64}'
  loopwright deps gemm.mlir
  loopwright run --help
"""


class _Parser(argparse.ArgumentParser):
    """Argument parser whose errors are one line, with exit code 1."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line (by default that of the process) and returns the exit code."""
    with termination_interrupts() as is_terminated:
        try:
            try:
                code = _run(sys.argv[1:] if arguments is None else arguments)
            finally:
                sys.stdout.flush()
        except KeyboardInterrupt as interrupt:
            print(f"loopwright: {str(interrupt) or 'interrupted'}", file=sys.stderr)
            code = INTERRUPTED
        except BrokenPipeError:
            # Whatever is left in the buffer must not be written at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = BROKEN_PIPE
    return TERMINATED if is_terminated.is_set() else code


def _run(arguments: Sequence[str]) -> int:
    try:
        name, rest = _command(arguments)
        with extra_for(f"loopwright {name}"), warnings.catch_warnings():
            warnings.showwarning = _warn
            module = importlib.import_module(f".commands.{name}", __package__)
            if getattr(module, "VERBATIM", False) and list(rest) not in (["--help"], ["-h"]):
                own = int(list(rest[:1]) == ["--json"])
                rest = [*rest[:own], "--", *rest[own:]]  # options are those of another program
            return _execute(name, module, _parsed(name, rest))
    except (UsageError, UserError) as error:
        return _complain(str(error))


def _parsed(name: str, rest: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command; where they are wrong, `--json` is taken to be among them."""
    try:
        return parser_of(name).parse_args(rest)
    except UsageError as error:
        if "--json" in rest:
            from .commands.json_output import json_output, report_problem
            from .session.records import Problem

            with json_output(name, argparse.Namespace(json=STANDARD_OUTPUT)):
                report_problem(Problem("input", str(error), None, None))
        raise


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of a subcommand; its description and epilog are the module's docstring."""
    module = importlib.import_module(f".commands.{name}", __package__)
    summary, _, details = (module.__doc__ or "").partition("\n\n")
    parser = _Parser(
        prog=f"loopwright {name}",
        description=summary,
        epilog=details,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_command_arguments(module, parser)
    return parser


def _execute(name: str, module: ModuleType, arguments: argparse.Namespace) -> int:
    try:
        with quiet(getattr(arguments, "quiet", False)):
            return _run_command(name, module, arguments)
    except UsageError as error:
        return _complain(str(error))
    except BrokenPipeError:
        raise
    except Exception as error:
        return _complain_of(error)


def _complain_of(raised: Exception) -> int:
    """Says what a user has done wrong; raises all else again."""
    try:
        raise raised
    except SourceError as error:
        print(error if error.location else f"loopwright: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        reason = error.strerror or str(error)
        return _complain(f"{error.filename}: {reason}" if error.filename else reason)
    except MemoryError:
        return _complain("not enough memory; choose smaller sizes")
    except UserError as error:
        return _complain(str(error))
    except Exception as error:
        # The compiler is loaded where it has raised this; what wrong arguments raise is above.
        from .passes.polyhedral.isl_context import TooComplexError

        if not isinstance(error, TooComplexError):
            raise
        return _complain(f"the program is too complex: {error}")


def _run_command(name: str, module: ModuleType, arguments: argparse.Namespace) -> int:
    """Runs a command; with `--json`, what it raises is a document, too."""
    from .commands.json_output import is_wanted, json_output, report_problem
    from .commands.read_and_written import check_files_apart
    from .session.records import Problem

    with json_output(name, arguments):
        try:
            check_files_apart(arguments)
            return module.run(arguments)
        except BrokenPipeError:
            raise
        except UsageError as error:
            report_problem(Problem("input", str(error), None, None))
            raise
        except Exception as error:
            if is_wanted():
                from .session.problems import problem_of  # knows all errors of the compiler

                report_problem(problem_of(error))
            raise


def _warn(message: Warning | str, *_: object) -> None:
    print(f"loopwright: warning: {message}", file=sys.stderr)


def _complain(message: str) -> int:
    print(f"loopwright: error: {message}", file=sys.stderr)
    return 1


def _command(arguments: Sequence[str]) -> tuple[str, Sequence[str]]:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items())
    parser = _Parser(
        prog="loopwright",
        usage="loopwright [--help] [--version] COMMAND ...",
        description=f"{_DESCRIPTION}\n\ncommands:\n{commands}",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"loopwright {__version__}")
    parser.add_argument("command", metavar="COMMAND", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parsed = parser.parse_args(arguments)
    if parsed.command is None:
        parser.error(f"no command given; there are {', '.join(COMMANDS)}")
    if parsed.command not in COMMANDS:
        parser.error(f"no command '{parsed.command}'; there are {', '.join(COMMANDS)}")
    return parsed.command, parsed.rest
