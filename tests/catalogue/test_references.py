"""The NumPy references against the interpreted text of the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from support.interpreter import Interpreter
from support.reference_runs import PAPERS_KERNELS

from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import catalogue
from loopwright.kernels.references import reference

TOLERANCES = {"f64": 1e-12, "f32": 1e-5, "i32": 0.0}


@pytest.mark.parametrize("name", PAPERS_KERNELS)
def test_reference_computes_what_the_text_says(name: str) -> None:
    entry = catalogue()[name]
    fixed = {"batch": 1, "features_out": 2, "features_in": 2, "kernel": 3}
    size = {name: fixed.get(name, 6 + i) for i, name in enumerate(entry.parameters)}
    computed, expected = entry.arguments(size), entry.arguments(size)
    Interpreter(parse_module(entry.text)).run(entry.function, *computed)
    reference(entry)(*expected)
    for array, actual, wanted in zip(entry.argument_names, computed, expected, strict=True):
        if isinstance(actual, np.ndarray):
            assert isinstance(wanted, np.ndarray)
            scale = max(1.0, float(np.abs(wanted).max()))
            tolerance = TOLERANCES[entry.element_type] * scale
            np.testing.assert_allclose(actual, wanted, rtol=0, atol=tolerance, err_msg=array)
