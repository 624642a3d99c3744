"""isl's AST of a schedule tree, with loop marks and separated tile shapes.

Each `Loop` becomes a band of one member below a mark node, so that the AST says which of our loops
a `for` comes from. At the outermost point loop of a tile the mark carries `TileCase`s, for full
tiles and those that are cut off at the same place: a condition under which the tile is one of them,
and another AST of its inside for that case, without min, max and guards.
"""

from __future__ import annotations

from collections.abc import Container, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce

import islpy as isl

from ...passes.polyhedral.isl_context import coalesced
from ...passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, sum_of_affs
from .full_tiles import (
    TileBox,
    cut_tiles,
    full_tiles,
    is_tile_entry,
    outer_schedule,
    restrict_to_tile,
    shared_tiles,
    tile_box,
)
from .run_time_tiles import TileInside
from .scanning import Scan


@dataclass(frozen=True, eq=False)
class TileCase:
    """The AST of tiles of one shape.

    `condition` is isl's expression over the outer iterators, `inside` the AST of such a tile, in
    which parameter `parameters[k]` stands for the expression `origin[k]` over the outer iterators.
    """

    condition: isl.AstExpr
    inside: isl.AstNode
    parameters: tuple[str, ...]
    origin: tuple[isl.AstExpr, ...]


@dataclass(frozen=True, eq=False)
class Note:
    """Annotation of a loop at one mark.

    `cases` are there at the entry of a tile, to be tried in order; they are `complete` when every
    tile is one of them. `value` is there where isl has left the loop out because its value follows
    from the loops around it.
    """

    cases: tuple[TileCase, ...]
    complete: bool
    value: isl.AstExpr | None


@dataclass(frozen=True)
class TileLoop:
    """A run-time tile loop, the tree inside its tiles, and the AST of that."""

    loop: Loop
    inside: TileInside
    ast: MarkedAst


@dataclass(eq=False)
class MarkedAst:
    """An isl AST and what its marks mean: mark name -> Loop, annotation name -> Note.

    A tree for which isl makes no right one is scanned in its place.
    A call of a statement has its induction variables as arguments, as many as `depths` says, and
    perhaps others behind them. A call of what is in `tiles` is a run-time tile loop; its arguments
    are the values of the loops around. `scaled` has the values of loops whose iterators isl has
    scaled down, over the iterators, by the annotation of the `for`: of those that were asked for.
    """

    root: isl.AstNode | Scan
    depths: Mapping[str, int]
    loops: dict[str, Loop] = field(default_factory=dict[str, Loop])
    notes: dict[str, Note] = field(default_factory=dict[str, Note])
    scaled: dict[str, isl.AstExpr] = field(default_factory=dict[str, isl.AstExpr])
    tiles: dict[str, TileLoop] = field(default_factory=dict[str, "TileLoop"])

    def scaled_value(self, node: isl.AstNode) -> isl.AstExpr | None:
        """The value of the loop of a `for` whose iterator isl has scaled down."""
        return self.scaled.get(node.get_annotation().get_name()) if self.scaled else None

    def note(self, mark: isl.AstNode) -> Note:
        """What is known at a mark node."""
        return self.notes[mark.get_annotation().get_name()]


class UnknownLoopValueError(Exception):
    """A loop's value is not a function of isl's iterator, which statements share."""


