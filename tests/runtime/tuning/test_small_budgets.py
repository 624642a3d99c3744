"""A budget that is too small for a machine still brings a measurement."""

from __future__ import annotations

import re

import pytest

from loopwright.cli import main


@pytest.mark.parametrize("options", [[], ["--tiles"]])
def test_a_budget_that_is_too_small_still_brings_something(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command = "tune polybench/gemm --size MINI --threads 1 --budget 1ms --forget"
    assert main([*command.split(), *options]) == 0
    assert re.search(r"\b[1-9]\d* (measurements|of \d+ combinations)", capsys.readouterr().out)
