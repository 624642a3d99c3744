"""What a comparison of two programs answers: equal, different with a witness, or not known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...passes.polyhedral.equivalence.witness import Witness
from ...support.markup import block, notebook


class Relation(Enum):
    """How two programs are related."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_KNOWN = "not known"


@dataclass(frozen=True)
class Demonstration:
    """A run that shows a difference: an element, and its values after the two programs."""

    element: str
    first: object
    second: object


@dataclass(frozen=True)
class Answer:
    """How two programs are related, and why.

    `reason` says why it is not known, or that one program leaves an array. `witness` and
    `demonstration` are there for programs that are different otherwise.
    """

    relation: Relation
    reason: str | None = None
    witness: Witness | None = None
    demonstration: Demonstration | None = None

    @property
    def is_equal(self) -> bool:
        """Whether the programs are proved to be equal."""
        return self.relation is Relation.EQUAL

    def _repr_html_(self) -> str:
        """The same text, for notebooks."""
        return notebook("Comparison of two programs", block(str(self)))

    def __str__(self) -> str:
        head = self.relation.value
        if self.reason is not None:
            head += f": {self.reason}"
        if self.witness is None or self.demonstration is None:
            return head
        witness, run = self.witness, self.demonstration
        sizes = ", ".join(f"{name}={value}" for name, value in witness.sizes.items())
        return "\n".join(
            [
                f"{head}: {run.element} is {run.first} after the first program and {run.second} "
                "after the second" + (f", with {sizes}" if sizes else ""),
                f"  {witness.element} is at last written by",
                f"    {witness.first.writer} in the first: {witness.first.value}",
                f"    {witness.second.writer} in the second: {witness.second.value}",
            ]
        )
