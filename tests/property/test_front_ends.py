"""A sample of random programs of the front ends, as `tests/front_ends.py` runs many."""

from __future__ import annotations

from pathlib import Path

from support.campaign import Campaign
from support.failing_checks import is_wrong
from support.front_end_programs import CHECKS, check_front_end, front_end_program


def test_sample(tmp_path: Path) -> None:
    seeds = range(2 * len(CHECKS))
    campaign = Campaign(seeds, 1, 120, tmp_path, check_front_end, front_end_program, "programs")
    assert not campaign.run()
    assert campaign.counts["same"] == len(seeds)


def test_findings_have_their_programs(tmp_path: Path) -> None:
    campaign = Campaign(range(3, 4), 1, 60, tmp_path, is_wrong, front_end_program, "programs")
    assert [each.seed for each in campaign.run()] == [3]
    (file,) = tmp_path.iterdir()
    text = file.read_text()
    assert text.startswith("// seed 3, C: wrong") and "void f(" in text
