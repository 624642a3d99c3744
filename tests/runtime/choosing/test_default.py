"""`default` with a learned model: kept decisions, other models, machines that it does not know."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright.costmodel import deciding_model as deciding
from loopwright.costmodel.deciding_model import DecidingModel
from loopwright.costmodel.generator import random_program
from loopwright.costmodel.model_names import SHIPPED
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.calling.inputs import Settings, make_arguments
from loopwright.runtime.choosing import default as module
from loopwright.runtime.choosing.explanation import explain_default
from loopwright.runtime.jit.cache import default_cache
from loopwright.runtime.measuring.compare import compare
from loopwright.runtime.program import Function

SCALE = """
func.func @scale(%n: index, %A: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    %b = arith.addf %a, %a : f64
    affine.store %b, %A[%i] : memref<?xf64>
  }
  return
}
"""
SIZES = {"n": 8_000_000}  # beyond the last cache
NAMES = ("default", "rules")


class Contrary:
    """Takes what is named for four times as fast, and counts what it is asked."""

    def __init__(self, liked: str) -> None:
        self.liked = liked
        self.asked = 0

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> Sequence[float]:
        self.asked += len(schedules)
        return [4.0 if str(each) == self.liked else 1.0 for each in schedules]


@pytest.fixture
def contrary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Contrary]:
    """A model that decides in place of the shipped one; a cache of its own."""
    model = Contrary("")
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(tmp_path))
    monkeypatch.delenv("LOOPWRIGHT_MODEL")
    monkeypatch.setattr(DecidingModel, "load", lambda self: model)
    monkeypatch.setattr(DecidingModel, "knows", lambda self, target: True)
    yield model


def scale() -> Function:
    return loopwright.load(SCALE)["scale"]


def choose(how: str = "default", threads: int = 2, fast_math: bool = False) -> str:
    return str(scale().choose_schedule(how, SIZES, threads=threads, fast_math=fast_math))


def test_the_model_decides_where_it_is_sure(contrary: Contrary) -> None:
    assert choose("rules") and contrary.asked == 0
    assert choose() == ""
    contrary.liked = choose("rules")
    assert choose(threads=1) == choose("rules", threads=1)


def test_a_kept_decision_is_the_fresh_one_and_asks_nobody(contrary: Contrary) -> None:
    fresh = choose()
    asked = contrary.asked
    contrary.liked = choose("rules")
    assert choose() == fresh != contrary.liked
    assert contrary.asked == asked
    for other in ({"threads": 3}, {"fast_math": True}):
        choose(**other)
        assert contrary.asked > asked
        asked = contrary.asked


@pytest.mark.parametrize("way", ["damaged", "no JSON", "another step", "another thing"])
def test_an_entry_that_cannot_be_used_is_ignored(way: str, contrary: Contrary) -> None:
    fresh = choose()
    cache = default_cache()
    assert cache is not None
    (entry,) = cache.directory.iterdir()
    key = entry.stem
    if way == "damaged":
        entry.write_bytes(entry.read_bytes()[:-3])
    else:
        content: object = {
            "no JSON": None,
            "another step": {"schedule": "tile{loops=z sizes=9}", "note": None},
            "another thing": [1, 2],
        }[way]
        cache.put(key, b"{" if content is None else json.dumps(content).encode())
    asked = contrary.asked
    assert choose() == fresh and contrary.asked > asked
    assert choose() == fresh


def test_another_model_decides_anew(
    contrary: Contrary, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    choose()
    asked = contrary.asked
    monkeypatch.setenv("LOOPWRIGHT_MODEL", "additive")
    choose()
    assert contrary.asked > asked
    file = tmp_path / "own.npz"
    for content in (b"1", b"22"):
        asked = contrary.asked
        file.write_bytes(content)
        monkeypatch.setenv("LOOPWRIGHT_MODEL", str(file))
        choose()
        assert contrary.asked > asked
    asked = contrary.asked
    monkeypatch.setenv("LOOPWRIGHT_MODEL", "off")
    assert choose() == choose("rules") and contrary.asked == asked


def test_code_is_kept_for_the_model_that_chose_it(
    contrary: Contrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def called() -> tuple[str, np.ndarray]:
        values = np.ones(SIZES["n"])
        kernel = scale().compile(threads=2)
        kernel(SIZES["n"], values)
        return str(kernel.schedule or ""), values

    first, result = called()
    contrary.liked = choose("rules")
    again, same = called()
    assert first == again == "" and np.array_equal(result, same)
    monkeypatch.setenv("LOOPWRIGHT_MODEL", "off")
    other, same = called()
    assert other == choose("rules") != "" and np.array_equal(result, same)


def test_on_a_machine_that_the_model_does_not_know_the_analytical_choice_stands(
    contrary: Contrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DecidingModel, "knows", lambda self, target: False)
    module._tell.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with pytest.warns(
        RuntimeWarning, match="ensemble has not learned from .* LOOPWRIGHT_MODEL=off"
    ):
        assert choose() == choose("rules")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose() == choose("rules")  # once is enough
        module._tell.cache_clear()  # pyright: ignore[reportPrivateUsage]
        foreign = Target.named("neoverse-v1")
        chosen = [scale().choose_schedule(name, SIZES, target=foreign) for name in NAMES]
        assert str(chosen[0]) == str(chosen[1])  # nobody can calibrate for another machine here
    assert contrary.asked == 0


def test_a_model_that_cannot_be_read_does_not_stop_anybody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "own.npz"
    for content in (b"nonsense", None):
        file.write_bytes(content) if content else file.unlink()
        monkeypatch.setenv("LOOPWRIGHT_MODEL", str(file))
        with pytest.warns(RuntimeWarning, match="by the estimate alone: .*own.npz"):
            assert choose() == choose("rules")


def test_the_shipped_model_knows_its_machines_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LOOPWRIGHT_MODEL")
    monkeypatch.setenv("LOOPWRIGHT_MODELS", "off")
    found = deciding.deciding_model()
    assert found is not None and found.path == SHIPPED / "ensemble.npz" and not found.is_adapted
    assert found.knows(Target.named("znver3"))
    assert not found.knows(Target.named("icelake-server"))


def test_an_adapted_model_knows_this_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "adapted.npz"
    own.write_bytes(b"")
    monkeypatch.delenv("LOOPWRIGHT_MODEL")
    monkeypatch.setattr(deciding, "adapted_model", lambda name: own)
    found = deciding.deciding_model()
    assert found is not None and found.path == own and found.knows(Target.host())


def test_the_explanation_names_candidates_times_and_features(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function = scale()
    monkeypatch.delenv("LOOPWRIGHT_MODEL")
    target = Target.named("znver3")
    text = function.explain_default(SIZES, threads=2, target=target)
    assert "candidates rated by the model" in text
    assert text.count("predicted") == 4 and "\n3. predicted" in text
    assert "times as fast by its features:" in text and "vectors" in text
    assert f"{function.choose_schedule('rules', SIZES, threads=2, target=target)}" in text
    original = Schedule.original(function.scop)
    monkeypatch.setenv("LOOPWRIGHT_MODEL", "off")
    full = {**SIZES, "A_dim0": SIZES["n"]}
    assert "by the analytical estimate" in explain_default(original, SchedulingContext(full, 2))
    few = {"n": 4, "A_dim0": 4}
    assert "too little work" in explain_default(original, SchedulingContext(few, 2))


class Whimsical:
    """Prefers any schedule to the analytical choice for no reason, always the same one."""

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> Sequence[float]:
        return [1.0, *(4.0 + len(str(each)) % 97 for each in schedules[1:])]


@pytest.mark.parametrize("seed", [43, 45, 51])
def test_whatever_the_model_prefers_results_are_those_of_the_program(
    seed: int, contrary: Contrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DecidingModel, "load", lambda self: Whimsical())
    program = random_program(seed)
    (function,) = loopwright.load(program.text).values()
    results: list[Sequence[object]] = []
    for schedule in (None, "default"):
        sizes = {name: str(value) for name, value in program.sizes.items()}
        values = make_arguments(function.scop, function.signature, Settings(sizes, {}, 1))
        function.compile(schedule, threads=2)(*values)
        results.append(values)
    for number, (expected, found) in enumerate(zip(*results, strict=True)):
        if isinstance(expected, np.ndarray) and isinstance(found, np.ndarray):
            assert compare(str(number), found, expected, 100).agrees
