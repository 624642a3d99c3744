"""Rows that are alike are computed once."""

from __future__ import annotations

import numpy as np

from loopwright.costmodel.models.different_rows import different_rows


def test_every_row_is_like_one_of_the_different_rows() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (200, 5)).astype(np.float32)
    kinds, kind = different_rows(rows)
    assert len(kinds) == len(np.unique(rows, axis=0)) < len(rows)
    np.testing.assert_array_equal(rows[kinds][kind], rows)
    assert sorted(kinds) == list(kinds)


def test_rows_of_no_statements() -> None:
    kinds, kind = different_rows(np.zeros((0, 5), np.float32))
    assert len(kinds) == len(kind) == 0
