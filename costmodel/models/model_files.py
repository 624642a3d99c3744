"""Model files: name, configuration, parameters, card."""

from __future__ import annotations

import json
import os
import pickle
import signal
import struct
import threading
import zipfile
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..learning.errors import LearningError
from .learned_model import LearnedModel
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
    zipfile.BadZipFile,
    zlib.error,
)
"""What torch raises on files that are cut off, or none of its own."""


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
    store_tensors(path, content)


def load_model(path: Path) -> StoredModel:
    """Reads a model; nothing in the file is executed. Raises LearningError, OSError."""
    content = load_tensors(path)
    if content.get("loopwright_model") != FORMAT:
        raise LearningError(f"{path} is not a cost model of this version of loopwright")
    try:
        return _restored(path, content)
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
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


def store_tensors(path: Path, content: Mapping[str, Any]) -> None:
    """Writes a dictionary for `load_tensors`; the file is whole or not there. Raises OSError."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with _uninterrupted():
            with temporary.open("wb") as file:
                torch.save(dict(content), file)
            temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Ctrl-C waits until the end: torch would turn it into an error of its own."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            before(pressed[0], None)


def check_plan(path: Path, stored: object, plan: str) -> None:
    """Raises LearningError where a checkpoint is of another training than planned now."""
    if stored != plan:
        raise LearningError(
            f"{path} is of another training: {stored}, not {plan}; give the same labels and "
            "options, or start anew without --resume"
        )


def load_tensors(path: Path) -> Mapping[str, Any]:
    """A dictionary written by `torch.save`; raises LearningError, OSError."""
    import torch

    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                if archive.testzip() is not None:
                    raise LearningError(f"{path} is damaged; train it again: loopwright train")
            file.seek(0)
            content = torch.load(file, map_location="cpu", weights_only=True)
        except UNREADABLE as error:
            raise LearningError(f"{path} is not a file of loopwright train") from error
    if not isinstance(content, dict):
        raise LearningError(f"{path} is not a file of loopwright train")
    return content  # pyright: ignore[reportUnknownVariableType]
