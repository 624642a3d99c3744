"""Cost models by what users write: `roofline`, the name of a shipped model, the path of a file."""

from __future__ import annotations

import difflib
from pathlib import Path

from ..passes.search.protocols import CostModel, Ranker
from ..passes.search.roofline import Roofline
from .learning.errors import LearningError

SHIPPED = Path(__file__).parent / "weights"
"""Trained models that come with the package, NAME.pt each."""

DEFAULT_MODEL = Roofline.name

DEFAULT_RANKER = "tournament"

AUTO_MODEL: str | None = None
"""The model that `schedule="auto"` trusts where nothing was tuned; None: the default schedule.

The roofline is not enough: what it prefers to its own choice took 3.6 times as long on mvt.
"""


def model_names() -> list[str]:
    """The names of the models that are always there."""
    return [Roofline.name, *sorted(path.stem for path in SHIPPED.glob("*.pt"))]


def find_ranker(name: str) -> Ranker:
    """The model of this name, or in this file, that orders schedules; raises as `find_model`."""
    model = find_model(name)
    if not isinstance(model, Ranker):
        raise LearningError(f"the model {name} does not rank: train one with --model tournament")
    return model


def find_model(name: str) -> CostModel:
    """The model of this name, or in this file; raises LearningError, OSError."""
    if name == Roofline.name:
        return Roofline()
    path = Path(name) if name.endswith(".pt") else SHIPPED / f"{name}.pt"
    if path.parent == SHIPPED and not path.exists():
        names = model_names()
        close = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
        raise LearningError(f"there is no cost model '{name}'; {hint}, or give a file (.pt)")
    # It brings torch.
    from .models.storage import load_model

    return load_model(path).model
