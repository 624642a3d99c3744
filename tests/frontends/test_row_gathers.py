"""Gathers of rows and of columns in vector loops: lookups in tables, resampling, sparse rows."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import f32, f64, i32, u8
from loopwright.errors import OutOfBounds
from loopwright.passes.estimate.gather_costs import gathers_along
from loopwright.passes.polyhedral.gathers import GatherLanes

random = np.random.default_rng(11)


@loopwright.kernel
def bags(n: int, m: int, d: int, J: i32["n", "m"], T: f32["v", "w"], y: f32["n", "d"]):
    for i in range(n):
        for j in range(d):
            for k in range(m):
                y[i, j] += T[J[i, k], j + 1]


@loopwright.kernel
def sparse(n: int, m: int, d: int, J: i32["n", "m"], T: f64["v", "w"], y: f64["n", "d"]):
    for i in range(n):
        for k in range(m):
            for j in range(d):
                y[i, j] += 0.5 * T[J[i, k], j + 1]


@loopwright.kernel
def bytes_of_rows(n: int, m: int, d: int, J: i32["n", "m"], T: u8["v", "w"], y: u8["n", "d"]):
    for i in range(n):
        for k in range(m):
            for j in range(d):
                y[i, j] += T[J[i, k], j + 1]


@loopwright.kernel
def resampled(n: int, d: int, Y: i32["n"], X: i32["d"], T: f32["v", "w"], y: f32["n", "d"]):
    for i in range(n):
        for j in range(d):
            y[i, j] = T[Y[i], X[j]] * 0.5 + T[Y[i], X[j] + 1]


@loopwright.kernel
def apart(n: int, d: int, Y: i32["d"], X: i32["d"], T: f32["v", "w"], y: f32["n", "d"]):
    for i in range(n):
        for j in range(d):
            y[i, j] = T[Y[j], X[j]]


@loopwright.kernel
def products(d: int, T: i32["v", "w"], y: i32["d"]):
    for j in range(d):
        y[j] = T[0, j * j]


TYPES = {"bags": np.float32, "sparse": np.float64, "bytes_of_rows": np.uint8}
SHAPES = ((3, 5, 37), (2, 1, 16), (4, 3, 5), (1, 2, 64))


def rows_arguments(name: str, n: int, m: int, d: int) -> list[Any]:
    kind = TYPES[name]
    table = (random.random((13, d + 1)) * 50).astype(kind)
    return [n, m, d, random.integers(0, 13, (n, m)).astype("i4"), table, np.zeros((n, d), kind)]


@pytest.mark.parametrize(
    "schedule", ["vectorize{loops=j width=16}", "vectorize{loops=j width=4}", "default"]
)
@pytest.mark.parametrize("kernel", [bags, sparse, bytes_of_rows])
def test_rows_are_read_in_vectors_and_checked(kernel: Any, schedule: str) -> None:
    for n, m, d in SHAPES:
        arguments = rows_arguments(kernel.function.name, n, m, d)
        expected = [*arguments[:-1], arguments[-1].copy()]
        compiled = kernel.compile(schedule, threads=1)
        kernel.compile("", threads=1)(*expected)
        compiled(*arguments)
        np.testing.assert_array_equal(arguments[-1], expected[-1])
        for wrong in (13, -1, 2**31 - 1):
            arguments[3][n - 1, m - 1] = wrong
            with pytest.raises(OutOfBounds, match=rf"access outside of T: subscript 0 is {wrong},"):
                compiled(*arguments)


@pytest.mark.parametrize("width", [2, 8, 16])
def test_columns_beyond_the_end_of_a_row_are_refused(width: int) -> None:
    compiled = bags.compile(f"vectorize{{loops=j width={width}}}", threads=1)
    for d in (5, 16, 21):
        n, m, _, rows, table, y = rows_arguments("bags", 3, 2, d)
        with pytest.raises(OutOfBounds, match=rf"access outside of T: subscript 1 is {d}, the ext"):
            compiled(n, m, d, rows, np.ascontiguousarray(table[:, :d]), y)


@pytest.mark.parametrize("width", [4, 8, 16])
def test_columns_that_depend_on_data(width: int) -> None:
    compiled = resampled.compile(f"vectorize{{loops=j width={width}}}", threads=1)
    for n, d in ((3, 5), (2, 16), (4, 37)):
        rows = random.integers(0, 9, n).astype("i4")
        columns = random.integers(0, 6, d).astype("i4")
        table, y = random.random((9, 7)).astype("f4"), np.zeros((n, d), "f4")
        compiled(n, d, rows, columns, table, y)
        picked = table[rows]
        np.testing.assert_allclose(y, picked[:, columns] * 0.5 + picked[:, columns + 1], 1e-6)
        for place, wrong, subscript in ((rows, 9, 0), (columns, 6, 1), (columns, -1, 1)):
            kept = place[-1]
            place[-1] = wrong
            with pytest.raises(OutOfBounds, match=rf"access outside of T: subscript {subscript} "):
                compiled(n, d, rows, columns, table, y)
            place[-1] = kept


def test_elements_of_rows_of_their_own() -> None:
    rows, columns = (random.integers(0, 6, 20).astype("i4") for _ in range(2))
    table, y = random.random((6, 6)).astype("f4"), np.zeros((2, 20), "f4")
    apart.compile("vectorize{loops=j width=8}", threads=1)(2, 20, rows, columns, table, y)
    np.testing.assert_array_equal(y[1], table[rows, columns])


def test_where_lanes_find_their_elements() -> None:
    def along(kernel: Any, loop: int) -> set[GatherLanes]:
        statement = kernel.function.scop.statements[0]
        direction = [int(k == loop) for k in range(len(statement.loops))]
        return set(gathers_along(statement, direction).values())

    assert along(bags, 1) == {GatherLanes.ROW}
    assert along(bags, 2) == {GatherLanes.APART}
    assert along(sparse, 2) == {GatherLanes.ROW}
    assert along(resampled, 1) == {GatherLanes.SPREAD}
    assert along(resampled, 0) == {GatherLanes.APART}
    assert along(apart, 0) == {GatherLanes.SAME}


@pytest.mark.parametrize("kernel", [bags, sparse])
def test_lookups_have_vectors_along_rows(zen3: None, kernel: Any) -> None:
    for n, m, d in ((500, 8, 96), (300, 5, 130)):
        sizes = {"n": n, "m": m, "d": d, "T_dim0": 5000, "T_dim1": d + 1}
        schedule = str(kernel.function.default_schedule(sizes, threads=1))
        assert "vectorize{loops=j" in schedule


COLUMNS = ("2 * j", "3 * j + 1", "4 * j", "d - 1 - j", "(j + 1) % d", "j * j", "j * i", "j // 2")
"""Columns of a row that depends on data, most of them not neighbours."""

LOOKUP = """
import loopwright
from loopwright import i32

