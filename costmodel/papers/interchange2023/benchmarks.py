"""The paper's 28 benchmarks: seven kernels in four sizes each.

Source: Mezdoor et al., "A deep learning model for loop interchange", CC 2023, section 6.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ....kernels.catalogue import catalogue
from ...labels import Subject

SUITE = "interchange"
ORIGIN = "interchange-benchmark"


@cache
def benchmarks() -> Mapping[str, Subject]:
    """The programs by name and size, such as `matmul-SMALL`."""
    return {
        f"{name.partition('/')[2]}-{size}": Subject(entry.text, dict(sizes), ORIGIN)
        for name, entry in catalogue().items()
        if name.startswith(f"{SUITE}/")
        for size, sizes in entry.sizes.items()
    }
