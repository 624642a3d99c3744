"""A headless Chromium, driven by the DevTools protocol through a pair of pipes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """The program of a Chromium that is installed."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """One page: calls of the protocol, and the events that came meanwhile."""

    def __init__(self, requests: int, answers: int) -> None:
        self.events: list[dict[str, Any]] = []
        self._requests, self._answers = requests, answers
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer of the browser."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._requests, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = os.read(self._answers, 1 << 16)
            assert piece, "the browser has ended"
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)

    def open(self, file: Path) -> None:
        """Opens a file, and waits until it is loaded; events of others are forgotten."""
        self.events.clear()
        self.call("Page.navigate", url=file.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Presses and releases a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def resize(self, width: int, height: int, scheme: str = "light") -> None:
        """The size of the window, and whether the system is light or dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the console, and requests for anything but the page."""
        found: list[str] = []
        for event in self.events:
            parameters = event.get("params", {})
            match event.get("method"):
                case "Runtime.exceptionThrown":
                    found.append(str(parameters["exceptionDetails"]))
                case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning"):
                    found.append(str(parameters["args"]))
                case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                    found.append(str(parameters["entry"]["text"]))
                case "Network.requestWillBeSent":
                    url = parameters["request"]["url"]
                    if not url.startswith(("file:", "blob:", "data:")):
                        found.append(f"asks for {url}")
                case _:
                    pass
        return found


@contextlib.contextmanager
def open_browser(program: str, profile: Path) -> Iterator[Page]:
    """A page in a new browser; `profile` is a folder of its own."""
    requests, answers = os.pipe(), os.pipe()
    # The browser reads from 3 and writes to 4.
    redirections = f"3<&{requests[0]} 4>&{answers[1]}"
    command = [
        *("bash", "-c", f'exec "$0" "$@" {redirections}', program),
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--no-first-run", "--disable-extensions", "--disable-background-networking"),
        *("--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"),
    ]
    process = subprocess.Popen(
        command,
        pass_fds=(requests[0], answers[1]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(requests[0])
    os.close(answers[1])
    try:
        yield Page(requests[1], answers[0])
    finally:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            os.write(requests[1], b'{"id": 0, "method": "Browser.close"}\0')
            process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its children are in the same group
        process.wait()
        os.close(requests[1])
        os.close(answers[0])
