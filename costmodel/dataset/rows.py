"""Labels as rows, one for each measured pair, and back.

The unscheduled program has a row with an empty schedule, also where it cannot be measured, so that
nobody tries again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..labels import LabelledProgram, ProgramInstance

Row = dict[str, Any]

_MEASURED = (
    "seconds",
    "spread",
    "fastest",
    "repetitions",
    "baseline_seconds",
    "difference",
    "compile_seconds",
    "measured_at",
)
"""What is not known of a program that could not be measured."""

FAILED = "failed"
"""The status of a program that could not be measured; it has no other rows."""


def digest(*parts: str) -> bytes:
    """16 bytes that stand for some texts."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode()
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.digest()


def sizes_text(sizes: Mapping[str, int]) -> str:
    """Sizes as they are stored: JSON, sorted by name."""
    return json.dumps(dict(sorted(sizes.items())), separators=(",", ":"))


def program_key(text: str, sizes: Mapping[str, int]) -> bytes:
    """What identifies a program."""
    return digest(text, sizes_text(sizes))


def pair_key(
    program: bytes, schedule: str, threads: int, machine: str, *, fast_math: bool = False
) -> bytes:
    """What identifies a label; machines are told apart by their fingerprint."""
    mode = ("fast-math",) if fast_math else ()
    return digest(program.hex(), schedule, str(threads), machine, *mode)


def rows_of(labelled: LabelledProgram, *, fast_math: bool = False) -> list[Row]:
    """The rows of a program: its own, then those of its schedules."""
    instance, machine = labelled.instance, labelled.machine
    identity = program_key(instance.text, labelled.sizes)
    common: Row = {
        "program_key": identity,
        "program": instance.text,
        "sizes": sizes_text(labelled.sizes),
        "origin": instance.origin,
        "seed": instance.seed,
        "generator_version": instance.generator_version,
        "sampler_version": instance.sampler_version,
        "fast_math": fast_math,
        "machine": machine,
        "compiler": labelled.compiler,
    }
    if labelled.baseline is None:
        key = pair_key(identity, "", 1, machine, fast_math=fast_math)
        return [{**dict.fromkeys(_MEASURED), **common, **_unmeasured(key)}]
    rows: list[Row] = []
    for label in (labelled.baseline, *labelled.labels):
        threads = label.threads
        rows.append(
            {
                **common,
                "key": pair_key(identity, label.schedule, threads, machine, fast_math=fast_math),
                "schedule": label.schedule,
                "status": label.status,
                "seconds": label.seconds,
                "spread": label.spread,
                "fastest": label.fastest,
                "repetitions": label.repetitions,
                "threads": threads,
                "baseline_seconds": label.baseline_seconds,
                "difference": label.difference,
                "compile_seconds": label.compile_seconds,
                "measured_at": label.measured_at,
                "schedule_origin": label.origin,
            }
        )
    return rows


def _unmeasured(key: bytes) -> Row:
    return {"key": key, "schedule": "", "status": FAILED, "threads": 1, "schedule_origin": ""}


def program_instance_of(row: Row) -> ProgramInstance:
    """The program of a row."""
    return ProgramInstance(
        row["program"],
        json.loads(row["sizes"]),
        row["origin"],
        row["seed"],
        row["generator_version"],
        row["sampler_version"],
    )


def seeds_of(
    rows: Iterable[Row], machine: str | None, *, fast_math: bool
) -> set[tuple[str, int, int, int]]:
    """Origin, seed and versions of the programs that are labelled on a machine, None: on any."""
    return {
        (row["origin"], row["seed"], row["generator_version"], row["sampler_version"])
        for row in rows
        if machine in (None, row["machine"])
        and row["fast_math"] == fast_math
        and row["schedule"] == ""
    }
