"""What a kernel takes and what it refuses, with which message."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable

import numpy as np
import pytest
import torch
from support.runtime_programs import ADD_BYTES, FIXED, GEMM, SAXPY

import loopwright
from loopwright.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    ArgumentValueError,
    BoundsError,
    KernelError,
    NotSpecialised,
    OverlappingArguments,
)
from loopwright.runtime.kernel import Kernel


def compiled(text: str) -> Kernel:
    (function,) = loopwright.load(text).values()
    return function.compile()


@pytest.fixture(scope="module")
def saxpy() -> Kernel:
    return compiled(SAXPY)


@pytest.fixture(scope="module")
def gemm() -> Kernel:
    return compiled(GEMM)


@pytest.fixture(scope="module")
def fixed() -> Kernel:
    return compiled(FIXED)


def zeros(size: int = 4) -> np.ndarray:
    return np.zeros(size, "f4")


def misaligned() -> np.ndarray:
    return np.zeros(4 * 5, "u1")[1:17].view("f4")


def read_only() -> np.ndarray:
    array = zeros()
    array.flags.writeable = False
    return array


class Provider:
    """An array of another library."""

    def __init__(self, array: np.ndarray, **changes: object) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, **changes}


def test_computes_in_place(saxpy: Kernel) -> None:
    x, y = np.arange(5, dtype="f4"), np.ones(5, "f4")
    assert saxpy(5, 2.0, x, y) is None
    assert y.tolist() == [1, 3, 5, 7, 9]


class Capsule:
    """An array of a library that speaks DLPack alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("export", [Capsule, memoryview, lambda a: array("f", a)])
def test_exported_memory(saxpy: Kernel, export: Callable[[np.ndarray], object]) -> None:
    given = export(np.arange(4, dtype="f4"))
    y = np.ones(4, "f4")
    saxpy(4, 2.0, given, y)
    assert y.tolist() == [1, 3, 5, 7]
    if not isinstance(given, Capsule):
        saxpy(4, 1.0, y, given)
        assert list(given) == [1, 4, 7, 10]


def test_exported_memory_that_is_read_only_or_of_another_type(saxpy: Kernel) -> None:
    with pytest.raises(ArgumentValueError, match="which is read-only"):
        saxpy(4, 2.0, zeros(), memoryview(read_only()))
    with pytest.raises(ArgumentTypeError, match="expected elements of type float32, got uint8"):
        saxpy(4, 2.0, b"abcd", zeros())


