"""Packing: what the buffer holds, its layout, what is refused, and that results stay the same."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.dependence_oracle import closure, find_conflicts, pairs_of
from support.scop_execution import instances, time_stamp

import loopwright
from loopwright.passes.polyhedral.dependences import (
    Dependence,
    DependenceKind,
    Dependences,
    compute_dependences,
)
from loopwright.passes.polyhedral.isl_context import bounded
from loopwright.passes.schedules.errors import MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.parallel import Parallel

MATMUL = """
func.func @matmul(%n: index, %m: index, %l: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>,
                  %C: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      affine.for %k = 0 to %l {
        %0 = affine.load %A[%i, %k] : memref<?x?xf64>
        %1 = affine.load %B[%k, %j] : memref<?x?xf64>
        %2 = affine.load %C[%i, %j] : memref<?x?xf64>
        %3 = arith.mulf %0, %1 : f64
        %4 = arith.addf %2, %3 : f64
        affine.store %4, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""

TILED = "tile{loops=i,j,k sizes=16,24,32},interchange{loops=kt,jt,it}"
REGISTER_TILE = (
    "tile{loops=S0.i,S0.j sizes=4,8},interchange{loops=S0.k,S0.i,S0.j},"
    "unroll{loops=S0.i,S0.j},vectorize{loops=S0.j width=8}"
)

SCHEDULES = {
    "rows": f"{TILED},pack{{loops=jt array=B}}",
    "transposed": f"{TILED},pack{{loops=it array=A order=1,0}}",
    "panels": f"{TILED},pack{{loops=jt array=B order=1,0 panels=0,8}}",
    "written": f"{TILED},pack{{loops=it array=C}}",
    "whole array": "pack{loops=i array=B}",
    "twice": f"{TILED},pack{{loops=jt array=B}},pack{{loops=it array=B_packed}}",
    "panels in vectors": (
        f"{TILED},pack{{loops=jt array=B order=1,0 panels=0,8}},"
        f"pack{{loops=it array=A panels=4,0}},{REGISTER_TILE}"
    ),
    "parallel": f"{TILED},pack{{loops=jt array=B}},pack{{loops=it array=C}},parallel{{loops=it}}",
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("size", [(33, 50, 65), (16, 24, 32), (5, 7, 3), (0, 4, 4), (4, 4, 0)])
def test_packed_products(name: str, size: tuple[int, int, int]) -> None:
    n, m, depth = size
    generator = np.random.default_rng(1)
    a, b, c = (generator.integers(-9, 9, s) * 1.0 for s in ((n, depth), (depth, m), (n, m)))
    expected = c + a @ b
    function = loopwright.load(MATMUL)["matmul"]
    function.compile(schedule=SCHEDULES[name], threads=2)(n, m, depth, a, b, c)
    np.testing.assert_array_equal(c, expected)


def by_ends(dependences: Dependences) -> dict[tuple[object, ...], Dependence]:
    return {(d.kind, d.array, d.source, d.target, d.reduction): d for d in dependences}


def loop_ir(schedule: str) -> str:
    kernel = loopwright.load(MATMUL)["matmul"].compile(schedule=schedule)
    return kernel.specialise(100, 100, 100, *(np.zeros((100, 100)) for _ in range(3))).loop_ir


def test_the_buffer_is_as_large_as_a_tile() -> None:
    assert "%B_packed = memref.alloca() {alignment = 64 : i64} : memref<32x24xf64>" in loop_ir(
        SCHEDULES["rows"]
    )
    assert "memref<3x32x8xf64>" in loop_ir(SCHEDULES["panels"])
    assert "memref<32x16xf64>" in loop_ir(SCHEDULES["transposed"])


def test_panels_are_read_as_vectors() -> None:
    text = loop_ir(SCHEDULES["panels in vectors"])
    assert "affine.vector_load %B_packed" in text
    assert "vector.gather" not in text


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("pack{loops=i array=D}", "there is no array D; the arrays are A, B, C"),
        ("pack{loops=i,j array=A}", "name the one loop"),
        ("pack{loops=i array=A order=0,0}", "each of the 2 subscripts of A once"),
        ("pack{loops=i array=A panels=8}", "for each of the 2 subscripts of A"),
        ("pack{loops=i array=A panels=-8,0}", "for each of the 2 subscripts of A"),
    ],
)
def test_malformed_requests(step: str, message: str) -> None:
    with pytest.raises(MalformedTransformation, match=message):
        loopwright.load(MATMUL)["matmul"].schedule(step)


def test_an_array_that_is_not_used_inside() -> None:
    fill = """
  %z = arith.constant 0.0 : f64
  affine.for %q = 0 to %n {
    affine.store %z, %C[%q, 0] : memref<?x?xf64>
  }
"""
    text = MATMUL.replace("memref<?x?xf64>) {", f"memref<?x?xf64>) {{{fill}")
    with pytest.raises(MalformedTransformation, match="A is not used inside q"):
        loopwright.load(text)["matmul"].schedule("pack{loops=q array=A}")


SCALED = MATMUL.replace("(%n: index", "(%alpha: f64, %n: index").replace(
    "%3 = arith.mulf %0, %1 : f64",
    "%s = arith.mulf %alpha, %0 : f64\n        %3 = arith.mulf %s, %1 : f64",
)


@pytest.mark.parametrize("inside", ["", f",{REGISTER_TILE}"])
def test_the_buffer_can_hold_products(inside: str) -> None:
    generator = np.random.default_rng(1)
    a, b, c = (generator.integers(-9, 9, s) * 1.0 for s in ((33, 65), (65, 50), (33, 50)))
    expected = c + 3 * a @ b
    schedule = f"{TILED},pack{{loops=it array=A scaled=true}}{inside}"
    kernel = loopwright.load(SCALED)["matmul"].compile(schedule=schedule, threads=1)
    kernel(3.0, 33, 50, 65, a, b, c)
    np.testing.assert_array_equal(c, expected)
    copied, used = kernel.loop_ir.split("memref.alloc", 1)[1].split("%B[", 1)
    assert "%alpha" in copied
    assert "%alpha" not in used


@pytest.mark.parametrize("array", ["B", "C"])
def test_only_products_with_an_argument_can_be_held(array: str) -> None:
    schedule = f"pack{{loops=i array={array} scaled=true}}"
    with pytest.raises(MalformedTransformation, match=f"{array} is not only used in products"):
        loopwright.load(SCALED)["matmul"].schedule(schedule)


TEMPORARY = """
func.func @f(%n: index, %A: memref<?x?xf64>, %x: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.store %zero, %x[%j] : memref<?xf64>
      affine.for %k = 0 to %n {
        %0 = affine.load %x[%j] : memref<?xf64>
        %1 = affine.load %A[%i, %k] : memref<?x?xf64>
        %2 = arith.addf %0, %1 : f64
        affine.store %2, %x[%j] : memref<?xf64>
      }
    }
    affine.for %j = 0 to %n {
      %3 = affine.load %x[%j] : memref<?xf64>
      affine.store %3, %A[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""


def test_what_every_iteration_overwrites_becomes_private() -> None:
    function = loopwright.load(TEMPORARY)["f"]
    assert not function.schedule("").legal(Parallel(("i",)))
    schedule = function.schedule("pack{loops=i array=x},parallel{loops=i}")
    names = [statement.name for statement in schedule.scop.statements]
    assert "pack_x" not in names, "nothing from before is read"
    assert "unpack_x" in names
    rng = np.random.default_rng(1)
    a, x = rng.integers(-9, 9, (7, 7)) * 1.0, np.zeros(7)
    sums = a.sum(axis=1)
    function.compile(str(schedule), threads=2)(7, a, x)
    np.testing.assert_array_equal(a, np.tile(sums[:, None], 7))
    np.testing.assert_array_equal(x, np.full(7, sums[-1]), "the last iteration's")


@pytest.mark.parametrize("fast_math", [False, True])
@pytest.mark.parametrize("name", ["rows", "transposed", "panels", "whole array", "written"])
def test_dependences_are_what_they_would_be_from_nothing(name: str, fast_math: bool) -> None:
    function = loopwright.load(MATMUL)["matmul"]
    changed = function.schedule(SCHEDULES[name], fast_math=fast_math)
    plain = replace(changed.scop)
    again = compute_dependences(plain)
    assert by_ends(changed.dependences).keys() == by_ends(again).keys()
    for ends, derived in by_ends(changed.dependences).items():
        assert derived.relation.is_equal(by_ends(again)[ends].relation)


@pytest.mark.parametrize("name", ["rows", "transposed", "panels", "whole array"])
def test_dependences_of_other_arrays_stay_as_they_are(name: str) -> None:
    """They are not computed again."""
    function = loopwright.load(MATMUL)["matmul"]
    changed = function.schedule(SCHEDULES[name])
    assert all(
        any(found is known for known in function.dependences)
        for found in changed.dependences
        if found.array == "C"
    )


CHOLESKY_COLUMN = """
func.func @f(%n: index, %A: memref<?x?xf64>) {
  affine.for %j = 0 to %n {
    affine.for %i = affine_map<(d0) -> (d0)>(%j) to %n {
      affine.for %k = 0 to %j {
        %0 = affine.load %A[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%i, %k] : memref<?x?xf64>
        %2 = affine.load %A[%j, %k] : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = arith.subf %0, %3 : f64
        affine.store %4, %A[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""


def test_one_read_of_several_can_use_a_copy() -> None:
    function = loopwright.load(CHOLESKY_COLUMN)["f"]
    schedule = function.schedule("pack{loops=j array=A reads=S0.2}")
    (statement,) = (s for s in schedule.scop.statements if s.name == "S0")
    names = [access.array.name for access in statement.accesses]
    assert names == ["A", "A", "A_packed", "A"]
    matrix = np.random.default_rng(0).random((13, 13))
    expected = matrix.copy()
    function.compile(None)(13, expected)
    function.compile(schedule)(13, matrix)
    np.testing.assert_array_equal(matrix, expected)


@pytest.mark.parametrize(
    ("reads", "message"),
    [
        ("S0.3", "there is no read S0.3 of A inside j; there are S0.0, S0.1, S0.2"),
        ("S0.0", "S0 writes elements of A that S0 reads afterwards, in the same iteration of j"),
    ],
)
def test_reads_that_cannot_use_a_copy(reads: str, message: str) -> None:
    function = loopwright.load(CHOLESKY_COLUMN)["f"]
    with pytest.raises(MalformedTransformation, match=message):
        function.schedule(f"pack{{loops=j array=A reads={reads}}}")


def test_reads_that_never_run_have_nothing_to_copy() -> None:
    text = """
    func.func @f(%A: memref<8xf64>, %B: memref<8xf64>) {
      affine.for %i = 0 to 0 {
        %0 = affine.load %A[%i] : memref<8xf64>
        affine.store %0, %B[%i] : memref<8xf64>
      }
      return
    }
    """
    function = loopwright.load(text)["f"]
    with pytest.raises(MalformedTransformation, match="no iteration of i runs these reads"):
        function.schedule("pack{loops=i array=A reads=S0.0}")


IN_PLACE = """
func.func @f(%n: index, %m: index, %A: memref<?x?xf64>, %x: memref<?xf64>) {
  affine.for %t = 0 to 2 {
    affine.for %i = 2 to affine_map<()[s0] -> (s0 - 2)>()[%n] {
      affine.for %j = 2 to affine_map<()[s0] -> (s0 - 2)>()[%m] {
        READS
        affine.store %sum, %A[%i, %j] : memref<?x?xf64>
      }
      %y = affine.load %A[%i, %i] : memref<?x?xf64>
      affine.store %y, %x[%i] : memref<?xf64>
    }
  }
  return
}
"""


def total(loads: Sequence[str]) -> str:
    """Operations whose last one, %sum, is the sum of all that is loaded."""
    lines = [f"%{number} = affine.load {load}" for number, load in enumerate(loads)]
    for number in range(1, len(loads)):
        last = f"%s{number - 1}" if number > 1 else "%0"
        name = f"%s{number}" if number + 1 < len(loads) else "%sum"
        lines.append(f"{name} = arith.addf {last}, %{number} : f64")
    return "\n".join(lines).replace("+ -", "- ")


def in_place(*offsets: tuple[int, int]) -> str:
    """A program that overwrites A with sums of elements at these distances."""
    return IN_PLACE.replace(
        "READS", total([f"%A[%i + {i}, %j + {j}] : memref<?x?xf64>" for i, j in offsets])
    )


CROSS = [(d, 0) for d in range(-2, 3)] + [(0, d) for d in (-2, -1, 1, 2)]


def check_order(schedule: Schedule, arguments: tuple[Any, ...]) -> None:
    """Dependences order all that meets in an element, and nothing else."""
    scop, sizes = schedule.scop, dict(zip("nm", arguments, strict=False))
    order = sorted(instances(scop, sizes), key=lambda each: time_stamp(scop.tree, each, sizes))
    conflicts = find_conflicts(scop, arguments, order)
    pairs = pairs_of(scop, schedule.dependences, arguments)
    assert pairs <= conflicts.all
    assert closure(pairs, order) >= conflicts.all
    flow = [each for each in schedule.dependences if each.kind is DependenceKind.FLOW]
    found = pairs_of(scop, flow, arguments)
    assert found >= conflicts.flow
    if all(len(statement.writes) == 1 for statement in scop.statements):
        assert found == conflicts.flow


@pytest.mark.parametrize("loop", ["t", "i", "jt", "S0.j"])
@pytest.mark.parametrize("offsets", [[(0, -1), (0, 0), (0, 1)], [(-1, 0), (1, 1)], CROSS])
def test_dependences_through_the_buffer(loop: str, offsets: list[tuple[int, int]]) -> None:
    function = loopwright.load(in_place(*offsets))["f"]
    schedule = function.schedule(f"tile{{loops=S0.j sizes=2}},pack{{loops={loop} array=A}}")
    check_order(schedule, (7, 8, np.zeros((7, 8)), np.zeros(7)))


SEVERAL_WRITES = """
func.func @f(%n: index, %m: index, %A: memref<?x?xf64>, %x: memref<?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to affine_map<()[s0] -> (s0 - 1)>()[%m] {
      %0 = affine.load %x[%j] : memref<?xf64>
      affine.store %0, %x[%j + 1] : memref<?xf64>
      %1 = affine.load %x[%j + 1] : memref<?xf64>
      affine.store %1, %x[%j] : memref<?xf64>
      affine.store %1, %A[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""


@pytest.mark.parametrize("loop", ["i", "j"])
def test_several_writes_in_the_buffer(loop: str) -> None:
    function = loopwright.load(SEVERAL_WRITES)["f"]
    schedule = function.schedule(f"pack{{loops={loop} array=x}}")
    check_order(schedule, (4, 5, np.zeros((4, 5)), np.zeros(5)))


# Program 179094103072722 of the generator: labelling gave it up after a minute.
DEEP = """
func.func @f(%n: index, %m: index, %p: index, %A: memref<?x?x?x?xf64>) {
  affine.for %i = 3 to affine_map<()[s0] -> (s0 - 3)>()[%n] {
    affine.for %j = 3 to affine_map<()[s0] -> (s0 - 3)>()[%p] {
      affine.for %k = 3 to affine_map<()[s0] -> (s0 - 3)>()[%m] {
        affine.for %l = 3 to %j {
          affine.for %x = 3 to affine_map<()[s0] -> (s0 - 3)>()[%n] {
            READS
            affine.store %sum, %A[%j, %k, %l, %x] : memref<?x?x?x?xf64>
          }
        }
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("fast_math", [False, True])
def test_stencils_with_many_reads_are_not_too_complex(fast_math: bool) -> None:
    """isl alone does not find what meets in the buffer within a minute."""
    loads = ["%A[%j, %k, %l, %x] : memref<?x?x?x?xf64>"]
    for place in range(3):
        for distance in (-3, -2, -1, 1, 2, 3):
            first, second, third = (distance if each == place else 0 for each in range(3))
            subscripts = f"%j, %k + {first}, %l + {second}, %x + {third}"
            loads.append(f"%A[{subscripts}] : memref<?x?x?x?xf64>")
    function = loopwright.load(DEEP.replace("READS", total(loads)))["f"]
    with bounded(2_000_000):
        function.schedule("tile{loops=l,x sizes=8,32},pack{loops=xt array=A}", fast_math=fast_math)


BYTES = """
func.func @f(%A: memref<20x30xi8>, %B: memref<30x40xi8>, %C: memref<20x40xi32>) {
  affine.for %i = 0 to 20 {
    affine.for %j = 0 to 40 {
      affine.for %k = 0 to 30 {
        %0 = affine.load %A[%i, %k] : memref<20x30xi8>
        %1 = arith.extui %0 : i8 to i32
        %2 = affine.load %B[%k, %j] : memref<30x40xi8>
        %3 = arith.extsi %2 : i8 to i32
        %4 = arith.muli %1, %3 : i32
        %5 = affine.load %C[%i, %j] : memref<20x40xi32>
        %6 = arith.addi %5, %4 : i32
        affine.store %6, %C[%i, %j] : memref<20x40xi32>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("array", ["A", "B"])
def test_bytes_are_widened_as_they_are_extended(array: str) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((20, 30), (30, 40)))
    c = np.zeros((20, 40), np.int32)
    schedule = f"pack{{loops=i array={array} order=1,0 panels=4,2 widened=true}}"
    function = loopwright.load(BYTES)["f"]
    function.compile(schedule)(a, b, c)
    assert np.array_equal(c, a.view(np.uint8).astype(np.int32) @ b.astype(np.int32))
    text = str(function.schedule(schedule).scop.arrays[-1])
    assert f"{array}_packed" in text and "i16" in text


def test_only_bytes_that_are_extended_are_widened() -> None:
    with pytest.raises(MalformedTransformation, match="leave out widened=true"):
        loopwright.load(BYTES)["f"].schedule("pack{loops=i array=C widened=true}")


MAY_OVERWRITE = """
func.func @f(%J: memref<4xi32>, %A: memref<8xf64>, %B: memref<8xf64>) {
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 8 {
      %b = affine.load %B[%j] : memref<8xf64>
      affine.store %b, %A[%j] : memref<8xf64>
    }
  }
  affine.for %k = 0 to 4 {
    %zero = arith.constant 0.0 : f64
    %s = affine.load %J[%k] : memref<4xi32>
    %t = arith.index_cast %s : i32 to index
    memref.store %zero, %A[%t] : memref<8xf64>
  }
  return
}
"""


def test_what_a_later_statement_only_may_overwrite_is_copied_out() -> None:
    b = np.arange(1.0, 9.0)
    j = np.array([1, 1, 5, 0], "i4")
    expected = b.copy()
    expected[j] = 0
    for schedule in (None, "pack{loops=j array=A}", "tile{loops=i sizes=2},pack{loops=j array=A}"):
        a = np.zeros(8)
        loopwright.load(MAY_OVERWRITE)["f"].compile(schedule)(j, a, b)
        assert np.array_equal(a, expected), schedule
