"""LLVM back ends: LLVM's shared library, or llvmlite."""

from .choice import parse, version
from .module_protocol import Machine, Module

__all__ = ["Machine", "Module", "parse", "version"]
