"""Child process that compiles the schedules of a workload."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from multiprocessing.connection import Connection

from ...costmodel.labels import TOO_MUCH_MEMORY, Incident, ProgramInstance, Workload
from ...costmodel.sampler.paths import BEST, DEFAULT, NEAR_DEFAULT
from ...dialects.errors import SourceError
from ...lowering.llvm import Options, translate
from ...passes.machine.target import Target
from ...passes.polyhedral.bounds import check_bounds
from ...passes.polyhedral.extents import infer_extents
from ...passes.schedules.errors import TransformationError
from ...passes.schedules.schedule import Schedule
from ...support.garbage_collection import collect_garbage_seldom
from ...support.stage_times import StageTimes, record_stages, stage
from ..calling.derived_signature import named_sizes
from ..calling.errors import KernelError
from ..jit.generated_code import loops_of
from ..measuring.candidate_code import ObjectCode, object_code
from ..measuring.candidate_loops import TooLarge, candidate_loops
from ..measuring.children import limit_memory
from ..program import Function, load
from .messages import Begun, Candidate, Closed, Failed, Opened, Skip
from .policy import Policy

OF_SEARCHES = (DEFAULT, NEAR_DEFAULT, BEST)
"""Where schedules of searches come from."""

REFUSALS = (SourceError, TransformationError, KernelError)
"""What the compiler says of programs and schedules that it does not take."""

MOST_FRAMES = 6
"""Frames of a traceback that are reported."""


def main(connection: Connection) -> None:
    """Answers with the compiled candidates of each program asked for, until the end."""
    workload, policy = connection.recv()
    collect_garbage_seldom()
    limit_memory(policy.memory)
    compiler = Compiler(connection, workload, policy)
    connection.send(None)
    while True:
        request = connection.recv()
        if not isinstance(request, Skip):
            compiler.compile_program(request)


class Compiler:
    """Compiles the programs of a workload."""

    def __init__(self, connection: Connection, workload: Workload, policy: Policy) -> None:
        self._connection = connection
        self._workload = workload
        self._options = Options(num_threads=policy.threads, fast_math=policy.fast_math)
        self._policy = policy
        self._target = Target.host()
        self._compiled: dict[str, ObjectCode] = {}

    def compile_program(self, item: int) -> None:
        """Sends what `messages` describes: Opened, Candidate ..., Closed, and Failed in between."""
        times = StageTimes(time.process_time)
        with record_stages(times):
            with stage("generate"):
                instance = self._workload.instance(item)
            self._connection.send(Begun(item, instance, ""))
            try:
                self._compile(item, instance)
            except Exception as error:
                self._report(item, instance, "", error)
        self._connection.send(Closed(item, instance, times.seconds))

    def _compile(self, item: int, instance: ProgramInstance) -> None:
        started = time.process_time()
        with stage("parse"):
            (function,) = load(instance.text).values()
        with stage("raise"):
            scop, signature = function.scop, function.signature
        with stage("bounds"):
            names = infer_extents(scop, instance.sizes)
            sizes = named_sizes(scop, names)
            check_bounds(scop, names)
        code = self._baseline(function, names)
        self._connection.send(
            Opened(item, instance, sizes, names, signature, code, time.process_time() - started)
        )
        self._compiled.clear()
        with stage("dependences"):
            original = Schedule.original(scop, self._target, reassociate=self._policy.fast_math)
        schedules = self._workload.schedules(item, original, names)
        while not self._is_skipped(item):
            started = time.process_time()
            self._connection.send(Begun(item, instance, None))
            with stage("schedule"):
                found = next(schedules, None)
            if found is None:
                return
            schedule, origin = found
            text = str(schedule)
            self._connection.send(Begun(item, instance, text))
            try:
                code = self._scheduled(schedule, names, is_of_search=origin in OF_SEARCHES)
            except TooLarge:
                continue
            except Exception as error:
                self._report(item, instance, text, error)
                continue
            seconds = time.process_time() - started
            with stage("send"):
                self._connection.send(Candidate(item, text, origin, code, seconds))

    def _is_skipped(self, item: int) -> bool:
        """Whether there is a message that says so; those on earlier programs come too late."""
        while self._connection.poll():
            if self._connection.recv() == Skip(item):
                return True
        return False

    def _baseline(self, function: Function, names: Mapping[str, int]) -> ObjectCode:
        loops = loops_of(function.source(None), None, names)
        module = translate(loops, target=self._target, options=self._options)
        return object_code(str(module), function.name, self._target)

    def _scheduled(
        self, schedule: Schedule, names: Mapping[str, int], *, is_of_search: bool
    ) -> ObjectCode:
        with stage("loop IR"):
            loops = candidate_loops(schedule, names, is_of_search=is_of_search)
        with stage("LLVM IR"):
            text = str(translate(loops, target=self._target, options=self._options))
        # One in twenty schedules of a program differs from others in its text only.
        if text not in self._compiled:
            self._compiled[text] = object_code(text, schedule.program.name, self._target)
        return self._compiled[text]

    def _report(
        self, item: int, instance: ProgramInstance, schedule: str, error: Exception
    ) -> None:
        kind, message = "refused", f"{type(error).__name__}: {error}"
        if isinstance(error, MemoryError):
            kind = TOO_MUCH_MEMORY
        elif not isinstance(error, REFUSALS):
            kind, message = "error", "".join(traceback.format_exception(error)[-MOST_FRAMES:])
        incident = Incident(kind, message, instance.text, instance.sizes, schedule, instance.seed)
        self._connection.send(Failed(item, incident))
