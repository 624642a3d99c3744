"""Model files: name, configuration, parameters, card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...support.stored_files import DAMAGE
from ..learning.errors import LearningError
from .array_files import load_arrays, store_arrays
from .learned_model import LearnedModel
from .registry import model_class

FORMAT = 2


@dataclass(frozen=True)
class StoredModel:
    """A model and its card: data, metrics, machine, versions, as plain data."""

    model: LearnedModel
    card: Mapping[str, Any]


def save_model(path: Path, model: LearnedModel, card: Mapping[str, Any]) -> None:
    """Writes a model; the file is whole or not there. The card is data for JSON. Raises OSError."""
    content = {
        "loopwright_model": FORMAT,
        "name": model.name,
        "schema": model.featuriser.schema,
        "configuration": json.dumps(dict(model.configuration)),
        "state": dict(model.state()),
        "card": json.dumps(dict(card)),
    }
    store_arrays(path, content)


def load_model(path: Path) -> StoredModel:
    """Reads a model; nothing in the file is executed. Raises LearningError, OSError."""
    content = load_arrays(path)
    if content.get("loopwright_model") != FORMAT:
        raise LearningError(f"{path} is not a cost model of this version of loopwright")
    try:
        return _restored(path, content)
    except DAMAGE as error:
        raise LearningError(f"{path} is damaged; train it again: loopwright train") from error


def _restored(path: Path, content: Mapping[str, Any]) -> StoredModel:
    cls = model_class(content["name"])
    model = cls(json.loads(content["configuration"]))
    if model.featuriser.schema != content["schema"]:
        raise LearningError(
            f"{path} was trained on other features ({content['schema']}) than loopwright has now "
            f"({model.featuriser.schema}); train it again: loopwright train"
        )
    if any(np.isnan(number).any() for number in _numbers(content["state"])):
        raise ValueError("a weight is no number")
    model.restore(content["state"])
    return StoredModel(model, json.loads(content["card"]))


def _numbers(state: object) -> Iterator[Any]:
    """The arrays and numbers with fractions in what a model has learned."""
    if isinstance(state, Mapping):
        state = list(cast("Mapping[str, object]", state).values())
    if isinstance(state, Sequence) and not isinstance(state, str | bytes):
        for each in cast("Sequence[object]", state):
            yield from _numbers(each)
        return
    values = np.asarray(state)
    if values.dtype.kind == "f":
        yield values


def check_plan(path: Path, stored: object, plan: str) -> None:
    """Raises LearningError where a checkpoint is of another training than planned now."""
    if stored != plan:
        raise LearningError(
            f"{path} is of another training: {stored}, not {plan}; give the same labels and "
            "options, or start anew without --resume"
        )
