"""Printed C against the interpreter, on random programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.c_code import build, call_c, compilers
from support.differential import assert_same, describe, interpreted
from support.random_programs import seeded_program
from xdsl.dialects import func
from xdsl.dialects.builtin import StringAttr

from loopwright.dialects.parse import parse_module
from loopwright.lowering.c import emit_c

SIZES = (0, 1, 5)
PROGRAMS = 40


@pytest.mark.parametrize("compiler", compilers())
def test_c_does_what_the_program_says(tmp_path: Path, compiler: str) -> None:
    texts: list[str] = []
    kinds: list[func.FunctionType] = []
    for seed in range(PROGRAMS):
        module = parse_module(seeded_program(seed).text)
        (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
        function.properties["sym_name"] = StringAttr(f"f{seed}")
        texts.append(emit_c(module))
        kinds.append(function.function_type)
    flags = ("-ffp-contract=off", "-Wno-tautological-compare")
    library = build(compiler, texts, tmp_path, *flags)
    exact = 0
    for seed in range(PROGRAMS):
        program = seeded_program(seed)
        for number in SIZES:
            sizes = dict.fromkeys(program.sizes, number + 3)
            expected, is_exact = interpreted(program, sizes)
            if not is_exact:
                continue
            exact += 1
            arguments = program.make_arguments(sizes)
            result = call_c(library, f"f{seed}", kinds[seed], arguments)
            results = [] if result is None else [result]
            found = [*arguments, *(result if isinstance(result, tuple) else results)]
            assert_same(expected, found, texts[seed] + describe(program, sizes))
    assert exact > PROGRAMS, "most programs must be compared"
