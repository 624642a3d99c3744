"""Random straight-line code: loads, arithmetic, conversions."""

from __future__ import annotations

from dataclasses import dataclass, field

from .choice import Chooser, chance, choose
from .random_memory import Memory, is_float, width
from .ranges import Affine, Index, affine_map

INTEGER_OPERATIONS = [
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.maxsi",
    "arith.minsi",
    "arith.xori",
    "arith.andi",
]
FLOAT_OPERATIONS = ["arith.addf", "arith.subf", "arith.maximumf", "arith.mulf", "arith.minimumf"]
WIDE_OPERATIONS = {
    "i": [*INTEGER_OPERATIONS, "arith.ori", "arith.maxui", "arith.minui"],
    "f": [*FLOAT_OPERATIONS, "arith.maxnumf", "arith.minnumf"],
}
DIVISIONS = ("arith.shli", "arith.shrsi", "arith.divsi", "arith.remsi", "arith.floordivsi")
WIDE_DIVISIONS = (
    *DIVISIONS,
    *("arith.shrui", "arith.divui", "arith.remui", "arith.ceildivsi", "arith.ceildivui"),
)
DIVISORS = (1, 2, 3, 4, 5, 7, -2, -3, -4, -7)
UNARY = ("arith.negf", "math.absf")
WIDE_UNARY = {
    "i": ("math.absi", "math.ctpop", "math.ctlz", "math.cttz"),
    "f": (*UNARY, "math.floor", "math.ceil", "math.trunc", "math.round", "math.roundeven"),
}
_RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")
WIDE_PREDICATES = {
    "i": ("eq", "ne", *("slt", "sle", "sgt", "sge"), *("ult", "ule", "ugt", "uge")),
    "f": ("ord", "uno", *(order + each for order in "ou" for each in _RELATIONS)),
}
STENCIL_OPERATIONS = {
    "i": ("arith.addi", "arith.subi", "arith.maxsi"),
    "f": ("arith.addf", "arith.subf", "arith.maximumf"),
}
INTEGER_PREDICATES = ("slt", "eq", "sge", "ne", "ult")
FLOAT_PREDICATES = ("olt", "oeq", "oge", "une")


def helper(kind: str) -> list[str]:
    """A function that combines two values of a type; programs may call it."""
    if is_float(kind):
        body = ["%a = arith.maximumf %x, %y : {}", "%b = arith.subf %a, %x : {}"]
    else:
        body = ["%a = arith.xori %x, %y : {}", "%b = arith.subi %a, %x : {}"]
    signature = f"func.func private @mix_{kind}(%x: {kind}, %y: {kind}) -> {kind} {{"
    return [signature, *(line.format(kind) for line in body), f"return %b : {kind}", "}"]


@dataclass
class Scope:
    """What is visible at a point of the program: index values, data values by type, locals."""

    indices: tuple[Index, ...] = ()
    values: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    locals: tuple[str, ...] = ()
    depth: int = 0

    def inner(self, indices: tuple[Index, ...] | None = None, deeper: int = 0) -> Scope:
        """A scope inside this one; what is added to it does not show here."""
        return Scope(
            self.indices if indices is None else indices,
            {kind: list(names) for kind, names in self.values.items()},
            self.locals,
            self.depth + deeper,
        )

    def add(self, kind: str, name: str) -> str:
        """Makes a data value visible."""
        self.values.setdefault(kind, []).append(name)
        return name


