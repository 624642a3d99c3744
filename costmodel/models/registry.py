"""The cost models by name. A new model is a new file, and a line here."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from typing import cast

from ..learning.errors import LearningError
from .model import LearnedModel

MODELS: Mapping[str, str] = {
    "additive": ".additive:Additive",
    "additive-network": ".additive_network:AdditiveNetwork",
    "ensemble": ".ensemble:Ensemble",
    "interchange": "..interchange.kbest:KBest",
    "interchange-network": "..interchange.network:InterchangeNetwork",
    "interchange-trees": "..interchange.trees:InterchangeTrees",
    "looper": ".looper:Looper",
    "tiramisu": ".tiramisu:Tiramisu",
    "tournament": ".tournament:Tournament",
}
"""Module and class of each model (`.tiramisu:Tiramisu`), imported only when the model is used."""


def model_class(name: str) -> type[LearnedModel]:
    """The model with this name; raises LearningError."""
    if name not in MODELS:
        close = difflib.get_close_matches(name, MODELS, 1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(MODELS)}"
        raise LearningError(f"there is no model '{name}'; {hint}")
    module, _, cls = MODELS[name].partition(":")
    return cast(type[LearnedModel], getattr(importlib.import_module(module, __package__), cls))
