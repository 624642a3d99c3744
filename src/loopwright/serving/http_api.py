"""The calls over HTTP, on this machine only, behind a token.

`GET /v1/calls` lists them with their schemas; `POST /v1/NAME` with a JSON object of arguments
answers `{"result": ...}` or `{"problem": ...}`.
"""

from __future__ import annotations

import hmac
import json
import select
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated, Any, cast

from ..session.calls import calls
from ..session.problems import CallError
from ..support.json_records import Record
from .call_worker import input_schema, output_schema
from .dispatcher import Dispatcher

ADDRESS = "127.0.0.1"

PREFIX = "/v1/"

LARGEST_BODY = 1 << 20
"""Bytes of a request."""

MOST_DISCARDED = 16 * LARGEST_BODY
"""Bytes of a larger request that are read before the connection is closed: most clients ask for the
answer when they have sent all of it."""

PATIENCE = 30.0
"""Seconds for a client to send its request."""

_GLANCE = 0.2
"""Seconds between two looks whether a client still waits for its answer."""

MOST_STRANGERS = 32
"""Connections that have not shown the token; the oldest one makes room for a new one."""

_STATUS: Mapping[str, HTTPStatus] = {
    "busy": HTTPStatus.SERVICE_UNAVAILABLE,
    "crash": HTTPStatus.INTERNAL_SERVER_ERROR,
    "internal": HTTPStatus.INTERNAL_SERVER_ERROR,
    "time": HTTPStatus.GATEWAY_TIMEOUT,
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
}
"""Of problems; all others are mistakes of the request."""


@dataclass(frozen=True)
class Address(Record):
    """Where calls are served, and what a client must show."""

    url: Annotated[str, "calls are POSTed to URL/NAME"]
    token: Annotated[str, "for the header `Authorization: Bearer TOKEN`"]


class HttpServer(ThreadingHTTPServer):
    """Serves a dispatcher's calls; port 0 is any free one."""

    daemon_threads = True
    request_queue_size = MOST_STRANGERS

    def __init__(self, dispatcher: Dispatcher, port: int, token: str) -> None:
        self.dispatcher = dispatcher
        self.token = token
        self._strangers: dict[socket.socket, None] = {}
        self._lock = threading.Lock()
        super().__init__((ADDRESS, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serves a connection in a thread of its own."""
        with self._lock:
            self._strangers[request] = None
            if len(self._strangers) > MOST_STRANGERS:
                oldest = next(iter(self._strangers))
                del self._strangers[oldest]
                with suppress(OSError):  # it has gone by itself
                    oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Ends a connection."""
        self.admit(request)
        super().shutdown_request(request)

    def admit(self, connection: socket.socket) -> None:
        """Notes that a connection has shown the token, or has ended."""
        with self._lock:
            self._strangers.pop(connection, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing where the client has gone; other errors are mistakes of ours, and printed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> Address:
        """What clients are told."""
        return Address(f"http://{ADDRESS}:{self.server_port}{PREFIX.rstrip('/')}", self.token)


class _Handler(BaseHTTPRequestHandler):
    """A connection: requests of one client, one after the other."""

    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    server_version = "loopwright"
    sys_version = ""

    def do_GET(self) -> None:
        """Lists the calls."""
        if not self._is_admitted():
            return
        if self.path != f"{PREFIX}calls":
            self._refuse(HTTPStatus.NOT_FOUND, "unknown", f"GET {PREFIX}calls lists the calls")
            return
        table = [
            {
                "name": call.name,
                "summary": call.summary,
                "input": input_schema(call),
                "output": output_schema(call),
            }
            for call in calls().values()
        ]
        self._send(HTTPStatus.OK, {"calls": table})

    def do_POST(self) -> None:
        """Answers a call."""
        if not self._is_admitted():
            return
        body = self._body()
        if body is None:
            return
        name = self.path.removeprefix(PREFIX)
        if not self.path.startswith(PREFIX) or name not in calls():
            self._refuse(
                HTTPStatus.NOT_FOUND, "unknown", f"no such call; there are {', '.join(calls())}"
            )
            return
        try:
            arguments: object = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            self._refuse(HTTPStatus.BAD_REQUEST, "type", "the body is no JSON")
            return
        if not isinstance(arguments, dict):
            self._refuse(HTTPStatus.BAD_REQUEST, "type", "the body is no JSON object of arguments")
            return
        answer = self._ask(name, cast("dict[str, Any]", arguments))
        problem = answer.get("problem")
        status = HTTPStatus.OK
        if problem is not None:
            status = _STATUS.get(problem["code"], HTTPStatus.BAD_REQUEST)
        self._send(status, answer)

    def _ask(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to a call, which ends with the connection of its client."""
        dispatcher = self._server.dispatcher
        future = dispatcher.begin(name, arguments)
        while True:
            try:
                return future.result(_GLANCE)
            except TimeoutError:
                if self._has_left():
                    dispatcher.cancel(future)
                    raise ConnectionAbortedError("the client has left") from None

    def _has_left(self) -> bool:
        """Whether the client has closed its connection."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuses what is no request that the calls know: other methods, bad syntax."""
        status = HTTPStatus(code)
        self._refuse(status, "type", message or status.phrase)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: clients are told what they need."""

    @property
    def _server(self) -> HttpServer:
        return cast(HttpServer, self.server)

    def _is_admitted(self) -> bool:
        """Whether the client has the token, and asks this machine by its own address."""
        host = self.headers.get("Host", "").partition(":")[0]
        if host not in (ADDRESS, "localhost"):
            # A page in a browser may have been given a name that leads here.
            self._refuse(HTTPStatus.FORBIDDEN, "input", f"the host is {ADDRESS}")
            return False
        given = self.headers.get("Authorization", "").encode("latin-1", "replace")
        if not hmac.compare_digest(given, f"Bearer {self._server.token}".encode()):
            self._refuse(
                HTTPStatus.UNAUTHORIZED, "input", "the header Authorization has no valid token"
            )
            return False
        self._server.admit(self.connection)
        return True

    def _body(self) -> bytes | None:
        """The body of the request; None where it was refused."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "type", "there is no Content-Length")
            return None
        if len(length) > 9 or int(length) > LARGEST_BODY:
            self._refuse(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", f"more than {LARGEST_BODY} bytes"
            )
            self._discard(MOST_DISCARDED if len(length) > 9 else int(length))
            return None
        return self.rfile.read(int(length))

    def _discard(self, length: int) -> None:
        """Reads so much of the request, or as much as there is."""
        left = min(length, MOST_DISCARDED)
        while left and (part := self.rfile.read1(left)):
            left -= len(part)

    def _refuse(self, status: HTTPStatus, code: str, message: str) -> None:
        # What is left of the request is not read as another one.
        self.close_connection = True
        self._send(status, {"problem": CallError(code, message).problem.to_json()})

    def _send(self, status: HTTPStatus, answer: Mapping[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
