"""Random control flow: nests of loops, guards, reductions, local arrays, time loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .choice import Chooser, chance, choose
from .random_bounds import LOOP_NAMES, BoundGenerator
from .random_kinds import KindNests, Nest
from .random_memory import ArraySpec, Memory, bound_text, is_float
from .random_reductions import ParallelReductions
from .random_styles import DIVIDED, STRIDED, LoopStyle
from .random_values import Scope, ValueGenerator
from .ranges import Affine, Index, Linear, affine_map, affine_set

MAX_DEPTH = 4


class BodyGenerator:
    """The body of the function: `lines` in which `<%A0>` stands for the type of `%A0`."""

    def __init__(
        self,
        chooser: Chooser,
        memory: Memory,
        reductions: bool = False,
        nests: Sequence[Nest] = (),
    ):
        self.chooser = chooser
        self.memory = memory
        self.code = ValueGenerator(chooser, memory)
        self.bounds = BoundGenerator(chooser, memory)
        self.reductions = ParallelReductions(chooser, self.code) if reductions else None
        self.nests = nests
        self.kinds = KindNests(chooser, self.code) if nests else None
        self.deepest = 0
        self.budget = choose(chooser, (2, 4, 8))

    @property
    def lines(self) -> list[str]:
        """The lines so far."""
        return self.code.lines

    def function_body(self) -> tuple[list[str], list[tuple[str, str]]]:
        """The body's lines and the values it returns, with their types."""
        scope = Scope()
        if chance(self.chooser, 20):
            self._local_array(scope, function_level=True)
        for _ in range(choose(self.chooser, (1, 1, 1, 2, 2, 3, 4))):
            self._nest(scope)
        results: list[tuple[str, str]] = []
        if chance(self.chooser, 15):
            kind = self._kind()
            results.append((self.code.value(scope, kind, 0), kind))
        return self._expanded(), results

    def _expanded(self) -> list[str]:
        """The lines with allocations and array types filled in."""
        result: list[str] = []
        types: dict[str, str] = {}
        for spec in self.memory.arrays.values():
            types[f"<{spec.name}>"] = self.memory.type(spec)
        for line in self.lines:
            if line.startswith("allocate "):
                result += self.memory.allocation(self.memory.arrays[line.split()[1]])
                continue
            for placeholder in (word for word in line.split() if word in types):
                line = line.replace(placeholder, types[placeholder])
            result.append(line)
        return result

    def _kind(self) -> str:
        return choose(self.chooser, self.memory.element_types)

    def _nest(self, scope: Scope) -> None:
        if self._reduced(scope, 50):
            return
        if self.kinds is not None and chance(self.chooser, 75):
            self.deepest = max(self.deepest, self.kinds.nest(scope, self.nests))
            return
        form = self.chooser.integer(0, 10)
        if self.memory.style.loops is DIVIDED and form % 2:
            self._divided_nest(scope)
        elif form <= 3:
            self._perfect_nest(scope)
        elif form == 4:
            self._time_loop(scope)
        elif form == 5:
            self._parallel(scope)
        elif form == 6:
            self._reduction(scope)
        elif form <= 8:
            self._divided_nest(scope)
        else:
            self._loop(scope, self._block)

    def _divided_nest(self, scope: Scope) -> None:
        """A loop around one whose bounds are quotients, of which some iterations do something."""
        self._loop(scope, self._divided_body, STRIDED)

    def _divided_body(self, scope: Scope) -> None:
        if chance(self.chooser, 30):
            self._statement(scope)
        self._loop(scope, self._guarded_body, DIVIDED)
        if chance(self.chooser, 60):
            self._statement(scope)

    def _guarded_body(self, scope: Scope) -> None:
        if scope.depth < MAX_DEPTH - 1 and chance(self.chooser, 25):
            self._loop(scope, self._guarded_body, DIVIDED)
        elif chance(self.chooser, 70):
            self._guard(scope, self._statement)
        else:
            self._statement(scope)

    def _perfect_nest(self, scope: Scope) -> None:
        """Loops directly inside each other, some behind a condition, around a few statements."""
        if scope.depth and chance(self.chooser, self.memory.style.loops.guarded):
            self._guard(scope, self._rest_of_nest)
        else:
            self._rest_of_nest(scope)

    def _rest_of_nest(self, scope: Scope) -> None:
        if scope.depth >= MAX_DEPTH or (scope.depth and chance(self.chooser, 45)):
            self._statement(scope)
            if chance(self.chooser, 30):
                self._statement(scope)
            return
        self._loop(scope, self._perfect_nest)

    def _time_loop(self, scope: Scope) -> None:
        """Sweeps over the same arrays, repeated."""
        steps = self.memory.extent() if chance(self.chooser, 60) else Linear((), 3)
        self.lines.append(f"affine.for %t = 0 to {bound_text([Affine((), steps)], 'min')} {{")
        inner = scope.inner(deeper=1)
        for _ in range(choose(self.chooser, (1, 2))):
            self._perfect_nest_below(inner)
        self.lines.append("}")

    def _perfect_nest_below(self, scope: Scope) -> None:
        self._loop(scope, self._perfect_nest)

    def _block(self, scope: Scope) -> None:
        """Statements, loops, guards ... one after the other."""
        for _ in range(choose(self.chooser, (1, 2, 1, 3))):
            self.budget -= 1
            if self._reduced(scope, 20):
                continue
            form = self.chooser.integer(0, 9)
            if scope.depth >= MAX_DEPTH or self.budget < 0 or form <= 3:
                self._statement(scope)
            elif form <= 5:
                self._loop(scope, self._block)
            elif form == 6:
                self._guard(scope, self._block)
            elif form == 7:
                self._reduction(scope)
            elif form == 8 and scope.depth:
                self._local_array(scope)
            else:
                self._index_value(scope)

    def _statement(self, scope: Scope) -> None:
        """Loads and arithmetic, then one or two stores."""
        kind = self._kind()
        value = self.code.value(scope, kind)
        self.code.store(scope, kind, value)
        if chance(self.chooser, 25):
            # the same value once more, or one that was loaded before the store
            self.code.store(scope, kind, choose(self.chooser, scope.values.get(kind, [value])))

    def _loop(
        self, scope: Scope, fill: Callable[[Scope], None], style: LoopStyle | None = None
    ) -> None:
        index, header = self.bounds.header(scope, style or self.memory.style.loops)
        self.lines.append(f"{header} {{")
        fill(self._inside(scope, index))
        self.lines.append("}")

    def _inside(self, scope: Scope, index: Index) -> Scope:
        inner = scope.inner((*scope.indices, index), deeper=1)
        self.deepest = max(self.deepest, inner.depth)
        return inner

    def _guard(self, scope: Scope, fill: Callable[[Scope], None]) -> None:
        """An affine.if, with or without else, with or without a result."""
        if not scope.indices:
            self._statement(scope)
            return
        constraints: list[tuple[Affine, str]] = []
        indices = scope.indices
        for _ in range(choose(self.chooser, (1, 1, 2, 3))):
            constraint, better = self.bounds.condition(scope)
            constraints.append(constraint)
            if better is not None:
                indices = tuple(better if i.name == better.name else i for i in indices)
        if chance(self.chooser, 35):
            self._conditional_value(scope, scope.inner(indices), affine_set(constraints))
            return
        self.lines.append(f"{self._condition(constraints)} {{")
        fill(scope.inner(indices))
        if chance(self.chooser, 30):
            self.lines.append("} else {")
            fill(scope.inner())
        self.lines.append("}")

    def _condition(self, constraints: list[tuple[Affine, str]]) -> str:
        """`affine.if set`, or `scf.if` of a comparison."""
        if len(constraints) > 1 or not chance(self.chooser, 15):
            return f"affine.if {affine_set(constraints)}"
        value, zero, test = (self.memory.fresh(prefix) for prefix in "bcc")
        (expression, sign), *_ = constraints
        predicate = "eq" if sign == "==" else "sge"
        self.lines.append(f"{value} = affine.apply {affine_map([expression])}")
        self.lines.append(f"{zero} = arith.constant 0 : index")
        self.lines.append(f"{test} = arith.cmpi {predicate}, {value}, {zero} : index")
        return f"scf.if {test}"

    def _conditional_value(self, scope: Scope, holds: Scope, condition: str) -> None:
        kind = self._kind()
        name = self.memory.fresh("v")
        self.lines.append(f"{name} = affine.if {condition} -> {kind} {{")
        self.lines.append(f"affine.yield {self.code.value(holds, kind)} : {kind}")
        self.lines.append("} else {")
        self.lines.append(f"affine.yield {self.code.value(scope.inner(), kind)} : {kind}")
        self.lines.append("}")
        scope.add(kind, name)
        self.code.store(scope, kind, name)

    def _reduction(self, scope: Scope) -> None:
        """A loop that carries one or two values; its result is stored."""
        if scope.depth >= MAX_DEPTH:
            self._statement(scope)
            return
        kind = self._kind()
        carried: list[str] = []
        results: list[str] = []
        inits = [self.code.value(scope, kind, 0) for _ in range(1 + chance(self.chooser, 20))]
        for _ in inits:
            carried.append(self.memory.fresh("a"))
            results.append(self.memory.fresh("r"))
        index, header = self.bounds.header(scope, self.memory.style.loops)
        pairs = ", ".join(f"{a} = {init}" for a, init in zip(carried, inits, strict=True))
        types = ", ".join([kind] * len(inits))
        text = f"{', '.join(results)} = {header} iter_args({pairs}) -> ({types}) {{"
        self.lines.append(text)
        inner = self._inside(scope, index)
        yielded: list[str] = []
        if chance(self.chooser, 25):
            self._block(inner)
        for name in carried:
            inner.add(kind, name)
        operations = (
            ("arith.addf", "arith.maximumf")
            if is_float(kind)
            else ("arith.addi", "arith.maxsi", "arith.muli", "arith.subi")
        )
        for name in carried:
            value = self.code.value(inner, kind)
            operation = choose(self.chooser, operations)
            yielded.append(self.code.emit(f"{operation} {name}, {value} : {kind}", kind, inner))
        if len(yielded) == 2 and chance(self.chooser, 30):
            yielded.reverse()
        self.lines.append(f"affine.yield {', '.join(yielded)} : {types}")
        self.lines.append("}")
        for name in results:
            scope.add(kind, name)
            self.code.store(scope, kind, name)

    def _reduced(self, scope: Scope, percent: int) -> bool:
        """In `percent` of the cases of a program with such, an affine.parallel that reduces."""
        most = MAX_DEPTH - scope.depth
        if self.reductions is None or not most or not chance(self.chooser, percent):
            return False
        self.deepest = max(self.deepest, scope.depth + self.reductions.loop(scope, most))
        return True

    def _local_array(self, scope: Scope, function_level: bool = False) -> None:
        """Allocates an array for the rest of the block and fills it; then a statement uses it."""
        spec = self.memory.new_array(choose(self.chooser, (0, 1, 2)))
        spec.local = True
        # a stack allocation in a loop has a constant size, and so must have its subscripts
        spec.stack = spec.rank == 0
        spec.static = True
        self.lines.append(f"allocate {spec.name}")
        scope.locals = (*scope.locals, spec.name)
        if function_level:
            if not spec.stack:
                self.memory.frees.append(spec.name)
            return
        inner = scope.inner()
        self._store_to(inner, spec)
        self._block(inner)
        if not spec.stack:
            self.lines.append(f"memref.dealloc {spec.name} : <{spec.name}>")
        scope.locals = scope.locals[:-1]

    def _store_to(self, scope: Scope, spec: ArraySpec) -> None:
        subscripts = self.memory.access(spec, scope.indices)
        assert subscripts is not None, "only arguments have subscripts that do not fit"
        texts = ", ".join(subscript.text() for subscript in subscripts)
        value = self.code.value(scope, spec.element_type)
        self.lines.append(f"affine.store {value}, {spec.name}[{texts}] : <{spec.name}>")

    def _index_value(self, scope: Scope) -> None:
        """An affine.apply that later subscripts may use, or the value of an affine.min or max."""
        operation = choose(self.chooser, ("apply", "min", "max"))
        first = self.memory.subscript(scope.indices)
        expressions = [first]
        if operation != "apply":
            expressions.append(Affine((), self.memory.extent()))
        name = self.memory.fresh("y")
        self.lines.append(f"{name} = affine.{operation} {affine_map(expressions)}")
        if operation == "apply":
            index = Index(name, first.low, first.high)
            scope.indices = (*scope.indices, index)
        else:
            self.code.from_index(scope, self._kind(), name)
        self._statement(scope)

    def _parallel(self, scope: Scope) -> None:
        """An affine.parallel that computes a new array from others, or that reduces to a value."""
        rank = choose(self.chooser, (1, 2))
        kind = self._kind()
        sizes = [self.memory.size() for _ in range(rank)]
        names = [f"%{LOOP_NAMES[scope.depth + d]}" for d in range(rank)]
        lows = ", ".join(["0"] * rank)
        header = f"affine.parallel ({', '.join(names)}) = ({lows}) to ({', '.join(sizes)})"
        inner = scope
        for name, size in zip(names, sizes, strict=True):
            inner = self._inside(inner, Index(name, Linear(), Linear.size(size).shifted(-1)))
        if chance(self.chooser, 25):
            self._parallel_reduction(scope, inner, kind, header)
            return
        self.lines.append(f"{header} {{")
        value = self.code.value(inner, kind)
        spec = self.memory.new_array(rank, kind)
        for upper, size in zip(spec.uppers, sizes, strict=True):
            upper.append(Linear.size(size).shifted(-1))
        self.lines.append(f"affine.store {value}, {spec.name}[{', '.join(names)}] : <{spec.name}>")
        self.lines.append("}")

    def _parallel_reduction(self, scope: Scope, inner: Scope, kind: str, header: str) -> None:
        name = self.memory.fresh("r")
        kinds = ("addf",) if is_float(kind) else ("addi", "maxs", "muli", "xori")
        reduction = choose(self.chooser, kinds)
        self.lines.append(f'{name} = {header} reduce ("{reduction}") -> ({kind}) {{')
        self.lines.append(f"affine.yield {self.code.value(inner, kind)} : {kind}")
        self.lines.append("}")
        scope.add(kind, name)
        self.code.store(scope, kind, name)
