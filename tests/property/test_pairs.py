"""A sample of random pairs of a program and a schedule, as `make pairs` runs many."""

from __future__ import annotations

from pathlib import Path

from support.campaign import Campaign
from support.pairs import SCHEDULES

PROGRAMS = 8


def test_sample(tmp_path: Path) -> None:
    campaign = Campaign.of_pairs(PROGRAMS * SCHEDULES, seed=0, jobs=1, limit=120, folder=tmp_path)
    assert not campaign.run()
    assert campaign.counts["same"] > PROGRAMS * SCHEDULES // 2
