"""Storage of labels as they arrive, with a progress display."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Protocol

from ...costmodel.dataset.rows import Row, rows_of
from ...costmodel.labels import TOO_MUCH_MEMORY, LabelledProgram
from ...support.json_records import Document
from ..json_output import emit
from .labelling_progress import LabellingProgress

INTERRUPTED = 130


@dataclass(frozen=True)
class LabellingDocument(Document):
    """Result of `loopwright data generate` and `polybench`, and a part of `calibrate`."""

    document: ClassVar[str] = "data-labelling"

    directory: Annotated[Path, "where the labels are"]
    pairs: Annotated[int, "pairs that were labelled"]
    seconds: Annotated[float, "what that took"]
    incidents: Annotated[Mapping[str, int], "schedules without a label, by the reason"]
    unsettled: Annotated[int, "programs that the same command tries again"]
    stages: Annotated[Mapping[str, float], "seconds of each stage, in all processes"]
    interrupted: Annotated[bool, "whether the same command goes on"]


class RowWriter(Protocol):
    """Stores the rows of programs in a directory, one process at a time."""

    def __enter__(self) -> RowWriter: ...

    def __exit__(self, *_: object) -> None: ...

    def append(self, rows: Iterable[Row]) -> None:
        """Adds all rows of a program."""
        ...


def shard_writer(directory: Path) -> RowWriter:
    """Stores rows in Parquet shards; raises MissingExtra, DatasetError."""
    from ...costmodel.dataset.store import Writer

    return Writer(directory)


def label_and_store(
    labels: Generator[LabelledProgram],
    programs: int | None,
    directory: Path,
    *,
    fast_math: bool = False,
    open_writer: Callable[[Path], RowWriter] = shard_writer,
    tell: Callable[[Document], None] = emit,
) -> int:
    """Stores all labels, those of so many programs, in a directory; the exit code.

    `tell` is given the result as a document.
    """
    progress = LabellingProgress(programs)
    kinds: Counter[str] = Counter()
    stages: Counter[str] = Counter()
    unsettled = 0
    interrupted = False
    with open_writer(directory) as writer, closing(labels), progress:
        try:
            for labelled in labels:
                _store(directory, writer, labelled, kinds, fast_math=fast_math)
                unsettled += not labelled.is_settled
                stages.update(labelled.stages)
                mistakes = sum(incident.is_mistake for incident in labelled.incidents)
                progress.advance(len(labelled.labels), mistakes)
        except KeyboardInterrupt:
            interrupted = True
    tell(
        LabellingDocument(
            directory,
            progress.pairs,
            progress.seconds,
            dict(kinds),
            unsettled,
            dict(stages),
            interrupted,
        )
    )
    print(f"{progress.pairs} pairs in {progress.seconds:.0f} s: {progress.rate:.1f} pairs/s")
    if progress.pairs:
        print(_describe(stages, progress.pairs))
    if TOO_MUCH_MEMORY in kinds:
        count = kinds.pop(TOO_MUCH_MEMORY)
        print(f"{count} schedules failed: they need more memory than --memory gives a process")
    for kind, count in sorted(kinds.items()):
        print(f"{count} x {kind}: see {directory / 'incidents'}")
    if unsettled:
        print(f"{unsettled} programs went wrong: the same command tries them again")
    if interrupted:
        print("interrupted; the same command goes on here", file=sys.stderr)
    return INTERRUPTED if interrupted else 0


def _store(
    directory: Path,
    writer: RowWriter,
    labelled: LabelledProgram,
    kinds: Counter[str],
    *,
    fast_math: bool,
) -> None:
    from ...costmodel.dataset.incidents import store_incident

    if labelled.is_settled:
        writer.append(rows_of(labelled, fast_math=fast_math))
    for incident in labelled.incidents:
        kinds[incident.kind] += 1
        if incident.is_mistake:
            store_incident(directory, incident, fast_math=fast_math)


def _describe(stages: Mapping[str, float], pairs: int) -> str:
    """Where the time went: milliseconds per pair."""
    parts = sorted(stages.items(), key=lambda part: -part[1])
    each = ", ".join(f"{name} {1e3 * seconds / pairs:.1f}" for name, seconds in parts)
    return f"ms per pair, in processes that run side by side: {each}"
