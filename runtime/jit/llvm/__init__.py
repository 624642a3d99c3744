"""LLVM back ends: LLVM's shared library, or llvmlite."""

from .choice import parse, version
from .module_protocol import SELECTS_STAY, Machine, Module

__all__ = ["SELECTS_STAY", "Machine", "Module", "parse", "version"]
