"""Where isl does not tell the last writes, the way of a value is not known, but not violated."""

from __future__ import annotations

import numpy as np

import loopwright

# The bounds of the third nest make isl's last writes to %A1 wrong, so dependences are memory-based:
# among them is one from the first nest to the second, which overwrites %A1 before it reads it.
PROGRAM = """
func.func @f(%N: index, %M_i32: i32, %s0: i8, %A0: memref<i8>, %A1: memref<i8>, %A2: memref<?xi8>) {
  %M = arith.index_cast %M_i32 : i32 to index
  %c32 = arith.constant 0 : index
  %K = memref.dim %A2, %c32 : memref<?xi8>
  affine.for %i = -2 to %N {
    affine.for %j = affine_map<() -> (-((0) mod 4) - 1)>()
        to affine_map<(d0) -> (((((d0 * 2 - 2) floordiv 4) - 1) mod 3))>(%i) {
      affine.if affine_set<(d0) : (((0) mod 2) >= 0, d0 - 3 >= 0)>(%i) {
        %v1 = arith.constant 0 : i8
        %v2 = affine.load %A0[] : memref<i8>
        %v3 = arith.addi %v2, %v1 : i8
        affine.store %v3, %A0[] : memref<i8>
      }
    }
    %v4 = arith.constant -1 : i8
    %v5 = affine.load %A0[] : memref<i8>
    %v6 = arith.andi %v4, %v5 : i8
    %v7 = affine.load %A1[] : memref<i8>
    %v8 = arith.maxsi %v7, %v6 : i8
    affine.store %v8, %A1[] : memref<i8>
  }
  affine.for %i = -2 to affine_map<()[s0] -> (((s0) floordiv 2))>()[%K] step 3 {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 + 1)>()[%M] {
      %v9 = arith.constant 0 : i8
      affine.store %v9, %A1[] : memref<i8>
      %v10 = arith.constant 4 : i8
      affine.store %v10, %A0[] : memref<i8>
      %v11 = memref.load %A1[] : memref<i8>
      %v12 = arith.subi %v11, %v10 : i8
      memref.store %v12, %A1[] : memref<i8>
    }
  }
  %v13 = arith.constant 3 : i8
  %r15 = affine.for %i = 0 to affine_map<()[s0] -> (s0 + 1)>()[%M] iter_args(%a14 = %v13) -> (i8) {
    affine.for %j = affine_map<(d0) -> (((((d0 * 2 + 1) mod 3) - 1) floordiv 5) + 1)>(%i)
        to affine_map<()[s0] -> (s0 + 1)>()[%M] step 3 {
      %v16 = arith.constant 4 : i8
      %v17 = affine.load %A1[] : memref<i8>
      %v18 = arith.subi %v17, %v16 : i8
      affine.store %v18, %A1[] : memref<i8>
      %v19 = affine.load %A0[] : memref<i8>
      %v20 = affine.load %A0[] : memref<i8>
      %v21 = arith.subi %v20, %v19 : i8
      affine.store %v21, %A0[] : memref<i8>
    }
    %v22 = arith.constant 0 : i8
    %v23 = affine.load %A0[] : memref<i8>
    %v24 = arith.addi %v23, %v22 : i8
    affine.store %v24, %A0[] : memref<i8>
    %v25 = affine.load %A0[] : memref<i8>
    %v26 = arith.muli %v25, %v24 : i8
    affine.store %v26, %A0[] : memref<i8>
    %v27 = affine.load %A0[] : memref<i8>
    %v28 = arith.maxsi %v27, %s0 : i8
    affine.store %v28, %A0[] : memref<i8>
    %v29 = affine.load %A1[] : memref<i8>
    %v30 = arith.maxsi %a14, %v29 : i8
    affine.yield %v30 : i8
  }
  affine.store %r15, %A0[] : memref<i8>
  affine.for %i = 2 to %K {
    %v31 = arith.index_cast %i : index to i8
    memref.store %v31, %A1[] : memref<i8>
  }
  return
}
"""


def test_a_value_that_is_overwritten_need_not_arrive() -> None:
    function = loopwright.load(PROGRAM)["f"]
    dependences = function.schedule().dependences
    assert any(each.memory_based for each in dependences if each.array == "A1")
    results: list[list[int]] = []
    for schedule in (None, "pack{loops=S2.j array=A1}"):
        a0, a1, a2 = np.array(3, np.int8), np.array(5, np.int8), np.arange(2, dtype=np.int8)
        function.compile(schedule, verify=schedule is not None)(0, 2, 7, a0, a1, a2)
        results.append([int(a0), int(a1)])
    assert results[0] == results[1]
