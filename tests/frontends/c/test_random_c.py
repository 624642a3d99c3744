"""Random functions of C: the text computes what gcc or clang compute."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from support.arithmetic import UndefinedBehaviourError
from support.c_functions import built, call, interpreted
from support.random_c import random_function

from loopwright.dialects.errors import SourceError
from loopwright.frontends.c.c_file import read_regions, read_source

SEEDS = (0, 1, 3, 5, 7, 8, 11, 20_001, 20_002, 20_003, 20_004)


def check(seeds: Sequence[int], folder: Path) -> None:
    """Compares the functions of these seeds; those whose C is undefined are left out."""
    functions = {f"f{seed}": random_function(seed) for seed in seeds}
    library = built({name: each.text for name, each in functions.items()}, folder)
    for name, function in functions.items():
        path = folder / f"{name}.c"
        path.write_text(function.text)
        try:
            (translation,) = read_regions(read_source(path)).translations
            results = interpreted(translation, function)
        except SourceError as error:
            assert "may wrap around" in str(error), error
            continue
        except UndefinedBehaviourError:  # a number that does not fit its type
            continue
        expected = call(library, name, function)
        for key, found in results.items():
            if isinstance(found, np.ndarray):
                equal_nan = found.dtype.kind == "f"
                same = np.array_equal(found, expected[key], equal_nan=equal_nan)
                assert same, f"{function.text}\n{key}: {found}\n{expected[key]}"


def test_random_functions_compute_what_the_compiler_says(tmp_path: Path) -> None:
    check(SEEDS, tmp_path)


def test_divisors_are_not_negated() -> None:
    """gcc -fwrapv would divide the smallest number by -1, which traps."""
    texts = "".join(random_function(seed).text for seed in range(200))
    assert "& 7) | 1)" in texts
    assert "& 7) ^ 8)" in texts
    assert not re.search(r"/ \(.*? & 7\) \+ 1\)", texts)


@pytest.mark.campaign
@pytest.mark.parametrize("first", [*range(10_000, 12_000, 100), *range(20_000, 21_000, 100)])
def test_campaign(tmp_path: Path, first: int) -> None:
    check(range(first, first + 100), tmp_path)
