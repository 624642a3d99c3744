"""`loopwright tune --cluster-folder`: searches with several seeds, shared through a folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.documents import check_file
from support.runtime_programs import GEMM

from loopwright import load
from loopwright.cli import main
from loopwright.commands import tune_cluster
from loopwright.passes.search.result import Result
from loopwright.runtime.tuning.shared_search import found_in_share, search_in_share
from loopwright.runtime.tuning.tune import TuningOptions
from loopwright.support.shared_work import SharedWork

FUNCTION = load(GEMM)["gemm"]


def searched(seed: int) -> Result:
    """Search 3 finds the best schedule, the others none that is faster."""
    best = FUNCTION.schedule("interchange{loops=k,j}" if seed == 3 else "")
    speedup = 2.5 if seed == 3 else 1.0
    return Result(best, speedup, speedup, None, (), 5, 5, 2, 0.1, "done")


@pytest.fixture
def tune(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """The command, with searches that take no time."""
    (tmp_path / "gemm.mlir").write_text(GEMM)
    monkeypatch.chdir(tmp_path)

    def search(_: object, __: object, options: TuningOptions, ___: object) -> Result:
        return searched(options.seed)

    monkeypatch.setattr(tune_cluster, "tune", search)
    sizes = [word for name in ("ni", "nj", "nk") for word in ("--set", f"{name}=8")]

    def run(*options: str) -> int:
        return main(["tune", "gemm.mlir", *sizes, *options])

    return run


def test_searches_are_shared(tmp_path: Path) -> None:
    seeds: list[int] = []

    def search(seed: int) -> Result:
        seeds.append(seed)
        return searched(seed)

    def work(_: int) -> None:
        search_in_share(SharedWork(tmp_path, "", 6, batch=1, lease=1), search, 1, "{}")

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(work, range(2)))
    assert sorted(seeds) == list(range(1, 7))
    found = found_in_share(tmp_path)
    assert [each.seed for each in found] == [3, 1, 2, 4, 5, 6]
    assert found[0].schedule == "interchange{loops=k,j}"


def test_an_interrupted_search_is_left_to_others(tmp_path: Path) -> None:
    def stopped(seed: int) -> Result:
        return replace(searched(seed), ended="interrupted")

    with pytest.raises(KeyboardInterrupt):
        search_in_share(SharedWork(tmp_path, "", 1, batch=1, lease=0.2), stopped, 0, "{}")
    assert found_in_share(tmp_path) == []
    search_in_share(SharedWork(tmp_path, "", 1, batch=1, lease=0.2), searched, 0, "{}")
    assert [each.seed for each in found_in_share(tmp_path)] == [0]


def test_the_best_of_all_is_told_and_written(
    tune: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--budget", "1s", "--cluster-folder", "shared", "--searches", "4", "-o", "best.mlir"]
    assert tune(*options, "--json", "found.json") == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].split()[:2] == ["3", "2.50x"]
    assert out.endswith("interchange{loops=k,j}\n")
    assert "schedule.interchange" in Path("best.mlir").read_text()
    found = check_file(Path("found.json"), "tune-cluster")
    assert [each["seed"] for each in found["found"]] == [3, 0, 1, 2]
    assert tune(*options) == 0, "all is done: what was found is told again"
    assert tune("--budget", "2s", "--cluster-folder", "shared", "--searches", "4") == 1
    assert "shared is for other work: description is 'tune gemm" in capsys.readouterr().err


def test_results_of_strangers_are_checked(
    tune: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--budget", "1s", "--cluster-folder", "shared", "--searches", "2"]
    assert tune(*options) == 0
    work = json.loads(Path("shared/work.json").read_text())
    lies: list[Any] = [{"seed": 0}, [1], {"seed": 0, "schedule": "x", "speedup": float("inf")}]
    for number, lie in enumerate(lies):
        folder = Path(f"lie{number}")
        shared = SharedWork(folder, work["description"], 2, batch=1, lease=work["lease"])
        with shared:
            for item in shared.items():
                shared.record(item, lie)
        assert tune(*options[:3], str(folder), *options[4:]) == 1
        assert "has results of other work" in capsys.readouterr().err


def test_the_script_of_a_job_array(
    tune: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "tune",
        "gemm.mlir",
        "--budget",
        "1m",
        "--cluster-folder",
        "shared",
        "--searches",
        "64",
    ]
    monkeypatch.setattr(sys, "argv", ["loopwright", *command, "--cluster", "slurm", "--jobs", "16"])
    assert main() == 0
    script = capsys.readouterr().out.splitlines()
    assert "#SBATCH --array=0-15" in script
    assert script[-1] == f"exec loopwright {' '.join(command)}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cluster-folder", "shared"], "--cluster-folder is for searches that run candidates"),
        (["--searches", "3"], "--searches is for --cluster-folder"),
        (
            ["--budget", "1s", "--cluster-folder", "shared", "--searches", "0"],
            "--searches must be betw",
        ),
        (
            ["--budget", "1s", "--cluster-folder", "shared", "--plot", "a.svg"],
            "--plot draws one search",
        ),
        (
            ["--tiles", "--cluster-folder", "shared"],
            "--tiles tunes nothing but tile sizes: leave out --cluster-folder",
        ),
        (["--cluster", "pbs"], "--cluster pbs needs a folder that all jobs see"),
    ],
)
def test_mistakes_are_told(
    options: list[str],
    message: str,
    tune: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert tune(*options) == 1
    assert message in capsys.readouterr().err
    assert not Path("shared").exists()
