"""Random functions of C: the text, and C printed of it, compute what gcc or clang compute."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.arithmetic import UndefinedBehaviourError
from support.c_code import build, call_c, compilers
from support.c_functions import Translated, built, call
from support.random_c import RandomFunction, random_function
from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.dialects.func import FuncOp

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.frontends.c.c_file import read_regions, read_source
from loopwright.frontends.c.printing import print_c
from loopwright.frontends.c.translate import Translation

SEEDS = (0, 1, 3, 5, 7, 8, 11, 20_001, 20_002, 20_003, 20_004)


def check(seeds: Sequence[int], folder: Path) -> None:
    """Compares the functions of these seeds; those whose C is undefined are left out."""
    functions = {f"f{seed}": random_function(seed) for seed in seeds}
    library = built({name: each.text for name, each in functions.items()}, folder)
    translations: dict[str, Translation] = {}
    expected: dict[str, dict[str, object]] = {}
    for name, function in functions.items():
        path = folder / f"{name}.c"
        path.write_text(function.text)
        try:
            (translation,) = read_regions(read_source(path)).translations
            translated = Translated.of(translation, function)
            translated.interpret()
        except SourceError as error:
            assert "may wrap around" in str(error), error
            continue
        except UndefinedBehaviourError:  # a number that does not fit its type
            continue
        translations[name], expected[name] = translation, call(library, name, function)
        assert_same(translated.values, expected[name], function.text)
    check_printed(functions, translations, expected, folder)


def check_printed(
    functions: Mapping[str, RandomFunction],
    translations: Mapping[str, Translation],
    expected: Mapping[str, Mapping[str, object]],
    folder: Path,
) -> None:
    """Translations that are printed as C compute the same again."""
    texts: list[str] = []
    kinds: dict[str, FunctionType] = {}
    for name, translation in translations.items():
        module = parse_module(translation.text)
        (function,) = (op for op in module.ops if isinstance(op, FuncOp))
        function.properties["sym_name"] = StringAttr(name)
        kinds[name] = function.function_type
        texts.append(print_c(module))
    flags = ("-ffp-contract=off", "-Wno-tautological-compare", "-Wno-type-limits")
    library = build(compilers()[0], texts, folder, *flags)
    for (name, translation), text in zip(translations.items(), texts, strict=True):
        translated = Translated.of(translation, functions[name])
        call_c(library, name, kinds[name], translated.passed)
        assert_same(translated.values, expected[name], f"{functions[name].text}\n{text}")


def assert_same(found: Mapping[str, object], expected: Mapping[str, object], text: str) -> None:
    """Arrays have the same elements."""
    for key, array in found.items():
        if isinstance(array, np.ndarray):
            same = np.array_equal(array, expected[key], equal_nan=array.dtype.kind == "f")
            assert same, f"{text}\n{key}: {array}\n{expected[key]}"


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
