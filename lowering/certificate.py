"""Certificates: program and generated nest as text, for a checker that trusts neither.

Both are written in one language of loops, conditions, arrays, and statements whose expressions are
isl's: `docs/reference/certificates.md`. What a statement computes follows its instance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, product

from xdsl.dialects.memref import LoadOp
from xdsl.ir import Block as IRBlock
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ..dialects.errors import SourceError
from ..passes.polyhedral.memrefs import as_memref
from ..passes.polyhedral.raising.access_contexts import analyse
from ..passes.polyhedral.scop import AccessKind, Array, Parameter, Scop, Statement
from ..passes.schedules.program_edits import free_name
from ..passes.schedules.schedule import Schedule, dependences_of
from .generate import generate
from .nest.index_expression import (
    Choice,
    Comparison,
    Condition,
    Extremum,
    Index,
    Quotient,
    Variable,
    linear_form,
    maximum,
)
from .nest.nest import Block, Call, For, Guard, Nest, Once, TileSplit, walk
from .validation.base_statements import BaseStatements
from .validation.correspondence import correspond
from .validation.generated import Generated
from .validation.operation_text import operation_text
from .validation.validate import Validator
from .validation.verdict import NotKnownError

FORMAT, VERSION = "loopwright certificate", 4

# Names that need no change: loops are called i0, i1 ..., and values c0, c1 ...
_NAME = re.compile(r"(?![ic]\d+$)[A-Za-z]\w*")
_WORDS = ("floor", "ceil", "max", "min", "mod", "and", "or", "not")

_Case = tuple[tuple[str, ...], str]
"""Conditions, and an expression where they hold."""

# An array and subscripts -> the name in a text, and the subscripts there.
_Place = Callable[[Array, list[Index]], tuple[str, list[Index]]]


def certificate(schedule: Schedule) -> dict[str, object]:
    """The certificate of a schedule, for all sizes, as JSON has it.

    Raises SourceError where there is none for what the schedule does, and ValidationError where the
    nest is not the program.
    """
    found: list[Generated] = []
    validator = Validator(schedule)
    generate(schedule, {}, inspect=found.append)
    validator(replace(found[0], rewritings=()))  # a certificate says nothing of registers
    program = schedule.program
    try:
        _check_form(program)
        if validator.verdict is not None and validator.verdict.reason is not None:
            raise NotKnownError(validator.verdict.reason)
        names = _Names(program, found[0].parameters)
        base = BaseStatements(program, schedule.scop.base or program)
        nest = [*_NestWriter(base, found[0], names).lines()]
        writer = _ProgramWriter(program, names)
    except NotKnownError as error:
        name = f"'{schedule}'" if schedule.transformations else "the program as written"
        message = f"no certificate for {name}: {error}"
        raise SourceError.at(program.func, message) from error
    return {
        "format": FORMAT,
        "version": VERSION,
        "function": program.name,
        "schedule": str(schedule),
        "fast_math": schedule.reassociate,
        "parameters": {
            names.own[each.name]: _meaning(program, each) for each in program.parameters
        },
        "tile_sizes": list(names.tile_sizes.values()),
        "scalars": list(names.scalars.values()),
        "arrays": {
            names.index: ["index", 1],
            **{
                names.own[array.name]: [str(array.element_type), len(array.shape)]
                for array in program.arrays
                if array.argument is not None
            },
        },
        "program": [*writer.lines(program.func.body.block)],
        "same": {
            names.own[name]: writer.instance(subscripts) for name, subscripts in base.same.items()
        },
        "nest": nest,
        "source": str(program.func).splitlines(),
        "facts": _facts(program),
    }


def _check_form(program: Scop) -> None:
    is_gathering = any(isinstance(op, LoadOp) for op in program.func.walk())
    for is_unknown, reason in (
        (program.opaque_statements, "parts of the program are not affine"),
        (is_gathering, "subscripts depend on data"),
        (program.returns, "the function has results"),
    ):
        if is_unknown:
            raise NotKnownError(reason)


def _facts(program: Scop) -> dict[str, object]:
    """What the compiler's own proof was of, in isl's notation: for readers, not for the checker."""
    return {
        "domains": {statement.name: str(statement.domain) for statement in program.statements},
        "accesses": {
            statement.name: [f"{a.kind.value} {a.relation}" for a in statement.accesses]
            for statement in program.statements
        },
        "dependences": [
            f"{item.kind.value}{' (reduction)' if item.reduction else ''} {item.relation}"
            for item in dependences_of(program)
        ],
    }


def _meaning(program: Scop, parameter: Parameter) -> str:
    """What gives a parameter its value."""
    argument = program.func.args[parameter.argument]
    name = f"%{argument.name_hint or parameter.argument}"
    if parameter.dimension is not None:
        return f"memref.dim {name}, {parameter.dimension}"
    return name if str(argument.type) == "index" else f"arith.index_cast {name}"


class _Names:
    """Names in both texts of parameters, arrays and statements, by those in the program.

    An index that is a value is loaded from the array `index` of all numbers.
    """

    def __init__(self, program: Scop, parameters: Mapping[str, Index]) -> None:
        self.taken: set[str] = set(_WORDS)
        known = (*program.parameters, *program.arrays, *program.statements)
        self.own = {each.name: self.new(each.name) for each in known}
        self.index = self.new("index")
        self.tile_sizes = {
            name: self.new("tile_" + name.split()[-1])
            for name in parameters
            if name not in self.own
        }
        self.variables = {
            number: self.own.get(name) or self.tile_sizes[name]
            for name, value in parameters.items()
            for number in value.variables()
        }
        self.scalars: dict[SSAValue, str] = {
            value: f"%{self.new(value.name_hint or 'a')}"
            for value in program.func.args
            if as_memref(value) is None and str(value.type) != "index"
        }

    def new(self, name: str) -> str:
        """A name that no parameter, array, statement or loop has, and no word of isl's."""
        base = name if _NAME.fullmatch(name) else "x" + re.sub(r"\W", "_", name)
        own = free_name(base, self.taken)
        self.taken.add(own)
        return own


