"""Property tests compile thousands of kernels that nobody wants again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def no_object_cache() -> Iterator[None]:
    """Thousands of kernels that nobody wants again stay off the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPWRIGHT_CACHE", "off")
        yield
