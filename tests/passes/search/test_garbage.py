"""What searches and compilations change of Python's garbage collection is undone."""

from __future__ import annotations

import gc

from loopwright.support.garbage_collection import garbage_collected_seldom


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


def test_phases_of_threads_overlap() -> None:
    before = gc.get_threshold()
    first, second = garbage_collected_seldom(), garbage_collected_seldom()
    with first:
        second.__enter__()
    assert gc.get_threshold() > before
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
