"""Prints the random program of a seed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ...costmodel.generator import random_program
from ...costmodel.labelled_data import RandomWorkload, find_workload, workload_names
from ...support.json_records import Document
from ..json_output import emit


@dataclass(frozen=True)
class ShowDocument(Document):
    """Result of `loopwright data show`."""

    document: ClassVar[str] = "data-show"

    sizes: Annotated[Mapping[str, int], "the sizes of the program"]
    text: Annotated[str, "the program"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which program."""
    parser.add_argument(
        "seed", metavar="SEED", type=int, help="the seed, as stored with the labels"
    )
    parser.add_argument(
        "--workload",
        choices=workload_names(),
        default=RandomWorkload.origin,
        help="the workload, as stored in `origin` (default: random)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints text and sizes."""
    program = random_program(arguments.seed, find_workload(arguments.workload).mix)
    sizes = " ".join(f"--set {name}={size}" for name, size in program.sizes.items())
    print(f"// sizes: {sizes}\n{program.text}", end="")
    emit(ShowDocument(program.sizes, program.text))
    return 0
