"""Batched recursive embedding of loop trees, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import PackedSequence

from ...learning.errors import LearningError
from ...models.tensors import from_array
from .loop_structure import Node, Shape


@dataclass(frozen=True)
class Level:
    """The loops of one height, and the children of each."""

    loops: tuple[int, ...]
    statements: tuple[tuple[int, ...], ...]
    children: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Plan:
    """Evaluation order of a tree's loops; numbers are local to the tree."""

    levels: tuple[Level, ...]
    roots: tuple[int, ...]
    statements: int
    loops: int


@lru_cache(maxsize=1 << 16)
def plan_of(shape: Shape) -> Plan:
    """The plan for a tree, whose outermost nodes are loops."""
    by_height: dict[int, list[tuple[int, tuple[int, ...], tuple[int, ...]]]] = {}
    statements = loops = 0

    def visit(node: Node) -> int:
        """The height of a node: 0 for a loop without loops, -1 for a statement."""
        nonlocal statements, loops
        if isinstance(node, int):
            statements += 1
            return -1
        loops += 1
        number, inner = node
        height = 1 + max((visit(child) for child in inner), default=-1)
        own, children = _parts(inner)
        by_height.setdefault(height, []).append((number, own, children))
        return height

    for node in shape:
        visit(node)
    levels = tuple(
        Level(
            tuple(number for number, _, _ in members),
            tuple(own for _, own, _ in members),
            tuple(children for _, _, children in members),
        )
        for _, members in sorted(by_height.items())
    )
    outside, roots = _parts(shape)
    assert not outside, "outermost nodes are loops"
    return Plan(levels, roots, statements, loops)


