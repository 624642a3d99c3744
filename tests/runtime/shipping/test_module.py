"""Modules of wheels: they need NumPy alone, and check arguments as kernels do."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime_programs import DOT, SAXPY
from support.shipped_wheels import LEVELS, LOWEST, build_wheel, run_python, small_wheel, unpack

from loopwright.cli import main
from loopwright.lowering.llvm.entry_points import Status
from loopwright.runtime.calling.compiled_function import WRONG_SUBSCRIPT
from loopwright.runtime.calling.elements import ELEMENTS
from loopwright.runtime.shipping.python_module import element_text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("module")
    return unpack(small_wheel(place, "--levels", ",".join(LEVELS[:2])), place / "site")


RESULTS = """
import sys
import numpy as np
import small
x = np.arange(5.0)
print(small.dot(5, x, np.ones(5)))
cell = np.zeros(())
print(small.scalars(-3, 1 << 40, True, 1.5, 2.5, 7, cell), cell)
a = np.arange(12, dtype=np.int32).reshape(4, 3)
out = np.empty_like(a)
small.fixed(a, out)
print((out == 2 * a).all())
A, B, C = np.ones((4, 3)), np.ones((3, 5)), np.zeros((4, 5))
small.gemm(ni=4, nj=5, nk=3, C=C, A=A, B=B)
print(C.sum())
print(sorted(name for name in sys.modules if name.split(".")[0] in ("loopwright", "llvmlite")))
"""


def test_functions_return_what_they_compute(folder: Path) -> None:
    assert run_python(folder, RESULTS).splitlines() == [
        "10.0",
        f"(-3, {1 << 40}, True, 1.5, 2.5, 7) 2.5",
        "True",
        "60.0",
        "[]",
    ]


REFUSED = """
import numpy as np
import small
A, B, C = np.ones((4, 3)), np.ones((3, 5)), np.zeros((4, 5))
try:
    small.{call}
except {error} as error:
    assert isinstance(error, small.errors.KernelError)
    print(error)
"""


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ("gemm(4, 5, 3, C, A.astype('f'), B)", "TypeError", "argument 5 'A': expected elements of"),
        ("gemm(4, 5, 3, C, A[0], B)", "TypeError", "argument 5 'A': expected 2 dimensions, got 1"),
        ("gemm(4, 5, 3, C, A, B.T.copy().T)", "ValueError", "'B': the array is not contiguous in"),
        ("gemm(4, 5, 3, C, C[:, :3].copy(), C[:3])", "ValueError", "and argument 6 'B' overlap in"),
        (
            "gemm(4, 5, 9, C, A, B)",
            "ValueError",
            "or 64 bits, called with ni = 4, nj",
        ),
        ("gemm(4, 5, 2.5, C, A, B)", "TypeError", "argument 3 'nk': expected an integer, got flo"),
        ("fixed(np.ones((3, 4), 'i4'), np.ones((4, 3), 'i4'))", "ValueError", "expected shape (4,"),
    ],
)
def test_wrong_arguments_are_refused(folder: Path, call: str, error: str, message: str) -> None:
    assert message in run_python(folder, REFUSED.format(call=call, error=error))


TYPES = """
import inspect, typing
import numpy as np
import small
print(typing.get_type_hints(small.dot) == {
    "n": int, "x": np.typing.NDArray[np.float64], "y": np.typing.NDArray[np.float64],
    "return": float,
})
print(inspect.signature(small.fixed))
"""


def test_functions_have_types(folder: Path) -> None:
    first, second = run_python(folder, TYPES).splitlines()
    assert first == "True"
    array = "NDArray[np.int32] | NDArray[np.uint32]"
    assert second == f"(A: '{array}', out: '{array}') -> 'None'"
    assert (folder / "small" / "py.typed").exists()


def test_functions_may_have_the_names_of_what_dispatches(tmp_path: Path) -> None:
    program = DOT.replace("@dot", "@choose") + SAXPY.replace("@saxpy", "@has")
    options = ["-p", "", "--levels", LOWEST]
    site = unpack(build_wheel(tmp_path, "names", {"names": program}, *options), tmp_path / "site")
    code = "import numpy as np, names; print(names.choose(2, np.ones(2), np.ones(2)))"
    assert run_python(site, code) == "2.0\n"


GATHER = """
func.func @gather(%n: index, %J: memref<?xindex>, %x: memref<?xf64>, %y: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %j = affine.load %J[%i] : memref<?xindex>
    %v = memref.load %x[%j] : memref<?xf64>
    affine.store %v, %y[%i] : memref<?xf64>
  }
  return
}
"""


def test_subscripts_outside_of_an_array_are_told(tmp_path: Path) -> None:
    options = ["-p", "", "--levels", LOWEST]
    site = unpack(build_wheel(tmp_path, "reads", {"reads": GATHER}, *options), tmp_path / "site")
    code = """
import numpy as np, reads
try:
    reads.gather(2, np.array([0, 3]), np.ones(3), np.ones(2))
except reads.errors.OutOfBounds as error:
    print(error)
"""
    assert run_python(site, code) == (
        "gather: a subscript among the data is outside of its array, called with n = 2, "
        "J of shape (2,), x of shape (3,), y of shape (2,)\n"
    )
    assert WRONG_SUBSCRIPT == Status.WRONG_SUBSCRIPT


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("names_level", "a library names has a function 'names_level' of its own"),
        ("Place", "a function of a Python module cannot be called 'Place'"),
        ("library", "a function of a Python module cannot be called 'library'"),
    ],
)
def test_names_that_are_taken(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.mlir").write_text(DOT.replace("@dot", f"@{name}"))
    command = ["build", str(tmp_path / "a.mlir"), "--wheel", "names", "-o", str(tmp_path)]
    assert main([*command, "-p", "", "--levels", LOWEST]) == 1
    assert message in capsys.readouterr().err


def test_element_types_are_written_as_they_are() -> None:
    integers = [each for each in ELEMENTS.values() if len(each.dtypes) > 1]
    kinds = [*ELEMENTS.values(), *(each.signed() for each in integers)]
    kinds += [each.unsigned() for each in integers]
    assert [eval(element_text(each), {"ELEMENTS": ELEMENTS}) for each in kinds] == kinds
