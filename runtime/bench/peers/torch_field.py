"""torch, eager: the kernels of the suite `field` that are a few of its operators."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

torch: Any = importlib.import_module("torch")
functional: Any = importlib.import_module("torch.nn.functional")

Values = Mapping[str, Any]
Operator = Callable[[Values], None]


def convolution(dimensions: int, **options: int) -> Operator:
    """A convolution of one image, with a bias where there is one."""
    convolve = getattr(functional, f"conv{dimensions}d")

    def run(v: Values) -> None:
        result = convolve(v["src"].unsqueeze(0), v["weights"], v.get("bias"), **options)
        v["dst"].copy_(result.squeeze(0))

    return run


def _conv2d_deep(v: Values) -> None:
    result = functional.conv2d(v["src"].unsqueeze(0), v["weights"], v["bias"])
    torch.clamp_min(result.squeeze(0), 0.0, out=v["dst"])


def _conv2d_pointwise_nhwc(v: Values) -> None:
    torch.matmul(v["src"], v["weights"], out=v["dst"])


def _conv2d_grouped(v: Values) -> None:
    source = v["src"].flatten(0, 1).unsqueeze(0)
    result = functional.conv2d(source, v["weights"].flatten(0, 1), groups=v["groups"])
    v["dst"].copy_(result.view_as(v["dst"]))


def _conv2d_depthwise(v: Values) -> None:
    weights = v["weights"].unsqueeze(1)
    result = functional.conv2d(v["src"].unsqueeze(0), weights, groups=v["channels"])
    torch.clamp(result.squeeze(0), 0.0, 6.0, out=v["dst"])


def _conv2d_transposed(v: Values) -> None:
    result = functional.conv_transpose2d(v["src"].unsqueeze(0), v["weights"], stride=2)
    v["dst"].copy_(result.squeeze(0))


def _maxpool2_nhwc(v: Values) -> None:
    channels_last = v["src"].permute(2, 0, 1).unsqueeze(0)
    v["dst"].copy_(functional.max_pool2d(channels_last, 2).squeeze(0).permute(1, 2, 0))


def _linear_gelu(v: Values) -> None:
    sums = functional.linear(v["x"], v["weights"], v["bias"])
    v["y"].copy_(functional.gelu(sums, approximate="tanh"))


def _layer_norm(v: Values) -> None:
    v["y"].copy_(functional.layer_norm(v["x"], (v["features"],), v["gamma"], v["beta"]))


def _batch_norm_relu(v: Values) -> None:
    result = functional.batch_norm(v["x"], v["mean"], v["variance"], v["gamma"], v["beta"])
    torch.clamp_min(result, 0.0, out=v["y"])


def _attention_causal(v: Values) -> None:
    query, key, value = (v[name][None, None] for name in ("query", "key", "value"))
    attend = functional.scaled_dot_product_attention
    v["y"].copy_(attend(query, key, value, is_causal=True, scale=0.125)[0, 0])


def _swiglu(v: Values) -> None:
    torch.mul(functional.silu(v["gate"]), v["up"], out=v["y"])


def _linear_u8i8(v: Values) -> None:
    sums = v["x"].to(torch.float64) @ v["weights"].to(torch.float64).T
    scaled = ((sums.to(torch.int32) + v["bias"]) * 5 + 8192) >> 14
    v["y"].copy_(scaled.clamp_(-128, 127))


def _lstm_cell(v: Values) -> None:
    add, forget, new, output = v["sums"].unbind(1)
    cell = v["cell"]
    cell.mul_(forget.sigmoid()).addcmul_(add.sigmoid(), new.tanh())
    torch.mul(output.sigmoid(), cell.tanh(), out=v["y"])


def _adam_step(v: Values) -> None:
    v["mean"].lerp_(v["gradient"], 0.1)
    v["square"].mul_(0.999).addcmul_(v["gradient"], v["gradient"], value=0.001)
    v["weights"].addcdiv_(v["mean"], v["square"].sqrt().add_(1e-8), value=-0.01)


def contraction(subscripts: str) -> Operator:
    """The contraction of all arrays but the last one into that."""

    def run(v: Values) -> None:
        *operands, result = (value for value in v.values() if isinstance(value, torch.Tensor))
        result.copy_(torch.einsum(subscripts, *operands))

    return run


def _matmul_tt(v: Values) -> None:
    v["C"].addmm_(v["A"].T, v["B"].T)


def _integral_transform(v: Values) -> None:
    v["half"].copy_(torch.einsum("pa,pqrs->aqrs", v["orbitals"], v["ints"]))
    v["full"].copy_(torch.einsum("qb,aqrs->abrs", v["orbitals"], v["half"]))


def _pairwise_distances(v: Values) -> None:
    v["distance"].copy_(torch.cdist(v["x"], v["y"]))


def _kmeans_assign(v: Values) -> None:
    distances = torch.cdist(v["x"], v["centre"], compute_mode="donot_use_mm_for_euclid_dist")
    least, label = distances.min(1)
    torch.mul(least, least, out=v["distance"])
    v["label"].copy_(label)


def _integral_image(v: Values) -> None:
    rows = torch.cumsum(v["image"], 1, dtype=torch.int32)
    torch.cumsum(rows, 0, dtype=torch.int32, out=v["sums"])


def _fir(v: Values) -> None:
    v["y"].copy_(functional.conv1d(v["x"][None, None], v["h"][None, None])[0, 0])


def _batched_matmul8(v: Values) -> None:
    torch.bmm(v["A"], v["B"], out=v["C"])


def _transform_points(v: Values) -> None:
    torch.mm(v["x"], v["M"].T, out=v["y"])


def _black_scholes(v: Values) -> None:
    s, k, t = v["spot"], v["strike"], v["time"]
    deviation = 0.3 * t.sqrt()
    d1 = ((s / k).log() + 0.065 * t) / deviation
    discounted = k * torch.exp(-0.02 * t)
    call = s * torch.special.ndtr(d1) - discounted * torch.special.ndtr(d1 - deviation)
    v["call"].copy_(call)
    torch.add(call - s, discounted, out=v["put"])


def _asian_paths(v: Values) -> None:
    logarithms = torch.cumsum(0.0001 + 0.02 * v["normal"], 1)
    v["payoff"].copy_((100.0 * logarithms.exp().mean(1) - 100.0).clamp_min_(0.0))


def _covariance_rows(v: Values) -> None:
    torch.mean(v["returns"], 1, out=v["mean"])
    centred = v["returns"] - v["mean"].unsqueeze(1)
    torch.mm(centred, centred.T, out=v["covariance"])
    v["covariance"].div_(v["days"])


def _logistic_gradient(v: Values) -> None:
    torch.sub((v["x"] @ v["weights"]).sigmoid_(), v["target"], out=v["error"])
    torch.mv(v["x"].T, v["error"], out=v["gradient"])


def permutation(source: str, target: str, *axes: int) -> Operator:
    """A copy with permuted dimensions."""

    def run(v: Values) -> None:
        v[target].copy_(v[source].permute(*axes))

    return run


def _im2col(v: Values) -> None:
    v["dst"].copy_(functional.unfold(v["src"].unsqueeze(0), 3).view_as(v["dst"]))


def _depth_to_space(v: Values) -> None:
    source = v["src"].flatten(0, 2).unsqueeze(0)
    v["dst"].copy_(functional.pixel_shuffle(source, 2).squeeze(0))


def _rotate90_u16(v: Values) -> None:
    # torch has few operators on unsigned integers of 16 bits.
    source, target = v["src"].view(torch.int16), v["dst"].view(torch.int16)
    target.copy_(torch.rot90(source, -1))


def _records_to_fields(v: Values) -> None:
    for place, field in enumerate("xyzw"):
        v[field].copy_(v["record"][:, place])


OPERATORS: Mapping[str, Operator] = {
    "field/conv2d_stride2": convolution(2, stride=2),
    "field/conv2d_deep": _conv2d_deep,
    "field/conv2d_pointwise_nhwc": _conv2d_pointwise_nhwc,
    "field/conv2d_grouped": _conv2d_grouped,
    "field/conv2d_depthwise": _conv2d_depthwise,
    "field/conv2d_dilated": convolution(2, dilation=2),
    "field/conv1d": convolution(1),
    "field/conv3d": convolution(3),
    "field/conv2d_transposed": _conv2d_transposed,
    "field/maxpool2_nhwc": _maxpool2_nhwc,
    "field/linear_gelu": _linear_gelu,
    "field/layer_norm": _layer_norm,
    "field/batch_norm_relu": _batch_norm_relu,
    "field/attention_causal": _attention_causal,
    "field/swiglu": _swiglu,
    "field/linear_u8i8": _linear_u8i8,
    "field/lstm_cell": _lstm_cell,
    "field/adam_step": _adam_step,
    "field/ccsd_aebf_dfce": contraction("aebf,dfce->abcd"),
    "field/batched_matmul_tn": contraction("bki,bkj->bij"),
    "field/matmul_tt": _matmul_tt,
    "field/mode_product": contraction("acd,db->abc"),
    "field/integral_transform": _integral_transform,
    "field/mttkrp": contraction("ijk,jr,kr->ir"),
    "field/triples_gdab_efgc": contraction("gdab,efgc->abcdef"),
    "field/pairwise_distances": _pairwise_distances,
    "field/kmeans_assign": _kmeans_assign,
    "field/integral_image": _integral_image,
    "field/fir": _fir,
    "field/batched_matmul8": _batched_matmul8,
    "field/transform_points": _transform_points,
    "field/black_scholes": _black_scholes,
    "field/asian_paths": _asian_paths,
    "field/covariance_rows": _covariance_rows,
    "field/logistic_gradient": _logistic_gradient,
    "field/nchw_to_nhwc": permutation("src", "dst", 0, 2, 3, 1),
    "field/transpose_u8": permutation("src", "dst", 1, 0),
    "field/split_heads": permutation("src", "dst", 1, 2, 0),
    "field/planes_to_rgb": permutation("planes", "rgb", 1, 2, 0),
    "field/im2col": _im2col,
    "field/depth_to_space": _depth_to_space,
    "field/rotate90_u16": _rotate90_u16,
    "field/records_to_fields": _records_to_fields,
}
"""What runs a kernel, by its name; arguments come by name."""
