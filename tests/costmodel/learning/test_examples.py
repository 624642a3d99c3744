"""From shards to examples: what is read, replayed, featurised, and kept on disk."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from support.featurisers import Blocked, Ended
from support.labels import PRODUCT, SCHEDULES, TWO_NESTS, write_labels

from loopwright.costmodel.dataset.schema import table_of
from loopwright.costmodel.dataset.shards import list_shards, read_rows, write_shard
from loopwright.costmodel.learning.errors import LearningError
from loopwright.costmodel.learning.examples import Unsupported, load_examples
from loopwright.costmodel.learning.pairs import LEAST_BOUND, LEAST_SPEEDUP, read_pairs
from loopwright.costmodel.models.additive import Additive
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule


@dataclass(frozen=True)
class Counting:
    """Features that show what the featuriser was given; refuses programs of one nest."""

    calls: list[int]
    schema: str = "counting-1"
    refuse: bool = False

    def featurise(
        self, context: SchedulingContext, schedules: Sequence[Schedule]
    ) -> list[tuple[int, int, str]]:
        self.calls.append(len(schedules))
        if self.refuse and len(schedules[0].scop.arrays) == 3:
            raise Unsupported("three arrays")
        return [(context.threads, max(context.sizes.values()), str(s)) for s in schedules]


def test_pairs_are_grouped_by_program(tmp_path: Path) -> None:
    write_labels(tmp_path, 4)
    programs = read_pairs(tmp_path)
    assert len({program.key for program in programs}) == 4
    assert [program.key for program in programs] == sorted(program.key for program in programs)
    count = sum(len(program.schedules) for program in programs)
    assert count == 2 * (len(SCHEDULES[PRODUCT]) + len(SCHEDULES[TWO_NESTS]))
    for program in programs:
        template = TWO_NESTS if "f32" in program.text else PRODUCT
        assert sorted(program.schedules) == sorted(SCHEDULES[template])
        assert set(program.threads) == {2}, (
            "sequential schedules are predicted for the same threads"
        )


def test_censored_labels_are_marked_and_have_their_bound(tmp_path: Path) -> None:
    write_labels(tmp_path, 1, speedup=lambda _, schedule: 0.01 if "reverse" in schedule else 2.0)
    (program,) = read_pairs(tmp_path)
    assert [program.schedules[i] for i, cut in enumerate(program.censored) if cut] == [
        "reverse{loops=i}"
    ]
    assert program.speedups[program.censored] == pytest.approx(0.125)


def test_speedups_that_nobody_needs_to_tell_apart_count_as_the_same(tmp_path: Path) -> None:
    write_labels(tmp_path, 1)
    (shard,) = list_shards(tmp_path).shards
    rows = [{**row, "seconds": 1e3 * row["seconds"]} for row in read_rows(shard)]
    write_shard(tmp_path, table_of(rows), [shard.path.name])
    (program,) = read_pairs(tmp_path)
    assert set(program.speedups) == {LEAST_SPEEDUP}
    rows = [{**row, "status": "censored"} for row in rows]
    (shard,) = list_shards(tmp_path).shards
    write_shard(tmp_path, table_of(rows), [shard.path.name])
    (program,) = read_pairs(tmp_path)
    assert set(program.speedups) == {LEAST_BOUND}


def test_several_machines_must_be_told_apart(tmp_path: Path) -> None:
    write_labels(tmp_path, 1, machine="one")
    write_labels(tmp_path, 1, machine="two", speedup=lambda *_: 3.0)
    with pytest.raises(LearningError, match="--machine; there are one and two"):
        read_pairs(tmp_path)
    assert read_pairs(tmp_path, "two")[0].speedups == pytest.approx(3.0)
    with pytest.raises(LearningError, match="no labelled pairs of a machine with 'three'"):
        read_pairs(tmp_path, "three")


def test_a_directory_without_shards_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LearningError, match="has no shards"):
        read_pairs(tmp_path)


def test_features_are_those_of_the_replayed_schedules(tmp_path: Path) -> None:
    write_labels(tmp_path, 3)
    programs = read_pairs(tmp_path)
    examples, skipped = load_examples(programs, Counting([]))
    assert not skipped.programs and not skipped.schedules
    for program, example in zip(programs, examples, strict=True):
        assert example.key == program.key
        assert [text for _, _, text in example.features] == list(program.schedules)
        assert {size for _, size, _ in example.features} == {max(program.sizes.values())}


def test_what_does_not_apply_any_more_is_counted(tmp_path: Path) -> None:
    write_labels(tmp_path, 2)
    programs = read_pairs(tmp_path)
    broken = [
        type(program)(
            **{**vars(program), "schedules": ("tile{loops=q sizes=8}", *program.schedules[1:])}
        )
        for program in programs
    ]
    examples, skipped = load_examples(broken, Counting([], refuse=True))
    assert skipped.schedules == {"does not apply any more: MalformedTransformation": 2}
    assert skipped.programs == {"three arrays": 1}
    assert [len(example.features) for example in examples] == [len(SCHEDULES[TWO_NESTS]) - 1]


def test_features_are_computed_once(tmp_path: Path) -> None:
    write_labels(tmp_path / "labels", 2)
    programs = read_pairs(tmp_path / "labels")
    first, again, other = Counting([]), Counting([]), Counting([], schema="counting-2")
    fresh, _ = load_examples(programs, first, cache=tmp_path / "cache")
    cached, _ = load_examples(programs, again, cache=tmp_path / "cache")
    load_examples(programs, other, cache=tmp_path / "cache")
    assert len(first.calls) == 2 and not again.calls and len(other.calls) == 2
    assert [example.features for example in cached] == [example.features for example in fresh]


def test_a_damaged_cache_is_computed_again(tmp_path: Path) -> None:
    write_labels(tmp_path / "labels", 2)
    programs = read_pairs(tmp_path / "labels")
    fresh, _ = load_examples(programs, Counting([]), cache=tmp_path / "cache")
    for path in (tmp_path / "cache").rglob("*.features"):
        path.write_bytes(path.read_bytes()[:-3])
    featuriser = Counting([])
    again, _ = load_examples(programs, featuriser, cache=tmp_path / "cache")
    assert len(featuriser.calls) == 2
    assert [example.features for example in again] == [example.features for example in fresh]


def test_processes_are_replaced_and_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_labels(tmp_path, 7)
    monkeypatch.setattr("loopwright.costmodel.learning.examples.PROGRAMS_PER_PROCESS", 1)
    programs = read_pairs(tmp_path)
    model = Additive({})
    shared, _ = load_examples(programs, model.featuriser, workers=2)
    alone, _ = load_examples(programs, model.featuriser)
    assert len(shared) == 7
    for one, other in zip(shared, alone, strict=True):
        assert one.key == other.key
        for mine, its in zip(one.features, other.features, strict=True):
            np.testing.assert_array_equal(mine.scheduled, its.scheduled)


def test_processes_that_compute_features_do_not_see_an_interrupt(tmp_path: Path) -> None:
    """They told of it, line by line, while the training ended."""
    write_labels(tmp_path, 2)
    examples, _ = load_examples(read_pairs(tmp_path), Blocked(), workers=2)
    assert examples and all(all(example.features) for example in examples)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_process_that_is_ended_from_outside_is_told(tmp_path: Path) -> None:
    """As where memory is short."""
    write_labels(tmp_path / "labels", 2)
    programs = read_pairs(tmp_path / "labels")
    with pytest.raises(
        LearningError, match=r"was ended.*fewer --workers.*what was computed is kept"
    ):
        load_examples(programs, Ended(), cache=tmp_path / "cache", workers=2)
