"""Python libraries as peers, each in a child process.

OpenBLAS chooses its kernels for the processor when it is loaded, and does not always choose the
best; what the environment presets may be worse. The worker of NumPy and SciPy is started with the
choice that multiplies matrices fastest.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from ....kernels.catalogue import catalogue
from ....passes.machine.target import Target
from ...measuring.children import Child
from ..case import Case, NotApplicable
from ..variant import Variant
from .libraries import LIBRARIES, PACKAGES

Environment = Mapping[str, str | None]
"""Variables that differ from those of this process; those without a value are not set."""

_OPENMP_VARIABLES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
_THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "HL_NUM_THREADS",
)
# Kernels of OpenBLAS for processors with these features, to be tried beside its own choice.
_CORE_TYPES = {"avx512f": "SkylakeX", "avx2": "Haswell"}
_PROBE = ("gemm/gemm", "256x256x2048")
_SETTLES = 0.02
# After a call, OpenBLAS's threads look for work for 0.1 s, on cores that others then want; with
# this setting for 3 ms, which is long enough from one call to the next.
_SOON_ASLEEP = {"OPENBLAS_THREAD_TIMEOUT": "20"}
_USE_BLAS = ("numpy", "scipy")
# What the environment may say about OpenBLAS's kernels and their blocks.
_BLAS_VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
_AS_IT_IS: Environment = {}


class Client:
    """A child process; see `worker.py` for the requests."""

    def __init__(self, peer: str, threads: int, environment: Environment) -> None:
        variables: Environment = {
            # These libraries have threads of their own, which follow their own rules.
            **dict.fromkeys(_OPENMP_VARIABLES),
            **{name: os.environ[name] for name in _OPENMP_VARIABLES if name in os.environ},
            **dict.fromkeys(_THREAD_VARIABLES, str(threads)),
            **_SOON_ASLEEP,
            **environment,
        }
        self._child = Child("bench.worker", peer, str(threads), environment=variables)
        self._answer()

    def request(self, *request: object) -> Any:
        """The answer to a request; raises NotApplicable."""
        self._child.send(request)
        return self._answer()

    def _answer(self) -> Any:
        try:
            kind, value = self._child.receive()
        except EOFError as error:
            raise NotApplicable("its process has ended") from error
        if kind != "ok":
            raise NotApplicable(value)
        return value

    def close(self) -> None:
        """Ends the process."""
        self._child.kill()


class Workers:
    """The child processes of a benchmark, started on demand."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, int], Client] = {}

    def client(self, peer: str, threads: int) -> Client:
        """The worker of a library; raises NotApplicable where it cannot be started."""
        key = (peer, threads)
        if key not in self._clients:
            environment = best_blas() if peer in _USE_BLAS else _AS_IT_IS
            self._clients[key] = Client(peer, threads, environment)
        return self._clients[key]

    def close(self) -> None:
        """Ends all processes."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()


class WorkerRun:
    """A case in a child process."""

    def __init__(self, client: Client, case: Case) -> None:
        self._client = client
        client.request("case", case.entry, case.size)

    def time(self) -> float:
        """Runs once from the initial contents; the seconds of the run alone."""
        return self._client.request("time")

    def outputs(self) -> Mapping[str, NDArray[Any]]:
        """What the last run computed, by name."""
        return self._client.request("outputs")


def variants(peer: str, threads: Sequence[int], workers: Workers) -> Iterator[Variant]:
    """The variants of a library; none where it is not installed."""
    if not installed(peer):
        return
    for count in threads:
        with contextlib.suppress(NotApplicable):
            version = workers.client(peer, count).request("version")
            yield _variant(peer, count, version, workers)


def _variant(peer: str, threads: int, version: str, workers: Workers) -> Variant:
    return Variant(
        peer,
        peer,
        threads,
        version,
        lambda case: WorkerRun(workers.client(peer, threads), case),
        settles=_SETTLES if threads > 1 else 0.0,
        pinned=False,
        relaxed=True,
    )


def installed(peer: str) -> bool:
    """Whether a library is there; it is not imported."""
    return peer in LIBRARIES and importlib.util.find_spec(PACKAGES.get(peer, peer)) is not None


@functools.cache
def best_blas() -> Environment:
    """The environment with which OpenBLAS multiplies matrices fastest here.

    Whatever the environment of this process says is one of the choices, not the answer.
    """
    features = Target.host().features
    known = [core for feature, core in _CORE_TYPES.items() if feature in features]
    unset: Environment = dict.fromkeys(_BLAS_VARIABLES)
    choices: list[Environment] = [
        unset,
        *({**unset, "OPENBLAS_CORETYPE": core} for core in known[:1]),
    ]
    if any(name in os.environ for name in _BLAS_VARIABLES):
        choices.append(_AS_IT_IS)
    if len(choices) == 1:
        return unset
    seconds = [_gemm_seconds(choice) for choice in choices]
    return choices[seconds.index(min(seconds))]


def _gemm_seconds(environment: Environment) -> float:
    client = Client("numpy", 1, environment)
    try:
        kernel, size = _PROBE
        client.request("case", catalogue()[kernel], size)
        return min(client.request("time") for _ in range(7))
    finally:
        client.close()