class _Writer:
    """Expressions and statements, which both texts write in the same way.

    `parameters` and `variables` say what the parameters are, and how variables are called.
    """

    def __init__(
        self, names: _Names, parameters: Sequence[Index], variables: Mapping[int, str]
    ) -> None:
        self.names = names
        self.parameters = parameters
        self.variables: dict[int, str] = dict(variables)

    def statement(
        self, statement: Statement, arguments: Sequence[Index], place: _Place
    ) -> Iterator[str]:
        """What an instance of a statement loads, computes and stores."""
        known = dict(enumerate((*arguments, *self.parameters)))
        accesses = {access.op: access for access in statement.accesses}
        values = dict(self.names.scalars)
        numbers = count()

        def linear(expression: AffineExpr) -> Index:
            return linear_form(expression, len(statement.loops)).substitute(known)

        for operation in statement.body:
            for operand in operation.operands:
                if operand not in values and operand in statement.indices:
                    values[operand] = f"%c{next(numbers)}"
                    index = self.index(linear(statement.indices[operand]))
                    yield f"{values[operand]} = load {self.names.index}[{index}] : index"
            for result in operation.results:
                values[result] = f"%c{next(numbers)}"
            access = accesses.get(operation)
            if access is None:
                yield operation_text(operation, values)
                continue
            name, subscripts = place(access.array, [linear(each) for each in access.map.results])
            subscript = ", ".join(map(self.index, subscripts))
            element = f"{name}[{subscript}] : {access.array.element_type}"
            if access.kind is AccessKind.READ:
                yield f"{values[operation.results[0]]} = load {element}"
            else:
                yield f"store {values[operation.operands[0]]}, {element}"

    def index(self, index: Index) -> str:
        """An affine expression."""
        (_, text), *others = self._cases(index)
        if others:
            raise NotKnownError("the nest has subscripts with conditions")
        return text

    def where(self, relation: str, index: Index) -> str:
        """A relation of an expression; of one with choices, in each case that of what is chosen."""
        cases = [
            " and ".join([*conditions, relation.format(text)])
            for conditions, text in self._cases(index)
        ]
        return cases[0] if len(cases) == 1 else f"({' or '.join(cases)})"

    def _cases(self, index: Index) -> list[_Case]:
        """Conditions, and the expression without choices where they hold."""
        factors = [factor for _, factor in index.terms]
        last = [str(index.constant)] if index.constant or not factors else []
        cases: list[_Case] = []
        for conditions, atoms in _combined(self._atom(atom) for atom, _ in index.terms):
            terms = [
                atom if factor == 1 else f"{factor} * {atom}"
                for atom, factor in zip(atoms, factors, strict=True)
            ]
            cases.append((conditions, " + ".join([*terms, *last])))
        return cases

    def _atom(self, atom: Variable | Quotient | Extremum | Choice) -> list[_Case]:
        match atom:
            case Variable(number):
                return [((), self.variables[number])]
            case Quotient(numerator, divisor):
                return [
                    (when, f"floor(({text})/{divisor})") for when, text in self._cases(numerator)
                ]
            case Extremum(kind, operands):
                found = _combined(map(self._cases, operands))
                return [(when, f"{kind}({', '.join(texts)})") for when, texts in found]
            case Choice(condition, then, otherwise):
                holds = f"({self.condition(condition)})"
                chosen = (holds, then), (f"not {holds}", otherwise)
                return [
                    ((one, *when), f"({text})")
                    for one, index in chosen
                    for when, text in self._cases(index)
                ]

    def condition(self, condition: Condition) -> str:
        """A condition on affine expressions."""
        if isinstance(condition, Comparison):
            return self.where(f"{{}} {condition.kind.replace('==', '=')} 0", condition.left)
        word = " and " if condition.kind == "all" else " or "
        default = "0 >= 0" if condition.kind == "all" else "0 >= 1"
        return f"({word.join(map(self.condition, condition.operands)) or default})"

    def box(self, depth: int, sizes: Iterable[Index]) -> str:
        """The elements of an array in `depth` loops."""
        bounds = (self.where(f"0 <= i{k} < {{}}", size) for k, size in enumerate(sizes, depth))
        return " and ".join(bounds) or "1 = 1"


