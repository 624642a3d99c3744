"""Peer: Halide's image kernels, with the fastest of its autoschedulers."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..bench_kernel import BenchKernel
from .libraries import Unsupported

hl: Any = importlib.import_module("halide")

AUTOSCHEDULERS = ("Mullapudi2016", "Adams2019", "Li2018")
REPETITIONS = 3

_threads = [1]


def version() -> str:
    """Halide's version."""
    return f"halide {importlib.metadata.version('halide')}, best of {', '.join(AUTOSCHEDULERS)}"


def use_threads(count: int) -> None:
    """What the autoschedulers plan for; HL_NUM_THREADS says how many there are."""
    _threads[0] = count


def prepare(entry: BenchKernel, arguments: list[Any]) -> Callable[[], object]:
    """The pipeline, compiled, on the arrays; raises Unsupported."""
    algorithm = ALGORITHMS.get(entry.source)
    if algorithm is None:
        raise Unsupported("Halide is a peer for image kernels only")
    values = dict(zip(entry.argument_names, arguments, strict=True))
    runs = [run for name in AUTOSCHEDULERS if (run := _scheduled(algorithm, values, name))]
    if not runs:
        raise Unsupported("no autoscheduler of Halide could schedule this kernel")
    return min(runs, key=_seconds)


Algorithm = Callable[[Mapping[str, Any]], list[tuple[Any, Any]]]


def _scheduled(
    algorithm: Algorithm, values: Mapping[str, Any], autoscheduler: str
) -> Callable[[], object] | None:
    target = hl.get_jit_target_from_environment()
    outputs = algorithm(values)
    for function, array in outputs:
        function.set_estimates([(0, extent) for extent in reversed(array.shape)])
    pipeline = hl.Pipeline([function for function, _ in outputs])
    buffers = [hl.Buffer(array) for _, array in outputs]
    with contextlib.suppress(hl.HalideError):
        hl.load_plugin(str(_plugin(autoscheduler)))
        options = {"parallelism": str(_threads[0])}
        pipeline.apply_autoscheduler(target, hl.AutoschedulerParams(autoscheduler, options))
        pipeline.compile_jit(target)
        pipeline.realize(buffers)
        return lambda: pipeline.realize(buffers)
    return None


def _plugin(autoscheduler: str) -> Path:
    """The library of an autoscheduler, which lies beside Halide's own."""
    package = Path(hl.__file__).parent
    name = f"libautoschedule_{autoscheduler.lower()}.so"
    found = sorted(package.glob(f"lib*/{name}"))
    return found[0] if found else Path(name)


def _seconds(run: Callable[[], object]) -> float:
    seconds: list[float] = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


# Halide counts dimensions from the innermost one, and so do these functions of x, y, ...


def _mean_of_nine(values: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    image = hl.Buffer(values["img"])
    variables = [hl.Var(name) for name in "xycn"[: image.dimensions()]]
    x, y, *rest = variables
    rows, mean = hl.Func("rows"), hl.Func("mean")
    rows[(x, y, *rest)] = image[(x, y, *rest)] + image[(x, y + 1, *rest)] + image[(x, y + 2, *rest)]
    total = rows[(x, y, *rest)] + rows[(x + 1, y, *rest)] + rows[(x + 2, y, *rest)]
    mean[tuple(variables)] = total / 9.0
    return [(mean, values["output"][..., 1:-1, 1:-1])]


def _convolved(values: Mapping[str, Any]) -> Any:
    source, weights = hl.Buffer(values["src"]), hl.Buffer(values["weights"])
    bias = hl.Buffer(values["bias"])
    x, y, fout, n = (hl.Var(name) for name in ("x", "y", "fout", "n"))
    kernel, fin = values["kernel"], values["features_in"]
    r = hl.RDom([(0, kernel), (0, kernel), (0, fin)])
    result = hl.Func("conv")
    result[x, y, fout, n] = bias[fout]
    result[x, y, fout, n] += source[x + r.x, y + r.y, r.z, n] * weights[r.x, r.y, r.z, fout]
    return result


def _convolution(values: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    return [(_convolved(values), values["dst"])]


def _conv_relu(values: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    conv = _convolved(values)
    x, y, fout, n = (hl.Var(name) for name in ("x", "y", "fout", "n"))
    relu = hl.Func("relu")
    relu[x, y, fout, n] = hl.max(conv[x, y, fout, n], 0.0)
    return [(conv, values["conv"]), (relu, values["relu"])]


def _cvtcolor(values: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    source = hl.Buffer(values["src"])
    x, y = hl.Var("x"), hl.Var("y")
    gray = hl.Func("gray")
    red, green, blue = (hl.f32(weight) for weight in (0.299, 0.587, 0.114))
    gray[x, y] = red * source[x, y, 0] + green * source[x, y, 1] + blue * source[x, y, 2]
    return [(gray, values["dst"])]


ALGORITHMS: Mapping[str, Algorithm] = {
    "tiramisu/box_blur": _mean_of_nine,
    "tiramisu/convolution": _convolution,
    "tiramisu/conv_relu": _conv_relu,
    "tiramisu/cvtcolor": _cvtcolor,
    "interchange/blur": _mean_of_nine,
}
"""Functions with the arrays that they fill, by the kernel's source in the catalogue."""
