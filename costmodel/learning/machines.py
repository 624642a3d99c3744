"""Targets from the machine fingerprints of labels."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from ...passes.machine.target import Target
from ...support.stored_files import DAMAGE


@cache
def target_of(fingerprint: str) -> Target:
    """What cost models are told of a labelled machine; what the fingerprint lacks is the host's."""
    host = Target.host()
    try:
        return _told(host, json.loads(fingerprint))
    except DAMAGE:
        return host


def _told(host: Target, known: Mapping[str, Any]) -> Target:
    caches: Mapping[str, int] = known.get("caches", {})
    levels = {
        int(match[1]): int(size) for n, size in caches.items() if (match := re.match(r"L(\d)", n))
    }
    return dataclasses.replace(
        host,
        name=str(known.get("cpu_name", host.name)),
        processor=str(known.get("cpu_name", host.processor)),
        vector_bits=int(known.get("vector_bits", host.vector_bits)),
        cores=int(known.get("cores", host.cores)),
        caches={**host.caches, **levels},
    )
