"""What arguments are called does not matter, also where dimensions of sets have such names."""

from __future__ import annotations

import re
from typing import Any

import islpy as isl
import numpy as np
import pytest
from support.random_programs import KIND_SEEDS, LATEST_SEEDS, seeded_program

import loopwright

NAMES = {"%N": "%i1", "%M": "%i0", "%K": "%t"}

CLAMPED = """
func.func @f(%n: index, %SIZE: index, %c: memref<?xi32>, %s: memref<?x?xi32>) {
  affine.for %a = 0 to %n {
    affine.for %q = 1 to %n {
      %4 = affine.max affine_map<(d0)[s0] -> (s0 + d0 - 1, d0)>(%q)[%SIZE]
      %5 = affine.load %c[%4] : memref<?xi32>
      affine.store %5, %s[%a, %q] : memref<?x?xi32>
    }
  }
  return
}
"""


@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("name", ["i0", "i1", "i2", "e0", "t", "x"])
def test_clamped_subscripts(name: str, first: int) -> None:
    function = loopwright.load(CLAMPED.replace("SIZE", name))["f"]
    c, s = np.arange(20, dtype=np.int32) ** 2, np.zeros((5, 5), np.int32)
    for schedule in ("", "default"):
        function.compile(schedule, threads=1)(5, first, c, s)
        for q in range(1, 5):
            assert (s[:, q] == max(first + q - 1, q) ** 2).all()


@pytest.mark.parametrize("seed", [*range(KIND_SEEDS, KIND_SEEDS + 15), LATEST_SEEDS])
def test_random_programs(seed: int) -> None:
    text = seeded_program(seed).text
    renamed = re.sub(r"%[NMK]\b", lambda found: NAMES[found[0]], text)
    (one,), (other,) = (loopwright.load(each).values() for each in (text, renamed))
    for statement, again in zip(one.scop.statements, other.scop.statements, strict=True):
        assert _numbered(statement.domain, one).is_equal(_numbered(again.domain, other))
        for access, same in zip(statement.accesses, again.accesses, strict=True):
            assert _numbered(access.relation, one).is_equal(_numbered(same.relation, other))


def _numbered(relation: Any, function: loopwright.Function) -> Any:
    """A set or relation with parameters that are called by their numbers."""
    for number, parameter in enumerate(function.scop.parameters):
        place = relation.find_dim_by_name(isl.dim_type.param, parameter.name)
        if place >= 0:
            relation = relation.set_dim_name(isl.dim_type.param, place, f"p{number}")
    return relation
