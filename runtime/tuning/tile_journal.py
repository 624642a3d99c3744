"""Journal of measured tile sizes, to resume an interrupted tuning: one measurement a line."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ...support.stored_files import DAMAGE, read_stored, warn_unusable
from ..choosing.database import database_path

_INSTEAD = "these sizes are measured again"


@dataclass
class Journal:
    """The seconds that were measured, by tile sizes."""

    path: Path | None
    known: dict[str, float] = field(default_factory=dict[str, float])

    @classmethod
    def open(cls, question: str, keep: bool) -> Journal:
        """The measurements so far of a question; none are kept where there is no database."""
        database = database_path() if keep else None
        if database is None:
            return cls(None)
        digest = hashlib.sha256(question.encode()).hexdigest()[:24]
        path = database.parent / "tiles" / f"{digest}.jsonl"
        lines = read_stored(path, bytes.splitlines, _INSTEAD) or []
        found = [_measurement(line) for line in lines if line.strip()]
        # The last line may be cut off: its process was killed.
        if any(each is None for each in found[:-1]):
            warn_unusable(path, f"in part: {found[:-1].count(None)} lines are damaged", _INSTEAD)
        return cls(path, dict(each for each in found if each is not None))

    def get(self, sizes: Mapping[str, int]) -> float:
        """The seconds that were measured for these sizes; negative where none were."""
        return self.known.get(json.dumps(dict(sizes)), -1.0)

    def put(self, sizes: Mapping[str, int], seconds: float) -> None:
        """Keeps a measurement."""
        self.known[json.dumps(dict(sizes))] = seconds
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                # What a killed process has left behind is ended by the first line break.
                file.write(f"\n{json.dumps({'sizes': dict(sizes), 'seconds': seconds})}\n")
        except OSError as error:
            warnings.warn(
                f"the tuning cannot go on after an interruption: {self.path}: {error.strerror} "
                "(set LOOPWRIGHT_TUNING to another file, or to 'off')",
                RuntimeWarning,
                stacklevel=2,
            )
            self.path = None

    def close(self) -> None:
        """Forgets the measurements: the tuning is done."""
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink()


def _measurement(line: bytes) -> tuple[str, float] | None:
    """Tile sizes as text and their seconds; None for what no journal says."""
    try:
        entry: Any = json.loads(line)
        sizes, seconds = cast("dict[str, object]", dict(entry["sizes"])), entry["seconds"]
    except DAMAGE:
        return None
    is_sound = all(_is_number(size, int) for size in sizes.values()) and _is_number(seconds, float)
    return (json.dumps(sizes), seconds) if is_sound else None


def _is_number(value: object, kind: type[int | float]) -> bool:
    """Whether it is a positive number; infinite seconds are those of what cannot be run."""
    return type(value) is kind and cast(float, value) > 0
