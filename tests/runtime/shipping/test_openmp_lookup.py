"""The OpenMP runtime of shared libraries: found when they run, given by the caller, or none."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.c_libraries import run
from support.runtime_programs import GEMM
from support.shipped_wheels import build_wheel, run_python, unpack

PARALLEL = "tile{loops=i,j sizes=2,16},parallel{loops=it},vectorize{loops=j}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("parallel")
    options = ["-p", PARALLEL, "--levels", "x86-64-v2", "--threads", "2"]
    return unpack(build_wheel(place, "team", {"gemm": GEMM}, *options), place / "site")


PROGRAM = """
#include <stdio.h>
#include <string.h>
#include "team.h"

int regions;
void parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
    (void)threads, (void)flags;
    regions++;
    body(data);
}
int zero(void) { return 0; }
int one(void) { return 1; }

static int has_runtime(void) {
    char line[1000];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) found |= strstr(line, "libgomp") != NULL;
    fclose(maps);
    return found;
}

int main(void) {
    double A[8 * 3], B[3 * 5], C[8 * 5] = {0};
    for (int i = 0; i < 24; i++) A[i] = i;
    for (int i = 0; i < 15; i++) B[i] = 1;
    BEFORE
    int status = gemm(8, 5, 3, C, 8, 5, A, 8, 3, B, 3, 5);
    printf("%d %g %d %d\\n", status, C[39], regions, has_runtime());
    return 0;
}
"""


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        ("", "0 66 0 1"),
        ("team_use_openmp(NULL, NULL, NULL);", "0 66 0 0"),
        ("team_use_openmp(parallel, zero, one);", "0 66 1 0"),
    ],
    ids=["found", "none", "given"],
)
def test_programs_in_c(folder: Path, before: str, answer: str) -> None:
    (folder / "main.c").write_text(PROGRAM.replace("BEFORE", before))
    paths = ["-Iteam/include", "-Lteam/lib", "-Wl,-rpath,team/lib"]
    run("gcc", "-Wall", "-Wextra", "main.c", *paths, "-lteam", "-o", "main", folder=folder)
    assert run("./main", folder=folder) == f"{answer}\n"


FORKING = """
import os
import numpy as np
import team
A, B = np.ones((8, 3)), np.ones((3, 5))
def call():
    C = np.zeros((8, 5))
    team.gemm(8, 5, 3, C, A, B)
    return (C == 3).all()
assert call()
child = os.fork()
if child == 0:
    os._exit(0 if call() and call() else 1)
print(os.waitpid(child, 0)[1], call())
"""


def test_a_child_of_a_fork_has_threads_of_its_own(folder: Path) -> None:
    assert run_python(folder, FORKING) == "0 True\n"
