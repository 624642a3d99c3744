"""Kernels compiled for another architecture, run by QEMU: `python tools/foreign_kernels.py`.

Each kernel gets its default schedule for the target, and is compared with its loops as written on
this machine. Debian has what it takes: qemu-user-static, gcc-aarch64-linux-gnu.

    python tools/foreign_kernels.py                         # PolyBench and field kernels, MINI
    python tools/foreign_kernels.py polybench/gemm --target generic-neon --size SMALL
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from loopwright import Target, load
from loopwright.commands.shipped import with_standard_extents
from loopwright.errors import SourceError
from loopwright.kernels.catalogue import KernelEntry, catalogue
from loopwright.runtime.calling.arguments import ArrayArgument
from loopwright.runtime.library.interface import c_type

SUITES = ("polybench", "field")


def tools(target: Target) -> tuple[str, str] | None:
    """The compiler and the emulator for a target; None where one is not installed."""
    names = (f"{target.architecture}-linux-gnu-gcc", f"qemu-{target.architecture}-static")
    return None if any(shutil.which(name) is None for name in names) else names


def largest_difference(
    entry: KernelEntry, size: str, target: Target, folder: Path, *, threads: int = 1
) -> float:
    """The largest difference of a result, relative to its largest value.

    Raises SourceError where it cannot be compiled, RuntimeError where the program fails.
    """
    function = load(entry.name)[entry.function]
    values = entry.arguments(size)
    sizes = with_standard_extents(entry.name, function, dict(entry.parameter_values(size)))
    library = function.build(folder / "kernel.o", sizes=sizes, threads=threads, target=target)
    arguments = [
        (argument, value)
        for argument, value in zip(function.signature.arguments, values, strict=True)
        if argument.place.name not in sizes
    ]
    (folder / "main.c").write_text(_program(library.functions[0], arguments))
    found = tools(target)
    assert found is not None, "the caller looks for them"
    compiler, emulator = found
    link = [compiler, "-static", "-O1", "main.c", "kernel.o", "-lgomp", "-lm", "-o", "main"]
    subprocess.run(link, cwd=folder, check=True)
    data = b"".join(_bytes(argument, value) for argument, value in arguments)
    done = subprocess.run([emulator, "./main"], cwd=folder, input=data, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode} {done.stderr.decode().strip()}")
    expected = entry.arguments(size)
    function.compile(None, threads=1)(*expected)
    return _difference(entry, size, done.stdout, arguments, expected)


def _bytes(argument: Any, value: Any) -> bytes:
    dtype = value.dtype if isinstance(value, np.ndarray) else argument.element.dtype
    return np.ascontiguousarray(value, dtype).tobytes()


def _program(symbol: str, arguments: Sequence[tuple[Any, Any]]) -> str:
    """A program that reads arguments, calls the function, and writes what it has written."""
    lines: list[str] = []
    passed: list[str] = []
    written: list[str] = []
    for number, (argument, value) in enumerate(arguments):
        kind = c_type(argument.element)
        if isinstance(argument, ArrayArgument):
            count = value.size
            lines.append(
                f"    {kind} *a{number} = aligned_alloc(64, {(value.nbytes // 64 + 1) * 64});"
            )
            read = f"fread(a{number}, {value.itemsize}, {count}, stdin)"
            lines.append(f"    if ({read} != {count}) return 100;")
            passed.append(f"a{number}")
            if argument.writes:
                written.append(f"    fwrite(a{number}, {value.itemsize}, {count}, stdout);")
        else:
            lines.append(f"    {kind} a{number};")
            lines.append(f"    if (fread(&a{number}, sizeof a{number}, 1, stdin) != 1) return 100;")
            passed.append(f"a{number}")
    call = f"    int status = {symbol}({', '.join(passed)});\n    if (status) return status;"
    body = "\n".join([*lines, call, *written])
    head = '#include <stdio.h>\n#include <stdlib.h>\n#include "kernel.h"\n'
    return f"{head}int main(void) {{\n{body}\n    return 0;\n}}\n"


def _difference(
    entry: KernelEntry,
    size: str,
    output: bytes,
    arguments: Sequence[tuple[Any, Any]],
    expected: Sequence[Any],
) -> float:
    by_name = dict(zip(entry.argument_names, expected, strict=True))
    names = {id(value): name for name, value in zip(entry.argument_names, expected, strict=True)}
    first = len(expected) - len(arguments)
    masks = {array.name: array for array in entry.arrays if array.output}
    largest, position = 0.0, 0
    for number, (argument, value) in enumerate(arguments):
        if not isinstance(argument, ArrayArgument) or not argument.writes:
            continue
        actual = np.frombuffer(output, value.dtype, value.size, position).reshape(value.shape)
        position += value.nbytes
        name = names[id(expected[first + number])]
        if name in masks:
            wanted = by_name[name]
            mask = masks[name].determined_mask(wanted.shape, entry.parameter_values(size))
            pair = [np.asarray(array, np.float64)[mask] for array in (actual, wanted)]
            scale = max(float(np.abs(pair[1]).max(initial=0.0)), 1e-300)
            largest = max(largest, float(np.abs(pair[0] - pair[1]).max(initial=0.0)) / scale)
            if not np.array_equal(np.isnan(pair[0]), np.isnan(pair[1])):
                return float("inf")
    return largest


def main() -> int:
    """Runs kernels and says how many are right."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("kernels", nargs="*", help="shipped kernels (default: all of two suites)")
    parser.add_argument("--target", default="neoverse-v1")
    parser.add_argument("--size", default="MINI")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    target = Target.named(options.target)
    if tools(target) is None:
        sys.exit(f"install qemu-user-static and a cross compiler for {target.architecture}")
    names = options.kernels or [
        n for n in catalogue() if n.startswith(tuple(f"{s}/" for s in SUITES))
    ]
    wrong: list[str] = []
    start = time.monotonic()
    for name in names:
        entry = catalogue()[name]
        size = options.size if options.size in entry.sizes else "SMALL"
        with tempfile.TemporaryDirectory() as folder:
            try:
                difference = largest_difference(
                    entry, size, target, Path(folder), threads=options.threads
                )
                is_right = difference <= entry.tolerance
                verdict = f"{'right' if is_right else 'WRONG'}, differs by {difference:.1e}"
            except (SourceError, RuntimeError) as error:
                is_right, verdict = False, f"FAILED: {error}".partition("\n")[0]
        print(f"{name} ({size}): {verdict}", flush=True)
        wrong += [] if is_right else [name]
    print(
        f"{len(names) - len(wrong)} of {len(names)} kernels are right for {target.name} "
        f"({time.monotonic() - start:.0f} s)"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
