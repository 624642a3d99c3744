"""Selection of kernels and sizes."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from ...kernels.catalogue import SUITES, KernelEntry, catalogue


class SelectionError(Exception):
    """An unknown kernel, size or peer; `str()` is one line."""


def select_kernels(names: Sequence[str]) -> list[KernelEntry]:
    """Kernels by suite (`polybench`), name (`polybench/gemm`, `atax`) or pattern (`*/jacobi*`).

    In the order of the names, each once. Raises SelectionError.
    """
    entries = catalogue()
    chosen: dict[str, KernelEntry] = {}
    for name in names:
        found = [full for full in entries if _matches(full, name)]
        if not found:
            known = [*SUITES, *entries, *(full.partition("/")[2] for full in entries)]
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(SUITES)}"
            raise SelectionError(f"no kernel or suite '{name}'; {hint}")
        chosen.update((full, entries[full]) for full in found)
    return list(chosen.values())


def _matches(full: str, name: str) -> bool:
    suite, _, kernel = full.partition("/")
    if name in SUITES:
        return suite == name
    return name in (full, kernel) or fnmatchcase(full, name)


def select_cases(
    kernels: Sequence[KernelEntry], sizes: Sequence[str]
) -> list[tuple[KernelEntry, str]]:
    """Every kernel in every size that it has; raises SelectionError for a size that none has."""
    for size in sizes:
        if not any(kernel.find_size(size) for kernel in kernels):
            known = dict.fromkeys(known for kernel in kernels for known in kernel.sizes)
            raise SelectionError(f"no size '{size}'; there are {', '.join(known)}")
    found = ((kernel, kernel.find_size(size)) for kernel in kernels for size in sizes)
    return [(kernel, size) for kernel, size in found if size is not None]
