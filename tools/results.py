"""Generator of result pages: `python tools/results.py`, or `make results`.

Every file of `benchmarks/results/` is what one command measured once: a table, with the command,
the commit, the machine (a name of `benchmarks/machines.json`) and the date. The pages of
`docs/results/`, the picture there and the table of the README follow from these files alone; a test
compares them. The scripts of `benchmarks/` update their files with `--record NAME`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bar_chart import bar_chart

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "benchmarks" / "results"
MACHINES = ROOT / "benchmarks" / "machines.json"
FOLDER = ROOT / "docs" / "results"
README = ROOT / "README.md"

PAGES = {
    "speed": (
        "Speed of the code",
        "Compiled kernels beside other compilers and libraries.",
    ),
    "functions": (
        "Elementary functions",
        "Errors of `exp`, `log`, `sin` ... and how long they take.",
    ),
    "compile": ("Compile time", "How long it takes from text to machine code."),
    "tuning": ("Tuning and searching", "What searches find, with and without runs."),
    "models": ("Cost models", "How good and how fast the shipped models are."),
    "data": ("Labelled data", "How fast labels are made, and how exact they are."),
    "faults": (
        "Faults",
        "What is killed, interrupted, full, missing or crowded loses and leaves nothing.",
    ),
    "campaigns": (
        "Random campaigns",
        "Programs, schedules and inputs that nobody wrote: how many, and what was found.",
    ),
    "papers": ("Papers", "The experiments of published papers, repeated here."),
}

IN_README = (
    *("polybench-large", "gemm-libraries", "polybench-scipy", "compile-time", "tuning-polybench"),
    *("untuned-random", "search-by-model", "ensemble-accuracy", "labelling"),
)
"""The records in the table of the README."""

BEGIN, END = "<!-- results: written by tools/results.py -->", "<!-- end of results -->"

PICTURE = "polybench-large"
"""The record that is drawn: speed-ups of kernels, the geometric means apart."""

Cell = str | int | float


@dataclass(frozen=True)
class Record:
    """A table that one command measured; `headline` says it in one line."""

    name: str
    page: str
    title: str
    text: str
    command: str
    commit: str
    machine: str
    date: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    headline: str = ""

    def __post_init__(self) -> None:
        if self.page not in PAGES:
            raise ValueError(f"{self.name}: no page {self.page}")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.name}: {row} does not fit {self.columns}")


def records() -> list[Record]:
    """All records, by name."""
    return [
        Record(path.stem, **json.loads(path.read_text())) for path in sorted(RECORDS.glob("*.json"))
    ]


def pages() -> dict[Path, str]:
    """The text of every file that follows from the records."""
    found = records()
    machines = json.loads(MACHINES.read_text())
    known = {record.name: record for record in found}
    texts = {FOLDER / "index.md": _index(found, machines)}
    for page in PAGES:
        texts[FOLDER / f"{page}.md"] = _page(page, [r for r in found if r.page == page])
    texts[FOLDER / f"{PICTURE}.svg"] = _picture(known[PICTURE])
    texts[README] = _readme([known[name] for name in IN_README], machines)
    return texts


def _index(found: Sequence[Record], machines: dict[str, str]) -> str:
    """One line per record, and the machines."""
    rows = [
        (
            f"[{record.title}]({record.page}.md#{record.name})",
            record.headline or "see the table",
            f"`{record.commit}`",
            record.machine,
            record.date,
            f"`{record.command}`",
        )
        for page in PAGES
        for record in found
        if record.page == page
    ]
    header = ("what", "figure", "commit", "machine", "date", "reproduced by")
    return "\n".join(
        [
            "# Results\n",
            "Written by `tools/results.py` from `benchmarks/results/*.json`. The commit is the one "
            "that recorded\nthe figures; the command reproduces them on that machine.\n",
            f"![{_drawn(found)}]({PICTURE}.svg)\n",
            *_table(header, rows),
            "\n## Machines\n",
            *_table(("name", "machine"), machines.items()),
            "",
        ]
    )


def _drawn(found: Sequence[Record]) -> str:
    """The title of the record that is drawn."""
    return next(record.title for record in found if record.name == PICTURE)


def _page(page: str, found: Sequence[Record]) -> str:
    title, text = PAGES[page]
    sections = (_section(record) for record in found)
    return "\n".join([f"# {title}\n", f"{text} [All results](index.md).\n", *sections])


def _section(record: Record) -> str:
    """A record: what it is, the command, and its rows, each with commit, machine and date."""
    run = (f"`{record.commit}`", record.machine, record.date)
    rows = [(*map(_cell, row), *run) for row in record.rows]
    return "\n".join(
        [
            f'<a id="{record.name}"></a>\n',
            f"## {record.title}\n",
            f"{record.text}\n",
            f"```sh\n{record.command}\n```\n",
            *_table((*record.columns, "commit", "machine", "date"), rows),
            "",
        ]
    )


def _cell(value: Cell) -> str:
    match value:
        case float():
            return f"{value:.2f}" if value < 2 else f"{value:g}"
        case int():
            return f"{value:,}"
        case str():
            return value


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _picture(record: Record) -> str:
    bars = [(str(name), float(value)) for name, value in record.rows if "mean" not in str(name)]
    return bar_chart(record.title, bars)


def _readme(found: Sequence[Record], machines: dict[str, str]) -> str:
    """The README with its table written anew."""
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    rows = [
        (
            f"[{record.title}](docs/results/{record.page}.md#{record.name})",
            record.headline,
            record.machine,
        )
        for record in found
    ]
    names = dict.fromkeys(record.machine for record in found)
    legend = ";\n".join(f"{name}: {machines[name]}" for name in names)
    table = "\n".join(_table(("what", "figure", "machine"), rows))
    return f"{before}{BEGIN}\n{table}\n\n{legend}.\n{END}{after}"


def main() -> None:
    """Writes all of them."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    for path, text in pages().items():
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
