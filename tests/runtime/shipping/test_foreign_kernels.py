"""Kernels compiled for AArch64 and run by QEMU, against their loops as written here."""

from __future__ import annotations

from pathlib import Path

import foreign_kernels
import pytest
from support.c_libraries import run
from support.runtime_programs import GEMM
from support.shipped_wheels import build_wheel, unpack

from loopwright import Target, load
from loopwright.cli import main
from loopwright.kernels.catalogue import catalogue

ARM = Target.named("neoverse-v1")

KERNELS = [
    "polybench/2mm",
    "polybench/jacobi-1d",
    "polybench/durbin",
    "field/black_scholes",
    "field/conv2d_i8",
    "field/median3_u8",
]


@pytest.mark.parametrize("name", KERNELS)
def test_results_are_those_of_this_machine(name: str, tmp_path: Path) -> None:
    if foreign_kernels.tools(ARM) is None:
        pytest.skip("needs qemu-user-static and gcc-aarch64-linux-gnu")
    entry = catalogue()[name]
    found = foreign_kernels.largest_difference(entry, "MINI", ARM, tmp_path, threads=2)
    assert found <= entry.tolerance


def test_code_for_another_architecture_is_not_called() -> None:
    gemm = load(GEMM)["gemm"]
    if ARM.runs_here:
        pytest.skip("this machine is of that architecture")
    with pytest.raises(ValueError, match=r"code for neoverse-v1 \(aarch64\) does not run on"):
        gemm.compile(target=ARM)


def test_assembly_is_that_of_the_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gemm.mlir").write_text(GEMM)
    sizes = ["-s", "ni=16", "-s", "nj=16", "-s", "nk=16"]
    command = ["emit", str(tmp_path / "gemm.mlir"), "--asm", *sizes, "-p", "vectorize{loops=j}"]
    assert main([*command, "--target", "neoverse-v1"]) == 0
    assert "fmla\tv" in capsys.readouterr().out


PROGRAM = """
#include <stdio.h>
#include "arm.h"
int main(void) {
    double A[8 * 3], B[3 * 5], C[8 * 5] = {0};
    for (int i = 0; i < 24; i++) A[i] = i;
    for (int i = 0; i < 15; i++) B[i] = 1;
    int status = gemm(8, 5, 3, C, 8, 5, A, 8, 3, B, 3, 5);
    printf("%s %d %g\\n", arm_level(), status, C[39]);
    return 0;
}
"""


def test_a_wheel_for_another_architecture(tmp_path: Path) -> None:
    found = foreign_kernels.tools(ARM)
    if found is None:
        pytest.skip("needs qemu-user-static and gcc-aarch64-linux-gnu")
    compiler, emulator = found
    schedule = "tile{loops=i,j sizes=2,16},parallel{loops=it},vectorize{loops=j}"
    options = ["-p", schedule, "--levels", "armv8-a", "--threads", "2"]
    wheel = build_wheel(tmp_path, "arm", {"gemm": GEMM}, *options)
    assert wheel.name == "arm-0.1.0-py3-none-manylinux_2_17_aarch64.whl"
    site = unpack(wheel, tmp_path / "site")
    (site / "main.c").write_text(PROGRAM)
    paths = ["-Iarm/include", "-Larm/lib", "-Wl,-rpath,arm/lib"]
    run(compiler, "main.c", *paths, "-larm", "-o", "main", folder=site)
    root = f"/usr/{ARM.architecture}-linux-gnu"
    assert run(emulator, "-L", root, "./main", folder=site) == "armv8-a 0 66\n"
