"""Dependences of small programs, reductions, and their listing."""

from __future__ import annotations

import islpy as isl
import pytest
from support.polyhedral_programs import body, scop_of

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral import dependences as dependences_module
from loopwright.passes.polyhedral.dependences import (
    DependenceKind,
    Dependences,
    compute_dependences,
)
from loopwright.passes.polyhedral.distance import distances


def of_kernel(name: str) -> Dependences:
    return compute_dependences(scop_of(catalogue()[name].text))


def vectors(dependences: Dependences, kind: DependenceKind) -> set[tuple[int | str, ...]]:
    return {
        distances(dependences.scop, d.source, d.target, d.relation)
        for d in dependences
        if d.kind is kind
    }


@pytest.mark.parametrize(
    ("kernel", "flow"),
    [
        ("polybench/gemm", {(0,), (0, 1, 0)}),
        ("polybench/trisolv", {(0,), (0, 1), ("+",)}),
        ("polybench/jacobi-1d", {(0,), (1,)}),
        ("polybench/jacobi-2d", {(0,), (1,)}),
        ("polybench/seidel-2d", {("0+", "*", "*")}),
        ("polybench/floyd-warshall", {("0+", "*", "*")}),
    ],
)
def test_flow_distances(kernel: str, flow: set[tuple[int | str, ...]]) -> None:
    assert vectors(of_kernel(kernel), DependenceKind.FLOW) == flow


def test_only_the_last_write_reaches_a_read() -> None:
    dependences = compute_dependences(
        body(
            """
            affine.for %i = 0 to %N {
              affine.store %x, %T[] : memref<f64>
              affine.store %x, %T[] : memref<f64>
              %0 = affine.load %T[] : memref<f64>
              affine.store %0, %A[%i] : memref<?xf64>
            }
            """,
            "%N: index, %x: f64, %T: memref<f64>, %A: memref<?xf64>",
        )
    )
    flow = [d for d in dependences if d.kind is DependenceKind.FLOW]
    assert [(d.source, d.target) for d in flow] == [("S1", "S2")]
    assert flow[0].relation.is_equal(isl.Map("[N] -> { S1[i] -> S2[i] : 0 <= i < N }"))
    anti = [d for d in dependences if d.kind is DependenceKind.ANTI]
    assert [(d.source, d.target) for d in anti] == [("S2", "S0")]
    assert anti[0].relation.is_equal(isl.Map("[N] -> { S2[i] -> S0[i + 1] : 0 <= i < N - 1 }"))
    output = [d for d in dependences if d.kind is DependenceKind.OUTPUT]
    assert [(d.source, d.target) for d in output] == [("S0", "S1"), ("S1", "S0")]


def test_no_dependence_through_a_local_scalar_of_another_iteration() -> None:
    dependences = compute_dependences(
        body(
            """
            affine.for %i = 0 to %N {
              %t = memref.alloca() : memref<f64>
              affine.store %x, %t[] : memref<f64>
              %0 = affine.load %t[] : memref<f64>
              affine.store %0, %A[%i] : memref<?xf64>
            }
            """,
            "%N: index, %x: f64, %A: memref<?xf64>",
        )
    )
    assert vectors(dependences, DependenceKind.FLOW) == {(0,)}
    assert [d.kind for d in dependences] == [DependenceKind.FLOW]


def test_listing() -> None:
    scop = body(
        """
        affine.for %i = 0 to %N {
          affine.for %j = 0 to 8 {
            %0 = affine.load %A[%i] : memref<?xf64>
            %1 = arith.addf %0, %x : f64
            affine.store %1, %A[%i] : memref<?xf64>
          }
        }
        """,
        "%N: index, %x: f64, %A: memref<?xf64>",
    )
    lines = compute_dependences(scop).readable().splitlines()
    assert lines[0::2] == [
        "flow   S0 -> S0  A  (0, 1) reduction",
        "anti   S0 -> S0  A  (0, 1) reduction",
        "output S0 -> S0  A  (0, 1) reduction",
    ]
    assert lines[1] == (
        "       [N] -> { S0[i, j] -> S0[i' = i, j' = 1 + j] : 0 <= i < N and 0 <= j <= 6 }"
    )


SUM = """
affine.for %i = 0 to %N {{
  affine.for %j = 0 to %N {{
    %0 = affine.load %A[%i] : memref<?x{type}>
    %1 = affine.load %B[{other}] : memref<?x{type}>
    {operations}
    affine.store %r, %A[%i] : memref<?x{type}>
  }}
}}
"""


