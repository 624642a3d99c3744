"""Labels training data: random programs, random or searched schedules, measured times.

`generate` labels programs until there are as many as wanted; the same command again goes on where
it was stopped or killed. A directory of labels can be moved, copied and merged with others.

examples:
  loopwright data generate --programs 200 --seed 1 -o measured
  loopwright data generate --programs 100000 --seed 1 -o measured --scheduler tcp://head:8786
  loopwright data stats measured
  loopwright data merge measured elsewhere -o all
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol, cast

from ...support.extras import extra_for
from ...support.json_records import Document
from ...support.plugins import PluginError, load_plugin, plugins
from .. import add_json_argument
from ..json_output import emit, is_wanted

ACTIONS = {
    "generate": "label random programs, here or on a Dask cluster",
    "polybench": "label schedules of PolyBench's kernels, to judge models by",
    "stats": "print what a directory holds",
    "check": "read and check everything",
    "merge": "put several directories into one, without double labels",
    "export": "write a directory as one file",
    "cover": "print how random programs cover the space, beside PolyBench",
    "retest": "label some pairs again, and compare the speed-ups",
    "show": "print the random program of a seed",
}
"""Our own actions (modules of this package) and their help."""

GROUP = "data_actions"


@dataclass(frozen=True)
class PluginDocument(Document):
    """Result of an action of `loopwright data` that another package brings."""

    document: ClassVar[str] = "data-plugin"

    action: Annotated[str, "its name"]
    lines: Annotated[tuple[str, ...], "what it prints"]
    exit_code: Annotated[int, "how it ended"]


class Action(Protocol):
    """A module of this package, or of a plug-in (an entry point `loopwright.data_actions`).

    The first line of the docstring of a plug-in is its help.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Its arguments."""
        ...

    def run(self, arguments: argparse.Namespace) -> int:
        """What it does; the exit code."""
        ...


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright data`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (action, summary) in _actions().items():
        inner = actions.add_parser(name, help=summary, description=summary)
        action.add_arguments(inner)
        add_json_argument(inner)


def run(arguments: argparse.Namespace) -> int:
    """Runs one of the actions."""
    action = _actions()[arguments.action][0]
    with extra_for(f"loopwright data {arguments.action}"):
        if arguments.action in ACTIONS or not is_wanted():
            return action.run(arguments)
        return _run_plugin(action, arguments)


def _run_plugin(action: Action, arguments: argparse.Namespace) -> int:
    """Runs an action that knows no documents: the result is what it prints."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        code = action.run(arguments)
    print(shown.getvalue(), end="")
    emit(PluginDocument(arguments.action, tuple(shown.getvalue().splitlines()), code))
    return code


@functools.cache
def _actions() -> Mapping[str, tuple[Action, str]]:
    """All actions with their help; plug-ins that cannot be imported are left out."""
    found: dict[str, tuple[Action, str]] = {}
    for name, summary in ACTIONS.items():
        found[name] = cast(Action, importlib.import_module(f".{name}", __package__)), summary
    for name, entry in plugins(GROUP, tuple(ACTIONS)).items():
        try:
            action = load_plugin(entry)
        except PluginError as error:
            warnings.warn(f"{error}; it is left out", RuntimeWarning, stacklevel=2)
            continue
        summary = (action.__doc__ or "").partition("\n")[0].rstrip(".")
        found[name] = cast(Action, action), f"{summary[:1].lower()}{summary[1:]}"
    return found
