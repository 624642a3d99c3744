"""The embeddings of sequences, and of trees of any shape in one batch."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from loopwright.costmodel.papers.common.loop_structure import Node, Shape
from loopwright.costmodel.papers.common.tree_network import (
    Columns,
    Dropout,
    LoopEmbedding,
    SequenceEmbedding,
    batch_trees,
    layers,
    sequences,
)

ROWS = [[5], [], [7, 8, 9, 2], [3, 4], [], [0, 0], [9]]

DEEP: Shape = ((0, (0, (1, (1, (2, (2, 3)), (3, (4,)))), 5)), (4, (6,)))
FLAT: Shape = ((0, (0,)),)
CHAIN: Shape = ((0, ((1, ((2, (0,)),)),)),)


def gradients(loss: Tensor, module: nn.Module) -> list[Tensor]:
    return list(torch.autograd.grad(loss, list(module.parameters())))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_each_sequence_is_embedded_as_it_is_alone(bidirectional: bool) -> None:
    torch.manual_seed(0)
    embedding = SequenceEmbedding(6, 5, bidirectional=bidirectional)
    rows = torch.randn(10, 6)
    together = embedding(rows, sequences(ROWS))
    lstm = embedding.lstm
    expected = torch.stack(
        [lstm(rows[row])[1][0].flatten() if row else embedding.nothing[0] for row in ROWS]
    )
    torch.testing.assert_close(together, expected, rtol=1e-5, atol=1e-6)
    weights = torch.randn_like(expected)
    for own, other in zip(
        gradients((together * weights).sum(), embedding),
        gradients((expected * weights).sum(), embedding),
        strict=True,
    ):
        torch.testing.assert_close(own, other, rtol=1e-5, atol=1e-5)


def recursive(embedding: LoopEmbedding, node: Node, statements: Tensor, features: Tensor) -> Tensor:
    """Figure 2b, one loop at a time."""
    assert not isinstance(node, int)
    number, inner = node
    loops = [recursive(embedding, n, statements, features) for n in inner if not isinstance(n, int)]
    own = [statements[n] for n in inner if isinstance(n, int)]
    parts = [
        part.lstm(torch.stack(rows))[0][-1] if rows else part.nothing[0]
        for part, rows in ((embedding.of_loops, loops), (embedding.of_statements, own))
    ]
    return embedding.merge(torch.cat([*parts, features[number]]))


def test_a_batch_of_trees_is_embedded_as_each_loop_by_itself() -> None:
    torch.manual_seed(0)
    embedding = LoopEmbedding(6, 7, 0.0, features=3)
    shapes, statements, loops = (DEEP, FLAT, CHAIN), (7, 1, 1), (5, 1, 3)
    own = [torch.randn(count, 6) for count in statements]
    features = [torch.randn(count, 3) for count in loops]
    batch = batch_trees(shapes)
    together = embedding(torch.cat(own), batch, torch.cat(features))
    expected = [
        recursive(embedding, node, own[tree], features[tree])
        for tree, shape in enumerate(shapes)
        for node in shape
    ]
    for number, wanted in zip((0, 4, 5, 6), expected, strict=True):
        torch.testing.assert_close(together[number], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("used", [[1, 4, 5], [], list(range(7))])
def test_columns_that_are_zero_are_left_out_of_products_alone(used: list[int]) -> None:
    torch.manual_seed(0)
    network = layers([9, 6, 4], 0.0)
    matrix, beside = torch.zeros(5, 7), torch.randn(5, 2)
    matrix[:, used] = torch.randn(5, len(used))
    columns = Columns.of(matrix)
    assert columns.index.tolist() == used
    found = columns.beside([beside], 7).through(network)
    expected = network(torch.cat([matrix, beside], 1))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    for own, other in zip(
        gradients(found.square().sum(), network),
        gradients(expected.square().sum(), network),
        strict=True,
    ):
        torch.testing.assert_close(own, other, rtol=1e-5, atol=1e-5)


def test_dropout_keeps_the_mean_and_does_nothing_outside_of_training() -> None:
    torch.manual_seed(0)
    dropout, ones = Dropout(0.2), torch.ones(400, 500, requires_grad=True)
    found = dropout(ones)
    assert set(found.unique().tolist()) == {0.0, 1.25}
    assert found.mean().item() == pytest.approx(1.0, abs=0.01)
    (gradient,) = torch.autograd.grad(found.sum(), ones)
    assert torch.equal(gradient, found.detach())
    assert torch.equal(dropout.eval()(ones), ones)
