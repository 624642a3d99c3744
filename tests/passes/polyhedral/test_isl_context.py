"""What isl fails at is not always needed."""

from __future__ import annotations

from typing import Any, cast

import islpy as isl
import pytest

from loopwright.passes.polyhedral.isl_context import TooComplexError, bounded, coalesced


class Unmerged:
    """Stands for a relation whose pieces isl fails to merge."""

    def n_basic_map(self) -> int:
        return 2

    def coalesce(self) -> isl.Map:
        raise isl.Error("original tableau does not correspond to original basic map")


def test_fewer_pieces() -> None:
    pieces = isl.Map("{ [i] -> [i] : 0 <= i < 5; [i] -> [i] : 5 <= i < 9 }")
    merged = coalesced(pieces)
    assert merged.is_equal(pieces) and merged.n_basic_map() == 1


def test_what_cannot_be_merged_stays_as_it_is() -> None:
    relation = cast(Any, Unmerged())
    assert coalesced(relation) is relation


def test_bounds_hold() -> None:
    pieces = isl.Map("{ [i] -> [j] : 0 <= i <= j < 5 or 5 <= i <= j < 9 or 2 <= i < 7 and j = 3 }")
    with pytest.raises(TooComplexError), bounded(1):
        coalesced(pieces.intersect(pieces).subtract(isl.Map("{ [3] -> [4] }")))