WRONG_ARRAYS: dict[str, tuple[Callable[[], object], type[KernelError], str]] = {
    "a list": (
        lambda: [0.0] * 4,
        ArgumentTypeError,
        "expected an array of float32, got list; pass a NumPy array or a torch tensor",
    ),
    "None": (
        lambda: None,
        ArgumentTypeError,
        "expected an array of float32, got NoneType; pass a NumPy array or a torch tensor",
    ),
    "a NumPy scalar": (
        lambda: np.float32(1),
        ArgumentTypeError,
        "expected an array of float32, got numpy.float32; pass a NumPy array or a torch tensor",
    ),
    "other elements": (
        lambda: np.zeros(4),
        ArgumentTypeError,
        "expected elements of type float32, got float64; convert the array",
    ),
    "foreign byte order": (
        lambda: np.zeros(4, ">f4"),
        ArgumentTypeError,
        "expected elements of type float32, got >f4; convert the array",
    ),
    "records": (
        lambda: np.zeros(4, [("a", "f4")]),
        ArgumentTypeError,
        "expected elements of type float32, got |V4; convert the array",
    ),
    "objects": (
        lambda: np.zeros(4, object),
        ArgumentTypeError,
        "expected elements of type float32, got object; convert the array",
    ),
    "two dimensions": (
        lambda: np.zeros((2, 2), "f4"),
        ArgumentTypeError,
        "expected 1 dimensions, got 2 (shape (2, 2)); reshape the array",
    ),
    "gaps": (
        lambda: zeros(8)[::2],
        ArgumentValueError,
        "the array is not contiguous in row-major order; pass a contiguous copy "
        "(numpy.ascontiguousarray), which receives the results",
    ),
    "reversed": (
        lambda: zeros()[::-1],
        ArgumentValueError,
        "the array is not contiguous in row-major order; pass a contiguous copy "
        "(numpy.ascontiguousarray), which receives the results",
    ),
    "broadcast": (
        lambda: np.broadcast_to(np.float32(1), (4,)),
        ArgumentValueError,
        "the array is not contiguous in row-major order; pass a contiguous copy "
        "(numpy.ascontiguousarray), which receives the results",
    ),
    "read-only": (
        read_only,
        ArgumentValueError,
        "the kernel writes to this array, which is read-only; pass a copy",
    ),
    "misaligned": (
        misaligned,
        ArgumentValueError,
        "the elements are not aligned to 4 bytes; pass a copy",
    ),
    "masked": (
        lambda: np.ma.masked_array(zeros(), mask=[0, 1, 0, 0]),
        ArgumentValueError,
        "the array is a masked array",
    ),
    "a tensor of doubles": (
        lambda: torch.zeros(4, dtype=torch.float64),
        ArgumentTypeError,
        "expected elements of type float32, got float64; convert the array",
    ),
    "a tensor of a type that NumPy lacks": (
        lambda: torch.zeros(4, dtype=torch.float8_e4m3fn),
        ArgumentTypeError,
        "expected elements of type float32, got torch.float8_e4m3fn; convert the array",
    ),
    "a tensor of bfloat16": (
        lambda: torch.zeros(4, dtype=torch.bfloat16),
        ArgumentTypeError,
        "expected elements of type float32, got bfloat16; convert the array",
    ),
    "a tensor with gaps": (
        lambda: torch.zeros(8)[::2],
        ArgumentValueError,
        "the array is not contiguous in row-major order; pass a contiguous copy "
        "(numpy.ascontiguousarray), which receives the results",
    ),
    "a tensor that requires grad": (
        lambda: torch.zeros(4, requires_grad=True),
        ArgumentValueError,
        "the kernel writes to this array, which requires grad (pass a detached tensor)",
    ),
    "a tensor on no device": (
        lambda: torch.zeros(4, device="meta"),
        ArgumentValueError,
        "the array lies on the device 'meta' (pass a CPU tensor)",
    ),
    "a sparse tensor": (
        lambda: torch.zeros(4).to_sparse(),
        ArgumentValueError,
        "the array has the layout torch.sparse_coo (pass a dense tensor)",
    ),
    "a provider with gaps": (
        lambda: Provider(zeros(), strides=(8,)),
        ArgumentValueError,
        "the array is not contiguous in row-major order; pass a contiguous copy "
        "(numpy.ascontiguousarray), which receives the results",
    ),
    "a provider of nonsense": (
        lambda: Provider(zeros(), typestr="nonsense"),
        ArgumentTypeError,
        "expected elements of type float32, got nonsense; convert the array",
    ),
    "a provider without an address": (
        lambda: Provider(zeros(), data=None),
        ArgumentTypeError,
        "expected an array of float32, got test_arguments.Provider; pass a NumPy array or a torch "
        "tensor",
    ),
}


@pytest.mark.parametrize("kind", WRONG_ARRAYS)
def test_refuses_arrays(saxpy: Kernel, kind: str) -> None:
    make, error, message = WRONG_ARRAYS[kind]
    with pytest.raises(error) as caught:
        saxpy(4, 1.0, np.ones(4, "f4"), make())
    text = re.sub(r"got \S*\.Provider", "got test_arguments.Provider", str(caught.value))
    assert text == f"saxpy: argument 4 'y': {message}"


def test_shape_of_a_known_size_on_a_later_call(saxpy: Kernel) -> None:
    saxpy(4, 1.0, zeros(), zeros())
    with pytest.raises(ArgumentTypeError, match="expected 1 dimensions, got 2"):
        saxpy(4, 1.0, zeros(), np.zeros((4, 1), "f4"))
    with pytest.raises(ArgumentTypeError, match="expected 1 dimensions, got 0"):
        saxpy(4, 1.0, zeros(), np.zeros((), "f4"))


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (1.0, ArgumentTypeError, "expected an integer, got float; convert it with int(...)"),
        ("4", ArgumentTypeError, "expected an integer, got str; convert it with int(...)"),
        (None, ArgumentTypeError, "expected an integer, got NoneType"),
        (2**63, ArgumentValueError, None),
        (-(2**63) - 1, ArgumentValueError, None),
    ],
)
def test_refuses_integers(
    saxpy: Kernel, value: object, error: type[KernelError], message: str | None
) -> None:
    with pytest.raises(error) as caught:
        saxpy(value, 1.0, zeros(), zeros())
    expected = message or (
        f"{value} does not fit into index, which holds -9223372036854775808 to 9223372036854775807"
    )
    assert str(caught.value) == f"saxpy: argument 1 'n': {expected}"


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("2", ArgumentTypeError, "expected a number, got str; convert it with float(...)"),
        (1j, ArgumentTypeError, "expected a number, got complex"),
        (None, ArgumentTypeError, "expected a number, got NoneType"),
        (
            torch.ones(1),
            ArgumentTypeError,
            "expected a number, got torch.Tensor; convert it with float(...)",
        ),
        (
            np.array("1"),
            ArgumentTypeError,
            "expected a number, got numpy.ndarray; convert it with float(...)",
        ),
        (1e39, ArgumentValueError, "1e+39 does not fit into f32"),
        (10**400, ArgumentValueError, "the integer does not fit into f32"),
    ],
)
def test_refuses_numbers(
    saxpy: Kernel, value: object, error: type[KernelError], message: str
) -> None:
    with pytest.raises(error) as caught:
        saxpy(4, value, zeros(), zeros())
    assert str(caught.value) == f"saxpy: argument 2 'alpha': {message}"


