"""Prints a script that completes commands and options in a shell.

examples:
  loopwright completion bash > ~/.local/share/bash-completion/completions/loopwright
  loopwright completion zsh > ~/.zfunc/_loopwright
"""

from __future__ import annotations

import argparse
import importlib
from dataclasses import dataclass
from typing import Annotated, ClassVar, cast

import shtab

from ..support.json_records import Document
from . import COMMANDS, add_command_arguments
from .json_output import emit

COMPLETED = {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY}
"""What stands for the value of an option, and how the shell completes it."""

SHELLS = ("bash", "zsh", "tcsh")


@dataclass(frozen=True)
class CompletionDocument(Document):
    """Result of `loopwright completion`."""

    document: ClassVar[str] = "completion"

    shell: Annotated[str, "the shell"]
    script: Annotated[str, "what it reads"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that reads the script")


def run(arguments: argparse.Namespace) -> int:
    """Prints the script."""
    script = shtab.complete(whole_parser(), shell=arguments.shell)
    print(script)
    emit(CompletionDocument(arguments.shell, script))
    return 0


def whole_parser() -> argparse.ArgumentParser:
    """One parser with all commands; running a command needs its own only."""
    parser = argparse.ArgumentParser(prog="loopwright")
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, summary in COMMANDS.items():
        module = importlib.import_module(f".{name}", __package__)
        add_command_arguments(module, commands.add_parser(name, help=summary))
    _complete_files(parser)
    return parser


def _complete_files(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        choices = cast(object, action.choices)
        if isinstance(choices, dict):
            for inner in cast("dict[str, argparse.ArgumentParser]", choices).values():
                _complete_files(inner)
        elif isinstance(action.metavar, str) and action.metavar in COMPLETED:
            vars(action)["complete"] = COMPLETED[action.metavar]
