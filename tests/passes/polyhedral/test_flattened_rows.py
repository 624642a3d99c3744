"""Loops over whole rows become one loop; other ones stay."""

from __future__ import annotations

import pytest
from support.polyhedral_programs import scop_of

from loopwright.passes.polyhedral.flattened_rows import flatten_rows
from loopwright.passes.polyhedral.inspections import inspections

TEXT = """
func.func @f(%n: index, %I: memref<?x6xindex>, %A: memref<?xf64>, %o: memref<?x6xf64>) {{
  affine.for %i = 0 to %n {{
    affine.for %j = {bounds} {{
      %k = affine.load %I[{subscripts}] : memref<?x6xindex>
      %v = memref.load %A[%k] : memref<?xf64>
      %u = affine.load %o[%i, %j] : memref<?x6xf64>
      %w = arith.addf %u, %v : f64
      affine.store %w, %o[%i, %j] : memref<?x6xf64>
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("bounds", "subscripts", "loops"),
    [
        ("0 to 6", "%i, %j", ("i",)),
        ("0 to 5", "%i, %j", ("i", "j")),
        ("1 to 6", "%i, %j", ("i", "j")),
        ("0 to 6", "%i + 1, %j", ("i", "j")),
        ("0 to 6", "%i, 5 - %j", ("i", "j")),
        ("0 to 6 step 2", "%i, %j", ("i", "j")),
        ("0 to min affine_map<(d0) -> (6, d0)>(%i)", "%i, %j", ("i", "j")),
    ],
)
def test_rows_are_flattened(bounds: str, subscripts: str, loops: tuple[str, ...]) -> None:
    scop = scop_of(TEXT.format(bounds=bounds, subscripts=subscripts))
    (found,) = inspections(scop).parts
    part = flatten_rows(found.part, {"I": 6})
    assert part.loops == loops
    if len(loops) == 1:
        assert str(part.accesses[0].map) == "(d0)[s0] -> ((d0 floordiv 6), (d0 mod 6))"
        expected = f"[n] -> {{ {part.name}[i] : 0 <= i < 6n }}"
        assert part.domain.is_equal(type(part.domain)(expected))
    assert flatten_rows(found.part, {}) is found.part
