"""Peer: oneDNN as bundled with torch, for matrix products."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ..bench_kernel import BenchKernel
from .libraries import Unsupported
from .torch_library import use_threads as use_threads

torch: Any = importlib.import_module("torch")

GEMM = "gemm/gemm"


def version() -> str:
    """The version of oneDNN, and that of torch."""
    words = torch.__config__.show().split()
    number = words[words.index("MKL-DNN") + 1] if "MKL-DNN" in words else "unknown"
    return f"oneDNN {number} of torch {torch.__version__}"


def prepare(entry: BenchKernel, arguments: list[Any]) -> Callable[[], object]:
    """The product of single-precision matrices, added to C; raises Unsupported.

    What is computed is an array of its own, which then takes the place of C in `arguments`.
    """
    if entry.source != GEMM or not torch.backends.mkldnn.is_available():
        raise Unsupported("oneDNN has no operator for this kernel")
    position = entry.argument_names.index("C")
    values = dict(zip(entry.argument_names, arguments, strict=True))
    c, a, b = (torch.from_numpy(values[name]) for name in "CAB")
    product = torch.ops.mkldnn._linear_pointwise.binary

    def run() -> None:
        with torch.inference_mode():
            arguments[position] = product(a, c, b.T, None, "add").numpy()

    return run
