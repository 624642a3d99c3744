"""The catalogue: complete, with PolyBench's sizes and initial values, and true to its files."""

from __future__ import annotations

import re

import numpy as np
import pytest
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import FuncOp

from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import ELEMENT_TYPES, SUITES, KernelArray, catalogue
from loopwright.kernels.references import REFERENCES
from loopwright.kernels.table_expressions import ExpressionError, evaluate
from loopwright.runtime.bench.selection import select_cases

ENTRIES = catalogue()
SOURCES = sorted({entry.source for entry in ENTRIES.values()})

CLASSES = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")

# polybench.spec of PolyBench/C 4.2.1: parameters, then their values per size class
POLYBENCH = """
correlation     m n             28 32 | 80 100 | 240 260 | 1200 1400 | 2600 3000
covariance      m n             28 32 | 80 100 | 240 260 | 1200 1400 | 2600 3000
2mm             ni nj nk nl     16 18 22 24 | 40 50 70 80 | 180 190 210 220 | 800 900 1100 1200 | 1600 1800 2200 2400
3mm             ni nj nk nl nm  16 18 20 22 24 | 40 50 60 70 80 | 180 190 200 210 220 | 800 900 1000 1100 1200 | 1600 1800 2000 2200 2400
atax            m n             38 42 | 116 124 | 390 410 | 1900 2100 | 1800 2200
bicg            m n             38 42 | 116 124 | 390 410 | 1900 2100 | 1800 2200
doitgen         nq nr np        8 10 12 | 20 25 30 | 40 50 60 | 140 150 160 | 220 250 270
mvt             n               40 | 120 | 400 | 2000 | 4000
gemm            ni nj nk        20 25 30 | 60 70 80 | 200 220 240 | 1000 1100 1200 | 2000 2300 2600
gemver          n               40 | 120 | 400 | 2000 | 4000
gesummv         n               30 | 90 | 250 | 1300 | 2800
symm            m n             20 30 | 60 80 | 200 240 | 1000 1200 | 2000 2600
syr2k           m n             20 30 | 60 80 | 200 240 | 1000 1200 | 2000 2600
syrk            m n             20 30 | 60 80 | 200 240 | 1000 1200 | 2000 2600
trmm            m n             20 30 | 60 80 | 200 240 | 1000 1200 | 2000 2600
cholesky        n               40 | 120 | 400 | 2000 | 4000
durbin          n               40 | 120 | 400 | 2000 | 4000
gramschmidt     m n             20 30 | 60 80 | 200 240 | 1000 1200 | 2000 2600
lu              n               40 | 120 | 400 | 2000 | 4000
ludcmp          n               40 | 120 | 400 | 2000 | 4000
trisolv         n               40 | 120 | 400 | 2000 | 4000
deriche         w h             64 64 | 192 128 | 720 480 | 4096 2160 | 7680 4320
floyd-warshall  n               60 | 180 | 500 | 2800 | 5600
nussinov        n               60 | 180 | 500 | 2500 | 5500
adi             tsteps n        20 20 | 40 60 | 100 200 | 500 1000 | 1000 2000
fdtd-2d         tmax nx ny      20 20 30 | 40 60 80 | 100 200 240 | 500 1000 1200 | 1000 2000 2600
heat-3d         tsteps n        20 10 | 40 20 | 100 40 | 500 120 | 1000 200
jacobi-1d       tsteps n        20 30 | 40 120 | 100 400 | 500 2000 | 1000 4000
jacobi-2d       tsteps n        20 30 | 40 90 | 100 250 | 500 1300 | 1000 2800
seidel-2d       tsteps n        20 40 | 40 120 | 100 400 | 500 2000 | 1000 4000
"""  # noqa: E501


def standard_sizes() -> dict[str, dict[str, dict[str, int]]]:
    """PolyBench's table: parameters by kernel and size class."""
    result: dict[str, dict[str, dict[str, int]]] = {}
    for line in POLYBENCH.strip().splitlines():
        match = re.fullmatch(r"(\S+)\s+([a-z][a-z ]*?)\s+(\d.*)", line)
        assert match is not None
        names = match[2].split()
        groups = [[int(value) for value in group.split()] for group in match[3].split("|")]
        result[match[1]] = {
            size: dict(zip(names, values, strict=True))
            for size, values in zip(CLASSES, groups, strict=True)
        }
    return result


def test_polybench_is_complete_and_has_its_standard_sizes() -> None:
    expected = standard_sizes()
    found = {
        name.removeprefix("polybench/"): {size: dict(entry.sizes[size]) for size in entry.sizes}
        for name, entry in ENTRIES.items()
        if name.startswith("polybench/")
    }
    assert len(expected) == 30
    assert found == expected


