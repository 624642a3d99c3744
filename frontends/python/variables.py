"""Local variables of a function: where each lives, and whether it is one SSA value."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .early_returns import NoValue
from .source import PythonSource
from .values import Kind

Statements = list[ast.stmt]


@dataclass(eq=False)
class Variable:
    """A local variable, or one of its independent uses.

    It lives in one block of statements; what another block does with the name is another variable.
    One that is assigned once, in its own block, is an SSA value; others are a memory cell. `kind`
    is that of the values so far, `settled` the one to begin with when all is printed again. A
    statement of its block that gives it a new value begins another variable: the `is_last` of them
    is what the function returns. One that `begins_without_value` gets its value in branches. Where
    `constants_read`, an expression has taken its values to be the constants so far.
    """

    name: str
    block: Statements
    assignments: int = 0
    updates: int = 0
    in_own_block: bool = True
    begins_in_own_block: bool = True
    is_last: bool = True
    begins_without_value: bool = False
    constants_read: bool = False
    kind: Kind | None = None
    settled: Kind | None = None
    cell: str = ""
    uses: list[ast.Name] = field(default_factory=list[ast.Name])

    @property
    def is_value(self) -> bool:
        """Whether it is one SSA value."""
        return self.may_be_array and not self.updates

    @property
    def may_be_array(self) -> bool:
        """Whether it is one array, if an array: `x += ...` then stores into it."""
        return self.assignments == 1 and self.in_own_block


def find_variables(function: ast.FunctionDef, source: PythonSource) -> dict[ast.Name, Variable]:
    """The variable that each name of a local variable means; raises SourceError."""
    names = {
        node.id: None
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(function):  # what cannot be assigned to is refused where that is done
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            names.pop(node.target.id, None)
        elif isinstance(node, ast.arg):
            names.pop(node.arg, None)
    found: dict[ast.Name, Variable] = {}
    updated: set[ast.expr] = {
        node.target for node in ast.walk(function) if isinstance(node, ast.AugAssign)
    }
    for name in names:
        for variable in _place(name, function.body, updated):
            found.update(dict.fromkeys(variable.uses, variable))
    _Assigned(set(names), source).block(function.body, set())
    return found


def _uses(name: str, node: ast.AST | Sequence[ast.AST]) -> Iterator[ast.Name]:
    for root in node if isinstance(node, Sequence) else (node,):
        for each in ast.walk(root):
            if isinstance(each, ast.Name) and each.id == name:
                yield each


def _blocks(statement: ast.stmt) -> list[Statements]:
    if isinstance(statement, ast.For | ast.If | ast.While):
        return [block for block in (statement.body, statement.orelse) if block]
    return []


def _assigns(name: str, statement: ast.stmt) -> bool:
    """Whether a statement always gives the variable a value before it reads it."""
    if isinstance(statement, ast.If):
        blocks = (statement.body, statement.orelse)
        return not any(_uses(name, statement.test)) and all(_starts(name, each) for each in blocks)
    if not isinstance(statement, ast.Assign) or any(_uses(name, statement.value)):
        return False
    stores = (use for target in statement.targets for use in _uses(name, target))
    return any(isinstance(use.ctx, ast.Store) for use in stores)


def _starts(name: str, block: Statements) -> bool:
    """Whether a block begins its use of the variable with an assignment."""
    first = next((statement for statement in block if any(_uses(name, statement))), None)
    return first is not None and _assigns(name, first)


def _independent(name: str, block: Statements) -> bool:
    """Whether a block does not depend on the value that the variable had before it."""
    using = [statement for statement in block if any(_uses(name, statement))]
    if not using or _assigns(name, using[0]):
        return True
    return all(_contained(name, statement) for statement in using)


def _contained(name: str, statement: ast.stmt) -> bool:
    """Whether each block of a compound statement has a variable of this name of its own."""
    blocks = _blocks(statement)
    within = sum(len(list(_uses(name, block))) for block in blocks)
    if not blocks or within < len(list(_uses(name, statement))):
        return False
    return all(_independent(name, block) for block in blocks)


def _place(name: str, block: Statements, updated: set[ast.expr]) -> Iterator[Variable]:
    using = [statement for statement in block if any(_uses(name, statement))]
    if using and all(_contained(name, statement) for statement in using):
        for statement in using:
            for inner in _blocks(statement):
                yield from _place(name, inner, updated)
    elif using:
        variable = Variable(name, block)
        for statement in using:
            target = _new_value(name, statement)
            read = list(_uses(name, statement))
            if target is not None and variable.uses:
                _use(variable, [use for use in read if use is not target], statement, updated)
                variable.is_last = False
                yield variable
                variable, read = Variable(name, block), [target]
            _use(variable, read, statement, updated)
        yield variable


def _new_value(name: str, statement: ast.stmt) -> ast.Name | None:
    """The target of a statement that gives the variable a new value, whatever it was."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    return target if isinstance(target, ast.Name) and target.id == name else None


def _use(
    variable: Variable, uses: list[ast.Name], statement: ast.stmt, updated: set[ast.expr]
) -> None:
    for use in uses:
        variable.uses.append(use)
        if use in updated:
            variable.updates += 1
        elif isinstance(use.ctx, ast.Store):
            value = statement.value if isinstance(statement, ast.Assign) else None
            variable.begins_without_value |= isinstance(value, NoValue)
            if not variable.assignments:
                variable.begins_in_own_block = isinstance(statement, ast.Assign)
            variable.assignments += 1
            variable.in_own_block &= isinstance(statement, ast.Assign)


class _Assigned:
    """Definite assignment: a variable has a value wherever it is read."""

    def __init__(self, names: set[str], source: PythonSource) -> None:
        self.names = names
        self.source = source

    def block(self, block: Statements, before: set[str]) -> set[str]:
        """The variables that have a value behind a block."""
        assigned = set(before)
        for statement in block:
            if isinstance(statement, ast.For):
                self.reads(statement.iter, assigned)
                self.block(statement.body, assigned)
            elif isinstance(statement, ast.While):
                self.reads(statement.test, assigned)
                self.block(statement.body, assigned)
            elif isinstance(statement, ast.If):
                self.reads(statement.test, assigned)
                one = self.block(statement.body, assigned)
                assigned = one & self.block(statement.orelse, assigned)
            else:
                self.reads(statement, assigned)
                if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
                    self.read(statement.target, assigned)
                for use in ast.walk(statement):
                    if isinstance(use, ast.Name) and isinstance(use.ctx, ast.Store):
                        assigned.add(use.id)
        return assigned

    def reads(self, node: ast.AST, assigned: set[str]) -> None:
        """Checks all variables that a piece reads."""
        for use in ast.walk(node):
            if isinstance(use, ast.Name) and isinstance(use.ctx, ast.Load):
                self.read(use, assigned)

    def read(self, use: ast.Name, assigned: set[str]) -> None:
        """Checks one use."""
        if use.id in self.names and use.id not in assigned:
            raise self.source.error(
                use,
                f"'{use.id}' may have no value here",
                "assign it before the loop or the condition that assigns it",
            )
