"""`schedule="default"`: the analytical choice, or what a learned model is sure is faster.

The decision is kept on disk for the program, the sizes, the target, the threads, fast math, the
model and the compiler. `schedule="rules"` is the analytical choice.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ...costmodel.deciding_model import VARIABLE, DecidingModel, deciding_model
from ...costmodel.label_coverage import rare_steps
from ...costmodel.learning.errors import LearningError
from ...costmodel.learning.examples import Unsupported
from ...dialects.errors import SourceError
from ...lowering.llvm import Options
from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.machine.target import Target
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.schedules.errors import TransformationError
from ...passes.schedules.schedule import Schedule
from ...passes.search.default_choice import (
    DISBELIEF,
    Proposals,
    Rated,
    decide,
    disbelief,
    propose,
    rate,
)
from ...passes.search.protocols import CostModel
from ...passes.syntax.formats import apply_text
from ..jit.cache import default_cache
from ..jit.kept_code import kept_key
from .choice_version import model_version


@dataclass(frozen=True)
class Decision:
    """What `default` is for a question; where no model has a say, why, and a note to be told."""

    schedule: Schedule
    proposals: Proposals
    rated: tuple[Rated, ...] = ()
    model: CostModel | None = None
    reason: str | None = None
    note: str | None = None


def default_choice(
    original: Schedule, text: str, sizes: Mapping[str, int], threads: int
) -> Schedule:
    """What `default` means for a program, whose module has this text.

    A schedule that was kept and does not apply is left out. Where the model cannot be asked, a
    warning says so, and the analytical choice stands. Raises SourceError.
    """
    deciding = deciding_model()
    key = _key(original, text, sizes, threads, deciding)
    kept = _kept(original, key)
    if kept is not None:
        schedule, note = kept
    else:
        decision = decided(original, SchedulingContext(sizes, threads), deciding)
        schedule, note = decision.schedule, decision.note
        _keep(key, schedule, note)
    if note is not None:
        _tell(note)
    return schedule


def decided(
    original: Schedule, context: SchedulingContext, deciding: DecidingModel | None
) -> Decision:
    """The decision, made anew; raises SourceError."""
    proposals = propose(original, context)
    analytical = proposals.analytical
    if not proposals.candidates:
        return Decision(analytical, proposals, reason="too little work for any schedule to gain")
    if deciding is None:
        return Decision(analytical, proposals, reason=f"there is no model ({VARIABLE}=off)")
    rare = rare_steps(analytical, context)
    if rare:
        reason = f"the model {deciding.name} has hardly seen any schedule with {' and '.join(rare)}"
        return Decision(analytical, proposals, reason=reason)
    try:
        if not deciding.knows(original.target):
            reason = _unknown(deciding, original.target)
            # For another processor there is nothing that the user could do here.
            note = reason if original.target == Target.host() else None
            return Decision(analytical, proposals, reason=reason, note=note)
        model = deciding.load()
        doubt = disbelief(proposals, model)
        if doubt > DISBELIEF:
            reason = (
                f"the model {deciding.name} expects it to take {doubt:.1f} times as long as the "
                "estimate says: it has not learned from code like it"
            )
            return Decision(analytical, proposals, reason=reason)
        rated = rate(proposals, model, lambda schedule: not rare_steps(schedule, context))
    except Unsupported as error:
        reason = f"the model {deciding.name} cannot rate the program: {error}"
        return Decision(analytical, proposals, reason=reason)
    except (LearningError, OSError) as error:
        note = f"default schedules are chosen by the estimate alone: {error}"
        return Decision(analytical, proposals, reason=note, note=note)
    if not rated:
        return Decision(analytical, proposals, reason="isl takes too long for more candidates")
    return Decision(decide(proposals, rated), proposals, tuple(rated), model)


def _unknown(deciding: DecidingModel, target: Target) -> str:
    return (
        f"the model {deciding.name} has not learned from {target.processor}: default schedules are "
        f"chosen by the estimate alone (loopwright calibrate adapts the model; {VARIABLE}=off is "
        "silent)"
    )


def _key(
    original: Schedule,
    text: str,
    sizes: Mapping[str, int],
    threads: int,
    deciding: DecidingModel | None,
) -> str:
    chosen = (
        f"schedule of {original.program.name} on {threads} threads by {model_version(deciding)}"
    )
    options = Options(num_threads=threads, fast_math=original.reassociate)
    return kept_key(text, sorted(sizes.items()), chosen, options, original.target)


def _kept(original: Schedule, key: str) -> tuple[Schedule, str | None] | None:
    cache = default_cache()
    data = None if cache is None else cache.get(key)
    if data is None:
        return None
    try:
        known = json.loads(data)
        with ISL_LOCK:
            return apply_text(known["schedule"], original), known["note"]
    except (ValueError, KeyError, TypeError, SourceError, TransformationError):
        return None  # nothing that `_keep` has written for this compiler


def _keep(key: str, schedule: Schedule, note: str | None) -> None:
    cache = default_cache()
    if cache is not None:
        cache.put(key, json.dumps({"schedule": str(schedule), "note": note}).encode())


@cache
def _tell(note: str) -> None:
    """Warns, once in a process."""
    warnings.warn(note, RuntimeWarning, stacklevel=2)
