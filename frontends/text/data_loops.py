"""Loops whose bounds are values: `scf.for`, also for what counts down."""

from __future__ import annotations

from dataclasses import dataclass

from .emitter import Emitter, Node


@dataclass(frozen=True)
class Head:
    """The first line of a loop, and its index as an operation where it counts a distance."""

    line: str
    index: str


def head(emitter: Emitter[Node], name: str, first: str, end: str, step: int, node: Node) -> Head:
    """A loop from `first` towards `end`, which it does not reach.

    One that counts down counts its distance from the first value.
    """
    by = emitter.constant(str(abs(step)), "index")
    if step > 0:
        return Head(f"scf.for %{name} = {first} to {end} step {by}", "")
    # No iteration where the first value is below the end, and no overflow of the distance.
    highest = emitter.operation(f"arith.maxsi {first}, {end} : index", node)
    distance = emitter.operation(f"arith.subi {highest}, {end} : index", node)
    zero = emitter.constant("0", "index")
    line = f"scf.for %{name} = {zero} to {distance} step {by}"
    return Head(line, f"arith.subi {first}, %{name} : index")
