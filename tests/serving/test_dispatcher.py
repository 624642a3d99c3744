"""The queue of calls: child processes that die or hang are replaced, with their programs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopwright.serving.call_worker import Service
from loopwright.serving.dispatcher import Dispatcher


def children() -> set[int]:
    """The processes that this one has started."""
    files = Path("/proc/self/task").glob("*/children")
    return {int(pid) for file in files for pid in file.read_text().split()}


@pytest.fixture(scope="module")
def dispatcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dispatcher]:
    dispatcher = Dispatcher(Service(str(tmp_path_factory.mktemp("root")), 5.0, 4 << 30))
    yield dispatcher
    dispatcher.close()


def test_a_process_that_dies_or_hangs_is_replaced_with_its_programs(
    dispatcher: Dispatcher,
) -> None:
    before = children()
    for _ in range(2):
        assert "result" in dispatcher.ask("load", {"source": "polybench/mvt", "size": "MINI"})
    for number, code in ((signal.SIGKILL, "crash"), (signal.SIGSTOP, "time")):
        (worker,) = children() - before
        os.kill(worker, number)
        assert dispatcher.ask("describe", {"program": "mvt"})["problem"]["code"] == code
        loaded = dispatcher.ask("load", {"source": "polybench/mvt", "size": "MINI"})
        assert loaded["result"]["program"] == {"crash": "mvt-3", "time": "mvt-4"}[code]
        for name in ("mvt", "mvt-2"):
            assert dispatcher.ask("describe", {"program": name})["result"]["function"] == "mvt"
        assert worker not in children()


def test_a_cancelled_call_is_ended_and_one_that_waits_never_runs(dispatcher: Dispatcher) -> None:
    dispatcher.ask("load", {"source": "polybench/mvt", "size": "MINI", "name": "cancelled"})
    before = children()
    running, waiting = (
        dispatcher.begin("tune", {"program": "cancelled", "seconds": 2}) for _ in range(2)
    )
    while not running.running():
        time.sleep(0.01)
    for future in (waiting, running):
        dispatcher.cancel(future)
    assert waiting.cancelled()
    assert running.result()["problem"]["code"] == "crash"
    assert dispatcher.ask("describe", {"program": "cancelled"})["result"]["function"] == "mvt"
    assert before - children()
