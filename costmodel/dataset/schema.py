"""Arrow schema of shards.

One row is one measured pair; the unscheduled program has a row with an empty schedule, also where
it cannot be measured, so that nobody tries again. Text columns repeat from row to row: Parquet
stores each different value once.
"""

from __future__ import annotations

from .arrow import Table, pa
from .rows import Row

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


def table_of(rows: list[Row]) -> Table:
    """Rows as a table of the schema."""
    return pa.Table.from_pylist(rows, schema=SCHEMA)
