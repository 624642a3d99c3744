"""The journal of labels that `calibrate` keeps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.labels import MACHINE, labelled_program

from loopwright.costmodel.dataset.errors import DatasetError
from loopwright.costmodel.dataset.journal import NAME, Journal, read_journal
from loopwright.costmodel.dataset.rows import Row, rows_of, seeds_of
from loopwright.costmodel.learning.pairs import pairs_of

PROGRAMS: list[list[Row]] = [rows_of(labelled_program(number)) for number in range(3)]


def write(directory: Path) -> bytes:
    """A journal of all programs; what is in the file."""
    with Journal(directory) as journal:
        for rows in PROGRAMS:
            journal.append(rows)
    return (directory / NAME).read_bytes()


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    write(tmp_path)
    assert read_journal(tmp_path) == [row for rows in PROGRAMS for row in rows]
    pairs = pairs_of(read_journal(tmp_path), MACHINE, tmp_path)
    assert len(pairs) == 3 and all(program.schedules for program in pairs)
    known = seeds_of(read_journal(tmp_path), MACHINE, fast_math=False)
    assert known == {("test", number, 0, 0) for number in range(3)}
    assert not seeds_of(read_journal(tmp_path), MACHINE, fast_math=True)


def test_there_need_not_be_a_journal(tmp_path: Path) -> None:
    assert read_journal(tmp_path) == []


def test_a_journal_that_was_cut_anywhere_has_the_programs_before(tmp_path: Path) -> None:
    whole = write(tmp_path)
    ends = [number + 1 for number, byte in enumerate(whole) if byte == ord("\n")][1::2]
    for length in range(0, len(whole), 97):
        (tmp_path / NAME).write_bytes(whole[:length])
        # The line break itself may be missing.
        finished = sum(end - 1 <= length for end in ends)
        expected = [row for rows in PROGRAMS[:finished] for row in rows]
        assert read_journal(tmp_path) == expected
        with Journal(tmp_path) as journal:
            journal.append(PROGRAMS[2])
        assert read_journal(tmp_path)[: len(expected)] == expected
        assert len(read_journal(tmp_path)) == len(expected) + (finished < 3) * len(PROGRAMS[2])


def test_changed_lines_do_not_count(tmp_path: Path) -> None:
    content = bytearray(write(tmp_path))
    content[len(content) // 2] ^= 1
    (tmp_path / NAME).write_bytes(content)
    assert read_journal(tmp_path) == [*PROGRAMS[0], *PROGRAMS[2]]


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; "
    script += "from loopwright.costmodel.dataset.journal import Journal; Journal(Path(sys.argv[1]))"
    with Journal(tmp_path):
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert f"{DatasetError.__name__}: another process adds to {tmp_path}" in done.stderr
