"""The benchmark of PolyBench/C as published: its messages, dumps and reports."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <polybench.h>
static double x[20], y[20];
int main(int argc, char **argv) {
    for (int i = 0; i < 20; i++)
        x[i] = i * argc;
#pragma scop
    for (int i = 1; i < 20; i++)
        y[i] = x[i] + x[i - 1];
#pragma endscop
    for (int i = 0; i < 20; i++)
        fprintf(stderr, "%0.2lf ", y[i]);
    printf("%f", SECONDS);
    return argv == NULL;
}
"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module; scripts import their neighbours, and classes are looked up by module."""
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location(
        "benchmark_polybench_c", FOLDER / "polybench_c.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of one program, in the folders of the archive."""
    program = tmp_path / "stencils" / "one" / "one.c"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    utilities = tmp_path / "utilities"
    utilities.mkdir()
    (utilities / "benchmark_list").write_text("./stencils/one/one.c\n")
    (utilities / "polybench.c").write_text("")
    (utilities / "polybench.h").write_text("#define SECONDS 0.25\n")
    return tmp_path


def test_a_folder_without_the_suite(
    script: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["polybench_c.py", str(tmp_path)])
    with pytest.raises(SystemExit):
        script.main()
    assert f"unpack {script.ARCHIVE} and name its folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expected", "found", "said"),
    [
        ("begin 1.00 2.50", "begin 1.00 2.51", "equal"),
        ("begin 1.00 2.50", "begin 1.00 2.53", "2.53, not 2.50"),
        ("begin 1.00 2.50", "begin 1.00", "2 words, not 3"),
        ("begin 1.00 2.50", "other 1.00 2.50", "other, not begin"),
        ("begin 1.00", "begin nan", "nan, not 1.00"),
        ("begin nan", "begin nan", "equal"),
        ("123456789012.34", "123456789012.99", "equal"),
        ("", "", "no dump"),
    ],
)
def test_dumps(script: ModuleType, expected: str, found: str, said: str) -> None:
    assert script._difference(expected, found) == said


@pytest.mark.skipif(not any(map(shutil.which, ("clang-22", "clang"))), reason="no clang")
def test_a_suite_of_one_program(
    script: ModuleType,
    suite: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["polybench_c.py", str(suite), "--times", "MINI"])
    assert script.main() == 0
    first, mean = capsys.readouterr().out.splitlines()
    assert first.split("\t") == ["one", "equal", "1", "0.2500", "0.2500", "1.00"]
    assert mean.split() == ["geometric", "mean", "of", "1", "1.00"]


def test_a_program_that_does_not_build(
    script: ModuleType,
    suite: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (suite / "utilities" / "polybench.h").write_text("#error none\n")
    monkeypatch.setattr(sys, "argv", ["polybench_c.py", str(suite)])
    if not any(map(shutil.which, script.CLANGS)):
        pytest.skip("no clang")
    assert script.main() == 1
    assert "error: none" in capsys.readouterr().out
