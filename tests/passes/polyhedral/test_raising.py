"""Domains, accesses, names, trees: what each construct becomes."""

from __future__ import annotations

import islpy as isl
import pytest
from support.polyhedral_programs import body, scop_of
from xdsl.ir.affine import AffineMap

from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree
from loopwright.passes.polyhedral.scop import Scop


def domain(scop: Scop, name: str = "S0") -> isl.Set:
    return scop.statement(name).domain


def assert_domain(scop: Scop, expected: str, name: str = "S0") -> None:
    assert domain(scop, name).is_equal(isl.Set(expected)), str(domain(scop, name))


def outline(tree: Tree) -> str:
    match tree:
        case Leaf(name):
            return name
        case Loop(name=name, body=inner):
            return f"{name}({outline(inner)})"
        case Sequence(children):
            return f"[{', '.join(outline(child) for child in children)}]"


def test_gemm() -> None:
    scop = body(
        """
        affine.for %i = 0 to %N {
          affine.for %j = 0 to %N {
            %0 = affine.load %C[%i, %j] : memref<?x?xf64>
            %1 = arith.mulf %0, %beta : f64
            affine.store %1, %C[%i, %j] : memref<?x?xf64>
          }
          affine.for %k = 0 to %N {
            affine.for %j = 0 to %N {
              %0 = affine.load %C[%i, %j] : memref<?x?xf64>
              %1 = affine.load %A[%i, %k + 1] : memref<?x?xf64>
              %2 = arith.addf %0, %1 : f64
              affine.store %2, %C[%i, %j] : memref<?x?xf64>
            }
          }
        }
        """,
        "%N: index, %beta: f64, %C: memref<?x?xf64>, %A: memref<?x?xf64>",
    )
    assert [p.name for p in scop.parameters] == ["N"]
    assert [a.name for a in scop.arrays] == ["C", "A"]
    assert scop.arrays[1].shape == ("A_dim0", "A_dim1")
    assert outline(scop.tree) == "i([j(S0), k(j(S1))])"
    assert_domain(scop, "[N] -> { S1[i, k, j] : 0 <= i < N and 0 <= k < N and 0 <= j < N }", "S1")
    read = scop.statement("S1").reads[1]
    assert read.map == AffineMap.from_callable(
        lambda i, k, j, n: (i, k + 1), dim_symbol_split=(3, 1)
    )
    assert read.relation.is_equal(
        isl.Map("[N] -> { S1[i, k, j] -> A[i, k + 1] : 0 <= i < N and 0 <= k < N and 0 <= j < N }")
    )
    assert [op.name for op in scop.statement("S0").body] == [
        "affine.load",
        "arith.mulf",
        "affine.store",
    ]


def test_schedule_of_a_loop_is_its_induction_variable() -> None:
    scop = body(
        """
        affine.for %i = 0 to 4 {
          affine.for %j = 0 to %i { affine.store %x, %A[%j] : memref<8xf32> }
        }
        """,
        "%x: f32, %A: memref<8xf32>",
    )
    assert isinstance(scop.tree, Loop)
    assert isinstance(scop.tree.body, Loop)
    assert scop.tree.body.schedule["S0"].plain_is_equal(isl.Aff("{ S0[i, j] -> [(j)] }"))


@pytest.mark.parametrize(
    ("loop", "constraints"),
    [
        ("%i = 3 to %N step 4", "3 <= i < N and (i - 3) mod 4 = 0"),
        ("%i = %M to %N step 3", "M <= i < N and (i - M) mod 3 = 0"),
        (
            "%i = max affine_map<(d0)[s0] -> (d0 * 2, s0 - 7)>(%M)[%N] to 50 step 2",
            "i >= 2M and i >= N - 7 and i < 50 and (i - max(2M, N - 7)) mod 2 = 0",
        ),
        (
            "%i = 0 to min affine_map<()[s0, s1] -> (s0 floordiv 2, s1 ceildiv 3, 20)>()[%N, %M]",
            "0 <= i < floor(N/2) and i < ceil(M/3) and i < 20",
        ),
        ("%i = affine_map<(d0) -> (-(d0 mod 5))>(%N) to 5", "-(N mod 5) <= i < 5"),
    ],
)
def test_bounds_and_steps(loop: str, constraints: str) -> None:
    scop = body(
        f"affine.for {loop} {{ affine.store %x, %A[%i + 9] : memref<?xf32> }}"
        "affine.for %u = %M to %N { affine.store %x, %A[%u] : memref<?xf32> }",
        "%N: index, %M: index, %x: f32, %A: memref<?xf32>",
    )
    assert_domain(scop, f"[N, M] -> {{ S0[i] : {constraints} }}")


