"""What searches and compilations change of Python's garbage collection is undone."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from loopwright.support.garbage_collection import (
    collect_garbage_seldom,
    garbage_collected_seldom,
)


@pytest.fixture(autouse=True)
def _as_python_starts() -> Iterator[None]:
    """Nothing is frozen, and thresholds are Python's own: all tests have others."""
    thresholds = gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.freeze()
    gc.set_threshold(*thresholds)


def test_thresholds_come_back() -> None:
    before = gc.get_threshold()
    with garbage_collected_seldom():
        assert gc.get_threshold() > before
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_what_was_frozen_before_stays_frozen() -> None:
    gc.freeze()
    try:
        with garbage_collected_seldom():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_where_it_is_seldom_already_frozen_objects_are_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python goes through all of them for that."""
    collect_garbage_seldom()
    before = gc.get_threshold()
    with monkeypatch.context() as patch:
        patch.setattr(gc, "get_freeze_count", lambda: pytest.fail("counted"))
        with garbage_collected_seldom():
            assert gc.get_threshold() == before
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() > 0


def test_phases_of_threads_overlap() -> None:
    before = gc.get_threshold()
    first, second = garbage_collected_seldom(), garbage_collected_seldom()
    with first:
        second.__enter__()
    assert gc.get_threshold() > before
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
