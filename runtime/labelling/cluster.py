"""Labelling on a Dask cluster: one labelling worker per machine, batches of programs.

A batch whose worker is lost is labelled by another one; what comes twice is stored once.
"""

from __future__ import annotations

import atexit
import importlib
import logging
import pickle
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from ...costmodel.label_checks import LabelError, checked_labels
from ...costmodel.labels import LabelledProgram, Workload
from .policy import Policy
from .remote import RemoteLabellingWorker

# It has no types.
distributed: Any = importlib.import_module("distributed")

BATCH = 8
"""Programs of one task: enough that the pipeline inside it is mostly full."""

AHEAD = 2
"""Tasks per worker that are submitted at a time."""

RESOURCE = "measuring"
"""A resource that workers can offer (`--resources measuring=1`), where a machine has several."""

LOST = (CancelledError, distributed.KilledWorker)
"""What a client raises whose scheduler or workers are gone, besides OSError."""

_workers: dict[bytes, RemoteLabellingWorker] = {}


def label_batch(workload: Workload, policy: Policy, items: Sequence[int]) -> list[LabelledProgram]:
    """Runs on a worker, one call at a time; its worker stays for the next batch."""
    key = _key(workload, policy)
    worker = _workers.get(key)
    if worker is None:
        worker = _workers[key] = RemoteLabellingWorker(workload, policy)
    try:
        return worker.label(items)
    except BaseException:
        close_worker(key)
        raise


def _key(workload: Workload, policy: Policy) -> bytes:
    return pickle.dumps((workload, policy))


def close_worker(key: bytes) -> None:
    """Ends the processes of a worker for such labels, also in the middle of a batch."""
    worker = _workers.pop(key, None)
    if worker is not None:
        worker.close()


@atexit.register
def _close_workers() -> None:
    for key in list(_workers):
        close_worker(key)


def _check(scheduler: str) -> None:
    address = urlsplit(scheduler if "://" in scheduler else f"tcp://{scheduler}")
    try:
        is_complete = bool(address.hostname and address.port)
    except ValueError:
        is_complete = False
    if not is_complete:
        raise OSError(f"--scheduler expects an address such as tcp://host:8786, got '{scheduler}'")


def label_on_cluster(
    workload: Workload, policy: Policy, items: Sequence[int], scheduler: str
) -> Generator[LabelledProgram]:
    """The labels of all programs, in any order; raises OSError when there is no scheduler."""
    _check(scheduler)
    return _label(workload, policy, items, scheduler)


def _label(
    workload: Workload, policy: Policy, items: Sequence[int], scheduler: str
) -> Generator[LabelledProgram]:
    # What goes wrong has tracebacks there; here it is one line.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with distributed.Client(scheduler, timeout="20s") as client:
        client.wait_for_workers(1, timeout=60)
        try:
            for labels in _batches(client, workload, policy, items):
                yield from checked_labels(labels, items)
        except LabelError as error:
            raise OSError(f"a worker of {scheduler} sends wrong labels: {error}") from error
        except LOST as error:
            raise OSError(
                f"the cluster of {scheduler} does not go on ({type(error).__name__}): what is "
                "labelled is stored, and the same command goes on from there"
            ) from error
        finally:
            with suppress(*LOST, OSError):
                client.run(close_worker, _key(workload, policy))


def _batches(
    client: Any, workload: Workload, policy: Policy, items: Sequence[int]
) -> Generator[object]:
    """Keeps all workers busy, and gives what they send, batch by batch."""
    batches = iter([items[start : start + BATCH] for start in range(0, len(items), BATCH)])
    workers: dict[str, Any] = client.scheduler_info()["workers"]
    offered = any(RESOURCE in worker.get("resources", {}) for worker in workers.values())
    options: dict[str, Any] = {"resources": {RESOURCE: 1}} if offered else {}

    def submit() -> Any:
        batch = next(batches, None)
        if batch is None:
            return None
        return client.submit(label_batch, workload, policy, batch, pure=False, retries=3, **options)

    first = [submit() for _ in range(AHEAD * len(workers))]
    running = distributed.as_completed([future for future in first if future is not None])
    for future in running:
        following = submit()
        if following is not None:
            running.add(following)
        yield future.result()
        future.release()
