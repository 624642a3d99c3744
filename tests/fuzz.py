"""Mutated programs, pipelines, notation, schedules, sizes and files: an answer or one line, always.

    python tests/fuzz.py --inputs 200000
    python tests/fuzz.py --inputs 1 --seed 1234

Inputs run in a child process: a traceback, an end of the process, and an input that takes longer
than the limit are findings, and are printed with their seed. Seeds go on from `--seed`; all below
the one that a line of progress names are done. The exit code is 1 when there are findings.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

from support.campaign_record import add
from support.fuzzing import KINDS, findings

REPORT_EVERY = 500


def work(connection: Connection, folder: str, start: int, end: int, kind: str | None) -> None:
    """The child: tells each seed that it begins, and each finding."""
    try:
        for finding in findings(Path(folder), iter(range(start, end)), kind):
            connection.send(finding)
    except BaseException:
        connection.send((-1, None, traceback.format_exc()))
    connection.send(None)


def fuzz(inputs: int, seed: int, limit: float, kind: str | None = None) -> int:
    """Runs so many seeds, and returns the number of findings."""
    found, position, end = 0, seed, seed + inputs
    began = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        while position < end:
            ours, theirs = context.Pipe()
            child = context.Process(target=work, args=(theirs, folder, position, end, kind))
            child.start()
            theirs.close()
            problem = "hangs"
            try:
                # The first input comes after all imports.
                while ours.poll(limit if position > seed else limit + 60):
                    message = ours.recv()
                    if message is None:
                        position, problem = end, ""
                        break
                    number, command, text = message
                    if command is None and number >= 0:
                        position = number
                        if position > seed and (position - seed) % REPORT_EVERY == 0:
                            rate = (position - seed) / (time.monotonic() - began)
                            print(f"below {position}: {found} findings, {rate:.1f}/s", flush=True)
                        continue
                    found += 1
                    print(f"seed {position}: {command}\n{text}", flush=True)
                    if number < 0:
                        problem = ""
                        position += 1
                        break
            except EOFError:
                child.join()
                problem = f"the process ended with {child.exitcode}"
            child.kill()
            child.join()
            if problem:
                found += 1
                print(f"seed {position}: {problem}", flush=True)
                position += 1
    seconds = time.monotonic() - began
    print(f"{inputs} inputs, {found} findings, {inputs / seconds:.1f} inputs/s")
    return found


def main() -> int:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    environment = os.environ.get("LOOPWRIGHT_CAMPAIGN_INPUTS", "200000")
    parser.add_argument("--inputs", type=int, default=int(environment))
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--limit", type=float, default=30, help="seconds that an input may take")
    parser.add_argument("--kind", choices=KINDS, help="mutate these only (default: all)")
    parser.add_argument("--record", metavar="NAME", help="add to benchmarks/results/NAME.json")
    options = parser.parse_args()
    found = fuzz(options.inputs, options.seed, options.limit, options.kind)
    if options.record is not None:
        seeds = range(options.seed, options.seed + options.inputs)
        campaign = f"mutated inputs of {options.kind}" if options.kind else "mutated inputs"
        add(options.record, campaign, options.inputs, 0, found, seeds)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
