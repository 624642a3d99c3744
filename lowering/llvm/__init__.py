"""Loop IR to LLVM IR: see `translate`."""

from .functions import symbol
from .options import Options
from .translate import translate

__all__ = ["Options", "symbol", "translate"]
