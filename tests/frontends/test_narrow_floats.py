"""f16 and bf16 in Python and C: what NumPy and torch compute, messages, other forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_python import load_source

import loopwright
from loopwright.dialects.errors import SourceError
from loopwright.frontends.c.printing import print_c
from loopwright.frontends.python.printing import print_python
from loopwright.runtime.calling.arguments import ArrayArgument
from loopwright.runtime.calling.elements import numbers, stored
from loopwright.runtime.program import Function

HEADER = "import numpy as np\n\nimport loopwright\nfrom loopwright import bf16, f16, f32, i32\n\n\n"

HALF = """@loopwright.kernel
def f(n: int, a: f16, A: f16["n"], B: f16["n"], J: i32["n"], C: f32["n"]):
    for i in range(n):
        t = a * A[i] + f16(C[i]) * 2 - 1.1
        A[i] = max(t, B[J[i]]) if A[i] < B[i] else -t
        B[i] = np.sqrt(abs(A[i]) + 3.0) / f16(i + 1)
        C[i] += B[i] * f32(A[i])
"""

BRAIN = """@loopwright.kernel
def f(n: int, A: bf16["n", "n"], B: bf16["n", "n"], C: f32["n", "n"], D: bf16["n", "n"]):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += f32(A[i, k]) * f32(B[k, j])
            D[i, j] = D[i, j] * A[i, j] + 0.5
"""


@pytest.mark.parametrize("n", [1, 6, 37])
def test_numbers_of_numpy(n: int, tmp_path: Path) -> None:
    kernel = load_source(HEADER + HALF, tmp_path, "half").f
    random = np.random.default_rng(n)
    arrays = [(random.random(n) * 4 - 2).astype("f2") for _ in range(2)]
    rows = random.integers(0, n, n).astype("i4")
    given = [n, np.float16(1.3), *arrays, rows, random.random(n).astype("f4")]
    expected = [np.array(each) if isinstance(each, np.ndarray) else each for each in given]
    kernel.python(*expected)
    for schedule in (None, "default"):
        ours = [np.array(each) if isinstance(each, np.ndarray) else each for each in given]
        kernel.compile(schedule=schedule)(*ours)
        for one, other in zip(ours[2:], expected[2:], strict=True):
            if one.dtype == np.float16:  # of f32, products are fused
                assert np.array_equal(one, other)
            assert np.allclose(one, other, rtol=1e-5)


def test_tensors_of_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    kernel = load_source(HEADER + BRAIN, tmp_path, "brain").f
    torch.manual_seed(0)
    n = 9
    arrays = [torch.rand(n, n).to(torch.bfloat16) for _ in range(2)]
    more = [torch.rand(n, n), torch.rand(n, n).to(torch.bfloat16)]
    kernel.check(n, *arrays, *more)
    wanted = more[0] + arrays[0].float() @ arrays[1].float()
    last = more[1] * arrays[0] + 0.5
    kernel(n, *arrays, *more)
    assert torch.allclose(more[0], wanted, rtol=1e-6)
    assert torch.equal(more[1], last)


def test_types_are_promoted(tmp_path: Path) -> None:
    body = '(n: int, A: bf16["n"], B: f16["n"], C: f32["n"]):\n    for i in range(n):\n'
    source = f"{HEADER}@loopwright.kernel\ndef f{body}        C[i] = A[i] * B[i]\n"
    kernel = load_source(source, tmp_path, "promoted").f
    a, b, c = np.array([1.5, 3]), np.array([0.1, 0.2], "f2"), np.zeros(2, "f4")
    kernel(2, stored(a, loopwright.bfloat16), b, c)
    assert np.array_equal(c, a.astype("f4") * b.astype("f4"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A[i] = C[i]", "the value is f32, but 'A' has elements of type bf16"),
        ("B[i] = A[i] * B[i]", "the value is f32, but 'B' has elements of type f16"),
        ("C[i] = np.sum(B)", "sums of f16 are computed in f32 by NumPy and rounded at the end"),
    ],
)
def test_messages(line: str, message: str, tmp_path: Path) -> None:
    body = '(n: int, A: bf16["n"], B: f16["n"], C: f32["n"]):\n    for i in range(n):\n'
    source = f"{HEADER}@loopwright.kernel\ndef f{body}        {line}\n"
    with pytest.raises(SourceError) as caught:
        load_source(source, tmp_path, "wrong")
    assert caught.value.message == message


C = """
void f(int n, _Float16 a, _Float16 A[n], __bf16 B[n], const float C[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    A[i] = a * A[i] + (_Float16)C[i];
    B[i] += (__bf16)A[i] * (__bf16)1.1;
  }
#pragma endscop
}
"""


def test_types_of_c(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(C)
    n, random = 35, np.random.default_rng(3)
    a, b = random.random(n).astype("f2"), stored(random.random(n), loopwright.bfloat16)
    c = random.random(n).astype("f4")

    def brain(values: Any) -> Any:
        return numbers(stored(values, loopwright.bfloat16)).astype("f4")

    half = np.float16(0.7) * a + c.astype("f2")
    product = brain(brain(half.astype("f4")) * brain(np.float32(1.1)))
    wanted = brain(numbers(b) + product)
    loopwright.load(path)["f"].compile()(n, 0.7, a, b, c)
    assert np.array_equal(a, half) and np.array_equal(numbers(b), wanted)


@pytest.mark.parametrize("source", [HALF, BRAIN])
def test_other_forms_compute_the_same(source: str, tmp_path: Path) -> None:
    kernel = load_source(HEADER + source, tmp_path, "original").f
    function = loopwright.load(kernel.mlir)["f"]
    again = load_source(HEADER + print_python(function.function), tmp_path, "again").f
    path = tmp_path / "again.c"
    path.write_text(print_c(function.function))
    forms = [function, loopwright.load(again.mlir)["f"], loopwright.load(path)["f"]]
    results = [_run(each) for each in forms]
    for other in results[1:]:
        for name, array in results[0].items():
            assert array.tobytes() == other[name].tobytes(), name


def _run(function: Function) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays by name after a call with n = 7, the same numbers each time."""
    random, n, values = np.random.default_rng(4), 7, {}
    given: list[Any] = []
    for argument in function.signature.arguments:
        name = argument.place.name
        if isinstance(argument, ArrayArgument):
            shape = (n,) * len(argument.shape)
            numbers_ = random.integers(0, n, shape) if name == "J" else random.random(shape)
            values[name] = stored(numbers_, argument.element.dtype)
            given.append(values[name])
        else:
            given.append(0.75 if name == "a" else n)
    function.compile()(*given)
    return values
