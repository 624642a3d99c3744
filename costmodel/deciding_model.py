"""The learned model that takes part in the default schedule, and the machines that it knows.

It is the shipped model, or the one that was adapted to this machine. The environment variable
`LOOPWRIGHT_MODEL` names another one, as `--model` does, or is `off`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .adapted import adapted_model
from .model_names import DEFAULT_MODEL, is_file, shipped_path

if TYPE_CHECKING:
    from ..passes.machine.target import Target
    from ..passes.search.protocols import CostModel
    from .models.model_files import StoredModel

VARIABLE = "LOOPWRIGHT_MODEL"


@dataclass(frozen=True)
class DecidingModel:
    """A model by name, and its file, if it has one; nothing is read until it is asked for.

    `version` is another one for another file. One that `is_adapted` was adapted to this machine.
    """

    name: str
    path: Path | None
    version: str
    is_adapted: bool = False

    def load(self) -> CostModel:
        """The model; raises LearningError, OSError."""
        # Code that was made before is found without a look at the model.
        from .find import find_model

        return find_model(self.name) if self.path is None else self._stored().model

    def knows(self, target: Target) -> bool:
        """Whether it has learned from machines of this kind; raises LearningError, OSError.

        A model without a file has learned nothing, and knows all alike.
        """
        if self.path is None or (self.is_adapted and target.is_host):
            return True
        return target.processor in processors(self._stored().card)

    def _stored(self) -> StoredModel:
        assert self.path is not None
        return _load(self.path, self.version)


def deciding_model() -> DecidingModel | None:
    """The model that the environment asks for; None where that is none."""
    name = os.environ.get(VARIABLE, "") or DEFAULT_MODEL
    if name.lower() == "off":
        return None
    if is_file(name):
        return _in_file(name, Path(name))
    adapted = adapted_model(name)
    if adapted is not None:
        return _in_file(name, adapted, is_adapted=True)
    path = shipped_path(name)
    return DecidingModel(name, None, name) if path is None else _in_file(name, path)


def processors(card: Mapping[str, Any]) -> frozenset[str]:
    """The processors that a model has learned from, by LLVM's names, as its card has them."""
    machines = str(card.get("data", {}).get("machine", ""))
    return frozenset(re.findall(r'"cpu_name":\s*"([^"]+)"', machines))


def _in_file(name: str, path: Path, *, is_adapted: bool = False) -> DecidingModel:
    try:
        status = path.stat()
        version = f"{path} {status.st_mtime_ns} {status.st_size}"
    except OSError:
        version = f"{path} cannot be read"
    return DecidingModel(name, path, version, is_adapted)


@lru_cache(maxsize=2)
def _load(path: Path, version: str) -> StoredModel:
    """The model in a file, once for each version of it."""
    # It brings the code of all kinds of models.
    from .models.model_files import load_model

    return load_model(path)
