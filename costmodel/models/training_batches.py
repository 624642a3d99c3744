"""Batches of a training: collated when they are needed, or once, to be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor

from .tensors import shuffled

Collate = Callable[[Sequence[Any], torch.device], Any]


class Pool(Protocol):
    """Training set: features, and the loss of predictions for a batch of them."""

    @property
    def features(self) -> Sequence[Any]:
        """One entry for each thing to predict."""
        ...

    def order(self, random: torch.Generator) -> Sequence[int]:
        """The entries in a random order."""
        ...

    def targets(self, chosen: Sequence[int], device: torch.device) -> Any:
        """What `errors` compares predictions for the entries `chosen` with."""
        ...

    def errors(self, predicted: Tensor, targets: Any) -> Tensor:
        """The error of each prediction, which training makes small."""
        ...


class Shuffled:
    """Base of pools whose entries have nothing to do with each other."""

    def order(self: Pool, random: torch.Generator) -> Sequence[int]:
        """Shuffled."""
        return shuffled(len(self.features), random)


@dataclass(frozen=True)
class Batch:
    """Inputs of the network and targets of `count` entries, on the device."""

    inputs: Any
    targets: Any
    count: int


@dataclass(frozen=True)
class Entries:
    """A pool, and how a batch is made of some of its entries."""

    pool: Pool
    collate: Collate
    size: int
    device: torch.device

    def order(self, random: torch.Generator | None) -> Sequence[int]:
        return range(len(self.pool.features)) if random is None else self.pool.order(random)

    def batches(self, order: Sequence[int]) -> Iterator[Batch]:
        for start in range(0, len(order), self.size):
            chosen = order[start : start + self.size]
            features = [self.pool.features[number] for number in chosen]
            yield Batch(
                self.collate(features, self.device),
                self.pool.targets(chosen, self.device),
                len(chosen),
            )


@dataclass(frozen=True)
class FreshBatches:
    """Other batches in each iteration, where there is an order to draw."""

    entries: Entries
    random: torch.Generator | None

    def __iter__(self) -> Iterator[Batch]:
        return self.entries.batches(self.entries.order(self.random))


@dataclass(frozen=True)
class ResidentBatches:
    """The same batches in each iteration, in another order; they are collated once.

    Collating takes longer than a GPU computes, and a tenth of a step of a tree network on a CPU:
    batches keep their entries, as in the published code of Tiramisu 2021. Which entries these are
    follows from the seed of the order alone, so that an interrupted training goes on with the same.
    """

    entries: Entries
    random: torch.Generator | None

    @cached_property
    def _kept(self) -> list[Batch]:
        own = None if self.random is None else _of_seed(self.random)
        return list(self.entries.batches(self.entries.order(own)))

    def __iter__(self) -> Iterator[Batch]:
        kept = self._kept
        if self.random is None:
            return iter(kept)
        return (kept[number] for number in shuffled(len(kept), self.random))


def _of_seed(random: torch.Generator) -> torch.Generator:
    return torch.Generator().manual_seed(random.initial_seed())


def batch_kind(
    device: torch.device, keeps_batches: bool
) -> type[ResidentBatches] | type[FreshBatches]:
    """Resident where it is asked for, and on a GPU."""
    return ResidentBatches if keeps_batches or device.type == "cuda" else FreshBatches
