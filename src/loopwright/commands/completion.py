"""Prints a script that completes commands and options in a shell.

examples:
  loopwright completion bash > ~/.local/share/bash-completion/completions/loopwright
  loopwright completion zsh > ~/.zfunc/_loopwright
"""

from __future__ import annotations

import argparse
import importlib

import shtab

from . import COMMANDS

SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that reads the script")


def run(arguments: argparse.Namespace) -> int:
    """Prints the script."""
    print(shtab.complete(whole_parser(), shell=arguments.shell))
    return 0


def whole_parser() -> argparse.ArgumentParser:
    """One parser with all commands; running a command needs its own only."""
    parser = argparse.ArgumentParser(prog="loopwright")
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, summary in COMMANDS.items():
        module = importlib.import_module(f".{name}", __package__)
        module.add_arguments(commands.add_parser(name, help=summary))
    return parser
