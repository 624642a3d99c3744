"""Where searches start."""

from __future__ import annotations

from collections.abc import Iterator

from ...default.default_schedule import candidates, orders
from ...default.request import Request
from ...polyhedral.context import ISL_LOCK
from ...schedule import Schedule


def starting_orders(original: Schedule, request: Request) -> Iterator[Schedule]:
    """The program's own order and variants by affine scheduling, without marks."""
    with ISL_LOCK:
        yield from list(dict.fromkeys(orders(original, request)))


def default_candidates(original: Schedule, request: Request) -> Iterator[Schedule]:
    """The complete schedules of which `default` takes the one with the best estimate."""
    with ISL_LOCK:
        yield from list(candidates(original, request))