class ValueGenerator:
    """Appends operations to `lines` and returns the names of their results.

    One that `is_wide` draws all operations that mean something for NaN, infinities and the greatest
    integers, too.
    """

    def __init__(self, chooser: Chooser, memory: Memory):
        self.chooser = chooser
        self.memory = memory
        self.lines: list[str] = []
        self.may_call = False
        self.is_wide = False
        self.called: set[str] = set()

    def emit(self, text: str, kind: str, scope: Scope) -> str:
        """A new value of type `kind`."""
        name = self.memory.fresh("v")
        self.lines.append(f"{name} = {text}")
        return scope.add(kind, name)

    def constant(self, value: int, kind: str, scope: Scope) -> str:
        """A constant."""
        number = f"{value}.0" if is_float(kind) else str(value)
        return self.emit(f"arith.constant {number} : {kind}", kind, scope)

    def load(self, scope: Scope, kind: str) -> str | None:
        """A load from some array of the type."""
        spec = self.memory.array(scope.locals, kind)
        subscripts = self.memory.access(spec, scope.indices)
        if subscripts is None:
            return None
        dialect, target = self._spelled(spec.name, subscripts)
        return self.emit(f"{dialect}.load {target}", kind, scope)

    def _stencil(self, scope: Scope, kind: str, value: str) -> str:
        """`value` combined with several elements of one array, most of them close together."""
        spec = self.memory.array(scope.locals, kind, least_rank=1)
        count = choose(self.chooser, (2, 3, 4))
        accesses = self.memory.neighbours(spec, scope.indices, count) or []
        if chance(self.chooser, 40):
            other = self.memory.access(spec, scope.indices)
            accesses += [other] if other is not None else []
        for subscripts in accesses:
            dialect, target = self._spelled(spec.name, subscripts)
            read = self.emit(f"{dialect}.load {target}", kind, scope)
            operation = choose(self.chooser, STENCIL_OPERATIONS["f" if is_float(kind) else "i"])
            value = self.emit(f"{operation} {value}, {read} : {kind}", kind, scope)
        return value

    def _spelled(self, array: str, subscripts: list[Affine]) -> tuple[str, str]:
        """An access as `affine`, or as `memref` with subscripts computed before."""
        if not chance(self.chooser, 8):
            texts = ", ".join(subscript.text() for subscript in subscripts)
            return "affine", f"{array}[{texts}] : <{array}>"
        names: list[str] = []
        for subscript in subscripts:
            names.append(self.memory.fresh("q"))
            self.lines.append(f"{names[-1]} = affine.apply {affine_map([subscript])}")
        return "memref", f"{array}[{', '.join(names)}] : <{array}>"

    def store(self, scope: Scope, kind: str, value: str) -> None:
        """A store to some array of the type, often added to what is there."""
        spec = self.memory.array(scope.locals, kind)
        subscripts = self.memory.access(spec, scope.indices)
        if subscripts is None:
            return
        dialect, target = self._spelled(spec.name, subscripts)
        if chance(self.chooser, 35):
            old = self.emit(f"{dialect}.load {target}", kind, scope)
            operations = self._operations(kind)
            operation = choose(self.chooser, operations if self.is_wide else operations[:4])
            value = self.emit(f"{operation} {old}, {value} : {kind}", kind, scope)
        if is_float(kind) and chance(self.chooser, 50):
            value = self.clamp(scope, kind, value, 16)
        self.lines.append(f"{dialect}.store {value}, {target}")

    def clamp(self, scope: Scope, kind: str, value: str, limit: int, extrema: str = "imumf") -> str:
        """`max(-limit, min(limit, value))` of a float; with the extrema `numf`, none is NaN."""
        high = self.constant(limit, kind, scope)
        low = self.constant(-limit, kind, scope)
        value = self.emit(f"arith.min{extrema} {value}, {high} : {kind}", kind, scope)
        return self.emit(f"arith.max{extrema} {value}, {low} : {kind}", kind, scope)

    def value(self, scope: Scope, kind: str, depth: int = 2) -> str:
        """A value of the type: a load, something visible, or an expression of such."""
        form = self.chooser.integer(0, 9 if depth else 5)
        known = scope.values.get(kind, [])
        if form <= 1 and (loaded := self.load(scope, kind)) is not None:
            return loaded
        if form == 2 and known:
            return choose(self.chooser, known)
        if form == 3 and scope.indices:
            return self.from_index(scope, kind, choose(self.chooser, scope.indices).name)
        if form == 4:
            return scope.add(kind, self.memory.scalar(kind))
        if form <= 5:
            return self.constant(self.chooser.integer(-3, 5), kind, scope)
        first = self.value(scope, kind, depth - 1)
        if form == 8 and chance(self.chooser, 60):
            return self._stencil(scope, kind, first)
        if form == 9:
            return self._special(scope, kind, first, depth)
        second = self.value(scope, kind, depth - 1)
        operation = choose(self.chooser, self._operations(kind))
        value = self.emit(f"{operation} {first}, {second} : {kind}", kind, scope)
        if operation == "arith.mulf" and chance(self.chooser, 50):
            value = self.clamp(scope, kind, value, 64)
        return value

    def _operations(self, kind: str) -> list[str]:
        if self.is_wide:
            return WIDE_OPERATIONS[_family(kind)]
        return FLOAT_OPERATIONS if is_float(kind) else INTEGER_OPERATIONS

    def from_index(self, scope: Scope, kind: str, index: str) -> str:
        """An index value as data."""
        if not is_float(kind):
            return self.emit(f"arith.index_cast {index} : index to {kind}", kind, scope)
        whole = self.emit(f"arith.index_cast {index} : index to i32", "i32 index", scope)
        return self.emit(f"arith.sitofp {whole} : i32 to {kind}", kind, scope)

    def _special(self, scope: Scope, kind: str, first: str, depth: int) -> str:
        form = self.chooser.integer(0, 4)
        if form == 0:
            return self._select(scope, kind, first, depth)
        if form == 1:
            return self._converted(scope, kind)
        if form == 2 and self.may_call:
            second = self.value(scope, kind, depth - 1)
            self.called.add(kind)
            call = f"func.call @mix_{kind}({first}, {second}) : ({kind}, {kind}) -> {kind}"
            return self.emit(call, kind, scope)
        if is_float(kind) or (self.is_wide and chance(self.chooser, 40)):
            known = WIDE_UNARY[_family(kind)] if self.is_wide else UNARY
            return self.emit(f"{choose(self.chooser, known)} {first} : {kind}", kind, scope)
        operation = choose(self.chooser, WIDE_DIVISIONS if self.is_wide else DIVISIONS)
        is_any = self.is_wide and "sh" not in operation
        number = choose(self.chooser, DIVISORS) if is_any else self.chooser.integer(1, 7)
        divisor = self.constant(number, kind, scope)
        return self.emit(f"{operation} {first}, {divisor} : {kind}", kind, scope)

    def _select(self, scope: Scope, kind: str, first: str, depth: int) -> str:
        second = self.value(scope, kind, depth - 1)
        operation, predicates = ("arith.cmpi", INTEGER_PREDICATES)
        if is_float(kind):
            operation, predicates = ("arith.cmpf", FLOAT_PREDICATES)
        if self.is_wide:
            predicates = WIDE_PREDICATES[_family(kind)]
        predicate = choose(self.chooser, predicates)
        test = self.emit(f"{operation} {predicate}, {first}, {second} : {kind}", "i1", scope)
        third = choose(self.chooser, scope.values[kind])
        return self.emit(f"arith.select {test}, {third}, {second} : {kind}", kind, scope)

    def _converted(self, scope: Scope, kind: str) -> str:
        """A value of the program's other element type, converted."""
        other = self.memory.element_types[-1]
        if other == kind:
            other = self.memory.element_types[0]
        value = self.value(scope, other, 0)
        if other == kind:
            return value
        if is_float(other):
            extrema = "numf" if self.is_wide else "imumf"
            value = self.clamp(scope, other, value, 64, extrema)
        elif is_float(kind):
            mask = self.constant(15, other, scope)
            value = self.emit(f"arith.andi {value}, {mask} : {other}", other, scope)
        if is_float(kind) and is_float(other) and width(kind) == width(other):
            # f16 and bf16: no operation converts one to the other
            value = self.emit(f"arith.extf {value} : {other} to f32", "f32", scope)
            other = "f32"
        is_wider = width(kind) > width(other)
        operation = {
            (False, True): "sitofp",
            (True, False): "fptosi",
            (False, False): "extsi" if is_wider else "trunci",
            (True, True): "extf" if is_wider else "truncf",
        }[is_float(other), is_float(kind)]
        return self.emit(f"arith.{operation} {value} : {other} to {kind}", kind, scope)


def _family(kind: str) -> str:
    """What the tables of operations call integers and floats."""
    return "f" if is_float(kind) else "i"
