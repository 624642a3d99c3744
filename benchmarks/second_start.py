"""Second start: CPU time of a new process for which all code is in the cache.

Usage: python benchmarks/second_start.py [--record NAME]

Medians of nine processes, in milliseconds of CPU: a process that imports NumPy alone, and how much
longer those take that also run a function of a file, a decorated Python function (one thread, MINI
sizes), the command `run`, and the help. The first start, with an empty cache, is beside it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import record

REPETITIONS = 9
COLUMNS = ("process", "first start, ms of CPU", "second start", "beyond NumPy")
NUMPY = "import numpy as np\n"
PROGRAMS = {
    "import numpy": "",
    "a function of a file": """import loopwright
A = np.ones((20, 20)); C = np.ones((20, 20))
gemm = loopwright.load("kernels/polybench/gemm.mlir")["gemm"].compile(threads=1)
gemm(20, 20, 20, 1.5, 1.2, C, A, np.ones((20, 20)))
""",
    "a decorated Python function": """import loopwright
from loopwright import f64
@loopwright.kernel
def smooth(n: int, A: f64["n", "n"], B: f64["n", "n"]):
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
smooth(30, np.ones((30, 30)), np.zeros((30, 30)))
""",
    "run polybench/gemm": """from loopwright.cli import main
main(["run", "polybench/gemm", "--size", "MINI", "--seconds", "0", "--threads", "1"])
""",
}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    record.add_option(parser)
    options = parser.parse_args()
    found: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, program in PROGRAMS.items():
            file = folder / "program.py"
            file.write_text(NUMPY + program)
            command = [sys.executable, str(file)]
            first = _milliseconds(command, folder)
            found[kind] = first, _median(command, folder)
    command = [sys.executable, "-m", "loopwright", "--help"]
    found["loopwright --help"] = 2 * (_median(command, Path()),)
    numpy = found["import numpy"][1]
    rows: list[list[record.Cell]] = [
        [kind, round(first), round(second), round(second - numpy)]
        for kind, (first, second) in found.items()
    ]
    for row in (COLUMNS, *rows):
        print(f"{row[0]!s:<30}" + "".join(f"{cell!s:>24}" for cell in row[1:]))
    text = "CPU time of new processes; at the second start, all that they need is in the cache."
    record.write(options.record, COLUMNS, rows, title="Second start", text=text, page="compile")


def _median(command: list[str], folder: Path) -> float:
    return statistics.median(_milliseconds(command, folder) for _ in range(REPETITIONS))


def _milliseconds(command: list[str], folder: Path) -> float:
    """CPU time of a process."""
    environment = {**os.environ, "LOOPWRIGHT_CACHE": str((folder / "cache").absolute())}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    process.returncode = status
    return 1e3 * (usage.ru_utime + usage.ru_stime)


if __name__ == "__main__":
    main()
