"""PolyBench/C 4.2.1 as published, built with `loopwright cc` in place of the C compiler.

    python benchmarks/polybench_c.py FOLDER                          # 30 builds, dumps compared
    python benchmarks/polybench_c.py FOLDER --times LARGE --record polybench-c

FOLDER is the unpacked archive. Each program is built by its own build command, once with clang and
once with `loopwright cc` around the same clang; the dumps of its arrays, and the times that it
measures of itself, are compared. The exit code is 1 when a build fails or dumps differ.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

import record

ARCHIVE = "https://sourceforge.net/projects/polybench/files/polybench-c-4.2.1-beta.tar.gz"
SIZES = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")
COLUMNS = ("program", "dump", "replaced", "clang, s", "loopwright cc, s", "times as fast")
TITLE = "PolyBench/C 4.2.1 as published, built with `loopwright cc`"
TEXT = (
    "The programs as they are published, built by their own build command with "
    "`CC='loopwright cc'`, against clang: both with `-O3 -march=native`, and loop bounds that are "
    "parameters; what a program measures of itself on one thread, the shortest of several runs. "
    "Dumps are those of all results, compared number by number."
)
CLANGS = ("clang-22", "clang")
FLAGS = ("-O3", "-march=native")

ULPS, LAST_DIGIT = 1e-9, 0.011
"""How much numbers of dumps may differ: relatively, and by one in the last digit printed."""


@dataclass(frozen=True)
class Suite:
    """The unpacked archive, and what builds its programs."""

    root: Path
    clang: str
    threads: int

    def programs(self) -> list[Path]:
        """The programs, in the order of the suite's own list."""
        listed = (self.root / "utilities" / "benchmark_list").read_text().split()
        return [self.root / each for each in listed]

    def build(self, program: Path, output: Path, *, ours: bool, flags: Sequence[str]) -> str:
        """Builds a program; what `loopwright cc` says of it. Raises CalledProcessError."""
        cc = [sys.executable, "-m", "loopwright", "cc"] if ours else [self.clang]
        utilities = self.root / "utilities"
        openmp = ["-fopenmp"] if self.threads > 1 else []
        command = [*cc, *FLAGS, *openmp, *flags, "-I", str(utilities), "-I", str(program.parent)]
        command += [str(utilities / "polybench.c"), str(program), "-o", str(output), "-lm"]
        settings = {"LOOPWRIGHT_CC": self.clang, "LOOPWRIGHT_CC_REPORT": "1"}
        done = subprocess.run(
            command, env={**os.environ, **settings}, capture_output=True, text=True, check=True
        )
        return done.stderr

    def run(self, binary: Path) -> tuple[str, str]:
        """Standard output and standard error of a run."""
        settings = {"OMP_NUM_THREADS": str(self.threads)}
        done = subprocess.run(
            [binary], env={**os.environ, **settings}, capture_output=True, text=True, check=True
        )
        return done.stdout, done.stderr


def main() -> int:
    """Builds, compares and measures; prints a line for each program."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--dumps", choices=SIZES, default="MEDIUM", help="size of the dumps")
    parser.add_argument("--times", choices=SIZES, help="size that is measured")
    parser.add_argument("--runs", type=int, default=3, help="of each binary")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="programs whose names have this in them")
    record.add_option(parser)
    options = parser.parse_args()
    if not (options.folder / "utilities" / "benchmark_list").exists():
        parser.error(f"{options.folder} is not PolyBench/C: unpack {ARCHIVE} and name its folder")
    clang = next(filter(shutil.which, CLANGS), None)
    if clang is None:
        parser.error(f"there is no clang: install {' or '.join(CLANGS)}")
    suite = Suite(options.folder.resolve(), clang, options.threads)
    rows: list[list[record.Cell]] = []
    for program in suite.programs():
        if options.only in program.stem:
            rows.append(list(_row(suite, program, options.dumps, options.times, options.runs)))
            print(*rows[-1], sep="\t", flush=True)
    gains = [float(row[5]) for row in rows if row[5]]
    if gains:
        mean = f"{geometric_mean(gains):.2f}"
        rows.append([f"geometric mean of {len(gains)}", "", "", "", "", mean])
        print(*rows[-1], sep="\t")
    record.write(
        options.record, COLUMNS, rows, title=TITLE, text=TEXT, command=_command(sys.argv[2:])
    )
    return 0 if all(row[1] in ("equal", "") for row in rows) else 1


def _row(
    suite: Suite, program: Path, dumps: str, times: str | None, runs: int
) -> Iterator[record.Cell]:
    yield program.stem
    with tempfile.TemporaryDirectory() as name:
        binaries = [Path(name) / "clang", Path(name) / "ours"]
        flags = [f"-D{dumps}_DATASET", "-DPOLYBENCH_DUMP_ARRAYS"]
        try:
            for binary in binaries:
                suite.build(program, binary, ours=binary.name == "ours", flags=flags)
            yield _difference(*(suite.run(binary)[1] for binary in binaries))
            flags = [f"-D{times or dumps}_DATASET", "-DPOLYBENCH_TIME"]
            for binary in binaries:
                said = suite.build(program, binary, ours=binary.name == "ours", flags=flags)
            yield _replaced(said, program.name)
        except subprocess.CalledProcessError as error:
            lines = (error.stderr or f"exit code {error.returncode}").strip().splitlines()
            first = next((line for line in lines if "error" in line), lines[0])
            yield from (first, "", "", "", "")
            return
        if times is None:
            yield from ("", "", "")
            return
        found: list[list[float]] = [[], []]
        for _ in range(runs):
            for binary, seconds in zip(binaries, found, strict=True):
                seconds.append(float(suite.run(binary)[0]))
        theirs, ours = map(min, found)
        yield from (f"{theirs:.4f}", f"{ours:.4f}", f"{theirs / ours:.2f}")


def _replaced(said: str, source: str) -> str:
    """How many functions of a file are replaced; else why none is."""
    lines = [line for line in said.splitlines() if f"{source}:" in line]
    names = [line for line in lines if ": replaced: " in line]
    return str(len(names)) if names else next(iter(lines), "0")


def _difference(expected: str, found: str) -> str:
    """`equal`, or the first number that differs."""
    one, other = expected.split(), found.split()
    if not one:
        return "no dump"
    if len(one) != len(other):
        return f"{len(other)} words, not {len(one)}"
    for theirs, ours in zip(one, other, strict=True):
        if theirs != ours and not _close(theirs, ours):
            return f"{ours}, not {theirs}"
    return "equal"


def _close(theirs: str, ours: str) -> bool:
    try:
        expected, found = float(theirs), float(ours)
    except ValueError:
        return False
    return abs(expected - found) <= max(LAST_DIGIT, ULPS * abs(expected))


def _command(words: Sequence[str]) -> str:
    kept = list(words)
    if "--record" in kept:
        place = kept.index("--record")
        kept[place : place + 2] = []
    return " ".join(["python benchmarks/polybench_c.py FOLDER", *kept])


if __name__ == "__main__":
    sys.exit(main())
