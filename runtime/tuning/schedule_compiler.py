"""Child process that compiles schedules of one program; replaced when it crashes or hangs."""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import TypeVar

from xdsl.dialects import func

from ...dialects.errors import SourceError
from ...dialects.parse import parse_module
from ...lowering.llvm import Options, translate
from ...passes.machine.target import Target
from ...passes.schedules.errors import TransformationError
from ...passes.schedules.schedule import Schedule, Steps
from ...passes.syntax.pipeline import parse_pipeline
from ...support.garbage_collection import collect_garbage_seldom
from ...support.stage_times import stage
from ..calling.errors import KernelError
from ..jit.generated_code import loops_of
from ..measuring.candidate_code import ObjectCode, object_code, one_after_the_other
from ..measuring.candidate_loops import TooLarge, candidate_loops
from ..measuring.candidate_parts import PartKeys, parts
from ..measuring.children import limit_memory
from ..program import Function
from ..program import Program as Functions
from .trial_messages import Compiled, Program


def main(connection: Connection) -> None:
    """Answers texts of schedules with their code (Compiled), until the end."""
    program: Program = connection.recv()
    collect_garbage_seldom()
    limit_memory(program.memory)
    compiler = Compiler(program)
    connection.send(None)
    while True:
        connection.send(compiler.compile(connection.recv()))


_K = TypeVar("_K")
_V = TypeVar("_V")

MOST_KEPT = 256
"""Schedules, and parts of them, that are remembered."""


class Compiler:
    """One function for fixed sizes.

    What candidates have in common is made once: the schedules on the way to them, and the code of
    nests.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._function: Function = Functions(parse_module(program.text))[program.function]
        self._target = Target.host()
        self._options = Options(num_threads=program.threads, fast_math=program.fast_math)
        self._original = Schedule.original(
            self._function.scop, self._target, reassociate=program.fast_math
        )
        self._reached: dict[Steps, Schedule] = {}
        self._keys = PartKeys()
        self._codes: dict[str, ObjectCode] = {}

    def compile(self, schedule: str) -> Compiled:
        """The code of a schedule; that of the program as written for an empty text."""
        try:
            return Compiled(self._scheduled(schedule) if schedule else self._as_written())
        except TooLarge as error:
            return Compiled(None, f"the code is too large: more than {error} operations")
        except (SourceError, TransformationError, KernelError) as error:
            return Compiled(None, str(error))
        except Exception as error:
            # A mistake of the compiler costs one candidate, not the search.
            return Compiled(None, f"{type(error).__name__}: {error}")

    def _as_written(self) -> ObjectCode:
        return self._code(loops_of(self._function.source(None), None, self._program.sizes))

    def _scheduled(self, text: str) -> ObjectCode:
        with stage("apply"):
            schedule = self._applied(tuple(parse_pipeline(text)))
        found = [self._part(part) for part in parts(schedule, self._program.sizes)]
        if len(found) == 1:
            return found[0]
        types = self._function.signature.llvm_types
        return one_after_the_other(found, self._function.name, types)

    def _applied(self, steps: Steps) -> Schedule:
        """The schedule of all steps, from the longest way there that is known."""
        known = next(k for k in range(len(steps), -1, -1) if not k or steps[:k] in self._reached)
        schedule = self._reached[steps[:known]] if known else self._original
        for number, step in enumerate(steps[known:], known + 1):
            schedule = schedule.apply(step)
            _keep(self._reached, steps[:number], schedule)
        return schedule

    def _part(self, part: Schedule) -> ObjectCode:
        key = self._keys.key(part)
        code = self._codes.get(key)
        if code is None:
            with stage("loop IR"):
                loops = candidate_loops(part, self._program.sizes, is_of_search=True)
            code = self._code(loops)
            _keep(self._codes, key, code)
        return code

    def _code(self, loops: func.FuncOp) -> ObjectCode:
        with stage("LLVM IR"):
            text = str(translate(loops, target=self._target, options=self._options))
        return object_code(text, self._function.name, self._target)


def _keep(memory: dict[_K, _V], key: _K, value: _V) -> None:
    """Remembers a value, and forgets the oldest of too many."""
    memory[key] = value
    if len(memory) > MOST_KEPT:
        del memory[next(iter(memory))]
