"""Loop IR -> C99: see `emit_c`."""

from .translate import emit_c

__all__ = ["emit_c"]
