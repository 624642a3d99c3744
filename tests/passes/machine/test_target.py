"""Targets are detected from what Linux tells, and do not fail where it tells nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import IndexType, f32, f64, i8, i32

from loopwright.passes.machine import target
from loopwright.passes.machine.target import Target


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that tells nothing, until files are written."""
    monkeypatch.setattr(target, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(target, "_CACHES", tmp_path / "cache")
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


def test_assumes_little_of_an_unknown_machine(system: Path) -> None:
    host = target.detect()
    assert (host.vector_bits, host.vector_registers) == (128, 16)
    assert host.cores >= 1
    assert set(host.caches) == {1, 2, 3}


def test_this_machine_is_detected_once() -> None:
    assert Target.host() is Target.host()
    assert Target.named("host") is Target.host()


def test_lanes_fill_a_register() -> None:
    wide, narrow = Target.named("x86-64-v4"), Target.named("x86-64-v3")
    assert [wide.lanes(kind) for kind in (f32, f64, i8, IndexType())] == [16, 8, 64, 8]
    assert [narrow.lanes(kind) for kind in (f64, i32)] == [4, 8]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="there are host, x86-64-v3, x86-64-v4"):
        Target.named("z80")
