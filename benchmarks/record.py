"""Benchmark records: files of `benchmarks/results/` that result pages are generated from.

    python benchmarks/legality.py --record legality
    loopwright bench polybench --size LARGE --schedule default --peers clang --json bench.json
    python benchmarks/record.py bench.json polybench-large

Title and text of a file that is there stay; its headline is taken away, as its figures are others
now: write a new one, then `make results`.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any

from loopwright.passes.machine.target import Target

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks" / "results"
MACHINES = ROOT / "benchmarks" / "machines.json"

KNOWN = {"znver3": "zen3", "znver4": "zen4", "znver5": "zen5"}
"""Our names of CPUs that LLVM calls otherwise."""

Cell = str | int | float


def add_option(parser: argparse.ArgumentParser) -> None:
    """The option `--record`."""
    parser.add_argument("--record", metavar="NAME", help="write benchmarks/results/NAME.json")


def write(
    name: str | None,
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    command: str | None = None,
    title: str | None = None,
    text: str = "",
    page: str = "speed",
    measured_on: str | None = None,
) -> None:
    """Writes a record; does nothing without a name. The command is by default this process's.

    `title`, `text` and `page` are for a record that is new. `measured_on` is the CPU that labels
    are from, where this machine has only computed with them.
    """
    if name is None:
        return
    path = FOLDER / f"{name}.json"
    old = json.loads(path.read_text()) if path.exists() else {}
    content = {
        "page": old.get("page", page),
        "title": old.get("title", title or name),
        "text": old.get("text", text),
        "command": command or _own_command(),
        "commit": commit(),
        "machine": machine() if measured_on is None else named(measured_on),
        "date": datetime.date.today().isoformat(),
        "columns": list(columns),
    }
    path.write_text(_text(content, rows))
    print(f"wrote {path.relative_to(ROOT)}; write its headline, then: make results")


def _text(content: dict[str, Any], rows: Sequence[Sequence[Cell]]) -> str:
    """JSON with a line for each field and each row."""
    fields = "".join(
        f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in content.items()
    )
    lines = ",\n".join(f"  {json.dumps(list(row))}" for row in rows)
    return f'{{\n{fields} "rows": [\n{lines}\n ]\n}}\n'


def commit() -> str:
    """The commit of the working tree."""
    return _git("rev-parse", "--short", "HEAD")


def known_lines(path: Path, here: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The JSON lines of a file that have these entries, by their kernels."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return {line["kernel"]: line for line in found if here.items() <= line.items()}


def add_line(path: Path, line: Mapping[str, Any]) -> None:
    """Adds a JSON line to a file, which need not exist: what was measured is kept at once."""
    with path.open("a") as file:
        file.write(f"{json.dumps(line)}\n")


def code() -> str:
    """A hash of the commit and of what differs from it in the working tree."""
    state = _git("rev-parse", "HEAD") + _git("diff", "HEAD")
    return hashlib.sha256(state.encode()).hexdigest()[:12]


def machine() -> str:
    """The name of this machine; one that is new is added to the list."""
    target = Target.host()
    name = named(target.processor)
    machines = json.loads(MACHINES.read_text())
    if name not in machines:
        machines[name] = f"{target.cores} cores of {name}, {target.vector_bits}-bit vectors"
        MACHINES.write_text(json.dumps(dict(sorted(machines.items())), indent=1) + "\n")
    return name


def named(cpu: str) -> str:
    """Our name of a CPU."""
    return KNOWN.get(cpu, cpu)


def _own_command() -> str:
    script, *words = sys.argv
    if "--record" in words:
        place = words.index("--record")
        words[place : place + 2] = []
    return shlex.join(["python", str(Path(script).resolve().relative_to(ROOT)), *words])


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def speedups(rows: Sequence[dict[str, Any]]) -> list[tuple[str, float]]:
    """Of rows of `bench`: ours, scheduled and on most threads, over the fastest sequential peer."""
    found: list[tuple[str, float]] = []
    for (kernel, _), group in groupby(rows, lambda row: (row["kernel"], row["size"])):
        timed = [row for row in group if row["median"] is not None and row["correct"]]
        ours = [row for row in timed if row["peer"] == "loopwright"]
        peers = [row for row in timed if row["peer"] != "loopwright" and row["threads"] == 1]
        if ours and peers:
            best = max(ours, key=lambda row: (row["threads"], "default" in row["variant"]))
            fastest = min(row["median"] for row in peers)
            found.append((kernel.rpartition("/")[2], fastest / best["median"]))
    return sorted(found, key=lambda pair: -pair[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="what `loopwright bench --json` wrote")
    parser.add_argument("name", help="of the record")
    options = parser.parse_args()
    content = json.loads(options.file.read_text())
    found = speedups(content["rows"])
    if not found:
        parser.error(f"{options.file} has no kernel that both loopwright and a peer ran")
    mean = exp(fmean(log(gain) for _, gain in found))
    rows = [(name, float(f"{gain:.3g}")) for name, gain in (*found, ("geometric mean", mean))]
    command = f"loopwright {content['command']}"
    write(options.name, ["kernel", "speed-up"], rows, command=command)


if __name__ == "__main__":
    main()
