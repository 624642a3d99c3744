"""Random functions with jumps compute what gcc makes of them; drop-in sources of them, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.random_jumps import compare, jumping_function

SEEDS = (*range(24), 541)


def test_random_jumps(tmp_path: Path) -> None:
    compared = 0
    for seed in SEEDS:
        (folder := tmp_path / str(seed)).mkdir()
        compared += compare(seed, folder)
    assert compared > 16


def test_all_kinds_of_jumps_are_made() -> None:
    texts = "".join(jumping_function(seed) for seed in SEEDS)
    for part in ("goto to", "break;", "continue;", "} else {", "for (int a"):
        assert part in texts


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(1000, 3000, 50))
def test_campaign(tmp_path: Path, first: int) -> None:
    for seed in range(first, first + 50):
        (folder := tmp_path / str(seed)).mkdir()
        compare(seed, folder)