@loopwright.kernel
def lookup(n: int, d: int, J: i32["n"], T: i32["v", "w"], y: i32["n", "d"]):
    for i in range(n):
        for j in range(d):
            y[i, j] = T[J[i], COLUMN]
"""


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("schedule", ["vectorize{loops=j width=8}", "default"])
def test_every_column_of_a_row_is_checked(
    column: str, schedule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "looked_up.py").write_text(LOOKUP.replace("COLUMN", column))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "looked_up", raising=False)
    kernel = importlib.import_module("looked_up").lookup.compile(schedule)
    n, d = 5, 37
    table = random.integers(0, 99, (7, 1500)).astype("i4")
    rows = random.integers(0, 7, n).astype("i4")
    found = np.zeros((n, d), "i4")
    kernel(n, d, rows, table, found)
    i, j = np.mgrid[:n, :d]
    expected = table[rows[:, None], eval(column, {"i": i, "j": j, "d": d})]
    np.testing.assert_array_equal(found, expected)
    for bad in (-1, 7, 2**31 - 1):
        rows[-1] = bad
        with pytest.raises(OutOfBounds, match="access outside of T"):
            kernel(n, d, rows, table, found)


def test_columns_that_no_data_chooses_are_checked() -> None:
    kernel = products.compile("vectorize{loops=j width=8}")
    with pytest.raises(OutOfBounds, match="subscript 1 is 121"):
        kernel(12, np.zeros((1, 121), "i4"), np.zeros(12, "i4"))
