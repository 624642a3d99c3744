"""Builds a wheel of kernels and tries it alone: `python tools/kernel_wheel_check.py`.

The wheel is installed by pip in a fresh environment with NumPy and nothing else. There, the code of
each level that this processor has computes what the loops as written compute here. Then its calls
and those of kernels that are compiled here, for the same target, are timed in turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from loopwright import Target, load
from loopwright.cli import main as loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.runtime.shipping.levels import DEFAULTS, LEVELS

ROOT = Path(__file__).parents[1]

KERNELS = ("polybench/gemm", "polybench/jacobi-2d", "polybench/mvt", "field/black_scholes")
SIZE, THREADS = "SMALL", "2"
LARGE = ("polybench/gemm", "polybench/mvt")
ROUNDS = 15

CHECK = """
import json, sys
import numpy as np
import shipped
found = {}
for name, file in json.loads(sys.argv[1]).items():
    data = np.load(file)
    arguments = [data[f"a{n}"] for n in range(int(data["count"]))]
    arguments = [a if a.ndim else a.item() for a in arguments]
    getattr(shipped, name)(*arguments)
    for position in data["outputs"]:
        found[f"{name} {position}"] = arguments[position]
np.savez(sys.argv[2], **found)
foreign = [m for m in sys.modules if m.split(".")[0] in ("loopwright", "llvmlite", "xdsl", "islpy")]
print(shipped.library.level, foreign)
"""


def build(place: Path, size: str, kernels: Sequence[str], name: str) -> Path:
    """The wheel of some kernels."""
    command = ["build", *kernels, "--size", size, "--threads", THREADS, "--wheel", name]
    if loopwright([*command, "-o", str(place)]) != 0:
        sys.exit("the wheel is not built")
    (wheel,) = place.glob(f"{name}-*.whl")
    return wheel


def install(wheel: Path, environment: Path) -> Path:
    """The interpreter of a fresh environment with NumPy and the wheel."""
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    constraints = str(ROOT / "constraints.txt")
    command = [python, "-m", "pip", "install", "--quiet", "--constraint", constraints, str(wheel)]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, env=clean, check=True)
    return python


def check(python: Path, place: Path) -> None:
    """Compares the results of each level with those of the loops as written, or exits."""
    inputs: dict[str, str] = {}
    expected: dict[str, tuple[np.ndarray[Any, Any], float, np.ndarray[Any, Any]]] = {}
    for name in KERNELS:
        entry = catalogue()[name]
        sizes = entry.parameter_values(SIZE)
        arguments = entry.arguments(SIZE)[len(entry.parameters) :]
        names = entry.argument_names[len(entry.parameters) :]
        outputs = [names.index(output) for output in entry.outputs]
        file = place / f"{entry.function}.npz"
        numbered = {f"a{number}": value for number, value in enumerate(arguments)}
        np.savez(file, count=len(arguments), outputs=outputs, **numbered)
        inputs[entry.function] = str(file)
        values = entry.arguments(SIZE)
        load(name)[entry.function].compile(None, threads=1)(*values)
        masks = {array.name: array for array in entry.arrays}
        for output, array in entry.output_arrays(values).items():
            mask = masks[output].determined_mask(array.shape, sizes)
            expected[f"{entry.function} {names.index(output)}"] = array, entry.tolerance, mask
    for level in DEFAULTS[Target.host().architecture]:
        results = place / "results.npz"
        environment = {"PATH": os.environ["PATH"], "LOOPWRIGHT_LEVEL": level}
        done = subprocess.run(
            [python, "-c", CHECK, json.dumps(inputs), results],
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            sys.exit(f"{level}: {done.stderr}")
        found = np.load(results)
        for name, (array, tolerance, mask) in expected.items():
            difference = np.abs(found[name] - array)[mask].max(initial=0)
            if not difference <= tolerance * np.abs(array[mask]).max(initial=1e-300):
                sys.exit(f"{level}: {name} differs by {difference}")
        print(f"LOOPWRIGHT_LEVEL={level}: code of {done.stdout.split()[0]}, results are right")
        if not done.stdout.rstrip().endswith("[]"):
            sys.exit(f"the wheel has imported {done.stdout}")


def compare_speed(place: Path) -> None:
    """Times calls of the wheel and of the JIT's code for the same target, in turns."""
    wheel = build(place, "LARGE", LARGE, "speedy")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "speedy")
    sys.path.insert(0, str(place / "speedy"))
    module = import_module("speedy")
    target = Target.named(LEVELS[module.library.level].target)
    for name in LARGE:
        entry = catalogue()[name]
        arguments = entry.arguments("LARGE")
        kernel = load(name)[entry.function].compile(threads=int(THREADS), target=target)
        shipped = getattr(module, entry.function)
        own = arguments[len(entry.parameters) :]
        jit, shipped_times = _in_turns(partial(kernel, *arguments), partial(shipped, *own))
        print(f"{name} (LARGE, {THREADS} threads, {target.name}): JIT {jit}, wheel {shipped_times}")


def _in_turns(first: Callable[[], object], second: Callable[[], object]) -> list[str]:
    """The times of two calls, which take turns in being the first."""
    times: dict[Callable[[], object], list[float]] = {first: [], second: []}
    for number in range(ROUNDS):
        for call in (first, second) if number % 2 else (second, first):
            start = time.perf_counter()
            call()
            times[call].append(time.perf_counter() - start)
    return [_summary(each[1:]) for each in times.values()]


def _summary(seconds: Sequence[float]) -> str:
    quarter, median, last = statistics.quantiles(seconds, n=4)
    return f"{median * 1e3:.2f} ms ({quarter * 1e3:.2f} to {last * 1e3:.2f})"


def main() -> None:
    """All of it, in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wheel = build(place, SIZE, KERNELS, "shipped")
        check(install(wheel, place / "environment"), place)
        compare_speed(place)
    print("the wheel works")


if __name__ == "__main__":
    main()
