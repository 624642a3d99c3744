"""Conditions under which the elements matter that are read at subscripts that depend on data."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Generic

from .affine import Affine, map_text
from .emitter import Emitter, Node


class Guards(Generic[Node]):
    """Keeps such reads inside of arrays where a condition on data chooses another value.

    Both values are computed always. Where the condition does not hold, element 0 is read: the
    subscript need not be one of an element then. What is not affine in any case is `in_branches`:
    nothing is computed where its condition does not hold.
    """

    def __init__(self, emitter: Emitter[Node]) -> None:
        self.emitter = emitter
        self.in_branches = False
        self._conditions: list[tuple[str, bool]] = []

    @property
    def conditions(self) -> tuple[tuple[str, bool], ...]:
        """The truth values of the conditions, outermost first, and whether each holds."""
        return tuple(self._conditions)

    @contextmanager
    def in_opaque(self) -> Generator[None]:
        """Meanwhile, nothing is computed where its condition does not hold."""
        outer, self.in_branches = self.in_branches, True
        try:
            yield
        finally:
            self.in_branches = outer

    @contextmanager
    def under(self, truth: str, holds: bool) -> Generator[None]:
        """Meanwhile, elements matter only where a condition holds, or does not."""
        self._conditions.append((truth, holds))
        try:
            yield
        finally:
            self._conditions.pop()

    def junction(self, conjunction: bool, first: str, rest: Callable[[], str], node: Node) -> str:
        """Truth of `first and rest`, or with `or`; the rest matters where `first` does not tell."""
        if not self.in_branches:
            with self.under(first, conjunction):
                second = rest()
            word = "andi" if conjunction else "ori"
            return self.emitter.operation(f"arith.{word} {first}, {second} : i1", node)
        with self.emitter.block() as one:
            self.emitter.line(f"scf.yield {rest()} : i1", node)
        with self.emitter.block() as other:
            known = self.emitter.constant(str(not conjunction).lower(), "i1")
            self.emitter.line(f"scf.yield {known} : i1", node)
        blocks = (one, other) if conjunction else (other, one)
        return self.emitter.branches(f"scf.if {first} -> (i1)", *blocks, node)

    def index(self, number: str, kind: str, *, unsigned: bool, node: Node) -> str:
        """A number as a subscript."""
        cast = "index_castui" if unsigned else "index_cast"
        index = self.emitter.operation(f"arith.{cast} {number} : {kind} to index", node)
        zero = self.emitter.constant("0", "index") if self._conditions else ""
        for truth, holds in self._conditions:
            sides = f"{index}, {zero}" if holds else f"{zero}, {index}"
            index = self.emitter.operation(f"arith.select {truth}, {sides} : index", node)
        return index

    def affine(self, value: Affine, node: Node) -> str:
        """An affine value as a subscript."""
        if not value.terms:
            return self.emitter.constant(str(value.constant), "index")
        name = value.names()[0]
        if value == Affine.of(name):
            return f"%{name.text}"
        return self.emitter.operation(f"affine.apply {map_text([value])}", node)
