"""Every example runs at a small size; each compares its results itself."""

from __future__ import annotations

import ast
import json
import re
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

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


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(notebook: Path) -> None:
    """The cells run in their order, and what a cell ends with shows itself in little space."""
    cells = json.loads(notebook.read_text())["cells"]
    names: dict[str, Any] = {}
    shown: list[str] = []
    for cell in cells:
        assert not cell.get("outputs"), "kept without outputs"
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        *_, last = tree.body
        if isinstance(last, ast.Expr):
            tree.body.pop()
        exec(compile(tree, str(notebook), "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), str(notebook), "eval"), names)
            shown.append(value._repr_html_())
    assert len(shown) >= 5
    for text in shown:
        assert text.startswith("<div>") and len(text) < 20_000


def test_every_script_is_listed() -> None:
    assert len(SCRIPTS) >= 6
    listed = re.findall(r"\]\((\w+\.py)\)", (FOLDER / "README.md").read_text())
    assert sorted(listed) == [script.name for script in SCRIPTS]
    listed = re.findall(r"\]\((\w+\.ipynb)\)", (FOLDER / "README.md").read_text())
    assert sorted(listed) == [notebook.name for notebook in NOTEBOOKS]
