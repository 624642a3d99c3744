"""Loops whose bounds are values: `scf.for`, also for what counts down."""

from __future__ import annotations

from dataclasses import dataclass

from .emitter import Emitter, Node


@dataclass(frozen=True)
class Head:
    """The first line of a loop, and the first value and the step of one that counts down."""

    line: str
    name: str
    first: str = ""
    step: str = ""

    def index(self, emitter: Emitter[Node], node: Node) -> str:
        """The value of the loop in an iteration, inside of it."""
        if not self.first:
            return f"%{self.name}"
        distance = emitter.operation(f"arith.muli %{self.name}, {self.step} : index", node)
        return emitter.operation(f"arith.subi {self.first}, {distance} : index", node)


def head(emitter: Emitter[Node], name: str, first: str, end: str, step: int, node: Node) -> Head:
    """A loop from `first` towards `end`, which it does not reach.

    One that counts down counts its iterations.
    """
    by = emitter.constant(str(abs(step)), "index")
    if step > 0:
        return Head(f"scf.for %{name} = {first} to {end} step {by}", name)
    # No iteration where the first value is below the end; the distance is a number without a sign.
    highest = emitter.operation(f"arith.maxsi {first}, {end} : index", node)
    distance = emitter.operation(f"arith.subi {highest}, {end} : index", node)
    trips = emitter.operation(f"arith.ceildivui {distance}, {by} : index", node)
    zero, one = emitter.constant("0", "index"), emitter.constant("1", "index")
    return Head(f"scf.for %{name} = {zero} to {trips} step {one}", name, first, by)
