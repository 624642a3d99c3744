"""Rows that are alike are computed once."""

from __future__ import annotations

import numpy as np

from loopwright.costmodel.models.unique_rows import unique_rows


def test_every_row_is_like_one_of_the_unique_rows() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (200, 5)).astype(np.float32)
    unique, inverse = unique_rows(rows)
    assert len(unique) == len(np.unique(rows, axis=0)) < len(rows)
    np.testing.assert_array_equal(rows[unique][inverse], rows)
    assert sorted(unique) == list(unique)


def test_rows_of_no_statements() -> None:
    unique, inverse = unique_rows(np.zeros((0, 5), np.float32))
    assert len(unique) == len(inverse) == 0
