"""The target as LLVM names it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from llvmlite import binding

if TYPE_CHECKING:
    from ...passes.target import Target


@cache
def _host_processor() -> str:
    return binding.get_host_cpu_name()


@cache
def _host_features() -> str:
    return binding.get_host_cpu_features().flatten()


def processor(target: Target) -> str:
    """LLVM's name of the target's processor."""
    return _host_processor() if target.name == "host" else target.name


def features(target: Target) -> str:
    """What the target has beyond or without what its processor's name says, as `+fma,-avx512f`."""
    return _host_features() if target.name == "host" else ""


def function_attributes(target: Target) -> tuple[str, ...]:
    """Attributes of every function: LLVM would by itself prefer narrow vectors on many CPUs."""
    return (
        "nounwind",
        "mustprogress",
        f'"target-cpu"="{processor(target)}"',
        f'"prefer-vector-width"="{target.vector_bits}"',
    )
