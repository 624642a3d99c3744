"""The xDSL universe of loopwright (entry point `xdsl.universe`).

The `affine` dialect, which replaces xDSL's of the same name, is for loopwright's own tools only.
"""

from __future__ import annotations

from xdsl.universe import Universe

from .costmodel.autoschedule import AutoSchedule
from .lowering.apply_schedule import ApplySchedule
from .passes.syntax.schedule_ops import schedule_dialect
from .passes.syntax.schedule_passes import transformation_passes

LOOPWRIGHT_UNIVERSE = Universe(
    all_dialects={"schedule": schedule_dialect},
    all_passes={
        **{name: lambda cls=cls: cls for name, cls in transformation_passes().items()},
        AutoSchedule.name: lambda: AutoSchedule,
        ApplySchedule.name: lambda: ApplySchedule,
    },
)
