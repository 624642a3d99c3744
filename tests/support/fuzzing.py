"""Mutated inputs of every kind that a user can type, and what the product makes of each."""

from __future__ import annotations

import atexit
import json
import os
import random
import re
import sqlite3
import tempfile
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict
from functools import cache
from io import StringIO
from pathlib import Path

from loopwright import certificate as checker
from loopwright import load, opt
from loopwright.cli import main
from loopwright.lowering.certificate import certificate
from loopwright.passes.machine.cpuinfo import CpuInfo
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.schedule_ops import to_sequence
from loopwright.passes.transformations.registry import all_transformations, letters
from loopwright.passes.transformations.strip_mine import StripMine
from loopwright.runtime.choosing.database import Question, Tuned, TuningDatabase
from loopwright.runtime.machine import measured
from loopwright.runtime.machine.measured import Measurement
from loopwright.runtime.tuning.tile_journal import Journal

from .choice import SeededChooser
from .pairs import ERROR, SAME
from .random_schedules import random_schedule
from .same_results import first_difference
from .scops import KERNELS, schedule_of
from .supervision import Tell, Verdict

_TOKEN = re.compile(r'"[^"\n]*"|[%#@!^]?[A-Za-z_0-9.$-]+|\s+|.', re.DOTALL)
_FOREIGN = [
    *("-1", "0", "1", "7", "99999999999999999999", "1.0e999", "0x7F", "é", "\x00", '"', "\\", "//"),
    *("i128", "f16", "none", "tensor<4xf32>", "memref<*xf32>", "vector<8xf32>", "!llvm.ptr", "nan"),
    *("%0#5", "#undefined", "loc", "^bb0", "dense<1>", "affine_map<() -> ()>", "{", "}", "[", "]"),
    *("true", "null", "-", "{}", "[]", "1e308", "-0.0", "9" * 400, "exact", "mod", "floordiv"),
]
_PLAIN = """func.func @f(%n: index, %x: f64, %A: memref<?x?xf64>, %B: memref<?xi32>) {
  affine.for %i = 0 to %n {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to %n step 2 {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = arith.addf %0, %x : f64
      affine.store %1, %A[%i, %j] : memref<?x?xf64>
    }
    %2 = affine.load %B[%i] : memref<?xi32>
    %3 = arith.maxsi %2, %2 : i32
    affine.store %3, %B[%i floordiv 2] : memref<?xi32>
  }
  return
}
"""
_NOTATIONS = ["I(L0,L1)T2(L0,L1,8,4)", "{S0}:P(L0)U(L1,2)", "K(L0,L1,1)V(L1,4)", "S(L0,L1,2,1)"]


def programs() -> list[str]:
    """Texts that programs are made of by mutation."""
    files = sorted(KERNELS.glob("polybench/*.mlir"))
    return [_PLAIN, *(file.read_text() for file in files if file.stat().st_size < 4000)]


def mutated(source: random.Random, text: str, most: int = 3) -> str:
    """A text with a few words deleted, doubled, swapped, replaced or cut off."""
    words = _TOKEN.findall(text)
    known = [word for word in words if word.strip()]
    for _ in range(source.randint(1, most)):
        if not words:
            break
        position = source.randrange(len(words))
        match source.randrange(7):
            case 0:
                del words[position : position + source.randint(1, 8)]
            case 1:
                words.insert(position, source.choice(words))
            case 2:
                other = source.randrange(len(words))
                words[position], words[other] = words[other], words[position]
            case 3:
                words[position] = source.choice(known)
            case 4 | 5:
                words[position] = source.choice(_FOREIGN)
            case _:
                if source.random() < 0.2:
                    del words[position:]
                else:
                    number = str(source.choice((0, 1, 3, -2)))
                    words[position] = re.sub(r"\d+", number, words[position])
    return "".join(words)


SHORT = 1300
"""Characters of programs whose comparison takes isl tenths of a second, not seconds."""

PIPELINES = 100
"""Different legal pipelines that are mutated: what is new is in the mutation."""


def _pipeline(source: random.Random) -> str:
    return str(_schedule(source.randrange(PIPELINES)))


@cache
def _schedule(number: int) -> Schedule:
    """A legal schedule of the plain program, with at least one step."""
    chooser = SeededChooser(random.Random(number))
    schedule = random_schedule(chooser, _plain_schedule(), 4)
    return schedule if str(schedule) else schedule.apply(StripMine(("j",), size=2))


@cache
def _plain_schedule() -> Schedule:
    return schedule_of(_PLAIN)


@cache
def _sequence(number: int) -> str:
    """The schedule in the form of a file with a `schedule.sequence`."""
    return str(to_sequence(_schedule(number)))


KINDS = (
    *("program", "pipeline", "notation", "schedule file", "sizes", "opt", "machine file"),
    *("database", "tile journal", "certificate", "verify"),
)
"""What is mutated."""


