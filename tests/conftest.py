"""Repeatable random tests, a cache of compiled code apart from the user's, and no learned model.

In the cache, the machine is one with round numbers, as measuring the real one takes half a minute.

Garbage is collected as seldom as by the commands: what pytest and the tests' modules hold is large.

The default schedule is the analytical choice, on every machine; tests of the learned one say so.

Hypothesis is quick and gives the same examples in every run; `-m campaign` tests say otherwise.
A failing example is shrunk only with LOOPWRIGHT_SHRINK=1: that may take five minutes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, settings
from support.machines import make_machine

from loopwright.passes.machine.target import Target
from loopwright.runtime.machine import measured
from loopwright.support.garbage_collection import collect_garbage_seldom

PHASES = (Phase.explicit, Phase.generate)
CHECKS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "quick",
    max_examples=25,
    deadline=None,
    derandomize=True,
    print_blob=True,
    phases=(*PHASES, Phase.shrink) if os.environ.get("LOOPWRIGHT_SHRINK") else PHASES,
    suppress_health_check=CHECKS,
)
settings.load_profile("quick")

collect_garbage_seldom()


def pytest_collection_finish() -> None:
    """Takes the tests themselves out of later collections, too."""
    collect_garbage_seldom()


@pytest.fixture
def zen3(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine is a Zen 3, for tests that say which schedule is chosen."""
    host = Target.named("zen3")
    monkeypatch.setattr("loopwright.passes.machine.target._host", lambda: host)


@pytest.fixture(scope="session", autouse=True)
def _own_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("LOOPWRIGHT_MODEL", "off")
        measured.save(make_machine())
        yield
