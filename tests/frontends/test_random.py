"""Random Python functions compute what Python does; `support.random_python` runs campaigns."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.random_conditions import check_conditions
from support.random_gathers import check_gathers
from support.random_python import check_arrays, check_printed


@pytest.mark.parametrize("seed", [22, 51, 6007, 90_003, 90_017])
def test_array_statements(seed: int, tmp_path: Path) -> None:
    check_arrays(seed, tmp_path)


@pytest.mark.parametrize("seed", [8])
def test_loops(seed: int, tmp_path: Path) -> None:
    check_printed(seed, tmp_path)


@pytest.mark.parametrize("seed", [3, 12, 31, 200_004, 200_011])
def test_conditions_and_subscripts_on_data(seed: int, tmp_path: Path) -> None:
    assert check_conditions(seed, tmp_path) >= 3


@pytest.mark.parametrize("seed", range(8))
def test_gathers_and_scatters(seed: int, tmp_path: Path) -> None:
    assert check_gathers(seed, tmp_path) > 0


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(1000, 3000, 100))
def test_campaign_of_gathers_and_scatters(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 100):
        check_gathers(seed, tmp_path)
