"""Local arrays: accesses stay within the allocation, and read what was last written.

A local array is allocated in the body of a loop, as a box of elements from an origin on; subscripts
of one value are left out. So all subscripts less the origin must lie in the box, and what is
written in one iteration of that loop must not be read in another one, nor by statements for which
the array is allocated apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NoReturn

import islpy as isl

from ...passes.polyhedral.scop import Access, AccessKind, Scop
from ..loops.storage import Placement, placements_by_user
from ..nest.index_expression import Comparison, Index, decide, linear_form
from ..nest.index_relations import IndexSpace
from ..nest.nest import For, Once
from .order import earlier, meeting
from .reading import CallSite
from .verdict import Property, ViolatedError, Witness

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, eq=False)
class _LocalAccess:
    """An access at a call site: `elements` is `{ [v0, v1, ...] -> x[e] }`.

    It is to what is allocated at `placement`, in the body of the loop `home`, and `depth` is how
    many loops run there, itself included; None and 0 for the body of the function.
    """

    site: CallSite
    access: Access
    placement: Placement
    elements: isl.Map
    home: For | Once | None
    depth: int


class LocalStorage:
    """The local arrays of a nest, and where they are allocated.

    `parameters` are the values of the sizes in the nest, `names` the sizes by their variables.
    """

    def __init__(
        self,
        scop: Scop,
        sites: Sequence[CallSite],
        placements: Sequence[Placement],
        parameters: Mapping[str, Index],
        names: Mapping[int, str],
    ) -> None:
        self.statements = {statement.name: statement for statement in scop.statements}
        self.sites = sites
        self.placements = placements_by_user(placements)
        self.parameters = [parameters[parameter.name] for parameter in scop.parameters]
        self.names = names

    def check(self) -> None:
        """Raises ViolatedError."""
        accesses: dict[str, list[_LocalAccess]] = {}
        for site in self.sites:
            for access in self.statements[site.statement].accesses:
                if access.array.is_local:
                    found = self._check_box(site, access)
                    accesses.setdefault(access.array.name, []).append(found)
        for group in accesses.values():
            writes = [each for each in group if each.access.kind is AccessKind.WRITE]
            reads = [each for each in group if each.access.kind is AccessKind.READ]
            for write, read in product(writes, reads):
                self._check_lifetime(write, read)

    def _check_box(self, site: CallSite, access: Access) -> _LocalAccess:
        """The access, whose subscripts are all in the box that is allocated."""
        elements = site.instances.apply_range(access.relation)
        placement = self.placements.get((access.array.name, site.statement))
        if placement is None:
            self._fail(site, f"{access.array.name} is allocated nowhere")
        values: dict[str, Index] = {}
        home: For | Once | None = None
        depth = 0
        if placement.last is not None:
            for step in site.steps:
                if isinstance(step.node, For):
                    values[step.node.loop.name] = Index.variable(step.node.variable)
                    depth += 1
                elif isinstance(step.node, Once):
                    values[step.node.loop.name] = step.node.value
                if isinstance(step.node, For | Once) and step.node.loop is placement.last:
                    home = step.node
                    break
            if home is None or any(loop.name not in values for loop in placement.outer):
                self._fail(site, f"{access.array.name} is used where it is not allocated")
        outer = [values[loop.name] for loop in placement.outer]
        arguments = dict(enumerate((*site.call.arguments, *self.parameters)))
        conditions: list[Comparison] = []
        for position, expression in enumerate(access.map.results):
            subscript = linear_form(expression, access.map.num_dims).substitute(arguments)
            inside = subscript - placement.offsets[position](outer)
            conditions.append(Comparison(">=", inside))
            conditions.append(Comparison(">=", placement.sizes[position] - inside - 1))
        self._check_conditions(site, access, conditions)
        return _LocalAccess(site, access, placement, elements, home, depth)

    def _check_conditions(
        self, site: CallSite, access: Access, conditions: Sequence[Comparison]
    ) -> None:
        domain = site.instances.domain()
        variables = tuple(loop.variable for loop in site.loops)
        space = IndexSpace(domain.get_space(), variables, self.names)
        for condition in conditions:
            if decide(condition) is not True:
                outside = domain.subtract(space.condition(condition))
                if not outside.is_empty():
                    message = f"{access.array.name} is accessed outside of what is allocated"
                    self._fail(site, message, outside)

    def _check_lifetime(self, write: _LocalAccess, read: _LocalAccess) -> None:
        """What is written is not read in another allocation of the array."""
        if write.placement is read.placement and write.home is None:
            return
        pairs = write.elements.apply_range(read.elements.reverse())
        if write.placement is not read.placement:
            self._none_later(pairs, write, read)
            return
        common, is_forward = meeting(write.site, read.site)
        depth = min(common, write.depth) if write.home is read.home else common
        for loop in range(depth):
            self._none_later(earlier(pairs, write.site, loop), write, read)
            pairs = pairs.equate(_IN, loop, _OUT, loop)
        if write.home is not read.home and is_forward:
            self._none_later(pairs, write, read)

    def _none_later(self, pairs: isl.Map, write: _LocalAccess, read: _LocalAccess) -> None:
        if not pairs.is_empty():
            shown = pairs.apply_domain(write.site.instances).apply_range(read.site.instances)
            message = f"{read.access.array.name} is read in another allocation than it was written"
            raise ViolatedError(Property.STORAGE, message, Witness.between(shown))

    def _fail(self, site: CallSite, message: str, at: isl.Set | None = None) -> NoReturn:
        instances = site.instances if at is None else site.instances.intersect_domain(at)
        raise ViolatedError(Property.STORAGE, message, Witness.among(instances.range()))