def test_triangular_loops() -> None:
    scop = body(
        """
        affine.for %i = 0 to %N {
          affine.for %j = affine_map<(d0) -> (d0 + 1)>(%i)
                       to affine_map<(d0)[s0] -> (s0 - d0)>(%i)[%N] {
            affine.store %x, %A[%i] : memref<?xf32>
          }
        }
        """,
        "%N: index, %x: f32, %A: memref<?xf32>",
    )
    assert_domain(scop, "[N] -> { S0[i, j] : 0 <= i < N and i < j < N - i }")


def test_else_is_the_complement() -> None:
    scop = body(
        """
        affine.for %i = 0 to %N {
          affine.for %j = 0 to %N {
            affine.if affine_set<(d0, d1)[s0] : (d0 - d1 >= 0, s0 - d0 - 3 >= 0, d1 mod 2 == 0)>
                (%i, %j)[%N] {
              affine.store %x, %A[%i] : memref<?xf32>
            } else {
              affine.if affine_set<(d0) : (d0 - 4 == 0)>(%j) {
                affine.store %x, %A[%j] : memref<?xf32>
              }
            }
          }
        }
        """,
        "%N: index, %x: f32, %A: memref<?xf32>",
    )
    box = "0 <= i < N and 0 <= j < N"
    holds = "i >= j and i <= N - 3 and j mod 2 = 0"
    assert_domain(scop, f"[N] -> {{ S0[i, j] : {box} and {holds} }}")
    assert_domain(scop, f"[N] -> {{ S1[i, j] : {box} and j = 4 and not ({holds}) }}", "S1")
    assert outline(scop.tree) == "i(j([S0, S1]))"


def test_minima_and_rounding_divisions_in_bounds() -> None:
    scop = body(
        """
        %c2 = arith.constant 2 : index
        %half = arith.divsi %N, %c2 : index
        affine.for %i = 0 to %half {
          %m = affine.min affine_map<(d0)[s0] -> (d0 + 8, s0)>(%i)[%N]
          scf.for %j = %i to %m step %c2 {
            memref.store %x, %A[%j] : memref<?xf32>
          }
        }
        """,
        "%N: index, %x: f32, %A: memref<?xf32>",
    )
    half = "((N >= 0 and 0 <= i < floor(N/2)) or (N < 0 and 0 <= i < ceil(N/2)))"
    bounds = f"{half} and i <= j < min(i + 8, N) and (j - i) mod 2 = 0"
    assert_domain(scop, f"[N] -> {{ S0[i, j] : {bounds} }}")


def test_parameters() -> None:
    scop = scop_of(
        """
        func.func @f(%A: memref<?x7x?xf32>, %n: i32, %unused: index, %m: i64, %x: f32) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c2 = arith.constant 2 : index
          %d0 = memref.dim %A, %c0 : memref<?x7x?xf32>
          %d1 = memref.dim %A, %c1 : memref<?x7x?xf32>
          %d2 = memref.dim %A, %c2 : memref<?x7x?xf32>
          %wide = arith.extsi %n : i32 to i64
          %one = arith.constant 1 : i64
          %sum = arith.addi %wide, %one : i64
          %N = arith.index_cast %sum : i64 to index
          %M = arith.index_cast %m : i64 to index
          affine.for %i = 0 to %N {
            affine.for %j = %M to %d1 {
              affine.for %k = 0 to %d2 {
                affine.store %x, %A[%i, %j, %k] : memref<?x7x?xf32>
              }
            }
          }
          return
        }
        """
    )
    assert [(p.name, p.argument, p.dimension) for p in scop.parameters] == [
        ("A_dim2", 0, 2),
        ("n", 1, None),
        ("m", 3, None),
    ]
    assert [s.name for s in scop.sizes] == ["A_dim2", "n", "m", "A_dim0"]
    assert scop.arrays[0].shape == ("A_dim0", 7, "A_dim2")
    assert scop.context.is_equal(isl.Set("[A_dim2, n, m] -> { : A_dim2 >= 0 }"))
    assert_domain(
        scop,
        "[A_dim2, n, m] -> { S0[i, j, k] : 0 <= i <= n and m <= j < 7 and 0 <= k < A_dim2 }",
    )


def test_everything_is_in_one_parameter_space() -> None:
    scop = body(
        """
        affine.for %i = 0 to %N { affine.store %x, %A[%i] : memref<?xf32> }
        affine.for %i = 0 to %M { affine.store %x, %A[%i] : memref<?xf32> }
        affine.store %x, %A[0] : memref<?xf32>
        """,
        "%M: index, %N: index, %x: f32, %A: memref<?xf32>",
    )
    space = scop.context.get_space()
    assert [space.get_dim_name(isl.dim_type.param, n) for n in range(2)] == ["M", "N"]
    for statement in scop.statements:
        assert statement.domain.get_space().params().is_equal(space)
        for access in statement.accesses:
            assert access.relation.get_space().params().is_equal(space)


