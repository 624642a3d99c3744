"""Property tests compile thousands of kernels that nobody wants again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loopwright.lowering.loops import alignment, emit_vector_loops


@pytest.fixture(autouse=True, scope="module")
def no_object_cache() -> Iterator[None]:
    """Thousands of kernels that nobody wants again stay off the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPWRIGHT_CACHE", "off")
        yield


@pytest.fixture(autouse=True, scope="module")
def aligned_vectors() -> Iterator[None]:
    """Loops as short as those of random programs begin with a vector that aligns the others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emit_vector_loops, "LONG", 2)
        patch.setattr(alignment, "SHARE", 0.0)
        yield
