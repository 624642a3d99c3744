"""Loop IR -> LLVM IR: see `translate`."""

from .entry_points import EntryPoint, Status
from .functions import symbol
from .options import Options
from .translate import translate

__all__ = ["EntryPoint", "Options", "Status", "symbol", "translate"]