def _combined(parts: Iterable[list[_Case]]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """All cases of several expressions at once."""
    for chosen in product(*parts):
        conditions = chain.from_iterable(when for when, _ in chosen)
        yield tuple(conditions), [text for _, text in chosen]


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


class _ProgramWriter(_Writer):
    """The program, as its loops are written."""

    def __init__(self, program: Scop, names: _Names) -> None:
        numbers = [-1 - k for k, _ in enumerate(program.parameters)]
        parameters = [Index.variable(number) for number in numbers]
        self.parameter_names = {each.name: names.own[each.name] for each in program.parameters}
        own = self.parameter_names.values()
        self.extents = dict(zip(self.parameter_names, parameters, strict=True))
        super().__init__(names, parameters, dict(zip(numbers, own, strict=True)))
        self.nests = analyse(program.func)
        self.arrays = {array.value: array for array in program.arrays if array.argument is None}
        self.statements = {each.writes[0].op: each for each in program.statements}

    def lines(self, block: IRBlock) -> Iterator[str]:
        """The text of a block."""
        around = self.nests.around[block]
        depth = len(around.loops)
        self.variables[depth] = f"i{depth}"
        for operation in block.ops:
            for array in (self.arrays[each] for each in operation.results if each in self.arrays):
                sizes = [self._size(array, k) for k in range(depth, len(array.shape))]
                rank = f"{array.element_type} {len(sizes)}"
                yield f"array {self.names.own[array.name]} {rank} : {self.box(depth, sizes)}"
            if (statement := self.statements.get(operation)) is not None:
                dims = [Index.variable(k) for k in range(depth)]
                yield f"run {self.names.own[statement.name]}"
                yield from self.statement(statement, dims, self._place)
            for inner in (region.block for region in operation.regions if region.blocks):
                found = self.nests.around[inner]
                text = " and ".join(found.constraints[len(around.constraints) :])
                kind = "for" if len(found.loops) > depth else "if"
                yield f"{kind} : {self._renamed(text, found.names)}"
                yield from _indented(self.lines(inner))

    def instance(self, subscripts: Sequence[AffineExpr]) -> str:
        """An instance of a statement, by the induction variables of another one."""
        count = len(subscripts)
        self.variables |= {k: f"i{k}" for k in range(count)}
        known = dict(enumerate([*map(Index.variable, range(count)), *self.parameters]))
        return ", ".join(
            self.index(linear_form(each, count).substitute(known)) for each in subscripts
        )

    def _renamed(self, text: str, loops: Sequence[str]) -> str:
        """A condition with the names that loops and parameters have here."""
        names = {loop: f"i{depth}" for depth, loop in enumerate(loops)} | self.parameter_names
        return re.sub(r"[A-Za-z_]\w*", lambda word: names.get(word[0], word[0]), text)

    def _size(self, array: Array, position: int) -> Index:
        size = array.shape[position]
        if isinstance(size, AffineExpr):
            return linear_form(size, 0).substitute(dict(enumerate(self.parameters)))
        assert size is not None
        return self.extents[size] if isinstance(size, str) else Index(size)

    def _place(self, array: Array, subscripts: list[Index]) -> tuple[str, list[Index]]:
        """Arrays that are allocated in loops have no subscripts for these."""
        return self.names.own[array.name], subscripts[array.scope_depth :]


class _NestWriter(_Writer):
    """The loops that are generated."""

    def __init__(self, base: BaseStatements, generated: Generated, names: _Names) -> None:
        parameters = [generated.parameters[p.name] for p in generated.scop.parameters]
        super().__init__(names, parameters, names.variables)
        self.generated = generated
        found = correspond(base.scop, generated.scop)
        self.origins = {
            name: base.origins[each.name]
            for name, each in found.origins.items()
            if each.name in base.origins
        }
        self.added = {
            **dict.fromkeys({*found.copies, *found.origins}, "copy"),
            **dict.fromkeys(found.initialisations, "initialisation"),
            **dict.fromkeys(found.combinations, "combination"),
        }
        self.statements = {each.name: each for each in generated.scop.statements}
        self.given = {
            array.argument: names.own[array.name]
            for array in base.program.arrays
            if array.argument is not None
        }
        self.allocated: dict[tuple[str, str], tuple[str, list[Index]]] = {}
        self.values: dict[str, Index] = {}

    def lines(self) -> Iterator[str]:
        """The text of the nest."""
        nest = self.generated.nest
        yield from self._allocations(0, None, nest)
        yield from self._lines(0, nest)

    def _lines(self, depth: int, nest: Nest) -> Iterator[str]:
        match nest:
            case Call():
                yield from self._call(nest)
            case Block(parts):
                for part in parts:
                    yield from self._lines(depth, part)
            case Guard(condition, one, other) | TileSplit(condition, one, other):
                text = self.condition(condition)
                for each, sign in ((one, "if :"), (other, "if : not")):
                    if each != Block(()):
                        yield f"{sign} ({text})"
                        yield from _indented(self._lines(depth, each))
            case Once(loop, value, body):
                self.values[loop.name] = value
                yield from self._allocations(depth, nest, body)
                yield from self._lines(depth, body)
            case For():
                yield self._head(depth, nest)
                yield from _indented(self._allocations(depth + 1, nest, nest.body))
                yield from _indented(self._lines(depth + 1, nest.body))

    def _head(self, depth: int, loop: For) -> str:
        own = f"i{depth}"
        self.variables[loop.variable] = own
        value = loop.value
        self.values[loop.loop.name] = Index.variable(loop.variable) if value is None else value
        last, marks = own, ""
        if loop.size is not None:
            last, marks = (
                f"{own} + {self.index(loop.size)} - 1",
                f" tiles of {self.index(loop.size)}",
            )
        conditions = [self.where(f"{last} >= {{}}", each) for each in loop.lower]
        conditions += [self.where(f"{own} < {{}}", each) for each in loop.upper]
        if loop.step != 1 and loop.size is None:
            first = maximum(loop.lower)
            conditions.append(self.where(f"({own} - ({{}})) mod {loop.step} = 0", first))
        generated = self.generated
        if loop.loop.parallel or any(loop is other for other in generated.independent):
            marks += " parallel"
        elif any(loop is other for other in generated.vectors):
            marks += " vector"
        return f"for{marks} : {' and '.join(conditions)}"

    def _allocations(self, depth: int, home: For | Once | None, body: Nest) -> Iterator[str]:
        loop = None if home is None else home.loop
        called = {part.statement for part in walk(body) if isinstance(part, Call)}
        for placement in self.generated.placements:
            if placement.last is loop and (loop is None or not called.isdisjoint(placement.users)):
                outer = [self.values[loop.name] for loop in placement.outer]
                name = self.names.new(placement.array.name)
                offsets = [offset(outer) for offset in placement.offsets]
                users = ((placement.array.name, user) for user in placement.users)
                box = self.box(depth, placement.sizes)
                if any(len(self._cases(each)) > 1 for each in offsets):
                    box = self._moved_box(depth, offsets, placement.sizes)
                    offsets = [Index(0) for _ in offsets]
                self.allocated |= dict.fromkeys(users, (name, offsets))
                rank = f"{placement.array.element_type} {len(placement.sizes)}"
                yield f"array {name} {rank} : {box}"

    def _moved_box(self, depth: int, offsets: Sequence[Index], sizes: Sequence[Index]) -> str:
        """The elements of an array with the subscripts of what it holds."""
        conditions: list[str] = []
        for number, (first, size) in enumerate(zip(offsets, sizes, strict=True)):
            self.variables[-1 - number] = f"i{depth + number}"
            inside = Index.variable(-1 - number) - first
            conditions += [self.where("{} >= 0", inside), self.where("{} > 0", size - inside)]
        return " and ".join(conditions)

    def _call(self, call: Call) -> Iterator[str]:
        statement = self.statements[call.statement]
        origin = self.origins.get(statement.name)
        if origin is None:
            yield f"run {self.added[statement.name]}"
        else:
            name, subscripts = origin
            known = dict(enumerate((*call.arguments, *self.parameters)))
            depth = len(call.arguments)
            values = [linear_form(each, depth).substitute(known) for each in subscripts]
            yield f"run {self.names.own[name]}[{', '.join(map(self.index, values))}]"

        def place(array: Array, subscripts: list[Index]) -> tuple[str, list[Index]]:
            if array.argument is not None:
                return self.given[array.argument], subscripts
            name, offsets = self.allocated[array.name, statement.name]
            return name, [a - b for a, b in zip(subscripts, offsets, strict=True)]

        yield from self.statement(statement, call.arguments, place)
