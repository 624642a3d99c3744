"""Ablation of feature sections: `python benchmarks/ablation.py LABELS [SECTION ...]`.

Trains one `additive-network` on all sections of a row, then one without each section: its numbers
are the same everywhere. `body+trip_counts` leaves out both. LOOPer (section 6.3) asks the same of
its own inputs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loopwright.costmodel.features.row_columns import SLICES
from loopwright.costmodel.learning.evaluation_report import evaluate, predictions
from loopwright.costmodel.learning.examples import ProgramExamples, load_examples
from loopwright.costmodel.learning.pairs import read_pairs
from loopwright.costmodel.learning.splits import split
from loopwright.costmodel.models.additive_network import AdditiveNetwork
from loopwright.costmodel.models.learned_model import TrainingOptions
from loopwright.costmodel.models.statement_rows import ScheduleRows
from loopwright.runtime.jit.cache import cache_directory

ALL = ""


def without(sections: Sequence[str], rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows in which the numbers of some sections say nothing."""
    result = rows.copy()
    for section in sections:
        places = [SLICES[name] for name in SLICES if name.rstrip("0123456789") == section]
        assert places, f"there is no section {section}; there are {', '.join(SLICES)}"
        for place in places:
            result[:, place] = 0.0
    return result


def ablated(programs: Sequence[ProgramExamples], sections: Sequence[str]) -> list[ProgramExamples]:
    """The same programs without some sections."""
    return [
        replace(
            program,
            features=tuple(
                ScheduleRows(without(sections, each.scheduled), without(sections, each.original))
                for each in program.features
            ),
        )
        for program in programs
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", type=Path)
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    folder = cache_directory()
    examples, _ = load_examples(
        read_pairs(options.labels, several=True),
        AdditiveNetwork({}).featuriser,
        cache=None if folder is None else folder / "features",
        workers=options.workers,
    )
    parts = split(examples)
    print("| without | MAPE | median error | Spearman | within program | nDCG |", flush=True)
    print("|---|---|---|---|---|---|")
    for text in [ALL, *options.sections]:
        sections = text.split("+") if text else []
        model = AdditiveNetwork({})
        model.fit(
            ablated(parts.training, sections),
            ablated(parts.validation, sections),
            TrainingOptions(epochs=options.epochs),
        )
        found = evaluate(predictions(model, ablated(parts.test, sections)))
        print(
            f"| {text or 'nothing'} | {found.mape:.1%} | {found.median_error:.1%} | "
            f"{found.spearman:.3f} | {found.spearman_within:.3f} | {found.ndcg:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
