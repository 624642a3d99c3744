"""Labelling on a Dask cluster: a scheduler and workers of this machine, one killed half-way."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from loopwright.costmodel.labelled_data import RandomWorkload
from loopwright.runtime.labelling.policy import Policy

distributed = pytest.importorskip("distributed")

POLICY = Policy(budget=0.002, enough=0.0005)


@pytest.fixture
def cluster() -> Iterator[distributed.LocalCluster]:
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        resources={"measuring": 1},
    ) as found:
        yield found


def test_a_worker_that_is_killed_loses_nothing(cluster: distributed.LocalCluster) -> None:
    from loopwright.runtime.labelling import cluster as labelling

    workload = RandomWorkload(21, 1, 3)
    items = range(24)

    def kill() -> None:
        with distributed.Client(cluster.scheduler_address) as client:
            pids = client.run(os.getpid)
            while not client.run(lambda: len(labelling._workers)):
                time.sleep(0.1)
            time.sleep(2.0)
            os.kill(sorted(pids.values())[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    done = Counter(
        labelled.item
        for labelled in labelling.label_on_cluster(
            workload, POLICY, items, cluster.scheduler_address
        )
    )
    killer.join()
    assert set(done) == set(items)
    with distributed.Client(cluster.scheduler_address) as client:
        left = client.run(lambda: len(labelling._workers))
    assert set(left.values()) == {0}, "stations end with the run"
