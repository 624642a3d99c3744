"""Reads the JSON layout of LOOPerSet, as far as it carries over into our language.

A file holds one object per program: `program_annotation` (iterators, computations with access
matrices and expressions) and `schedules_list` (one entry per schedule, with `execution_times` in
milliseconds). A program becomes affine text with constant bounds. What the layout does not hold is
chosen: constants are 1.5, leaves of expressions are the accesses in their order. Schedules of
interchange, parallelisation, tiling and unrolling are translated; others are skipped.
Source: Merouani et al., LOOPer, 2024, and the data set published with it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ..labels import Label, LabelledProgram, Subject
from .errors import DatasetError
from .looperset_programs import Untranslatable, translate_program

ORIGIN = "looperset"
MACHINE = json.dumps({"cpu": "Intel Xeon E5-2695 v2", "cores": 24, "source": "LOOPerSet"})
COMPILER = json.dumps({"compiler": "Tiramisu"})
THREADS = 24

INTERCHANGE = 1
"""The first number of the vector of an interchange; the next two are the loops."""


@dataclass(frozen=True)
class Translated:
    """A program with the labels of its schedules, and how many schedules were skipped."""

    labelled: LabelledProgram
    skipped: int


def read_looperset(path: Path) -> Iterator[Translated | Untranslatable]:
    """The programs of a `.json`, `.jsonl` or `.jsonl.gz` file; raises DatasetError, OSError."""
    for item, (name, entry) in enumerate(_entries(path)):
        try:
            yield _translate(item, entry)
        except Untranslatable as error:
            yield error
        except (KeyError, TypeError, ValueError, IndexError) as error:
            yield Untranslatable(f"{name}: unexpected layout ({error!r})")


def _entries(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Names and contents of programs: lines of JSON, or one object of all programs."""
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            if ".jsonl" in path.name:
                for line in file:
                    entry = json.loads(line)
                    yield str(entry.get("program_name", "")), entry
                return
            content = json.load(file)
    except (json.JSONDecodeError, UnicodeDecodeError, gzip.BadGzipFile) as error:
        raise DatasetError(f"{path}: not JSON ({error})") from error
    if "program_annotation" in content:
        yield str(content.get("program_name", "")), content
    else:
        yield from content.items()


def _translate(item: int, entry: Mapping[str, Any]) -> Translated:
    annotation = entry["program_annotation"]
    program = translate_program(annotation)
    subject = Subject(program.text, {}, ORIGIN, item)
    baseline: Label | None = None
    labels: dict[str, Label] = {}
    skipped = 0
    for schedule in entry["schedules_list"]:
        measured: list[float] = schedule.get("execution_times") or []
        times = [float(time) * 1e-3 for time in measured]
        text = _schedule(schedule, program.iterators)
        if text is None or not times:
            skipped += 1
            continue
        reference = baseline.seconds if baseline is not None else median(times)
        label = _label(text, times, reference)
        if text == "" and baseline is None:
            baseline = label
        elif text:
            labels.setdefault(text, label)
    if baseline is None:
        raise Untranslatable("the time of the program without a schedule is missing")
    labelled = LabelledProgram(
        item, subject, {}, baseline, MACHINE, COMPILER, tuple(labels.values())
    )
    return Translated(labelled, skipped)


def _label(text: str, times: Sequence[float], baseline: float) -> Label:
    middle = median(times)
    spread = (max(times) - min(times)) / middle if middle else 0.0
    threads = THREADS if "parallel" in text else 1
    return Label(
        text,
        ORIGIN,
        "measured",
        middle,
        spread,
        min(times),
        len(times),
        threads,
        baseline,
        0.0,
        0.0,
        0.0,
    )


def _schedule(
    schedule: Mapping[str, Any], iterators: Mapping[str, tuple[str, Sequence[str]]]
) -> str | None:
    """The schedule as a pipeline; None where a part of it cannot be said.

    `iterators` has the statement and the loops of each computation.
    """
    if schedule.get("fusions"):
        return None
    steps: list[str] = []
    for computation, (statement, names) in iterators.items():
        own = schedule.get(computation)
        if own is None:
            continue
        order = _interchanged(own.get("transformations_list") or [], list(names))
        if order is None or own.get("shiftings"):
            return None
        prefix = f"{statement}." if len(iterators) > 1 else ""
        if order != list(names):
            steps.append(f"interchange{{loops={','.join(prefix + name for name in order)}}}")
        parallel = own.get("parallelized_dim")
        tiling: Mapping[str, Any] = own.get("tiling") or {}
        tiled: list[str] = list(tiling.get("tiling_dims", []))
        if tiled:
            loops = ",".join(prefix + name for name in tiled)
            sizes = ",".join(str(int(size)) for size in tiling["tiling_factors"])
            steps.append(f"tile{{loops={loops} sizes={sizes}}}")
        if parallel:
            name = f"{parallel}t" if parallel in tiled else parallel
            steps.append(f"parallel{{loops={prefix}{name}}}")
        if own.get("unrolling_factor"):
            steps.append(f"unroll{{loops={prefix}{order[-1]} factor={own['unrolling_factor']}}}")
    return ",".join(steps)


def _interchanged(vectors: Sequence[Sequence[int]], names: list[str]) -> list[str] | None:
    """The order of loops after interchanges; None where there is anything else."""
    for vector in vectors:
        if not any(vector):
            continue
        if vector[0] != INTERCHANGE or any(vector[3:]):
            return None
        first, second = vector[1:3]
        names[first], names[second] = names[second], names[first]
    return names
