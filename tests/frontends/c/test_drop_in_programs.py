"""Random C files as drop-in sources print what gcc -O0 makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.drop_in_programs import compare


def test_random_files_as_drop_in_sources(tmp_path: Path) -> None:
    outcomes = [compare(seed, tmp_path, machine_code=seed % 3 == 2) for seed in range(15)]
    assert sum(each.taken > 0 for each in outcomes) > 7


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(100_000, 102_000, 100))
def test_campaign(tmp_path: Path, first: int) -> None:
    for seed in range(first, first + 100):
        compare(seed, tmp_path, machine_code=seed % 3 == 2)