@pytest.mark.parametrize(
    "value",
    [
        *(3, 3.0, True, np.float32(3), np.float64(3), np.int16(3)),
        *(np.array(3.0), np.array(3), torch.tensor(3.0), torch.tensor(3)),
    ],
)
def test_numbers_of_every_kind(saxpy: Kernel, value: float) -> None:
    x, y = np.ones(4, "f4"), np.zeros(4, "f4")
    saxpy(4, value, x, y)
    assert (y == float(value)).all()


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_numbers_that_are_not_finite(saxpy: Kernel, value: float) -> None:
    y = np.zeros(4, "f4")
    saxpy(4, value, np.ones(4, "f4"), y)
    np.testing.assert_array_equal(y, np.full(4, value, "f4"))


@pytest.mark.parametrize("value", [np.int8(4), np.uint64(4), np.array(4), torch.tensor(4)])
def test_integers_of_every_kind(saxpy: Kernel, value: object) -> None:
    x, y = np.ones(4, "f4"), np.zeros(4, "f4")
    saxpy(value, 2.0, x, y)
    assert y.tolist() == [2.0] * 4


@pytest.mark.parametrize("count", [0, 3, 5])
def test_refuses_a_wrong_number_of_arguments(saxpy: Kernel, count: int) -> None:
    with pytest.raises(ArgumentCountError) as caught:
        saxpy(*[zeros()] * count)
    assert str(caught.value) == (
        f"saxpy: expected 4 arguments, got {count}: "
        "saxpy(n: index, alpha: f32, x: memref<?xf32>, y: memref<?xf32>)"
    )


def test_errors_are_the_usual_python_ones(saxpy: Kernel) -> None:
    with pytest.raises(TypeError):
        saxpy()
    with pytest.raises(TypeError):
        saxpy(4, 1.0, None, None)
    with pytest.raises(ValueError, match="read-only"):
        saxpy(4, 1.0, zeros(), read_only())


def test_static_shapes(fixed: Kernel) -> None:
    a, out = np.arange(12, dtype="i4").reshape(4, 3), np.zeros((4, 3), "i4")
    fixed(a, out)
    assert (out == 2 * a).all()
    with pytest.raises(ArgumentValueError) as caught:
        fixed(np.zeros((4, 2), "i4"), out)
    assert str(caught.value) == (
        "fixed: argument 1 'A': expected shape (4, 3), got (4, 2); "
        "dimension 1 has 2 elements instead of 3"
    )


def test_unsigned_elements_pass_as_signless_ones(fixed: Kernel) -> None:
    a, out = np.full((4, 3), 2**31 + 5, "u4"), np.zeros((4, 3), "u4")
    fixed(a, out)
    assert (out == 10).all()


