# pyright: basic
"""Reads the two texts of a certificate: loops, arrays, accesses, values; for certificate.py."""

from __future__ import annotations

import ast
import re
from collections import namedtuple
from itertools import count

import islpy as isl

_SSA, _DIM = r"%[\w$.-]+", r"(\?|\d+) ?x"
_MAP = r"affine_(?:map|set)<\((.*?)\)(?:\[(.*?)\])? (?:->|:) \((.*)\)>\((.*?)\)(?:\[(.*?)\])?"
_FOR = r"affine\.for (%\S+) = (.*) to (.*?)(?: step (\d+)| tiles of (\w+))?"
_FOR += r"( parallel)?( vector \d+)? {"
_ELEMENT = rf"({_SSA})\[(.*?)\](?: {{.*}})? : (memref.*)"
_DIVISIONS = {"floordiv": "//", "ceildiv": "@", "mod": "%%"}  # As Python's parser reads them.
_INFIX = {ast.FloorDiv: "floor({0}/{1})", ast.MatMult: "(-floor((-{0})/{1}))"}
_INFIX |= {ast.Mod: "({0} - {1}*floor({0}/{1}))", ast.GtE: "({} >= {})", ast.Eq: "({} = {})"}
_INFIX |= {ast.Add: "({} + {})", ast.Sub: "({} - {})", ast.Mult: "({} * {})"}

# A value: operation `template` of `operands`; a load has an Access, an index its text.
Node = namedtuple("Node", "template operands access", defaults=((), None))
Access = namedtuple("Access", "is_write array subscripts time number")
Store = namedtuple("Store", "value access block instance")
Loop = namedtuple("Loop", "number depth bounds parallel vector size")
# What is around an operation: the time has positions in blocks and values of loops.
Block = namedtuple("Block", "names loops conditions time positions")


def require(condition, message):
    if not condition:
        raise ValueError(message)


def split(text):
    """The parts of a list between its commas, outside of brackets."""
    parts, depth = "", 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        parts += "\n" if letter == "," and depth == 0 else letter
    return [part.strip() for part in parts.split("\n") if part.strip()]


def affine(text, names):
    """An affine expression or comparison in isl's syntax; `names` are the names it may use."""
    for word, symbol in _DIVISIONS.items():
        text = re.sub(rf"(?<=[\s)]){word}(?=[\s(])", symbol, text)
    text = re.sub(_SSA, lambda name: f"_{name[0].encode().hex()}", text.replace("symbol(", "("))
    return _isl(ast.parse(text.replace("%%", "%"), "", "eval").body, names)


def _isl(node, names):
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return str(value)
        case ast.Name(name):
            value = names.get(bytes.fromhex(name[1:]).decode() if name[0] == "_" else name)
            if isinstance(value, str):
                return value
        case ast.UnaryOp(ast.USub(), operand):
            value = _isl(operand, names)
            return f"-{value}" if value.isdigit() else f"(-{value})"
        case ast.BinOp(left, sign, right) | ast.Compare(left, [sign], [right]):
            own, other = _isl(left, names), _isl(right, names)
            is_known = "floor" not in _INFIX[type(sign)] or re.fullmatch(r"[1-9]\d*", other)
            require(is_known, f"not affine: {ast.unparse(node)}")
            return _INFIX[type(sign)].format(own, other)
        case ast.Call(ast.Name("max" | "min" as name), values, []) if len(values) > 1:
            return f"{name}({', '.join(_isl(each, names) for each in values)})"
        case ast.BoolOp(sign, values):
            symbol = " and " if isinstance(sign, ast.And) else " or "
            return f"({symbol.join(_isl(each, names) for each in values)})"
    raise ValueError(f"not affine: {ast.unparse(node)}")


def affines(text, names):
    """The results of `affine_map<...>(%i)[%n]`, of `%n` or `[%a, %b + 1]`, in isl's syntax."""
    if (found := re.fullmatch(_MAP, text)) is None:
        return [affine(each, names) for each in split(text.removeprefix("[").removesuffix("]"))]
    dims, symbols, results, values, others = (split(each or "") for each in found.groups())
    require(len(dims) == len(values) and len(symbols) == len(others), f"operands of {text}")
    given = [affine(each, names) for each in values + others]
    return [affine(each, dict(zip(dims + symbols, given, strict=True))) for each in results]


