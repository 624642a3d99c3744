"""Rows that are alike are computed once."""

from __future__ import annotations

import numpy as np
import torch

from loopwright.costmodel.models.row_network import RowBatch, RowNetwork
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


def test_a_network_computes_the_same_from_unique_rows() -> None:
    random = np.random.default_rng(1)
    rows = random.integers(0, 3, (60, 4)).astype(np.float32)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = RowNetwork(4, 0, 8, dropout=0.0)
        torch.nn.init.normal_(network.corrections[-1].weight)  # pyright: ignore[reportArgumentType]
    batch = RowBatch.of([rows[:7], rows[7:8], rows[8:]], torch.device("cpu"))
    assert len(batch.unique) < len(rows)
    with torch.inference_mode():
        one_by_one = network.train()(batch)
        torch.testing.assert_close(network.eval()(batch), one_by_one)
    assert len(one_by_one.unique()) > 10
