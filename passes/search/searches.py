"""Registry of search algorithms: our own, and plug-ins (entry points `loopwright.searches`)."""

from __future__ import annotations

from collections.abc import Mapping

from ...support.plugins import PluginError, describe, load_plugin, plugins
from .algorithm import SearchKind
from .beam import BeamSearch
from .hybrid import HybridSearch
from .names import GROUP, OWN, search_names

_KINDS: Mapping[str, SearchKind] = {
    "beam": SearchKind(lambda options: BeamSearch(options.beam, stages=options.stages)),
    "beam-execution": SearchKind(
        lambda options: BeamSearch(options.beam, execution=True, stages=options.stages),
        runs="within a budget",
    ),
    "hybrid": SearchKind(
        lambda options: HybridSearch(options.beam, stages=options.stages), runs="within a budget"
    ),
}


def find_search(name: str) -> SearchKind:
    """The search of this name; raises PluginError where there is none that can be used."""
    if name in _KINDS:
        return _KINDS[name]
    entry = plugins(GROUP, OWN).get(name)
    if entry is None:
        raise PluginError(f"there is no search '{name}'; there are {', '.join(search_names())}")
    found = load_plugin(entry)
    if not isinstance(found, SearchKind):
        raise PluginError(f"the search '{name}' of {describe(entry)} is no SearchKind")
    return found
