"""Messages for mistakes in Python functions: `mistakes.txt` has each with what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopwright
from loopwright.frontends.python.source import PythonSource
from loopwright.frontends.python.translate import translate

from . import helpers

GOLDEN = Path(__file__).with_name("mistakes.txt")


def mistakes() -> dict[str, tuple[str, str]]:
    """By name: the function, and the message."""
    cases: dict[str, tuple[str, str]] = {}
    for case in GOLDEN.read_text().removeprefix("=== ").split("\n=== "):
        name, _, rest = case.partition("\n")
        source, _, message = rest.partition("---\n")
        cases[name] = source, message.strip("\n")
    return cases


MISTAKES = mistakes()


def message(source: str, path: Path) -> str:
    """What is said about a kernel in a file of its own."""
    path.write_text(
        "import math\nimport numpy as np\nimport loopwright\n"
        "from loopwright import c128, f16, f32, f64, i8, i32, i64, prange, u8\n"
        "TABLE = np.ones(4)\n\n"
        f"@loopwright.kernel\n{source}"
    )
    with pytest.raises(loopwright.errors.SourceError) as error:
        names = {"__name__": "mistake", "g": helpers.g, "h": helpers.h}
        exec(compile(path.read_text(), str(path), "exec"), names)
    frames = [frame.path for frame in error.traceback]
    assert sum("frontends" in str(frame) and "tests" not in str(frame) for frame in frames) == 1
    assert error.value.__cause__ is None and error.value.__suppress_context__
    return str(error.value).replace(str(path), "kernel.py")


@pytest.mark.parametrize("name", MISTAKES)
def test_message(name: str, tmp_path: Path) -> None:
    source, expected = MISTAKES[name]
    assert message(source, tmp_path / "kernel.py") == expected


def test_there_are_enough() -> None:
    assert len(MISTAKES) >= 40


def test_columns_count_characters(tmp_path: Path) -> None:
    source = 'def f(n: int, A: f64["n"]):\n\tA[0] = 1.0; "ä→"; A[1] = w\n'
    assert message(source, tmp_path / "kernel.py").splitlines()[1:] == [
        '\tA[0] = 1.0; "ä→"; A[1] = w',
        "\t" + " " * 25 + "^",
        "hint: make it an argument, or define it before the kernel",
    ]


def test_every_line_of_the_text_has_a_piece_of_the_source() -> None:
    def f(n: int, A: loopwright.f64["n"]):
        for i in range(n):
            A[i] = 1.0 if A[i] > 0.5 else 0.0

    translation = translate(f, PythonSource.of(f), {"loopwright": loopwright})
    assert len(translation.text.splitlines()) == len(translation.nodes)
