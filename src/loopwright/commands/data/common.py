"""What several actions share."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_directory(parser: argparse.ArgumentParser) -> None:
    """The argument `DIR`."""
    parser.add_argument("directory", metavar="DIR", type=Path, help="a directory of labels")
