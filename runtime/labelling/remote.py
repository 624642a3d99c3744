"""Labelling worker in a child process, for callers with short-lived threads."""

from __future__ import annotations

from collections.abc import Iterable
from multiprocessing.connection import Connection

from ...costmodel.label_checks import LabelError, checked_labels
from ...costmodel.labels import LabelledProgram, Workload
from ..measuring.children import Child
from .labelling_worker import LabellingWorker
from .policy import Policy


class WorkerLost(ChildProcessError):
    """A labelling worker's process has ended."""


class RemoteLabellingWorker:
    """A labelling worker in a child process."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        self._child = Child("labelling.remote")
        self._child.send((workload, policy))

    def label(self, items: Iterable[int]) -> list[LabelledProgram]:
        """The labels of all programs; raises WorkerLost."""
        items = list(items)
        self._child.send(items)
        try:
            return checked_labels(self._child.receive(), items)
        except (EOFError, LabelError) as error:
            raise WorkerLost(str(error) or "the labelling process has ended") from error

    def close(self) -> None:
        """Ends the process, and those that it has started."""
        self._child.kill()


def main(connection: Connection) -> None:
    """Labels the programs that are asked for, until the caller is gone."""
    workload, policy = connection.recv()
    with LabellingWorker(workload, policy, lifeline=connection) as worker:
        while True:
            items = connection.recv()
            connection.send(list(worker.label(items)))
