"""`loopwright serve` over MCP, with the official client: handshake, a dialogue, hostile calls."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from support.hostile_programs import ENDLESS, VAST

from loopwright.serving.pages import LARGEST
from loopwright.session.calls import calls

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.mlir").write_text(VAST)
    root = tmp_path_factory.mktemp("root")
    (root / "vast.mlir").write_text(VAST)
    (root / "out.mlir").symlink_to(outside / "secret.mlir")
    (root / "door").symlink_to(outside)
    (root / "loop").symlink_to(root / "loop")
    (root / "include.c").write_text('#include "/etc/passwd"\n')
    (root / "noise.mlir").write_bytes(b"\xff\xfe{\x00")
    os.mkfifo(root / "pipe.mlir")
    return root


@pytest.fixture(scope="module")
def client(root: Path) -> Iterator[Any]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "loopwright", "serve", "--root", str(root), "--seconds", "16"],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(parameters))) as client,
    ):

        class Blocking:
            server_info = client.server_info

            def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
                return portal.call(client.call_tool, name, dict(arguments))

            def tools(self) -> Any:
                return portal.call(client.list_tools).tools

        yield Blocking()


@pytest.fixture(scope="module")
def ask(client: Any) -> Ask:
    """A call's answer, which is of the tool's schema: some clients refuse others, also errors."""
    schemas: dict[str, Any] = {
        tool.name: Draft202012Validator(tool.output_schema) for tool in client.tools()
    }

    def ask(name: str, /, **arguments: Any) -> dict[str, Any]:
        result = client.call(name, arguments)
        assert len(json.dumps(result.structured_content).encode()) <= LARGEST
        if name in schemas:
            schemas[name].validate(result.structured_content)
        return {**result.structured_content, "is_error": result.is_error}

    return ask


@pytest.fixture(scope="module")
def vast(ask: Ask) -> None:
    assert not ask("load", source="vast.mlir", name="vast")["is_error"]


def test_handshake_and_tools(client: Any) -> None:
    assert client.server_info.name == "loopwright"
    tools = {tool.name: tool for tool in client.tools()}
    assert set(tools) == set(calls())
    for name, call in calls().items():
        assert tools[name].description == call.summary
        assert set(call.input_schema()["properties"]) <= set(tools[name].input_schema["properties"])
        schema = tools[name].output_schema
        assert schema["type"] == "object", "all that the protocol takes"
        result, problem = schema["anyOf"]
        assert set(call.output_schema()["required"]) <= set(result["required"])
        assert set(problem["required"]) == {"code", "message", "place", "remedy"}


def test_a_dialogue_from_loading_to_a_faster_schedule(ask: Ask, root: Path) -> None:
    assert ask("load", source="polybench/gemm", size="SMALL", threads=1)["program"] == "gemm"
    pages = [ask("dependences", program="gemm", page=page, limit=4) for page in (1, 2)]
    assert [len(page["dependences"]) for page in pages] == [4, 2]
    assert [page["total"] for page in pages] == [6, 6]
    refused = ask("legal", program="gemm", step="parallel{loops=k}")
    assert not refused["legal"]
    assert refused["violation"]["sizes"] == {"ni": 1, "nj": 1, "nk": 2}
    for repair in refused["repairs"]:
        assert ask("legal", program="gemm", step=repair["steps"])["legal"]
    applied = ask("apply", program="gemm", step="tile{loops=k,S1.j sizes=32,32}")
    schedule = applied["schedule"]
    tree = ask("loops", program="gemm", schedule=schedule)
    assert any("floor(k / 32)" in line for line in tree["lines"])
    measured = ask("time", program="gemm", schedule=schedule)
    assert measured["failure"] is None
    assert measured["seconds"] > 0
    saved = ask("save", program="gemm", path="gemm-schedule.mlir", schedule=schedule)
    text = (root / "gemm-schedule.mlir").read_text()
    assert saved["bytes"] == len(text.encode())
    assert ask("apply", program="gemm", step="", schedule=text)["schedule"] == schedule


@pytest.mark.usefixtures("vast")
@pytest.mark.parametrize(
    ("code", "name", "arguments"),
    [
        ("path", "load", {"source": "../outside0/secret.mlir"}),
        ("path", "load", {"source": "/etc/passwd"}),
        ("path", "load", {"source": "out.mlir"}),
        ("path", "load", {"source": "door/secret.mlir"}),
        ("path", "load", {"source": "loop"}),
        ("path", "load", {"source": "pipe.mlir"}),
        ("path", "load", {"source": "noise.mlir"}),
        ("path", "load", {"source": "include.c"}),
        ("path", "load", {"source": "nul\x00.mlir"}),
        ("path", "load", {"source": "."}),
        ("path", "load", {"source": ""}),
        ("path", "load", {"source": "a" * 5000}),
        ("too_large", "load", {"source": "{" * 200_001}),
        ("path", "save", {"program": "vast", "path": "../x"}),
        ("path", "save", {"program": "vast", "path": "door/x"}),
        ("path", "save", {"program": "vast", "path": "out.mlir"}),
        ("path", "save", {"program": "vast", "path": "/tmp/x"}),
        ("path", "save", {"program": "vast", "path": "no/folder/x"}),
        ("path", "save", {"program": "vast", "path": "pipe.mlir"}),
        ("path", "predict", {"program": "vast", "schedules": [""], "model": "../m.npz"}),
        ("path", "tune", {"program": "vast", "model": "/etc/passwd"}),
        ("unknown", "describe", {"program": "$(touch x); `id` && rm -rf /"}),
        ("unknown", "load", {"source": VAST, "function": "'; DROP TABLE x"}),
        ("unknown", "__init__", {}),
        ("unknown", "close", {}),
        ("type", "describe", {}),
        ("type", "describe", {"program": 7}),
        ("type", "describe", {"program": "vast", "self": 1}),
        ("type", "describe", {"program": "vast", "page": 0}),
        ("type", "describe", {"program": "vast", "limit": True}),
        ("type", "load", {"source": VAST, "sizes": {"n": "1; rm"}}),
        ("type", "load", {"source": VAST, "sizes": [1]}),
        ("type", "loops", {"program": "vast", "form": "exe"}),
        ("type", "tune", {"program": "vast", "seconds": True}),
        ("type", "tune", {"program": "vast", "keep": True}),
        ("input", "tune", {"program": "vast", "seconds": 1e9}),
        ("input", "load", {"source": VAST, "threads": 10**9}),
        ("input", "load", {"source": VAST, "sizes": {"n": -1}}),
        ("source", "load", {"source": "{" * 50_000}),
        ("too_large", "apply", {"program": "vast", "step": "reverse{loops=i}," * 300}),
        ("too_large", "predict", {"program": "vast", "schedules": [""] * 65}),
    ],
)
def test_hostile_calls_are_answered_by_errors(
    ask: Ask, code: str, name: str, arguments: dict[str, Any]
) -> None:
    answer = ask(name, **arguments)
    assert answer["is_error"]
    assert answer["code"] == code, answer
    assert answer["message"]
    assert "Traceback" not in json.dumps(answer)


def test_runs_that_do_not_end_or_do_not_fit_are_refused(ask: Ask) -> None:
    ask("load", source=ENDLESS)
    refused = ask("time", program="endless")
    assert refused["is_error"]
    assert refused["code"] in ("failed", "time"), refused  # the run, or on a busy machine the call
    ask("load", source=VAST, sizes={"n": 10**11}, name="huge")
    refused = ask("time", program="huge")
    assert (refused["is_error"], refused["code"]) == (True, "memory")
    assert not ask("describe", program="endless")["is_error"]
