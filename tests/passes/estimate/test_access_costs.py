"""Loads and stores: what stays in registers, remainders as loops, blocks of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from support.targets import NARROW, WIDE

from loopwright.passes.estimate.in_core import InCoreTime
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import Loop, leaves, loops_around, nests
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load

SUM = """
func.func @f(%n: index, %m: index, %C: memref<?xf32>, %A: memref<?x?x?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      affine.for %k = 0 to TERMS {
        %0 = affine.load %C[%i] : memref<?xf32>
        %1 = affine.load %A[%j, %k, %i] : memref<?x?x?xf32>
        %2 = arith.addf %0, %1 : f32
        affine.store %2, %C[%i] : memref<?xf32>
      }
    }
  }
  return
}
"""
TRANSPOSED = """
func.func @f(%n: index, %A: memref<?xf32>, %W: memref<3xf32>, %C: memref<?xf32>) {
  affine.for %y = 0 to %n {
    affine.for %k = 0 to 3 {
      %0 = affine.load %C[2 * %y + %k] : memref<?xf32>
      %1 = affine.load %A[%y] : memref<?xf32>
      %2 = affine.load %W[%k] : memref<3xf32>
      %3 = arith.mulf %1, %2 : f32
      %4 = arith.addf %0, %3 : f32
      affine.store %4, %C[2 * %y + %k] : memref<?xf32>
    }
  }
  return
}
"""
SWEEP = """
func.func @f(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %t = 0 to 9 {
      affine.for %j = 1 to %m {
        %0 = affine.load %A[FROM] : memref<?x?xf64>
        %1 = affine.load %B[%i, %j] : memref<?x?xf64>
        %2 = arith.mulf %0, %1 : f64
        affine.store %2, %A[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""


def accesses(text: str, sizes: Mapping[str, int], steps: str, target: Target) -> float:
    """Cycles of the load and store ports per instance of the only statement."""
    scop = load(text)["f"].scop
    schedule = Schedule.original(scop, target).apply_all(parse_pipeline(steps))
    program = ScheduledProgram(schedule, SchedulingContext(infer_extents(scop, sizes), 1))
    ((leaf, loops),) = leaves(schedule.tree, ())
    found = InCoreTime(program).cycles(leaf, loops)
    assert found is not None
    return found.accesses / found.lanes


@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["wide", "narrow"])
def test_sums_stay_in_registers_over_all_inner_loops(target: Target) -> None:
    """Where the innermost one is short as where it is long."""
    steps = "tile{loops=i sizes=32},interchange{loops=it,j,k,i},unroll{loops=i}"
    steps += ",vectorize{loops=i width=8}"
    few, many = (
        accesses(SUM.replace("TERMS", str(terms)), {"n": 640, "m": 1600 // terms}, steps, target)
        for terms in (5, 320)
    )
    assert few == pytest.approx(many, rel=0.02)


def test_a_loop_over_remainders_and_the_quotients_in_others() -> None:
    scop = load(TRANSPOSED)["f"].scop
    steps = "tile{loops=k sizes=2},skew{loops=kt,k factors=-2},skew{loops=y,kt factors=1}"
    order = ",interchange{loops=k,kt,y}"
    schedule = Schedule.original(scop, WIDE).apply_all(parse_pipeline(steps + order))
    statistics = SchedulingContext(infer_extents(scop, {"n": 500}), 1).statistics(scop)
    statement = statistics.statements["S0"]
    loops = loops_around(schedule.tree, "S0")
    assert [loop.name for loop in loops] == ["k", "kt", "y"]
    assert [statement.direction(loops, loop) for loop in loops] == [(0, 1), (0, 2), (1, -2)]
    assert statement.trips(loops)[0] == 2
    assert all(isinstance(count, float) for count in statement.trips(loops))
    reads = {access.array.name: access for access in statement.statement.reads}
    strides = [
        [
            statement.stride(reads[name], statement.direction(loops, loop) or (), statistics)
            for loop in loops
        ]
        for name in "CAW"
    ]
    assert strides == [[1, 2, 0], [0, 0, 1], [1, 2, -2]]


@pytest.mark.parametrize(
    ("read", "is_block"),
    [("%i, %j - 1", True), ("%i, %j", False), ("%i, %j + 1", False)],
)
def test_columns_are_stored_as_a_block_where_no_load_is_in_between(
    read: str, is_block: bool
) -> None:
    steps = "vectorize{loops=i width=8},unroll{loops=j factor=8}"
    text = SWEEP.replace("FROM", read)
    apart = text.replace("%B: memref<?x?xf64>)", "%B: memref<?x?xf64>, %C: memref<?x?xf64>)")
    apart = apart.replace("store %2, %A", "store %2, %C")
    in_place, elsewhere = (
        accesses(each, {"n": 64, "m": 65}, steps, WIDE) for each in (text, apart)
    )
    assert (in_place < WIDE.scatter_cycles) == is_block
    assert elsewhere < WIDE.scatter_cycles


@pytest.mark.parametrize(("columns", "rest"), [(32, 4), (24, 6)])
def test_columns_left_over_are_transposed_together(columns: int, rest: int) -> None:
    """Where their number is constant, so that the loop over them is unrolled."""
    text = SWEEP.replace("FROM", "%i, %j - 1").replace("store %2, %A", "store %2, %B")
    steps = "vectorize{loops=i width=8},unroll{loops=j factor=8}"

    def cycles(count: int) -> float:
        return accesses(text, {"n": 64, "m": 1 + count}, steps, WIDE)

    assert cycles(columns + rest) < 1.15 * cycles(columns)


WIDTH = 8
COLUMNS = """
func.func @f(%n: index, %m: index, %A: memref<?xTYPE>, %B: memref<?x?xTYPE>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%j] : memref<?xTYPE>
      affine.store %0, %B[%j, %i] : memref<?x?xTYPE>
    }
  }
  return
}
"""


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["wide", "narrow"])
def test_rows_a_power_of_two_apart_evict_each_other(kind: str, target: Target) -> None:
    """Unless there are few of them, or a row more or less lies between."""
    text, steps = COLUMNS.replace("TYPE", kind), f"vectorize{{loops=j width={WIDTH}}}"

    def cycles(n: int, m: int) -> float:
        return accesses(text, {"n": n, "m": m}, steps, target)

    assert cycles(1024, 200) > 8 * cycles(1024 + 16, 200)
    assert cycles(1024, 8) == cycles(1024 + 16, 8)


BLOCKS = """
func.func @f(%n: index, %x: memref<?xf64>, %B: memref<?xROWSxCOLUMNSxf64>) {
  affine.for %q = 0 to %n {
    %0 = affine.load %x[%q] : memref<?xf64>
    affine.for %i = 0 to ROWS {
      affine.for %j = 0 to STORED {
        affine.store %0, %B[%q, %i, %j] : memref<?xROWSxCOLUMNSxf64>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (2, 8), (1, 8)])
def test_blocks_that_fill_their_lines_wait_for_none(rows: int, columns: int) -> None:
    """LLVM unrolls the loops inside: what they leave out of a line is fetched."""
    text = BLOCKS.replace("ROWS", str(rows)).replace("COLUMNS", str(columns))

    def cycles(stored: int) -> float:
        filled = text.replace("STORED", str(stored))
        return accesses(filled, {"n": 50000}, "", WIDE)

    assert cycles(columns) < 2
    assert cycles(columns // 2) > 4 * cycles(columns)


def test_rows_in_lanes_stay_in_registers_only_where_a_vector_goes_on_alone() -> None:
    """Where other rows follow before its next step, each lane is gathered and scattered."""
    text = SWEEP.replace("FROM", "%i, %j - 1")
    strips = "strip-mine{loops=i size=8},interchange{loops=t,j,i},vectorize{loops=i width=8}"
    together = "interchange{loops=t,j,i},vectorize{loops=i width=8}"
    alone, among_others = (
        accesses(text, {"n": 512, "m": 513}, steps, WIDE) for steps in (strips, together)
    )
    assert among_others > 2 * alone


VOTES = """
func.func @f(%n: index, %m: index, %A: memref<?x?x8xf32>, %H: memref<?x8xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %b = 0 to 8 {
      affine.for %j = 0 to %m {
        BESIDE
        %0 = affine.load %A[%j, %i, %b] : memref<?x?x8xf32>
        %1 = affine.load %H[%i, %b] : memref<?x8xf32>
        %2 = arith.addf %0, %1 : f32
        affine.store %2, %H[%i, %b] : memref<?x8xf32>
      }
    }
  }
  return
}
"""


def test_what_another_statement_of_the_loop_stores_to_is_in_memory() -> None:
    """Where that one moves along an array at which the other one stays."""

    def cycles(beside: str) -> float:
        text = VOTES.replace("BESIDE", beside)
        scop = load(text)["f"].scop
        schedule = Schedule.original(scop, WIDE)
        context = SchedulingContext(infer_extents(scop, {"n": 48, "m": 100}), 1)
        program = ScheduledProgram(schedule, context)
        leaf, loops = list(leaves(schedule.tree, ()))[-1]
        found = InCoreTime(program).cycles(leaf, loops)
        assert found is not None
        return found.accesses / found.lanes

    store = "affine.store %zero, %{}[%i, {}] : memref<?x8xf32>"
    alone = cycles("")
    assert cycles(store.format("H", "%b")) == pytest.approx(alone)
    assert cycles(store.format("H", "%j mod 8")) > 1.5 * alone


PRIVATE = """
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %T = memref.alloca(%m) : memref<?xf32>
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%j, %i] : memref<?x?xf32>
      affine.store %0, %T[%j] : memref<?xf32>
    }
    affine.for %j = 1 to %m {
      %0 = affine.load %T[%j] : memref<?xf32>
      %1 = affine.load %T[%j - 1] : memref<?xf32>
      %2 = affine.load %B[%i] : memref<?xf32>
      %3 = arith.addf %0, %1 : f32
      %4 = arith.addf %2, %3 : f32
      affine.store %4, %B[%i] : memref<?xf32>
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    ("steps", "in_lanes"),
    [
        ("vectorize{loops=i width=8}", {"T": 0}),
        ("", {}),
        ("affine-schedule{fusion=minimal},vectorize{loops=S0.i width=8}", {"T": 0}),
    ],
)
def test_private_arrays_have_the_lanes_of_vectors_innermost(
    steps: str, in_lanes: Mapping[str, int]
) -> None:
    """Also where the statements that share them are in several nests."""
    scop = load(PRIVATE)["f"].scop
    schedule = Schedule.original(scop, WIDE).apply_all(parse_pipeline(steps))
    program = ScheduledProgram(
        schedule, SchedulingContext(infer_extents(scop, {"n": 64, "m": 40}), 1)
    )
    assert program.statistics.innermost == in_lanes
    if in_lanes:
        core = InCoreTime(program)
        for leaf, loops in leaves(schedule.tree, ()):
            found = core.cycles(leaf, loops)
            assert found is not None
            assert found.accesses < WIDE.scatter_cycles * found.lanes


RECORDS = """
func.func @f(%n: index, %A: memref<?xFIELDSxf32>, %B: memref<?xFIELDSxf32>) {
  affine.for %i = 0 to %n {
    BODY
  }
  return
}
"""


@pytest.mark.parametrize("fields", [16, 24])
def test_fields_that_statements_access_together_are_transposed(fields: int) -> None:
    """Neighbouring ones; where half of them are left out, each is gathered and scattered."""

    def cycles(step: int) -> float:
        body = [
            f"%{k} = affine.load %A[%i, {k}] : memref<?x{fields}xf32>\n"
            f"affine.store %{k}, %B[%i, {k}] : memref<?x{fields}xf32>"
            for k in range(0, fields, step)
        ]
        text = RECORDS.replace("BODY", "\n".join(body)).replace("FIELDS", str(fields))
        scop = load(text)["f"].scop
        vectors = parse_pipeline("vectorize{loops=i width=16}")
        schedule = Schedule.original(scop, WIDE).apply_all(vectors)
        context = SchedulingContext(infer_extents(scop, {"n": 4096}), 1)
        time = InCoreTime(ScheduledProgram(schedule, context))
        return sum(
            time.nest_seconds(nest, (nest,))[0]
            for nest in nests(schedule.tree)
            if isinstance(nest, Loop)
        )

    assert cycles(2) > 3 * cycles(1)


def test_columns_that_were_just_scattered_are_waited_for() -> None:
    """Rows of three in lanes along the rows: each column is loaded across those before it."""
    text = """
func.func @f(%A: memref<4096x4x3xf64>) {
  affine.for %i = 0 to 4096 {
    affine.for %c = 0 to 3 {
      affine.for %k = 0 to 4 {
        %0 = affine.load %A[%i, %k, %c] : memref<4096x4x3xf64>
        %1 = arith.addf %0, %0 : f64
        affine.store %1, %A[%i, %k, %c] : memref<4096x4x3xf64>
      }
    }
  }
  return
}
"""

    def cycles(steps: str) -> float:
        schedule = Schedule.original(load(text)["f"].scop, WIDE).apply_all(parse_pipeline(steps))
        time = InCoreTime(ScheduledProgram(schedule, SchedulingContext({}, 1)))
        (nest,) = nests(schedule.tree)
        assert isinstance(nest, Loop)
        return time.nest_seconds(nest, (nest,))[0]

    # Unrolled by the schedule, all columns are loaded before they are stored.
    assert cycles("vectorize{loops=k width=4}") > 3 * cycles(
        "unroll{loops=c},vectorize{loops=k width=4}"
    )


PRODUCT = """
func.func @f(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to TO {
      affine.for %k = FROM to %m {
        %0 = affine.load %C[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[FIRST] : memref<?x?xf64>
        %2 = affine.load %SECOND : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = arith.addf %0, %3 : f64
        affine.store %4, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
BEHIND = "affine_map<(d0) -> (d0 + 1)>(%i)"


def product(steps: str, **parts: str) -> float:
    """Cycles of the load and store ports per instance, with these parts of the text."""
    text = PRODUCT
    for name, part in ({"TO": "%n", "FROM": "0", "FIRST": "%k, %i"} | parts).items():
        text = text.replace(name, part)
    return accesses(text, {"n": 64, "m": 64}, steps, replace(WIDE, stores_per_cycle=0.25))


def test_sums_stay_in_registers_where_their_terms_are_others_of_the_same_array() -> None:
    """As in triangular products in place; not where a term may be the sum itself."""
    tile = "tile{loops=i,j sizes=4,16},interchange{loops=k,i,j},unroll{loops=i,j}"
    tile += ",vectorize{loops=j width=8}"
    below, elsewhere = (product(tile, FROM=BEHIND, SECOND=f"{array}[%k, %j]") for array in "CB")
    assert below == pytest.approx(elsewhere)
    anywhere, elsewhere = (product("", SECOND=f"{array}[%k, %j]") for array in "CB")
    assert anywhere > 2 * elsewhere


def test_columns_are_gathered_under_masks_that_differ() -> None:
    """At the end of each row of a triangle; else rows are loaded and transposed."""
    steps = "vectorize{loops=j width=8},unroll{loops=k}"
    whole, triangle = (
        product(steps, TO=to, FIRST="%i, %k", SECOND="B[%j, %k]") for to in ("%n", BEHIND)
    )
    # Of eight vectors in a row, four and a half on average, one is masked.
    assert triangle > whole + 0.5 * WIDE.gather_cycles / 4.5
