"""`loopwright build`."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.c_libraries import SharedLibrary
from support.runtime_programs import DOT, GEMM, SAXPY

from loopwright.cli import main
from loopwright.runtime.library import link
from loopwright.runtime.library.build import Library


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with `gemm.mlir` and, with three functions, `all.mlir`."""
    (tmp_path / "gemm.mlir").write_text(GEMM)
    (tmp_path / "all.mlir").write_text(GEMM + SAXPY + DOT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_object(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "gemm.mlir", "-o", "gemm", "-p", "parallel{loops=i}"]) == 0
    assert capsys.readouterr().out == (
        "wrote gemm.o and gemm.h: gemm\n"
        "link a program with it by\n    cc main.c gemm.o -lgomp -lm -o main\n"
    )
    assert (programs / "gemm.o").read_bytes().startswith(b"\x7fELF")
    header = (programs / "gemm.h").read_text()
    assert "cc main.c gemm.o -lgomp -lm -o main" in header
    assert " *     parallel{loops=i}\n" in header
    assert " * Threads: as many as OpenMP gives (OMP_NUM_THREADS).\n" in header
    assert " * @param C      C_dim0 x C_dim1 elements, read and written\n" in header
    prototype = (
        "int gemm(int64_t ni, int64_t nj, int64_t nk, double *C, int64_t C_dim0, int64_t C_dim1,\n"
        "         const double *A, int64_t A_dim0, int64_t A_dim1, const double *B, "
        "int64_t B_dim0,\n         int64_t B_dim1);\n"
    )
    assert prototype in header


def test_shared_library(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "all.mlir", "-o", "all", "--shared", "-f", "dot", "-f", "gemm"]) == 0
    assert f"cc main.c all.so -Wl,-rpath,{programs} -o main" in capsys.readouterr().out
    library = SharedLibrary(Library(programs / "all.so", programs / "all.h", (), ""))
    assert hasattr(library.code, "dot") and hasattr(library.code, "gemm")
    assert not hasattr(library.code, "saxpy")
    assert "saxpy" not in library.header


