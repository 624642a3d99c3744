"""Files of the served folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.serving.root_folder import RootFolder
from loopwright.session.problems import CallError


@pytest.mark.parametrize("name", ["f.c", "f.py"])
def test_other_languages_are_to_be_converted_first(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("raise SystemExit\n")
    with pytest.raises(CallError, match=rf"{name}: .* are not served") as caught:
        RootFolder(tmp_path).read(name)
    assert "loopwright convert" in str(caught.value.problem.remedy)
