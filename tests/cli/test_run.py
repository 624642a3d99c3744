"""`loopwright run`: what it prints, saves and refuses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.runtime_programs import ANY, DOT, FIXED, GEMM, SAXPY
from xdsl.ir import Operation

from loopwright.cli import main
from loopwright.dialects.parse import parse_module
from loopwright.runtime.calling.signature import Signature
from loopwright.runtime.jit import generated_code as driver

GEMM_SIZES = ["--set", "ni=5", "--set", "nj=6", "--set", "nk=7", "--seconds", "0"]


@pytest.fixture
def gemm(tmp_path: Path) -> str:
    return write(tmp_path, "gemm.mlir", GEMM)


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out.splitlines()


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The message of a command that fails before it has printed anything."""
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err.rstrip("\n")


def test_unscheduled(gemm: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", gemm, *GEMM_SIZES]) == 0
    head, _, columns, row, *_ = lines(capsys)
    assert head == "gemm(ni=5, nj=6, nk=7, C: 5x6, A: 5x7, B: 7x6)"
    assert " ".join(columns.split()) == "median min spread runs threads GFLOP/s GB/s speed-up"
    assert row.split()[0] == "unscheduled"
    assert row.split()[-1] == "1.00x"


def test_sizes_with_which_nothing_runs(gemm: str, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--set", "ni=-4", "--set", "nj=3", "--set", "nk=2", "--seconds", "0.01"]
    assert main(["run", gemm, *sizes]) == 0
    warned = "no statement of 'gemm' runs with ni=-4, nj=3, nk=2: the times are of a call"
    assert capsys.readouterr().err == f"loopwright: warning: {warned}\n"


def test_scheduled(gemm: str, capsys: pytest.CaptureFixture[str]) -> None:
    pipeline = "interchange{loops=j,i},parallel{loops=j}"
    assert main(["run", gemm, *GEMM_SIZES, "-p", pipeline, "--threads", "2"]) == 0
    out = lines(capsys)
    assert [line.split()[0] for line in out[3:5]] == ["unscheduled", "scheduled"]
    assert out[-1] == "C: bit-equal"


def test_fast_math_is_checked_against_the_program(
    gemm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", gemm, *GEMM_SIZES, "--fast-math"]) == 0
    assert re.fullmatch(r"C: (bit-equal|largest difference .*\(tolerance .*\))", lines(capsys)[-1])


def test_stages(gemm: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", gemm, *GEMM_SIZES, "--timing", "-p", "parallel{loops=i}"]) == 0
    out = lines(capsys)
    names = [re.split(r"  +", line)[0] for line in out[: out.index("")]]
    assert names[:4] == ["parse", "raise", "dependences", "legality"]
    assert names[-2:] == ["other", "total"]


def test_inputs_and_outputs(gemm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(1)
    a, b, c = random.random((5, 7)), random.random((7, 6)), random.random((5, 6))
    options: list[str] = []
    for name, array in (("A", a), ("B", np.asfortranarray(b)), ("C", c)):
        np.save(tmp_path / f"{name}.npy", array)
        options += ["--input", f"{name}={tmp_path / name}.npy"]
    options += ["--output", str(tmp_path / "out"), "--output", f"C={tmp_path / 'one.npy'}"]
    assert main(["run", gemm, *GEMM_SIZES, *options]) == 0
    np.testing.assert_allclose(np.load(tmp_path / "one.npy"), c + a @ b, rtol=1e-14)
    assert not (tmp_path / "out").exists()
    assert main(["run", gemm, *GEMM_SIZES, *options[:-2]]) == 0
    np.testing.assert_allclose(np.load(tmp_path / "out" / "C.npy"), c + a @ b, rtol=1e-14)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["C.npy"]


def test_the_seed_decides(gemm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        destination = f"C={tmp_path / name}.npy"
        assert main(["run", gemm, *GEMM_SIZES, "--seed", seed, "--output", destination]) == 0
    first, second, third = (np.load(tmp_path / f"{name}.npy") for name in "abc")
    assert (first == second).all()
    assert (first != third).any()


def test_scalars_can_be_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path, "saxpy.mlir", SAXPY), tmp_path / "y.npy"
    np.save(tmp_path / "x.npy", np.ones(4, "f4"))
    np.save(tmp_path / "y0.npy", np.ones(4, "f4"))
    files = ["-i", f"x={tmp_path / 'x.npy'}", "-i", f"y={tmp_path / 'y0.npy'}", "-o", f"y={out}"]
    assert main(["run", path, "-s", "n=4", "-s", "alpha=2.5", *files, "--seconds", "0"]) == 0
    assert lines(capsys)[0] == "saxpy(n=4, alpha=2.5, x: 4, y: 4)"
    assert np.load(out).tolist() == [3.5] * 4


@pytest.mark.parametrize(("text", "name"), [(DOT, "result 1"), (ANY, "result 1"), (FIXED, "out")])
def test_results_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, name: str
) -> None:
    path = write(tmp_path, "program.mlir", text)
    sizes = [] if text is FIXED else ["-s", "n=9"]
    assert main(["run", path, *sizes, "-p", "", "--seconds", "0"]) == 0
    assert lines(capsys)[-1] == f"{name}: bit-equal"


def test_different_results_are_an_error(
    gemm: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = iter(range(100))

    def wrong(self: Signature, function: object, values: list[object]) -> None:
        next(calls)

    # The first call (scheduled) computes nothing.
    original = Signature.call
    monkeypatch.setattr(
        Signature,
        "call",
        lambda *args: wrong(*args) if next(calls) == 0 else original(*args),
    )
    assert main(["run", gemm, *GEMM_SIZES, "-p", "parallel{loops=i}"]) == 1
    captured = capsys.readouterr()
    assert re.fullmatch(r"C: largest difference .*\n", captured.out)
    assert captured.err == (
        "loopwright: error: the results differ from those of the program in C\n"
    )


MISTAKES = {
    "no sizes": (
        [],
        "loopwright: error: the sizes ni, nj, nk of gemm must be known; "
        "add --set ni=... --set nj=... --set nk=...",
    ),
    "a size missing": (
        ["--set", "ni=5", "--set", "nk=5"],
        "loopwright: error: the size nj of gemm must be known; add --set nj=...",
    ),
    "no such size": (
        ["--set", "n=5"],
        "loopwright: error: gemm has no scalar or size 'n' to set; there are "
        "ni, nj, nk, C_dim0, C_dim1, A_dim0, A_dim1, B_dim0, B_dim1",
    ),
    "no value": (["--set", "ni"], "loopwright: error: --set expects NAME=VALUE, got 'ni'"),
    "several at once": (
        ["-s", "ni=1,nj=2"],
        "loopwright: error: --set takes one value, got 'ni=1,nj=2': write --set ni=1 --set nj=2",
    ),
    "twice": (["-s", "ni=1", "-s", "ni=2"], "loopwright: error: --set gives 'ni' twice"),
    "no integer": (
        ["--set", "ni=1.5"],
        "loopwright: error: 'ni' must be an integer, got '1.5'",
    ),
    "negative extent": (
        [*GEMM_SIZES, "--set", "A_dim0=-1"],
        "loopwright: error: the size A_dim0 must not be negative, got -1",
    ),
    "a huge size": (
        ["--set", "ni=1000000000", "--set", "nj=1000000000", "--set", "nk=1"],
        r"loopwright: error: three copies of the arrays need [\d,.]+ GiB, and [\d,.]+ GiB are "
        "available; choose smaller sizes",
    ),
    "a size beyond all integers": (
        ["--set", f"ni={10**30}", "--set", "nj=0", "--set", "nk=0"],
        f"loopwright: error: gemm: argument 1 'ni': {10**30} does not fit into index, which holds "
        "-9223372036854775808 to 9223372036854775807",
    ),
    "an extent beyond all integers": (
        [*GEMM_SIZES, "--set", f"C_dim0={10**30}", "--set", "C_dim1=0"],
        f"loopwright: error: an array of shape ({10**30}, 0) for 'C' is too large",
    ),
    "an extent of hundreds of digits": (
        [*GEMM_SIZES, "--set", f"C_dim0={10**400}"],
        r"loopwright: error: three copies of the arrays need [\d,.]+ GiB, and [\d,.]+ GiB are "
        "available; choose smaller sizes",
    ),
    "unknown function": (
        ["--func", "gem"],
        "loopwright: error: no function 'gem' in this program; its functions: gemm",
    ),
    "zero threads": (
        ["--threads", "0"],
        "loopwright: error: --threads must be between 1 and 1024, got 0",
    ),
    "more threads than a system gives": (
        ["--threads", "100000"],
        "loopwright: error: --threads must be between 1 and 1024, got 100000",
    ),
    "no number of threads": (
        ["--threads", "many"],
        "loopwright: error: argument -t/--threads: invalid int value: 'many' "
        "(see loopwright run --help)",
    ),
    "unknown option": (
        ["--frobnicate"],
        "loopwright: error: unrecognized arguments: --frobnicate (see loopwright run --help)",
    ),
    "no such array": (
        [*GEMM_SIZES, "--input", "D=FILES/f4.npy"],
        "loopwright: error: gemm has no array 'D'; there are C, A, B",
    ),
    "no such file": (
        [*GEMM_SIZES, "--input", "A=FILES/none.npy"],
        "loopwright: error: cannot read FILES/none.npy: No such file or directory",
    ),
    "no array in the file": (
        [*GEMM_SIZES, "--input", "A=FILES/text.npy"],
        r"loopwright: error: cannot read FILES/text.npy: not a .npy file \(.*\)",
    ),
    "an empty file": (
        [*GEMM_SIZES, "--input", "A=FILES/empty.npy"],
        r"loopwright: error: cannot read FILES/empty.npy: not a .npy file \(.*\)",
    ),
    "pickled objects": (
        [*GEMM_SIZES, "--input", "A=FILES/objects.npy"],
        r"loopwright: error: cannot read FILES/objects.npy: not a .npy file \(.*\)",
    ),
    "other elements": (
        [*GEMM_SIZES, "--input", "A=FILES/f4.npy"],
        "loopwright: error: the array for 'A' has elements of type float32, expected float64",
    ),
    "other rank": (
        [*GEMM_SIZES, "--input", "A=FILES/flat.npy"],
        r"loopwright: error: the array for 'A' has shape \(35,\), expected \(\?, \?\)",
    ),
    "contradicting sizes": (
        [*GEMM_SIZES, "--input", "A=FILES/f8.npy", "--set", "A_dim0=6"],
        "loopwright: error: the size A_dim0 is 6, but dimension 0 of the array given for 'A' has "
        "5 elements",
    ),
    "output of an input": (
        [*GEMM_SIZES, "--output", "A=FILES/out.npy"],
        "loopwright: error: --output: gemm writes no array 'A'; it writes C",
    ),
    "output into nowhere": (
        [*GEMM_SIZES, "--output", "C=FILES/text.npy/out.npy"],
        "loopwright: error: FILES/text.npy: File exists",
    ),
    "unknown loop": (
        [*GEMM_SIZES, "-p", "parallel{loops=z}"],
        "loopwright: error: parallel of z: there is no loop z; the loops are i, j, k",
    ),
    "illegal": (
        [*GEMM_SIZES, "-p", "parallel{loops=k}"],
        "loopwright: error: parallel of k is illegal: .*dependence from S0 to S0 on C.*",
    ),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_mistakes(gemm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    np.save(tmp_path / "f4.npy", np.zeros((5, 7), "f4"))
    np.save(tmp_path / "f8.npy", np.zeros((5, 7)))
    np.save(tmp_path / "flat.npy", np.zeros(35))
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "text.npy").write_text("no array")
    (tmp_path / "empty.npy").touch()
    options, expected = MISTAKES[kind]
    options = [option.replace("FILES", str(tmp_path)) for option in options]
    message = error(capsys, "run", gemm, *options).replace(str(tmp_path), "FILES")
    assert message == expected or re.fullmatch(expected, message), message


def test_accesses_outside_of_an_array(gemm: str, capsys: pytest.CaptureFixture[str]) -> None:
    message = error(capsys, "run", gemm, *GEMM_SIZES, "--set", "B_dim1=5").splitlines()
    assert message[0].startswith(f"{gemm}:9:14: error: reads B[k, j] outside of the array: ")
    assert message[1:] == [
        "        %2 = affine.load %B[%k, %j] : memref<?x?xf64>",
        "             ^",
    ]


def test_code_that_would_leave_an_array(
    gemm: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "func.func @f(%A: memref<4xf64>) { affine.store %x, %A[4] : memref<4xf64> return }"
    text = text.replace("{ ", "{ %x = arith.constant 1.0 : f64 ", 1)
    (broken,) = parse_module(text).ops

    def leaves_its_array(*_: object, **__: object) -> tuple[Operation, None]:
        return broken.clone(), None

    monkeypatch.setattr(driver, "verified_loops", leaves_its_array)
    program = write(Path(gemm).parent, "f.mlir", "func.func @f(%A: memref<4xf64>) { return }")
    message = error(capsys, "run", program, "-p", "none", "--check-bounds")
    assert message == ("loopwright: error: f: access outside of A: subscript 0 is 4, the extent 4")


def test_bounds_checked(gemm: str, capsys: pytest.CaptureFixture[str]) -> None:
    pipeline = "tile{loops=j,k sizes=4,4},pack{loops=kt array=B},vectorize{loops=j width=4}"
    assert main(["run", gemm, *GEMM_SIZES, "-p", pipeline, "--check-bounds"]) == 0
    assert lines(capsys)[-1] == "C: bit-equal"


def test_mistakes_in_the_pipeline(gemm: str, capsys: pytest.CaptureFixture[str]) -> None:
    message = error(capsys, "run", gemm, *GEMM_SIZES, "-p", "interchang{loops=i,j}")
    assert message.splitlines()[1:3] == ["interchang{loops=i,j}", "^"]


def test_several_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "both.mlir", FIXED + SAXPY)
    assert error(capsys, "run", path) == (
        f"loopwright: error: {path} has several functions, choose with --func: fixed, saxpy"
    )
    assert main(["run", path, "--func", "fixed", "--seconds", "0"]) == 0


def test_a_file_without_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "empty.mlir", "")
    assert error(capsys, "run", path) == f"loopwright: error: {path} has no function with a body"
