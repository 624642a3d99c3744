"""Random pairs of a program and a schedule, compiled, against the interpreter of the tests.

    python tests/campaign.py --pairs 60000 --jobs 2
    python tests/campaign.py --pairs 1 --seed 1234

Runs in child processes: one that ends or hangs is a finding like a wrong result. Each program has a
seed, which decides everything, and several schedules. Findings are printed, and written to a folder
as programs with comments that tell the seed, the sizes and the pipeline. All seeds below the one
that a line of progress names are done: `--seed` goes on from there. The exit code is 1 when there
are findings.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from support.campaign import Campaign
from support.campaign_record import add
from support.pairs import INEXACT, REFUSED, SAME, WRONG


def main() -> int:
    """Runs what the command line, or else the environment, asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=_setting("PAIRS", 60_000))
    parser.add_argument("--seed", type=int, default=_setting("SEED", 0), help="the first one")
    parser.add_argument("--jobs", type=int, default=_setting("JOBS", 2), help="child processes")
    parser.add_argument("--limit", type=int, default=30, help="seconds of CPU that a step may take")
    parser.add_argument("--findings", type=Path, default=Path("build/campaign"))
    parser.add_argument("--record", metavar="NAME", help="add to benchmarks/results/NAME.json")
    options = parser.parse_args()
    # No pair comes twice, and code that was stored would hide mistakes in what makes it.
    os.environ["LOOPWRIGHT_CACHE"] = "off"
    campaign = Campaign.of_pairs(
        options.pairs, options.seed, options.jobs, options.limit, options.findings
    )
    found = campaign.run()
    if options.record is not None:
        seeds, counts = campaign.seeds, campaign.counts
        compared, refused = counts[SAME] + counts[WRONG], counts[REFUSED] + counts[INEXACT]
        title = "pairs of a program and a schedule"
        add(options.record, title, compared, refused, len(found), seeds)
    return 1 if found else 0


def _setting(name: str, default: int) -> int:
    """A number that the environment may give: LOOPWRIGHT_CAMPAIGN_PAIRS, _SEED, _JOBS."""
    return int(os.environ.get(f"LOOPWRIGHT_CAMPAIGN_{name}", default))


if __name__ == "__main__":
    sys.exit(main())
