"""The named operations of linalg, as index notation.

`mk,kn->mn` are the subscripts of the inputs and of the output, a letter for each loop. In
parentheses, `(h+x)` is a window: `h * stride + x * dilation`. Loops run in the order of the output;
those that only inputs have are reductions, inside, in the order of the last input.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Definition:
    """A named operation: `body` names what it does with elements."""

    notation: str
    body: str

    @property
    def inputs(self) -> list[str]:
        """The subscripts of each input."""
        return self.notation.partition("->")[0].split(",")

    @property
    def output(self) -> str:
        """The subscripts of the output."""
        return self.notation.partition("->")[2]


_CONTRACTIONS = {
    "matmul": "mk,kn->mn",
    "matmul_transpose_a": "km,kn->mn",
    "matmul_transpose_b": "mk,nk->mn",
    "batch_matmul": "bmk,bkn->bmn",
    "batch_matmul_transpose_a": "bkm,bkn->bmn",
    "batch_matmul_transpose_b": "bmk,bnk->bmn",
    "batch_reduce_matmul": "bmk,bkn->mn",
    "matvec": "mn,n->m",
    "vecmat": "m,mn->n",
    "batch_matvec": "bmk,bk->bm",
    "batch_vecmat": "bk,bkn->bn",
    "dot": "m,m->",
    "mmt4d": "mkps,nkqs->mnpq",
    "batch_mmt4d": "bmkps,bnkqs->bmnpq",
    "conv_1d": "(w+x),x->w",
    "conv_2d": "(h+x)(w+y),xy->hw",
    "conv_3d": "(d+z)(h+x)(w+y),zxy->dhw",
    "conv_1d_nwc_wcf": "n(w+x)c,xcf->nwf",
    "conv_1d_ncw_fcw": "nc(w+x),fcx->nfw",
    "conv_2d_nhwc_hwcf": "n(h+x)(w+y)c,xycf->nhwf",
    "conv_2d_nhwc_fhwc": "n(h+x)(w+y)c,fxyc->nhwf",
    "conv_2d_nchw_fchw": "nc(h+x)(w+y),fcxy->nfhw",
    "conv_2d_ngchw_fgchw": "ngc(h+x)(w+y),fgcxy->ngfhw",
    "conv_2d_ngchw_gfchw": "ngc(h+x)(w+y),gfcxy->ngfhw",
    "conv_2d_nhwgc_gfhwc": "n(h+x)(w+y)gc,gfxyc->nhwgf",
    "conv_3d_ndhwc_dhwcf": "n(d+z)(h+x)(w+y)c,zxycf->ndhwf",
    "conv_3d_ncdhw_fcdhw": "nc(d+z)(h+x)(w+y),fczxy->nfdhw",
    "depthwise_conv_1d_nwc_wc": "n(w+x)c,xc->nwc",
    "depthwise_conv_1d_ncw_cw": "nc(w+x),cx->ncw",
    "depthwise_conv_1d_nwc_wcm": "n(w+x)c,xcm->nwcm",
    "depthwise_conv_2d_nhwc_hwc": "n(h+x)(w+y)c,xyc->nhwc",
    "depthwise_conv_2d_nchw_chw": "nc(h+x)(w+y),cxy->nchw",
    "depthwise_conv_2d_nhwc_hwcm": "n(h+x)(w+y)c,xycm->nhwcm",
    "depthwise_conv_3d_ndhwc_dhwc": "n(d+z)(h+x)(w+y)c,zxyc->ndhwc",
    "depthwise_conv_3d_ncdhw_cdhw": "nc(d+z)(h+x)(w+y),czxy->ncdhw",
    "depthwise_conv_3d_ndhwc_dhwcm": "n(d+z)(h+x)(w+y)c,zxycm->ndhwcm",
}

_POOLINGS = {
    "nhwc": "n(h+x)(w+y)c,xy->nhwc",
    "nchw": "nc(h+x)(w+y),xy->nchw",
    "nwc": "n(w+x)c,x->nwc",
    "ncw": "nc(w+x),x->ncw",
    "ndhwc": "n(d+z)(h+x)(w+y)c,zxy->ndhwc",
}

_POOLED = {
    "sum": "add",
    "max": "max",
    "max_unsigned": "max_unsigned",
    "min": "min",
    "min_unsigned": "min_unsigned",
}

UNARY = (
    "abs",
    "ceil",
    "erf",
    "exp",
    "floor",
    "log",
    "negf",
    "reciprocal",
    "round",
    "rsqrt",
    "sqrt",
    "square",
    "tanh",
)

BINARY = (
    "add",
    "div",
    "div_unsigned",
    "max",
    "max_unsigned",
    "min",
    "min_unsigned",
    "mul",
    "powf",
    "sub",
)

DEFINITIONS = {
    **{name: Definition(notation, "multiply_add") for name, notation in _CONTRACTIONS.items()},
    **{
        f"pooling_{layout}_{name}": Definition(notation, f"pool:{body}")
        for layout, notation in _POOLINGS.items()
        for name, body in _POOLED.items()
    },
    "fill": Definition("->*", "copy"),
    "copy": Definition("*->*", "copy"),
    **{name: Definition("*->*", name) for name in UNARY},
    **{name: Definition("*,*->*", name) for name in BINARY},
    "select": Definition("*,*,*->*", "select"),
}
"""By name; `*` stands for as many letters as the output has dimensions."""
