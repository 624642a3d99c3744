"""What has no polyhedral model is refused at its place, with a way out."""

from __future__ import annotations

import pytest
from support.polyhedral_programs import scop_of

from loopwright.dialects.errors import SourceError

ARGUMENTS = "%N: index, %M: index, %n: i32, %x: f64, %A: memref<?xf64>, %I: memref<?xi32>"

# Lines of a function; the line that is refused ends with `// here`; part of the message; of the
# hint.
CASES = {
    "unknown function": (
        "%p, %q = func.call @outside(%x) : (f64) -> (f64, f64) // here",
        "'@outside' has no body here and gives more than one number",
        "memref",
    ),
    "recursion": (
        "func.call @f(%N, %M, %n, %x, %A, %I) : "
        "(index, index, i32, f64, memref<?xf64>, memref<?xi32>) -> () // here",
        "the call makes '@f' recursive",
        "loop",
    ),
    "vectors": (
        "%v = vector.load %A[%N] : memref<?xf64>, vector<[4]xf64> // here",
        "the size of vector<[4]xf64> is known only when it runs",
        "scalar program",
    ),
    "local array whose size changes": (
        """
        affine.for %i = 0 to %N {
          %t = memref.alloc(%i) : memref<?xf64> // here
          affine.store %x, %t[0] : memref<?xf64>
        }
        """,
        "the size of the memref changes",
        "allocate",
    ),
    "memrefs chosen by a value": (
        """
        %B = memref.alloca(%N) : memref<?xf64>
        %c = arith.cmpf olt, %x, %x : f64
        %D = arith.select %c, %A, %B : memref<?xf64> // here
        affine.store %x, %D[0] : memref<?xf64>
        """,
        "a memref that may be one of several",
        "directly",
    ),
    "memrefs chosen by a condition": (
        """
        %B = memref.alloca() : memref<4xf64>
        %C = memref.alloca() : memref<4xf64>
        %D = affine.if affine_set<()[s0] : (s0 >= 0)>()[%N] -> memref<4xf64> { // here
          affine.yield %B : memref<4xf64>
        } else {
          affine.yield %C : memref<4xf64>
        }
        affine.store %x, %D[0] : memref<4xf64>
        """,
        "a memref is passed on",
        "directly",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_is_refused(case: str) -> None:
    lines, message, hint = CASES[case]
    text = (
        "func.func private @outside(f64) -> (f64, f64)\n"
        f"func.func @f({ARGUMENTS}) {{\n{lines.strip()}\n  return\n}}\n"
    )
    with pytest.raises(SourceError) as caught:
        scop_of(text)
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")
    location = caught.value.location
    assert location is not None
    assert location.line == 1 + next(
        n for n, line in enumerate(text.splitlines()) if "// here" in line
    )


# What has a model with opaque statements: lines of a function.
OPAQUE = {
    "subscript read from memory": """
        %0 = memref.load %I[%N] : memref<?xi32>
        %1 = arith.index_cast %0 : i32 to index
        memref.store %x, %A[%1] : memref<?xf64>
        """,
    "subscript with a product of sizes": """
        %far = arith.muli %N, %M : index
        memref.store %x, %A[%far] : memref<?xf64>
        """,
    "subscript with a minimum of what is read": """
        %0 = memref.load %I[%N] : memref<?xi32>
        %1 = arith.index_cast %0 : i32 to index
        %near = arith.minsi %1, %M : index
        memref.store %x, %A[%near] : memref<?xf64>
        """,
    "bound that depends on data": """
        %0 = memref.load %I[%N] : memref<?xi32>
        %upper = arith.index_cast %0 : i32 to index
        affine.for %i = 0 to %upper {
          affine.store %x, %A[%i] : memref<?xf64>
        }
        """,
    "bound carried by a loop": """
        %c1 = arith.constant 1 : index
        %r = affine.for %i = 0 to %N iter_args(%u = %c1) -> (index) {
          scf.for %j = %c1 to %u step %c1 {
            memref.store %x, %A[%j] : memref<?xf64>
          }
          %v = arith.addi %u, %c1 : index
          affine.yield %v : index
        }
        """,
    "while loop": """
        %c1 = arith.constant 1 : index
        %r = scf.while (%i = %N) : (index) -> index {
          %go = arith.cmpi sgt, %i, %c1 : index
          scf.condition(%go) %i : index
        } do {
        ^bb0(%i: index):
          %next = arith.subi %i, %c1 : index
          scf.yield %next : index
        }
        """,
    "step that is not constant": """
        %c0 = arith.constant 0 : index
        scf.for %i = %c0 to %N step %M {
          memref.store %x, %A[%i] : memref<?xf64>
        }
        """,
    "unsigned division of what may be negative": """
        %c2 = arith.constant 2 : index
        %half = arith.divui %N, %c2 : index
        affine.for %i = 0 to %half {
          affine.store %x, %A[%i] : memref<?xf64>
        }
        """,
}


@pytest.mark.parametrize("case", OPAQUE)
def test_is_opaque(case: str) -> None:
    text = f"func.func @f({ARGUMENTS}) {{\n{OPAQUE[case].strip()}\n  return\n}}\n"
    assert scop_of(text).opaque_statements


def test_strided_memrefs_are_refused() -> None:
    text = """
    func.func @f(%A: memref<4xf64, strided<[2]>>, %x: f64) {
      affine.store %x, %A[0] : memref<4xf64, strided<[2]>>
      return
    }
    """
    with pytest.raises(SourceError, match="layout"):
        scop_of(text)


def test_returned_memrefs_are_arguments() -> None:
    text = """
    func.func @f(%x: f64) -> memref<4xf64> {
      %A = memref.alloc() : memref<4xf64>
      return %A : memref<4xf64>
    }
    """
    scop = scop_of(text)
    assert [array.argument for array in scop.arrays] == [1]
    assert not scop.func.function_type.outputs.data


def test_branches_between_blocks_are_refused() -> None:
    text = """
    func.func @f(%x: f64) {
      cf.br ^bb1
    ^bb1:
      return
    }
    """
    with pytest.raises(SourceError, match="branches between blocks"):
        scop_of(text)


CHAINS = (
    "affine_map<(d0) -> (d0 + d0)>",
    "affine_map<(d0) -> (d0 + d0 floordiv 2)>",
    "affine_map<(d0) -> ((d0 + d0) mod 7 + d0)>",
)


@pytest.mark.parametrize("function", CHAINS)
def test_chains_of_functions_end_soon(function: str) -> None:
    steps = "".join(f"%v{k + 1} = affine.apply {function}(%v{k})\n" for k in range(100))
    loop = f"affine.for %v0 = 0 to %n {{ {steps} affine.store %x, %A[%v{{}}] : memref<?xf64> }}"
    text = f"func.func @f(%n: index, %x: f64, %A: memref<?xf64>) {{ {loop} return }}"
    assert len(scop_of(text.replace("%v{}", "%v3")).statements) == 1
    assert scop_of(text.replace("%v{}", "%v100")).opaque_statements


def test_equal_terms_are_added_up() -> None:
    steps = "".join(
        f"%v{k + 1} = affine.apply affine_map<(d0) -> (d0 + d0)>(%v{k})\n" for k in range(40)
    )
    scop = scop_of(
        f"func.func @f(%x: f64, %A: memref<?xf64>) {{ affine.for %v0 = 0 to 2 {{ {steps}"
        "affine.store %x, %A[%v40] : memref<?xf64> } return }"
    )
    (access,) = scop.statements[0].writes
    assert access.map.eval([1], []) == (2**40,)
