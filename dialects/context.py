"""The context with all dialects of loopwright."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.ir import Attribute

from .registry import DIALECTS


class _Context(Context):
    """Attributes of other dialects, such as memory spaces and hints, are kept as their text."""

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        found = super().get_optional_attr(name)
        if found is None and name.partition(".")[0] not in DIALECTS:
            from xdsl.dialects.builtin import UnregisteredAttr

            found = self._loaded_attrs[name] = UnregisteredAttr.with_name_and_type(name, False)
        return found


def make_context() -> Context:
    """A context in which all dialects of loopwright are registered."""
    context = _Context()
    for name, factory in DIALECTS.items():
        context.register_dialect(name, factory)
    return context
