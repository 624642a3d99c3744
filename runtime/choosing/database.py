"""The tuning database: an SQLite file of tuned schedules.

The environment variable `LOOPWRIGHT_TUNING` is its path, or `off`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from xdsl.dialects import func

from ...passes.machine.target import Target
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.schedules.errors import MalformedTransformation
from ...passes.schedules.schedule import Schedule
from ...passes.syntax.formats import apply_text
from ...support.user_folders import user_path
from ..machine.machine_fingerprint import code_generator, machine_fingerprint

FORMAT = 1

PATIENCE = 30.0
"""Seconds to wait for other processes that write."""

LONGEST = 100_000
"""Characters of a schedule; those of searches have some hundreds."""


class Entry(NamedTuple):
    """A row of the database."""

    program: str
    sizes: str
    target: str
    threads: int
    fast_math: int
    schedule: str
    seconds: float
    speedup: float
    function: str
    compiler: str
    found_at: float


_TABLE = """
CREATE TABLE IF NOT EXISTS schedules (
  program TEXT, sizes TEXT, target TEXT, threads INTEGER, fast_math INTEGER,
  schedule TEXT NOT NULL, seconds REAL NOT NULL, speedup REAL NOT NULL,
  function TEXT NOT NULL, compiler TEXT NOT NULL, found_at REAL NOT NULL,
  PRIMARY KEY (program, sizes, target, threads, fast_math)
) WITHOUT ROWID
"""

_COLUMNS = ", ".join(Entry._fields)

_INSERT = f"INSERT INTO schedules ({_COLUMNS}) VALUES ({', '.join('?' * len(Entry._fields))})"

# What another compiler has found says nothing of what the schedule takes now.
_PUT = f"""
{_INSERT}
ON CONFLICT DO UPDATE SET
  schedule = excluded.schedule, seconds = excluded.seconds, speedup = excluded.speedup,
  function = excluded.function, compiler = excluded.compiler, found_at = excluded.found_at
WHERE excluded.seconds <= schedules.seconds OR excluded.compiler <> schedules.compiler
  OR (schedules.schedule = ? AND schedules.seconds = ?)
"""

_ALL = f"SELECT {_COLUMNS} FROM schedules"

_MERGE = f"""
{_INSERT}
ON CONFLICT DO UPDATE SET
  schedule = excluded.schedule, seconds = excluded.seconds, speedup = excluded.speedup,
  function = excluded.function, compiler = excluded.compiler, found_at = excluded.found_at
WHERE (excluded.compiler = schedules.compiler AND excluded.seconds < schedules.seconds)
  OR (excluded.compiler <> schedules.compiler AND excluded.compiler = ?)
"""

_GET = """
SELECT schedule, seconds, speedup FROM schedules
WHERE program = ? AND sizes = ? AND target = ? AND threads = ? AND fast_math = ?
"""


@dataclass(frozen=True)
class Question:
    """Database key: digest of the program's text, all sizes by name, the machine."""

    program: str
    function: str
    sizes: Mapping[str, int]
    target: str
    threads: int
    fast_math: bool

    @classmethod
    def of(
        cls,
        function: func.FuncOp,
        sizes: Mapping[str, int],
        target: Target,
        *,
        threads: int,
        fast_math: bool,
    ) -> Question:
        """The question for a function, as it is written: names of loops count."""
        machine = machine_fingerprint() if target.is_host else target.processor
        calls = any(isinstance(op, func.CallOp) for op in function.walk())
        whole = function.parent_op() if calls else None
        name = function.sym_name.data
        # A module is the text of each of its functions that call others.
        text = f"{name}\n{whole}" if whole else str(function)
        return cls(
            hashlib.sha256(text.encode()).hexdigest(),
            name,
            dict(sizes),
            machine,
            threads,
            fast_math,
        )

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """The columns that tell questions apart."""
        sizes = json.dumps(dict(sorted(self.sizes.items())), separators=(",", ":"))
        return self.program, sizes, self.target, self.threads, int(self.fast_math)


