"""The command `loopwright serve`: over HTTP, as a process, until it is terminated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from support.documents import check_document

from loopwright.cli import main


def test_http_serves_until_it_is_terminated(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "loopwright", "serve", "--http", "0", "--json"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [*command, "--root", str(tmp_path)], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = check_document(process.stdout.readline(), "serve")
        request = urllib.request.Request(
            f"{address['url']}/load",
            json.dumps({"source": "polybench/gemm"}).encode(),
            {"Authorization": f"Bearer {address['token']}"},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            assert json.load(response)["result"]["program"] == "gemm"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--root", "nowhere"], "there is no folder nowhere"),
        (["--seconds", "0"], "--seconds must be between 1 and"),
        (["--memory", "nan"], "--memory must be between 1 and"),
        (["--http", "70000"], "--http must be between 0 and 65535"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_short_token_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TOKEN", "short")
    assert main(["serve", "--http", "0"]) == 1
    assert "LOOPWRIGHT_TOKEN must have at least 16" in capsys.readouterr().err


def test_bad_json_on_standard_input_is_survived(tmp_path: Path) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    lines = [b"{not json", b"\xff\xfe\x00", b"[]", b"{}", b'{"jsonrpc": "2.0", "id": []}']
    lines += [b"[" * 100_000, json.dumps(hello).encode()]
    with subprocess.Popen(
        [sys.executable, "-m", "loopwright", "serve", "--root", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"\n".join(lines) + b"\n")
        process.stdin.flush()
        answer = next(found for found in map(json.loads, process.stdout) if found.get("id") == 1)
        assert answer["result"]["serverInfo"]["name"] == "loopwright"
        process.stdin.close()
        assert process.wait(30) == 0
