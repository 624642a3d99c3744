"""Ranking of two-level tiles of GEMM at a size absent from the training data.

The experiment of "AI Powered Compiler Techniques for DL Code Optimization" (2021), section 5.2, on
one thread: of each size of Table 1, all variants are ranked by models that have learned from the
other nine sizes, and from those in `--also`. What counts is the best variant of the first tenth, as
a share of the best of all. `shipped` is the model of the package, which has learned from none of
these sizes.

    python -m $PAPER.experiments.ranking                         # datasets/gemm-tiles
    python -m $PAPER.experiments.ranking --features ""           # the shipped model alone
    python -m $PAPER.experiments.ranking DIR --features published --also datasets/gemm-tiles-random

`PAPER` is loopwright.costmodel.papers.ai_powered2021.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from .....passes.estimate.estimate import Roofline
from .....passes.estimate.scheduling_context import SchedulingContext
from .....passes.syntax.pipeline import parse_pipeline
from .....runtime.jit.cache import cache_directory
from .....support.progress import ProgressLine
from ....find import find_ranker
from ....learning.examples import ProgramExamples, load_examples
from ....learning.metrics import spearman
from ....learning.pairs import ProgramPairs, read_pairs
from ....model_names import DEFAULT_RANKER
from ....models.learned_model import TrainingOptions
from ....original import original_schedule
from ..tournament import FEATURES, Tournament

DATASET = Path("datasets/gemm-tiles")
SHARE = 0.1

Values = NDArray[np.float64]


def main() -> int:
    """Prints a row per size and way of ranking."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, nargs="?", default=DATASET)
    parser.add_argument("--features", default=",".join(FEATURES))
    parser.add_argument("--epochs", type=int, default=None)
    parser.add_argument("--also", type=Path, help="labels of other sizes to learn from")
    options = parser.parse_args()
    torch.set_num_threads(1)
    pairs = read_pairs(options.directory)
    examples = _examples(pairs)
    also: Sequence[ProgramExamples] = ()
    if options.also is not None:
        also = _examples(read_pairs(options.also))
    ways: dict[str, Sequence[Values]] = {
        kind: _left_out(examples, also, kind, options.epochs)
        for kind in options.features.split(",")
        if kind
    }
    shipped = find_ranker(DEFAULT_RANKER)
    assert isinstance(shipped, Tournament)
    ways["shipped"] = [shipped.score(program.features) for program in examples]
    ways["roofline"] = [_estimated(program) for program in pairs]
    print(f"{'size':<20}{'variants':>9}{'median':>9}" + "".join(f"{w:>28}" for w in ways))
    shares: dict[str, list[float]] = {way: [] for way in ways}
    for number, program in enumerate(pairs):
        speed = program.speedups
        cells = ""
        for way, scores in ways.items():
            best, first = _shares(scores[number], speed)
            shares[way].append(best)
            rank = spearman(scores[number], speed)
            cells += f"{best:>10.1%}{first:>9.1%}{rank:>9.2f}"
        median = float(np.median(speed) / speed.max())
        print(f"{_name(program.sizes):<20}{len(speed):>9}{median:>9.1%}{cells}")
    cells = "".join(f"{np.exp(np.mean(np.log(found))):>10.1%}{'':>18}" for found in shares.values())
    print(f"{'geometric mean':<38}{cells}")
    print("columns: best of the first tenth, the first one, rank correlation")
    return 0


def _examples(pairs: Sequence[ProgramPairs]) -> Sequence[ProgramExamples]:
    shared = cache_directory()
    cache = None if shared is None else shared / "features"
    examples, _ = load_examples(pairs, Tournament({"features": "all"}).featuriser, cache=cache)
    return examples


def _left_out(
    whole: Sequence[ProgramExamples],
    also: Sequence[ProgramExamples],
    kind: str,
    epochs: int | None,
) -> list[Values]:
    """The scores in each size by a model that has learned from the other ones, and from `also`."""
    count = len(FEATURES[kind])  # those of the paper come first
    examples, more = (
        [replace(p, features=tuple(row[:count] for row in p.features)) for p in programs]
        for programs in (whole, also)
    )
    found: list[Values] = []
    with ProgressLine(len(examples)) as line:
        for program in examples:
            model = Tournament({"features": kind})
            others = [*more, *(each for each in examples if each is not program)]
            model.fit(others, [], TrainingOptions(epochs=epochs))
            found.append(model.score(program.features))
            line.update(f"sizes with {kind}", len(found))
    return found


def _estimated(program: ProgramPairs) -> Values:
    original = original_schedule(program.text)
    schedules = [original.apply_all(parse_pipeline(text)) for text in program.schedules]
    return np.array(Roofline().predict(SchedulingContext(program.sizes, 1), schedules))


def _shares(scores: Values, speed: Values) -> tuple[float, float]:
    """The best of the first tenth, and the first one, as shares of the best of all."""
    order = np.argsort(-scores, kind="stable")
    count = max(1, round(SHARE * len(order)))
    return float(speed[order[:count]].max() / speed.max()), float(speed[order[0]] / speed.max())


def _name(sizes: Mapping[str, int]) -> str:
    return "x".join(str(sizes[name]) for name in "MNK")


if __name__ == "__main__":
    sys.exit(main())
