"""Lookup of cost models by name: `roofline`, a trained model, or the path of a model file."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..passes.estimate.estimate import Roofline
from ..passes.search.protocols import CostModel, Ranker
from ..passes.search.space.loop_pairs import LoopPairModel
from ..support.typed_values import check_kind
from .adapted import adapted_model
from .learning.errors import LearningError
from .model_names import DEFAULT_RANKER, SHIPPED, SUFFIX, is_file, shipped_path

if TYPE_CHECKING:
    from .models.learned_model import LearnedModel

INTERCHANGE = "interchange-"
"""What the names of these begin with; users can leave it out."""

AUTO_MODEL: str | None = "ensemble"
"""The model that `schedule="auto"` trusts where nothing was tuned; None: the default schedule.

Where all of its members agree (`runtime/tuning/auto.py`): of 160 random programs that it has not
seen, in 35, which makes all of these 1.22 times as fast in the geometric mean, and 4 slower.
"""


def find_model(name: str) -> CostModel:
    """The model of this name, or in this file; raises LearningError, OSError.

    Of a shipped model the one that was adapted to this machine is taken, where there is one.
    """
    check_kind("find_model: name", name, str, "a text")
    if name == Roofline.name:
        return Roofline()
    found = _find(name)
    if found is None:
        names = _model_names()
        close = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
        raise LearningError(f"there is no cost model '{name}'; {hint}, or give a file ({SUFFIX})")
    if isinstance(found, LoopPairModel):
        raise LearningError(f"{name} is a model of interchanges only; give it as --interchange")
    return cast(CostModel, found)


def find_ranker(name: str) -> Ranker:
    """The model of this name, or in this file, that orders schedules; raises as `find_model`."""
    model = find_model(name)
    if not isinstance(model, Ranker):
        raise LearningError(
            f"the model {name} does not rank: train one with --model {DEFAULT_RANKER}"
        )
    return model


def find_loop_pairs(name: str) -> LoopPairModel:
    """The model of interchanges of this name, or in this file; raises LearningError, OSError.

    `network` is short for `interchange-network`.
    """
    found = (None if is_file(name) else _find(f"{INTERCHANGE}{name}")) or _find(name)
    if found is None:
        names = ", ".join(_loop_pair_names())
        raise LearningError(
            f"there is no model of interchanges '{name}'; there are {names}, or give a file "
            f"({SUFFIX})"
        )
    if not isinstance(found, LoopPairModel):
        raise LearningError(f"{name} is a cost model, not one of interchanges; give it as --model")
    return found


def _find(name: str) -> object | None:
    """The model in a file, a shipped one, or one of a plug-in; None where there is none."""
    if is_file(name):
        return _load(Path(name))
    shipped = shipped_path(name)
    if shipped is not None:
        return _adapted(name) or _load(shipped)
    # It brings much of the training.
    from .models.registry import is_learned, plugin_model

    found = plugin_model(name)
    if found is None:
        return None
    if not is_learned(found):
        return found()
    if found.trained is None:
        raise LearningError(
            f"the model {name} does not come trained; train it with loopwright train, and give the "
            f"file ({SUFFIX})"
        )
    return _load(found.trained)


def _load(path: Path) -> LearnedModel:
    from .models.model_files import load_model

    return load_model(path).model


def _adapted(name: str) -> LearnedModel | None:
    """The shipped model as it was adapted to this machine, if it was, and can be read."""
    path = adapted_model(name)
    if path is None:
        return None
    try:
        return _load(path)
    except (LearningError, OSError) as error:
        warnings.warn(
            f"the model {name} is used as shipped, not as adapted to this machine ({error}); "
            f"loopwright calibrate --model {name} makes that anew, or delete it",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


def _ready_models() -> Iterator[tuple[str, Callable[..., object]]]:
    """The models of plug-ins that need no training, by name."""
    from .models.registry import OWN, is_learned, model_names, plugin_model

    for name in model_names():
        found = None if name in OWN else plugin_model(name)
        if found is not None and (not is_learned(found) or found.trained is not None):
            yield name, found


def _model_names() -> list[str]:
    """What `find_model` finds by name; who ranks only is found, too, but not advertised."""
    own = sorted(path.stem for path in SHIPPED.glob(f"*{SUFFIX}"))
    other = [n for n, cls in _ready_models() if not hasattr(cls, "rate") and n != DEFAULT_RANKER]
    return [Roofline.name, *own, *other]


def _loop_pair_names() -> list[str]:
    """What `find_loop_pairs` finds by name."""
    return [name.removeprefix(INTERCHANGE) for name, cls in _ready_models() if hasattr(cls, "rate")]
