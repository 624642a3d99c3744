"""State of a module's translation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from llvmlite import ir
from xdsl.ir import Attribute, SSAValue

from .llvm_target import function_attributes
from .options import Options
from .types import I64, POINTER

if TYPE_CHECKING:
    from ...passes.machine.target import Target


class ModuleEmitter:
    """An LLVM module being built, and what the functions in it share.

    `functions` are the translated functions, and `parameters` the types of their arguments, by the
    name of their `func.func`. All of them have `attributes`. `emitters` are `emitter.Emitters`.
    `can_stream` says whether the target has stores that go past the caches, `fuses_products`
    whether additions are fused with products (`passes.polyhedral.fused_products`), `vector_hints`
    of some loops, by their indices, whether LLVM is to make vectors along them (`short_loops`).
    `vectors` are constants of the loop IR, by value and type: each is made and printed once.
    """

    def __init__(
        self,
        name: str,
        target: Target,
        options: Options,
        emitters: Mapping[str, Callable[..., None]],
        attributes: Iterable[str] = (),
        vector_hints: Mapping[SSAValue, bool] | None = None,
    ) -> None:
        self.module = ir.Module(name=name)
        self.target = target
        self.options = options
        self.emitters = emitters
        self.functions: dict[str, ir.Function] = {}
        self.parameters: dict[str, Sequence[Attribute]] = {}
        self.can_stream = "sse2" in target.features
        self.fuses_products = options.fuses_products and target.fuses_multiply_adds
        self.vector_hints: Mapping[SSAValue, bool] = vector_hints or {}
        self._attributes = (*function_attributes(target), *attributes)
        self.vectors: dict[tuple[Attribute, Attribute], ir.Constant] = {}
        self._kept: dict[str, ir.Function] = {}

    def declare(
        self, name: str, function_type: ir.FunctionType, attributes: Iterable[str] = ()
    ) -> ir.Function:
        """The function `name` of the module, declared when it is met first."""
        existing = self.module.globals.get(name)
        if isinstance(existing, ir.Function):
            return existing
        function = ir.Function(self.module, function_type, name=name)
        _add_attributes(function, ("nounwind", *attributes))
        return function

    def keep(self, function: ir.Function) -> None:
        """Has LLVM keep a declared function that nothing calls yet: its vectorisers may."""
        self._kept[function.name] = function

    def finish(self) -> ir.Module:
        """The module, once all of its functions have been emitted."""
        if self._kept:
            kind = ir.ArrayType(POINTER, len(self._kept))
            kept = ir.GlobalVariable(self.module, kind, "llvm.compiler.used")
            kept.linkage, kept.section = "appending", "llvm.metadata"
            kept.initializer = ir.Constant(kind, list(self._kept.values()))
        return self.module

    def intrinsic(
        self, name: str, overloads: Sequence[ir.Type], function_type: ir.FunctionType
    ) -> ir.Function:
        """The intrinsic `name` for the given overloaded types, as `llvm.smin.v8i64`."""
        full_name = ".".join((name, *(_mangled(overload) for overload in overloads)))
        existing = self.module.globals.get(full_name)
        if isinstance(existing, ir.Function):
            return existing
        return ir.Function(self.module, function_type, name=full_name)

    def define(self, name: str, function_type: ir.FunctionType, *, public: bool) -> ir.Function:
        """A new function of the module with the target's attributes; a taken name is changed."""
        name = self.module.get_unique_name(name)
        function = ir.Function(self.module, function_type, name=name)
        if not public:
            function.linkage = "internal"
        _add_attributes(function, self._attributes)
        return function

    def counter(self, name: str) -> ir.Value:
        """The public global i64 `name` of the module, initially zero."""
        existing = self.module.globals.get(name)
        if existing is not None:
            return existing
        variable = ir.GlobalVariable(self.module, I64, name)
        variable.initializer = ir.Constant(I64, 0)
        return variable


def _add_attributes(function: ir.Function, attributes: Iterable[str]) -> None:
    # llvmlite's own `add` knows neither string attributes nor recent ones.
    set[str].update(function.attributes, attributes)


def _mangled(overload: ir.Type) -> str:
    if isinstance(overload, ir.VectorType):
        return f"v{overload.count}{_mangled(overload.element)}"
    return overload.intrinsic_name
