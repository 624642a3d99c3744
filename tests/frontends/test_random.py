"""Random Python functions compute what Python does; `support.random_python` runs campaigns."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.random_conditions import check_conditions
from support.random_python import check_arrays, check_printed


@pytest.mark.parametrize("seed", [22, 51, 6007])
def test_array_statements(seed: int, tmp_path: Path) -> None:
    check_arrays(seed, tmp_path)


@pytest.mark.parametrize("seed", [8])
def test_loops(seed: int, tmp_path: Path) -> None:
    check_printed(seed, tmp_path)


@pytest.mark.parametrize("seed", [3, 12, 31, 200_004, 200_011])
def test_conditions_and_subscripts_on_data(seed: int, tmp_path: Path) -> None:
    assert check_conditions(seed, tmp_path) >= 3
