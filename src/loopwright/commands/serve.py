"""Serves the compiler to programs: over MCP on standard input and output, or over HTTP.

A client loads programs, asks what is legal and what is fast, runs, tunes and saves schedules
(docs/reference/calls.md). Nothing outside of the folder is read or written; kernels are compiled
and run in child processes, one call at a time. With --http, the address is this machine's own, and
clients need the token that is printed, or that LOOPWRIGHT_TOKEN holds.

examples:
  loopwright serve --root kernels
  loopwright serve --http 8123 --seconds 30 --memory 2
"""

from __future__ import annotations

import argparse
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..serving.call_worker import Service
from ..serving.dispatcher import Dispatcher
from ..support.extras import require
from ..support.json_records import Document
from . import UsageError
from .json_output import emit

SECONDS = 60.0
MEMORY = 4.0

TOKEN = "LOOPWRIGHT_TOKEN"
"""The variable with the token of clients over HTTP."""

SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class ServeDocument(Document):
    """First line of `loopwright serve --http`."""

    document: ClassVar[str] = "serve"

    url: Annotated[str, "calls are POSTed to URL/NAME"]
    token: Annotated[str, "for the header `Authorization: Bearer TOKEN`"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright serve`."""
    parser.add_argument(
        "--root", metavar="DIR", default=".", help="the folder that is served (default: this one)"
    )
    parser.add_argument(
        "--http", type=int, metavar="PORT", help="serve HTTP at 127.0.0.1 (0: any free port)"
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
    """Serves until standard input ends, or until it is interrupted."""
    root = Path(arguments.root)
    if not root.is_dir():
        raise UsageError(f"there is no folder {root}")
    if not 1 <= arguments.seconds <= 86_400:
        raise UsageError(f"--seconds must be between 1 and 86400, got {arguments.seconds:g}")
    if not 1 <= arguments.memory <= 1 << 20:
        raise UsageError(f"--memory must be between 1 and {1 << 20}, got {arguments.memory:g}")
    if arguments.http is not None and not 0 <= arguments.http <= 65535:
        raise UsageError(f"--http must be between 0 and 65535, got {arguments.http}")
    service = Service(str(root.resolve()), arguments.seconds, int(arguments.memory * (1 << 30)))
    if arguments.http is not None:
        return _serve_http(service, arguments.http)
    require("loopwright serve", "mcp")
    from ..serving.mcp_stdio import serve_stdio

    dispatcher = Dispatcher(service)
    try:
        serve_stdio(dispatcher)
    finally:
        dispatcher.close()
    return 0


def _serve_http(service: Service, port: int) -> int:
    from ..serving.http_api import ADDRESS, HttpServer

    token = os.environ.pop(TOKEN, None) or secrets.token_urlsafe(24)
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise UsageError(f"{TOKEN} must have at least {SHORTEST_TOKEN} printable characters")
    dispatcher = Dispatcher(service)
    try:
        try:
            server = HttpServer(dispatcher, port, token)
        except OSError as error:
            raise UsageError(f"port {port} of {ADDRESS}: {error.strerror}") from error
        with server:
            address = server.address
            print(f"serving {address.url}\ntoken {address.token}", flush=True)
            emit(ServeDocument(address.url, address.token))
            server.serve_forever()
    finally:
        dispatcher.close()
    return 0
