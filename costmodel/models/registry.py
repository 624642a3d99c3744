"""Registry of learned cost models: our own, and plug-ins (entry points `loopwright.models`).

A plug-in names a subclass of `LearnedModel`, or a class without parameters whose instances are
cost models (`predict`) that need no training.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from typing import TypeGuard, cast

from ...support.plugins import PluginError, describe, load_plugin, plugins
from ..learning.errors import LearningError
from .learned_model import LearnedModel

GROUP = "models"

OWN: Mapping[str, str] = {
    "additive": ".additive:Additive",
    "additive-network": ".additive_network:AdditiveNetwork",
    "ensemble": ".ensemble:Ensemble",
}
"""Module and class of each model of this package, imported only when the model is used."""


def model_names() -> tuple[str, ...]:
    """The names of all models; none is imported. Raises PluginError for a name of two."""
    return (*OWN, *plugins(GROUP, tuple(OWN)))


def model_class(name: str) -> type[LearnedModel]:
    """The learned model with this name; raises LearningError."""
    if name in OWN:
        module, _, cls = OWN[name].partition(":")
        return cast(type[LearnedModel], getattr(importlib.import_module(module, __package__), cls))
    found = plugin_model(name)
    if found is None:
        known = _names()
        close = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
        raise LearningError(f"there is no model '{name}'; {hint}")
    if not is_learned(found):
        raise LearningError(
            f"the model '{name}' learns nothing: give it to loopwright tune as it is"
        )
    return found


def plugin_model(name: str) -> Callable[..., object] | None:
    """What a plug-in offers as a model of this name, if one does; raises LearningError."""
    try:
        entry = plugins(GROUP, tuple(OWN)).get(name)
        found = None if entry is None else load_plugin(entry)
    except PluginError as error:
        raise LearningError(str(error)) from error
    if entry is None:
        return None
    if not callable(found):
        raise LearningError(f"the model '{name}' of {describe(entry)} is no class")
    return found


def is_learned(model: object) -> TypeGuard[type[LearnedModel]]:
    """Whether a model has to be trained."""
    return isinstance(model, type) and issubclass(model, LearnedModel)


def _names() -> tuple[str, ...]:
    try:
        return model_names()
    except PluginError as error:
        raise LearningError(str(error)) from error
