"""What isl fails at is not always needed."""

from __future__ import annotations

import os
import signal
from typing import Any

import islpy as isl
import pytest

from loopwright.passes.polyhedral import isl_context
from loopwright.passes.polyhedral.isl_context import (
    TooComplexError,
    bounded,
    coalesced,
    without_empty_pieces,
)


def test_fewer_pieces() -> None:
    pieces = isl.Map("{ [i] -> [i] : 0 <= i < 5; [i] -> [i] : 5 <= i < 9 }")
    merged = coalesced(pieces)
    assert merged.is_equal(pieces) and merged.n_basic_map() == 1


PIECES = {
    isl.Set: "{ [i] : 0 <= i < 5; [i] : 5 <= i < 9 }",
    isl.Map: "{ [i] -> [i] : 0 <= i < 5; [i] -> [i] : 5 <= i < 9 }",
    isl.UnionMap: "{ A[i] -> [i] : 0 <= i < 5; A[i] -> [i] : 5 <= i < 9; B[] -> [1] }",
    isl.PwAff: "{ [i] -> [(i)] : 0 <= i < 5; [i] -> [(i)] : 5 <= i < 9 }",
    isl.PwMultiAff: "{ [i] -> [(i), (1)] : 0 <= i < 5; [i] -> [(i), (1)] : 5 <= i < 9 }",
}


@pytest.mark.parametrize("kind", PIECES, ids=lambda kind: kind.__name__)
def test_what_cannot_be_merged_stays_as_it_is(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise isl.Error("original tableau does not correspond to original basic map")

    monkeypatch.setattr(kind, "coalesce", fail)
    pieces = kind(PIECES[kind])
    assert coalesced(pieces) is pieces


@pytest.mark.parametrize("kind", PIECES, ids=lambda kind: kind.__name__)
def test_many_pieces_are_not_merged(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_context, "MOST_PIECES", 1)
    pieces = kind(PIECES[kind])
    assert coalesced(pieces) is pieces
    monkeypatch.undo()
    assert coalesced(pieces).is_equal(pieces)


def test_pieces_without_integer_points_are_dropped() -> None:
    whole = isl.Map("{ [i] -> [j] : 0 <= i < 5 and j = i }")
    # Over rationals, 2 e = 6 f + 1 has solutions.
    empty = isl.Map("{ [i] -> [j] : exists (e, f : 10 <= 2e + j <= 10 and 2e + j = 6f + 1) }")
    pieces = isl.Map.from_basic_map(whole.get_basic_maps()[0]).union(empty)
    kept = without_empty_pieces(pieces)
    assert kept.is_equal(whole) and kept.n_basic_map() == 1
    assert without_empty_pieces(whole) is whole


QUOTIENTS = "{{ [i] -> [j] : 2 * floor(i / 2) = i and 3 * floor(j / 3) = j and {} <= i < {} }}"


def test_pieces_with_many_quotients_are_merged_where_isl_survives_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isl_context, "MOST_QUOTIENTS", 3)
    pieces = isl.Map(QUOTIENTS.format(0, 6)).union(isl.Map(QUOTIENTS.format(6, 12)))
    merged = coalesced(pieces)
    assert pieces.n_basic_map() == 2 and merged.n_basic_map() == 1 and merged.is_equal(pieces)
    monkeypatch.setattr(isl.Map, "coalesce", lambda _: os.kill(os.getpid(), signal.SIGSEGV))
    assert coalesced(pieces) is pieces


def test_bounds_hold() -> None:
    pieces = isl.Map("{ [i] -> [j] : 0 <= i <= j < 5 or 5 <= i <= j < 9 or 2 <= i < 7 and j = 3 }")
    with pytest.raises(TooComplexError), bounded(1):
        coalesced(pieces.intersect(pieces).subtract(isl.Map("{ [3] -> [4] }")))
