"""Pass `autoschedule`: beam search with a cost model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.machine.target import Target
from ..passes.polyhedral.extents import infer_extents
from ..passes.schedules.errors import MalformedTransformation
from ..passes.search.beam import BeamSearch
from ..passes.search.names import WIDEST_BEAM
from ..passes.search.result import Task
from ..passes.search.searching import search
from ..passes.syntax.schedule_ops import to_sequence
from ..passes.syntax.schedule_passes import find_function, find_sequence, read_schedule, read_sizes
from .find import find_model
from .learning.errors import LearningError
from .model_names import DEFAULT_MODEL


@dataclass(frozen=True)
class AutoSchedule(ModulePass):
    """Writes the schedule that a beam search with a cost model finds for known sizes.

    `sizes=n:1000,m:1200` gives all parameters; `threads` is by default the number of cores.
    `autoschedule{sizes=n:1000 model=roofline beam=3}`:

        func.func @f { ... }     ->     func.func @f { ... }
                                        schedule.sequence @f { ... }
    """

    name: ClassVar[str] = "autoschedule"

    sizes: tuple[str, ...] = ()
    model: str = DEFAULT_MODEL
    beam: int = 3
    threads: int | None = None
    func: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = find_function(op, self.func)
        if find_sequence(op, function) is not None:
            raise MalformedTransformation(
                f"autoschedule: {function.sym_name.data} has a schedule already; remove it"
            )
        threads = Target.host().cores if self.threads is None else self.threads
        if not 1 <= self.beam <= WIDEST_BEAM:
            raise MalformedTransformation(f"autoschedule: beam must be 1 to {WIDEST_BEAM}")
        if threads < 1:
            raise MalformedTransformation("autoschedule: threads must be at least 1")
        original = read_schedule(function, None)
        scop = original.scop
        sizes = infer_extents(scop, read_sizes(self.name, self.sizes, [scop]))
        missing = [p.name for p in scop.parameters if p.name not in sizes]
        if missing:
            listing = ",".join(f"{name}:..." for name in missing)
            raise MalformedTransformation(f"autoschedule: give all sizes: sizes={listing}")
        try:
            model = find_model(self.model)
        except (LearningError, OSError) as error:
            raise MalformedTransformation(f"autoschedule: {error}") from error
        result = search(
            BeamSearch(self.beam), Task(original, SchedulingContext(sizes, threads), model)
        )
        op.body.block.insert_op_after(to_sequence(result.best), function)
