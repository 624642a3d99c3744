"""The model of the machine: limits, storage, measuring."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from support.machines import make_machine

from loopwright.passes.machine.target import Target
from loopwright.runtime.machine import measure_machine as measuring
from loopwright.runtime.machine import measured as machines
from loopwright.runtime.machine.probes import PATTERNS, probes
from loopwright.runtime.machine.roofline_text import HEIGHT, draw, tables


@pytest.mark.parametrize(
    ("data_bytes", "level"),
    [(1000, "L1"), (1 << 15, "L1"), (1 << 16, "L2"), (1 << 24, "L3"), (1 << 26, "DRAM")],
)
def test_data_is_in_the_first_level_that_holds_it(data_bytes: int, level: str) -> None:
    assert make_machine().level(data_bytes, 1) == level


def test_private_caches_count_per_thread() -> None:
    assert make_machine().level(1 << 16, 2) == "L1"


def test_the_limit_is_the_slower_of_arithmetic_and_memory() -> None:
    machine = make_machine()
    floats, integers = (machine.ceilings(kind, 1) for kind in ("f64", "i32"))
    assert floats.least_seconds(10**9, 8, machine.level(8, 1)) == pytest.approx(0.01)
    assert floats.least_seconds(8, 10**9, machine.level(1 << 30, 1)) == pytest.approx(0.02)
    assert integers.least_seconds(8, 10**9, machine.level(1 << 30, 1)) == pytest.approx(0.02)


def test_floats_without_products_have_half_of_the_peak() -> None:
    machine = make_machine()
    fused, separate = (machine.ceilings("f64", 1, fused=fused) for fused in (True, False))
    assert fused.peak == 100e9
    assert separate.peak == 50e9


def test_a_stored_machine_is_found_again(tmp_path: Path) -> None:
    machine = make_machine()
    path = machines.save(machine, tmp_path / "deep" / "machine.json")
    assert machines.load(path) == machine


def test_what_was_disturbed_is_not_stored(tmp_path: Path) -> None:
    machine = make_machine()
    assert machine.disturbance() is None
    shaken = {kind: dict(values) for kind, values in machine.peaks.items()}
    shaken["f32"]["1"] = machines.Measurement(1e9, 2e9, 0.5)
    for disturbed, reason in [
        (dataclasses.replace(machine, stolen=0.25), "the host took 25% of the CPU time"),
        (dataclasses.replace(machine, peaks=shaken), "the peak of f32 on 1 thread"),
    ]:
        assert reason in (disturbed.disturbance() or "")
        assert machines.save(disturbed, tmp_path / "machine.json") is None
    assert not (tmp_path / "machine.json").exists()


def test_another_machine_is_not_trusted(tmp_path: Path) -> None:
    path = machines.save(dataclasses.replace(make_machine(), cpu="other"), tmp_path / "m.json")
    assert machines.load(path) is None


@pytest.mark.parametrize(
    "contents",
    [b"", b"[]", b"{}", b'{"format": 3}', b"\xff\xfe{}", b"[" * 10**5, b'{"format": 3, "cpu": []}'],
)
def test_damaged_files_are_told_and_not_trusted(tmp_path: Path, contents: bytes) -> None:
    path = tmp_path / "machine.json"
    path.write_bytes(contents)
    with pytest.warns(RuntimeWarning, match="machine.json is not used .*: .* measured again"):
        assert machines.load(path) is None


def test_files_of_other_formats_are_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text('{"format": 99}')
    assert machines.load(path) is None


def test_probes_do_their_work() -> None:
    code = probes()
    memory = measuring._Buffer(3 * code.step_bytes)
    a, b, c = (memory.address + number * code.step_bytes for number in range(3))
    for pattern in PATTERNS:
        code.memory[pattern.name](a, b, c, 1, 2)
    code.fork(2, 2)
    for kind, function in code.arithmetic.items():
        function(3)
        assert code.operations[kind] >= 2 * Target.host().vector_bits // 64, kind


def test_measuring_fills_every_field(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("BUDGET", 1e-4), ("CALL_SECONDS", 1e-5), ("WARM_UP_SECONDS", 0.0)):
        monkeypatch.setattr(measuring, name, value)
    monkeypatch.setattr(measuring, "MINIMUM_DRAM_BYTES", 1 << 20)
    steps: list[str] = []
    machine = measuring.measure_machine(steps.append)
    threads = {"1", str(machine.cores)}
    assert set(machine.peaks) == {"f32", "f64", "i8", "i16", "i32", "i64"}
    assert 0 <= machine.stolen <= 1
    assert set(machine.bandwidths) == {*machine.caches, "DRAM"}
    for patterns in machine.bandwidths.values():
        assert set(patterns) == {"read", "copy", "triad"}
        for values in patterns.values():
            assert set(values) == threads
            assert all(value.best >= value.median > 0 for value in values.values())
    assert machine.fork_join["hot"].best > 0
    assert "bandwidth DRAM" in steps
    assert json.loads(json.dumps(machines.to_json(machine)))["cores"] == machine.cores


@pytest.mark.parametrize(
    ("caches", "threads", "size"),
    [
        ({"L1": 32 << 10, "L2": 1 << 20, "L3": 32 << 20}, 1, 16 << 20),
        ({"L1": 32 << 10, "L2": 1 << 20, "L3": 32 << 20}, 2, 8 << 20),
        ({"L1": 48 << 10, "L2": 2 << 20, "L3": 480 << 20}, 2, 32 << 20),
        ({"L1": 48 << 10, "L3": 8 << 20}, 1, 4 << 20),
    ],
)
def test_a_shared_cache_is_probed_where_a_part_of_it_holds_the_data(
    caches: dict[str, int], threads: int, size: int
) -> None:
    assert measuring.working_set(caches, "L3", threads) == size


def test_the_roofline_is_drawn() -> None:
    lines = draw(make_machine(), "f64", 1).splitlines()
    assert len(lines) == HEIGHT + 3
    assert lines[1].startswith("   100.0 |") and "=" in lines[1]
    assert "D" in lines[HEIGHT] and "=" not in lines[HEIGHT]
    peaks, bandwidths, forks = tables(make_machine())
    assert peaks[2][:3] == ["f64", "100.0", "1%"]
    assert bandwidths[4][:3] == ["DRAM read", "50.0", "1%"]
    assert forks[1][1] == "1.00 us"
