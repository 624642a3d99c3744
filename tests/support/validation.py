"""What is generated for a schedule, and what its validation says."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.lowering.generate import generate
from loopwright.lowering.validation.generated import Generated
from loopwright.lowering.validation.kept_dependences import KeptDependences
from loopwright.lowering.validation.validate import validate
from loopwright.lowering.validation.verdict import Verdict
from loopwright.passes.schedules.schedule import Schedule, dependences_of


def generated(schedule: Schedule, sizes: Mapping[str, int]) -> Generated:
    """The nest for these sizes, symbolic in all others."""
    found: list[Generated] = []
    generate(schedule, sizes, inspect=found.append)
    return found[0]


def kept_dependences(schedule: Schedule) -> KeptDependences:
    """What code for the schedule has to keep."""
    program = schedule.scop.base or schedule.program
    return KeptDependences(dependences_of(program), reassociate=schedule.reassociate)


def verdict(schedule: Schedule, sizes: Mapping[str, int]) -> Verdict:
    """What the validation of the code for a schedule says."""
    return validate(kept_dependences(schedule), generated(schedule, sizes))
