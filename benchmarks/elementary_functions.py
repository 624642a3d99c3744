"""Errors of the elementary functions, and time per element.

    python benchmarks/elementary_functions.py                 # every 101st f32
    python benchmarks/elementary_functions.py --stride 1 exp  # all of them: minutes per function

Of f32, every number of a stride is an argument, compared with NumPy's result in f64. Of f64, they
are random bits and random numbers of intervals, compared with NumPy's extended precision (x87), and
with mpmath where NumPy has no such function.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import record
from scipy import special

import loopwright
from loopwright.passes.machine.target import Target

Array = np.ndarray[Any, Any]

COLUMNS = (
    *("function", "type", "arguments", "largest error, ulp", "of", "ns, as written"),
    *("ns, vectors", "ns, C library"),
)
TITLE = "Elementary functions"
TEXT = (
    "The largest error in units in the last place, over so many arguments. Nanoseconds for each "
    "element of an array in the nearest cache, on one thread, with strict floating-point rules: as "
    "written (where LLVM makes the vectors), with explicit vectors, and with the C library."
)

REFERENCES: dict[str, Callable[..., Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": special.erf,
    "erfc": special.erfc,
    "exp": np.exp,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "exp2": np.exp2,
    "expm1": np.expm1,
    "hypot": np.hypot,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "powf": np.power,
    "sin": np.sin,
    "sinh": np.sinh,
    "tan": np.tan,
    "tanh": np.tanh,
}
INTERVALS: dict[str, tuple[tuple[float, float], ...]] = {
    "acos": ((-1.0, 1.0), (0.99, 1.0)),
    "acosh": ((1.0, 1.1), (1.0, 100.0)),
    "asin": ((-1.0, 1.0), (-0.1, 0.1)),
    "asinh": ((-1.0, 1.0), (-100.0, 100.0)),
    "atan": ((-1.0, 1.0), (-10.0, 10.0)),
    "atan2": ((-1.0, 1.0), (0.1, 0.5)),
    "atanh": ((-1.0, 1.0), (-0.1, 0.1)),
    "cbrt": ((0.5, 4.0), (-1e3, 1e3)),
    "cos": ((-10.0, 10.0), (-1e5, 1e5), (-5e8, 5e8)),
    "cosh": ((-2.0, 2.0), (-711.0, 711.0)),
    "erf": ((-1.0, 1.0), (0.0, 6.0)),
    "erfc": ((-1.0, 1.0), (-6.0, 27.3)),
    "exp": ((-1.0, 1.0), (-746.0, 710.0)),
    "exp10": ((-1.0, 1.0), (-324.0, 309.0)),
    "exp2": ((-1.0, 1.0), (-1075.0, 1024.0)),
    "expm1": ((-1.0, 1.0), (-40.0, 710.0)),
    "hypot": ((-1.0, 1.0), (0.0, 1e3)),
    "log": ((0.5, 2.0), (0.0, 1e3)),
    "log10": ((0.5, 2.0), (0.0, 1e3)),
    "log1p": ((-1.0, 1.0), (0.0, 1e3)),
    "log2": ((0.5, 2.0), (0.0, 1e3)),
    "powf": ((0.0, 10.0), (0.7, 1.45), (0.999, 1.001)),
    "sin": ((-10.0, 10.0), (-1e5, 1e5), (-5e8, 5e8)),
    "sinh": ((-2.0, 2.0), (-711.0, 711.0)),
    "tan": ((-10.0, 10.0), (-1e5, 1e5), (-5e8, 5e8)),
    "tanh": ((-1.0, 1.0), (-20.0, 20.0)),
}
"""Where the arguments are, besides all over the format; of powers, the bases."""

SLOW: dict[str, Callable[[Any], Any]] = {"erf": mpmath.erf, "erfc": mpmath.erfc}
"""Functions that NumPy does not have in extended precision."""

BINARY = ("atan2", "hypot", "powf")
EXTERNAL = ("exp10", "hypot")

CHUNK = 1 << 20
TIMED = 4000
TIMED_INTERVALS = {
    **dict.fromkeys(("log", "log2", "log10", "powf"), (0.1, 5.0)),
    "acosh": (1.0, 5.0),
    **dict.fromkeys(("acos", "asin", "atanh"), (-1.0, 1.0)),
}
REPETITIONS = 50
SLOW_SAMPLES = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="functions (all)")
    parser.add_argument("--stride", type=int, default=101, help="of the numbers of f32 (101)")
    parser.add_argument("--samples", type=int, default=1_000_000, help="of f64 each (1000000)")
    record.add_option(parser)
    options = parser.parse_args()
    rows: list[tuple[str | int | float, ...]] = []
    for name in options.names or REFERENCES:
        for kind in ("f32", "f64"):
            count, worst, at = largest_error(name, kind, options.stride, options.samples)
            times = [round(seconds * 1e9, 2) for seconds in per_element(name, kind)]
            rows.append((name, kind, count, round(worst, 3), at, *times))
            print(*rows[-1], flush=True)
    record.write(options.record, COLUMNS, rows, title=TITLE, text=TEXT)


def largest_error(name: str, kind: str, stride: int, samples: int) -> tuple[int, float, str]:
    """How many arguments, the largest error in ulp, and where it is."""
    function = apply(name, kind, None)
    worst, count, where = 0.0, 0, ""
    for arguments in operands(name, kind, stride, samples):
        result = np.zeros_like(arguments[0])
        function(len(result), *arguments, result)
        errors = units(result, exact(name, arguments), arguments)
        position = int(np.argmax(errors))
        if errors[position] > worst:
            worst = float(errors[position])
            where = ", ".join(repr(float(each[position])) for each in arguments)
        count += len(result)
    return count, worst, where


def operands(name: str, kind: str, stride: int, samples: int) -> Iterator[tuple[Array, ...]]:
    """Arguments, in arrays of a bearable size."""
    random = np.random.default_rng(0)
    if kind == "f32" and name not in BINARY:
        for first in range(0, 1 << 32, CHUNK * stride):
            bits = np.arange(first, min(first + CHUNK * stride, 1 << 32), stride)
            yield (bits.astype(np.uint32).view(np.float32),)
        return
    count = SLOW_SAMPLES if name in SLOW else samples
    bits = random.integers(0, 1 << 64, count, dtype=np.uint64)
    dtype = np.dtype(np.float64 if kind == "f64" else np.float32)
    with np.errstate(all="ignore"):
        everywhere = bits.view(np.float64).astype(dtype)
    places = [everywhere, *(random.uniform(*each, count) for each in INTERVALS[name])]
    for place in places:
        base = place.astype(dtype)
        if name != "powf":
            yield (base, random.permutation(base))[: arity(name)]
            continue
        largest = 1074.0 if kind == "f64" else 149.0
        with np.errstate(all="ignore"):
            bound = largest / np.abs(np.log2(np.abs(base)))
            exponent = random.uniform(-1.0, 1.0, count) * np.nan_to_num(bound, nan=1.0, posinf=1e3)
        yield base, exponent.astype(dtype)


def exact(name: str, arguments: tuple[Array, ...]) -> Array:
    """The results with more digits."""
    with np.errstate(all="ignore"):
        if arguments[0].dtype == np.float32:
            return REFERENCES[name](*(each.astype(np.float64) for each in arguments))
        if name not in SLOW:
            return REFERENCES[name](*(each.astype(np.longdouble) for each in arguments))
    with mpmath.workprec(100):
        bounded = (float(np.clip(x, -40.0, 40.0)) for x in arguments[0])
        return np.array([_extended(SLOW[name](x)) for x in bounded])


def _extended(value: Any) -> np.longdouble:
    """A number of mpmath in extended precision."""
    head = float(value)
    return np.longdouble(head) + np.longdouble(float(value - head))


def units(result: Array, wanted: Array, arguments: tuple[Array, ...]) -> Array:
    """The errors in ulp; infinite where a special result is another one."""
    with np.errstate(all="ignore"):
        rounded = wanted.astype(result.dtype)
        places = np.spacing(np.abs(rounded)).astype(wanted.dtype)
        errors = np.abs(result.astype(wanted.dtype) - wanted) / places
    same = (result == rounded) | (np.isnan(result) & np.isnan(rounded))
    finite = np.isfinite(rounded) & np.isfinite(result)
    # The largest finite number and infinity are neighbours.
    limit = np.finfo(result.dtype).max
    near = np.where(np.abs(np.where(finite, result, rounded)) == limit, 1.0, np.inf)
    return np.where(finite, errors, np.where(same, 0.0, near)).astype(np.float64)


def per_element(name: str, kind: str) -> Iterator[float]:
    """Seconds per element as written, with vectors, and with the C library."""
    random = np.random.default_rng(0)
    low, high = TIMED_INTERVALS.get(name, (-3.0, 3.0))
    dtype = np.float32 if kind == "f32" else np.float64
    arguments = [random.uniform(low, high, TIMED).astype(dtype) for _ in range(arity(name))]
    lanes = Target.host().vector_bits // (8 * np.dtype(dtype).itemsize)
    vectors = f"vectorize{{loops=i width={lanes}}}"
    result = np.zeros(TIMED, dtype)
    for schedule, library in ((None, False), (vectors, False), (None, True)):
        function = apply(name, kind, schedule, library=library)
        best = float("inf")
        for _ in range(REPETITIONS):
            start = time.perf_counter()
            function(TIMED, *arguments, result)
            best = min(best, time.perf_counter() - start)
        yield best / TIMED


def arity(name: str) -> int:
    return 2 if name in BINARY else 1


def apply(name: str, kind: str, schedule: str | None, *, library: bool = False) -> Any:
    """`B[i] = f(A[i])`, or `f(A[i], C[i])`, compiled."""
    arrays = "AC"[: arity(name)]
    parameters = ", ".join(f"%{array}: memref<?x{kind}>" for array in (*arrays, "B"))
    loads = "\n".join(
        f"    %{number} = affine.load %{array}[%i] : memref<?x{kind}>"
        for number, array in enumerate(arrays)
    )
    values = ", ".join(f"%{number}" for number in range(len(arrays)))
    operation = f"math.{name} {values} : {kind}"
    if name in EXTERNAL:
        types, suffix = ", ".join([kind] * arity(name)), "f" if kind == "f32" else ""
        operation = f'math.external "{name}{suffix}"({values}) : ({types}) -> {kind}'
    text = f"""
func.func @apply(%n: index, {parameters}) {{
  affine.for %i = 0 to %n {{
{loads}
    %r = {operation}
    affine.store %r, %B[%i] : memref<?x{kind}>
  }}
  return
}}
"""
    host = Target.host()
    target = replace(host, features=host.features - {"fma", "asimd"}) if library else host
    return loopwright.load(text)["apply"].compile(schedule, threads=1, target=target)


if __name__ == "__main__":
    main()
