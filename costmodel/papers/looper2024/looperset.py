"""Reader of LOOPerSet's JSON, for the subset that translates to our schedules.

A file holds one object per program: `program_annotation` (iterators, computations with access
matrices and expressions) and `schedules_list` (one entry per schedule, with `execution_times` in
milliseconds). A program becomes affine text with constant bounds. What the layout does not hold is
chosen: constants are 1.5, leaves of expressions are the accesses in their order. Schedules of
interchange, parallelisation, tiling and unrolling are translated; others are skipped, and so are
those that do not apply here.
Source: Merouani et al., LOOPer, 2024, and the data set published with it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, cast

from ....dialects.errors import SourceError
from ....passes.schedules.errors import TransformationError
from ....passes.schedules.schedule import Schedule
from ....passes.syntax.pipeline import parse_pipeline
from ...dataset.errors import DatasetError
from ...labels import Label, LabelledProgram, ProgramInstance
from ...original import original_schedule
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
        except SourceError as error:
            yield Untranslatable(f"{name}: {error.message}")
        except (KeyError, TypeError, ValueError, IndexError) as error:
            yield Untranslatable(f"{name}: unexpected layout ({error!r})")


def _entries(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Names and contents of programs: lines of JSON, or one object of all programs."""
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            if ".jsonl" in path.name:
                for line in file:
                    entry = json.loads(line)
                    yield _name(entry), entry
                return
            content = json.load(file)
    except (json.JSONDecodeError, UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise DatasetError(f"{path}: not JSON ({error})") from error
    if not isinstance(content, dict):
        raise DatasetError(f"{path}: expected an object of programs, or one program")
    programs = cast("dict[str, Any]", content)
    if "program_annotation" in programs:
        yield _name(programs), programs
    else:
        yield from programs.items()


def _name(entry: Any) -> str:
    return (
        str(cast("dict[str, Any]", entry).get("program_name", ""))
        if isinstance(entry, dict)
        else ""
    )


def _translate(item: int, entry: Mapping[str, Any]) -> Translated:
    annotation = entry["program_annotation"]
    program = translate_program(annotation)
    instance = ProgramInstance(program.text, {}, ORIGIN, item)
    baseline: Label | None = None
    labels: dict[str, Label] = {}
    original = original_schedule(program.text)
    skipped = 0
    for schedule in entry["schedules_list"]:
        measured: list[float] = schedule.get("execution_times") or []
        times = [float(time) * 1e-3 for time in measured]
        text = _schedule(schedule, program.iterators)
        if text is None or not times or not _applies(original, text):
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
        item, instance, {}, baseline, MACHINE, COMPILER, tuple(labels.values())
    )
    return Translated(labelled, skipped)


def _applies(original: Schedule, text: str) -> bool:
    """Whether our own transformations can do, and allow, what was measured."""
    try:
        original.apply_all(parse_pipeline(text))
    except (TransformationError, SourceError):
        return False
    return True


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


class _Step(NamedTuple):
    """A step of one computation: the text before and after its loop names."""

    loops: tuple[str, ...]
    before: str
    after: str


def _schedule(
    schedule: Mapping[str, Any], iterators: Mapping[str, tuple[str, Sequence[str]]]
) -> str | None:
    """The schedule as a pipeline; None where a part of it cannot be said.

    `iterators` has the statement and the loops of each computation. What computations in the same
    loops say of these is one step.
    """
    if schedule.get("fusions"):
        return None
    steps: dict[str, list[_Step]] = {}
    for computation, (_, names) in iterators.items():
        found = _steps(schedule.get(computation) or {}, list(names))
        if found is None:
            return None
        steps[computation] = found
    texts: list[str] = []
    done: list[tuple[str, _Step]] = []
    for computation, own in steps.items():
        for step in own:
            if any(step == other and computation != whose for whose, other in done):
                continue
            sharing = (
                other
                for other, (_, names) in iterators.items()
                if other != computation and not set(step.loops).isdisjoint(names)
            )
            if any(step not in steps[other] for other in sharing):
                return None
            prefix = f"{iterators[computation][0]}." if len(iterators) > 1 else ""
            loops = ",".join(prefix + name for name in step.loops)
            texts.append(f"{step.before}{loops}{step.after}")
            done.append((computation, step))
    return ",".join(texts)


def _steps(own: Mapping[str, Any], names: list[str]) -> list[_Step] | None:
    """The steps of one computation in loops of these names."""
    order = _interchanged(own.get("transformations_list") or [], [*names])
    if order is None or own.get("shiftings"):
        return None
    steps: list[_Step] = []
    if order != names:
        steps.append(_Step(tuple(order), "interchange{loops=", "}"))
    parallel = own.get("parallelized_dim")
    tiling: Mapping[str, Any] = own.get("tiling") or {}
    tiled: list[str] = list(tiling.get("tiling_dims", []))
    if tiled:
        sizes = ",".join(str(int(size)) for size in tiling["tiling_factors"])
        steps.append(_Step(tuple(tiled), "tile{loops=", f" sizes={sizes}}}"))
    if parallel:
        # The tile loop belongs to the loop that it is made of.
        after = "t}" if parallel in tiled else "}"
        steps.append(_Step((parallel,), "parallel{loops=", after))
    if own.get("unrolling_factor"):
        factor = int(own["unrolling_factor"])
        steps.append(_Step((order[-1],), "unroll{loops=", f" factor={factor}}}"))
    return steps


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
