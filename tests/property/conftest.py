"""Hypothesis profiles: quick and repeatable by default, long and different with `-m campaign`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

CHECKS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "quick", max_examples=25, deadline=None, derandomize=True, suppress_health_check=CHECKS
)
settings.load_profile("quick")


@pytest.fixture(autouse=True, scope="module")
def no_object_cache() -> Iterator[None]:
    """Thousands of kernels that nobody wants again stay off the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPWRIGHT_CACHE", "off")
        yield
