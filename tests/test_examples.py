"""Every example runs at a small size; each compares its results itself."""

from __future__ import annotations

import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))

SIZES = {"model_search": 200}
"""Where 40 leaves nothing to do."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if script.stem == "c_library" and not any(map(shutil.which, ("cc", "gcc", "clang", "ld"))):
        pytest.skip("needs a linker")
    monkeypatch.setattr(sys, "argv", [str(script), "--size", str(SIZES.get(script.stem, 40))])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_every_script_is_listed() -> None:
    assert len(SCRIPTS) >= 6
    listed = re.findall(r"\]\((\w+\.py)\)", (FOLDER / "README.md").read_text())
    assert sorted(listed) == [script.name for script in SCRIPTS]