@pytest.mark.parametrize("dtype", ["i1", "u1"])
def test_arrays_of_each_fitting_type_are_bound_at_a_glance(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but the array itself is asked where its elements are: that takes ten times longer."""
    kernel = compiled(ADD_BYTES)
    array = np.arange(4, dtype=dtype)
    monkeypatch.setattr("loopwright.runtime.calling.arguments.memory_of", None)
    kernel(4, array, 1)
    assert array.tolist() == [1, 2, 3, 4]


def test_too_small_an_array_is_refused(gemm: Kernel) -> None:
    a, b, c = np.zeros((4, 5)), np.zeros((5, 6)), np.zeros((4, 6))
    gemm(4, 6, 5, c, a, b)
    with pytest.raises(BoundsError) as caught:
        gemm(4, 6, 5, c, a, np.zeros((5, 5)))
    lines = str(caught.value).splitlines()
    assert lines[0] == (
        "<string>:9:14: error: reads B[k, j] outside of the array: element [0, 5] of 5x5, "
        "with i=0, j=5, k=0, ni=4, nj=6, nk=5"
    )
    assert lines[1].strip() == "%2 = affine.load %B[%k, %j] : memref<?x?xf64>"


def test_a_larger_array_is_fine(gemm: Kernel) -> None:
    a, b, c = np.ones((9, 7)), np.ones((7, 8)), np.zeros((9, 9))
    gemm(4, 6, 5, c, a, b)
    assert (c[:4, :6] == 5).all()
    assert c.sum() == 4 * 6 * 5


@pytest.mark.parametrize("sizes", [(0, 6, 5), (4, 0, 5), (4, 6, 0), (0, 0, 0)])
def test_empty_arrays(gemm: Kernel, sizes: tuple[int, int, int]) -> None:
    i, j, k = sizes
    c = np.full((i, j), 7.0)
    gemm(i, j, k, c, np.ones((i, k)), np.ones((k, j)))
    assert (c == 7).all()


def test_negative_sizes_run_no_iteration(saxpy: Kernel) -> None:
    y = zeros()
    saxpy(-3, 1.0, np.ones(4, "f4"), y)
    assert not y.any()


def test_bytes_wrap_around() -> None:
    add_bytes = compiled(ADD_BYTES)
    x = np.array([250, 5, 0], "u1")
    add_bytes(3, x, 10)
    assert x.tolist() == [4, 15, 10]


def test_torch_tensors_without_a_copy(saxpy: Kernel) -> None:
    x, y = torch.arange(6, dtype=torch.float32), torch.ones(6)
    address = y.data_ptr()
    saxpy(6, 2.0, x, y)
    assert y.tolist() == [1, 3, 5, 7, 9, 11]
    assert y.data_ptr() == address
    saxpy(3, 1.0, x[1:4], y[2:5])
    assert y.tolist() == [1, 3, 6, 9, 12, 11]


def test_tensors_are_checked_on_every_call(saxpy: Kernel) -> None:
    x, y = torch.ones(4), torch.zeros(4)
    for _ in range(2):
        saxpy(4, 1.0, x, y)
    refused = {
        "contiguous": torch.zeros(8)[::2],
        "requires grad": torch.zeros(4, requires_grad=True),
        "negated": torch.zeros(4, dtype=torch.complex64).conj().imag[:4],
        "type": torch.zeros(4, dtype=torch.float64),
        "dimensions": torch.zeros(2, 2),
        "device": torch.zeros(4, device="meta"),
        "layout": torch.zeros(4).to_sparse(),
    }
    for reason, tensor in refused.items():
        with pytest.raises((ArgumentTypeError, ArgumentValueError), match=reason):
            saxpy(4, 1.0, x, tensor)
    with pytest.raises(OverlappingArguments):
        saxpy(4, 1.0, y, y)
    saxpy(4, 1.0, torch.nn.Parameter(torch.ones(4)), y)
    saxpy(4, 1.0, x.numpy(), y)
    assert y.tolist() == [4.0] * 4


def test_parameters_of_a_model_may_be_read(saxpy: Kernel) -> None:
    x, y = torch.nn.Parameter(torch.ones(4)), np.zeros(4, "f4")
    saxpy(4, 2.0, x, y)
    assert y.tolist() == [2.0] * 4


def test_arrays_of_other_libraries(saxpy: Kernel) -> None:
    y = np.zeros(4, "f4")
    saxpy(4, 1.0, Provider(np.ones(4, "f4"), strides=(4,)), Provider(y))
    assert y.tolist() == [1.0] * 4


def test_read_only_inputs_are_fine(saxpy: Kernel) -> None:
    x, y = read_only(), np.ones(4, "f4")
    saxpy(4, 1.0, x, y)
    assert y.tolist() == [1.0] * 4


def test_code_of_a_kernel_with_sizes(saxpy: Kernel) -> None:
    kernel = compiled(SAXPY)
    with pytest.raises(NotSpecialised, match="call the kernel first, or use specialise"):
        _ = kernel.loop_ir
    specialisation = kernel.specialise(8, 1.0, zeros(8), zeros(8))
    assert "memref<8xf32>" in specialisation.loop_ir
    assert kernel.loop_ir == specialisation.loop_ir
    assert "define" in kernel.llvm_ir
    assert "saxpy" in kernel.assembly


def test_code_of_a_kernel_without_sizes() -> None:
    kernel = compiled(FIXED)
    assert "memref<4x3xi32>" in kernel.loop_ir
    assert kernel.schedule is not None and not kernel.schedule.transformations


def test_one_specialisation_per_shape() -> None:
    kernel = compiled(SAXPY)
    first = kernel.specialise(4, 1.0, zeros(), zeros())
    assert kernel.specialise(4, 2.0, zeros(), zeros()) is first
    assert kernel.specialise(3, 1.0, zeros(), zeros()) is not first
    assert kernel.specialise(4, 1.0, zeros(5), zeros()) is not first
