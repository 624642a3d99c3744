"""Child processes end with their parent, also while they start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STARTS_A_CHILD = """
import sys, time
from loopwright.runtime.measuring.children import Child
child = Child("bench.worker", "numpy", "1")
print(child._process.pid, flush=True)
time.sleep(1000)
"""

ASKS_THE_SCHEDULER = """
import time
from loopwright.passes.polyhedral.isl_scheduler import _worker
print(_worker._running().pid, flush=True)
time.sleep(1000)
"""


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return False
    return state != "Z"


def offspring(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(each for child in found for each in offspring(int(child)))]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("program", [STARTS_A_CHILD, ASKS_THE_SCHEDULER])
def test_none_outlives_a_parent_that_is_killed(program: str) -> None:
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    family = offspring(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 60
    while any(map(is_running, family)) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [process for process in family if is_running(process)]
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert not left
