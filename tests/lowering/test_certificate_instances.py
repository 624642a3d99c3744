"""Certificates of code whose instances or types are not those of the program, and broken ones."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest
from support.rejections import mutants, rejection

import loopwright
from loopwright import certificate as checker
from loopwright.lowering.certificate import certificate

HOISTED = """
func.func @f(%n: index, %c: memref<?xf64>, %p: memref<?x?xf64>, %q: memref<?x?xf64>) {
  %one = arith.constant 1.0 : f64
  affine.for %i = 1 to %n {
    affine.store %one, %p[%i, 0] : memref<?x?xf64>
    affine.for %j = 1 to %n {
      %0 = affine.load %p[%i, %j - 1] : memref<?x?xf64>
      %1 = affine.load %c[%j] : memref<?xf64>
      %2 = arith.mulf %0, %1 : f64
      affine.store %2, %p[%i, %j] : memref<?x?xf64>
      %3 = affine.load %q[%i, %j - 1] : memref<?x?xf64>
      %4 = affine.load %p[%i, %j] : memref<?x?xf64>
      %5 = arith.addf %3, %4 : f64
      affine.store %5, %q[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

JACOBI = """
func.func @f(%steps: index, %n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  affine.for %t = 0 to %steps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %0 = affine.load %A[%i - 1] : memref<?xf64>
      %1 = affine.load %A[%i + 1] : memref<?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %B[%i] : memref<?xf64>
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %3 = affine.load %B[%i] : memref<?xf64>
      affine.store %3, %A[%i] : memref<?xf64>
    }
  }
  return
}
"""

BYTES = """
func.func @f(%n: index, %A: memref<?x?xi8>, %B: memref<?x?xi8>, %C: memref<?x?xi32>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %n {
      affine.for %j = 0 to %n {
        %0 = affine.load %A[%i, %k] : memref<?x?xi8>
        %1 = arith.extui %0 : i8 to i32
        %2 = affine.load %B[%k, %j] : memref<?x?xi8>
        %3 = arith.extsi %2 : i8 to i32
        %4 = arith.muli %1, %3 : i32
        %5 = affine.load %C[%i, %j] : memref<?x?xi32>
        %6 = arith.addi %5, %4 : i32
        affine.store %6, %C[%i, %j] : memref<?x?xi32>
      }
    }
  }
  return
}
"""

EXTREMA = """
func.func @f(%n: index, %B: memref<?xf32>, %D: memref<?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %n {
      %b = affine.load %B[%i] : memref<?xf32>
      %d = affine.load %D[%k] : memref<?xf32>
      %c = arith.maximumf %b, %d : f32
      affine.store %c, %B[%i] : memref<?xf32>
      %e = affine.load %B[symbol(%n) - %i] : memref<?xf32>
      %f = arith.maximumf %e, %d : f32
      affine.store %f, %B[symbol(%n) - %i] : memref<?xf32>
    }
  }
  return
}
"""

PACKED = "pack{{loops=j array={} widened=true}}"
CASES = {
    "hoist": (HOISTED, "hoist{statements=S1}"),
    "double-buffer": (JACOBI, "double-buffer{loops=t}"),
    "modulo-unroll": (JACOBI, "modulo-unroll{loops=t factor=3}"),
    "widened": (
        BYTES,
        "interchange{loops=k,j},pack{loops=j array=A widened=true},"
        "pack{loops=j array=B widened=true}",
    ),
    "lanes": (EXTREMA, "vectorize{loops=i width=8}"),
}


@cache
def text_of(name: str) -> str:
    text, pipeline = CASES[name]
    return json.dumps(certificate(loopwright.load(text)["f"].schedule(pipeline)))


@pytest.mark.parametrize("name", CASES)
def test_what_is_right_is_accepted(name: str) -> None:
    data = json.loads(text_of(name))
    assert rejection(data) is None


@pytest.mark.parametrize("name", CASES)
def test_every_line_counts(name: str) -> None:
    data = json.loads(text_of(name))
    nest = data["nest"]
    for number, line in enumerate(nest):
        without = [*nest[:number], *nest[number + 1 :]]
        if not re.match(" *(if|for)", line):  # What is inside may run elsewhere.
            assert rejection({**data, "nest": without}) is not None, line


# What to replace in the nest, in each line in turn that matches, and by what.
MUTANTS: list[tuple[str, str, str]] = [
    ("hoist", r"run S1\[(.*), (.*)\]", r"run S1[\1 + 1, \2]"),
    ("hoist", r"run S1\[(.*), (.*)\]", r"run S1[\1, \2 + 1]"),
    ("hoist", r"load p_hoisted\[(.*)\]", r"load p_hoisted[\1 + -1]"),
    ("hoist", r"load p_hoisted\[(.*)\]", r"load c[\1]"),
    ("hoist", r"store (\S+), p_hoisted\[(.*)\]", r"store \1, p_hoisted[\2 + 1]"),
    ("hoist", r"load c\[(.*)\]", r"load c[\1 + 1]"),
    ("hoist", r"run S2\[(.*), (.*)\]", r"run S2[1, \2]"),
    ("hoist", r"constant 1.0", "constant 2.0"),
    ("hoist", r"< n$", "< n + -1"),
    ("hoist", r"^for : i0 >= 1 and i0 < n", "for parallel : i0 >= 0 and i0 < n"),
    ("double-buffer", r"run S0\[2 \* (.*)\]", r"run S0[2 * \1 + 1]"),
    ("double-buffer", r"run S0\[2 \* i0(.*)\]", r"run S0[i0\1]"),
    ("double-buffer", r"load A\[", "load A_buffer["),
    ("double-buffer", r"load A_buffer\[", "load A["),
    ("double-buffer", r"store (\S+), A\[", r"store \1, A_buffer["),
    ("double-buffer", r"store (\S+), A_buffer\[", r"store \1, A["),
    ("double-buffer", r"store (\S+), B\[", r"store \1, A["),
    ("double-buffer", r"^for :", "for parallel :"),
    ("double-buffer", r"arith.addf", "arith.subf"),
    ("modulo-unroll", r"run S0\[3 \* (.*)\]", r"run S0[3 * \1 + 1]"),
    ("modulo-unroll", r"run S0", "run S1"),
    ("modulo-unroll", r"^for :", "for parallel :"),
    ("widened", r"arith.extui", "arith.extsi"),
    ("widened", r"arith.extsi (\S+) : i8", r"arith.extui \1 : i8"),
    ("widened", r"extsi (%c2) : i16 to i32", r"extui \1 : i16 to i32"),
    ("widened", r"i8 to i16", "i8 to i32"),
    ("widened", r"i16 to i32", "i8 to i32"),
    ("widened", r"(load \w*_packed.*) : i16", r"\1 : i8"),
    ("widened", r"array (\w+) i16", r"array \1 i8"),
    ("widened", r"array (\w+) i16", r"array \1 i32"),
    ("widened", r"(store .*) : i16", r"\1 : i32"),
    ("lanes", r"vector", "parallel"),
    ("lanes", r"arith.maximumf", "arith.minimumf"),
    ("lanes", r"B\[i0\]", "B[0]"),
]


@pytest.mark.parametrize(("name", "pattern", "other"), MUTANTS)
def test_mutants_are_rejected(name: str, pattern: str, other: str) -> None:
    data = json.loads(text_of(name))
    nest = data["nest"]
    found = list(mutants(nest, pattern, other))
    assert found, nest
    for change, lines in found:
        assert rejection({**data, "nest": lines}) is not None, change


def test_what_stands_for_instances_is_proved() -> None:
    """Instances that do not run have the values of one that does."""
    data = json.loads(text_of("hoist"))
    assert data["same"] == {"S0": "1", "S1": "1, i1"}
    for other in ({}, {"S0": "1"}, {"S1": "1, i1"}, {"S0": "1", "S1": "1, 1"}):
        assert rejection({**data, "same": other}) is not None
    for other in ("0, i1", "2, i1", "n, i1", "n + -1, i1", "i0, i1", "1, i1 + 1", "i1, i1"):
        assert rejection({**data, "same": {**data["same"], "S1": other}}) is not None, other
    # What each line computes differs where the coefficient, or what it begins with, does.
    for line, changed in (("load c[i1]", "load c[i0]"), ("load p[i0, i1", "load p[0, i1")):
        program = [each.replace(line, changed) for each in data["program"]]
        assert program != data["program"]
        assert rejection({**data, "program": program}) is not None, line


def test_instances_that_are_left_out_are_copies() -> None:
    data = json.loads(text_of("double-buffer"))
    assert data["same"] == {}
    assert not any("run S1" in line for line in data["nest"])
    program = [line.replace("load B[i1]", "load B[i1 + 1]") for line in data["program"]]
    assert program != data["program"]
    assert rejection({**data, "program": program}) is not None
    extra = [*data["program"], "run S9", "%c0 = load A[0] : f64", "store %c0, B[0] : f64"]
    assert rejection({**data, "program": extra}) is not None


def test_orders_of_steps_are_named() -> None:
    data = json.loads(text_of("lanes"))
    assert checker.Check(data).run() == {"S0", "S1"}
    inexact = json.loads(text_of("lanes").replace("maximumf", "addf"))
    assert rejection(inexact) is not None
    assert rejection({**inexact, "fast_math": True}) is None
