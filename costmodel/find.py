"""Cost models by what users write: `roofline`, the name of a shipped model, the path of a file."""

from __future__ import annotations

import difflib
import warnings
from pathlib import Path

from ..passes.estimate.estimate import Roofline
from ..passes.search.protocols import CostModel, Ranker
from ..passes.search.space.swaps import LoopPairModel
from .adapted import adapted_model
from .learning.errors import LearningError

SHIPPED = Path(__file__).parent / "weights"
"""Trained models that come with the package, NAME.pt each."""

SHIPPED_LOOP_PAIRS = SHIPPED / "interchange"
"""The same for models that say which loops to interchange."""

INTERCHANGE_MODEL = "network"
"""The most accurate of these."""

DEFAULT_MODEL = "ensemble"
"""The model that searches ask when nothing is said."""

DEFAULT_RANKER = "tournament"

AUTO_MODEL: str | None = "ensemble"
"""The model that `schedule="auto"` trusts where nothing was tuned; None: the default schedule.

Where all of its members agree (`runtime/tuning/auto.py`): of 160 random programs that it has not
seen, in 35, which makes all of these 1.22 times as fast in the geometric mean, and 4 slower.
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
    """The model of this name, or in this file; raises LearningError, OSError.

    Of a shipped model the one that was adapted to this machine is taken, where there is one.
    """
    if name == Roofline.name:
        return Roofline()
    path = _path(name, SHIPPED)
    if path.parent == SHIPPED and not path.exists():
        names = [each for each in model_names() if each != DEFAULT_RANKER]
        close = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
        raise LearningError(f"there is no cost model '{name}'; {hint}, or give a file (.pt)")
    # It brings torch.
    from .models.storage import load_model

    adapted = adapted_model(name) if path.parent == SHIPPED else None
    if adapted is not None:
        try:
            return load_model(adapted).model
        except (LearningError, OSError) as error:
            warnings.warn(
                f"the model {name} is used as shipped, not as adapted to this machine ({error}); "
                f"loopwright calibrate --model {name} makes that anew, or delete it",
                RuntimeWarning,
                stacklevel=2,
            )
    found = load_model(path).model
    if found.name.startswith("interchange"):
        raise LearningError(f"{path} is a model of interchanges only; give it as --interchange")
    return found


def find_loop_pairs(name: str) -> LoopPairModel:
    """The model of interchanges of this name, or in this file; raises LearningError, OSError."""
    path = _path(name, SHIPPED_LOOP_PAIRS)
    if path.parent == SHIPPED_LOOP_PAIRS and not path.exists():
        names = ", ".join(sorted(each.stem for each in SHIPPED_LOOP_PAIRS.glob("*.pt")))
        raise LearningError(
            f"there is no model of interchanges '{name}'; there are {names}, or give a file (.pt)"
        )
    # They bring torch.
    from .interchange.model import InterchangeModel
    from .models.storage import load_model

    found = load_model(path).model
    if not isinstance(found, InterchangeModel):
        raise LearningError(f"{path} is a cost model, not one of interchanges; give it as --model")
    return found


def _path(name: str, shipped: Path) -> Path:
    """A file as it is given; of a name, the one among the shipped models."""
    is_file = name.endswith(".pt") or Path(name).name != name
    return Path(name) if is_file else shipped / f"{name}.pt"
