"""Full tiles are exactly those whose box has no hole, by enumeration."""

import itertools

import islpy as isl
import pytest

from loopwright.lowering.nest.full_tiles import (
    cut_tiles,
    full_tiles,
    is_tile_entry,
    shared_tiles,
    tile_box,
)
from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, TileSize, Tree, chain


def loop(name: str, function: str, body: Tree, within: TileSize | None = None) -> Loop:
    aff = isl.Aff(f"[N] -> {{ S0[i, j] -> [({function})] }}")
    return Loop(name, {"S0": aff}, body, within)


def tiled(outer: tuple[str, str], inner: tuple[str, str], size: int) -> Loop:
    """Two tile loops over two point loops, given the schedule functions of each."""
    points = loop("j", inner[1], Leaf("S0"), TileSize("jt", size))
    entry = loop("i", inner[0], points, TileSize("it", size))
    return loop("it", outer[0], loop("jt", outer[1], entry))


DOMAINS = {
    "rectangle": "0 <= i < N and 0 <= j < N",
    "triangle": "0 <= i < N and 0 <= j <= i",
    "trapezoid": "0 <= i < N and i <= j < 2i + 3",
    "steps": "0 <= i < N and 0 <= j < N and (i + j) mod 2 = 0",
    "nothing": "0 <= i < N and j < 0 and j > 0",
}

SKEWS = {"square": ("i", "j"), "skewed": ("i", "i + j")}


def enumerated(domain: isl.Set, skew: str, extent: int) -> set[tuple[int, int]]:
    """The values of the point loops at all instances."""
    instances: set[tuple[int, int]] = set()
    for i, j in itertools.product(range(-1, 40), repeat=2):
        point = isl.Set(f"[N] -> {{ S0[{i}, {j}] : N = {extent} }}")
        if not point.intersect(domain).is_empty():
            instances.add((i, i + j) if skew == "skewed" else (i, j))
    return instances


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("skew", SKEWS)
@pytest.mark.parametrize(("extent", "size"), [(13, 4), (8, 4), (3, 4), (5, 1)])
def test_full_tiles_by_enumeration(domain: str, skew: str, extent: int, size: int) -> None:
    first, second = SKEWS[skew]
    tree = tiled((f"floor(({first})/{size})", f"floor(({second})/{size})"), SKEWS[skew], size)
    domains = {"S0": isl.Set(f"[N] -> {{ S0[i, j] : {DOMAINS[domain]} }}")}
    context = isl.Set(f"[N] -> {{ : N = {extent} }}")
    entry = chain(tree)[2]
    box = tile_box(entry, chain(tree)[:2], domains)
    reached = isl.Set("[N] -> { [it, jt] : -9 < it < 99 and -9 < jt < 99 }")
    full = full_tiles(box, reached, context)

    instances = enumerated(domains["S0"], skew, extent)
    for it, jt in itertools.product(range(-2, 12), repeat=2):
        wanted = all(
            (it * size + a, jt * size + b) in instances
            for a, b in itertools.product(range(size), repeat=2)
        )
        tile = isl.Set(f"[N] -> {{ [{it}, {jt}] : N = {extent} }}")
        assert (not tile.intersect(full).is_empty()) == wanted, (it, jt)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("skew", SKEWS)
