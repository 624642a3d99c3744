"""Model cards: description, training data, metrics."""

from __future__ import annotations

import datetime
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .evaluation_report import Metrics, as_plain_data
from .examples import ProgramExamples
from .splits import Split


def describe_data(
    split: Split[ProgramExamples], machine: str, space: str, skipped: Mapping[str, int]
) -> dict[str, Any]:
    """What was learned from, as plain data."""
    everything = [*split.training, *split.validation, *split.test]
    origins: Counter[str] = Counter(program.origin for program in everything)
    return {
        "machine": machine,
        "space": space,
        "origins": dict(origins),
        "programs": len(everything),
        "pairs": _pairs(everything),
        "training": _counts(split.training),
        "validation": _counts(split.validation),
        "test": _counts(split.test),
        "skipped": dict(skipped),
    }


def make_card(
    model: str,
    configuration: Mapping[str, Any],
    data: Mapping[str, Any],
    training: Mapping[str, Any],
    metrics: Mapping[str, Metrics],
    versions: Mapping[str, str],
) -> dict[str, Any]:
    """Everything, as plain data."""
    return {
        "model": model,
        "configuration": dict(configuration),
        "data": dict(data),
        "training": dict(training),
        "metrics": {name: as_plain_data(found) for name, found in metrics.items()},
        "versions": {"python": platform.python_version(), **versions},
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _pairs(programs: Sequence[ProgramExamples]) -> int:
    return sum(len(program.features) for program in programs)


def _counts(programs: Sequence[ProgramExamples]) -> dict[str, int]:
    return {"programs": len(programs), "pairs": _pairs(programs)}
