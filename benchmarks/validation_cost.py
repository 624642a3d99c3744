"""Time of translation validation, for every PolyBench kernel at LARGE.

Usage: python benchmarks/validation_cost.py [KERNEL ...]

Per kernel: as written for all sizes at once, as written and with the default schedule for two
threads at LARGE. CPU time of the validation in milliseconds, the shortest of three, beside that of
generating the loops; dependences are computed before, once per program.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Mapping

from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import catalogue
from loopwright.lowering.generate import generate
from loopwright.lowering.validation.generated import Generated
from loopwright.lowering.validation.validate import Validator
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.schedules.schedule import Schedule, dependences_of

REPETITIONS = 3
COLUMNS = ("all sizes", "as written", "default", "generate")


def main() -> None:
    """Prints one row per kernel, then median and worst."""
    kernels = sys.argv[1:] or [
        name.removeprefix("polybench/") for name in catalogue() if name.startswith("polybench/")
    ]
    rows: list[list[float]] = []
    print(" " * 16 + "".join(f"{column:>12}" for column in COLUMNS))
    for name in kernels:
        entry = catalogue()[f"polybench/{name}"]
        scop = raise_module(parse_module(entry.text))[entry.function]
        sizes = infer_extents(scop, entry.parameter_values("LARGE"))
        original = Schedule.original(scop)
        chosen = default_schedule(scop, sizes, Target.host(), threads=2)
        generating, validating = measure(chosen, sizes)
        row = [measure(original, {})[1], measure(original, sizes)[1], validating, generating]
        rows.append(row)
        print(f"{name:<16}" + "".join(f"{milliseconds:>12.0f}" for milliseconds in row), flush=True)
    for title, of in (("median", statistics.median), ("worst", max)):
        cells = "".join(f"{of(column):>12.0f}" for column in zip(*rows, strict=True))
        print(f"{title:<16}{cells}")


def measure(schedule: Schedule, sizes: Mapping[str, int]) -> tuple[float, float]:
    """Milliseconds to generate the loops without validation, and of validation alone.

    Raises ValidationError; a schedule that is not proved ends the program.
    """
    dependences_of(schedule.program)
    generating: list[float] = []
    validating: list[float] = []
    for _ in range(REPETITIONS):
        found: list[Generated] = []
        start = time.process_time()
        generate(schedule, sizes, inspect=found.append)
        generating.append(time.process_time() - start)
        validator = Validator(schedule)
        start = time.process_time()
        validator(found[0])
        validating.append(time.process_time() - start)
        if validator.verdict is None or not validator.verdict.is_proved:
            sys.exit(f"{schedule.program.name}: {validator.verdict}")
    return 1e3 * min(generating), 1e3 * min(validating)


if __name__ == "__main__":
    main()