@pytest.mark.parametrize(("extent", "size"), [(13, 4), (8, 4), (3, 4), (5, 1)])
def test_tiles_that_are_cut_off_alike(domain: str, skew: str, extent: int, size: int) -> None:
    first, second = SKEWS[skew]
    tree = tiled((f"floor(({first})/{size})", f"floor(({second})/{size})"), SKEWS[skew], size)
    domains = {"S0": isl.Set(f"[N] -> {{ S0[i, j] : {DOMAINS[domain]} }}")}
    context = isl.Set(f"[N] -> {{ : N = {extent} }}")
    box = tile_box(chain(tree)[2], chain(tree)[:2], domains)
    instances = enumerated(domains["S0"], skew, extent)
    tiles = {(a // size, b // size) for a, b in instances}
    reached = isl.Set.empty(isl.Set("[N] -> { [it, jt] }").get_space())
    for it, jt in tiles:
        reached = reached.union(isl.Set(f"[N] -> {{ [{it}, {jt}] }}"))
    rest = reached.subtract(full_tiles(box, reached, context))

    covered: set[tuple[int, int]] = set()
    for part in cut_tiles(box, rest, context):
        members = {
            (it, jt)
            for it, jt in tiles
            if not part.intersect(isl.Set(f"[N] -> {{ [{it}, {jt}] }}")).is_empty()
        }
        assert not members & covered
        covered |= members
        shapes: set[tuple[int, int]] = set()
        for it, jt in members:
            inside = {(a, b) for a, b in instances if (a // size, b // size) == (it, jt)}
            rows, columns = {a for a, _ in inside}, {b for _, b in inside}
            assert inside == set(itertools.product(rows, columns)), "a box"
            shapes.add((len(rows), len(columns)))
        assert len(shapes) == 1
        assert shapes != {(size, size)}
    if domain == "rectangle" and skew == "square":
        assert covered == {(it, jt) for it, jt in tiles if max(it, jt) * size + size > extent}
    assert not list(cut_tiles(box, rest, isl.Set("[N] -> { : N > 4 }"))), "sizes are unknown"


def test_the_entry_is_below_the_innermost_tile_loop() -> None:
    tree = tiled(("floor(i/4)", "floor(j/4)"), ("i", "j"), 4)
    it, jt, i, j = chain(tree)
    assert [is_tile_entry(loop, chain(tree)[:k]) for k, loop in enumerate((it, jt, i, j))] == [
        False,
        False,
        True,
        True,
    ]


def test_no_entry_is_above_tiles_in_a_sequence() -> None:
    inner = tiled(("floor(i/2)", "floor(j/2)"), ("i", "j"), 2)
    block = Loop("b", inner.schedule, Sequence((Leaf("S1"), inner)), TileSize("bt", 8))
    around = loop("bt", "floor(i/8)", block)
    it, jt, i, _ = chain(inner)
    assert not is_tile_entry(block, (around,))
    assert is_tile_entry(i, (around, block, it, jt))


@pytest.mark.parametrize("extra", [0, 1, 4])
def test_tiles_that_all_statements_have_instances_in_and_others(extra: int) -> None:
    """What is initialised in the first iteration around a tile is in no other."""
    size, extent = 4, 13
    names = ("S0", *(f"S{k}" for k in range(1, 2 + extra)))
    functions = {n: isl.Aff(f"[N] -> {{ {n}[k, i] -> [(i)] }}") for n in names}
    tiles = {n: isl.Aff(f"[N] -> {{ {n}[k, i] -> [(floor(i/{size}))] }}") for n in names}
    around = {n: isl.Aff(f"[N] -> {{ {n}[k, i] -> [(k)] }}") for n in names}
    points = Loop("i", functions, Sequence(tuple(map(Leaf, names))), TileSize("it", size))
    outer = (Loop("k", around, points), Loop("it", tiles, points))
    domains = {
        n: isl.Set(f"[N] -> {{ {n}[k, i] : {k} <= k < N and 0 <= i < N }}")
        for k, n in enumerate(names)
    }
    context = isl.Set(f"[N] -> {{ : N = {extent} }}")
    reached = isl.Set("[N] -> { [k, it] : 0 <= k < 6 and 0 <= it < 4 and N = 13 }")
    parts = shared_tiles(tile_box(points, outer, domains), reached, context)
    if extra == 4:
        assert [(set(box.domains), rest) for box, rest in parts] == [(set(names), reached)]
        return
    full = [
        (set(box.domains), k, it)
        for box, rest in parts
        for k, it in itertools.product(range(9), range(extent))
        if not full_tiles(box, rest, context)
        .intersect(isl.Set(f"[N] -> {{ [{k}, {it}] : N = {extent} }}"))
        .is_empty()
    ]
    assert sorted(full, key=lambda each: each[1:]) == [
        (set(names[: k + 1]), k, it) for k, it in itertools.product(range(6), range(extent // size))
    ]