@pytest.mark.parametrize(
    ("suite", "kernels"),
    [
        (
            "tiramisu",
            "box_blur conv_relu convolution cvtcolor doitgen heat2d heat3d jacobi2d mvt seidel2d",
        ),
        ("interchange", "blur matmul jacobi1d jacobi2d heat2d heat3d seidel2d"),
        ("gemm", "gemm"),
        ("tile_size", "doitgen dgemm dtrmm dsyr2k lu 2d-jacobi fdtd-2d"),
    ],
)
def test_suites_are_complete(suite: str, kernels: str) -> None:
    found = [name for name in ENTRIES if name.startswith(f"{suite}/")]
    assert sorted(found) == sorted(f"{suite}/{kernel}" for kernel in kernels.split())


def test_all_entries_belong_to_a_suite_and_have_mini_and_small() -> None:
    for name, entry in ENTRIES.items():
        assert name.split("/")[0] in SUITES
        assert {"MINI", "SMALL"} <= set(entry.sizes), name


@pytest.mark.parametrize(
    ("name", "size", "values"),
    [
        ("tiramisu/box_blur", "LARGE", [8, 3, 1024, 1024]),
        ("tiramisu/convolution", "LARGE", [8, 2, 3, 1024, 1024, 3]),
        ("tiramisu/heat3d", "LARGE", [770, 898, 1024]),
        ("tiramisu/jacobi2d", "LARGE", [130, 1024]),
        ("interchange/seidel2d", "MINI", [32, 49]),
        ("tile_size/fdtd-2d", "LARGE", [100, 600, 600]),
    ],
)
def test_sizes_of_the_papers(name: str, size: str, values: list[int]) -> None:
    assert list(ENTRIES[name].sizes[size].values()) == values


def test_gemm_has_the_ten_sizes_under_their_own_names() -> None:
    sizes = ENTRIES["gemm/gemm"].sizes
    named = {size: values for size, values in sizes.items() if size not in CLASSES}
    assert len(named) == 10
    assert all(size == "x".join(map(str, values.values())) for size, values in named.items())
    assert "1632x36548x1024" in named


@pytest.mark.parametrize("name", SOURCES)
def test_arguments_match_the_function(name: str) -> None:
    entry = ENTRIES[name]
    (function,) = (op for op in parse_module(entry.text, name).ops if isinstance(op, FuncOp))
    formals = function.body.block.args
    assert function.sym_name.data == entry.function
    # xDSL takes numbers at the end of a name, as in y_1, for its own
    names = [re.sub(r"_\d+$", "", name) for name in entry.argument_names]
    assert [formal.name_hint for formal in formals] == names
    scalars = len(entry.parameters) + len(entry.scalars)
    for formal in formals[: len(entry.parameters)]:
        assert isinstance(formal.type, IndexType)
    for formal in formals[len(entry.parameters) : scalars]:
        assert str(formal.type) == entry.element_type
    for formal, array in zip(formals[scalars:], entry.arrays, strict=True):
        dynamic = "?x" * len(array.shape)
        # MLIR's integers have no sign
        element = array.element_type.replace("u", "i")
        fixed = "".join("?x" if not e.isdecimal() else f"{e}x" for e in array.shape)
        assert str(formal.type) in (f"memref<{dynamic}{element}>", f"memref<{fixed}{element}>")


def test_every_source_has_a_reference() -> None:
    assert set(REFERENCES) == set(SOURCES)


@pytest.mark.parametrize("name", list(ENTRIES))
def test_arguments_of_small_sizes(name: str) -> None:
    entry = ENTRIES[name]
    for size in ("MINI", "SMALL"):
        arguments = entry.arguments(size)
        assert len(arguments) == len(entry.argument_names)
        assert arguments[: len(entry.parameters)] == list(entry.sizes[size].values())
        for array in arguments[len(entry.parameters) + len(entry.scalars) :]:
            assert isinstance(array, np.ndarray)
            assert array.flags.c_contiguous and array.size > 0
            assert np.isfinite(array).all()
        types = [ELEMENT_TYPES[array.element_type] for array in entry.arrays]
        assert [array.dtype for array in arguments if isinstance(array, np.ndarray)] == types
        assert set(entry.output_arrays(arguments)) == set(entry.outputs) != set()
        assert (entry.flops(size) > 0) == (entry.table != "movement")
        assert entry.traffic(size) > 0


