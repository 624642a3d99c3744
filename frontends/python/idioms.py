"""What Python programs are written with, in terms of the smaller language that is translated."""

from __future__ import annotations

import ast

from .captured import Captured
from .comprehensions import Comprehensions
from .constant_lists import ConstantLists
from .data_steps import DataSteps
from .early_returns import EarlyReturns
from .formulas import Formulas
from .jumps import Jumps
from .local_functions import lift
from .loop_forms import LoopForms
from .memberships import Memberships
from .named_values import NamedValues
from .rotations import Rotations
from .source import PythonSource
from .tables import Tables
from .truth_variables import TruthVariables


def rewrite(definition: ast.FunctionDef, source: PythonSource, captured: Captured) -> None:
    """Replaces nested functions, generators, jumps, loops over sequences, rotations, formulas.

    And lists, memberships, truth values, and new values of arguments, which get their own names.

    Raises SourceError.
    """
    lift(definition, source, captured)
    taken = local_names(definition)
    captured.hidden = taken
    NamedValues().visit(definition)
    ConstantLists(captured).visit(definition)
    Comprehensions(captured, taken, source).visit(definition)
    DataSteps(definition, captured, taken).visit(definition)
    EarlyReturns(definition, taken, source).rewrite()
    # The bodies of loops over constants are repeated: none has a jump of a loop around it then.
    Jumps(captured, taken, source, definition).visit(definition)
    LoopForms(captured, taken, source).visit(definition)
    Rotations(definition, taken, source).rewrite()
    Tables(definition).visit(definition)
    Formulas(captured).visit(definition)
    Memberships(captured).visit(definition)
    TruthVariables(definition).visit(definition)
    for each in (*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs):
        _reassigned(each.arg, definition, taken)


def local_names(definition: ast.FunctionDef) -> set[str]:
    """The names that mean something inside of the function alone."""
    return {
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(definition)
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    }


def _reassigned(name: str, definition: ast.FunctionDef, taken: set[str]) -> None:
    """Gives an argument another name from the statement on that gives it a new value."""
    for position, statement in enumerate(definition.body):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or target.id != name:
            continue
        new, number = name, 0
        while new in taken:
            number += 1
            new = f"{name}_{number}"
        taken.add(new)
        for later in (target, *definition.body[position + 1 :]):
            for each in ast.walk(later):
                if isinstance(each, ast.Name) and each.id == name:
                    each.id = new
        return
