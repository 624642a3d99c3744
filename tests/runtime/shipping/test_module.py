"""Modules of wheels: they need NumPy alone, and check arguments as kernels do."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shipped_wheels import run_python, small_wheel, unpack


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("module")
    return unpack(small_wheel(place, "--levels", "x86-64-v2,x86-64-v3"), place / "site")


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
        ("gemm(4, 5, 9, C, A, B)", "ValueError", "it would leave an array, called with ni = 4, nj"),
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
