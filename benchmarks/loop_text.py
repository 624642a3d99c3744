"""Affine text of loop nests that are written as Python statements.

    affine_text("gemm", "f32", "for i in range(n):\\n ...: C[i, j] += A[i, k] * B[k, j]")

Loops run over `range` of affine expressions; names that are neither loops nor arrays are sizes
where they are in a bound or subscript, else scalars. Values are made of `+ - * /`, `max`, `min`,
`exp`, `sqrt`, constants, and elements of arrays. Arguments are in the order of their first use:
sizes, scalars, arrays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_FLOATS = {
    ast.Add: "arith.addf",
    ast.Sub: "arith.subf",
    ast.Mult: "arith.mulf",
    ast.Div: "arith.divf",
    "max": "arith.maximumf",
    "min": "arith.minimumf",
    "exp": "math.exp",
    "sqrt": "math.sqrt",
}
_INTEGERS = {
    ast.Add: "arith.addi",
    ast.Sub: "arith.subi",
    ast.Mult: "arith.muli",
    "max": "arith.maxsi",
    "min": "arith.minsi",
}


def affine_text(name: str, element: str, source: str) -> str:
    """A module with one function of elements of a type (`f32`, `f64`, `i32`)."""
    return _Writer(element).function(name, ast.parse(source))


class _Writer:
    def __init__(self, element: str) -> None:
        self.element = element
        self.operations = _FLOATS if element.startswith("f") else _INTEGERS
        self.loops: list[str] = []
        self.sizes: dict[str, None] = {}
        self.scalars: dict[str, None] = {}
        self.arrays: dict[str, int] = {}
        self.constants: dict[str, str] = {}
        self.lines: list[str] = []
        self.count = 0

    def function(self, name: str, module: ast.Module) -> str:
        for statement in module.body:
            self.statement(statement)
        arguments = [f"%{size}: index" for size in self.sizes]
        arguments += [f"%{scalar}: {self.element}" for scalar in self.scalars]
        arguments += [f"%{array}: {self.kind(array)}" for array in self.arrays]
        constants = [
            f"  {value} = arith.constant {text} : {self.element}"
            for text, value in self.constants.items()
        ]
        head = f"func.func @{name}({', '.join(arguments)}) {{"
        return "\n".join((head, *constants, *self.lines, "  return", "}")) + "\n"

    def kind(self, array: str) -> str:
        return f"memref<{'?x' * self.arrays[array]}{self.element}>"

    def write(self, line: str) -> None:
        self.lines.append("  " * (len(self.loops) + 1) + line)

    def statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.For(target=ast.Name(loop), iter=ast.Call(args=bounds), body=body):
                low, high = bounds if len(bounds) == 2 else (ast.Constant(0), bounds[0])
                self.write(f"affine.for %{loop} = {self.bound(low)} to {self.bound(high)} {{")
                self.loops.append(loop)
                for inner in body:
                    self.statement(inner)
                self.loops.pop()
                self.write("}")
            case ast.Assign(targets=[ast.Subscript() as place], value=value):
                self.store(place, self.value(value))
            case ast.AugAssign(target=ast.Subscript() as place, op=operator, value=value):
                self.store(place, self.value(ast.BinOp(place, operator, value)))
            case _:
                raise ValueError(f"no statement of a loop nest: {ast.unparse(statement)}")

    def bound(self, bound: ast.expr) -> str:
        if isinstance(bound, ast.Constant):
            return str(bound.value)
        names = dict.fromkeys(self.names(bound))
        dims = [each for each in names if each in self.loops]
        symbols = [each for each in names if each not in self.loops]
        if isinstance(bound, ast.Name) and symbols:
            return f"%{bound.id}"
        text = ast.unparse(bound)
        lists = f"({', '.join(dims)})[{', '.join(symbols)}]"
        values = f"({', '.join(f'%{d}' for d in dims)})[{', '.join(f'%{s}' for s in symbols)}]"
        return f"affine_map<{lists} -> ({text})>{values}"

    def names(self, expression: ast.expr) -> Iterator[str]:
        """The names in an affine expression; those of no loop are sizes."""
        for node in ast.walk(expression):
            if isinstance(node, ast.Name):
                if node.id not in self.loops:
                    self.sizes.setdefault(node.id)
                yield node.id

    def place(self, place: ast.Subscript) -> str:
        assert isinstance(place.value, ast.Name)
        subscripts = place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
        self.arrays.setdefault(place.value.id, len(subscripts))
        texts: list[str] = []
        for subscript in subscripts:
            names = set(self.names(subscript))
            tree = ast.parse(ast.unparse(subscript), mode="eval")
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and node.id in names:
                    is_loop = node.id in self.loops
                    node.id = f"%{node.id}" if is_loop else f"symbol(%{node.id})"
            texts.append(ast.unparse(tree))
        return f"%{place.value.id}[{', '.join(texts)}] : {self.kind(place.value.id)}"

    def store(self, place: ast.Subscript, value: str) -> None:
        self.write(f"affine.store {value}, {self.place(place)}")

    def value(self, expression: ast.expr) -> str:
        match expression:
            case ast.Constant(value=number):
                text = repr(float(number)) if self.element.startswith("f") else str(int(number))
                return self.constants.setdefault(text, f"%c{len(self.constants)}")
            case ast.Name(scalar):
                self.scalars.setdefault(scalar)
                return f"%{scalar}"
            case ast.Subscript():
                return self.new(f"affine.load {self.place(expression)}")
            case ast.BinOp(left, operator, right):
                return self.operation(type(operator), left, right)
            case ast.Call(func=ast.Name(function), args=arguments):
                return self.operation(function, *arguments)
            case _:
                raise ValueError(f"no value: {ast.unparse(expression)}")

    def operation(self, kind: object, *operands: ast.expr) -> str:
        values = ", ".join([self.value(each) for each in operands])
        return self.new(f"{self.operations[kind]} {values} : {self.element}")

    def new(self, text: str) -> str:
        self.count += 1
        self.write(f"%v{self.count} = {text}")
        return f"%v{self.count}"
