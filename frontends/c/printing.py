"""Affine MLIR as C files with marked regions: what the C front end translates back."""

from __future__ import annotations

import re

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from ...lowering.c import emit_c
from ...lowering.c.names import function_name
from ...passes.polyhedral.identifiers import ArgumentNames
from ...passes.polyhedral.raising.narrow_floats import widen_narrow_floats
from ...passes.polyhedral.size_assumptions import refused_sizes


def print_c(op: func.FuncOp | ModuleOp) -> str:
    """The functions as C99, the body of each a region; raises SourceError for what C has not.

    Functions with results have no marks: the last statement of a region is no `return`. What a
    function takes for granted about its sizes is a comment.
    """
    op = op.clone()
    widen_narrow_floats(op)  # C may compute in more digits than _Float16 has
    text = "\n" + emit_c(op)
    functions = [op] if isinstance(op, func.FuncOp) else list(op.ops)
    for each in functions:
        if isinstance(each, func.FuncOp) and not each.is_declaration:
            text = _marked(text, each)
    return text.lstrip("\n")


def _marked(text: str, function: func.FuncOp) -> str:
    name = function_name(function.sym_name.data)
    definition = re.search(rf"^\w+ {name}\([^;{{]*\{{\n", text, re.MULTILINE)
    assert definition is not None, "the function is printed"
    end = text.index("\n}\n", definition.end() - 1)
    head, body = definition.group(), text[definition.end() : end + 1]
    if not function.function_type.outputs.data:
        body = f"#pragma scop\n{body}#pragma endscop\n"
    comment = "".join(f"/* '{name}' {each} */\n" for each in _assumptions(function))
    return f"{text[: definition.start()]}{comment}{head}{body}{text[end + 1 :]}"


def _assumptions(function: func.FuncOp) -> list[str]:
    names = ArgumentNames.of(function)
    sizes = [*names.arguments, *names.dimensions.values()]
    return [text.rpartition(",")[0] for text, _ in refused_sizes(function, sizes)]
