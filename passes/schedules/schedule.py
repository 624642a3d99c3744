"""A program and the order in which it runs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import islpy as isl

from ...dialects.errors import SourceError
from ...support.immutable import Immutable
from ..machine.target import Target
from ..polyhedral.context import ISL_LOCK, TooComplexError, bounded
from ..polyhedral.dependences import Dependences, compute_dependences
from ..polyhedral.schedule_tree import Loop, Tree, chain, loops, path, run_time_sizes, statements
from ..polyhedral.scop import Scop
from .legality import Legality, Outer
from .repair_hints import advise
from .transformation import (
    IllegalTransformation,
    MalformedTransformation,
    Transformation,
    TransformationError,
)


@dataclass(frozen=True)
class Schedule(Immutable):
    """A program, the transformations so far, and the tree that they lead to; immutable.

    Schedules of one program are equal when they have the same transformations. `scop` is the
    program's own until a transformation adds statements or arrays. `target` gives defaults such as
    the width of vectors; `reassociate` allows other orders of floating-point sums and products.
    """

    program: Scop
    scop: Scop = field(compare=False, repr=False)
    tree: Tree = field(compare=False, repr=False)
    legality: Legality = field(compare=False, repr=False)
    transformations: tuple[Transformation, ...] = ()
    target: Target = field(default_factory=Target.host, compare=False, repr=False)
    reassociate: bool = False

    @classmethod
    def original(
        cls, scop: Scop, target: Target | None = None, *, reassociate: bool = False
    ) -> Schedule:
        """The order in which the program was written; `target` is by default this machine."""
        with ISL_LOCK:
            legality = Legality(dependences_of(scop))
        return cls(scop, scop, scop.tree, legality, (), target or Target.host(), reassociate)

    @property
    def dependences(self) -> Dependences:
        """The dependences of the Scop, computed once."""
        return dependences_of(self.scop)

    def apply(self, transformation: Transformation) -> Schedule:
        """The transformed schedule.

        Raises IllegalTransformation where a dependence would be violated, and
        MalformedTransformation where the request makes no sense here.
        """
        try:
            with bounded():
                resolved = transformation.resolve(self)
                self._check_run_time_tiles(resolved)
                scop, tree = resolved.rewrite_program(self)
                legality = self.legality if scop is self.scop else self._legality_of(scop)
                violation = legality.first_violation(tree)
        except MalformedTransformation as error:
            raise MalformedTransformation(f"{transformation.subject}: {error}") from None
        except (TooComplexError, isl.Error) as error:
            reason = error if isinstance(error, TooComplexError) else "isl fails on it"
            raise MalformedTransformation(
                f"{transformation.subject}: too complex, {reason}"
            ) from error
        if violation is not None:
            raise IllegalTransformation(
                resolved.subject, violation, partial(advise, self, resolved)
            )
        steps = (*self.transformations, resolved)
        return replace(self, scop=scop, tree=tree, legality=legality, transformations=steps)

    def apply_all(self, transformations: Iterable[Transformation]) -> Schedule:
        """All transformations in turn; raises TransformationError at the first that fails."""
        result = self
        for transformation in transformations:
            result = result.apply(transformation)
        return result

    def legal(self, transformation: Transformation) -> bool:
        """Whether the transformation can be applied."""
        try:
            self.apply(transformation)
        except TransformationError:
            return False
        return True

    def loop(self, name: str) -> Loop:
        """The loop called `name`, or `S1.name` for the one around S1.

        Raises MalformedTransformation, with the loops that exist.
        """
        return self._unique(name, self._candidates(name))

    def find_loops(self, names: tuple[str, ...]) -> tuple[Loop, ...]:
        """The loops with these names; an ambiguous one is what shares a nest with the others.

        Raises MalformedTransformation.
        """
        candidates = [self._candidates(name) for name in names]
        certain = [found[0] for found in candidates if len(found) == 1]
        return tuple(
            self._unique(name, found if len(found) == 1 else _related(found, certain) or found)
            for name, found in zip(names, candidates, strict=True)
        )

    def chain(self, names: tuple[str, ...]) -> tuple[Loop, ...]:
        """The named loops, outermost first, which must be directly inside each other.

        Raises MalformedTransformation.
        """
        found = self.find_loops(names)
        if not found:
            raise MalformedTransformation("name at least one loop")
        for number, loop in enumerate(found):
            if any(loop is other for other in found[:number]):
                raise MalformedTransformation(f"loop {loop.name} is named twice")
        for start in found:
            members = chain(start)[: len(found)]
            if all(any(loop is member for member in members) for loop in found):
                return members
        raise MalformedTransformation(
            f"{', '.join(names)} are not directly inside each other{self._between(found)}; "
            f"the loops are {self.describe_loops()}"
        )

    def outer(self, node: Tree) -> tuple[Loop, ...]:
        """The loops around a node of the tree, outermost first."""
        return tuple(n for n in path(self.tree, node)[:-1] if isinstance(n, Loop))

    def functions_around(self, node: Tree) -> Outer:
        """What the loops around a node of the tree iterate over."""
        result: Outer = frozenset()
        for loop in self.outer(node):
            result = self.legality.inside(result, loop)
        return result

    def is_coincident(self, loop: Loop) -> bool:
        """Whether dependences stay inside iterations of a loop of the tree."""
        return self.legality.is_coincident(self.functions_around(loop), loop)

    def taken_names(self, loop: Loop) -> set[str]:
        """Names of all loops on paths through `loop`."""
        return {other.name for other in (*self.outer(loop), *loops(loop))}

    def short_name(self, loop: Loop) -> str:
        """The loop's name, with its first statement in front where it is ambiguous."""
        alone = sum(other.name == loop.name for other in loops(self.tree)) == 1
        return loop.name if alone else f"{statements(loop)[0]}.{loop.name}"

    def describe_loops(self) -> str:
        """The names of all loops, outermost first."""
        return ", ".join(self.short_name(loop) for loop in loops(self.tree)) or "none"

    @property
    def run_time_sizes(self) -> tuple[str, ...]:
        """Names of the tile sizes that calls of the kernel give."""
        return run_time_sizes(self.tree)

    def _check_run_time_tiles(self, step: Transformation) -> None:
        """Raises MalformedTransformation where tiles of unknown sizes are in the way of a step."""
        for loop in self.find_loops(step.loops):
            around = () if step.works_in_run_time_tiles else self.outer(loop)
            own = () if step.takes_run_time_tiles else (loop,)
            for tile in (*around, *own):
                if tile.run_time_size is not None:
                    raise MalformedTransformation(
                        f"the size of the tile loop {tile.name} is given at run time "
                        f"({tile.run_time_size}); use a constant size"
                    )

    def _legality_of(self, scop: Scop) -> Legality:
        """What is legal in the program that a step has changed; raises MalformedTransformation."""
        try:
            if "dependences" not in scop.memory:
                remember_dependences(
                    compute_dependences(scop, self.dependences, reassociate=self.reassociate)
                )
            return Legality(dependences_of(scop))
        except SourceError as error:
            raise MalformedTransformation(f"then {error.message}") from error

    def _between(self, members: tuple[Loop, ...]) -> str:
        """What keeps loops apart that are not directly inside each other, and what to do."""
        outermost = min(members, key=lambda loop: len(path(self.tree, loop)))
        if not all(any(loop is inner for inner in loops(outermost)) for loop in members):
            return ""
        nest = chain(outermost)
        if all(any(loop is inner for inner in nest) for loop in members):
            return ": name those between them, too"
        return f": try distribute{{loops={self.short_name(nest[-1])}}} first"

    def _candidates(self, name: str) -> list[Loop]:
        statement, _, own = name.rpartition(".")
        return [
            loop
            for loop in loops(self.tree)
            if loop.name == own and (not statement or statement in statements(loop))
        ]

    def _unique(self, name: str, candidates: list[Loop]) -> Loop:
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            which = " or ".join(self.short_name(loop) for loop in candidates)
            raise MalformedTransformation(f"loop {name} is ambiguous: say {which}")
        names = [self.short_name(loop) for loop in loops(self.tree)]
        close = difflib.get_close_matches(name, names, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise MalformedTransformation(
            f"there is no loop {name}{hint}; the loops are {self.describe_loops()}"
        )

    def __str__(self) -> str:
        """The passes that lead from the program to this schedule."""
        return ",".join(str(transformation) for transformation in self.transformations)


def _related(candidates: list[Loop], others: list[Loop]) -> list[Loop]:
    """The candidates that are inside or around all the other loops."""
    return [
        loop
        for loop in candidates
        if all(
            any(inner is other for inner in loops(loop))
            or any(inner is loop for inner in loops(other))
            for other in others
        )
    ]


def dependences_of(scop: Scop) -> Dependences:
    """The dependences of a Scop, computed once."""
    with ISL_LOCK:
        if "dependences" not in scop.memory:
            scop.memory["dependences"] = compute_dependences(scop)
        return cast(Dependences, scop.memory["dependences"])


def remember_dependences(dependences: Dependences) -> None:
    """Spares `dependences_of` the work where those of a changed program follow from others."""
    with ISL_LOCK:
        dependences.scop.memory["dependences"] = dependences
