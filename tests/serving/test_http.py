"""The calls over HTTP: token, host, schemas, hostile requests; without a child process."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any, cast

import pytest

from loopwright.serving.call_worker import Request, answer
from loopwright.serving.dispatcher import Dispatcher
from loopwright.serving.http_api import LARGEST_BODY, MOST_STRANGERS, HttpServer
from loopwright.session.calls import calls
from loopwright.session.session import Session

TOKEN = "a-token-of-some-length"


class Here:
    """Answers in this process, in place of a Dispatcher."""

    def __init__(self) -> None:
        self.session = Session()

    def begin(self, name: str, arguments: Mapping[str, Any]) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        future.set_result(answer(self.session, Request(name, arguments)))
        return future


class Endless:
    """Never answers; `cancelled` once nobody waits any more."""

    def __init__(self) -> None:
        self.begun, self.cancelled = threading.Event(), threading.Event()

    def begin(self, name: str, arguments: Mapping[str, Any]) -> Future[dict[str, Any]]:
        del name, arguments
        self.begun.set()
        return Future()

    def cancel(self, future: Future[dict[str, Any]]) -> None:
        assert not future.done()
        self.cancelled.set()


Ask = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    with HttpServer(cast(Dispatcher, Here()), 0, TOKEN) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()

        def ask(
            method: str, path: str, body: bytes | None = None, **headers: str | None
        ) -> tuple[int, Any]:
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
            sent = {"Authorization": f"Bearer {TOKEN}", **headers}
            given = {name: value for name, value in sent.items() if value is not None}
            connection.request(method, path, body, given)
            response = connection.getresponse()
            data = response.read()
            connection.close()
            return response.status, json.loads(data)

        yield ask
        server.shutdown()
        thread.join()


def test_a_call_has_a_result_or_a_problem(ask: Ask) -> None:
    body = json.dumps({"source": "polybench/gemm", "size": "MINI"}).encode()
    status, answered = ask("POST", "/v1/load", body)
    assert status == 200
    assert answered["result"]["program"] == "gemm"
    body = json.dumps({"program": "gemm", "step": "parallel{loops=k}"}).encode()
    status, answered = ask("POST", "/v1/legal", body)
    assert status == 200
    assert not answered["result"]["legal"]
    status, answered = ask("POST", "/v1/apply", body)
    assert status == 400
    assert answered["problem"]["code"] == "illegal"


def test_calls_are_listed_with_schemas(ask: Ask) -> None:
    status, answered = ask("GET", "/v1/calls")
    assert status == 200
    assert [each["name"] for each in answered["calls"]] == list(calls())
    assert all(each["input"]["type"] == "object" for each in answered["calls"])


@pytest.mark.parametrize(
    ("status", "method", "path", "body", "headers"),
    [
        (401, "GET", "/v1/calls", None, {"Authorization": None}),
        (401, "GET", "/v1/calls", None, {"Authorization": f"Bearer {TOKEN}x"}),
        (401, "POST", "/v1/load", b"{}", {"Authorization": TOKEN}),
        (403, "GET", "/v1/calls", None, {"Host": "evil.example:80"}),
        (404, "GET", "/v1/../etc/passwd", None, {}),
        (404, "POST", "/v1/close", b"{}", {}),
        (404, "POST", "/load", b"{}", {}),
        (400, "POST", "/v1/load", b"{not json", {}),
        (400, "POST", "/v1/load", b"[1]", {}),
        (400, "POST", "/v1/load", b"[" * 100_000, {}),
        (400, "POST", "/v1/load", b"\xff\xfe", {}),
        (400, "POST", "/v1/load", b'{"source": 1}', {}),
        (411, "POST", "/v1/load", b"{}", {"Content-Length": "-1"}),
        (413, "POST", "/v1/load", b"{}", {"Content-Length": str(LARGEST_BODY + 1)}),
        (413, "POST", "/v1/load", b"{}", {"Content-Length": "9" * 5000}),
        (501, "PUT", "/v1/load", b"{}", {}),
    ],
)
def test_hostile_requests_are_refused(
    ask: Ask,
    status: int,
    method: str,
    path: str,
    body: bytes | None,
    headers: dict[str, str | None],
) -> None:
    found, answered = ask(method, path, body, **headers)
    assert found == status
    assert answered["problem"]["message"]
    assert ask("GET", "/v1/calls")[0] == 200


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('{"source": "\\ud800"}', "source: a surrogate is no character"),
        (
            '{"source": "polybench/gemm", "sizes": {"ni": ' + "9" * 400 + "}}",
            "sizes: 'ni' is 9999",
        ),
        ('{"source": "polybench/gemm", "threads": true}', "threads: it is True, not int"),
        ('{"source": "polybench/gemm", "sizes": {"ni": "5"}}', "sizes: 'ni' is '5', not a n"),
    ],
)
def test_values_that_are_none(ask: Ask, arguments: str, message: str) -> None:
    status, answered = ask("POST", "/v1/load", arguments.encode())
    assert (status, answered["problem"]["code"]) == (400, "type")
    assert answered["problem"]["message"].startswith(message)


def test_clients_that_have_gone_are_no_errors(capfd: pytest.CaptureFixture[str]) -> None:
    with HttpServer(cast(Dispatcher, Here()), 0, TOKEN) as server:
        for error in (ConnectionResetError(), BrokenPipeError(), KeyError("ours")):
            try:
                raise error
            except (OSError, KeyError):
                server.handle_error(None, ("127.0.0.1", 1))
    shown = capfd.readouterr().err
    assert "KeyError: 'ours'" in shown
    assert "ConnectionResetError" not in shown
    assert "BrokenPipeError" not in shown


def test_a_call_ends_with_the_connection_of_its_client(
    capfd: pytest.CaptureFixture[str],
) -> None:
    dispatcher = Endless()
    with HttpServer(cast(Dispatcher, dispatcher), 0, TOKEN) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
            connection.request(
                "POST", "/v1/time", b"{}", headers={"Authorization": f"Bearer {TOKEN}"}
            )
            assert dispatcher.begun.wait(30)
            assert not dispatcher.cancelled.wait(0.5)
            connection.close()
            assert dispatcher.cancelled.wait(30)
        finally:
            server.shutdown()
            thread.join()
    assert capfd.readouterr().err == ""


def test_connections_without_the_token_make_room_for_others() -> None:
    with HttpServer(cast(Dispatcher, Here()), 0, TOKEN) as server, ExitStack() as stack:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        place = "127.0.0.1", server.server_port
        try:
            admitted = http.client.HTTPConnection(*place, timeout=30)
            stack.callback(admitted.close)
            headers = {"Authorization": f"Bearer {TOKEN}"}
            for number in range(2):  # before and behind those without the token
                admitted.request("GET", "/v1/calls", headers=headers)
                response = admitted.getresponse()
                response.read()
                assert response.status == 200
                if number == 0:
                    strangers = [
                        stack.enter_context(socket.create_connection(place, timeout=30))
                        for _ in range(MOST_STRANGERS + 2)
                    ]
                    assert [each.recv(1) for each in strangers[:2]] == [b"", b""]
        finally:
            server.shutdown()
            thread.join()
