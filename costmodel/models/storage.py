"""Models as files: name, configuration, what was learned, and what from (the card)."""

from __future__ import annotations

import json
import os
import pickle
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..learning.errors import LearningError
from .model import LearnedModel
from .registry import model_class

FORMAT = 1

UNREADABLE = (
    EOFError,
    KeyError,
    OSError,
    RuntimeError,
    ValueError,
    pickle.UnpicklingError,
    struct.error,
)
"""What torch raises on files that are cut off, or none of its own."""


@dataclass(frozen=True)
class StoredModel:
    """A model, and its card: data, metrics, machine, versions, as plain data."""

    model: LearnedModel
    card: Mapping[str, Any]


def save_model(path: Path, model: LearnedModel, card: Mapping[str, Any]) -> None:
    """Writes a model; the file is whole or not there. The card is data for JSON. Raises OSError."""
    import torch

    content = {
        "loopwright_model": FORMAT,
        "name": model.name,
        "schema": model.featuriser.schema,
        "configuration": json.dumps(dict(model.configuration)),
        "state": dict(model.state()),
        "card": json.dumps(dict(card)),
    }
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            torch.save(content, file)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def load_model(path: Path) -> StoredModel:
    """Reads a model; nothing in the file is executed. Raises LearningError, OSError."""
    content = load_tensors(path)
    if content.get("loopwright_model") != FORMAT:
        raise LearningError(f"{path} is not a cost model of this version of loopwright")
    cls = model_class(content["name"])
    model = cls(json.loads(content["configuration"]))
    if model.featuriser.schema != content["schema"]:
        raise LearningError(
            f"{path} was trained on other features ({content['schema']}) than loopwright has now "
            f"({model.featuriser.schema}); train it again: loopwright train"
        )
    model.restore(content["state"])
    return StoredModel(model, json.loads(content["card"]))


def load_tensors(path: Path) -> Mapping[str, Any]:
    """A dictionary written by `torch.save`; raises LearningError, OSError."""
    import torch

    with path.open("rb") as file:
        try:
            content = torch.load(file, map_location="cpu", weights_only=True)
        except UNREADABLE as error:
            raise LearningError(f"{path} is not a file of loopwright train") from error
    if not isinstance(content, dict):
        raise LearningError(f"{path} is not a file of loopwright train")
    return content  # pyright: ignore[reportUnknownVariableType]
