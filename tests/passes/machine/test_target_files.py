"""Files of targets are complete, sane, and say where their figures are from."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from loopwright.passes.machine import target_files
from loopwright.passes.machine.machine import Machine
from loopwright.passes.machine.target_files import (
    FOLDER,
    reference_machine,
    target_file,
    target_names,
)

NAMES = target_names()
FILES = [*(FOLDER / f"{name}.toml" for name in NAMES), FOLDER.parent / "reference.toml"]

RANGES = {
    "vector_bits": (128, 512),
    "vector_registers": (16, 32),
    "hertz": (1e9, 6e9),
    "multiply_adds_per_cycle": (1, 4),
    "loads_per_cycle": (1, 4),
    "stores_per_cycle": (0.5, 2),
    "cycles": (0.1, 50),
    "latencies": (1, 60),
    "function_cycles": (5, 100),
    "vector_function": (1, 8),
    "function_latency": (1, 10),
    "gather_cycles": (0.5, 5),
    "transposing_cycles": (0.2, 4),
    "scatter_cycles": (0.5, 5),
    "masked_vector": (1, 4),
    "guard_cycles": (0, 20),
    "masked_store_cycles": (1, 64),
    "branch_cycles": (0, 5),
    "loop_entry_cycles": (0, 20),
    "reorder_window": (64, 1024),
    "store_forwarding": (1, 20),
    "vector_forwarding": (1, 40),
    "masked_forwarding": (1, 80),
    "caches": (16 << 10, 1 << 30),
    "cache_line": (32, 256),
    "set_periods": (1 << 10, 1 << 20),
    "page": (4096, 65536),
    "huge_page": (1 << 20, 1 << 30),
    "tlb_entries": (16, 512),
    "page_fault": (1e-7, 1e-4),
    "bandwidths": (1e9, 1e12),
    "line_latencies": (1, 500),
    "streams": (2, 32),
    "stream_start": (64, 8192),
    "shortest_run": (64, 1024),
    "unseen_stream": (1.0, 4.0),
    "prefetched_streams": (2, 64),
    "memory_bandwidth": (1e9, 2e12),
    "fork_join": (1e-7, 1e-4),
    "thread_wake": (1e-6, 1e-3),
}
"""Of each figure: what a general-purpose processor of these years can have."""


def test_the_named_targets() -> None:
    assert {"zen3", "zen4", "zen5", "icelake-server", "sapphirerapids", "neoverse-v1"} < {*NAMES}
    assert {"generic-avx2", "generic-avx512", "generic-neon"} < {*NAMES}
    assert target_file("generic-avx2").processor == "x86-64-v3"
    assert target_file("generic-avx512").processor == "x86-64-v4"


def test_every_figure_has_a_range() -> None:
    assert set(RANGES) == {field.name for field in dataclasses.fields(Machine)}


@pytest.mark.parametrize("name", [*NAMES, "reference"])
def test_figures_are_sane(name: str) -> None:
    machine = reference_machine() if name == "reference" else target_file(name).machine
    for field, (low, high) in RANGES.items():
        value = getattr(machine, field)
        for figure in value.values() if isinstance(value, dict) else [value]:
            assert low <= figure <= high, field
    assert set(machine.cycles) == set(machine.latencies) == set(Machine.OPERATIONS)
    assert [*machine.caches] == [*machine.bandwidths] == [*machine.line_latencies] == [1, 2, 3]
    assert [*machine.set_periods] == [1, 2]
    for growing in (machine.caches, machine.line_latencies):
        assert [*growing.values()] == sorted(growing.values())
    assert [*machine.bandwidths.values()] == sorted(machine.bandwidths.values(), reverse=True)
    assert machine.memory_bandwidth > machine.bandwidths[3]
    assert machine.thread_wake > machine.fork_join
    for size in (machine.page, machine.huge_page, machine.cache_line):
        assert size & (size - 1) == 0
    for level, period in machine.set_periods.items():
        ways, rest = divmod(machine.caches[level], period)
        assert rest == 0 and 4 <= ways <= 20, "associativity"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_figure_has_its_source(path: Path) -> None:
    """In a comment beside it, or beside the head of its table."""
    table, has_source = "", False
    for line in path.read_text(encoding="utf-8").splitlines():
        if head := re.match(r"\[(\S+)\]", line):
            table, has_source = head[1], "#" in line
        elif table.startswith("machine") and "=" in line.partition("#")[0]:
            assert has_source or re.search(r"# \S+", line), line


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_only_what_differs_is_said_again(path: Path) -> None:
    """What is repeated from an inherited file has a source of its own."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    if "inherits" not in data:
        assert path.stem == "generic-avx512", "one file has all figures"
        return
    assert data["inherits"] in NAMES
    known = {field.name for field in dataclasses.fields(Machine)}
    assert set(data["machine"]) <= known


def test_inherited_figures_stay_where_others_are_overridden() -> None:
    zen3, generic = target_file("zen3").machine, target_file("generic-avx512").machine
    assert zen3.cycles["divisions"] != generic.cycles["divisions"]
    assert zen3.cycles["additions"] == generic.cycles["additions"]
    assert zen3.function_cycles == generic.function_cycles
    assert zen3.hertz == target_file("generic-avx2").machine.hertz != generic.hertz


def test_a_figure_that_no_machine_has_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target_files, "FOLDER", tmp_path)
    text = (FOLDER / "generic-avx512.toml").read_text(encoding="utf-8")
    (tmp_path / "whole.toml").write_text(text, encoding="utf-8")
    (tmp_path / "more.toml").write_text('inherits = "whole"\n[machine]\nvolts = 1\n')
    (tmp_path / "less.toml").write_text("[machine]\nvector_bits = 128\n")
    assert target_files._machine(tmp_path / "whole.toml").vector_bits == 512
    with pytest.raises(TypeError, match="volts"):
        target_files._machine(tmp_path / "more.toml")
    with pytest.raises(TypeError, match="missing"):
        target_files._machine(tmp_path / "less.toml")


def test_capacity_is_a_part_of_a_cache() -> None:
    machine = target_file("zen3").machine
    assert 0 < machine.capacity(1) < machine.caches[1]
    assert machine.capacity(4) == 0
    assert machine.last_cache == 32 << 20
    assert dataclasses.replace(machine, caches={}).last_cache == 0
