"""Peer: torch operators."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ..bench_kernel import BenchKernel
from . import torch_field
from .libraries import Unsupported

torch: Any = importlib.import_module("torch")


def version() -> str:
    """torch's version and its BLAS."""
    blas = "MKL" if torch.backends.mkl.is_available() else "BLAS"
    return f"torch {torch.__version__} with {blas}"


def use_threads(count: int) -> None:
    """Sets the threads of every operator."""
    torch.set_num_threads(count)


def prepare(entry: BenchKernel, arguments: list[Any]) -> Callable[[], object]:
    """The operator on tensors that share the memory of the arrays; raises Unsupported."""
    operator = OPERATORS.get(entry.source)
    if operator is None:
        raise Unsupported("torch has no operator for this kernel")
    names = entry.argument_names
    values = {
        name: torch.from_numpy(value) if hasattr(value, "dtype") else value
        for name, value in zip(names, arguments, strict=True)
    }

    def run() -> None:
        with torch.inference_mode():
            operator(values)

    return run


Values = Mapping[str, Any]


def _gemm(v: Values) -> None:
    torch.addmm(v["C"], v["A"], v["B"], beta=v["beta"], alpha=v["alpha"], out=v["C"])


def _plain_gemm(v: Values) -> None:
    torch.addmm(v["C"], v["A"], v["B"], out=v["C"])


def _2mm(v: Values) -> None:
    torch.mm(v["A"], v["B"], out=v["tmp"])
    torch.addmm(v["D"], v["tmp"], v["C"], beta=v["beta"], alpha=v["alpha"], out=v["D"])


def _3mm(v: Values) -> None:
    torch.mm(v["A"], v["B"], out=v["E"])
    torch.mm(v["C"], v["D"], out=v["F"])
    torch.mm(v["E"], v["F"], out=v["G"])


def _atax(v: Values) -> None:
    torch.mv(v["A"], v["x"], out=v["tmp"])
    torch.mv(v["A"].T, v["tmp"], out=v["y"])


def _bicg(v: Values) -> None:
    torch.mv(v["A"].T, v["r"], out=v["s"])
    torch.mv(v["A"], v["p"], out=v["q"])


def _mvt(v: Values) -> None:
    v["x1"].addmv_(v["A"], v["y_1"])
    v["x2"].addmv_(v["A"].T, v["y_2"])


def _doitgen(v: Values) -> None:
    v["A"].copy_(torch.matmul(v["A"], v["C4"]))
    v["sum"].copy_(v["A"][-1, -1])


def _convolution(v: Values) -> None:
    v["dst"].copy_(torch.nn.functional.conv2d(v["src"], v["weights"], v["bias"]))


def _conv_relu(v: Values) -> None:
    v["conv"].copy_(torch.nn.functional.conv2d(v["src"], v["weights"], v["bias"]))
    torch.clamp_min(v["conv"], 0.0, out=v["relu"])


def _mean_of_nine(v: Values) -> None:
    image = v["img"].unsqueeze(0) if v["img"].ndim == 3 else v["img"]
    output = v["output"].unsqueeze(0) if v["output"].ndim == 3 else v["output"]
    output[..., 1:-1, 1:-1] = torch.nn.functional.avg_pool2d(image, 3, stride=1)


def _cvtcolor(v: Values) -> None:
    weights = torch.tensor([[[[0.299]], [[0.587]], [[0.114]]]])
    v["dst"].copy_(torch.nn.functional.conv2d(v["src"].unsqueeze(0), weights)[0, 0])


def _correlation(v: Values) -> None:
    data, mean, deviation = v["data"], v["mean"], v["stddev"]
    torch.mean(data, 0, out=mean)
    data.sub_(mean)
    torch.sqrt((data * data).mean(0), out=deviation)
    deviation.masked_fill_(deviation <= 0.1, 1.0)
    data.div_(deviation * v["float_n"] ** 0.5)
    torch.mm(data.T, data, out=v["corr"])
    v["corr"].fill_diagonal_(1.0)


def _covariance(v: Values) -> None:
    data = v["data"]
    torch.mean(data, 0, out=v["mean"])
    data.sub_(v["mean"])
    torch.mm(data.T, data, out=v["cov"])
    v["cov"].div_(v["float_n"] - 1.0)


def _cholesky(v: Values) -> None:
    a = v["A"]
    a.copy_(torch.linalg.cholesky(a) + torch.triu(a, 1))


OPERATORS: Mapping[str, Callable[[Values], None]] = {
    "polybench/gemm": _gemm,
    "polybench/2mm": _2mm,
    "polybench/3mm": _3mm,
    "polybench/atax": _atax,
    "polybench/bicg": _bicg,
    "polybench/mvt": _mvt,
    "polybench/doitgen": _doitgen,
    "polybench/correlation": _correlation,
    "polybench/covariance": _covariance,
    "polybench/cholesky": _cholesky,
    "gemm/gemm": _plain_gemm,
    "tiramisu/mvt": _mvt,
    "tiramisu/doitgen": _doitgen,
    "tiramisu/convolution": _convolution,
    "tiramisu/conv_relu": _conv_relu,
    "tiramisu/box_blur": _mean_of_nine,
    "tiramisu/cvtcolor": _cvtcolor,
    "interchange/blur": _mean_of_nine,
    **torch_field.OPERATORS,
}
"""What runs a kernel, by its source in the catalogue; arguments come by name."""
