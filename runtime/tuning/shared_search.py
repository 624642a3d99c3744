"""Searches of one program with several seeds, shared with other machines through a folder.

What each has found is a schedule as text, with the speed-up on the machine that it was found on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, cast

from ...passes.search.result import Result
from ...support.json_records import Record
from ...support.shared_work import SharedWork, SharedWorkError, results
from ..choosing.database import LONGEST


@dataclass(frozen=True)
class FoundSchedule(Record):
    """What the search with one seed has found."""

    seed: Annotated[int, "of the search"]
    schedule: Annotated[str, "the schedule; empty: as written"]
    speedup: Annotated[float, "over the program as written, on that machine"]
    seconds: Annotated[float, "what the search took"]
    machine: Annotated[str, "the machine, as JSON"]


def search_in_share(
    work: SharedWork, search: Callable[[int], Result], first_seed: int, machine: str
) -> None:
    """Runs the searches that no other worker runs, until all are done.

    `search` is given a seed. One that is interrupted is left to others, and ends this worker with
    KeyboardInterrupt. Raises OSError, and what the search does.
    """
    with work:
        while True:
            for item in work.items():
                result = search(first_seed + item)
                if result.ended == "interrupted":
                    raise KeyboardInterrupt
                found = FoundSchedule(
                    first_seed + item, str(result.best), result.speedup, result.seconds, machine
                )
                work.record(item, found.to_json())
            if not work.wait():
                return


def found_in_share(folder: Path) -> list[FoundSchedule]:
    """What all workers have found, the fastest first; raises SharedWorkError, OSError."""
    found = [_checked(folder, result) for _, result in results(folder)]
    return sorted(found, key=lambda each: (-each.speedup, each.seed))


def _checked(folder: Path, content: Any) -> FoundSchedule:
    """A result of another worker; the schedule is proved legal where it is applied."""
    fields = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    match fields:
        case {
            "seed": int(seed),
            "schedule": str(schedule),
            "speedup": int() | float() as speedup,
            "seconds": int() | float() as seconds,
            "machine": str(machine),
        } if isfinite(speedup) and speedup > 0 and len(schedule) <= LONGEST:
            return FoundSchedule(seed, schedule, speedup, seconds, machine)
        case _:
            raise SharedWorkError(f"{folder} has results of other work; name another folder")
