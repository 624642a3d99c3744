"""Prints what a directory of labels holds."""

from __future__ import annotations

import argparse

from ..common import format_table, warn_of_damage
from .common import add_directory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The directory."""
    add_directory(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints numbers of pairs, programs, machines, and the distribution of speed-ups."""
    from ...costmodel.dataset.statistics import summarise

    warn_of_damage(arguments.directory)
    print(format_table(summarise(arguments.directory)))
    return 0
