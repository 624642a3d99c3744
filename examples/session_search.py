"""A search of one's own: hill-climbing through a Session, twenty lines from `def climb` on."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import pairwise

import loopwright


def steps(loops: Sequence[str]) -> Iterator[str]:
    """What could come next: most of it is illegal, and a Session says so exactly."""
    for outer, inner in pairwise(loops):
        yield f"interchange{{loops={outer},{inner}}}"
        yield f"tile{{loops={outer},{inner} sizes=32,32}}"
    for loop in loops:
        yield f"vectorize{{loops={loop}}}"
        yield f"parallel{{loops={loop}}}"


def climb(session: loopwright.Session, program: str, rounds: int, runs: int) -> str:
    """Takes the step that makes a program fastest, until none does: as predicted, then as run."""
    best = session.time(program)
    print(f"as written: {best.baseline_seconds * 1e6:.0f} us")
    for _ in range(rounds):
        found: list[str] = []
        for step in steps(session.apply(program, "", best.schedule).loops):
            answer = session.legal(program, step, best.schedule)
            if answer.schedule is not None:
                found.append(answer.schedule)
            found += [repair.schedule for repair in answer.repairs if repair.kind == "before"]
        predicted = session.predict(program, tuple(found)).predictions
        promising = sorted(predicted, key=lambda each: -(each.speedup or 0))[:runs]
        measured = [session.time(program, each.schedule) for each in promising]
        fastest = max(measured, key=lambda each: each.speedup, default=best)
        if fastest.speedup < 1.03 * best.speedup:
            break
        best = fastest
        print(f"{best.speedup:6.2f}x  {best.schedule}")
    return best.schedule


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1200)
    parser.add_argument("--rounds", type=int, default=3, help="steps at most")
    parser.add_argument("--runs", type=int, default=3, help="schedules to run per round")
    options = parser.parse_args()

    with loopwright.Session() as session:
        session.load("polybench/mvt", sizes={"n": options.size})
        chosen = climb(session, "mvt", options.rounds, options.runs)
        verdict = session.verify("mvt", chosen).verdict
        print(f"chosen: {chosen or 'as written'} ({verdict})")
        assert verdict == "proved"


if __name__ == "__main__":
    main()
