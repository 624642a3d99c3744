"""Searches for tile sizes: random, by the paper's network, by Gaussian process."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import numpy as np

from ....passes.search.names import GUIDED
from ....passes.search.tile_size_search import Batches, Plan
from ....support.extras import extra_for
from .gaussian_process import Scales, fit

BATCH = 4
"""Points between two looks at what they tell, at least."""

LOOKS = 40
"""Of many measurements, batches are such that there are no more looks than this."""

FIRST = 0.2
"""The share of the measurements that are spread over the space before any other."""

TURNS = 2
"""How often the size of each loop is changed alone."""

STEP = 3
"""Of the sizes of a loop, one in so many is tried then."""

CURIOSITY = 3.0
"""How many standard deviations below its expectation a point is hoped to be, but in the end."""

CANDIDATES = 1000
"""So many points with the best expectations are looked at closely."""

SLOWEST = 3.0
"""What is slower than so many times the best point counts as just that slow."""


def by_chance(plan: Plan) -> Batches:
    """As many points at random as the other searches measure."""
    order = plan.generator().permutation(len(plan.space.points))
    yield order[: plan.measurements].tolist()


def by_network(plan: Plan) -> Batches:
    """The paper's search: a random sample, then the points that a network trained on it likes."""
    with extra_for("the tile search 'network'"):
        from .tile_network import TileNetworks

    points = plan.space.points
    sample = plan.generator().permutation(len(points))[: plan.sampled].tolist()
    known = yield sample
    usable = [point for point in sample if np.isfinite(known[point])]
    if len(usable) < 4:
        return
    values = np.array([[known[point] for point in usable]])
    network = TileNetworks(points[usable][None].astype(float), values, plan.seed)
    order = np.argsort(network.predict(points.astype(float))[0])
    yield order[:GUIDED].tolist()


def guided(plan: Plan) -> Batches:
    """Promising points and a few at random, one size at a time from the best, then a process.

    The Gaussian process is fitted to the logarithms of all times so far, over those of the sizes;
    what it hopes most of is measured in batches, and in the last one what it expects most of. As
    many measurements as `by_network`, all but the first chosen with what the others have told.
    """
    inputs = plan.space.inputs(plan.space.points)
    total = plan.measurements
    batch = max(BATCH, total // LOOKS)
    order = plan.generator().permutation(len(inputs)).tolist()
    first = [*plan.promising(), *order]
    known = yield list(dict.fromkeys(first))[: max(4, round(FIRST * total))]
    known = yield from _one_by_one(plan, known)
    scales: Scales | None = None
    while (left := total - len(known)) > 0:
        measured = np.array(list(known))
        seconds = np.array([known[point] for point in known])
        best = seconds.min()
        if not np.isfinite(best):
            rest = [point for point in order if point not in known]
            known = yield rest[: min(batch, left)]
            continue
        values = np.log(np.minimum(seconds, SLOWEST * best))
        process = fit(inputs[measured], values, scales)
        scales = process.scales
        hope = process.mean(inputs)
        hope[measured] = np.inf
        candidates = np.argsort(hope)[: min(CANDIDATES, len(hope) - len(measured))]
        curiosity = CURIOSITY if left > batch else 0.0
        chosen = process.most_hopeful(inputs[candidates], min(batch, left), curiosity)
        known = yield candidates[chosen].tolist()


def _one_by_one(
    plan: Plan, known: Mapping[int, float]
) -> Generator[list[int], Mapping[int, float], Mapping[int, float]]:
    """Changes the size of one loop at a time, from the best point.

    Good sizes lie on narrow ridges along the axes, as where a loop is covered by one tile, or where
    few rows are left that stay in a cache: of these, random points show little.
    """
    space, generator = plan.space, plan.generator()
    best = min(known, key=lambda point: known[point])
    for loop in generator.permutation(len(space.sizes)).tolist() * TURNS:
        line = space.along(best, loop)[int(generator.integers(STEP)) :: STEP]
        left = plan.measurements - len(known)
        wanted = [point for point in line if point not in known][:left]
        if wanted:
            known = yield wanted
        best = min((each for each in (best, *line) if each in known), key=lambda p: known[p])
    return known
