"""Serves the compiler to programs: over MCP on standard input and output, or over HTTP.

A client loads programs, asks what is legal and what is fast, runs, tunes and saves schedules
(docs/reference/calls.md). Nothing outside of the folder is read or written; kernels are compiled
and run in child processes, one call at a time.

examples:
  loopwright serve
  loopwright serve --root kernels --seconds 30 --memory 2
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ..serving.call_worker import Service
from ..serving.dispatcher import Dispatcher
from ..support.extras import require
from . import UsageError

SECONDS = 60.0
MEMORY = 4.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright serve`."""
    parser.add_argument(
        "--root", metavar="DIR", default=".", help="the folder that is served (default: this one)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        metavar="S",
        help=f"time per call at most (default: {SECONDS:g})",
    )
    parser.add_argument(
        "--memory",
        type=float,
        default=MEMORY,
        metavar="GIB",
        help=f"memory of each process at most (default: {MEMORY:g})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serves until standard input ends."""
    root = Path(arguments.root)
    if not root.is_dir():
        raise UsageError(f"there is no folder {root}")
    if not arguments.seconds >= 1:
        raise UsageError(f"--seconds must be at least 1, got {arguments.seconds:g}")
    if not arguments.memory >= 1:
        raise UsageError(f"--memory must be at least 1, got {arguments.memory:g}")
    # The caches are files outside of the folder, too.
    os.environ["LOOPWRIGHT_CACHE"] = "off"
    service = Service(str(root.resolve()), arguments.seconds, int(arguments.memory * (1 << 30)))
    require("loopwright serve", "mcp")
    from ..serving.mcp_stdio import serve_stdio

    dispatcher = Dispatcher(service)
    try:
        serve_stdio(dispatcher)
    finally:
        dispatcher.close()
    return 0
