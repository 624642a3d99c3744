"""Comparison of tile-size searches on measured spaces: `python -m $PAPER.experiments.tile_sizes`.

The experiment of "Neural Network Assisted Tile Size Selection" (2010, section 4.2) on what
`tile_spaces.py` has measured: for shares of the space from 1 to 4 %, each search many
times with other random choices; the efficiency of what it finds is the time of the best point of
the whole space over that of the best point it has seen. `random` sees as many points as the others:
the share and 50 more. `--plot FOLDER` draws each benchmark's sorted times, and what a network that
has seen 5 % of them predicts (figures 2 to 8).

`PAPER` is loopwright.costmodel.papers.tile_sizes2010.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....passes.estimate.scheduling_context import SchedulingContext
from .....passes.schedules.schedule import Schedule
from .....passes.search.names import GUIDED
from .....passes.search.space.tile_size_space import TileSpace
from .....passes.search.tile_size_search import Plan, TileSearch
from .....runtime.tuning.tiles import promising_points
from ..tile_network import TileNetworks
from ..tile_searches import by_chance, by_network, guided
from .tile_spaces import BENCHMARKS, FOLDER, NAMES, SIZES

parquet: Any = importlib.import_module("pyarrow.parquet")

SEARCHES: Mapping[str, TileSearch] = {
    "random": by_chance,
    "network": by_network,
    "guided": guided,
}
SHARES = (0.01, 0.02, 0.03, 0.04)
Array = NDArray[np.float64]


def load(name: str, folder: Path) -> Array:
    """Seconds of each point of the space, in its order."""
    table = parquet.read_table(folder / f"{name}.parquet")
    rows = list(zip(*(table[column].to_pylist() for column in NAMES), strict=True))
    assert rows == [tuple(point) for point in SPACE.points.tolist()], "another space"
    return np.array(table["seconds"].to_pylist())


SPACE = TileSpace((SIZES,) * len(NAMES))


def promising(name: str) -> tuple[int, ...]:
    """What the estimate of the default schedule proposes, as `tune --tiles` asks it."""
    benchmark = BENCHMARKS[name]
    function = benchmark.function()
    tiling = function.schedule(benchmark.schedule, fast_math=benchmark.fast_math)
    original = Schedule.original(function.scop, reassociate=benchmark.fast_math)
    return promising_points(original, tiling, space_of(name), SchedulingContext(benchmark.sizes, 1))


def space_of(name: str) -> TileSpace:
    """The space, with the width of the vectors of the benchmark."""
    return TileSpace(SPACE.sizes, 8 if BENCHMARKS[name].vectors else 1)


def found(search: str, plan: Plan, seconds: Array) -> float:
    """The seconds of the best point that a search sees."""
    batches = SEARCHES[search](plan)
    known: dict[int, float] = {}
    asked = next(batches)
    while True:
        known |= {point: float(seconds[point]) for point in asked}
        try:
            asked = batches.send(dict(known))
        except StopIteration:
            return min(known.values())


def networks(plans: Sequence[Plan], seconds: Array) -> list[float]:
    """What the search by a network finds for each plan: all networks are trained side by side."""
    points = plans[0].space.points.astype(float)
    samples = np.array(
        [plan.generator().permutation(len(points))[: plan.sampled] for plan in plans]
    )
    trained = TileNetworks(points[samples], seconds[samples], plans[0].seed)
    buckets = np.argsort(trained.predict(points), 1)[:, :GUIDED]
    return [
        float(min(seconds[sample].min(), seconds[bucket].min()))
        for sample, bucket in zip(samples, buckets, strict=True)
    ]


def efficiencies(
    search: str, share: float, seconds: Array, space: TileSpace, prior: tuple[int, ...], count: int
) -> Array:
    """Efficiencies of the search's answers, with `count` different seeds."""
    sampled = round(share * len(seconds))
    plans = [Plan(space, sampled, seed, lambda: prior) for seed in range(count)]
    if search == "network":
        times = networks(plans, seconds)
    else:
        times = [found(search, plan, seconds) for plan in plans]
    return seconds.min() / np.array(times)


def plot(name: str, seconds: Array, folder: Path) -> None:
    """The times of all points, sorted, and those that a network predicts."""
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    plan = Plan(SPACE, round(0.05 * len(seconds)))
    points = SPACE.points.astype(float)
    sample = plan.generator().permutation(len(points))[: plan.sampled]
    network = TileNetworks(points[sample][None], seconds[sample][None], 0)
    order = np.argsort(seconds)
    figure, axes = pyplot.subplots(figsize=(5, 3))
    axes.plot(1e3 * network.predict(points)[0][order], ".", markersize=1, label="predicted")
    axes.plot(1e3 * seconds[order], label="measured")
    axes.set(title=name, xlabel="tile sizes, fastest first", ylabel="ms", ylim=0)
    axes.legend()
    figure.savefig(folder / f"{name}.png", dpi=100, bbox_inches="tight")
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmarks", nargs="*", metavar="NAME")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--searches", nargs="+", default=list(SEARCHES), choices=list(SEARCHES))
    parser.add_argument("--shares", nargs="+", type=float, default=list(SHARES))
    parser.add_argument("--repeat", type=int, default=100)
    parser.add_argument("--plot", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    names = options.benchmarks or list(BENCHMARKS)
    if unknown := [name for name in names if name not in BENCHMARKS]:
        parser.error(f"no benchmark {unknown[0]}: there are {', '.join(BENCHMARKS)}")
    print("| benchmark | share | search | best | average | worst |", flush=True)
    print("|---|---|---|---|---|---|")
    for name in names:
        seconds, space = load(name, options.folder), space_of(name)
        if options.plot is not None:
            options.plot.mkdir(parents=True, exist_ok=True)
            plot(name, seconds, options.plot)
            continue
        begun = time.perf_counter()
        prior = promising(name) if "guided" in options.searches else ()
        for share in options.shares:
            for search in options.searches:
                found = efficiencies(search, share, seconds, space, prior, options.repeat)
                cells = " | ".join(
                    f"{100 * e:.1f} %" for e in (found.max(), found.mean(), found.min())
                )
                print(f"| {name} | {share:.0%} | {search} | {cells} |", flush=True)
        print(f"{name}: {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
