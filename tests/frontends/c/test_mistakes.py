"""Messages for mistakes in C files: `mistakes.txt` has each with what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopwright

GOLDEN = Path(__file__).with_name("mistakes.txt")


def mistakes() -> dict[str, tuple[str, str]]:
    """By name: the file, and the message."""
    cases: dict[str, tuple[str, str]] = {}
    for case in GOLDEN.read_text().removeprefix("=== ").split("\n=== "):
        name, _, rest = case.partition("\n")
        source, _, message = rest.partition("---\n")
        cases[name] = source, message.strip("\n")
    return cases


MISTAKES = mistakes()


def message(source: str, path: Path) -> str:
    """What is said about a file."""
    path.write_text(source)
    with pytest.raises(loopwright.errors.SourceError) as error:
        for function in loopwright.load(path).values():
            assert function.scop
    return str(error.value).replace(str(path), path.name)


@pytest.mark.parametrize("name", MISTAKES)
def test_message(name: str, tmp_path: Path) -> None:
    source, expected = MISTAKES[name]
    assert message(source, tmp_path / "file.c") == expected


def test_there_are_enough() -> None:
    assert len(MISTAKES) >= 40


def test_columns_count_characters(tmp_path: Path) -> None:
    source = (
        "void f(int n, double A[n]) {\n#pragma scop\n\t/* ä→ */ A[n * n] = 1;\n#pragma endscop\n}\n"
    )
    lines = message(source, tmp_path / "file.c").splitlines()
    assert lines[0].startswith("file.c:3:13: error: a subscript must be affine")
    assert lines[2] == "\t" + " " * 11 + "^"
