"""Sections with numbers: times, roofline, the steps of a tuned schedule."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.machines import make_machine
from support.runtime_programs import GEMM

import loopwright
from loopwright.cli import main
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.search.result import PathStep
from loopwright.reports import roofline, search_path, source, times, tuned_path
from loopwright.reports.port_model import model_numbers
from loopwright.reports.subject import Measured, Subject
from loopwright.runtime.choosing.database import Question, Tuned, TuningDatabase
from loopwright.runtime.measuring.timing import format_seconds

SIZES = {"ni": 8, "nj": 8, "nk": 8}


def subject() -> Subject:
    function = loopwright.load(GEMM)["gemm"]
    sizes = {size.name: 8 for size in function.scop.sizes}
    return Subject("gemm", GEMM, function, function.schedule(), "as written", sizes, 1)


MEASURED = (
    Measured("as written", 1, (4e-3, 2e-3, 3e-3, 5e-3)),
    Measured("default", 2, (1e-4,)),
    Measured("numpy", 1, (2e-4,), is_ours=False),
    Measured("torch", 1, note="its process has ended"),
    Measured("mine", 1, (1e-3,), note="computes other values"),
)


def test_times_have_medians_quartiles_and_reasons() -> None:
    body = times.section(replace(subject(), measured=MEASURED)).body
    assert "<td>as written</td>" in body
    cells = '<td class="number">3.5 ms</td><td class="number">2.75 ms to 4.25 ms</td>'
    assert cells in body
    assert '<td class="number">35.00x</td>' in body
    assert body.count('class="ours"') == 3 + 1 and body.count('class="peer"') == 1 + 1
    assert "torch: its process has ended" in body
    assert '<p class="bad">mine: computes other values</p>' in body


def test_without_times_there_is_a_reason() -> None:
    body = times.section(replace(subject(), unmeasured="--no-runs")).body
    assert body == '<p class="missing">--no-runs</p>'


def test_the_roofline_has_every_level_and_variant() -> None:
    found = replace(subject(), measured=MEASURED, machine=make_machine())
    body = roofline.section(found).body
    for level in ("L1: 400 GB/s", "L2: 200 GB/s", "L3: 100 GB/s", "DRAM: 50 GB/s", "peak 100"):
        assert level in body
    assert body.count('class="point"') == 3 + 1 and body.count('class="peer"') == 1 + 1
    assert body.count('class="point expected"') == 1 + 1
    # 2 * 8^3 operations; 8^2 elements of three arrays are read, and those of one written.
    assert "1,024 operations, 2,048 bytes at least: 0.5 operations per byte" in body


def test_expected_points_of_parallel_schedules_name_their_threads() -> None:
    for steps, threads, wanted in (
        ("parallel{loops=i}", 2, "this schedule, 2 threads: "),
        ("parallel{loops=i}", 1, "this schedule: "),
        ("interchange{loops=j,k}", 2, "this schedule: "),
    ):
        function = subject().function
        schedule = function.schedule(steps)
        found = replace(subject(), schedule=schedule, threads=threads)
        assert wanted in roofline.section(replace(found, machine=make_machine())).body


GATHERS = """import loopwright
from loopwright import f64, i32

@loopwright.kernel
def rows(n: int, table: f64["p"], idx: i32["n"], out: f64["n"]):
    for i in range(n):
        out[i] += table[idx[i]]

@loopwright.kernel
def others(n: int, out: f64["n"]):
    for i in range(n):
        out[i] = 1.0
"""


def test_the_source_is_that_of_the_function_and_has_gathers(tmp_path: Path) -> None:
    path = tmp_path / "gathers.py"
    path.write_text(GATHERS)
    function = loopwright.load(path)["rows"]
    found = Subject("gathers.py", GATHERS, function, function.schedule(), "default", {}, 1)
    body = source.section(found).body
    assert "<td>out[i], idx[i], table[*]</td>" in body
    assert "def rows" in body and "others" not in body


def test_labels_are_whole_and_apart() -> None:
    names = [f"clang -O3 -ffast-math -fopenmp -variant {n}" for n in range(30)]
    many = tuple(Measured(name, 2, (1e-3,), is_ours=False) for name in names)
    found = replace(subject(), measured=many, machine=make_machine())
    for module in (times, roofline):
        drawing = module.section(found).body.partition("</svg>")[0]
        width, height = (
            float(each) for each in re.findall(r'viewBox="0 0 (\S+) (\S+)"', drawing)[0]
        )
        labels = re.findall(r'<text x="(\S+)" y="(\S+)" class="label"([^>]*)>([^<]*)', drawing)
        shown = [
            (float(x), float(y), more, words) for x, y, more, words in labels if "clang" in words
        ]
        assert all(any(name in each[3] for each in shown) for name in names)
        for x, y, more, words in shown:
            room = x if "end" in more else width - x
            assert room >= 7 * len(words) and 0 < y < height
        heights = sorted(each[1] for each in shown)
        assert min(b - a for a, b in itertools.pairwise(heights)) >= 14


def test_the_path_has_what_is_known() -> None:
    path = (PathStep("as written", 1.0, 1.0), PathStep("tile{loops=i}", 2.5, None))
    tuned = subject().function.schedule("tile{loops=i sizes=4}")
    body = search_path.section(replace(subject(), tuned=tuned, path=path)).body
    assert "<td>tile{loops=i}</td><td>2.50x</td><td>-</td>" in body
    assert body.count("<circle") == 3


class Evaluator:
    """Speed-ups without a run: the second schedule fails."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def measure(self, *_: object) -> list[float]:
        return [1.0, 0.0]


def test_a_tuned_schedule_is_found_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "tuning.sqlite"))
    monkeypatch.setattr(tuned_path, "RunningEvaluator", Evaluator)
    file, page = tmp_path / "gemm.mlir", tmp_path / "gemm.html"
    file.write_text(GEMM)
    function = loopwright.load(file)["gemm"]
    sizes = {size.name: 8 for size in function.scop.sizes}
    question = Question.of(
        function.function, sizes, loopwright.Target.host(), threads=1, fast_math=False
    )
    database = TuningDatabase(tmp_path / "tuning.sqlite")
    database.put(question, Tuned("interchange{loops=k,j}", 1e-6, 2.0))
    options = [f"--set={name}=8" for name in ("ni", "nj", "nk")]
    command = ["report", str(file), *options, "--threads", "1", "--seconds", "0.01"]
    assert main([*command, "-p", "tile{loops=i sizes=4}", "-o", str(page)]) == 0
    assert capsys.readouterr().out.startswith(f"{page}: ")
    text = page.read_text()
    for name in ("as written", "default", "tuned", "this schedule"):
        assert f"<td>{name}</td>" in text
    assert "computes other values" not in text
    rows = text[text.index('<section id="search"') :]
    rows = rows[rows.index("<td>as written</td>") : rows.index("</section>")]
    assert rows.count("<td>1.00x</td>") == 2  # predicted and measured
    assert rows.endswith("<td>-</td></tr></tbody></table></div>")


def test_the_times_of_nests_are_those_of_the_steps() -> None:
    function = loopwright.load(GEMM)["gemm"]
    schedule = function.schedule("parallel{loops=i}")
    context = SchedulingContext({size.name: 64 for size in function.scop.sizes}, 2)
    total = estimate(schedule, context) - schedule.target.thread_wake
    assert f'<td class="number">{format_seconds(total)}</td></tr>' in model_numbers(
        schedule, context
    )


def test_sections_without_sizes_ask_for_them() -> None:
    bare = replace(subject(), sizes={})
    for section in (roofline.section, search_path.section):
        assert "add --set" in section(bare).body
