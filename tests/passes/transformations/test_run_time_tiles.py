"""Tiles with sizes at run time: what is legal, what is refused, how it is written and called."""

from __future__ import annotations

import numpy as np
import pytest
from support.runtime_programs import DOT, GEMM

from loopwright.lowering.generate import generate
from loopwright.passes.polyhedral.descriptions import describe_tree
from loopwright.passes.schedules.errors import (
    IllegalTransformation,
    MalformedTransformation,
    TransformationError,
)
from loopwright.passes.syntax.compact_notation import print_notation
from loopwright.passes.syntax.schedule_ops import to_sequence
from loopwright.runtime.calling.errors import ArgumentTypeError, ArgumentValueError, BuildError
from loopwright.runtime.program import load

TILED = "interchange{loops=i,k,j},tile{loops=i,k,j sizes=Ti,Tk,Tj}"

SEIDEL = """
func.func @seidel(%n: index, %A: memref<?x?xf64>) {
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %n {
      %0 = affine.load %A[%i - 1, %j] : memref<?x?xf64>
      %1 = affine.load %A[%i, %j - 1] : memref<?x?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %A[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

# i -> i - 1, j -> j + 1: rows may not be reordered with columns.
BACKWARDS = SEIDEL.replace("%A[%i - 1, %j]", "%A[%i - 1, %j + 1]").replace(
    "to %n {", "to affine_map<(d0) -> (d0 - 1)>(%n) {"
)


def test_the_tree_and_the_text_formats() -> None:
    function = load(GEMM)["gemm"]
    schedule = function.schedule(TILED)
    assert schedule.run_time_sizes == ("Ti", "Tk", "Tj")
    text = describe_tree(schedule.scop, schedule.tree)
    assert "for it = floor(i / Ti)" in text and "for kt = floor(k / Tk)" in text
    for text in (str(schedule), print_notation(schedule), str(to_sequence(schedule))):
        assert function.schedule(text) == schedule


def test_constant_and_open_sizes_mix() -> None:
    schedule = load(GEMM)["gemm"].schedule("tile{loops=i,j,k sizes=T,16,T}")
    assert schedule.run_time_sizes == ("T",)
    assert 'by ["T", 16, "T"]' in str(to_sequence(schedule))


def test_the_loop_ir_can_be_printed_and_has_the_sizes_as_arguments() -> None:
    function = generate(load(GEMM)["gemm"].schedule(TILED), {"ni": 8, "nj": 8, "nk": 8})
    function.verify()
    assert [a.name_hint for a in function.body.block.args[-3:]] == ["Ti", "Tk", "Tj"]
    assert "arith.muli %it, %Ti" in str(function)


def test_a_permutable_band_is_legal_and_another_is_not() -> None:
    load(SEIDEL)["seidel"].schedule("tile{loops=i,j sizes=Ti,Tj}")
    function = load(BACKWARDS)["seidel"]
    function.schedule("tile{loops=i,j sizes=1,Tj}")  # rows stay in order
    with pytest.raises(IllegalTransformation):
        function.schedule("tile{loops=i,j sizes=Ti,Tj}")
    function.schedule("skew{loops=i,j factors=1},tile{loops=i,j sizes=Ti,Tj}")


def test_a_tile_loop_is_parallel_only_if_tiles_of_every_size_are_independent() -> None:
    function = load(GEMM)["gemm"]
    function.schedule(f"{TILED},parallel{{loops=it,jt}}")
    with pytest.raises(IllegalTransformation):
        function.schedule(f"{TILED},parallel{{loops=kt}}")


@pytest.mark.parametrize(
    "step",
    [
        "skew{loops=it,kt factors=1}",
        "wavefront{loops=it,kt factors=1,1}",
        "reverse{loops=it}",
        "shift{loops=it offset=1}",
        "vectorize{loops=it}",
        "unroll{loops=it factor=2}",
        "unroll-and-jam{loops=it factor=2}",
        "tile{loops=it sizes=4}",
        "split{loops=it at=4}",
        "pack{loops=jt array=B}",
        "pack{loops=i array=B}",
    ],
)
def test_steps_that_need_the_size_say_so(step: str) -> None:
    with pytest.raises(MalformedTransformation, match=r"is given at run time \(T[ikj]\)"):
        load(GEMM)["gemm"].schedule(f"{TILED},{step}")


@pytest.mark.parametrize(
    "sizes, reason",
    [
        ("0", "must be at least 1"),
        ("ni", "called as an argument"),
        ("B", "called as an argument"),
        ("T.x", "letters, digits and _"),
    ],
)
def test_names_that_cannot_be_sizes(sizes: str, reason: str) -> None:
    with pytest.raises(TransformationError, match=reason):
        load(GEMM)["gemm"].schedule(f"tile{{loops=i sizes={sizes}}}")


@pytest.mark.parametrize(
    "steps",
    [
        "",
        ",parallel{loops=it}",
        ",parallel{loops=it,jt},vectorize{loops=j width=4}",
        ",interchange{loops=kt,it},vectorize{loops=j width=8},unroll{loops=k factor=2}",
        ",tile{loops=i,k,j sizes=2,3,8},vectorize{loops=j width=8}",
        ",tile{loops=i,k,j sizes=Ui,Uk,Uj}",
        ",unroll-and-jam{loops=i factor=2}",
    ],
)
def test_every_size_gives_the_same_result(steps: str) -> None:
    kernel = load(GEMM)["gemm"].compile(TILED + steps, threads=2)
    generator = np.random.default_rng(0)
    a, b = generator.integers(-9, 9, (13, 11)) * 1.0, generator.integers(-9, 9, (11, 17)) * 1.0
    for size in (1, 2, 5, 11, 13, 17, 18, 2**62):
        sizes = dict.fromkeys(kernel.signature.tile_sizes, size)
        for name in kernel.signature.tile_sizes:
            c = np.zeros((13, 17))
            kernel(13, 17, 11, c, a, b, **{**sizes, name: 3})
            np.testing.assert_array_equal(c, a @ b)


def test_the_largest_tiles_of_loops_over_tiles() -> None:
    """The size is multiplied with the step of the loop."""
    kernel = load(GEMM)["gemm"].compile("strip-mine{loops=i size=3},tile{loops=it,i sizes=Tt,Ti}")
    a, b, c = np.ones((13, 11)), np.ones((11, 17)), np.zeros((13, 17))
    kernel(13, 17, 11, c, a, b, Tt=2**62, Ti=8)
    np.testing.assert_array_equal(c, a @ b)


def test_skewed_tiles_begin_below_zero() -> None:
    text = "skew{loops=i,j factors=-2},tile{loops=i,j sizes=Ti,Tj}"
    function = load(GEMM.replace("to %nk", "to 1"))["gemm"]
    kernel = function.compile(text)
    a, b = np.ones((9, 1)), np.arange(7.0).reshape(1, 7)
    for size in (1, 3, 4, 100):
        c = np.zeros((9, 7))
        kernel(9, 7, 1, c, a, b, Ti=size, Tj=5)
        np.testing.assert_array_equal(c, a @ b)


def test_empty_loops() -> None:
    kernel = load(GEMM)["gemm"].compile(TILED)
    c = np.zeros((2, 3))
    kernel(2, 3, 0, c, np.zeros((2, 0)), np.zeros((0, 3)), Ti=4, Tk=4, Tj=4)
    assert not c.any()


def test_results_come_behind_the_sizes() -> None:
    kernel = load(DOT)["dot"].compile("tile{loops=i sizes=T}")
    assert kernel(5, np.ones(5), np.full(5, 2.0), T=2) == 10.0


def test_bad_calls() -> None:
    kernel = load(DOT)["dot"].compile("tile{loops=i sizes=T}")
    x = np.ones(5)
    with pytest.raises(ArgumentTypeError, match="tile size 'T' is missing"):
        kernel(5, x, x)
    with pytest.raises(ArgumentTypeError, match="no tile size 'U'; there are T"):
        kernel(5, x, x, T=1, U=2)
    with pytest.raises(ArgumentValueError, match="at least 1"):
        kernel(5, x, x, T=0)
    with pytest.raises(ArgumentTypeError, match="is an integer"):
        kernel(5, x, x, T=1.5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentTypeError, match="none: its schedule has constant sizes"):
        load(DOT)["dot"].compile(None)(5, x, x, T=1)


def test_one_compilation_serves_all_sizes() -> None:
    kernel = load(DOT)["dot"].compile("tile{loops=i sizes=T}")
    x = np.ones(5)
    kernel(5, x, x, T=1)
    code = kernel.specialisation
    kernel(5, x, x, T=3)
    assert kernel.specialisation is code


def test_a_library_wants_numbers(tmp_path: object) -> None:
    with pytest.raises(BuildError, match="tile sizes T; give them as numbers"):
        load(DOT)["dot"].build(f"{tmp_path}/dot.so", "tile{loops=i sizes=T}")
