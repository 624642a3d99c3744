"""Loop IR that leaves its arrays, in a bounds-checked build: told, and never done."""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_code import MachineCode
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

import loopwright
from loopwright.dialects.parse import parse_module
from loopwright.errors import OutOfBounds
from loopwright.runtime.jit import generated_code as driver
from loopwright.runtime.kernel import Kernel

GUARD = 64

VECTOR = "memref<8xf64>, vector<4xf64>"
LANES = """
  %ones = arith.constant dense<1.0> : vector<4xf64>
  %n = arith.constant {active} : index
  %mask = vector.create_mask %n : vector<4xi1>
  %i = arith.constant {first} : index
"""
GATHERED = "memref<8xf64>, vector<4xindex>, vector<4xi1>, vector<4xf64>"
OFFSETS = "  %offsets = arith.constant dense<[0, 2, 4, 6]> : vector<4xindex>\n"

# What the loop IR does with %A, which has 8 elements, and what is said of it.
BROKEN = {
    "a load behind the end": (
        "affine.for %i = 0 to 9 { %x = affine.load %A[%i] : memref<8xf64> }",
        "A: subscript 0 is 8, the extent 8",
    ),
    "a store before the beginning": (
        "affine.for %i = 0 to 8 { affine.store %one, %A[%i - 1] : memref<8xf64> }",
        "A: subscript 0 is -1, the extent 8",
    ),
    "a store at a computed subscript": (
        "%i = arith.constant 21 : index\nmemref.store %one, %A[%i] : memref<8xf64>",
        "A: subscript 0 is 21, the extent 8",
    ),
    "the second subscript of a local array": (
        "%l = memref.alloc() : memref<4x2xf64>\n"
        "affine.for %i = 0 to 4 { affine.store %one, %l[%i, %i mod 3] : memref<4x2xf64> }\n"
        "memref.dealloc %l : memref<4x2xf64>",
        "l: subscript 1 is 2, the extent 2",
    ),
    "a local array of several threads": (
        "%l = memref.alloca() : memref<4xf64>\n"
        "affine.parallel (%i) = (0) to (5) { affine.store %one, %l[%i] : memref<4xf64> }",
        "l: subscript 0 is 4, the extent 4",
    ),
    "the last lane of a vector": (
        f"%v = affine.vector_load %A[5] : {VECTOR}",
        "A: subscript 0 is 8, the extent 8",
    ),
    "the first lane of a vector": (
        f"%v = affine.vector_load %A[0] : {VECTOR}\n"
        f"affine.for %i = -1 to 0 {{ affine.vector_store %v, %A[%i] : {VECTOR} }}",
        "A: subscript 0 is -1, the extent 8",
    ),
    "a lane of a masked load": (
        LANES.format(active=3, first=6) + "%v = vector.maskedload %A[%i], %mask, %ones "
        ": memref<8xf64>, vector<4xi1>, vector<4xf64> into vector<4xf64>",
        "A: subscript 0 is 8, the extent 8",
    ),
    "a lane of a masked store": (
        LANES.format(active=2, first=-1) + "vector.maskedstore %A[%i], %mask, %ones "
        ": memref<8xf64>, vector<4xi1>, vector<4xf64>",
        "A: subscript 0 is -1, the extent 8",
    ),
    "a lane of a gather": (
        LANES.format(active=4, first=2)
        + OFFSETS
        + f"%v = vector.gather %A[%i] [%offsets], %mask, %ones : {GATHERED} into vector<4xf64>",
        "A: element 8, counted row by row, of 8",
    ),
    "a lane of a scatter": (
        LANES.format(active=2, first=7)
        + OFFSETS
        + f"vector.scatter %A[%i] [%offsets], %mask, %ones : {GATHERED}",
        "A: element 9, counted row by row, of 8",
    ),
}

