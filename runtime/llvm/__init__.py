"""LLVM, as a shared library or inside of llvmlite: LLVM IR to object code."""

from .module import Machine, Module, parse, version

__all__ = ["Machine", "Module", "parse", "version"]