@dataclass(frozen=True)
class Tuned:
    """A tuned schedule as a pipeline, its time per call, and its speed-up over the program."""

    schedule: str
    seconds: float
    speedup: float

    def apply(self, original: Schedule) -> Schedule:
        """The schedule; raises SourceError, TransformationError if it does not apply any more."""
        with ISL_LOCK:
            found = apply_text(self.schedule, original)
        if found.run_time_sizes:
            sizes = ", ".join(found.run_time_sizes)
            raise MalformedTransformation(f"the schedule leaves tile sizes open: {sizes}")
        return found


class TuningDatabase:
    """The database file, safe to share between processes.

    Nothing here raises for a file that cannot be read or written: it warns, and goes without.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, question: Question) -> Tuned | None:
        """What is known; None where that is nothing."""
        row = self._do(
            lambda connection: connection.execute(_GET, question.key).fetchone(), create=False
        )
        match row:
            case (str(schedule), float(seconds), float(speedup)) if (
                len(schedule) <= LONGEST and 0 < seconds < inf and 0 < speedup < inf
            ):
                return Tuned(schedule, seconds, speedup)
            case _:  # nothing, or nothing that `put` has written
                return None

    def put(self, question: Question, tuned: Tuned, slower: Tuned | None = None) -> bool:
        """Keeps a schedule, unless a faster one of the same compiler is known; whether it did.

        It takes the place of `slower`, too, whatever that took once: side by side, it was slower.
        """
        row = Entry(
            *question.key,
            tuned.schedule,
            tuned.seconds,
            tuned.speedup,
            question.function,
            code_generator(),
            time.time(),
        )
        beaten = (None, None) if slower is None else (slower.schedule, slower.seconds)
        return bool(self._do(lambda connection: connection.execute(_PUT, (*row, *beaten)).rowcount))

    def entries(self) -> list[Entry]:
        """All rows; none where there is no file."""
        rows = self._do(lambda connection: connection.execute(_ALL).fetchall(), create=False)
        return [Entry(*row) for row in rows or ()]

    def merge(self, entries: Sequence[Entry]) -> int:
        """Takes over rows of others where they are better than its own; how many.

        Of two rows of one compiler the faster one is better, else that of this compiler.
        """
        here = code_generator()

        def take(connection: sqlite3.Connection) -> int:
            return sum(connection.execute(_MERGE, (*row, here)).rowcount for row in entries)

        return self._do(take) or 0

    def _do(self, work: Callable[[sqlite3.Connection], Any], *, create: bool = True) -> Any:
        """Does something in a transaction; None, after a warning, where that fails.

        None as well, unless the file is to be created, where there is none.
        """
        connection: sqlite3.Connection | None = None
        try:
            if not create and not self.path.exists():
                return None
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=PATIENCE)
            _use_journal(connection)
            self._prepare(connection)
            with connection:
                return work(connection)
        # sqlite3 raises ValueError where text of a damaged file is no UTF-8.
        except (sqlite3.Error, OSError, ValueError) as error:
            warnings.warn(
                f"loopwright works without tuned schedules: {self.path}: {error} "
                "(set LOOPWRIGHT_TUNING to another file, or to 'off')",
                RuntimeWarning,
                stacklevel=3,
            )
            return None
        finally:
            if connection is not None:
                connection.close()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, FORMAT):
            raise sqlite3.DatabaseError(f"it has format {version}, not {FORMAT}")
        if version == 0:
            with connection:
                connection.execute(_TABLE)
                connection.execute(f"PRAGMA user_version = {FORMAT}")


def _use_journal(connection: sqlite3.Connection) -> None:
    """Lets others read while one writes. SQLite itself does not wait for who does this, too."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # The lowest byte says what it is about.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def database_path() -> Path | None:
    """The file that the environment asks for; None where there is to be none."""
    return user_path("LOOPWRIGHT_TUNING", "XDG_DATA_HOME", ".local/share", "tuning.sqlite")


def default_database() -> TuningDatabase | None:
    """The database that the environment asks for; None where there is to be none."""
    path = database_path()
    return None if path is None else TuningDatabase(path)