@pytest.mark.parametrize(
    ("operations", "operation", "free"),
    [
        ("%r = arith.addf %0, %1 : f64", "addf", False),
        ("%r = arith.addf %1, %0 fastmath<reassoc> : f64", "addf", True),
        ("%r = arith.subf %0, %1 : f64", "addf", False),
        ("%r = math.fma %1, %1, %0 : f64", "addf", False),
        ("%2 = arith.addf %0, %1 : f64\n %r = arith.subf %2, %x : f64", "addf", False),
        ("%r = arith.maximumf %1, %0 : f64", "maximumf", True),
        ("%r = arith.mulf %0, %x : f64", "mulf", False),
    ],
)
def test_accumulations(operations: str, operation: str, free: bool) -> None:
    text = SUM.format(type="f64", other="%j", operations=operations)
    arguments = "%N: index, %x: f64, %A: memref<?xf64>, %B: memref<?xf64>"
    dependences = compute_dependences(body(text, arguments))
    accumulation = dependences.accumulations["S0"]
    assert accumulation.operation == operation
    assert accumulation.reassociable == free
    assert all(dependence.reduction for dependence in dependences)
    assert dependences.relaxed == ()


@pytest.mark.parametrize(
    "operations",
    [
        "%r = arith.subf %1, %0 : f64",
        "%r = arith.divf %0, %1 : f64",
        "%2 = arith.mulf %0, %0 : f64\n %r = arith.addf %2, %0 : f64",
        "%2 = arith.mulf %0, %1 : f64\n %r = arith.addf %2, %x : f64",
        "%2 = arith.addf %1, %x : f64\n %r = arith.mulf %2, %x : f64",
    ],
)
def test_no_accumulations(operations: str) -> None:
    text = SUM.format(type="f64", other="%j", operations=operations)
    arguments = "%N: index, %x: f64, %A: memref<?xf64>, %B: memref<?xf64>"
    dependences = compute_dependences(body(text, arguments))
    assert not dependences.accumulations
    assert not any(dependence.reduction for dependence in dependences)


def test_an_accumulation_that_reads_its_array_elsewhere_is_one_in_part() -> None:
    dependences = of_kernel("polybench/cholesky")
    scop = dependences.scop
    of_first = [d for d in dependences if (d.source, d.target) == ("S0", "S0")]
    kinds = {(d.kind, d.reduction) for d in of_first}
    assert (DependenceKind.FLOW, True) in kinds
    for dependence in of_first:
        pairs = dependences.accumulations["S0"].pairs
        assert dependence.relation.is_subset(pairs) == dependence.reduction
    assert scop.statement("S0").loops == ("i", "j", "k")


def test_others_stay_outside_of_a_relaxed_accumulation() -> None:
    dependences = of_kernel("polybench/gemm")
    pairs = {(d.kind, d.source, d.target) for d in dependences.relaxed}
    assert all(source == "S0" and target == "S1" for _, source, target in pairs)
    (flow,) = (d for d in dependences.relaxed if d.kind is DependenceKind.FLOW)
    # From the scaling to every step, not only the first one.
    assert not flow.relation.is_single_valued()


def test_input_dependences_connect_reads_of_one_value() -> None:
    scop = body(
        """
        affine.for %i = 0 to %N {
          affine.for %j = 0 to %N {
            %0 = affine.load %A[%i] : memref<?xf64>
            affine.store %0, %B[%i, %j] : memref<?x?xf64>
          }
        }
        """,
        "%N: index, %A: memref<?xf64>, %B: memref<?x?xf64>",
    )
    dependences = compute_dependences(scop)
    assert dependences.items == ()
    (reuse,) = dependences.input
    assert reuse.relation.is_subset(isl.Map("{ S0[i, j] -> S0[i, k] : j < k }"))
    assert not reuse.relation.is_empty()


def test_many_statements_use_one_array() -> None:
    count = 120
    load, store = "%a{0} = affine.load %A[%i]", "affine.store %a{0}, %A[%i]"
    step = f"{load} : memref<?xf64>\n{store} : memref<?xf64>\n"
    steps = "".join(step.format(k) for k in range(count))
    scop = body(f"affine.for %i = 0 to %N {{\n{steps}}}\n", "%N: index, %A: memref<?xf64>")
    dependences = compute_dependences(scop)
    for kind in (DependenceKind.FLOW, DependenceKind.OUTPUT):
        found = [(d.source, d.target) for d in dependences if d.kind is kind]
        assert found == [(f"S{k}", f"S{k + 1}") for k in range(count - 1)]
    assert not any(d.memory_based for d in dependences)


def test_what_is_remembered_of_edited_programs_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependences_module, "_MOST_REMEMBERED", 2)
    text = catalogue()["polybench/3mm"].text
    first = compute_dependences(scop_of(text))
    again = compute_dependences(scop_of(text), first)
    assert len(first.through) == 2
    assert again.through is first.through
    assert str(again) == str(first)
