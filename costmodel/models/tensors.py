"""Typed wrappers of torch functions."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..learning.errors import LearningError

_torch = cast(Any, torch)


def from_array(values: NDArray[Any]) -> Tensor:
    """A tensor that shares the array's memory."""
    return _torch.from_numpy(values)


def arrays_of(network: nn.Module) -> dict[str, NDArray[Any]]:
    """The weights of a network by name, in memory of their own."""
    return {name: value.cpu().numpy().copy() for name, value in network.state_dict().items()}


def tensors_of(content: Any) -> Any:
    """What `array_files` has read, with tensors in place of arrays."""
    if isinstance(content, np.ndarray):
        return from_array(cast("NDArray[Any]", content))
    if isinstance(content, dict):
        items = cast("dict[Any, Any]", content).items()
        return {key: tensors_of(value) for key, value in items}
    if isinstance(content, list | tuple):
        values = cast("list[Any] | tuple[Any, ...]", content)
        return type(values)(tensors_of(value) for value in values)
    return content


def arrays_in(content: Any) -> Any:
    """Plain data with arrays in place of tensors, for `array_files`."""
    if isinstance(content, Tensor):
        return content.cpu().numpy()
    if isinstance(content, dict):
        items = cast("dict[Any, Any]", content).items()
        return {key: arrays_in(value) for key, value in items}
    if isinstance(content, list | tuple):
        values = cast("list[Any] | tuple[Any, ...]", content)
        return type(values)(arrays_in(value) for value in values)
    return content


def load_arrays_into(network: nn.Module, arrays: Mapping[str, Any]) -> None:
    """Takes over weights; raises RuntimeError, TypeError for those of another network."""
    network.load_state_dict({name: from_array(values) for name, values in arrays.items()})


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
