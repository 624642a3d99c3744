"""Random C files as drop-in sources: they print what gcc -O0 makes of the original."""

from __future__ import annotations

import subprocess
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import loopwright
from loopwright.dialects.errors import SourceError

from .c_code import compilers
from .pairs import ERROR, REFUSED, SAME, WRONG
from .random_c_files import random_c_file
from .supervision import Tell, Verdict

# Calls let structures of two types overlap, which C leaves undefined: gcc itself reorders them.
FLAGS = ("-std=gnu17", "-w", "-fwrapv", "-ffp-contract=off", "-fno-strict-aliasing")
TAKEN = "    return 1;\n}"
COUNTED = "    { extern long optimised_calls; optimised_calls++; }\n" + TAKEN


@dataclass(frozen=True)
class Outcome:
    """What was compared: functions with optimised loops, calls that took them, and the rest."""

    replaced: int
    taken: int
    left_out: Sequence[SourceError]


def compare(seed: int, folder: Path, *, machine_code: bool, schedule: str | None = None) -> Outcome:
    """Compares the file of a seed; raises AssertionError where the outputs differ."""
    file = random_c_file(seed)
    source, driver, output = (folder / name for name in ("f.c", "driver.c", "f.loopwright.c"))
    source.write_text(file.text)
    driver.write_text(file.driver)
    flags = ("-std=c99",) if machine_code else ()  # nothing is fused
    try:
        made = loopwright.drop_in(
            source, output, machine_code=machine_code, schedule=schedule, cflags=flags
        )
    except SourceError as error:  # nothing can be optimised
        return Outcome(0, 0, [error])
    if not made.replaced:
        return Outcome(0, 0, made.left_out)
    output.write_text(made.text.replace(TAKEN, COUNTED))
    expected, _ = _printed(source, driver, "-O0")
    found, errors = _printed(output, driver, "-O2")
    assert expected.endswith("exit code 0\n"), f"the original: {expected}"
    assert found == expected, _difference(found, expected)
    return Outcome(len(made.replaced), int(errors), made.left_out)


def check_drop_in(seed: int, tell: Tell) -> None:
    """Tells the verdict on the file with this number; every third is machine code."""
    name = "drop-in source"
    tell(name)
    try:
        with tempfile.TemporaryDirectory() as folder:
            outcome = compare(seed, Path(folder), machine_code=seed % 3 == 2)
        verdict, detail = (SAME, "") if outcome.taken else (REFUSED, _reason(outcome))
    except AssertionError as error:
        verdict, detail = WRONG, str(error)
    except Exception:
        verdict, detail = ERROR, traceback.format_exc()
    tell(Verdict(seed, name, verdict, detail))


def _reason(outcome: Outcome) -> str:
    if outcome.replaced:
        return "no call passed the checks"
    return outcome.left_out[0].message if outcome.left_out else "there are no loops"


def _printed(source: Path, driver: Path, level: str) -> tuple[str, str]:
    """What a file with its driver prints: each call, and how many calls were optimised."""
    program = source.with_suffix(".exe")
    command = [compilers()[0], *FLAGS, level, str(source), str(driver), "-lm", "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60)
    return f"{done.stdout}exit code {done.returncode}\n", done.stderr


def _difference(found: str, expected: str) -> str:
    """The calls that differ."""
    pairs = zip(found.splitlines(), expected.splitlines(), strict=False)
    return "\n".join(f"{one}, not {other}" for one, other in pairs if one != other)


def drop_in_program(seed: int) -> str:
    """The source of the file with this number."""
    return random_c_file(seed).text
