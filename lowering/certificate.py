"""Certificates: program and generated nest as text, for a checker that trusts neither.

The nest is written in the affine dialect, with some freedom in its expressions: each call is an
`instance` of a statement of the program, or a `copy`, followed by what it computes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import StringIO
from itertools import count

from xdsl.dialects.affine import StoreOp
from xdsl.dialects.memref import LoadOp
from xdsl.ir import Operation, SSAValue
from xdsl.printer import Printer

from ..dialects.errors import SourceError
from ..passes.polyhedral.scop import AccessKind, Parameter, Scop
from ..passes.schedules.program_edits import free_name
from ..passes.schedules.schedule import Schedule, dependences_of
from .generate import generate
from .loops.storage import Placement
from .nest.index_expression import (
    Choice,
    Comparison,
    Condition,
    Extremum,
    Index,
    Quotient,
    Variable,
    conjuncts,
    linear_form,
)
from .nest.nest import Block, Call, For, Guard, Nest, Once, TileSplit, walk
from .validation.correspondence import correspond
from .validation.generated import Generated
from .validation.validate import Validator
from .validation.verdict import NotKnownError

FORMAT, VERSION = "loopwright certificate", 2

_NAME = re.compile(r"%[\w$.-]+")


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
    lines = str(program.func).splitlines()
    try:
        if schedule.scop.base is not None:
            raise NotKnownError("it is of a program with other statements")
        if program.opaque_statements:
            raise NotKnownError("parts of the program are not affine")
        if any(isinstance(op, LoadOp) for op in program.func.walk()):
            raise NotKnownError("subscripts depend on data")
        if program.returns:
            raise NotKnownError("the function has results")
        if validator.verdict is not None and validator.verdict.reason is not None:
            raise NotKnownError(validator.verdict.reason)
        writer = _NestWriter(program, found[0], lines[0])
        nest = writer.lines()
    except NotKnownError as error:
        message = f"no certificate for '{schedule}': {error}"
        raise SourceError.at(program.func, message) from error
    stores: list[Operation] = [op for op in program.func.walk() if isinstance(op, StoreOp)]
    arguments = _argument_names(lines[0])
    return {
        "format": FORMAT,
        "version": VERSION,
        "function": program.name,
        "schedule": str(schedule),
        "fast_math": schedule.reassociate,
        "parameters": {p.name: _meaning(program, p, arguments) for p in program.parameters},
        "tile_sizes": writer.tile_sizes,
        "program": lines,
        "statements": {
            statement.name: [stores.index(write.op) for write in statement.writes]
            for statement in program.statements
        },
        "nest": nest,
        "facts": _facts(program),
    }


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


def _argument_names(head: str) -> list[str]:
    return re.findall(r"(%[\w$.-]+) ?:", re.sub(r'"[^"]*"', "", head))


def _meaning(program: Scop, parameter: Parameter, arguments: list[str]) -> str:
    name = arguments[parameter.argument]
    if parameter.dimension is not None:
        return f"memref.dim {name}, {parameter.dimension}"
    is_index = str(program.func.args[parameter.argument].type) == "index"
    return name if is_index else f"arith.index_cast {name}"


class _NestWriter:
    def __init__(self, program: Scop, generated: Generated, head: str) -> None:
        self.program = program
        self.generated = generated
        self.head = head
        found = correspond(program, generated.scop)
        factors = (factor for copy in found.copies.values() for factor in copy.factors)
        if any(factor.operation.name.startswith("arith.ext") for factor in factors):
            raise NotKnownError("bytes that are widened as they are packed are not certified")
        self.origins = found.origins
        self.added = {
            **dict.fromkeys(found.copies, "copy"),
            **dict.fromkeys(found.initialisations, "initialisation"),
            **dict.fromkeys(found.combinations, "combination"),
        }
        self.statements = {each.name: each for each in generated.scop.statements}
        self.arguments: dict[SSAValue, str] = dict(
            zip(program.func.args, _argument_names(head), strict=True)
        )
        self.names: dict[int, str] = {}
        self.tile_sizes: list[str] = []
        known = {parameter.name for parameter in program.parameters}
        for name, value in generated.parameters.items():
            own = name
            if name not in known:
                own = free_name("tile_" + name.split()[-1], {*known, *self.tile_sizes})
                self.tile_sizes.append(own)
            self.names |= dict.fromkeys(value.variables(), own)
        self.parameters = [generated.parameters[p.name] for p in generated.scop.parameters]
        self.given = {
            array.name: self.arguments[program.func.args[array.argument]]
            for array in generated.scop.arrays
            if array.argument is not None
        }
        self.allocated: dict[tuple[str, str], tuple[str, list[Index]]] = {}
        self.numbers = count()
        self.prefix = "_"
        while any(name.startswith(f"%{self.prefix}") for name in self.arguments.values()):
            self.prefix += "_"
        self.values: dict[str, Index] = {}

    def lines(self) -> list[str]:
        """The function, line by line."""
        nest = self.generated.nest
        body = (*self._allocations(None, nest), *self._lines(nest), "return")
        return [self.head, *(f"  {line}" for line in body), "}"]

    def _lines(self, nest: Nest) -> Iterator[str]:
        match nest:
            case Call():
                yield from self._call(nest)
            case Block(parts):
                for part in parts:
                    yield from self._lines(part)
            case Guard(condition, one, other) | TileSplit(condition, one, other):
                parts = conjuncts(condition)
                conditions = [condition] if parts is None else parts
                yield f"affine.if [{', '.join(map(self._condition, conditions))}] {{"
                yield from self._indented(one)
                if other != Block(()):
                    yield "} else {"
                    yield from self._indented(other)
                yield "}"
            case Once(loop, value, body):
                self.values[loop.name] = value
                yield from self._allocations(nest, body)
                yield from self._lines(body)
            case For():
                yield from self._for(nest)

    def _indented(self, nest: Nest) -> Iterator[str]:
        return (f"  {line}" for line in self._lines(nest))

    def _for(self, loop: For) -> Iterator[str]:
        own = Index.variable(loop.variable)
        self.values[loop.loop.name] = own if loop.value is None else loop.value
        lower, upper = (", ".join(map(self._index, each)) for each in (loop.lower, loop.upper))
        generated = self.generated
        independent = any(loop is other for other in generated.independent)
        size = None if loop.size is None else self._index(loop.size)
        marks = f" step {loop.step}" if size is None else f" tiles of {size}"
        if loop.loop.parallel or independent:
            marks += " parallel"
        elif any(loop is other for other in generated.vectors):
            marks += f" vector {loop.loop.vector}"
        yield f"affine.for {self._index(own)} = max [{lower}] to min [{upper}]{marks} {{"
        for line in (*self._allocations(loop, loop.body), *self._lines(loop.body)):
            yield f"  {line}"
        yield "}"

    def _allocations(self, home: For | Once | None, body: Nest) -> list[str]:
        loop = None if home is None else home.loop
        called = {part.statement for part in walk(body) if isinstance(part, Call)}
        return [
            self._allocation(placement)
            for placement in self.generated.placements
            if placement.last is loop and (loop is None or not called.isdisjoint(placement.users))
        ]

    def _allocation(self, placement: Placement) -> str:
        outer = [self.values[loop.name] for loop in placement.outer]
        array = placement.array
        name = self._new_name(array.name)
        offsets = [offset(outer) for offset in placement.offsets]
        self.allocated |= {(array.name, user): (name, offsets) for user in placement.users}
        sizes = ", ".join(map(self._index, placement.sizes))
        shape = "?x" * len(placement.sizes)
        return f"{name} = memref.alloca({sizes}) : memref<{shape}{array.element_type}>"

    def _call(self, call: Call) -> Iterator[str]:
        statement = self.statements[call.statement]
        arguments = dict(enumerate((*call.arguments, *self.parameters)))
        origin = self.origins.get(statement.name)
        if origin is None:
            yield f"instance {self.added[statement.name]}"
        else:
            yield f"instance {origin.name}[{', '.join(map(self._index, call.arguments))}]"
        accesses = {access.op: access for access in statement.accesses}
        names = dict(self.arguments)
        for value, expression in statement.indices.items():
            names[value] = self._new_name("c")
            index = linear_form(expression, len(statement.loops)).substitute(arguments)
            yield f"{names[value]} = affine.apply {self._index(index)}"
        for operation in statement.body:
            access = accesses.get(operation)
            for result in operation.results:
                names[result] = self._new_name("c")
            if access is None:
                yield _operation(operation, names)
                continue
            name = access.array.name
            found = self.allocated.get((name, statement.name))
            array, offsets = found or (self.given[name], [])
            dims = len(statement.loops)
            subscripts = [
                linear_form(each, dims).substitute(arguments) for each in access.map.results
            ]
            for position, offset in enumerate(offsets):
                subscripts[position] -= offset
            element = f"{array}[{', '.join(map(self._index, subscripts))}] : memref"
            if access.kind is AccessKind.READ:
                yield f"{names[operation.results[0]]} = affine.load {element}"
            else:
                yield f"affine.store {names[operation.operands[0]]}, {element}"

    def _new_name(self, stem: str) -> str:
        """A name that no argument and no loop variable has."""
        return f"%{self.prefix}{stem}{next(self.numbers)}"

    def _index(self, index: Index) -> str:
        terms = [(self._atom(atom), factor) for atom, factor in index.terms]
        text = " + ".join(a if factor == 1 else f"{factor} * {a}" for a, factor in terms)
        if not terms:
            return str(index.constant)
        return f"{text} + {index.constant}" if index.constant else text

    def _atom(self, atom: Variable | Quotient | Extremum | Choice) -> str:
        match atom:
            case Variable(number):
                return self.names.get(number, f"%{self.prefix}v{number}")
            case Quotient(numerator, divisor):
                return f"(({self._index(numerator)}) floordiv {divisor})"
            case Extremum(kind, operands):
                return f"{kind}({', '.join(map(self._index, operands))})"
            case Choice():
                raise NotKnownError("the nest has bounds or subscripts with conditions")

    def _condition(self, condition: Condition) -> str:
        if isinstance(condition, Comparison):
            return f"{self._index(condition.left)} {condition.kind} 0"
        word = " and " if condition.kind == "all" else " or "
        default = "0 >= 0" if condition.kind == "all" else "0 >= 1"
        return f"({word.join(map(self._condition, condition.operands)) or default})"


def _operation(operation: Operation, names: Mapping[SSAValue, str]) -> str:
    """The text of an operation with one result, with these names."""
    stream = StringIO()
    Printer(stream).print_op(operation)
    values = [*operation.results, *operation.operands]
    text = stream.getvalue()
    if len(operation.results) != 1 or len(_NAME.findall(text)) != len(values):
        raise NotKnownError(f"{operation.name} in a statement")
    given = iter(values)
    return _NAME.sub(lambda _: names[next(given)], text)
