"""Kernels compiled for AArch64 and run by QEMU, against their loops as written here."""

from __future__ import annotations

import zipfile
from pathlib import Path

import foreign_kernels
import pytest
from support.runtime_programs import GEMM
from support.shipped_wheels import build_wheel

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
    with pytest.raises(ValueError, match=r"code for neoverse-v1 \(aarch64\) does not run on"):
        gemm.compile(target=ARM)


def test_assembly_is_that_of_the_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gemm.mlir").write_text(GEMM)
    sizes = ["-s", "ni=16", "-s", "nj=16", "-s", "nk=16"]
    command = ["emit", str(tmp_path / "gemm.mlir"), "--asm", *sizes, "-p", "vectorize{loops=j}"]
    assert main([*command, "--target", "neoverse-v1"]) == 0
    assert "fmla\tv" in capsys.readouterr().out


def test_a_wheel_has_the_tag_of_its_architecture(tmp_path: Path) -> None:
    if foreign_kernels.tools(ARM) is None:
        pytest.skip("needs gcc-aarch64-linux-gnu")
    wheel = build_wheel(tmp_path, "arm", {"gemm": GEMM}, "-p", "", "--levels", "armv8-a")
    assert wheel.name == "arm-0.1.0-py3-none-manylinux_2_17_aarch64.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("arm/lib/libarm.so")[18:20] == b"\xb7\0", "EM_AARCH64"
