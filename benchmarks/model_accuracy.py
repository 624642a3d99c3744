"""Accuracy of trained models: `python benchmarks/model_accuracy.py LABELS MODEL [MODEL ...]`.

A shipped model or the file of one, judged by the same programs as any other: those that
`loopwright train` learns nothing from, and PolyBench. So models that have learned from different
labels can be compared. `--space tiramisu`: by the pairs of Tiramisu's space only; `--machine
znver3`: by labels of machines with this in their fingerprint.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import record

from loopwright.costmodel.find import find_model
from loopwright.costmodel.learning.evaluation_report import evaluate, predictions, table
from loopwright.costmodel.learning.examples import ProgramExamples, load_examples
from loopwright.costmodel.learning.pairs import ProgramPairs, read_pairs
from loopwright.costmodel.learning.spaces import SPACES, restrict
from loopwright.costmodel.learning.splits import TRAINING, position, split
from loopwright.costmodel.models.learned_model import LearnedModel
from loopwright.runtime.jit.cache import cache_directory

POLYBENCH = Path("datasets/polybench")


def examples(
    model: LearnedModel, pairs: Iterable[ProgramPairs], space: str
) -> list[ProgramExamples]:
    """What the model sees of programs; features of the whole space are kept on disk."""
    shared = cache_directory() if space == "full" else None
    folder = None if shared is None else shared / "features"
    return load_examples(restrict(pairs, space), model.featuriser, cache=folder)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--space", default="full", choices=SPACES)
    parser.add_argument("--machine", metavar="TEXT", help="a part of fingerprints")
    record.add_option(parser)
    options = parser.parse_args()
    for name in options.models:
        model = find_model(name)
        if not isinstance(model, LearnedModel):
            parser.error(f"{name} has not learned anything")
        labels = read_pairs(options.directory, options.machine, several=model.sees_machine)
        unseen = [
            program
            for program in labels
            if position(program.text) >= TRAINING
            and (model.sees_fast_math or not program.fast_math)
        ]
        parts = split(examples(model, unseen, options.space))
        polybench = [
            program
            for program in read_pairs(POLYBENCH, several=True)
            if (options.machine or "") in program.machine
        ]
        kernels = examples(model, polybench, options.space)
        columns = {"test": parts.test, "validation": parts.validation, "PolyBench": kernels}
        found = {
            column: evaluate(predictions(model, programs))
            for column, programs in columns.items()
            if programs
        }
        print(f"\n{name}")
        header, *rows = table(found)
        record.write(options.record, ["figure", *header[1:]], rows)
        for row in (header, *rows):
            print(f"{row[0]:<24}" + "".join(f"{cell:>12}" for cell in row[1:]), flush=True)


if __name__ == "__main__":
    main()
