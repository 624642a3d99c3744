"""Abstract memory while loop IR and its rewriting are simulated side by side.

`known` are values in the memory of the function as it was, as values of the rewritten function.
`stale` are addresses whose elements may be out of date in the memory of the rewritten function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ..verdict import NotKnownError
from .addresses import Address, Placed, can_overlap


@dataclass
class Memory:
    """The values at addresses, and the addresses that are out of date.

    Of an address with a mask, several values may be known, which are equal in its lanes.
    """

    known: dict[Address, tuple[SSAValue, ...]] = field(
        default_factory=dict[Address, tuple[SSAValue, ...]]
    )
    stale: dict[Address, Placed] = field(default_factory=dict[Address, Placed])

    def copy(self) -> Memory:
        """Another memory with the same contents."""
        return Memory(dict(self.known), dict(self.stale))

    def holds(self, address: Address, value: SSAValue) -> bool:
        """Whether a value is known to be at an address."""
        return any(value is each for each in self.known.get(address, ()))

    def write(self, placed: Placed, value: SSAValue | None) -> None:
        """The function as it was stores a value, which may have no name in the other function."""
        self.forget([placed])
        if value is not None:
            self.known[placed.address] = (value,)

    def forget(self, written: Iterable[Placed]) -> None:
        """What is stored at these addresses is not known."""
        for placed in written:
            for address in [a for a in self.known if can_overlap(Placed(a, ()), placed)]:
                del self.known[address]

    def free(self, memref: SSAValue) -> None:
        """An array is gone: nothing of it is known, or out of date."""
        self.known = {a: value for a, value in self.known.items() if a.memref is not memref}
        self.stale = {a: placed for a, placed in self.stale.items() if a.memref is not memref}

    def check_current(self, placed: Placed) -> None:
        """Raises NotKnownError where the rewritten function may load what is out of date."""
        for other in self.stale.values():
            if can_overlap(other, placed):
                raise NotKnownError(f"{placed.address} may be loaded before it is stored")

    def leave(self, inside: Memory) -> None:
        """Ends a region that was entered with this memory: nothing else may be out of date."""
        if inside.stale.keys() - self.stale.keys():
            raise NotKnownError("a store is left out at the end of a loop or branch")
