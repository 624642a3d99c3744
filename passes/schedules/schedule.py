"""Schedule and Transformation.

Both are in one file as each is defined by the other: a transformation rewrites a schedule, and a
schedule is a program with a list of transformations.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self, cast

import islpy as isl

from ...dialects.errors import SourceError
from ...support.immutable import Immutable
from ...support.markup import MOST_COLUMNS, MOST_ROWS, block, join, notebook
from ...support.summaries import summary
from ...support.typed_values import check_kind, mismatch
from ..machine.target import Target
from ..polyhedral.dependences import Dependences, compute_dependences
from ..polyhedral.descriptions import describe_tree
from ..polyhedral.isl_context import ISL_LOCK, TooComplexError, bounded
from ..polyhedral.schedule_tree import Loop, Tree, depth
from ..polyhedral.scop import Scop
from .active_pairs import Outer
from .errors import IllegalTransformation, MalformedTransformation, TransformationError
from .legality import Legality
from .named_loops import NamedLoops

DEEPEST = 64
"""Loops around a statement: four levels of tiles of a convolution are 35."""


def option(doc: str, *, default: Any = dataclasses.MISSING, keyword: str | None = None) -> Any:
    """A field of a transformation: what it means, and the word before it in the schedule dialect.

    `keyword` is by default the field's name.
    """
    metadata: Mapping[str, str] = {"doc": doc, **({"keyword": keyword} if keyword else {})}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Transformation(ABC):
    """One step of a schedule.

    Subclasses are frozen dataclasses whose fields (integers, strings, tuples of these) are the
    options of the pass of the same name, and the operands and attributes of the operation of the
    same name in the schedule dialect: `loops` are the operands, `names` (of new loops) the
    results. Their docstring shows *before -> after*; its first line is the help text.
    """

    name: ClassVar[str]
    symbol: ClassVar[str] = ""
    """Its letters in the compact notation, `{}` for the number of loops; by default its name."""

    takes_run_time_tiles: ClassVar[bool] = False
    """Whether its loops may be tile loops whose sizes are given at run time."""

    works_in_run_time_tiles: ClassVar[bool] = True
    """Whether its loops may be inside of such tile loops."""

    loops: tuple[str, ...] = option("the loops, by name")

    @abstractmethod
    def rewrite(self, schedule: Schedule) -> Tree:
        """The new tree, whether legal or not; raises MalformedTransformation."""

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        """The statements and arrays, and the new tree; most steps change only the tree.

        The tree of a new Scop is its original order, or the order so far, without marks. Raises
        MalformedTransformation.
        """
        return schedule.scop, self.rewrite(schedule)

    def resolve(self, schedule: Schedule) -> Self:
        """The same step with defaults filled in and loops in their shortest unambiguous names."""
        found = schedule.find_loops(self.loops)
        return dataclasses.replace(self, loops=tuple(schedule.short_name(loop) for loop in found))

    def new_loops(self, schedule: Schedule) -> tuple[str, ...]:
        """Names of the loops that the step makes: none, or one for each of `loops`."""
        return ()

    @classmethod
    def from_symbol(cls, schedule: Schedule, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
        """The step's loops, where the compact notation has these behind the symbol.

        Raises MalformedTransformation.
        """
        return loops

    def to_symbol(self, schedule: Schedule) -> tuple[Loop, ...] | None:
        """What `from_symbol` makes the step's loops of; None where only the full name will do."""
        return schedule.find_loops(self.loops)

    def repairs(self, schedule: Schedule) -> Iterator[Steps]:
        """Steps to try in place of this one where it is illegal; the first that are legal are told.

        They end with this step, after others that may make it legal, or with one like it.
        """
        return iter(())

    @property
    def subject(self) -> str:
        """Operation and loops, for error messages: `tile of i, j`."""
        return f"{self.name} of {', '.join(self.loops)}" if self.loops else self.name

    def __str__(self) -> str:
        """The pass that does the same: `tile{loops=i,j sizes=32,32}`."""
        options = (
            f"{field.name.replace('_', '-')}={_print_value(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        )
        text = " ".join(options)
        return f"{self.name}{{{text}}}" if text else self.name


def _print_value(value: object) -> str:
    match value:
        case tuple():
            return ",".join(_print_value(item) for item in value)  # pyright: ignore
        case bool():
            return str(value).lower()
        case _:
            return str(value)


Steps = tuple[Transformation, ...]


@dataclass(frozen=True)
class Schedule(NamedLoops, Immutable):
    """A program, its transformations, and the resulting tree; immutable.

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
        _check_options(transformation)
        try:
            with bounded():
                resolved = transformation.resolve(self)
                self._check_run_time_tiles(resolved)
                scop, tree = resolved.rewrite_program(self)
                _check_depth(tree)
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
                resolved.subject,
                violation,
                partial(self._repair_hint, resolved),
                partial(str, self),
            )
        steps = (*self.transformations, resolved)
        return replace(self, scop=scop, tree=tree, legality=legality, transformations=steps)

    def apply_all(self, transformations: Iterable[Transformation]) -> Schedule:
        """All transformations in turn; raises TransformationError at the first that fails."""
        result = self
        check_kind("transformations", transformations, Iterable, "a list of transformations")
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

    def functions_around(self, node: Tree) -> Outer:
        """What the loops around a node of the tree iterate over."""
        result: Outer = frozenset()
        for loop in self.outer(node):
            result = self.legality.inside(result, loop)
        return result

    def is_coincident(self, loop: Loop) -> bool:
        """Whether dependences stay inside iterations of a loop of the tree."""
        return self.legality.is_coincident(self.functions_around(loop), loop)

    def is_lockstep(self, loop: Loop) -> bool:
        """Whether iterations of a loop of the tree can run operation by operation."""
        return self.legality.is_lockstep(self.functions_around(loop), loop)

    def legal_repairs(self, illegal: Transformation) -> Iterator[Steps]:
        """What can be applied in place of an illegal step: each was tried, none comes twice."""
        seen: set[Steps] = set()
        for steps in illegal.repairs(self):
            if steps not in seen and self.legal_all(steps):
                seen.add(steps)
                yield steps

    def _repair_hint(self, illegal: Transformation) -> str | None:
        """What makes an illegal step legal, or comes close to it; None where nothing was found."""
        for steps in self.legal_repairs(illegal):
            *before, last = steps
            if last == illegal:
                return f"{','.join(map(str, before))} makes it legal"
            return f"{','.join(map(str, steps))} is legal"
        return None

    def legal_all(self, transformations: Iterable[Transformation]) -> bool:
        """Whether all transformations can be applied in turn."""
        try:
            self.apply_all(transformations)
        except TransformationError:
            return False
        return True

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

    def __str__(self) -> str:
        """The passes that lead from the program to this schedule."""
        return ",".join(str(transformation) for transformation in self.transformations)

    def __repr__(self) -> str:
        return summary(self, f"of {self.program.name}: {str(self) or 'as written'}")

    def _repr_html_(self) -> str:
        """The steps and the loops, for notebooks."""
        loops = block(describe_tree(self.scop, self.tree), MOST_ROWS, MOST_COLUMNS)
        steps = "\n".join(map(str, self.transformations)) or "as written"
        return notebook(
            f"Schedule of {self.program.name}",
            join((block(steps, MOST_ROWS, MOST_COLUMNS), loops)),
        )


def _check_options(transformation: Transformation) -> None:
    """Raises TypeError for what is no transformation, or has options of another type."""
    wanted = "a Transformation; function.schedule(TEXT) reads texts"
    check_kind("a step", transformation, Transformation, wanted)
    wrong = mismatch(transformation, type(transformation))
    if wrong is not None:
        raise TypeError(f"{transformation.name}: {wrong}")


def _check_depth(tree: Tree) -> None:
    """Raises MalformedTransformation where loops are so deep that nothing else ends in seconds."""
    if depth(tree) > DEEPEST:
        raise MalformedTransformation(
            f"then {depth(tree)} loops would be inside each other; there may be {DEEPEST}"
        )


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