def test_names_are_identifiers_and_unique() -> None:
    scop = body(
        """
        affine.for %i = 0 to 3 {
          affine.for %i_0 = 0 to 3 {
            affine.for %7 = 0 to 3 {
              affine.for %mod = 0 to 3 {
                affine.for %arg0_x = 0 to %arg0 {
                  affine.store %x, %S0[%i] : memref<?xf32>
                }
              }
            }
          }
        }
        """,
        "%arg0: index, %x: f32, %S0: memref<?xf32>",
    )
    loops = scop.statements[0].loops
    assert loops == ("i", "i2", "i2_2", "mod2", "arg0_x")
    assert [p.name for p in scop.parameters] == ["arg0"]
    assert scop.arrays[0].name != scop.statements[0].name


def test_given_statement_names() -> None:
    scop = body(
        """
        affine.store %x, %A[0] : memref<?xf32>
        affine.store %x, %A[1] {loopwright.name = "second"} : memref<?xf32>
        affine.store %x, %A[2] : memref<?xf32>
        """,
        "%x: f32, %A: memref<?xf32>",
    )
    assert [s.name for s in scop.statements] == ["S0", "second", "S2"]


def test_several_nests_and_straight_line_code() -> None:
    scop = body(
        """
        affine.store %x, %A[0] : memref<?xf32>
        affine.for %i = 0 to %N { affine.store %x, %A[%i] : memref<?xf32> }
        affine.for %i = 0 to %N { }
        affine.for %i = 0 to %N {
          affine.for %j = 0 to %N { affine.store %x, %A[%j] : memref<?xf32> }
        }
        """,
        "%N: index, %x: f32, %A: memref<?xf32>",
    )
    assert outline(scop.tree) == "[S0, i(S1), i(j(S2))]"


def test_a_function_without_statements() -> None:
    scop = body("affine.for %i = 0 to %N { }", "%N: index")
    assert scop.statements == ()
    assert scop.tree == Sequence(())


def test_affine_indices_as_data() -> None:
    scop = body(
        """
        affine.for %i = 0 to %N {
          %shifted = affine.apply affine_map<(d0)[s0] -> (d0 * 3 + s0)>(%i)[%N]
          %0 = arith.index_cast %shifted : index to i32
          %1 = arith.sitofp %0 : i32 to f32
          affine.store %1, %A[%i] : memref<?xf32>
        }
        """,
        "%N: index, %A: memref<?xf32>",
    )
    statement = scop.statements[0]
    (expression,) = statement.indices.values()
    assert expression.eval([5], [7]) == 22
    assert [op.name for op in statement.body] == [
        "arith.index_cast",
        "arith.sitofp",
        "affine.store",
    ]


def test_subscripts_computed_by_arith_operations() -> None:
    scop = body(
        """
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        affine.for %i = 0 to %N {
          %0 = arith.muli %i, %c2 : index
          %1 = arith.subi %0, %c1 : index
          %2 = arith.floordivsi %1, %c2 : index
          %3 = affine.apply affine_map<(d0) -> (d0 mod 4)>(%2)
          %x = memref.load %A[%1, %3] : memref<?x?xf32>
          memref.store %x, %A[%3, %i] : memref<?x?xf32>
        }
        """,
        "%N: index, %A: memref<?x?xf32>",
    )
    read = scop.statements[0].reads[0]
    assert [read.map.eval([i], [0]) for i in (1, 5)] == [(1, 0), (9, 0)]
    assert scop.statements[0].writes[0].map.eval([4], [0]) == (3, 4)


@pytest.mark.parametrize(
    ("dividend", "never_negative"),
    [
        ("arith.addi %i, %c3 : index", True),
        ("arith.subi %i, %c3 : index", False),
        ("arith.muli %i, %k : index", True),
        ("arith.addi %i, %j : index", False),
        ("affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1 mod 4)>(%i, %j)", True),
        ("affine.apply affine_map<(d0) -> (d0 - 1)>(%i)", False),
        ("arith.addi %N, %c3 : index", False),
        ("arith.addi %D, %k : index", True),
    ],
)
def test_divisions_of_what_is_never_negative_round_down(
    dividend: str, never_negative: bool
) -> None:
    text = f"""
    %c3 = arith.constant 3 : index
    %k = arith.constant 5 : index
    %c0 = arith.constant 0 : index
    %D = memref.dim %A, %c0 : memref<?xf32>
    affine.for %i = max affine_map<(d0) -> (d0, 0)>(%N) to 9 {{
      affine.for %j = affine_map<(d0) -> (-d0)>(%i) to 9 {{
        %value = {dividend}
        %rest = arith.remsi %value, %c3 : index
        memref.store %x, %A[%rest] : memref<?xf32>
      }}
    }}
    """
    arguments = "%N: index, %x: f32, %A: memref<?xf32>"
    if never_negative:
        (access,) = body(text, arguments).statements[0].accesses
        assert str(access.map.results[0]).endswith("mod 3)")
    else:
        assert body(text, arguments).opaque_statements
