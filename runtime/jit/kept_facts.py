"""Facts about texts that the compiler has found out, kept on disk."""

from __future__ import annotations

from .cache import cache_key, default_cache
from .code_versions import compiler


def has_fact(*text: str) -> bool:
    """Whether what a text says was kept by this compiler."""
    cache = default_cache()
    return cache is not None and cache.get(_key(text)) is not None


def keep_fact(*text: str) -> None:
    """Keeps a fact, where there is a cache."""
    cache = default_cache()
    if cache is not None:
        cache.put(_key(text), b"")


def _key(text: tuple[str, ...]) -> str:
    return cache_key("fact", *text, compiler())