@pytest.mark.parametrize(
    ("name", "array", "subscripts", "value"),
    [
        # by hand from the init_array functions of PolyBench/C, MINI sizes
        ("gemm", "C", (3, 7), ((3 * 7 + 1) % 20) / 20),
        ("gemm", "A", (3, 7), (3 * 8 % 30) / 30),
        ("gemm", "B", (3, 7), (3 * 9 % 25) / 25),
        ("3mm", "D", (5, 4), ((5 * 6 + 2) % 20) / 100),
        ("atax", "x", (21,), 1 + 21 / 42),
        ("correlation", "data", (3, 5), 15 / 28 + 3),
        ("gemver", "z", (8,), 9 / 40 / 9),
        ("symm", "A", (2, 3), -999),
        ("symm", "B", (0, 29), ((30 + 0 - 29) % 100) / 20),
        ("trmm", "A", (4, 4), 1),
        ("durbin", "r", (3,), 38),
        ("trisolv", "L", (5, 2), (5 + 40 - 2 + 1) * 2 / 40),
        ("gramschmidt", "A", (3, 9), ((27 % 20) / 20) * 100 + 10),
        ("floyd-warshall", "path", (1, 2), 3),
        ("floyd-warshall", "path", (5, 8), 999),
        ("nussinov", "seq", (2,), 3),
        ("deriche", "imgIn", (50, 60), np.float32(9574) / np.float32(65535)),
        ("adi", "u", (3, 7), 16 / 20),
        ("heat-3d", "B", (1, 2, 3), (1 + 2 + 7) * 10 / 10),
        ("fdtd-2d", "ey", (2, 5), 14 / 30),
        # A = X X^T with X lower triangular, X[i][j] = 1 - j / n, ones on the diagonal
        ("cholesky", "A", (1, 1), 2),
        ("lu", "A", (0, 5), 1),
        ("ludcmp", "A", (2, 1), 1 + (1 - 1 / 40)),
    ],
)  # fmt: skip
def test_initial_values(name: str, array: str, subscripts: tuple[int, ...], value: float) -> None:
    entry = ENTRIES[f"polybench/{name}"]
    arguments = dict(zip(entry.argument_names, entry.arguments("MINI"), strict=True))
    initial = arguments[array]
    assert isinstance(initial, np.ndarray)
    assert initial[subscripts] == pytest.approx(value, rel=1e-15)


def test_scalars() -> None:
    assert ENTRIES["polybench/gemm"].arguments("MINI")[3:5] == [1.5, 1.2]
    assert ENTRIES["polybench/deriche"].arguments("MINI")[2] == 0.25
    assert ENTRIES["polybench/covariance"].arguments("SMALL")[2] == 100.0


def test_initial_values_do_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = ENTRIES["tiramisu/box_blur"]
    whole = entry.arguments("SMALL")
    monkeypatch.setattr("loopwright.kernels.catalogue.CHUNK", 1000)
    np.testing.assert_array_equal(entry.arguments("SMALL")[4], whole[4])


def test_sizes_can_be_given_and_empty() -> None:
    entry = ENTRIES["polybench/gemm"]
    *_, c, a, _ = entry.arguments({"ni": 0, "nj": 3, "nk": 2})
    assert isinstance(c, np.ndarray) and isinstance(a, np.ndarray)
    assert (c.shape, a.shape) == ((0, 3), (0, 2))


def test_sizes_are_named_in_upper_or_lower_case() -> None:
    entry = ENTRIES["polybench/gemm"]
    assert entry.parameter_values("large") == entry.parameter_values("LARGE")
    assert select_cases([entry], ["Mini"]) == [(entry, "MINI")]


def test_unknown_size_says_which_there_are() -> None:
    with pytest.raises(KeyError, match="tile_size/lu has no size HUGE: it has MINI, SMALL, LARGE"):
        ENTRIES["tile_size/lu"].arguments("HUGE")


def test_determined_elements() -> None:
    array = KernelArray("R", ("n", "n"), output=True, determined="i < n // 2")
    mask = array.determined_mask((4, 4), {"n": 4})
    assert mask[:2].all() and not mask[2:].any()
    assert KernelArray("C", ("n",)).determined_mask((3,), {"n": 3}).all()


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "i.real", "[i]", "i if i else i", "unknown + 1", "i <", "where(i)", "'a'"],
)
def test_expressions_refuse_anything_but_arithmetic(text: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        evaluate(text, {"i": 1})
    assert len(str(raised.value).splitlines()) == 1


def test_expressions_broadcast() -> None:
    i, j = np.ix_(range(2), range(3))
    result = evaluate("where(j <= i, -(i * j + 2) // 2 % 5, 2.5 ** i)", {"i": i, "j": j})
    np.testing.assert_array_equal(result, [[4, 1, 1], [4, 3, 2.5]])