class Text:
    """A function in affine text, the program or the nest: its arrays, stores and stored values."""

    def __init__(self, lines, parameters, sizes, prefix):
        self.parameters = {meaning: f"p{k}" for k, meaning in enumerate(parameters.values())}
        self.sizes = {name: f"t{k}" for k, name in enumerate(sizes)}
        self.space = f"[{', '.join([*self.parameters.values(), *self.sizes.values()])}]"
        self.prefix, self.arrays, self.extents, self.elements = prefix, {}, {}, {}
        self.types = {}
        self.conditions = ["1=1", *(f"{size} >= 1" for size in self.sizes.values())]
        self.stores, self.numbers, self.width = [], count(), 1
        head = re.sub(r"\) attributes {.*} {$", ") {", re.sub('"[^"]*"', '"', lines[0]))
        (arguments,) = re.findall(r'^func\.func @(?:[\w$.-]+|")\((.*)\) {$', head)
        names: dict = dict(zip(parameters, self.parameters.values(), strict=True))
        names |= self.sizes if prefix == "n" else {}
        for name, kind in re.findall(rf"({_SSA}) ?: ([^%]*)", arguments):
            names[name] = self.parameters.get(kind.startswith("index") and name, Node(name))
            if kind.startswith("memref<"):
                names[name] = self._array("a", name, kind, 0)
        self.blocks, self.instance = [Block(names, (), (), (), count())], (-1, None, [])
        for line in lines[1:-1]:
            self._line(line.strip())
        require(len(self.blocks) == 1 and lines[-1].strip() == "}", "unbalanced braces")
        self.context = isl.Set(f"{self.space} -> {{ : {' and '.join(self.conditions)} }}")

    def _array(self, prefix, name, kind, depth):
        key = f"{prefix}{len(self.arrays)}_" + re.sub(r"\W", "", name)
        self.arrays[key] = len(re.findall(_DIM, kind)) + depth
        self.types[key] = kind
        self.elements[key] = re.findall(r"\w+", re.sub(_DIM, "", kind.split(",")[0]))[-1]
        return (key, depth)

    def _open(self, around, time, conditions, names=(), loops=()):
        conditions, loops = (*around.conditions, *conditions), (*around.loops, *loops)
        self.blocks.append(Block({**around.names, **dict(names)}, loops, conditions, time, count()))

    def _line(self, line):
        block = self.blocks[-1]
        names = block.names
        if line in ("}", "} else {"):
            self.blocks.pop()
            if line != "}":
                around, condition = self.blocks[-1], block.conditions[-1]
                is_branch = block.loops == around.loops and not condition.startswith("not")
                require(is_branch, "else of no affine.if")
                self._open(around, block.time, [f"not {condition}"])
            return
        time = (*block.time, str(next(block.positions)))
        self.width = max(self.width, len(time))
        if found := re.fullmatch(_FOR, line):
            self._loop(block, time, *found.groups())
        elif found := re.fullmatch(r"affine\.if (.*) {", line):
            self._open(block, time, [f"({' and '.join(affines(found[1], names))})"])
        elif found := re.fullmatch(rf"affine\.store ({_SSA}), {_ELEMENT}", line):
            value, *place = found.groups()
            access = self._access(block, time, *place, is_write=True)
            self.stores.append(Store(self._operand(names, value), access, block, self.instance))
        elif found := re.fullmatch(r"instance (?:(\w+)\[(.*)\]|\w+)", line):
            self.instance = next(self.numbers), found[1], affines(found[2] or "", names)
        elif found := re.fullmatch(rf"({_SSA}) = (.*)", line):
            require(found[1] not in names, f"{found[1]} is defined twice")
            names[found[1]] = self._value(block, time, *found.groups())
        else:
            require(re.match("(func.)?return$|memref.dealloc ", line), f"not in the subset: {line}")

    def _loop(self, block, time, variable, low, high, step, size, parallel, vector):
        own = f"i{len(block.loops)}"
        require(variable not in block.names, f"{variable} is defined twice")
        lower = affines(low.removeprefix("max "), block.names)
        upper = affines(high.removeprefix("min "), block.names)
        size = size and self.sizes[size]  # Tiles that end behind the lower bound.
        last = f"{own} + {size} - 1" if size else own
        conditions = [f"({last} >= {each})" for each in lower] + [f"({own} < {e})" for e in upper]
        first = f"max({', '.join(lower)})" if len(lower) > 1 else lower[0]
        conditions += [] if step in (None, "1") else [f"(({own} - {first}) mod {step} = 0)"]
        loop = Loop(next(self.numbers), len(time), " ".join(lower + upper), parallel, vector, size)
        self._open(block, (*time, own), conditions, {variable: own}, [loop])

    def _access(self, block, time, memref, subscripts, kind, *, is_write):
        require(isinstance(block.names.get(memref), tuple), f"{memref} is no array")
        name, depth = block.names[memref]
        is_same = kind.endswith(">") and self.types[name].startswith(kind)
        require(is_same or (kind, self.prefix) == ("memref", "n"), f"{memref} is no {kind}")
        own = [f"i{k}" for k in range(depth)]
        own += [affine(each, block.names) for each in split(subscripts)]
        require(len(own) == self.arrays[name], f"subscripts of {memref}")
        return Access(is_write, name, own, [*time], next(self.numbers))

    def _operand(self, names, name):
        value = names.get(name)
        return value if isinstance(value, Node) else Node("index", (), affine(name, names))

    def _value(self, block, time, name, text):
        names = block.names
        if found := re.fullmatch(rf"affine\.load {_ELEMENT}", text):
            return Node("load", (), self._access(block, time, *found.groups(), is_write=False))
        if found := re.fullmatch(r"memref\.alloca?\((.*)\)(?: {.*})? : (memref<.*>)", text):
            shape, given = re.findall(_DIM, found[2]), iter(split(found[1]))
            key, depth = array = self._array(self.prefix, name, found[2], len(block.loops))
            sizes = [affine(next(given) if e == "?" else e, names) for e in shape]
            inside = ["1=1", *(f"0 <= i{k} < {size}" for k, size in enumerate(sizes, depth))]
            dims = ", ".join(f"i{k}" for k in range(self.arrays[key]))
            box = f"{self.space} -> {{ {key}[{dims}] : {' and '.join(inside)} }}"
            self.extents[key] = isl.UnionSet(box)
            return array
        if found := re.fullmatch(rf"memref\.dim ({_SSA}), ({_SSA}) : .*", text):
            meaning = f"memref.dim {found[1]}, {names[found[2]]}"
            self.conditions += [f"{self.parameters.get(meaning, 0)} >= 0"]
            return self.parameters.get(meaning, Node(meaning))
        if found := re.fullmatch(rf"(arith\.index_cast ({_SSA})) : i\d+ to index", text):
            require(names.get(found[2]) is self.blocks[0].names.get(found[2]), "a computed index")
            return self.parameters.get(found[1], Node(found[1]))
        if found := re.fullmatch(r"(?:arith\.constant (.*) : index|affine\.apply (.*))", text):
            return affines(found[1] or found[2], names)[0]
        require(re.match(r"(arith|math)\.[^{]*$", text), f"not in the subset: {text}")
        operands = (self._operand(names, each) for each in re.findall(_SSA, text))
        return _extremum(Node(re.sub(_SSA, "{}", text), (*operands,)))


def _extremum(node):
    """A selection of one of two numbers by comparison of these, as one operation on both."""
    if not node.template.startswith("arith.select "):
        return node
    compared, *selected = node.operands
    found = re.match(r"arith\.cmpf [ou]([gl])[te], ", compared.template)
    if not found or {*map(id, compared.operands)} != {*map(id, selected)}:
        return node
    is_first = selected[0] is compared.operands[0]
    kind = "arith.cmpmaxf" if (found[1] == "g") == is_first else "arith.cmpminf"
    # All that both operations say is kept.
    text = f"{compared.template.split()[1]} {is_first}{compared.template.partition('{}, {}')[2]}"
    return Node(f"{kind} {text}", compared.operands)
