"""`--cluster-folder`: labelling that job arrays share through a folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from ...costmodel.dataset.errors import DatasetError
from ...costmodel.dataset.rows import Row
from ...costmodel.labelled_data import SeededWorkload
from ...runtime.labelling.local import label_here
from ...runtime.labelling.policy import Policy
from ...runtime.labelling.shared_folder import label_in_share, shared_rows
from ...support.json_records import Document
from ...support.shared_work import ATTEMPTS, SharedWork, SharedWorkError, progress
from .. import UsageError
from ..json_output import emit, report
from .labelling import label_and_store


@dataclass(frozen=True)
class ClusterDocument(Document):
    """Result of `loopwright data generate --cluster-folder`."""

    document: ClassVar[str] = "data-cluster"

    directory: Annotated[Path, "where the labels of all workers are put together"]
    done: Annotated[int, "programs that are labelled"]
    given_up: Annotated[int, "batches with which too many workers were lost"]
    added: Annotated[int | None, "programs that are new there; null: another worker adds them"]


class _NoWriter:
    """Labels are in the shared folder already."""

    def __enter__(self) -> _NoWriter:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def append(self, rows: Iterable[Row]) -> None:
        pass


def work_in_cluster(arguments: argparse.Namespace, workload: SeededWorkload, policy: Policy) -> int:
    """Labels a share of the programs, and puts together those of all when they are done."""
    if arguments.scheduler is not None:
        raise UsageError("--cluster-folder takes no --scheduler: it works without one")
    folder: Path = arguments.cluster_folder
    try:
        description = repr((workload, policy))
        work = SharedWork(folder, description, arguments.programs, lease=arguments.lease)
    except SharedWorkError as error:
        raise UsageError(f"--cluster-folder: {error}") from error
    label = partial(label_here, workload, policy, compilers=arguments.workers)
    code = label_and_store(
        label_in_share(work, label, fast_math=policy.fast_math),
        None,
        folder,
        fast_math=policy.fast_math,
        open_writer=lambda _: _NoWriter(),
        tell=report,
    )
    if code:
        return code
    found = progress(folder)
    if found.given_up:
        print(
            f"{found.given_up} batches were given up: {ATTEMPTS} workers were lost with each",
            file=sys.stderr,
        )
    try:
        added = put_together(folder, arguments.output)
    except DatasetError:
        print(f"another worker puts the labels into {arguments.output}")
        emit(ClusterDocument(arguments.output, found.done, found.given_up, None))
        return 0
    print(f"{found.done} programs are labelled; {added} of them are new in {arguments.output}")
    emit(ClusterDocument(arguments.output, found.done, found.given_up, added))
    return 0


def put_together(folder: Path, output: Path) -> int:
    """Adds the labels of a shared folder to a directory; how many programs were not there.

    Raises DatasetError where another process adds to it, OSError.
    """
    from ...costmodel.dataset.shards import list_shards, read_table
    from ...costmodel.dataset.store import Writer

    added = 0
    with Writer(output) as writer:
        column = read_table(list_shards(output).shards, ["key"]).column("key")
        known = set(column.to_pylist())
        for rows in shared_rows(folder):
            new = [row for row in rows if row["key"] not in known]
            writer.append(new)
            added += bool(new)
    return added
