"""Batches: fresh ones have other entries each time, resident ones stay together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from loopwright.costmodel.models.tensors import shuffled
from loopwright.costmodel.models.training_batches import Entries, FreshBatches, ResidentBatches

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Numbers:
    """A pool whose features are numbers."""

    features: Sequence[int]

    def order(self, random: torch.Generator) -> Sequence[int]:
        return shuffled(len(self.features), random)

    def targets(self, chosen: Sequence[int], device: torch.device) -> list[int]:
        return [10 * number for number in chosen]

    def errors(self, predicted: Tensor, targets: list[int]) -> Tensor:
        return predicted - torch.tensor(targets)


def collate(features: Sequence[int], device: torch.device) -> tuple[int, ...]:
    return tuple(features)


ENTRIES = Entries(Numbers(range(10)), collate, 4, CPU)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("kind", [FreshBatches, ResidentBatches])
def test_each_entry_is_in_one_batch_with_its_target(
    kind: type[FreshBatches | ResidentBatches],
) -> None:
    for batches in (kind(ENTRIES, generator(1)), kind(ENTRIES, None)):
        found = list(batches)
        assert sorted(number for batch in found for number in batch.inputs) == list(range(10))
        assert sorted(batch.count for batch in found) == [2, 4, 4]
        for batch in found:
            assert batch.targets == [10 * number for number in batch.inputs]


def test_fresh_batches_are_drawn_anew() -> None:
    batches = FreshBatches(ENTRIES, generator(1))
    first, second = ({frozenset(batch.inputs) for batch in batches} for _ in range(2))
    assert first != second


def test_resident_batches_stay_and_follow_from_the_seed() -> None:
    random = generator(1)
    batches = ResidentBatches(ENTRIES, random)
    epochs = [[batch.inputs for batch in batches] for _ in range(6)]
    assert len({frozenset(epoch) for epoch in epochs}) == 1
    assert len({tuple(epoch) for epoch in epochs}) > 1
    # As after an interruption: the state of the order is that of later, the seed is the same.
    resumed = generator(1)
    resumed.set_state(random.get_state())
    again = [batch.inputs for batch in ResidentBatches(ENTRIES, resumed)]
    assert set(again) == set(epochs[0])
    assert again == [batch.inputs for batch in batches]
