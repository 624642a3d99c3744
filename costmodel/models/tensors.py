"""Typed wrappers of torch functions."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..learning.errors import LearningError

_torch = cast(Any, torch)


def from_array(values: NDArray[Any]) -> Tensor:
    """A tensor that shares the array's memory."""
    return _torch.from_numpy(values)


def usable_device(name: str) -> torch.device:
    """The device of this name; raises LearningError where nothing can be computed on it."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise LearningError(
            f"the device '{name}' cannot be used here; give cpu, cuda or cuda:NUMBER"
        ) from error
    return device


@contextmanager
def seeded(seed: int) -> Generator[None]:
    """Random numbers that follow from a seed; those of the caller go on as they were."""
    with _torch.random.fork_rng():
        _torch.manual_seed(seed)
        yield


@contextmanager
def one_thread() -> Generator[None]:
    """For small networks, whose threads would take longer to meet than to compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def shuffled(count: int, random: torch.Generator) -> list[int]:
    """The numbers below `count` in another order."""
    return cast(Any, torch.randperm(count, generator=random)).tolist()


def descend(loss: Tensor, optimiser: torch.optim.Optimizer, longest: float) -> None:
    """One step against the gradient, which is not longer than `longest`."""
    optimiser.zero_grad()
    cast(Any, loss).backward()
    weights = [each for group in optimiser.param_groups for each in group["params"]]
    cast(Any, nn.utils.clip_grad_norm_)(weights, longest)
    cast(Any, optimiser).step()
