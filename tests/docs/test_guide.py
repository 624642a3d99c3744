"""Every example of the guide and of the README runs, and prints what the page says."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.doc_examples import FILE_NAME, agrees, run_page

ROOT = Path(__file__).parents[2]
GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))

RUN = {"python", "console", "mlir", "c", "toml"}
NOT_RUN = {"sh"}
"""Commands that install or that take long; the prose around them says so."""

COMPILED = {"c-library.md"}


@pytest.mark.parametrize("page", [*GUIDE, ROOT / "README.md"], ids=lambda page: page.stem)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.name in COMPILED and shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "datasets").symlink_to(ROOT / "datasets")
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "tuning.sqlite"))
    monkeypatch.setenv("LOOPWRIGHT_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("COLUMNS", "80")
    lines = run_page(page)
    for block in blocks(page):
        if block.language in RUN:
            assert lines & set(block.lines), f"{page}:{block.lines[0]} was not run"


@dataclass(frozen=True)
class Block:
    """A fenced block of code: its language and its lines, with that of the fence."""

    language: str
    lines: range


def blocks(page: Path) -> list[Block]:
    fences = [
        (number, line.strip())
        for number, line in enumerate(page.read_text().splitlines(), start=1)
        if line.lstrip().startswith("```")
    ]
    pairs = zip(fences[::2], fences[1::2], strict=True)
    return [Block(text.strip("`"), range(first, last)) for (first, text), (last, _) in pairs]


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_every_block_has_a_language_that_is_run(page: Path) -> None:
    assert {block.language for block in blocks(page)} <= RUN | NOT_RUN


def test_the_guide_has_examples_on_every_page() -> None:
    assert len(GUIDE) >= 11
    for page in GUIDE:
        assert page.stem == "index" or any(block.language in RUN for block in blocks(page))


@pytest.mark.parametrize(
    ("expected", "printed", "varies", "verdict"),
    [
        ("took 12.4 ms\n", "took 830 us\n", True, True),
        ("took 12.4 ms\n", "took 830 us\n", False, False),
        ("took 12.4 ms\n", "lost 12.4 ms\n", True, False),
        ("a ... b\n", "a  1 2 b  \n", False, True),
        ("", "", False, True),
        ("", "something\n", False, False),
    ],
)
def test_what_agrees(expected: str, printed: str, varies: bool, verdict: bool) -> None:
    assert agrees(expected, printed, numbers_vary=varies) is verdict


@pytest.mark.parametrize("line", ["// a.mlir\n", "# b.py\n", "/* c.c */\n", "# d/e.toml\n"])
def test_names_of_files(line: str) -> None:
    assert FILE_NAME.match(line)
