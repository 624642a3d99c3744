"""Targets are detected from what Linux tells, and do not fail where it tells nothing."""

from __future__ import annotations

import dataclasses
import platform
from pathlib import Path

import pytest
from xdsl.dialects.builtin import IndexType, f32, f64, i8, i32

from loopwright.passes.machine import cpuinfo, detection, target
from loopwright.passes.machine.machine import Machine
from loopwright.passes.machine.target import Target
from loopwright.passes.machine.target_files import target_file, target_names


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that tells nothing, until files are written."""
    monkeypatch.setattr(cpuinfo, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(detection, "CACHES", tmp_path / "cache")
    return tmp_path


def test_reads_features_and_caches(system: Path) -> None:
    (system / "cpuinfo").write_text("processor : 0\nflags\t\t: fpu avx2 fma avx512f\n")
    for index, (level, kind, size) in enumerate(
        [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2M")]
    ):
        folder = system / "cache" / f"index{index}"
        folder.mkdir(parents=True)
        (folder / "level").write_text(f"{level}\n")
        (folder / "type").write_text(f"{kind}\n")
        (folder / "size").write_text(f"{size}\n")
    host = target.detect()
    assert (host.vector_bits, host.vector_registers) == (512, 32)
    assert {"avx2", "fma"} <= host.features
    assert (host.caches[1], host.caches[2]) == (48 << 10, 2 << 20)
    assert host.caches[3] == target_file("generic-avx512").machine.caches[3], "not detected"


def test_the_host_has_the_figures_of_its_processor(system: Path) -> None:
    (system / "cpuinfo").write_text(
        "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 1\nflags : sse2 avx2 fma\n"
    )
    host = target.detect()
    assert (host.name, host.processor, host.is_host) == ("host", "znver3", True)
    figures = target_file("zen3").machine
    for field in dataclasses.fields(Machine):
        assert getattr(host, field.name) == getattr(figures, field.name), field.name


def test_assumes_little_of_an_unknown_machine(system: Path) -> None:
    host = target.detect()
    assert (host.vector_bits, host.vector_registers) == (128, 16)
    assert host.cores >= 1
    assert set(host.caches) == {1, 2, 3}
    assert not host.features


def test_this_machine_is_detected_once() -> None:
    assert Target.host() is Target.host()
    assert Target.named("host") is Target.host()


def test_lanes_fill_a_register() -> None:
    wide, narrow = (Target.of(target_file(f"generic-{name}")) for name in ("avx512", "avx2"))
    assert [wide.lanes(kind) for kind in (f32, f64, i8, IndexType())] == [16, 8, 64, 8]
    assert [narrow.lanes(kind) for kind in (f64, i32)] == [4, 8]


@pytest.mark.parametrize("name", target_names())
def test_a_named_target_is_that_of_its_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = target_file(name)
    found = Target.named(name)
    assert (found.name, found.processor, found.features) == (name, file.processor, file.features)
    assert (found.vector_bits, found.caches) == (file.machine.vector_bits, file.machine.caches)
    assert not found.is_host
    assert Target.named(file.processor) == found, "LLVM's name"
    monkeypatch.setattr(platform, "machine", lambda: file.architecture)
    assert found.runs_here
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not found.runs_here


def test_fields_of_a_file_can_be_overridden() -> None:
    changed = Target.of(target_file("zen4"), caches={1: 1 << 14}, cores=3)
    assert (changed.caches, changed.cores, changed.name) == ({1: 1 << 14}, 3, "zen4")
    assert changed.hertz == target_file("zen4").machine.hertz
    with pytest.raises(TypeError):
        Target.of(target_file("zen4"), colour="blue")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("z80", "there are host, generic-avx2, .*zen3, zen4, zen5$"),
        ("zen33", "did you mean zen3\\? There are host, "),
        ("x86-64-v5", "did you mean x86-64-v4\\? There are host, "),
    ],
)
def test_unknown_names_are_refused(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match=f"unknown target '{name}'; {hint}"):
        Target.named(name)
