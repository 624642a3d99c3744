"""Dependences of random programs in child processes: which end, hang, or are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.passes.polyhedral.dependences import compute_dependences
from loopwright.passes.polyhedral.raising.raise_function import raise_module

from .random_accesses import access_program
from .supervision import Tell, Verdict, supervise

LAST, MEMORY_BASED, REFUSED = "last accesses", "memory-based", "refused"

# Seconds of CPU for one program: of the refusals, too, none may take longer.
SECONDS = 30

# Programs of a child process.
BATCH = 500


def check_program(seed: int, tell: Tell) -> None:
    """Computes the dependences of a program: what they are is the verdict."""
    tell("dependences")
    (scop,) = raise_module(parse_module(access_program(seed))).values()
    try:
        found = compute_dependences(scop)
    except SourceError as error:
        tell(Verdict(seed, "", REFUSED, str(error)))
        return
    kind = MEMORY_BASED if any(each.memory_based for each in found) else LAST
    tell(Verdict(seed, "", kind))


def verdicts(first: int, programs: int) -> Iterator[tuple[Counter[str], Verdict]]:
    """The verdicts on so many programs, each with the counts up to it."""
    counts: Counter[str] = Counter()
    seeds = range(first, first + programs)
    for event in supervise(check_program, seeds, batch=BATCH, limit=SECONDS):
        if isinstance(event, Verdict):
            counts[event.verdict] += 1
            yield counts, event
