"""Programs from files of any language."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..runtime.calling.api_checks import check_path
from ..runtime.program import Program
from ..runtime.program import load as load_text


def load(source: str | Path, *, cflags: Sequence[str] = ()) -> Program:
    """Reads a program from a file, or from its text (any string with a line break or a brace).

    A file `.c` has a function for each region between `#pragma scop` and `#pragma endscop`;
    `cflags` are what a C compiler needs for it, such as `-I include` and `-DN=100`. Where there is
    no such file, `polybench/gemm` and `kernels/polybench/gemm.mlir` are the shipped kernel. Raises
    SourceError.
    """
    check_path("load", "source", source)
    if is_c(source):
        from .c.c_file import load_c

        return load_c(source, cflags)
    return load_text(source)


def is_c(source: str | Path) -> bool:
    """Whether a program is a C file."""
    text = str(source)
    return text.endswith(".c") and "\n" not in text and "{" not in text
