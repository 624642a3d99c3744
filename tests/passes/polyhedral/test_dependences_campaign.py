"""No program ends the process, or takes isl long, when its dependences are computed.

LOOPWRIGHT_CAMPAIGN_DEPENDENCES says how many programs the campaign looks at, and
LOOPWRIGHT_CAMPAIGN_SEED which is the first.
"""

from __future__ import annotations

import os

import pytest
from support.dependence_checks import LAST, MEMORY_BASED, REFUSED, verdicts


def run(first: int, programs: int) -> None:
    """Each program has dependences or is refused; its seed and the trace are in the message."""
    done = 0
    for _, verdict in verdicts(first, programs):
        assert verdict.verdict in (LAST, MEMORY_BASED, REFUSED), verdict
        done += 1
    assert done == programs


def test_sample() -> None:
    run(0, 40)


@pytest.mark.campaign
def test_campaign() -> None:
    programs = int(os.environ.get("LOOPWRIGHT_CAMPAIGN_DEPENDENCES", 100_000))
    run(int(os.environ.get("LOOPWRIGHT_CAMPAIGN_SEED", 0)), programs)
