"""Check that a nest runs each instance of its schedule tree once, in its place.

Asked of the nests that isl has made, which can lack guards or instances where domains or schedules
have strides and quotients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import islpy as isl

from ...passes.polyhedral.schedule_tree import Tree, statements
from .index_expression import Index
from .nest import Nest
from .reading import CallSite, read_nest

_SET, _IN, _OUT = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


def is_faithful(
    nest: Nest,
    tree: Tree,
    domains: Mapping[str, isl.Set],
    context: isl.Set,
    parameters: Mapping[str, Index],
    *,
    exact: bool = True,
) -> bool:
    """Whether the nest runs the instances in `domains` when the parameters are in `context`.

    Each runs exactly once, and in that iteration of every loop which the schedule gives it, or one
    that is always as far from it where it need not be `exact`. The order of the parts of a loop
    that is there in several is not looked at.
    """
    sites = read_nest(nest, context, parameters)
    for name in statements(tree):
        own = [site for site in sites if site.statement == name]
        if not _covers(own, domains[name].intersect_params(context)):
            return False
    return all(_is_in_its_iterations(site, exact) for site in sites)


def _covers(sites: Sequence[CallSite], domain: isl.Set) -> bool:
    """Whether the call sites run the domain, no two of them the same instance."""
    ranges = [site.instances.range() for site in sites]
    missing = domain
    for instances in ranges:
        if not instances.is_subset(domain):
            return False
        missing = missing.subtract(instances)
    return missing.is_empty() and all(one.is_disjoint(two) for one, two in combinations(ranges, 2))


def _is_in_its_iterations(site: CallSite, exact: bool) -> bool:
    """Whether the loops around have the values that the schedule gives the instances.

    Then no instance runs in two iterations either.
    """
    for position, nest in enumerate(site.loops):
        function = nest.loop.schedule[site.statement]
        values = site.instances.apply_range(isl.Map.from_aff(function))
        iterations = isl.Map.universe(values.get_space()).equate(_IN, position, _OUT, 0)
        distances = values.sum(iterations.neg()).range().project_out_all_params()
        if exact:
            distances = distances.subtract(distances.fix_val(_SET, 0, isl.Val(0)))
        if not distances.is_empty() and (exact or not distances.is_singleton()):
            return False
    return True
