"""Vector variants of C library functions (glibc's libmvec).

They differ from the scalar functions by up to four units in the last place, so only operations
that may be approximated (`afn`) use them. Names of the symbols: "Vector Function Application Binary
Interface Specification for x86-64", section 2.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from llvmlite import ir

from .emitter import FunctionEmitter
from .powers import is_expanded
from .types import I32, scalar_type

# The letter of an instruction set in symbols, what else it is called, and the bits of its vectors.
_INSTRUCTION_SETS = (("b", "sse2", 128), ("d", "avx2", 256), ("e", "avx512f", 512))


@dataclass(frozen=True)
class _Variant:
    """A vector variant of a function, as declared in the module."""

    lanes: int
    function: ir.Function


def has_vector_function(
    emitter: FunctionEmitter, name: str, operands: Sequence[ir.Value], flags: Sequence[str]
) -> bool:
    """Whether the function `exp` ... has variants for vectors of such values, and they are best."""
    return (
        "afn" in flags
        and name in emitter.module.target.vector_functions
        and isinstance(scalar_type(operands[0].type), ir.FloatType | ir.DoubleType)
        and not (name == "pow" and is_expanded(operands[1], approximate=True))
    )


def call_vector_function(
    emitter: FunctionEmitter, name: str, operands: Sequence[ir.Value], kind: ir.VectorType
) -> ir.Value:
    """Applies the function to vectors of any length: to pieces that a variant takes."""
    variants = {each.lanes: each for each in _variants(emitter, name, kind.element, len(operands))}
    lanes = min((size for size in variants if size >= kind.count), default=max(variants))
    pieces: list[ir.Value] = []
    for first in range(0, kind.count, lanes):
        # Lanes beyond the end are computed like the last one, and dropped.
        positions = [min(first + lane, kind.count - 1) for lane in range(lanes)]
        arguments = [_elements(emitter, (operand, operand), positions) for operand in operands]
        pieces.append(emitter.builder.call(variants[lanes].function, arguments))
    width = lanes
    while len(pieces) > 1:
        pieces += pieces[-1:] * (len(pieces) % 2)
        width *= 2
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [_elements(emitter, pair, range(width)) for pair in pairs]
    if width == kind.count:
        return pieces[0]
    return _elements(emitter, (pieces[0], pieces[0]), range(kind.count))


def offer_vector_functions(emitter: FunctionEmitter, name: str, call: ir.CallInstr) -> None:
    """Tells LLVM's vectorisers which variants do what a scalar call does, for several lanes."""
    variants = _variants(emitter, name, call.type, len(call.args))
    offer_variants(emitter, call, {variant.lanes: variant.function for variant in variants})


def offer_variants(
    emitter: FunctionEmitter, call: ir.CallInstr, variants: Mapping[int, ir.Function]
) -> None:
    """The same for given functions, by their lanes."""
    parameters = "v" * len(call.args)
    mappings: list[str] = []
    for lanes, function in variants.items():
        emitter.module.keep(function)
        mapped = f"_ZGV_LLVM_N{lanes}{parameters}_{call.callee.name}"
        mappings.append(f"{mapped}({function.name})")
    # llvmlite's own `add` does not know string attributes.
    set[str].add(call.attributes, f'"vector-function-abi-variant"="{",".join(mappings)}"')


def _variants(
    emitter: FunctionEmitter, name: str, scalar: ir.Type, parameters: int
) -> Iterator[_Variant]:
    """The function for all instruction sets that the target has."""
    suffix, bits = ("f", 32) if isinstance(scalar, ir.FloatType) else ("", 64)
    for letter, feature, register in _INSTRUCTION_SETS:
        if feature in emitter.module.target.features:
            lanes = register // bits
            kind = ir.VectorType(scalar, lanes)
            function = emitter.module.declare(
                f"_ZGV{letter}N{lanes}{'v' * parameters}_{name}{suffix}",
                ir.FunctionType(kind, [kind] * parameters),
                ("memory(none)", "willreturn"),
            )
            yield _Variant(lanes, function)


def _elements(
    emitter: FunctionEmitter, vectors: tuple[ir.Value, ir.Value], positions: Iterable[int]
) -> ir.Value:
    """The elements of two vectors, one after the other, at the positions."""
    indices = [ir.Constant(I32, position) for position in positions]
    mask = ir.Constant(ir.VectorType(I32, len(indices)), indices)
    return emitter.builder.shuffle_vector(*vectors, mask)
