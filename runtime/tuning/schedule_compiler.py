"""Child process that compiles schedules of one program; replaced when it crashes or hangs."""

from __future__ import annotations

from multiprocessing.connection import Connection

from ...dialects.errors import SourceError
from ...dialects.parse import parse_module
from ...lowering.llvm import Options, translate
from ...passes.machine.target import Target
from ...passes.schedules.errors import TransformationError
from ...passes.schedules.schedule import Schedule
from ...passes.syntax.pipeline import parse_pipeline
from ...support.garbage_collection import collect_garbage_seldom
from ..calling.errors import KernelError
from ..jit.compile import loops_of
from ..measuring.candidate_code import object_code
from ..measuring.candidate_loops import TooLarge, candidate_loops
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


class Compiler:
    """One function for fixed sizes."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._function: Function = Functions(parse_module(program.text))[program.function]
        self._target = Target.host()
        self._options = Options(num_threads=program.threads, fast_math=program.fast_math)
        self._original = Schedule.original(
            self._function.scop, self._target, reassociate=program.fast_math
        )

    def compile(self, schedule: str) -> Compiled:
        """The code of a schedule; that of the program as written for an empty text."""
        try:
            return self._compile(schedule)
        except (SourceError, TransformationError, KernelError) as error:
            return Compiled(None, str(error))
        except Exception as error:
            # A mistake of the compiler costs one candidate, not the search.
            return Compiled(None, f"{type(error).__name__}: {error}")

    def _compile(self, schedule: str) -> Compiled:
        sizes = self._program.sizes
        if schedule:
            applied = self._original.apply_all(parse_pipeline(schedule))
            try:
                loops = candidate_loops(applied, sizes, is_of_search=True)
            except TooLarge as error:
                return Compiled(None, f"the code is too large: more than {error} operations")
        else:
            loops = loops_of(self._function.source(None), None, sizes)
        text = str(translate(loops, target=self._target, options=self._options))
        return Compiled(object_code(text, self._function.name, self._target))
