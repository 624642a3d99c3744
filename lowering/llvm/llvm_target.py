"""LLVM's names of a target: processor and features."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from llvmlite import binding

if TYPE_CHECKING:
    from ...passes.machine.target import Target


@cache
def _host_processor() -> str:
    return binding.get_host_cpu_name()


@cache
def _host_features() -> str:
    return binding.get_host_cpu_features().flatten()


@cache
def lacking_features() -> str:
    """The features that this machine has not, as `-sse4a,-xop`."""
    features = binding.get_host_cpu_features()
    return ",".join(f"-{name}" for name, has in sorted(features.items()) if not has)


def processor(target: Target) -> str:
    """LLVM's name of the target's processor."""
    return _host_processor() if target.is_host else target.processor


def features(target: Target) -> str:
    """What the target has beyond or without what its processor's name says, as `+fma,-avx512f`."""
    if target.is_host:
        return _host_features()
    return lacking_features() if target.is_loaded else ""


def triple(target: Target) -> str:
    """LLVM's name of the target's system, where its architecture is not this machine's."""
    return "" if target.runs_here else f"{target.architecture}-unknown-linux-gnu"


def vectoriser_features(target: Target) -> str:
    """The same for LLVM's own vectorisers: Zen loads and stores one by one faster than together."""
    is_zen = processor(target).startswith("znver")
    slow = "+prefer-no-gather,+prefer-no-scatter" if is_zen else ""
    return ",".join(filter(None, (features(target), slow)))


def function_attributes(target: Target) -> tuple[str, ...]:
    """Attributes of every function: LLVM would by itself prefer narrow vectors on many CPUs."""
    return (
        "nounwind",
        "mustprogress",
        f'"target-cpu"="{processor(target)}"',
        f'"prefer-vector-width"="{target.vector_bits}"',
    )
