"""Workloads for tests of labelling; other processes must be able to import them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping

from loopwright.costmodel.labels import ProgramInstance
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline


class FixedWorkload:
    """Texts of schedules for one program."""

    def __init__(self, instance: ProgramInstance, *schedules: str) -> None:
        self._instance = instance
        self._schedules = schedules

    def instance(self, item: int) -> ProgramInstance:
        return self._instance

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        for text in self._schedules:
            yield original.apply_all(parse_pipeline(text)), "fixed"


class BrokenWorkload(FixedWorkload):
    """A search that does not come back, or ends its process."""

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        yield from super().schedules(item, original, sizes)
        if item == 0:
            time.sleep(60)
        if item == 1:
            os._exit(3)


class HungryWorkload(FixedWorkload):
    """A search that needs more memory than there is."""

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        yield from super().schedules(item, original, sizes)
        bytearray(1 << 60)


class UnpicklableWorkload(FixedWorkload):
    """One that other processes cannot receive."""

    def __setstate__(self, state: object) -> None:
        raise ValueError("this workload cannot be unpickled")