class Inputs:
    """The inputs of seeds: each is written to a folder, and handed to one command."""

    def __init__(self, folder: Path, kind: str | None = None) -> None:
        self.folder = folder
        self.programs = programs()
        self.short_programs = [text for text in self.programs if len(text) < SHORT]
        self.plain = folder / "plain.mlir"
        self.plain.write_text(_PLAIN)
        self.target = Target.host()
        makers: dict[str, Callable[[random.Random], list[list[str]]]] = {
            "program": self._program,
            "pipeline": self._pipeline,
            "notation": self._notation,
            "schedule file": self._schedule_file,
            "sizes": self._sizes,
            "opt": self._opt,
            "machine file": self._machine_file,
            "database": self._database,
            "tile journal": self._tile_journal,
            "certificate": self._certificate,
            "verify": self._verify,
        }
        assert tuple(makers) == KINDS
        self.makers = [makers["program"], *makers.values()] if kind is None else [makers[kind]]

    def commands(self, seed: int) -> list[list[str]]:
        """What is run for a seed; `opt` in front stands for loopwright-opt."""
        os.environ["LOOPWRIGHT_TUNING"] = str(self.folder / "tuning.sqlite")
        source = random.Random(seed)
        return source.choice(self.makers)(source)

    def _write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        return str(path)

    def _program(self, source: random.Random) -> list[list[str]]:
        file = self._write("program.mlir", mutated(source, source.choice(self.programs)))
        first = source.choice(
            [["deps"], ["schedule"], ["emit", "--llvm"], ["emit", "--c"], ["schedule", "-p", "A()"]]
        )
        return [[*first[:1], file, *first[1:]]]

    def _pipeline(self, source: random.Random) -> list[list[str]]:
        text = mutated(source, _pipeline(source))
        return [["schedule", str(self.plain), "-p", text]]

    def _notation(self, source: random.Random) -> list[list[str]]:
        symbols = [letters(cls) for cls in all_transformations().values() if cls.symbol]
        text = source.choice([*_NOTATIONS, f"{source.choice(symbols)}(L0,L1,2)"])
        return [["schedule", str(self.plain), "-p", mutated(source, text)]]

    def _schedule_file(self, source: random.Random) -> list[list[str]]:
        file = self._write("schedule.mlir", mutated(source, _sequence(source.randrange(PIPELINES))))
        return [["schedule", str(self.plain), "-S", file]]

    def _sizes(self, source: random.Random) -> list[list[str]]:
        settings = ["n=4", "A_dim0=4", "A_dim1=4", "B_dim0=4", "x=1.5"]
        position = source.randrange(len(settings))
        settings[position] = mutated(source, settings[position], 2).replace("\0", "")
        options = [part for setting in settings for part in ("--set", setting)]
        return [["run", str(self.plain), "-p", "none", "--seconds", "0", *options]]

    def _opt(self, source: random.Random) -> list[list[str]]:
        file = self._write("opt.mlir", mutated(source, source.choice(self.programs)))
        return [["opt", file, "-p", mutated(source, "tile{loops=i sizes=4},apply-schedule")]]

    def _machine_file(self, source: random.Random) -> list[list[str]]:
        one = asdict(Measurement(1e9, 2e9, 0.01))
        pair = {"1": one, str(self.target.cores): one}
        machine = {
            "format": measured.FORMAT,
            "stolen": 0.0,
            "cpu": CpuInfo.read().model_name,
            "date": "",
            "fork_join": pair,
            "cores": self.target.cores,
            "vector_bits": self.target.vector_bits,
            "caches": {"L1": 32768},
            "peaks": {"f64": pair},
            "bandwidths": {"L1": {"read": pair}, "DRAM": {"read": pair}},
        }
        return [["machine file", self._write("machine.json", mutated(source, json.dumps(machine)))]]

    def _database(self, source: random.Random) -> list[list[str]]:
        path = self.folder / "tuning.sqlite"
        path.unlink(missing_ok=True)
        function = load(_PLAIN)["f"].function
        question = Question.of(function, _EXTENTS, self.target, threads=1, fast_math=False)
        TuningDatabase(path).put(question, Tuned(_pipeline(source), 1.0, 2.0))
        if source.random() < 0.5:
            with sqlite3.connect(path) as connection:
                text = mutated(source, _pipeline(source))
                connection.execute("UPDATE schedules SET schedule = ?", (text,))
            connection.close()
        else:
            data = bytearray(path.read_bytes())
            for _ in range(source.choice((1, 20, 2000))):
                data[source.randrange(len(data))] = source.randrange(256)
            path.write_bytes(data[: source.choice((len(data), len(data) // 2, 0))])
        return [["run", str(self.plain), "-p", "auto", "-t", "1", "--seconds", "0", *_SETTINGS]]

    def _tile_journal(self, source: random.Random) -> list[list[str]]:
        journal = Journal.open("question", keep=True)
        journal.close()
        for size in (8, 16, 32):
            journal.put({"T": size, "U": 2 * size}, source.choice((1e-3, 0.5, float("inf"))))
        assert journal.path is not None
        data = journal.path.read_bytes()
        if source.random() < 0.8:
            data = mutated(source, data.decode()).encode("utf-8", "surrogatepass")
        else:
            changed = bytearray(data)
            for _ in range(source.choice((1, 20))):
                changed[source.randrange(len(changed))] = source.randrange(256)
            data = bytes(changed)
        journal.path.write_bytes(data)
        return [["tile journal", "question"]]

    def _certificate(self, source: random.Random) -> list[list[str]]:
        program, pipeline = source.choice(_CERTIFIED)
        text = _certificate_text(program, pipeline)
        if source.random() < 0.3:
            text = mutated(source, text)
        else:  # a line of the program or the nest
            data = json.loads(text)
            lines = data[source.choice(("program", "nest", "nest"))]
            number = source.randrange(len(lines))
            lines[number] = mutated(source, lines[number], 1)
            text = json.dumps(data)
        return [["certificate", self._write("certificate.json", text)]]

    def _verify(self, source: random.Random) -> list[list[str]]:
        text = source.choice(self.short_programs)
        first = self._write("first.mlir", text)
        other = self._write("second.mlir", mutated(source, text, source.choice((1, 1, 3))))
        pair = [first, other] if source.random() < 0.8 else [other, first]
        return [["verify", *pair, *source.choice(([], ["--fast-math"]))]]


_CERTIFIED = (
    ("polybench/jacobi-1d", "tile{loops=S1.i sizes=8},parallel{loops=S0.i}"),
    ("polybench/trisolv", ""),
    ("polybench/atax", "distribute{loops=S1.i},vectorize{loops=S0.i width=4}"),
    ("polybench/mvt", "tile{loops=S0.i sizes=T}"),
)


@cache
def _certificate_text(program: str, pipeline: str) -> str:
    (function,) = load(program).values()
    return json.dumps(certificate(function.schedule(pipeline)))


_EXTENTS = {"n": 4, "A_dim0": 4, "A_dim1": 4, "B_dim0": 4}
_SETTINGS = [part for name, size in _EXTENTS.items() for part in ("--set", f"{name}={size}")]


def _use_machine(path: Path) -> None:
    machine = measured.load(path)
    if machine is not None:
        for kind in machine.peaks:
            machine.ceilings(kind, 1)
        machine.level(10**6, 1)


def _use_journal(question: str) -> None:
    journal = Journal.open(question, keep=True)
    assert all(seconds > 0 for seconds in journal.known.values())
    journal.put({"T": 4}, 1.0)
    assert Journal.open(question, keep=True).get({"T": 4}) == 1.0


def _check_certificate(file: str) -> None:
    assert checker.main([file]) in (0, 1)


_FILES: dict[str, Callable[[str], None]] = {
    "machine file": lambda file: _use_machine(Path(file)),
    "tile journal": _use_journal,
    "certificate": _check_certificate,
}


def run(command: list[str]) -> str | None:
    """What is wrong with the outcome of a command, if anything."""
    out, errors = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        if command[0] in _FILES:
            _FILES[command[0]](command[1])
            return None
        try:
            status = opt.run(command[1:]) if command[0] == "opt" else main(command)
        except SystemExit as end:
            status = end.code
    said = errors.getvalue()
    if command[0] == "verify" and not said:
        return _wrong_answer(out.getvalue(), command)
    if status not in (0, 1):
        return f"exit status {status}"
    if "Traceback" in said:
        return said
    if status == 1 and "error: " not in said:
        return f"no error is told: {said!r}"
    return None


def _wrong_answer(said: str, command: list[str]) -> str | None:
    """What is wrong with the answer of `verify`; two programs that are equal are run."""
    if re.search(r"^\S+: (different|not known)", said, re.MULTILINE):
        return None
    if not re.search(r"^\S+: equal", said, re.MULTILINE):
        return f"no answer: {said!r}"
    is_fast = "--fast-math" in command
    return None if is_fast else first_difference(*(Path(each).read_text() for each in command[1:3]))


def check_input(kind: str | None, seed: int, tell: Tell) -> None:
    """Tells whether the input of a seed, of a kind or of any, ends as it should."""
    inputs = _inputs(kind)
    verdict, detail = SAME, ""
    for command in inputs.commands(seed):
        tell(" ".join(command))
        try:
            problem = run(command)
        except Exception:
            problem = traceback.format_exc()
        if problem is not None:
            verdict, detail = ERROR, f"{' '.join(command)}\n{problem}"
    tell(Verdict(seed, kind or "any", verdict, detail))


@cache
def _inputs(kind: str | None) -> Inputs:
    """Those of this process, in a folder that goes with it."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Inputs(Path(folder.name), kind)
