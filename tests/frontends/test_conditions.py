"""`if` on data, and `assert` on sizes."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright import f64, i32
from loopwright.errors import BoundsError, SourceError

random = np.random.default_rng(3)


@loopwright.kernel
def branches(n: int, A: f64["n"], B: f64["n"], C: i32["n"]):
    count = 0
    for i in range(n):
        if A[i] > 0.5:
            t = A[i] * 2
            B[i] = t
            count += 1
        elif i > 0 and A[i - 1] < 0.3:
            B[i] = -A[i]
            if B[i - 1] > 0 or i > 3:
                C[i] += 1
        else:
            C[i] = 7
        if i < 2 or A[i] < B[i]:
            s = A[i]
            s = s + B[i]
            A[i] = s
    return count


def test_branches_on_data_store_what_python_does() -> None:
    for _ in range(6):
        A = random.random(9)
        branches.check(9, A, random.random(9) - 0.5, np.zeros(9, "i4"))


ODD = (1, 3, 5)


def test_memberships_are_comparisons() -> None:
    @loopwright.kernel
    def among(n: int, A: f64["n"], C: i32["n"]):
        for i in range(n):
            if i not in (0, n - 1) and C[i] + 1 in [2, 3]:
                A[i] = 1.5
            elif C[i] in ODD or A[i] not in {0.25}:
                A[i] = 2.5
            C[i] += 10 if A[i] in (1.5, 2.5, np.nan) else 20

    for n in (1, 2, 9):
        A = np.where(random.random(n) < 0.5, 0.25, np.nan)
        among.check(n, A, random.integers(0, 6, n, "i4"))


def test_what_is_itself_is_no_comparison() -> None:
    """`x in (x,)` holds where `x` is not a number."""
    with pytest.raises(SourceError, match="'in' is supported for a few values"):

        @loopwright.kernel
        def itself(n: int, A: f64["n"]):
            for i in range(n):
                A[i] = 1.0 if A[i] in (A[i], 2.0) else 0.0


def test_conditions_are_evaluated_once() -> None:
    @loopwright.kernel
    def swap(n: int, A: f64["n"], B: f64["n"]):
        for i in range(n):
            if A[i] > B[i]:
                A[i] = B[i]
                B[i] = 2.0
            else:
                A[i] = 5.0

    swap.check(8, random.random(8), random.random(8))


def test_signed_zeros_and_other_values_stay_as_they_are() -> None:
    @loopwright.kernel
    def add(n: int, A: f64["n"], B: f64["n"]):
        for i in range(n):
            if B[i] > 0.0:
                A[i] += B[i]
            if B[i] > 1.0:
                A[i] -= B[i]
            if B[i] > 2.0:
                A[i] *= B[i]

    A = np.array([-0.0, 0.0, -np.inf, np.inf, 1.0, 2.0, -0.0])
    B = np.array([-1.0, -1.0, -1.0, -1.0, 0.5, 3.0, np.nan])
    expected = A.copy()
    add.python(7, expected, B)
    add(7, A, B)
    assert A.tobytes() == expected.tobytes()


def test_a_conditional_sum_is_a_sum() -> None:
    @loopwright.kernel
    def total(n: int, A: f64["n"], s: f64[()]):
        for i in range(n):
            if A[i] > 0.0:
                s[()] += A[i]

    assert total.function.dependences.accumulations


@loopwright.kernel
def even(n: int, A: f64["n"]):
    assert n % 2 == 0 and n >= 4, "pairs"
    for i in range(n // 2):
        assert 2 * i + 1 < n
        A[2 * i] = A[2 * i + 1]


def test_assertions_refuse_sizes_in_all_forms() -> None:
    text = loopwright.load(even.mlir)["even"].compile(None)
    for n in range(8):
        A = np.arange(float(n))
        if n % 2 == 0 and n >= 4:
            expected = A.copy()
            even.python(n, expected)
            even(n, A)
            assert A.tolist() == expected.tolist()
            text(n, A)
        else:
            with pytest.raises(SourceError, match=r"'n % 2 == 0 and n >= 4' does not .*: pairs"):
                even(n, A)
            with pytest.raises(BoundsError, match="'even' is not for sizes with"):
                text(n, A)


def test_sizes_with_which_integers_leave_64_bits_are_refused() -> None:
    @loopwright.kernel
    def large(n: int, A: f64["m"]):
        for i in range(len(A)):
            A[i] = i * 2**60 + n
            if i * 2**61 > n * 2**61:
                A[i] = 7.0
        for _j in range(n * 2**61, n * 2**61 + 2):
            A[0] += 1

    for n, m in ((0, 2), (1, 2), (-1, 1)):
        large.check(n, np.zeros(m))
    for n, m in ((1, 9), (2, 2), (3, 1), (-2, 1)):
        with pytest.raises(SourceError, match="does not fit into 64 bits for these sizes"):
            large(n, np.zeros(m))


def test_chains_of_conditions_on_sizes_and_data_are_printed_once() -> None:
    @loopwright.kernel
    def chain(n: int, A: f64["n"], B: f64["n"]):
        for i in range(n):
            if i > 0 and A[i - 1] > 0.9:
                B[i] = A[i - 1]
            elif i > 1 and A[i - 2] > 0.8:
                B[i] = A[i - 2]
            elif i < n - 1 and A[i + 1] > 0.7:
                B[i] = A[i + 1]
            elif i < n - 2 and A[i + 2] > 0.6:
                B[i] = A[i + 2]
            elif i == 0 or A[i - 1] > 0.5:
                B[i] = -A[i]
            else:
                B[i] = A[i - 1] if i > 0 and A[i] > 0.3 else A[i]
            c = 0
            while c < n and A[c] < 0.5 and i > 2:
                c += 1
            B[i] += c

    assert len(chain.function.scop.statements) < 30
    for n in (1, 2, 3, 9):
        chain.check(n, random.random(n), random.random(n))
