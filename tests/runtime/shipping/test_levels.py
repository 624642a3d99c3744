"""Dispatch by level: what the variable allows, and what processors have."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.c_libraries import run
from support.shipped_wheels import run_python, small_wheel, unpack

from loopwright.passes.machine.detection import host_architecture

EMULATOR = "qemu-x86_64-static"

pytestmark = pytest.mark.skipif(host_architecture() != "x86_64", reason="levels of x86-64")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("levels")
    return unpack(small_wheel(place, "--levels", "x86-64-v3,x86-64-v2"), place / "site")


@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3"])
def test_the_variable_forces_a_level(folder: Path, level: str) -> None:
    code = "import numpy as np, small; print(small.library.level, small.dot(2, *np.ones((2, 2))))"
    assert run_python(folder, code, {"LOOPWRIGHT_LEVEL": level}) == f"{level} 2.0\n"


def test_an_empty_variable_allows_all_levels(folder: Path) -> None:
    code = "import small; print(small.library.level)"
    assert run_python(folder, code, {"LOOPWRIGHT_LEVEL": ""}) == run_python(folder, code, {})


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ("x86-64-v9", "LOOPWRIGHT_LEVEL=x86-64-v9 is none of x86-64, x86-64-v2, x86-64-v3, x86-64"),
        ("x86-64", "of which LOOPWRIGHT_LEVEL allows x86-64 at most; it needs x86-64-v2"),
    ],
)
def test_levels_without_code_are_errors(folder: Path, level: str, message: str) -> None:
    code = "\ntry:\n    import small\nexcept ImportError as error:\n    print(error)"
    assert message in run_python(folder, code, {"LOOPWRIGHT_LEVEL": level})


PROGRAM = """
#include <stdio.h>
#include "small.h"
int main(void) {
    double x[] = {1, 2}, y[] = {3, 4}, result = 0;
    int status = dot(2, x, 2, y, 2, &result);
    const char *level = small_level();
    printf("%s %d %g\\n", level ? level : "none", status, result);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("processor", "answer"),
    [
        ("core2duo", "none 7 0"),
        ("Nehalem", "x86-64-v2 0 11"),
        ("Haswell", "x86-64-v3 0 11"),
        ("Haswell,-bmi2", "x86-64-v2 0 11"),
        ("Haswell,-xsave", "x86-64-v2 0 11"),
    ],
)
def test_the_code_is_that_of_the_processor(folder: Path, processor: str, answer: str) -> None:
    if shutil.which(EMULATOR) is None:
        pytest.skip(f"{EMULATOR} is not installed")
    (folder / "main.c").write_text(PROGRAM)
    paths = ["-Ismall/include", "-Lsmall/lib", "-Wl,-rpath,small/lib"]
    run("gcc", "main.c", *paths, "-lsmall", "-o", "main", folder=folder)
    command = [EMULATOR, "-cpu", processor, "./main"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == f"{answer}\n"
