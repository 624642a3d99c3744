"""Programs from files of any language."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..runtime.calling.api_checks import check_path, check_texts
from ..runtime.program import Program
from ..runtime.program import load as load_text


def load(source: str | Path, *, cflags: Sequence[str] = ()) -> Program:
    """Reads a program from a file, or from its text (any string with a line break or a brace).

    A file `.c` has a function for each region between `#pragma scop` and `#pragma endscop`;
    `cflags` are what a C compiler needs for it, such as `-I include` and `-DN=100`. A file `.py` is
    run, and has a function for each annotated kernel that it defines. Where there is
    no such file, `polybench/gemm` and `kernels/polybench/gemm.mlir` are the shipped kernel. Raises
    SourceError.
    """
    check_path("load", "source", source)
    check_texts("load", "cflags", cflags)
    if is_python(source):
        from .python.python_file import load_python

        return load_python(source)
    if is_c(source):
        from .c.c_file import load_c

        return load_c(source, cflags)
    return load_text(source)


def is_c(source: str | Path) -> bool:
    """Whether a program is a C file."""
    return _has_suffix(source, ".c")


def is_python(source: str | Path) -> bool:
    """Whether a program is a Python file."""
    return _has_suffix(source, ".py")


def _has_suffix(source: str | Path, suffix: str) -> bool:
    text = str(source)
    return text.endswith(suffix) and "\n" not in text and "{" not in text
