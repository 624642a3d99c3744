"""Mutated programs, pipelines, notation, schedules, sizes and files: an answer or one line, always.

    python tests/fuzz.py --inputs 200000
    python tests/fuzz.py --inputs 1 --seed 1234

Inputs run in a child process: a traceback, an end of the process, and an input that takes more
seconds of CPU than the limit are findings, and are printed with their seed. Seeds go on from
`--seed`; all below the one that a line of progress names are done. The exit code is 1 when there
are findings.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path

from support.campaign import Campaign
from support.campaign_record import add
from support.fuzzing import KINDS, check_input

BATCH = 5000
"""Inputs of a child process: to start one takes as long as a hundred of them."""


def main() -> int:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    environment = os.environ.get("LOOPWRIGHT_CAMPAIGN_INPUTS", "200000")
    parser.add_argument("--inputs", type=int, default=int(environment))
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument(
        "--limit", type=int, default=30, help="seconds of CPU that an input may take"
    )
    parser.add_argument("--kind", choices=KINDS, help="mutate these only (default: all)")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--record", metavar="NAME", help="add to benchmarks/results/NAME.json")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.inputs)
    check = partial(check_input, options.kind)
    campaign = Campaign(
        seeds, 1, options.limit, options.findings, check, lambda _: "", "inputs", batch=BATCH
    )
    found = len(campaign.run())
    if options.record is not None:
        name = f"mutated inputs of {options.kind}" if options.kind else "mutated inputs"
        add(options.record, name, options.inputs, 0, found, seeds)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