class AstBuilder:
    """Builds isl's AST of a tree without run-time tile loops over `domains`.

    `asked` names the loops whose values somebody wants to know.
    """

    def __init__(
        self, domains: Mapping[str, isl.Set], context: isl.Set, asked: Container[str] = ()
    ) -> None:
        self.domains = domains
        self.context = context
        self.asked = asked
        nothing = isl.AstNode.alloc_user(isl.AstExpr.from_val(isl.Val(0)))
        self.result = MarkedAst(nothing, depths(domains))
        self.entries: dict[str, TileBox] = {}
        self.pending: list[tuple[str, tuple[TileCase, ...], bool]] = []
        self.builds: list[isl.AstBuild] = []
        self.failure: Exception | None = None

    def build(self, tree: Tree) -> MarkedAst:
        """The AST."""
        schedule = self._to_isl(tree, (), self.domains)
        if self.entries:
            schedule = self._guard_entries(schedule.get_root()).get_schedule()
        self.result.root = self._generate(schedule, self.context)
        if self.failure is not None:
            raise self.failure
        return self.result

    def _generate(self, schedule: isl.Schedule, context: isl.Set) -> isl.AstNode:
        build = isl.AstBuild.from_context(context)
        build, _before = build.set_before_each_mark(self._before_mark)
        build, _after = build.set_after_each_mark(self._after_mark)
        if self.asked:
            build, _for = build.set_before_each_for(self._before_for)
        return build.node_from_schedule(schedule)

    def _to_isl(
        self,
        tree: Tree,
        outer: tuple[Loop, ...],
        domains: Mapping[str, isl.Set],
        entries: bool = True,
    ) -> isl.Schedule:
        """isl's schedule of `tree`; with `entries`, tiles get their cases when they are reached."""
        match tree:
            case Leaf(name):
                return isl.Schedule.from_domain(isl.UnionSet.from_set(domains[name]))
            case Sequence(children):
                parts = [self._to_isl(child, outer, domains, entries) for child in children]
                schedule = parts[0]
                for part in parts[1:]:
                    schedule = schedule.sequence(part)
                return schedule
            case Loop():
                is_entry = entries and is_tile_entry(tree, outer)
                inner = (*outer, tree)
                schedule = self._to_isl(tree.body, inner, domains, entries and not is_entry)
                affs = tuple(
                    aff.align_params(domains[name].get_space().params())
                    for name, aff in tree.schedule.items()
                )
                mark = f"L{len(self.result.loops)}"
                self.result.loops[mark] = tree
                if is_entry:
                    self.entries[mark] = tile_box(tree, outer, domains)
                node = schedule.get_root().child(0).insert_partial_schedule(sum_of_affs(affs))
                return node.insert_mark(isl.Id(mark)).get_schedule()

    def _guard_entries(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Has tiles entered only where they have instances.

        isl leaves conditions to the loops inside, which run no iteration otherwise; the cases of a
        tile have other loops.
        """
        for position in range(node.n_children()):
            node = self._guard_entries(node.child(position)).parent()
        if node.get_type() != isl.schedule_node_type.mark:
            return node
        box = self.entries.get(node.mark_get_id().get_name())
        return node if box is None else node.insert_guard(_reached(box))

    @contextmanager
    def _keeping_failures(self) -> Generator[None]:
        """For what isl calls: an exception that leaves through isl corrupts its memory."""
        try:
            yield
        except Exception as error:
            self.failure = self.failure or error

    def _before_mark(self, mark: isl.Id, build: isl.AstBuild) -> None:
        if self.failure is not None:
            return
        with self._keeping_failures():
            name = mark.get_name()
            cases: tuple[TileCase, ...] = ()
            complete = False
            if name in self.entries:
                cases, complete = self._tile_cases(self.entries[name], build)
            self.pending.append((name, cases, complete))

    def _before_for(self, build: isl.AstBuild) -> isl.Id:
        self.builds.append(build.copy())
        return isl.Id(f"F{len(self.builds) - 1}")

    def _after_mark(self, node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        if self.failure is None:
            with self._keeping_failures():
                return self._annotated(node, build)
        return node

    def _annotated(self, node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        mark = node.mark_get_id().get_name()
        while True:  # isl does not come back to a mark below which nothing is executed
            name, cases, complete = self.pending.pop()
            if name == mark:
                break
        loop = self.result.loops[mark]
        value: isl.AstExpr | None = None
        if not _is_for(node.mark_get_node()):
            value = _only_value(loop, build)
        for piece in _fors(node.mark_get_node()) if loop.name in self.asked else ():
            name = piece.get_annotation().get_name()
            inside = self.builds[int(name[1:])]
            if _is_scaled(loop, inside):
                own = _only_value(loop, inside)
                if own is None:
                    raise UnknownLoopValueError
                self.result.scaled[name] = own
        annotation = f"N{len(self.result.notes)}"
        self.result.notes[annotation] = Note(cases, complete, value)
        return node.set_annotation(isl.Id(annotation))

    def _tile_cases(self, box: TileBox, build: isl.AstBuild) -> tuple[tuple[TileCase, ...], bool]:
        """The cases of a tile, and whether there is no other tile."""
        outer = coalesced(_loop_values(box.outer, build).intersect_params(self.context))
        if not _has_whole_tiles(box, build, outer.range()):
            return (), False
        hull = isl.Map.from_basic_map(outer.affine_hull())
        if not hull.is_single_valued():
            return (), False
        values = isl.PwMultiAff.from_map(hull)
        depth = len(box.outer)
        origin = tuple(build.expr_from_pw_aff(values.get_pw_aff(k)) for k in range(depth))
        rest = coalesced(outer.range())
        cases: list[TileCase] = []
        for tiles in self._like_tiles(box, rest):
            rest = rest.subtract(tiles)
            # Where the tile does not exist at all it is in no case: another statement may be there.
            condition = build.expr_from_set(coalesced(outer.intersect_range(tiles).domain()))
            cases.append(self._tile_case(box, tiles, condition, origin))
        return tuple(cases), rest.is_empty()

    def _like_tiles(self, box: TileBox, reached: isl.Set) -> Iterator[isl.Set]:
        """Sets of tiles with the same statements and the same extents."""
        for part, tiles in shared_tiles(box, reached, self.context):
            full = full_tiles(part, tiles, self.context)
            for alike in (full, *cut_tiles(part, tiles.subtract(full), self.context)):
                if not alike.is_empty():
                    yield alike

    def _tile_case(
        self,
        box: TileBox,
        tiles: isl.Set,
        condition: isl.AstExpr,
        origin: tuple[isl.AstExpr, ...],
    ) -> TileCase:
        parameters = tuple(f"tile{position}" for position in range(len(box.outer)))
        domains, context = restrict_to_tile(box, tiles, parameters)
        schedule = self._to_isl(box.entry, box.outer, domains, entries=False)
        return TileCase(condition, self._generate(schedule, context), parameters, origin)


def _reached(box: TileBox) -> isl.Set:
    """The values of the outer loops at which a tile has instances."""
    parts = (
        outer_schedule(box.outer, name, domain).range() for name, domain in box.domains.items()
    )
    return coalesced(reduce(isl.Set.union, parts))


def depths(domains: Mapping[str, isl.Set]) -> dict[str, int]:
    """The number of induction variables of each statement."""
    return {name: domain.dim(isl.dim_type.set) for name, domain in domains.items()}


def _has_whole_tiles(box: TileBox, build: isl.AstBuild, reached: isl.Set) -> bool:
    """Whether all instances of the tiles come here, and none at another mark for the same loop.

    isl gives each part of a sequence loops of its own where these run only once.
    """
    here = build.get_schedule().domain()
    for name, domain in box.domains.items():
        inside = outer_schedule(box.outer, name, domain).intersect_range(reached).domain()
        if not isl.UnionSet.from_set(inside).is_subset(here):
            return False
    return True


def _is_for(node: isl.AstNode) -> bool:
    return str(node.get_type()).endswith("for_")


def _fors(node: isl.AstNode) -> Iterator[isl.AstNode]:
    """The pieces of the loop of a mark, above which there are guards only."""
    kind = str(node.get_type()).rpartition(".")[2]
    if kind == "for_":
        yield node
    elif kind == "if_":
        yield from _fors(node.if_get_then_node())
        if node.if_has_else_node():
            yield from _fors(node.if_get_else_node())
    elif kind == "block":
        children = node.block_get_children()
        for position in range(children.n_ast_node()):
            yield from _fors(children.get_at(position))


def _is_scaled(loop: Loop, build: isl.AstBuild) -> bool:
    """Whether the innermost iterator that isl has made, that of the loop, is not its value.

    Where all values are multiples of a number, isl divides them by that.
    """
    iterators = build.get_schedule().get_map_list().get_at(0)
    name = iterators.get_tuple_name(isl.dim_type.in_)
    last = iterators.dim(isl.dim_type.out) - 1
    own = iterators.project_out(isl.dim_type.out, 0, last)
    return not own.is_subset(isl.Map.from_aff(loop.schedule[name]))


def _only_value(loop: Loop, build: isl.AstBuild) -> isl.AstExpr | None:
    """The value of a loop, if it follows from the loops around it."""
    value = isl.Map.from_basic_map(_loop_values((loop,), build).affine_hull())
    if not value.is_single_valued():
        return None
    return build.expr_from_pw_aff(isl.PwMultiAff.from_map(value).get_pw_aff(0))


def _loop_values(loops: tuple[Loop, ...], build: isl.AstBuild) -> isl.Map:
    """The values of loops as a relation from the iterators that isl has made so far.

    There are fewer iterators than loops where a value follows from those around it, as when a loop
    runs once.
    """
    result: isl.Map | None = None
    maps = build.get_schedule().get_map_list()
    for position in range(maps.n_map()):
        iterators = maps.get_at(position)
        name = iterators.get_tuple_name(isl.dim_type.in_)
        values = outer_schedule(loops, name, iterators.domain())
        part = iterators.reverse().apply_range(values)
        result = part if result is None else result.union(part)
    assert result is not None, "a loop has statements"
    return result
