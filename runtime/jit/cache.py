"""Persistent cache of object code, keyed by source and machine.

An entry is one file, named by its key: a header (magic, key, length and SHA-256 of the payload)
and the payload. An entry that is damaged, truncated, written by another user or stored under
another key is never used; the next `put` replaces it. The cache can fail (read-only or full disk):
it then warns once and everything works without it.

Environment: `LOOPWRIGHT_CACHE` is the directory, or `off`; default `$XDG_CACHE_HOME/loopwright`,
then `~/.cache/loopwright`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import struct
import time
import warnings
from pathlib import Path

from ...support.owned_files import read_owned
from ...support.user_folders import user_path

CACHE_FORMAT = 1
DEFAULT_LIMIT = 512 * 2**20

_MAGIC = b"loopwright-object"
_HEADER = struct.Struct(f">{len(_MAGIC)}sI32sQ32s")
_SUFFIX = ".obj"
_TEMPORARY_SUFFIX = ".tmp"
_STALE_SECONDS = 3600


def cache_key(*parts: str) -> str:
    """The SHA-256 of `parts` (in order, each with its length), as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(struct.pack(">Q", len(data)))
        digest.update(data)
    return digest.hexdigest()


def cache_directory() -> Path | None:
    """The directory that the environment asks for; None when caching is off."""
    return user_path("LOOPWRIGHT_CACHE", "XDG_CACHE_HOME", ".cache", "")


def default_cache() -> ObjectCache | None:
    """The cache that the environment asks for; None when caching is off."""
    directory = cache_directory()
    return None if directory is None else _cache_at(directory)


@functools.cache
def _cache_at(directory: Path) -> ObjectCache:
    return ObjectCache(directory)


class ObjectCache:
    """A cache directory, safe to share between processes, of about `limit` bytes at most."""

    def __init__(self, directory: Path, limit: int = DEFAULT_LIMIT) -> None:
        self.directory = directory
        self.limit = limit
        self._warned = False
        self._written_since_trim: int | None = None

    def path(self, key: str) -> Path:
        """The file of the entry `key`."""
        return self.directory / f"{key}{_SUFFIX}"

    def get(self, key: str) -> bytes | None:
        """The payload stored under `key`; None when there is none that can be trusted."""
        path = self.path(key)
        try:
            data = read_owned(path)
        except OSError:
            return None
        payload = _unpack(key, data)
        if payload is not None:
            with contextlib.suppress(OSError):
                os.utime(path)  # the entries used least recently are removed first
        return payload

    def put(self, key: str, payload: bytes) -> None:
        """Stores `payload` under `key`, whatever was there; never raises for a failing disk."""
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write(self.path(key), _pack(key, payload))
            self._trim(len(payload))
        except OSError as error:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"loopwright works without its cache: {self.directory}: {error.strerror}"
                    " (set LOOPWRIGHT_CACHE to another directory, or to 'off')",
                    RuntimeWarning,
                    stacklevel=2,
                )

    def _write(self, path: Path, data: bytes) -> None:
        import tempfile  # a process that finds all it needs writes nothing

        descriptor, name = tempfile.mkstemp(dir=self.directory, suffix=_TEMPORARY_SUFFIX)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def _trim(self, written: int) -> None:
        """Removes old entries when a sixteenth of the limit was written since the last look."""
        if self._written_since_trim is not None:
            self._written_since_trim += written
            if self._written_since_trim < self.limit // 16:
                return
        self._written_since_trim = 0
        entries: list[tuple[float, int, str]] = []
        with os.scandir(self.directory) as found:
            for entry in found:
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    if entry.name.endswith(_SUFFIX):
                        entries.append((status.st_mtime, status.st_size, entry.path))
                    elif entry.name.endswith(_TEMPORARY_SUFFIX) and _is_stale(status):
                        Path(entry.path).unlink(missing_ok=True)
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.limit:
                return
            Path(path).unlink(missing_ok=True)
            total -= size


def _is_stale(status: os.stat_result) -> bool:
    return time.time() - status.st_mtime > _STALE_SECONDS


def _pack(key: str, payload: bytes) -> bytes:
    digest = hashlib.sha256(payload).digest()
    header = _HEADER.pack(_MAGIC, CACHE_FORMAT, bytes.fromhex(key), len(payload), digest)
    return header + payload


def _unpack(key: str, data: bytes) -> bytes | None:
    if len(data) < _HEADER.size:
        return None
    magic, version, stored_key, length, digest = _HEADER.unpack_from(data)
    payload = data[_HEADER.size :]
    intact = (
        magic == _MAGIC
        and version == CACHE_FORMAT
        and stored_key == bytes.fromhex(key)
        and length == len(payload)
        and digest == hashlib.sha256(payload).digest()
    )
    return payload if intact else None