def _parts(nodes: Sequence[Node]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of the statements, and of the loops, among nodes."""
    return (
        tuple(node for node in nodes if isinstance(node, int)),
        tuple(node[0] for node in nodes if not isinstance(node, int)),
    )


def count_loops(nodes: Sequence[Node]) -> int:
    """How many loops there are in a tree."""
    return sum(1 + count_loops(node[1]) for node in nodes if not isinstance(node, int))


def under_one_root(shape: Shape) -> Shape:
    """The tree with one outermost loop: a new one, with the next number, where there are others."""
    if len(shape) == 1 and not isinstance(shape[0], int):
        return shape
    return ((count_loops(shape), shape),)


def under_loops(shape: Shape) -> Shape:
    """The tree with a loop of its own around every statement that is in none."""
    number = count_loops(shape)
    result: list[Node] = []
    for node in shape:
        if isinstance(node, int):
            result.append((number, (node,)))
            number += 1
        else:
            result.append(node)
    return tuple(result)


@dataclass(frozen=True)
class Sequences:
    """Sequences of rows as LSTMs read them: all first elements, all second ones ...

    `index` are the rows in this order, longer sequences first; `batch_sizes`, on the CPU, how many
    sequences have a first element, a second one ... `place` is the number of each sequence in the
    order by length; all that are empty have the number after the last.
    """

    index: Tensor
    batch_sizes: Tensor
    place: Tensor

    def to(self, device: torch.device) -> Sequences:
        """The same on a device; sizes stay where packing wants them."""
        return Sequences(self.index.to(device), self.batch_sizes, self.place.to(device))


@dataclass(frozen=True)
class BatchLevel:
    """The loops of one height in all trees."""

    loops: Tensor
    children: Sequences

    def to(self, device: torch.device) -> BatchLevel:
        """The same on a device."""
        return BatchLevel(self.loops.to(device), self.children.to(device))


@dataclass(frozen=True)
class TreeBatch:
    """Concatenated trees: statements and loops are rows with global numbers.

    `statements` has those in each loop, `roots` the outermost loops of each tree.
    """

    levels: tuple[BatchLevel, ...]
    statements: Sequences
    roots: Sequences

    @property
    def loops(self) -> int:
        """How many loops there are."""
        return len(self.statements.place)

    def to(self, device: torch.device) -> TreeBatch:
        """The same on a device."""
        return TreeBatch(
            tuple(level.to(device) for level in self.levels),
            self.statements.to(device),
            self.roots.to(device),
        )


def batch_trees(shapes: Sequence[Shape]) -> TreeBatch:
    """Trees of any shapes as one batch; their outermost nodes are loops."""
    plans = [plan_of(shape) for shape in shapes]
    starts: list[tuple[int, int]] = []
    statements = loops = 0
    for plan in plans:
        starts.append((statements, loops))
        statements += plan.statements
        loops += plan.loops
    levels: list[BatchLevel] = []
    own: list[Sequence[int]] = [()] * loops
    for height in range(max((len(plan.levels) for plan in plans), default=0)):
        numbers: list[int] = []
        children: list[list[int]] = []
        for plan, (statement, loop) in zip(plans, starts, strict=True):
            if height < len(plan.levels):
                level = plan.levels[height]
                numbers += [loop + number for number in level.loops]
                children += [[loop + n for n in inner] for inner in level.children]
                for number, inner in zip(level.loops, level.statements, strict=True):
                    own[loop + number] = [statement + n for n in inner]
        levels.append(BatchLevel(torch.tensor(numbers), sequences(children)))
    roots = [
        [loop + number for number in plan.roots]
        for plan, (_, loop) in zip(plans, starts, strict=True)
    ]
    return TreeBatch(tuple(levels), sequences(own), sequences(roots))


def sequences(rows: Sequence[Sequence[int]]) -> Sequences:
    """Lists of row numbers as sequences."""
    lengths = np.array([len(row) for row in rows], np.int64)
    flat = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
    order: NDArray[np.int64] = np.argsort(-lengths, kind="stable")
    filled = int((lengths > 0).sum())
    place = np.empty(len(rows), np.int64)
    place[order] = np.minimum(np.arange(len(rows)), filled)
    begins = (np.cumsum(lengths) - lengths)[order[:filled]]
    steps = np.arange(int(lengths.max(initial=0)))[:, None]
    is_there = steps < lengths[order[:filled]]
    return Sequences(
        from_array(flat[(begins + steps)[is_there]]),
        from_array(is_there.sum(1)),
        from_array(place),
    )


@dataclass(frozen=True)
class Columns:
    """A matrix without the columns that are zero in all rows; `index` numbers the others.

    A vector has room for far more accesses and loops than most statements have.
    """

    values: Tensor
    index: Tensor

    @classmethod
    def of(cls, matrix: Tensor) -> Columns:
        """The columns that are not zero."""
        index = matrix.any(0).nonzero()[:, 0]
        return cls(matrix.index_select(1, index), index)

    def beside(self, others: Sequence[Tensor], width: int) -> Columns:
        """Followed by the columns of dense matrices; `width` is that of the whole first matrix."""
        if not others:
            return self
        values = torch.cat([self.values, *others], 1)
        added = values.shape[1] - len(self.index)
        end = torch.arange(width, width + added, device=self.index.device)
        return Columns(values, torch.cat([self.index, end]))

    def through(self, network: nn.Sequential) -> Tensor:
        """The output of layers for the whole matrix."""
        first, *rest = network
        assert isinstance(first, nn.Linear)
        found = linear(self.values, first.weight.index_select(1, self.index), first.bias)
        for each in rest:
            found = each(found)
        return found


class SequenceEmbedding(nn.Module):
    """The last hidden state of an LSTM over sequences; a learned vector for empty ones."""

    def __init__(self, inputs: int, size: int, *, bidirectional: bool = False) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, size, batch_first=True, bidirectional=bidirectional)
        initialise(self.lstm)
        self.size = size * (2 if bidirectional else 1)
        self.nothing = nn.Parameter(torch.empty(1, self.size))
        nn.init.xavier_uniform_(self.nothing)

    def forward(self, rows: Tensor, found: Sequences) -> Tensor:
        """`rows` (number, inputs) -> (count, size)."""
        if len(found.batch_sizes) == 0:
            return self.nothing.expand(len(found.place), -1)
        # index_select, whose gradient is one addition; that of indexing sorts.
        elements = rows.index_select(0, found.index)
        if elements.is_cuda or self.lstm.bidirectional:
            _, (hidden, _) = self.lstm(PackedSequence(elements, found.batch_sizes))
            last = hidden.transpose(0, 1).reshape(-1, self.size)
        else:
            last = _last_states(self.lstm, elements, cast(Any, found.batch_sizes).tolist())
        return torch.cat([last, self.nothing]).index_select(0, found.place)


def _last_states(lstm: nn.LSTM, elements: Tensor, sizes: list[int]) -> Tensor:
    """The last hidden state of each sequence, longer ones first.

    As the LSTM computes it, but without the products of states that are zero: most sequences have
    one element.
    """
    weights = dict(lstm.named_parameters())
    recurrent = weights["weight_hh_l0"]
    bias = weights["bias_ih_l0"] + weights["bias_hh_l0"]
    hidden = cell = None
    ended: list[Tensor] = []
    whole = linear(elements, weights["weight_ih_l0"], bias)
    inputs: Sequence[Tensor] = cast(Any, whole).split(sizes)
    for gates, going_on in zip(inputs, [*sizes[1:], 0], strict=True):
        all_gates = gates if hidden is None else gates + linear(hidden, recurrent)
        entry, forget, candidate, output = all_gates.chunk(4, 1)
        added = entry.sigmoid() * candidate.tanh()
        cell = added if cell is None else forget.sigmoid() * cell + added
        hidden, done = (output.sigmoid() * cell.tanh()).tensor_split((going_on,))
        cell = cell[:going_on]
        ended.append(done)
    return torch.cat(ended[::-1])


def initialise(lstm: nn.LSTM) -> None:
    """Glorot weights for each gate, and gates that are open at first.

    As torch initialises an LSTM, one step makes differences between inputs seven times smaller, and
    nothing is left of them after the loops of a program.
    """
    for name, values in lstm.named_parameters():
        for gate, part in zip(
            ("input", "forget", "candidate", "output"), values.chunk(4), strict=True
        ):
            if "bias" in name:
                nn.init.constant_(part, 0.0 if gate == "candidate" else 0.5)
            else:
                nn.init.xavier_uniform_(part, gain=5 / 3 if gate == "candidate" else 1.0)


class LoopEmbedding(nn.Module):
    """The loop embedding unit of Tiramisu 2021, figure 2b: two LSTMs, merged by layers.

    With `features`, those of the loop itself are merged in, too (LOOPer, figure 3b).
    """

    def __init__(self, size: int, hidden: int, dropout: float, features: int = 0) -> None:
        super().__init__()
        self.of_statements = SequenceEmbedding(size, size)
        self.of_loops = SequenceEmbedding(size, size)
        # As a rule, one half is the same for all loops: most have either loops or statements.
        self.merge = layers([2 * size + features, hidden, size], dropout, gain=2**0.5)

    def forward(
        self, statements: Tensor, batch: TreeBatch, features: Tensor | None = None
    ) -> Tensor:
        """Embeddings of statements (number, size) -> embeddings of all loops (number, size)."""
        known = [self.of_statements(statements, batch.statements)]
        if features is not None:
            known.append(features)
        own = torch.cat(known, 1)
        loops = statements.new_zeros(batch.loops, statements.shape[1])
        for level in batch.levels:
            inner = self.of_loops(loops, level.children)
            merged = self.merge(torch.cat([inner, own.index_select(0, level.loops)], 1))
            loops = loops.index_copy(0, level.loops, merged)
        return loops


def layers(sizes: Sequence[int], dropout: float, gain: float = 1.0) -> nn.Sequential:
    """Fully connected layers, each followed by ELU and dropout (Tiramisu 2021, appendix A.1).

    `gain` is that of the first weights.
    """
    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        linear = nn.Linear(inputs, outputs)
        nn.init.xavier_uniform_(linear.weight, gain=gain if not parts else 1.0)
        nn.init.zeros_(linear.bias)
        parts += [linear, nn.ELU(), Dropout(dropout)]
    return nn.Sequential(*parts)


class Dropout(nn.Dropout):
    """Dropout by uniform numbers: on a CPU, torch's own takes 1.6 times as long."""

    def forward(self, input: Tensor) -> Tensor:
        """The input, with a share of it zero while training."""
        if not self.training or input.is_cuda:
            return super().forward(input)
        return input * torch.rand_like(input).ge_(self.p).div_(1 - self.p)


class Regression(nn.Module):
    """Embeddings of programs (count, size) -> speed-ups (count,).

    `output` is `linear`, with negative values flattened (LOOPer's published code), or
    `exponential`: the layers predict the logarithm. At first, all predictions are about 1.
    """

    def __init__(self, sizes: Sequence[int], dropout: float, output: str) -> None:
        super().__init__()
        if output not in OUTPUTS:
            raise LearningError(f"output is {' or '.join(OUTPUTS)}, not '{output}'")
        self.is_exponential = output == "exponential"
        self.hidden = layers(sizes, dropout)
        self.output = nn.Linear(sizes[-1], 1)
        nn.init.xavier_uniform_(self.output.weight, gain=0.01)
        nn.init.constant_(self.output.bias, 0.0 if self.is_exponential else 1.0)

    def forward(self, programs: Tensor) -> Tensor:
        """The speed-ups."""
        found = self.output(self.hidden(programs))[:, 0]
        if self.is_exponential:
            return torch.exp(found.clamp(max=LARGEST))
        return nn.functional.leaky_relu(found, 0.01)


OUTPUTS = ("linear", "exponential")

LARGEST = 10.0
"""No logarithm of a speed-up is more."""
