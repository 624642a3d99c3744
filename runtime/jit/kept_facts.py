"""Facts about texts that the compiler has found out, kept on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .cache import cache_key, default_cache
from .code_versions import compiler


def kept_fact(make: Callable[[], Any], *text: str) -> Any:
    """What `make` finds out about a text, as JSON has it; found out once by each compiler."""
    cache = default_cache()
    if cache is None:
        return make()
    key = cache_key("fact", *text, compiler())
    data = cache.get(key)
    if data is not None:
        return json.loads(data)
    fact = make()
    cache.put(key, json.dumps(fact).encode())
    return fact
