"""Pages of the documentation: written from code and results, no history, no stale names."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import reference
import results

from loopwright.costmodel.sampler import paths
from loopwright.passes.default import default_schedule
from loopwright.passes.default.strategies import FOR_OPAQUE, STRATEGIES
from loopwright.passes.polyhedral import isl_context
from loopwright.passes.polyhedral.equivalence import equivalence, proof
from loopwright.passes.schedules import schedule
from loopwright.passes.search import remeasurement, search_state, searching
from loopwright.passes.transformations.registry import all_transformations
from loopwright.reports import neighbourhood
from loopwright.runtime import kernel
from loopwright.runtime.calling import ranges
from loopwright.runtime.choosing import auto
from loopwright.runtime.tuning import evaluator

ROOT = Path(__file__).parents[2]
ROOMS = (
    "dialects",
    "passes",
    "lowering",
    "runtime",
    "costmodel",
    "frontends",
    "kernels",
    "benchmarks",
)

DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
TIMELESS = [
    *sorted((ROOT / "docs" / "guide").rglob("*.md")),
    *sorted((ROOT / "docs" / "reference").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "docs/architecture.md")),
]
WRITTEN = {"transformations.md", "cli.md"}
MOST_COLUMNS = 105


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_reference_follows_from_the_code(name: str) -> None:
    page = (reference.FOLDER / name).read_text()
    assert page == reference.PAGES[name](), "write it anew: make reference"


@pytest.mark.parametrize("path", results.pages(), ids=name_of)
def test_the_results_follow_from_the_records(path: Path) -> None:
    assert path.read_text() == results.pages()[path], "write it anew: make results"


def test_every_record_says_where_it_is_from() -> None:
    machines = results.MACHINES.read_text()
    for record in results.records():
        assert re.fullmatch(r"[0-9a-f]{7,40}", record.commit), record.name
        assert DATE.fullmatch(record.date), record.name
        assert f'"{record.machine}"' in machines, record.name
        assert record.command.startswith(("loopwright ", "python ")), record.name
        assert record.rows, record.name


def test_scripts_of_records_exist() -> None:
    for record in results.records():
        match record.command.split():
            case ["python", "-m", module, *_]:
                path = ROOT / "src" / f"{module.replace('.', '/')}.py"
                assert path.is_file(), record.name
            case ["python", script, *_]:
                assert (ROOT / script).is_file(), record.name
            case [command, *_]:
                assert command == "loopwright", record.name


def test_a_record_whose_rows_do_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        results.Record("x", "speed", "", "", "", "", "", "", ["one", "two"], [["alone"]])
    with pytest.raises(ValueError, match="no page"):
        results.Record("x", "nowhere", "", "", "", "", "", "", ["one"], [["alone"]])


def test_the_picture_has_a_bar_per_kernel() -> None:
    picture = (results.FOLDER / f"{results.PICTURE}.svg").read_text()
    bars = ElementTree.fromstring(picture).findall("{http://www.w3.org/2000/svg}rect")
    assert len(bars) == 30


@pytest.mark.parametrize("name", all_transformations())
def test_every_transformation_shows_before_and_after(name: str) -> None:
    documentation = inspect.getdoc(all_transformations()[name]) or ""
    assert re.search(r"^ {4,}.*->", documentation, re.MULTILINE), f"no before -> after: {name}"
    assert f"`{name}" in documentation, f"no example of the pass: {name}"


def test_every_transformation_has_letters_in_the_table() -> None:
    table = (ROOT / "docs/reference/schedules.md").read_text()
    for cls in all_transformations().values():
        if cls.symbol:
            assert re.search(rf"^\| `{cls.symbol.format(2)}\(", table, re.MULTILINE), cls.name


def test_every_strategy_is_described() -> None:
    page = (ROOT / "docs/reference/default-schedule.md").read_text()
    named = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert named == [
        strategy.__module__.rpartition(".")[2] for strategy in (*FOR_OPAQUE, *STRATEGIES)
    ]


@pytest.mark.parametrize("path", TIMELESS, ids=name_of)
def test_no_dates(path: Path) -> None:
    assert not DATE.findall(path.read_text())


@pytest.mark.parametrize("path", TIMELESS, ids=name_of)
def test_lines_are_wrapped(path: Path) -> None:
    if path.name in WRITTEN:
        return
    is_code = False
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith(("|", "    ", "![")):
            assert len(line) <= MOST_COLUMNS, f"{path}:{number}"


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("path", TIMELESS, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), f"{path}: {target}"


@pytest.mark.parametrize("path", TIMELESS, ids=name_of)
def test_files_that_are_named_exist(path: Path) -> None:
    rooms = "|".join((*ROOMS, "datasets", "tests", "tools"))
    for name in re.findall(rf"`((?:{rooms})/[\w./-]+)`", path.read_text()):
        assert (ROOT / name).exists(), f"{path}: {name}"


@pytest.mark.parametrize("path", TIMELESS, ids=name_of)
def test_modules_that_are_named_exist(path: Path) -> None:
    """Also those that a page names without their room."""
    rooms = (*ROOMS, "src", "tests", "tools", "examples")
    files = [f"/{file.relative_to(ROOT)}" for room in rooms for file in (ROOT / room).rglob("*.py")]
    for name in re.findall(r"`([a-z_][\w/]*\.py)`", path.read_text()):
        assert any(file.endswith(f"/{name}") for file in files), f"{path}: {name}"


FIGURES = [
    ("search.md", "fewer than {:,} statement instances", default_schedule.PROFITABLE),
    ("search.md", "takes another one for {:g} times as fast", searching.GAIN),
    ("search.md", "takes that for {:g} times as fast", auto.GAIN),
    ("search.md", "At least {:.0%} of the budget", remeasurement.SHARE),
    ("search.md", "At least {} runs in the last half", search_state.FEWEST_IDLE),
    ("search.md", "whose first four runs take {:g} times as long", evaluator.CUTOFF),
    ("guarantees.md", "within {:g} seconds of CPU time", isl_context.MAXIMAL_SECONDS),
    ("guarantees.md", "At most {} loops are inside each other", schedule.DEEPEST),
    ("guarantees.md", "A kernel keeps {} specialisations", kernel.SPECIALISATIONS),
    ("guarantees.md", "At most {:,} threads", ranges.MOST_THREADS),
    ("verify.md", "isl needs more than {:,} operations", equivalence.OPERATIONS),
    ("verify.md", "or {:g} seconds of CPU time", isl_context.MAXIMAL_SECONDS),
    ("verify.md", "more than {:,} pairs of terms", proof.STEPS),
    ("data.md", "{:.0%} of the paths start from a schedule of isl's", paths.AFFINE_START),
    ("report.md", "arrows of one instance | {},", neighbourhood.MOST_ARROWS),
]
"""Figures of a page, as it has them, with those of the code."""


@pytest.mark.parametrize(("page", "phrase", "figure"), FIGURES)
def test_figures_are_those_of_the_code(page: str, phrase: str, figure: float) -> None:
    words = " ".join((ROOT / "docs/reference" / page).read_text().split()).lower()
    assert phrase.format(figure).lower().replace("%", " %") in words


def test_pages_that_the_code_names_exist() -> None:
    rooms = (
        "dialects",
        "passes",
        "lowering",
        "runtime",
        "costmodel",
        "kernels",
        "benchmarks",
        "frontends",
    )
    sources = [file for room in (*rooms, "tools") for file in (ROOT / room).rglob("*.py")]
    sources += (ROOT / "src" / "loopwright" / "commands").rglob("*.py")
    for file in sources:
        for name in re.findall(r"\bdocs/[\w/-]+\.md\b", file.read_text()):
            assert (ROOT / name).is_file(), f"{file}: {name}"
