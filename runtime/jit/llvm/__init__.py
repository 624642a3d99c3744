"""LLVM, as a shared library or inside of llvmlite: LLVM IR to object code."""

from .choice import parse, version
from .module import Machine, Module

__all__ = ["Machine", "Module", "parse", "version"]
