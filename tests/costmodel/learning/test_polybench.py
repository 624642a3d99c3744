"""The published models have an answer for every program of PolyBench, which is never trained on."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.costmodel.models.learned_model import LearnedModel
from loopwright.costmodel.models.registry import model_class
from loopwright.costmodel.original import original_schedule
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.syntax.pipeline import parse_pipeline

KERNELS = [name for name in catalogue() if name.startswith("polybench/")]


@pytest.fixture(scope="module", params=["tiramisu", "looper"])
def model(request: pytest.FixtureRequest) -> LearnedModel:
    return model_class(request.param)({})


@pytest.mark.parametrize("name", KERNELS)
def test_every_program_and_its_affine_schedule_are_predicted(
    name: str, model: LearnedModel
) -> None:
    kernel = catalogue()[name]
    original = original_schedule(kernel.text)
    sizes = infer_extents(original.scop, kernel.sizes["SMALL"])
    schedules = [original, original.apply_all(parse_pipeline("affine-schedule{fusion=minimal}"))]
    found = model.predict(SchedulingContext(sizes, 2), schedules)
    assert len(found) == 2 and np.isfinite(found).all() and min(found) > 0