CORRECT = {
    "whole rows": "affine.for %i = 0 to 8 { affine.store %one, %A[%i] : memref<8xf64> }",
    "the last vector": (
        f"%v = affine.vector_load %A[0] : {VECTOR}\naffine.vector_store %v, %A[4] : {VECTOR}"
    ),
    "lanes that are off": (
        LANES.format(active=2, first=6) + "vector.maskedstore %A[%i], %mask, %ones "
        ": memref<8xf64>, vector<4xi1>, vector<4xf64>"
    ),
    "no lanes at all": (
        LANES.format(active=0, first=-50) + "vector.maskedstore %A[%i], %mask, %ones "
        ": memref<8xf64>, vector<4xi1>, vector<4xf64>"
    ),
    "offsets of lanes that are off": (
        LANES.format(active=3, first=3)
        + OFFSETS
        + f"vector.scatter %A[%i] [%offsets], %mask, %ones : {GATHERED}"
    ),
}


def function(body: str) -> func.FuncOp:
    one = "%one = arith.constant 1.0 : f64"
    module = parse_module(f"func.func @f(%A: memref<8xf64>) {{\n{one}\n{body}\nreturn\n}}\n")
    (found,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    return found


def kernel_of(loops: func.FuncOp, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """A bounds-checked kernel whose loop IR is this, whatever the program."""
    program = "func.func @f(%A: memref<8xf64>) { return }\n"

    def given(*_: object) -> tuple[func.FuncOp, None]:
        return loops, None

    monkeypatch.setattr(driver, "verified_loops", given)
    monkeypatch.setenv("LOOPWRIGHT_CACHE", "off")
    return loopwright.load(program)["f"].compile(None, threads=2, check_bounds=True)


@pytest.mark.parametrize("case", BROKEN)
def test_the_first_access_outside_is_told_and_none_is_done(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, message = BROKEN[case]
    kernel = kernel_of(function(body), monkeypatch)
    memory = np.full(GUARD + 8 + GUARD, 5.0)
    for _ in range(2):  # what one call has met is not said of the next
        with pytest.raises(OutOfBounds) as caught:
            kernel(memory[GUARD : GUARD + 8])
        assert str(caught.value) == f"f: access outside of {message}"
    assert (memory[:GUARD] == 5.0).all()
    assert (memory[-GUARD:] == 5.0).all()


@pytest.mark.parametrize("case", CORRECT)
def test_what_stays_inside_runs_as_ever(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checked, plain = np.arange(8.0), np.arange(8.0)
    kernel_of(function(CORRECT[case]), monkeypatch)(checked)
    MachineCode(ModuleOp([function(CORRECT[case]).clone()]))("f", plain)
    np.testing.assert_array_equal(checked, plain)


def test_one_thread_of_many_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
      affine.parallel (%i) = (0) to (1000) {
        affine.if affine_set<(d0) : (d0 - 777 == 0)>(%i) {
          affine.store %one, %A[%i] : memref<8xf64>
        }
      }
    """
    with pytest.raises(OutOfBounds, match="A: subscript 0 is 777, the extent 8"):
        kernel_of(function(body), monkeypatch)(np.zeros(8))


def test_a_function_that_is_called_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse_module("""
      func.func @g(%B: memref<8xf64>) {
        affine.for %i = 0 to 9 {
          %x = affine.load %B[%i] : memref<8xf64>
        }
        return
      }
      func.func @f(%A: memref<8xf64>) {
        func.call @g(%A) : (memref<8xf64>) -> ()
        return
      }
    """)
    *_, caller = module.ops
    assert isinstance(caller, func.FuncOp)
    with pytest.raises(OutOfBounds, match="f: access outside of B: subscript 0 is 8, the extent 8"):
        kernel_of(caller, monkeypatch)(np.zeros(8))


def test_code_without_checks_has_nothing_of_them() -> None:
    text = str(MachineCode(ModuleOp([function(CORRECT["whole rows"]).clone()])).llvm_ir)
    assert "bounds_violation" not in text
