"""Hostile clients of a server in a process of its own: each is answered, and the server goes on."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.documents import check_document
from support.faults.processes import Home, Running
from support.hostile_programs import ENDLESS, VAST

from loopwright.serving.http_api import LARGEST_BODY

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}

SECONDS = 12
"""Of a call: an endless run ends after a part of them."""


class Client:
    """A client over HTTP."""

    def __init__(self, url: str, token: str) -> None:
        self._place = url.removeprefix("http://").partition("/")[0]
        self._token = token

    def send(self, path: str, body: bytes, **headers: str) -> http.client.HTTPConnection:
        """A request of which nobody has read the answer."""
        connection = http.client.HTTPConnection(self._place, timeout=60)
        sent = {"Authorization": f"Bearer {self._token}", **headers}
        connection.request("POST", f"/v1/{path}", body, sent)
        return connection

    def ask(self, path: str, body: bytes | Mapping[str, Any], **headers: str) -> tuple[int, Any]:
        """The status and the answer."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = self.send(path, data, **headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        return response.status, answer

    def connect(self) -> socket.socket:
        """A connection without a request."""
        host, _, port = self._place.partition(":")
        return socket.create_connection((host, int(port)), timeout=60)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    outside = tmp_path_factory.mktemp("outside") / "secret.mlir"
    outside.write_text(VAST)
    root = tmp_path_factory.mktemp("root")
    (root / "link.mlir").symlink_to(outside)
    command = ["serve", "--http", "0", "--json", "--seconds", str(SECONDS), "--root", str(root)]
    with subprocess.Popen(
        [sys.executable, "-m", "loopwright", *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = check_document(process.stdout.readline(), "serve")
        yield Client(address["url"], address["token"])
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143


@pytest.fixture(autouse=True)
def the_server_goes_on(client: Client) -> Iterator[None]:
    yield
    status, answer = client.ask("load", {"source": VAST, "name": "vast"})
    assert status == 200 and answer["result"]["program"].startswith("vast"), answer


@pytest.mark.parametrize(
    ("status", "code", "path", "body"),
    [
        (400, "path", "load", {"source": "../outside0/secret.mlir"}),
        (400, "path", "load", {"source": "/etc/passwd"}),
        (400, "path", "load", {"source": "link.mlir"}),
        (400, "type", "load", b'{"source": '),
        (400, "type", "load", b"NaN"),
        (400, "input", "load", {"source": VAST, "sizes": {"n": 2**64}}),
        (413, "too_large", "load", b" " * (LARGEST_BODY + 1)),
        (404, "unknown", "../../etc/passwd", {}),
    ],
)
def test_a_request_is_refused(
    status: int, code: str, path: str, body: bytes | dict[str, Any], client: Client
) -> None:
    found, answer = client.ask(path, body)
    assert (found, answer["problem"]["code"]) == (status, code), answer


def test_the_wrong_token_is_refused(client: Client) -> None:
    status, answer = client.ask("load", {"source": VAST}, Authorization="Bearer " + "x" * 32)
    assert (status, answer["problem"]["code"]) == (401, "input")


def test_an_endless_run_ends(client: Client) -> None:
    client.ask("load", {"source": ENDLESS})
    start = time.monotonic()
    status, answer = client.ask("time", {"program": "endless"})
    assert status in (400, 504) and answer["problem"]["code"] in ("failed", "time"), answer
    assert time.monotonic() - start < 2 * SECONDS


@pytest.mark.parametrize("call", ["time", "tune"])
def test_a_run_that_does_not_fit_is_refused(call: str, client: Client) -> None:
    client.ask("load", {"source": VAST, "sizes": {"n": 2**40}, "name": "huge"})
    status, answer = client.ask(call, {"program": "huge"})
    assert (status, answer["problem"]["code"]) == (400, "memory"), answer


def test_a_client_that_leaves_ends_its_call(client: Client) -> None:
    client.ask("load", {"source": ENDLESS})
    start = time.monotonic()
    connections = [client.send("time", b'{"program": "endless"}') for _ in range(3)]
    time.sleep(1.0)
    for connection in connections:
        connection.close()
    assert client.ask("load", {"source": VAST})[0] == 200
    assert time.monotonic() - start < SECONDS, "nobody waits for what has no client"


def test_a_client_that_sends_half_of_a_request(client: Client) -> None:
    with client.connect() as connection:
        connection.sendall(b"POST /v1/load HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
    with client.connect() as connection:
        connection.sendall(b"\x16\x03\x01\x00\xa5" + bytes(160))  # the greeting of TLS
    with client.connect() as connection:
        connection.sendall(b"\x00 / \xff\r\n\r\n")
        assert b"problem" in connection.recv(1000)


def _lines(*requests: tuple[str, dict[str, Any]]) -> bytes:
    messages = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(requests)
    ]
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def test_a_huge_line_on_standard_input_is_answered(tmp_path: Path) -> None:
    load = {"name": "load", "arguments": {"source": "{" * (32 << 20)}}
    describe = {"name": "describe", "arguments": {"program": "vast"}}
    calls = (("initialize", HELLO), ("tools/call", load), ("tools/call", describe))
    with subprocess.Popen(
        [sys.executable, "-m", "loopwright", "serve", "--root", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(_lines(*calls))
        process.stdin.flush()
        found = [json.loads(next(process.stdout)) for _ in calls]
        answers = {each["id"]: each for each in found}
        process.stdin.close()
        assert process.wait(30) == 0
    assert answers[1]["result"]["structuredContent"]["code"] == "too_large"
    assert answers[2]["result"]["structuredContent"]["code"] == "unknown"


def test_nothing_is_left_of_a_client_that_is_killed(tmp_path: Path) -> None:
    """Its server, and the run that it had asked for, end with it."""
    calls = _lines(
        ("initialize", HELLO),
        ("tools/call", {"name": "load", "arguments": {"source": ENDLESS}}),
        ("tools/call", {"name": "time", "arguments": {"program": "endless"}}),
    )
    program = (
        "import subprocess, sys, time\n"
        "command = [sys.executable, '-m', 'loopwright', 'serve', '--seconds', '600']\n"
        "server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)\n"
        f"server.stdin.write({calls!r})\n"
        "server.stdin.flush()\n"
        "time.sleep(600)\n"
    )
    running = Running(Home(tmp_path), ["-c", program])
    time.sleep(8.0)
    assert running.send(signal.SIGKILL)
    assert running.finished().problems([-signal.SIGKILL]) == []
