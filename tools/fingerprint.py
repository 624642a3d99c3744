"""Hashes of what the compiler prints, to show that a refactoring changes nothing.

    python tools/fingerprint.py > before.txt      # ... move things ...
    python tools/fingerprint.py | diff before.txt -

One line per item: the printed default schedule, the LLVM IR and the C text of every shipped kernel
under {none, default} for an AVX2, an AVX-512 and a NEON target; the feature rows of 500 shipped
pairs of schedule and program; the help text of every command. The last line hashes all others.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import io
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from loopwright.cli import main as command_line
from loopwright.commands import COMMANDS
from loopwright.commands.shipped import with_standard_extents
from loopwright.costmodel.features.extract import rows_of
from loopwright.costmodel.learning.pairs import ProgramPairs, read_pairs
from loopwright.costmodel.original import original_schedule
from loopwright.kernels.catalogue import KernelEntry, catalogue
from loopwright.lowering.c import emit_c
from loopwright.lowering.llvm import Options, translate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.machine.target_files import target_file
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.jit.generated_code import loops_of
from loopwright.runtime.program import Function, load

SIZES = ("LARGE", "MEDIUM", "SMALL")
THREADS = 2
PAIRS = 500
PAIRS_PER_PROGRAM = 5
DATA = Path(__file__).parents[1] / "datasets/random"

CACHES = {1: 48 << 10, 2: 1 << 20, 3: 32 << 20}
TARGETS = tuple(
    Target.of(
        target_file(file),
        name=name,
        processor=name,
        features=frozenset(features),
        caches=CACHES,
        cores=2,
    )
    for file, name, features in (
        ("generic-avx2", "znver3", ("sse2", "avx2", "fma")),
        ("generic-avx512", "znver4", ("sse2", "avx2", "fma", "avx512f")),
        ("generic-neon", "neoverse-n1", ("asimd",)),
    )
)
"""With generic figures, so that those of one processor can be corrected."""

DEFAULT_SCHEDULE = "loopwright.passes.default.default_schedule"


def digest(text: str | bytes) -> str:
    """A short hash of a text."""
    data = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()[:16]


def kernel_lines(name: str) -> list[str]:
    """Hashes of schedules and code of one shipped kernel for all targets."""
    # A busy machine must not change which orders are found in time.
    importlib.import_module(DEFAULT_SCHEDULE).PATIENCE = 60
    entry = catalogue()[name]
    function = load(entry.text)[entry.function]
    size = next((size for size in SIZES if size in entry.sizes), next(iter(entry.sizes)))
    sizes = with_standard_extents(name, function, entry.parameter_values(size))
    return [line for target in TARGETS for line in _target_lines(entry, function, sizes, target)]


def _target_lines(
    entry: KernelEntry, function: Function, sizes: dict[str, int], target: Target
) -> Iterator[str]:
    parameters = {parameter: sizes[parameter] for parameter in entry.parameters}
    chosen = function.choose_schedule(
        "rules", parameters, threads=THREADS, fast_math=True, target=target
    )
    yield f"{digest(str(chosen))} schedule {entry.name} {target.name}"
    for label, schedule in (("none", None), ("default", chosen)):
        yield from _code_lines(
            f"{entry.name} {target.name} {label}", function, schedule, sizes, target
        )


def _code_lines(
    label: str, function: Function, schedule: Schedule | None, sizes: dict[str, int], target: Target
) -> Iterator[str]:
    source = function.source(schedule)
    options = Options(num_threads=THREADS, fast_math=True)
    loops = loops_of(source, schedule, sizes)
    yield f"{digest(str(translate(loops, target=target, options=options)))} llvm {label}"
    plain = loops_of(source, schedule, sizes, vectors=False)
    yield f"{digest(emit_c(plain, callees=True))} c {label}"


def feature_lines(program: ProgramPairs) -> list[str]:
    """Hash of the feature rows of a few schedules of a shipped program."""
    original = original_schedule(program.text, fast_math=program.fast_math, target=TARGETS[1])
    schedules = [
        original.apply_all(parse_pipeline(t)) for t in program.schedules[:PAIRS_PER_PROGRAM]
    ]
    rows = rows_of(schedules, SchedulingContext(program.sizes, THREADS))
    return [f"{digest(b''.join(row.tobytes() for row in rows))} features {program.key[:16]}"]


def help_lines() -> Iterator[str]:
    """Hashes of the help texts."""
    os.environ["COLUMNS"] = "100"
    for command in ("", *COMMANDS):
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
            command_line([*command.split(), "--help"])
        yield f"{digest(output.getvalue())} help {command or 'loopwright'}"


def main() -> None:
    """Prints all lines, and a hash of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--only", default="", metavar="TEXT", help="kernels with TEXT in the name")
    workers, only = (lambda options: (options.workers, options.only))(parser.parse_args())
    lines: list[str] = []
    with ProcessPoolExecutor(workers) as pool:
        names = [name for name in catalogue() if only in name]
        tasks = [pool.map(kernel_lines, names)]
        if not only:
            several = [p for p in read_pairs(DATA, several=True) if len(p.schedules) >= 5]
            step = len(several) * PAIRS_PER_PROGRAM // PAIRS
            tasks.append(pool.map(feature_lines, several[::step][: PAIRS // PAIRS_PER_PROGRAM]))
            lines += help_lines()
        for task in tasks:
            for found in task:
                lines += found
    print("\n".join(lines))
    print(digest("\n".join(lines)), "total")


if __name__ == "__main__":
    main()
