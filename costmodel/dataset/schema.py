"""Arrow schema of shards, and conversion of labels to rows and back.

One row is one measured pair; the unscheduled program has a row with an empty schedule, also where
it cannot be measured, so that nobody tries again. Text columns repeat from row to row: Parquet
stores each different value once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from ..labels import LabelledProgram, ProgramInstance
from .arrow import Row, Table, pa

SCHEMA_VERSION = 1

_TEXT = pa.dictionary(pa.int32(), pa.string())

SCHEMA = pa.schema(
    [
        pa.field("key", pa.binary(16), metadata={"doc": "program, schedule, threads, machine"}),
        pa.field("program_key", pa.binary(16), metadata={"doc": "text and sizes"}),
        pa.field("program", _TEXT, metadata={"doc": "MLIR text of one function"}),
        pa.field("sizes", _TEXT, metadata={"doc": "JSON: every size by name"}),
        pa.field("schedule", pa.string(), metadata={"doc": "pipeline of passes; empty: none"}),
        pa.field("status", _TEXT, metadata={"doc": "measured, censored or failed"}),
        pa.field("seconds", pa.float32(), metadata={"doc": "lower decile, a bound if censored"}),
        pa.field("spread", pa.float32(), metadata={"doc": "interquartile range / median"}),
        pa.field("fastest", pa.float32(), metadata={"doc": "seconds of the shortest run"}),
        pa.field("repetitions", pa.int16(), metadata={"doc": "measured runs"}),
        pa.field("threads", pa.int16(), metadata={"doc": "threads of parallel loops, 1 if none"}),
        pa.field("baseline_seconds", pa.float32(), metadata={"doc": "the program's own, then"}),
        pa.field("difference", pa.float32(), metadata={"doc": "of results, relative to largest"}),
        pa.field("compile_seconds", pa.float32(), metadata={"doc": "schedule to object code"}),
        pa.field("measured_at", pa.float64(), metadata={"doc": "seconds since 1970"}),
        pa.field("schedule_origin", _TEXT, metadata={"doc": "stages of the sampler"}),
        pa.field("origin", _TEXT, metadata={"doc": "where the program is from"}),
        pa.field("seed", pa.int64(), metadata={"doc": "of the program"}),
        pa.field("generator_version", pa.int16()),
        pa.field("sampler_version", pa.int16()),
        pa.field("fast_math", pa.bool_()),
        pa.field("machine", _TEXT, metadata={"doc": "JSON: the machine's fingerprint"}),
        pa.field("compiler", _TEXT, metadata={"doc": "versions of the code generator"}),
    ],
    metadata={"loopwright_schema": str(SCHEMA_VERSION)},
)

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
        return [{**dict.fromkeys(SCHEMA.names), **common, **_unmeasured(key)}]
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


def table_of(rows: list[Row]) -> Table:
    """Rows as a table of the schema."""
    return pa.Table.from_pylist(rows, schema=SCHEMA)
