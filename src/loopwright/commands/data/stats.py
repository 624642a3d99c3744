"""Prints what a directory of labels holds."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ...support.json_records import Document
from ..common import format_table, warn_of_damage
from ..json_output import emit
from .common import add_directory


@dataclass(frozen=True)
class StatsDocument(Document):
    """Result of `loopwright data stats`."""

    document: ClassVar[str] = "data-stats"

    statistics: Annotated[Mapping[str, str], "what the table has, by name"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The directory."""
    add_directory(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints numbers of pairs, programs, machines, and the distribution of speed-ups."""
    from ...costmodel.dataset.statistics import summarise

    warn_of_damage(arguments.directory)
    found = summarise(arguments.directory)
    print(format_table(found))
    emit(StatsDocument(dict(found)))
    return 0