def test_shipped_kernel_at_a_size(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["build", "polybench/gemm", "--size", "LARGE", "-o", "out.o", "--target", "x86-64-v3"]
    assert main([*command, "-s", "B_dim1=1200", "--prefix", "large_", "--fast-math"]) == 0
    capsys.readouterr()
    header = (programs / "out.h").read_text()
    assert "int large_gemm(double alpha, double beta, double *C, const double *A, const double *B);"
    assert " * @param B     1200 x 1200 elements, read\n" in header
    assert "compiled for x86-64-v3." in header
    assert "ni = 1000, nj = 1100, nk = 1200" in header
    assert "(fast math)" in header


def test_shipped_kernels_have_their_own_arrays(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of trmm's A, the program touches less than all columns."""
    assert main(["build", "polybench/trmm", "--size", "MINI", "-o", "trmm.o"]) == 0
    assert main(["build", "polybench/trmm", "-s", "m=20", "-s", "n=30", "-o", "same.o"]) == 0
    assert (programs / "trmm.o").read_bytes() == (programs / "same.o").read_bytes()
    assert " * @param A     20 x 20 elements, read\n" in (programs / "trmm.h").read_text()
    assert main(["emit", "polybench/trmm", "--c", "--size", "MINI"]) == 0
    assert "double A[restrict 20][20]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gemm.mlir"], "say with --output what to write: NAME.o, NAME.so or NAME.c"),
        (["gemm.mlir", "-o", "gemm.dll"], "cannot build 'gemm.dll': its name ends in .o"),
        (["gemm.mlir", "-o", "gemm.o", "--shared"], "--shared makes a shared library"),
        (["gemm.mlir", "-o", "gemm", "-f", "dot"], "no function 'dot' in this program"),
        (["gemm.mlir", "-o", "no/where/gemm.o"], "no/where/gemm.o: No such file or directory"),
        (["gemm.mlir", "-o", "no/where/gemm.so"], "no/where/gemm.so: No such file or directory"),
        (["gemm.mlir", "-o", "gemm", "-s", "n=3"], "there is no size 'n'; there are ni, nj, nk, C"),
        (["gemm.mlir", "-o", "gemm", "-s", "C_dim0=-3"], "C_dim0 = -3 is no possible size"),
        (["gemm.mlir", "-o", "gemm", "-s", f"ni={1 << 70}"], f"{1 << 70} does not fit into index"),
        (["gemm.mlir", "-o", "gemm", "-s", "ni=x"], "--set expects NAME=INTEGER, got 'ni=x'"),
        (["gemm.mlir", "-o", "gemm", "--size", "LARGE"], "--size is for shipped kernels"),
        (["gemm.mlir", "-o", "gemm", "--threads", "0"], "--threads must be between 1 and"),
        (["gemm.mlir", "-o", "gemm", "--target", "z80"], "--target: unknown target 'z80'"),
        (["gemm.mlir", "-o", "gemm", "-p", "parallel{loops=k}"], "parallel of k is illegal"),
        (["all.mlir", "-o", "all", "-S", "gemm.mlir"], "gemm.mlir"),
        (["empty.mlir", "-o", "x"], "there is no function to build 'x' of"),
        (
            ["gemm.mlir", "-o", "gemm", "-s", "nk=4", "-s", "ni=2", "-s", "nj=2", "-s", "A_dim1=3"],
            "reads A[i, k] outside of the array",
        ),
    ],
)
def test_mistakes(
    arguments: list[str], message: str, programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (programs / "empty.mlir").write_text("module {}\n")
    assert main(["build", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert not [*programs.glob("*.o"), *programs.glob("*.so"), *programs.glob("*.h")]


def test_functions_with_one_name_in_c(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = SAXPY.replace("@saxpy", '@"s.x"') + SAXPY.replace("@saxpy", '@"s-x"')
    (programs / "two.mlir").write_text(text)
    assert main(["build", "two.mlir", "-o", "two.o"]) == 1
    assert "@s.x and @s-x would both be called 's_x' in C" in capsys.readouterr().err


def test_a_linker_alone(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no compiler."""
    monkeypatch.setattr(link, "COMPILERS", ())
    command = ["build", "gemm.mlir", "-o", "gemm.so", "-p", "parallel{loops=i}", "--threads", "2"]
    assert main(command) == 0
    library = SharedLibrary(Library(programs / "gemm.so", programs / "gemm.h", (), ""))
    a, b, c = np.ones((4, 3)), np.ones((3, 5)), np.zeros((4, 5))
    assert library("gemm", 4, 5, 3, c, 4, 5, a, 4, 3, b, 3, 5) == 0
    assert (c == 3).all()


def test_a_library_that_the_linker_does_not_find(
    programs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "OPENMP", "-l:libgomp.so.77")
    assert main(["build", "gemm.mlir", "-o", "gemm.so", "-p", "parallel{loops=i}"]) == 1
    message = capsys.readouterr().err
    assert "cannot link gemm.so: " in message and "is libgomp installed?" in message
    assert main(["build", "gemm.mlir", "-o", "gemm.so", "-p", "parallel{loops=i}", "-t", "1"]) == 0


@pytest.mark.parametrize(("target", "wide"), [("x86-64-v3", False), ("x86-64-v4", True)])
def test_targets(target: str, wide: bool, programs: Path) -> None:
    """Only the processors with AVX-512 get its registers."""
    if platform.machine() != "x86_64" or shutil.which("objdump") is None:
        pytest.skip("needs objdump on x86-64")
    (programs / "saxpy.mlir").write_text(SAXPY)
    options = ["-p", "vectorize{loops=i}", "--target", target, "--set", "n=1024"]
    assert main(["build", "saxpy.mlir", "-o", "saxpy.o", *options]) == 0
    command = ["objdump", "-d", "saxpy.o"]
    assembly = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert ("%zmm" in assembly) == wide
    assert "%ymm" in assembly or wide


def test_no_linker(
    programs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link.shutil, "which", lambda name: None)
    assert main(["build", "gemm.mlir", "-o", "gemm.so"]) == 1
    assert "gemm.so needs a linker, and there is none of cc, gcc" in capsys.readouterr().err
    assert not (programs / "gemm.h").exists()
    assert main(["build", "gemm.mlir", "-o", "gemm.o"]) == 0
