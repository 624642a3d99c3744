"""Entry points of other packages: order, names that two use, and what cannot be imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopwright.costmodel.learning.errors import LearningError
from loopwright.costmodel.models.registry import model_class, model_names
from loopwright.passes.search.searches import find_search, search_names
from loopwright.passes.search.tile_size_search import find_tile_search
from loopwright.support import plugins as module
from loopwright.support.plugins import PluginError, plugins

ROOT = Path(__file__).parents[2]


def package(folder: Path, name: str, group: str, entries: str, code: str = "") -> None:
    """A package with entry points, as pip would have left it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[loopwright.{group}]\n{entries}\n")
    (folder / f"{name}.py").write_text(code)


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Metadata is read anew, before and after."""
    monkeypatch.syspath_prepend(str(tmp_path))
    caches = (module._entry_points, module.plugins)
    for each in caches:
        each.cache_clear()
    yield
    for each in caches:
        each.cache_clear()


def test_the_papers_join() -> None:
    assert search_names()[:3] == ("beam", "beam-execution", "hybrid")
    assert set(search_names()) >= {"mcts", "ranked", "ranked-registers", "registers"}
    assert set(model_names()) >= {"ensemble", "looper", "tiramisu", "tournament"}


def test_names_are_in_order(tmp_path: Path) -> None:
    package(tmp_path, "second", "kinds", "b = second:B\nd = second:D")
    package(tmp_path, "first", "kinds", "c = first:C\na = first:A")
    assert list(plugins("kinds")) == ["a", "b", "c", "d"]


def test_a_name_of_two_packages(tmp_path: Path) -> None:
    package(tmp_path, "one", "searches", "same = one:A")
    package(tmp_path, "two", "searches", "same = two:B")
    with pytest.raises(PluginError) as error:
        search_names()
    assert str(error.value) == (
        "'same' of loopwright.searches is offered twice: by the package one (one:A), and by the "
        "package two (two:B); uninstall one of them"
    )


def test_a_name_of_ours(tmp_path: Path) -> None:
    package(tmp_path, "other", "models", "ensemble = other:Model")
    with pytest.raises(PluginError, match=r"'ensemble' .* loopwright has it, and the package o"):
        model_names()
    with pytest.raises(LearningError, match="the package other"):
        model_class("tiramisu")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("def (", "SyntaxError: invalid syntax"),
        ("", "AttributeError: module 'faulty' has no attribute 'SEARCH'"),
        ("SEARCH = 1", "the search 'x' of the package faulty (faulty:SEARCH) is no SearchKind"),
    ],
)
def test_a_search_that_is_none(
    code: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "faulty", raising=False)
    package(tmp_path, "faulty", "searches", "x = faulty:SEARCH", code)
    with pytest.raises(PluginError) as error:
        find_search("x")
    text = str(error.value)
    assert message in text and "the package faulty (faulty:SEARCH)" in text and "\n" not in text
    assert find_search("beam").runs == "at the end"


def test_unknown_names() -> None:
    with pytest.raises(PluginError, match="no search 'beem'; there are beam, "):
        find_search("beem")
    with pytest.raises(PluginError, match="no search for tile sizes 'gided'; there are guided, "):
        find_tile_search("gided")


def loopwright(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, "-m", "loopwright", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


STEP = """
from dataclasses import dataclass
from loopwright.passes.schedules.schedule import Transformation

@dataclass(frozen=True)
class Step(Transformation):
    name = {name!r}
    symbol = {symbol!r}
    def rewrite(self, schedule):
        return schedule.tree
"""


def test_a_transformation_that_is_none_is_left_out(tmp_path: Path) -> None:
    package(tmp_path, "faulty", "transformations", "twist = faulty:Twist", "import nowhere")
    command = ("schedule", "polybench/gemm", "-p", "interchange{loops=S1.k,S1.j}")
    done = loopwright(tmp_path, *command)
    assert done.returncode == 0
    assert done.stderr == (
        "loopwright: warning: 'twist' of loopwright.transformations cannot be imported from the "
        "package faulty (faulty:Twist): ModuleNotFoundError: No module named 'nowhere'; it is left "
        "out\n"
    )


def test_a_transformation_with_another_name_is_left_out(tmp_path: Path) -> None:
    code = STEP.format(name="turn", symbol="")
    package(tmp_path, "faulty", "transformations", "twist = faulty:Step", code)
    done = loopwright(tmp_path, "schedule", "polybench/gemm", "-p", "twist{loops=S1.k}")
    assert done.returncode == 1
    assert "has another `name` in its class, 'turn'; it is left out" in done.stderr
    assert "unknown transformation: 'twist'" in done.stderr


def test_a_symbol_of_two_transformations(tmp_path: Path) -> None:
    code = STEP.format(name="twist", symbol="T{}")
    package(tmp_path, "other", "transformations", "twist = other:Step", code)
    done = loopwright(tmp_path, "schedule", "polybench/gemm", "-p", "interchange{loops=S1.k,S1.j}")
    assert done.returncode == 1
    assert done.stderr == (
        "loopwright: error: the transformations 'tile' and 'twist', the latter of the package "
        "other (other:Step), have the same symbol T; uninstall that package\n"
    )


def test_a_data_action_that_is_none_is_left_out(tmp_path: Path) -> None:
    package(tmp_path, "faulty", "data_actions", "dump = faulty", "import nowhere")
    done = loopwright(tmp_path, "data", "--help")
    assert done.returncode == 0
    assert "looperset" in done.stdout and "dump" not in done.stdout
    assert done.stderr.startswith("loopwright: warning: 'dump' of loopwright.data_actions")
