"""Object code on disk: found again, and never trusted when something is wrong with it."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.runtime_programs import FIXED

import loopwright
from loopwright.runtime.jit import cache as cache_module
from loopwright.runtime.jit import object_code as jit
from loopwright.runtime.jit.cache import ObjectCache, cache_directory, cache_key, default_cache

KEY = cache_key("a")
OTHER = cache_key("b")
PAYLOAD = bytes(range(256)) * 5


@pytest.fixture
def cache(tmp_path: Path) -> ObjectCache:
    return ObjectCache(tmp_path / "deep" / "cache")


def test_stores_and_finds(cache: ObjectCache) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, PAYLOAD)
    cache.put(OTHER, b"")
    assert cache.get(KEY) == PAYLOAD
    assert cache.get(OTHER) == b""


def test_is_private(cache: ObjectCache) -> None:
    cache.put(KEY, PAYLOAD)
    assert cache.directory.stat().st_mode & 0o777 == 0o700
    assert cache.path(KEY).stat().st_mode & 0o777 == 0o600


def test_key_depends_on_how_parts_are_divided() -> None:
    keys = {cache_key("ab", "c"), cache_key("a", "bc"), cache_key("abc"), cache_key("abc", "")}
    assert len(keys) == 4


def flip(position: int) -> Callable[[bytes], bytes]:
    def damage(data: bytes) -> bytes:
        return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]

    return damage


HEADER = cache_module._HEADER.size
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "half of the header": lambda data: data[: HEADER // 2],
    "header only": lambda data: data[:HEADER],
    "last byte missing": lambda data: data[:-1],
    "a byte too many": lambda data: data + b"\0",
    "other format": flip(len(b"loopwright-object") + 3),
    "magic": flip(0),
    "key": flip(len(b"loopwright-object") + 4),
    "length": flip(HEADER - 33),
    "digest": flip(HEADER - 1),
    "first byte of the payload": flip(HEADER),
    "last byte of the payload": flip(HEADER + len(PAYLOAD) - 1),
    "text": lambda data: b"not an entry at all, but longer than a header" * 10,
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_ignores_and_replaces_damaged_entries(cache: ObjectCache, kind: str) -> None:
    cache.put(KEY, PAYLOAD)
    path = cache.path(KEY)
    path.write_bytes(DAMAGES[kind](path.read_bytes()))
    assert cache.get(KEY) is None
    cache.put(KEY, PAYLOAD)
    assert cache.get(KEY) == PAYLOAD


def test_ignores_an_entry_under_a_foreign_key(cache: ObjectCache) -> None:
    cache.put(KEY, PAYLOAD)
    cache.path(KEY).rename(cache.path(OTHER))
    assert cache.get(OTHER) is None


def test_ignores_what_others_could_have_written(cache: ObjectCache) -> None:
    cache.put(KEY, PAYLOAD)
    cache.path(KEY).chmod(0o666)
    assert cache.get(KEY) is None


def test_ignores_links_and_directories(cache: ObjectCache, tmp_path: Path) -> None:
    cache.put(KEY, PAYLOAD)
    elsewhere = tmp_path / "elsewhere"
    cache.path(KEY).rename(elsewhere)
    cache.path(KEY).symlink_to(elsewhere)
    assert cache.get(KEY) is None
    cache.path(OTHER).mkdir()
    assert cache.get(OTHER) is None


def test_does_not_wait_for_a_pipe(cache: ObjectCache) -> None:
    cache.put(OTHER, PAYLOAD)
    os.mkfifo(cache.path(KEY))
    assert cache.get(KEY) is None


def test_failing_disk_warns_once(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    cache = ObjectCache(blocked / "cache")
    with pytest.warns(RuntimeWarning, match="works without its cache") as caught:
        cache.put(KEY, PAYLOAD)
        cache.put(OTHER, PAYLOAD)
    assert len(caught) == 1
    assert cache.get(KEY) is None


def test_leaves_no_partial_file_behind(cache: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(OTHER, PAYLOAD)

    def full(self: Path, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        cache.put(KEY, PAYLOAD)
    assert [path.name for path in cache.directory.iterdir()] == [cache.path(OTHER).name]


def test_drops_the_entries_used_least_recently(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path, limit=10_000)
    keys = [cache_key(str(number)) for number in range(30)]
    for age, key in enumerate(keys):
        cache.put(key, bytes(1000))
        if cache.path(key).exists():
            os.utime(cache.path(key), (1_000_000 + age, 1_000_000 + age))
        cache.get(keys[0])  # keeps the first one in use
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert sum(sizes) <= 10_000
    assert cache.get(keys[0]) is not None
    assert cache.get(keys[-1]) is not None
    assert cache.get(keys[1]) is None


def test_removes_stale_temporary_files(cache: ObjectCache) -> None:
    cache.directory.mkdir(parents=True)
    old, new = cache.directory / "old.tmp", cache.directory / "new.tmp"
    old.touch()
    new.touch()
    os.utime(old, (1, 1))
    cache.put(KEY, PAYLOAD)
    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"LOOPWRIGHT_CACHE": "off", "HOME": "/home/me"}, None),
        ({"LOOPWRIGHT_CACHE": "OFF"}, None),
        ({"LOOPWRIGHT_CACHE": "/some/where", "XDG_CACHE_HOME": "/xdg"}, "/some/where"),
        ({"LOOPWRIGHT_CACHE": "", "XDG_CACHE_HOME": "/xdg"}, "/xdg/loopwright"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/home/me"}, "/home/me/.cache/loopwright"),
        ({"HOME": "/home/me"}, "/home/me/.cache/loopwright"),
    ],
)
def test_directory(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str | None
) -> None:
    for name in ("LOOPWRIGHT_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_directory() == (None if expected is None else Path(expected))
    assert (default_cache() is None) == (expected is None)


def run_fixed() -> None:
    a, out = np.arange(12, dtype="i4").reshape(4, 3), np.zeros((4, 3), "i4")
    loopwright.load(FIXED)["fixed"].compile(None)(a, out)
    assert (out == 2 * a).all()


def test_kernels_are_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compilations: list[str] = []
    original = jit.compile_module

    def counted(module: str, **keywords: object) -> bytes:
        compilations.append(module)
        return original(module, **keywords)

    monkeypatch.setattr(jit, "compile_module", counted)
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(tmp_path))
    run_fixed()
    run_fixed()
    assert len(compilations) == 1
    whole = {entry: entry.read_bytes() for entry in tmp_path.iterdir()}
    for entry, data in whole.items():
        entry.write_bytes(data[: len(data) // 2])
    run_fixed()
    assert len(compilations) == 2
    assert {entry: entry.read_bytes() for entry in tmp_path.iterdir()} == whole
    monkeypatch.setenv("LOOPWRIGHT_CACHE", "off")
    run_fixed()
    assert len(compilations) == 3


def test_read_only_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(blocked))
    with pytest.warns(RuntimeWarning, match="works without its cache"):
        run_fixed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_fixed()


def test_processes_share_a_directory(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from loopwright.runtime.jit.cache import *\n"
        "cache = ObjectCache(Path(sys.argv[1]), limit=4000)\n"
        "for n in range(300):\n"
        "    key = cache_key(str(n % 7))\n"
        "    assert cache.get(key) in (None, key.encode() * 10)\n"
        "    cache.put(key, key.encode() * 10)\n"
    )
    command = [sys.executable, "-W", "error", "-c", program, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    workers = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    assert not list(tmp_path.glob("*.tmp"))
