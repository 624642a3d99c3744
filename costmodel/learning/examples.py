"""Training examples from labelled pairs: schedules replayed, features computed and cached.

What was computed once is kept on disk, found by program, schedules and the features' schema.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import signal
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...dialects.errors import SourceError
from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.schedules.errors import TransformationError
from ...passes.schedules.schedule import Schedule
from ...passes.syntax.pipeline import parse_pipeline
from ...support import records
from ...support.output_files import write_output
from ..original import original_schedule
from .errors import LearningError
from .machines import target_of
from .pairs import ProgramPairs
from .schedule_history import history_of

PROGRAMS_PER_PROCESS = 64
"""After so many programs workers are replaced: isl's memory grows with what it has seen."""


class Unsupported(Exception):
    """A program that a model has no features for; `str()` is one line."""


class Featuriser(Protocol):
    """Computes features of the schedules of one program; can be sent to other processes."""

    @property
    def schema(self) -> str:
        """Name and version of the features; one word. Another text where other ones come out."""
        ...

    def featurise(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> Sequence[Any]:
        """The features of each schedule; raises Unsupported.

        They are stored together, as plain data (`support.records`): what schedules share once.
        """
        ...


@dataclass(frozen=True, eq=False)
class ProgramExamples:
    """Features and labels of the schedules of one program, one entry each (see `ProgramPairs`)."""

    key: str
    text: str
    origin: str
    schedules: tuple[str, ...]
    speedups: NDArray[np.float64]
    censored: NDArray[np.bool_]
    features: tuple[Any, ...]
    machine: str = ""


@dataclass
class Skipped:
    """Counts of skipped programs and schedules, by reason."""

    programs: Counter[str] = field(default_factory=Counter[str])
    schedules: Counter[str] = field(default_factory=Counter[str])


Progress = Callable[[int, int], None]
"""Is told how many programs are done, of how many."""


def load_examples(
    programs: Sequence[ProgramPairs],
    featuriser: Featuriser,
    *,
    cache: Path | None = None,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> tuple[list[ProgramExamples], Skipped]:
    """The examples of all programs, in their order, and what was left out.

    Where the cache cannot be written it warns, and reads what it has. Raises LearningError where a
    process is ended from outside.
    """
    folder = None if cache is None else _opened(cache / featuriser.schema)
    found: dict[int, _Found] = {}
    with closing(_all(programs, featuriser, folder, workers)) as results:
        for position, result in results:
            found[position] = result
            progress(len(found), len(programs))
    skipped = Skipped()
    examples: list[ProgramExamples] = []
    for position, program in enumerate(programs):
        result = found[position]
        skipped.schedules.update(result.skipped)
        if result.reason is not None:
            skipped.programs[result.reason] += 1
        elif result.features:
            examples.append(_examples(program, result.features))
    return examples, skipped


def _opened(folder: Path) -> Path | None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        warnings.warn(
            f"new features are not kept: {folder}: {error.strerror} "
            "(set LOOPWRIGHT_CACHE to another folder, or to 'off')",
            RuntimeWarning,
            stacklevel=3,
        )
        with suppress(OSError):
            return folder if folder.is_dir() else None
        return None


@dataclass(frozen=True)
class _Found:
    """Result for one program: features by position of the schedule, or the reason for none."""

    features: Mapping[int, Any]
    skipped: tuple[str, ...] = ()
    reason: str | None = None


def _all(
    programs: Sequence[ProgramPairs], featuriser: Featuriser, folder: Path | None, workers: int
) -> Generator[tuple[int, _Found]]:
    missing: list[int] = []
    for position, program in enumerate(programs):
        known = None if folder is None else _read(_file(folder, program))
        if known is None:
            missing.append(position)
        else:
            yield position, known
    if workers <= 1 or len(missing) <= 1:
        for position in missing:
            yield position, _compute(programs[position], featuriser, folder)
        return
    # Not forked: isl and torch have threads and locks of their own.
    context = multiprocessing.get_context("spawn")
    # New processes for each part: an executor of Python 3.11 that replaces its own can hang.
    at_once = workers * PROGRAMS_PER_PROCESS
    for start in range(0, len(missing), at_once):
        with ProcessPoolExecutor(workers, context) as executor:
            try:
                with _interrupts_wait():
                    futures = {
                        executor.submit(_compute, programs[position], featuriser, folder): position
                        for position in missing[start : start + at_once]
                    }
                for future in as_completed(futures):
                    yield futures[future], future.result()
            except BrokenProcessPool as error:
                raise LearningError(
                    "a process that computes features was ended, as if there were too little "
                    "memory: fewer --workers take less"
                    + ("" if folder is None else " (what was computed is kept)")
                ) from error
            except BaseException:
                executor.shutdown(wait=False, cancel_futures=True)
                raise


@contextmanager
def _interrupts_wait() -> Generator[None]:
    """Processes that begin inside never see Ctrl-C: who has begun them ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _compute(program: ProgramPairs, featuriser: Featuriser, folder: Path | None) -> _Found:
    found = _featurise(program, featuriser)
    if folder is not None:
        # A disk that is full by now, or features of a plug-in that are no plain data, cost the
        # cache, not the training.
        with suppress(OSError, records.NotPlainError):
            _write(_file(folder, program), found)
    return found


def _featurise(program: ProgramPairs, featuriser: Featuriser) -> _Found:
    try:
        target = target_of(program.machine)
        original = original_schedule(program.text, fast_math=program.fast_math, target=target)
    except SourceError as error:
        return _Found({}, reason=f"cannot be read: {error.message}")
    history = history_of(original.program)
    schedules: dict[int, Schedule] = {}
    skipped: list[str] = []
    for position, text in enumerate(program.schedules):
        try:
            schedules[position] = history.replay(original, parse_pipeline(text))
        except TransformationError as error:
            skipped.append(f"does not apply any more: {type(error).__name__}")
        except SourceError as error:
            skipped.append(f"cannot be read: {error.message}")
    features: dict[int, Any] = {}
    for threads in sorted(set(program.threads)):
        chosen = [position for position in schedules if program.threads[position] == threads]
        context = SchedulingContext(program.sizes, threads)
        try:
            rows = featuriser.featurise(context, [schedules[position] for position in chosen])
        except Unsupported as error:
            return _Found({}, tuple(skipped), str(error))
        features.update(zip(chosen, rows, strict=True))
    return _Found(features, tuple(skipped))


def _examples(program: ProgramPairs, features: Mapping[int, Any]) -> ProgramExamples:
    kept = sorted(features)
    return ProgramExamples(
        program.key,
        program.text,
        program.origin,
        tuple(program.schedules[position] for position in kept),
        program.speedups[kept],
        program.censored[kept],
        tuple(features[position] for position in kept),
        program.machine,
    )


def _file(folder: Path, program: ProgramPairs) -> Path:
    """Where the features of a program are; other schedules or threads are another file."""
    state = hashlib.blake2b(program.key.encode(), digest_size=16)
    conditions = (program.schedules, program.threads, program.fast_math, program.machine)
    state.update(repr(conditions).encode())
    return folder / f"{state.hexdigest()}.features"


def _read(path: Path) -> _Found | None:
    """What was stored; None where there is nothing, nothing whole, or classes that were moved."""
    try:
        found = records.from_bytes(path.read_bytes())
    except (OSError, records.DamagedError):
        return None
    return found if isinstance(found, _Found) else None


def _write(path: Path, found: _Found) -> None:
    write_output(path, records.to_bytes(found))
