"""Outputs of mlir-opt 19 for PolyBench kernels are compared with these.

`benchmarks/verify_mlir_opt.py --write` makes them: `KERNEL.PASS.mlir` is for symbolic sizes,
`KERNEL.static.PASS.mlir` for those of MINI.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.kernels.catalogue import catalogue
from loopwright.lowering.specialise import specialise
from loopwright.passes.polyhedral.equivalence.equivalence import assumption, compare
from loopwright.passes.polyhedral.equivalence.parameters import with_parameters_of
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.runtime.calling.derived_signature import named_sizes
from loopwright.runtime.program import Function, load
from loopwright.runtime.verifying.answer import Relation
from loopwright.runtime.verifying.verify import verify

OUTPUTS = {path.name: path for path in (Path(__file__).parent / "mlir_opt").glob("*.mlir")}

# mlir-opt tiles and fuses loops there that carry dependences backwards.
WRONG = ("seidel-2d.tile.mlir", "doitgen.static.fusion.mlir")


def kernel_of(name: str) -> Function:
    """The kernel that an output was made from."""
    entry = catalogue()[f"polybench/{name.split('.')[0]}"]
    function = load(entry.text)[entry.function]
    if ".static." not in name:
        return function
    sizes = infer_extents(function.scop, entry.parameter_values("MINI"))
    known = named_sizes(function.scop, sizes)
    static = specialise(function.function, known.shapes, known.integers)
    return Function(function.module, static)


@pytest.mark.parametrize("name", sorted(OUTPUTS.keys() - set(WRONG)))
def test_equal(name: str) -> None:
    scop = kernel_of(name).scop
    (other,) = load(OUTPUTS[name]).values()
    # The loops that mlir-opt leaves behind unrolled ones run for negative trip counts.
    assumed = assumption(scop, " and ".join(f"{size.name} >= 2" for size in scop.sizes))
    comparison = compare(scop, with_parameters_of(other.scop, scop), assumed)
    assert comparison.is_proved, comparison.reason


def test_fused_against_a_dependence() -> None:
    scop = kernel_of("doitgen.static.fusion.mlir").scop
    (other,) = load(OUTPUTS["doitgen.static.fusion.mlir"]).values()
    assert not compare(scop, with_parameters_of(other.scop, scop)).is_proved


def test_tiled_against_a_dependence() -> None:
    (other,) = load(OUTPUTS["seidel-2d.tile.mlir"]).values()
    answer = verify(kernel_of("seidel-2d.tile.mlir"), other)
    assert answer.relation is Relation.DIFFERENT
    assert answer.witness is not None and answer.demonstration is not None
    assert answer.demonstration.first != answer.demonstration.second


def test_negative_sizes() -> None:
    """Unrolled and jammed loops run outside of arrays where a size is negative."""
    (other,) = load(OUTPUTS["gemm.unroll-jam.mlir"]).values()
    answer = verify(kernel_of("gemm.mlir"), other)
    assert answer.relation is Relation.DIFFERENT
    assert "the second program alone" in str(answer) and "=-" in str(answer)
