"""Random programs of the front ends, against their undecorated or unoptimised runs.

    python tests/front_ends.py --programs 20000
    python tests/front_ends.py --programs 500 --first 60000
    python tests/front_ends.py --seed 1234
    python tests/front_ends.py --kind drop-in --programs 5000
    python tests/front_ends.py --kind gathers --programs 5000
    python tests/front_ends.py --kind jumps --programs 5000

Goes on where the record (benchmarks/results/campaigns.json) ends, and adds to it piece by piece, so
that it may be stopped at any time. With `--seed`, one program is checked and nothing recorded.
Runs in child processes: one that ends or hangs is a finding like a wrong result. Findings are
printed, and written to a folder. The exit code is 1 when there are findings.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.campaign import Campaign
from support.campaign_record import add, recorded
from support.drop_in_programs import check_drop_in, drop_in_program
from support.front_end_programs import check_front_end, check_gather_program, front_end_program
from support.pairs import INEXACT, REFUSED, SAME, WRONG
from support.random_gathers import gather_program
from support.random_jumps import check_jumps, jumping_function
from support.supervision import Check

RECORD = "campaigns"
PIECE = 250


@dataclass(frozen=True)
class Kind:
    """What is checked: its row in the record, the check of a number, and its program."""

    title: str
    check: Check
    program: Callable[[int], str]


KINDS = {
    "programs": Kind("programs of the front ends", check_front_end, front_end_program),
    "drop-in": Kind("C files as drop-in sources", check_drop_in, drop_in_program),
    "gathers": Kind("programs that gather and scatter", check_gather_program, gather_program),
    "jumps": Kind("C functions with jumps", check_jumps, jumping_function),
}


def main() -> int:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=sorted(KINDS), default="programs")
    parser.add_argument(
        "--programs", type=int, default=20_000, help="the record's, in all; new ones with --first"
    )
    parser.add_argument("--seed", type=int, help="of one program")
    parser.add_argument(
        "--first", type=int, help="go on from this number, and not the record's end"
    )
    parser.add_argument("--jobs", type=int, default=1, help="child processes")
    parser.add_argument("--limit", type=int, default=60, help="seconds of CPU of a program")
    parser.add_argument("--findings", type=Path, default=Path("build/front-ends"))
    options = parser.parse_args()
    # No program comes twice, and code that was stored would hide mistakes in what makes it.
    os.environ["LOOPWRIGHT_CACHE"] = "off"
    if options.seed is not None:
        return 1 if _campaign(range(options.seed, options.seed + 1), options).run() else 0
    title = KINDS[options.kind].title
    done = recorded(RECORD, title)
    first = done[-1].stop if done else 0
    missing = options.programs - sum(map(len, done))
    if options.first is not None:
        first, missing = options.first, options.programs
    findings = 0
    for start in range(first, first + missing, PIECE):
        piece = range(start, min(start + PIECE, first + missing))
        campaign = _campaign(piece, options)
        found = len(campaign.run())
        counts = campaign.counts
        compared, refused = counts[SAME] + counts[WRONG], counts[REFUSED] + counts[INEXACT]
        add(RECORD, title, compared, refused, found, piece)
        findings += found
    return 1 if findings else 0


def _campaign(seeds: range, options: argparse.Namespace) -> Campaign:
    kind = KINDS[options.kind]
    return Campaign(
        seeds,
        options.jobs,
        options.limit,
        options.findings,
        kind.check,
        kind.program,
        "programs",
    )


if __name__ == "__main__":
    sys.exit(main())
