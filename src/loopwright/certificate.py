"""Checks a certificate of `loopwright schedule --certificate`: is the loop nest the program?

Run it as `loopwright-check FILE`, `python -m loopwright.certificate FILE`, or as a file of its own:
it needs Python and islpy alone, and uses nothing of the compiler that wrote the certificate. It
reads the program's text itself, computes all dependences anew, and proves with isl, for all sizes:

- every instance of every statement runs exactly once, and computes what the program computes;
- all accesses to an element of which one is a write keep their order, apart from the steps of
  reductions that may be reordered; or, where a buffer or a copy comes in, every read sees the value
  of the same last write as in the program, through all copies, and so do arguments at the end;
- no parallel or vector loop carries a dependence; local arrays are accessed inside their extents.

Exit code 0: accepted; 1: rejected, with the reason. docs/reference/file-formats.md has the format.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from functools import reduce
from itertools import product

import islpy as isl

FORMAT, VERSION = "loopwright certificate", 1
OPERATIONS = 200_000_000  # of isl, for the whole check: a minute or so
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_SSA = r"%[\w$.-]+"
# Operation -> what it accumulates, and through which operands; exact: in any order.
_STEPS = {"arith.addf": ("addf", 0, 1), "arith.subf": ("addf", 0), "math.fma": ("addf", 2)}
_STEPS |= {"arith.mulf": ("mulf", 0, 1), "arith.addi": ("addi", 0, 1), "arith.subi": ("addi", 0)}
_EXACT = ("maximumf", "minimumf", "maxsi", "maxui", "minsi", "minui", "muli", "andi", "ori", "xori")
_STEPS |= {f"arith.{name}": (name, 0, 1) for name in (*_EXACT, "maxnumf", "minnumf")}
_TIME = 40  # Components of times.
_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_INEXACT = ("addf", "mulf", "maxnumf", "minnumf")


class RejectedError(Exception):
    """The certificate does not show that the nest is the program."""


def require(condition, message):
    """Rejects the certificate unless the condition holds."""
    if not condition:
        raise RejectedError(message)


# --- Affine expressions: text -> isl's text -------------------------------------------------------


def isl_text(text, names):
    """An expression of `+ - * // % max min` and comparisons, in isl's syntax."""
    try:
        return _isl(ast.parse(text.strip(), mode="eval").body, names)
    except SyntaxError as error:
        raise RejectedError(f"not an expression: {text}") from error


def _isl(node, names):
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return str(value)
        case ast.Name(id=name):
            require(name in names, f"unknown name {name}")
            return names[name]
        case ast.UnaryOp(ast.USub(), ast.Constant(value=int(value))):
            return str(-value)
        case ast.UnaryOp(ast.USub(), operand):
            return f"(-{_isl(operand, names)})"
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, right):
            symbol = "+" if isinstance(sign, ast.Add) else "-"
            return f"({_isl(left, names)} {symbol} {_isl(right, names)})"
        case ast.BinOp(left, ast.Mult(), right):
            factor, value = sorted((_isl(left, names), _isl(right, names)), key=_is_other)
            require(not _is_other(factor), "a product of two values")
            return f"({factor} * {value})"
        case ast.BinOp(left, sign, ast.Constant(value=int(divisor))) if divisor > 0:
            value = _isl(left, names)
            if isinstance(sign, ast.FloorDiv):
                return f"floor({value}/{divisor})"
            if isinstance(sign, ast.MatMult):
                return f"(-floor((-{value})/{divisor}))"
            if isinstance(sign, ast.Mod):
                return f"({value} - {divisor}*floor({value}/{divisor}))"
        case ast.Call(ast.Name(id="max" | "min" as name), arguments, []) if len(arguments) > 1:
            return f"{name}({', '.join(_isl(each, names) for each in arguments)})"
        case ast.Call(ast.Name(id="symbol"), [argument], []):
            return _isl(argument, names)
        case ast.Compare(left, [ast.GtE() | ast.Eq() as sign], [right]):
            symbol = "<=" if isinstance(sign, ast.GtE) else "="
            return f"({_isl(right, names)} {symbol} {_isl(left, names)})"
        case ast.BoolOp(sign, values):
            word = " and " if isinstance(sign, ast.And) else " or "
            return f"({word.join(_isl(each, names) for each in values)})"
    raise RejectedError(f"not an affine expression: {ast.unparse(node)}")


def _is_other(text):
    return re.fullmatch(r"-?\d+", text) is None


def mlir_text(text, names):
    """An expression of MLIR's affine dialect, in isl's syntax."""
    for word, symbol in (("floordiv", "//"), ("ceildiv", "@"), ("mod", "%%")):
        text = re.sub(rf"(?<=[\s)]){word}(?=[\s(])", symbol, text)
    known = {}

    def plain(found):
        require(isinstance(names.get(found[0]), str), f"{found[0]} is not affine")
        key = "_" + "".join(c if c.isalnum() else f"_{ord(c)}_" for c in found[0][1:])
        known[key] = names[found[0]]
        return key

    text = re.sub(_SSA, plain, text).replace("%%", "%")
    return isl_text(text, {**{k: v for k, v in names.items() if k[0] != "%"}, **known})


def split(text, brackets="()[]"):
    """The parts of a list between its commas, outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in brackets[::2]) - (letter in brackets[1::2])
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


_MAP = re.compile(
    r"affine_(?:map|set)<\((.*?)\)(?:\[(.*?)\])? (?:->|:) \((.*)\)>\((.*?)\)(?:\[(.*?)\])?"
)


def mapped(text, names):
    """The results of `affine_map<...>(%i)[%n]`, of `%n` or `[%a, %b + 1]`, in isl's syntax."""
    if text.startswith("["):
        return [mlir_text(each, names) for each in split(text[1:-1])]
    found = _MAP.fullmatch(text)
    if found is None:
        return [mlir_text(text, names)]
    dims, symbols, results, values, others = (split(each or "") for each in found.groups())
    require(len(dims) == len(values) and len(symbols) == len(others), f"operands of {text}")
    own = dict(zip(dims + symbols, (mlir_text(v, names) for v in values + others), strict=True))
    return [mlir_text(each, own) for each in results]


def rank(shape):
    """The number of dimensions of `?x4xf64`."""
    return len(re.match(r"((?:\?|\d+)x)*", shape)[0].split("x")) - 1


# --- The program, read from its text -------------------------------------------------------------


class Node:
    """A value: operation `template` of `operands`; a load has an array and a place in time."""

    def __init__(self, template, operands=(), access=None):
        self.template, self.operands, self.access = template, operands, access


class Block:
    """What is around an operation: induction variables, conditions, its time up to here, loops.

    A loop is its number, the position of its variable in the time, its step and its marks.
    """

    def __init__(self, names, loops=(), conditions=(), time=()):
        self.names, self.loops, self.conditions, self.time = names, loops, conditions, time
        self.position = 0


class Text:
    """A function in affine text, the program or the nest: its arrays, stores and stored values."""

    def __init__(self, lines, parameters, prefix):
        self.parameters, self.found, self.arrays, self.extents = parameters, {}, {}, {}
        self.prefix, self.instances = prefix, prefix == "n"
        self.stores, self.outputs, self.conditions, self.order = [], [], ["1=1"], 0
        require(all(map(_NAME.match, parameters)), "bad names")
        lines = [line.strip() for line in lines if line.strip()]
        require(lines and lines[-1] == "}", "not one function")
        head = re.fullmatch(r"func\.func @[\w$.-]+\((.*)\)(?: -> .*)? {", lines[0])
        require(head is not None, f"not in the subset: {lines[0]}")
        names = {name: name for name in parameters}
        self.blocks, self.instance = [], None
        for argument in split(head[1], "()[]<>"):
            name, kind = re.fullmatch(rf"({_SSA}) ?: (.*)", argument).groups()
            names[name] = Node(name)
            if kind.startswith("memref<"):
                names[name] = self._array(name, rank(kind.removeprefix("memref<")), 0)
            elif kind == "index" and name in parameters.values():
                names[name] = self._parameter(name)
        self.blocks = [Block(names)]
        for line in lines[1:-1]:
            self._line(line)
        require(len(self.blocks) == 1, "unbalanced braces")
        self.space = f"[{', '.join(parameters)}]"
        self.context = isl.Set(f"{self.space} -> {{ : {' and '.join(self.conditions)} }}")

    def _array(self, name, rank, depth):
        """A new array; one that is allocated in loops is another one in each iteration."""
        prefix = self.prefix if self.blocks else "a"
        key = f"{prefix}{len(self.arrays)}_" + re.sub(r"\W", "", name)
        self.arrays[key] = rank + depth
        return ("array", key, depth)

    def _parameter(self, meaning):
        name = next((k for k, v in self.parameters.items() if v == meaning), None)
        require(name is not None, f"{meaning} is no parameter")
        self.found[meaning] = name
        return name

    def _line(self, line):
        block = self.blocks[-1]
        names = block.names
        if line == "}":
            require(len(self.blocks) > 1, "unbalanced braces")
            self.blocks.pop()
            return
        if line == "} else {":
            closed = self.blocks.pop()
            *around, condition = closed.conditions
            outer = self.blocks[-1]
            require(closed.loops == outer.loops, "the other branch of a loop")
            self._open(outer, [*around, f"not {condition}"], closed.time)
            return
        if found := re.fullmatch(
            r"affine\.for (%\S+) = (.*) to (.*?)(?: step (\d+))?( parallel)?(?: vector (\d+))? {", line
        ):
            self._loop(block, *found.groups())
        elif found := re.fullmatch(r"affine\.if (.*) {", line):
            condition = f"({' and '.join(mapped(found[1], names))})"
            time = [*block.time, str(block.position)]
            self._open(block, [*block.conditions, condition], time)
        elif found := re.fullmatch(
            rf"affine\.store ({_SSA}), ({_SSA})\[(.*?)\](?: {{.*}})? : \S+", line
        ):
            access = self._access(block, found[2], found[3], is_write=True)
            self.stores.append((self._operand(names, found[1]), access, block, self.instance))
        elif line.startswith("memref.dealloc "):
            pass
        elif found := re.fullmatch(rf"(?:func\.)?return(?: (.*) : .*)?", line):
            for node in map(names.get, split(found[1] or "")):
                is_load = isinstance(node, Node) and node.template == "load"
                require(is_load and not node.access[2], "what is returned is no scalar in memory")
                self.outputs.append(node.access[1])
        elif line.startswith("instance "):
            name, arguments = re.fullmatch(r"instance (?:(\w+)\[(.*)\]|copy)", line).groups()
            own = [mlir_text(each, names) for each in split(arguments or "")]
            self.instance = (self.order, name, own)
        else:
            found = re.fullmatch(rf"({_SSA}) = (.*)", line)
            require(found is not None, f"not in the subset: {line}")
            names[found[1]] = self._value(block, *found.groups())
        block.position += 1

    def _loop(self, block, variable, low, high, step, parallel, width):
        own, step = f"i{len(block.loops)}", int(step or 1)
        lower = mapped(low.removeprefix("max "), block.names)
        upper = mapped(high.removeprefix("min "), block.names)
        require(len(lower) == 1 or low.startswith("max "), "a bound of several values")
        require(len(upper) == 1 or high.startswith("min "), "a bound of several values")
        conditions = [f"({own} >= {e})" for e in lower] + [f"({own} < {e})" for e in upper]
        if step != 1:
            first = f"max({', '.join(lower)})" if len(lower) > 1 else lower[0]
            conditions.append(f"(({own} - {first}) mod {step} = 0)")
        self.order += 1
        loop = (self.order, len(block.time) + 1, step, parallel is not None, int(width or 0))
        inner = Block({**block.names, variable: own}, (*block.loops, loop))
        inner.conditions = [*block.conditions, *conditions]
        inner.time = [*block.time, str(block.position), own]
        self.blocks.append(inner)

    def _open(self, block, conditions, time):
        self.blocks.append(Block(dict(block.names), block.loops, conditions, time))

    def _access(self, block, memref, subscripts, *, is_write):
        value = block.names.get(memref)
        require(isinstance(value, tuple), f"{memref} is no array")
        _, name, depth = value
        own = [mlir_text(each, block.names) for each in split(subscripts)]
        require(len(own) + depth == self.arrays[name], f"subscripts of {memref}")
        self.order += 1
        time = [*block.time, str(block.position)]
        return (is_write, name, [*(f"i{k}" for k in range(depth)), *own], time, self.order)

    def _extents(self, shape, values, names):
        """The extents of a local array, None for those that are not affine."""
        given = iter(split(values))
        extents = re.match(r"((?:\?|\d+)x)*", shape)[0].split("x")[:-1]
        texts = [next(given, "") if each == "?" else each for each in extents]
        return [mlir_text(t, names) if isinstance(names.get(t, ""), str) else None for t in texts]

    def _operand(self, names, name):
        require(name in names, f"unknown value {name}")
        value = names[name]
        return value if isinstance(value, Node) else Node("index", access=value)

    def _value(self, block, memref, text):
        """What an operation computes: text of an affine value, an array, or a Node."""
        names = block.names
        if found := re.fullmatch(rf"affine\.load ({_SSA})\[(.*?)\](?: {{.*}})? : \S+", text):
            return Node("load", access=self._access(block, *found.groups(), is_write=False))
        if found := re.fullmatch(r"memref\.alloca?\((.*)\)(?: {.*})? : memref<(.*?)>", text):
            array = self._array(memref, rank(found[2]), len(block.loops))
            self.extents[array[1]] = self._extents(found[2], found[1], names)
            return array
        if found := re.fullmatch(rf"memref\.dim ({_SSA}), ({_SSA}) : .*", text):
            meaning = f"memref.dim {found[1]}, {names[found[2]]}"
            if meaning not in self.parameters.values():
                return Node(meaning)
            self.conditions.append(f"{self._parameter(meaning)} >= 0")
            return self.found[meaning]
        if found := re.fullmatch(rf"arith\.index_cast ({_SSA}) : i\d+ to index", text):
            require(found[1] in self.blocks[0].names, "the cast of a value that is computed")
            return self._parameter(f"arith.index_cast {found[1]}")
        if found := re.fullmatch(r"arith\.constant (-?\d+) : index", text):
            return found[1]
        if found := re.fullmatch(r"affine\.apply (.*)", text):
            (value,) = mapped(found[1], names)
            return value
        if found := re.fullmatch(r"affine\.(max|min) (.*)", text):
            return f"{found[1]}({', '.join(mapped(found[2], names))})"
        if found := re.fullmatch(rf"arith\.(addi|subi) ({_SSA}), ({_SSA}) : index", text):
            symbol = "+" if found[1] == "addi" else "-"
            return mlir_text(f"{found[2]} {symbol} {found[3]}", names)
        require("{" not in text.replace("{fastmath", ""), f"not in the subset: {text}")
        operands = [self._operand(names, each) for each in re.findall(_SSA, text)]
        return Node(re.sub(_SSA, "{}", text), operands)


class Statement:
    """Stores that run together: instances, accesses with their places and times, stored values.

    A statement of the nest has an `origin` in the program, and `instances` leads there; without
    one it is a copy.
    """

    def __init__(self, text, name, stores, origin=None):
        self.name, self.text, self.origin, self.block = name, text, origin, stores[0][2]
        require(all(each[2] is self.block for each in stores), f"{name} is in several blocks")
        self.values, nodes = [value for value, *_ in stores], {}
        pending = list(self.values)
        while pending:
            node = pending.pop()
            if id(node) not in nodes:
                nodes[id(node)] = node
                pending += node.operands
        self.nodes = list(nodes.values())
        accesses = [n.access for n in self.nodes if n.template == "load"] + [s[1] for s in stores]
        self.accesses = sorted(accesses, key=lambda access: access[4])
        domain = isl.Set(self.text_of("", " : " + " and ".join(["1=1", *self.block.conditions])))
        self.domain = domain.intersect_params(text.context)
        self.places = [self.map(f"{a[1]}[{', '.join(a[2])}]") for a in self.accesses]
        self.time = self.map_to_time(stores[0][1][3])
        if text.instances:
            start, _, arguments = stores[0][3]
            for _, _, _, time, order in self.accesses:
                require(time[:-1] == [*self.block.time] and order > start, f"accesses of {name}")
            if origin is not None:
                require(len(arguments) == len(origin.block.loops), f"instances of {name}")
                self.instances = self.map(f"{origin.name}[{', '.join(arguments)}]")

    def text_of(self, target, rest=""):
        """`[n] -> { S[i0, i1] -> target : rest }`."""
        dims = ", ".join(f"i{k}" for k in range(len(self.block.loops)))
        arrow = f" -> {target}" if target else ""
        return f"{self.text.space} -> {{ {self.name}[{dims}]{arrow}{rest} }}"

    def map(self, target):
        """A function of the instances."""
        return isl.Map(self.text_of(target)).intersect_domain(self.domain)

    def map_to_time(self, time):
        """Instances -> time, with zeros behind it."""
        return self.map(f"[{', '.join(time + ['0'] * (_TIME - len(time)))}]")

    def event(self, position):
        """The name of an access, for its instances."""
        return f"{self.name}_{position}"

    def events(self, position, relation):
        """A relation from the instances as one from those of an access."""
        return isl.UnionMap(relation.set_tuple_name(_IN, self.event(position)))

    def reduction(self, *, is_fast):
        """The positions of load and store of a reduction whose steps may be reordered."""
        uses = [id(each) for node in self.nodes for each in node.operands]
        stores = [access for access in self.accesses if access[0]]
        same = [n for n in self.nodes if n.access and n.access[1:3] == stores[0][1:3]]
        if len(stores) != 1 or len(same) != 1 or uses.count(id(same[0])) != 1:
            return ()
        for kind in {kind for kind, *_ in _STEPS.values()}:
            steps = self._steps(self.values[0], same[0], kind, uses)
            if steps and (kind not in _INEXACT or is_fast or all(map(_may_reassociate, steps))):
                return self.accesses.index(same[0].access), self.accesses.index(stores[0])
        return ()

    def _steps(self, node, load, kind, uses):
        if node is load:
            return []
        own, *passing = _STEPS.get(node.template.split()[0], ("",))
        if own != kind or uses.count(id(node)) != (node is not self.values[0]):
            return None
        for position in passing:
            steps = self._steps(node.operands[position], load, kind, uses)
            if steps is not None:
                return [node, *steps]
        return None


def _may_reassociate(node):
    found = re.search(r"fastmath<(.*?)>", node.template)
    return found is not None and bool({"fast", "reassoc"} & set(split(found[1])))


class Values:
    """Numbers of values: equal numbers are computed in the same way from the same loads."""

    def __init__(self):
        self.numbers, self.indices = {}, []

    def of(self, node, load, index):
        """The number of a value; `load` numbers loads, and `index` gives affine values."""
        if node.template == "load":
            return load(node)
        if node.template == "index":
            value = index(node.access)
            equal = (k for k, other in enumerate(self.indices) if value.is_equal(other))
            if (number := next(equal, None)) is None:
                number = len(self.indices)
                self.indices.append(value)
            return self.number("index", number)
        operands = [self.of(each, load, index) for each in node.operands]
        return self.number(node.template, *operands)

    def number(self, *key):
        """The number of an operation on numbers."""
        return self.numbers.setdefault(key, len(self.numbers))


# --- The proof -----------------------------------------------------------------------------------


class Check:
    """The proof that the nest is the program."""

    def __init__(self, data):
        parameters, self.is_fast = data["parameters"], data["fast_math"] is True
        self.program = Text(data["program"], parameters, "p")
        self.nest = Text(data["nest"], parameters, "n")
        require(data["program"][0] == data["nest"][0], "program and nest differ in arguments")
        stores = self.program.stores
        require(
            sorted(k for each in data["statements"].values() for k in each) == [*range(len(stores))],
            "the statements are not all stores of the program",
        )
        self.statements = {
            name: Statement(self.program, name, [stores[k] for k in numbers])
            for name, numbers in data["statements"].items()
        }
        groups = {}
        for store in self.nest.stores:
            require(store[3] is not None, "a store of no instance")
            groups.setdefault(store[3][0], []).append(store)
        self.sites = []
        for number, group in enumerate(groups.values()):
            name = group[0][3][1]
            require(name is None or name in self.statements, f"unknown statement {name}")
            origin = self.statements.get(name)
            self.sites.append(Statement(self.nest, f"E{number}", group, origin))
        self.copies = [site for site in self.sites if site.origin is None]
        self.reordered = set()

    def run(self):
        """Raises RejectedError unless all holds."""
        self.check_values()
        self.check_coverage()
        self.check_extents()
        self.check_loops()
        moved = set()
        for array in self.program.arrays:
            if self.is_direct(array):
                self.check_order(array)
            else:
                moved.add(array)
        while moved:
            moved -= self.check_dataflow(next(iter(moved)))

    def check_values(self):
        """Each site computes what its statement does, from loads in the same positions."""
        hole, signatures, factors = Values(), {}, {}
        for site in self.sites:
            signature = -1
            if site.origin is None:
                reads = [node for node in site.nodes if node.template == "load"]
                require(len(reads) == 1 and len(site.values) == 1, f"{site.name} is no copy")
                signature = hole.of(site.values[0], lambda _: -1, None)
                factors[site.accesses[-1][1]] = site.values[0]
                site.source = site.accesses[0][1]
            for is_write, array, *_ in site.accesses:
                if is_write:
                    require(signatures.setdefault(array, signature) == signature, f"{array}: values")
        for site in self.copies:
            require(signatures.get(site.source, -1) == -1, f"copies of products in {site.source}")
        for site in self.sites:
            if (origin := site.origin) is None:
                continue
            kinds = [access[0] for access in origin.accesses]
            require(kinds == [a[0] for a in site.accesses], f"accesses of {origin.name}")
            values = Values()
            to_origin = isl.PwMultiAff.from_map(site.instances)

            def own_load(node, site=site, values=values):
                plain = values.number("load", site.accesses.index(node.access))
                if signatures.get(node.access[1], -1) == -1:
                    return plain
                return values.of(factors[node.access[1]], lambda _: plain, None)

            def load(node, origin=origin, values=values):
                return values.number("load", origin.accesses.index(node.access))

            def own_index(text, site=site):
                return isl.PwAff(site.text_of(f"[{text}]")).intersect_domain(site.domain)

            def index(text, origin=origin, to_origin=to_origin):
                value = isl.PwAff(origin.text_of(f"[{text}]"))
                return value.pullback_pw_multi_aff(to_origin)

            found = [values.of(value, own_load, own_index) for value in site.values]
            wanted = [values.of(value, load, index) for value in origin.values]
            require(found == wanted, f"the nest computes something else than {origin.name}")

    def check_coverage(self):
        """Every instance of every statement runs exactly once, and no other one."""
        for statement in self.statements.values():
            rest = statement.domain
            for site in self.sites:
                if site.origin is statement:
                    own = site.instances.range()
                    require(site.instances.is_injective(), f"{statement.name} runs twice")
                    require(own.is_subset(rest), f"{statement.name} runs twice, or too often")
                    rest = rest.subtract(own)
            require(rest.is_empty(), f"{statement.name} does not run: {rest.sample_point()}")

    def check_extents(self):
        """Local arrays are accessed inside their extents, arguments where the program does."""
        touched = union(isl.UnionSet, (p.range() for s in self.statements.values() for p in s.places))
        for site in self.sites:
            for (_, array, subscripts, *_), place in zip(site.accesses, site.places, strict=True):
                if array not in self.nest.extents:
                    inside = isl.UnionSet(place.range()).is_subset(touched)
                    require(inside, f"{array} is accessed where the program does not")
                    continue
                extents, count = self.nest.extents[array], len(subscripts)
                dims = [f"i{k}" for k in range(count)]
                own = zip(dims[count - len(extents) :], extents, strict=True)
                box = " and ".join(["1=1", *(f"0 <= {dim} < {size}" for dim, size in own)])
                box = isl.Set(f"{self.nest.space} -> {{ {array}[{', '.join(dims)}] : {box} }}")
                require(place.range().is_subset(box), f"{array} is accessed outside its extents")

    def check_loops(self):
        """No two iterations of parallel loops conflict; lanes of a vector do so in lockstep."""
        for one, other in product(self.sites, self.sites):
            common = [a for a, b in zip(one.block.loops, other.block.loops, strict=False) if a == b]
            for depth, (_, start, step, parallel, width) in enumerate(common):
                if not parallel and width < 2:
                    continue
                for (p, a), (q, b) in product(enumerate(one.accesses), enumerate(other.accesses)):
                    if a[1] != b[1] or not (a[0] or b[0]):
                        continue
                    pairs = one.places[p].apply_range(other.places[q].reverse())
                    for outer in range(depth):
                        pairs = pairs.equate(_IN, outer, _OUT, outer)
                    pairs = pairs.order_lt(_IN, depth, _OUT, depth)
                    if not parallel and not pairs.is_empty():
                        x, y = (f"i{depth}", f"j{depth}")
                        texts = [f"[{', '.join(f'{v}{k}' for k in range(len(s.block.loops)))}]"
                                 for v, s in (("i", one), ("j", other))]
                        lanes = isl.Map(
                            f"{{ {one.name}{texts[0]} -> {other.name}{texts[1]} : "
                            f"{y} - {x} <= {(width - 1) * step} }}"
                        )
                        times = [s.map_to_time(t[3][start:]) for s, t in ((one, a), (other, b))]
                        pairs = pairs.intersect(lanes).intersect(times[0].lex_ge_map(times[1]))
                    require(pairs.is_empty(), f"a parallel or vector loop carries {a[1]}")

    def is_direct(self, array):
        """Whether elements of an array stand for places of the nest one to one, without copies."""
        places, used, others = isl.UnionMap("{}"), set(), {s.accesses[-1][1] for s in self.copies}
        others |= {site.source for site in self.copies}
        for site in self.sites:
            accesses = site.origin.accesses if site.origin else []
            for p, (access, own) in enumerate(zip(accesses, site.accesses, strict=False)):
                if access[1] != array:
                    others.add(own[1])
                    continue
                used.add(own[1])
                elements = site.instances.apply_range(site.origin.places[p])
                if array not in self.program.extents:
                    if own[1] != array or not site.places[p].is_subset(elements):
                        return False
                    continue
                places = places.union(isl.UnionMap(elements.reverse().apply_range(site.places[p])))
        for one, other in zip(self.program.outputs, self.nest.outputs, strict=True):
            if one == array:
                places = places.union(isl.UnionMap(f"{{ {one}[] -> {other}[] }}"))
                used.add(other)
        if array not in self.program.extents:
            return True
        return not used & others and places.is_single_valued() and places.is_injective()

    def check_order(self, array):
        """Accesses to an element of which one is a write keep their order; reductions may not."""
        for one, other in product(self.statements.values(), self.statements.values()):
            steps = one.reduction(is_fast=self.is_fast) if one is other else ()
            every, kept = [], []
            for (p, a), (q, b) in product(enumerate(one.accesses), enumerate(other.accesses)):
                if a[1] == b[1] == array and (a[0] or b[0]):
                    pairs = one.places[p].apply_range(other.places[q].reverse())
                    before = one.map_to_time(a[3]).lex_lt_map(other.map_to_time(b[3]))
                    every.append(pairs.intersect(before))
                    if not {p, q} <= set(steps):
                        kept.append(every[-1])
            if (wrong := self.backward(one, other, every)) and steps:
                self.reordered.add(one.name)
                wrong = self.backward(one, other, kept)
            require(not wrong, f"{array}: {one.name} and {other.name} run in another order: {wrong}")

    def backward(self, one, other, relations):
        """A pair of instances of a relation whose first does not run before the second."""
        if not relations or (pairs := union(isl.Map, relations).coalesce()).is_empty():
            return None
        for a, b in product(self.sites, self.sites):
            if a.origin is one and b.origin is other:
                events = a.instances.apply_range(pairs).apply_range(b.instances.reverse())
                wrong = events.intersect(a.time.lex_gt_map(b.time))
                if not wrong.is_empty():
                    return str(wrong.sample())
        return None

    def check_dataflow(self, array):
        """Each read of some arrays sees the value of the same last write, through all copies.

        These are the arrays whose accesses the nest makes where it makes those of `array`, or where
        copies lead to or from; returns them.
        """
        arrays, places = {array}, set()
        while True:
            size = len(arrays) + len(places)
            for site in self.sites:
                own = {a[1] for a in site.accesses}
                if site.origin is None:
                    places |= own if own & places else set()
                    continue
                for access, at in zip(site.origin.accesses, site.accesses, strict=True):
                    if access[1] in arrays or at[1] in places:
                        arrays.add(access[1])
                        places.add(at[1])
            if size == len(arrays) + len(places):
                break
        require(not arrays & set(self.program.outputs), f"{array} is returned, and copied")
        final = union(isl.UnionMap, (
            isl.UnionMap(f"{{ F{name}[{dims}] -> {name}[{dims}] }}")
            for name in arrays - set(self.program.extents)
            for dims in [", ".join(f"i{k}" for k in range(self.program.arrays[name]))]
        ))
        written = union(isl.UnionSet, (
            s.places[p].range() for s in (*self.statements.values(), *self.sites)
            for p, a in enumerate(s.accesses) if a[0]
        ))
        final = final.intersect_range(written)
        wanted = self.flow(self.statements.values(), arrays, final)
        direct = self.flow(self.sites, places, final)
        link, copied = isl.UnionMap("{}"), isl.UnionSet("{}")
        names = isl.UnionMap("{}")
        for site in self.sites:
            for p, access in enumerate(site.accesses):
                if access[1] not in places:
                    continue
                if site.origin is not None:
                    target = site.instances.set_tuple_name(_OUT, site.origin.event(p))
                    names = names.union(site.events(p, target))
                elif access[0]:
                    identity = site.domain.identity().set_tuple_name(_OUT, site.event(0))
                    link = link.union(site.events(p, identity))
        found = direct
        for _ in range(len(self.copies) + 1):
            through = found.apply_range(link)
            if through.is_empty():
                break
            found = found.subtract_range(link.domain()).union(through.apply_range(direct))
        ends = names.union(final.domain().identity()).union(final.range().identity())
        ends = ends.union(union(isl.UnionSet, (p.range() for s in self.sites for p in s.places)).identity())
        found = names.union(final.domain().identity()).reverse().apply_range(found).apply_range(ends)
        require(found.is_equal(wanted), f"{array}: a read sees the value of another write")
        return arrays

    def flow(self, statements, arrays, final):
        """Reads -> their last writes, or the element where there is none before."""
        end = isl.UnionSet(f"{{ [{', '.join(['1000000000'] + ['0'] * (_TIME - 1))}] }}")
        reads, writes = [final], []
        times = [isl.UnionMap.from_domain_and_range(final.domain(), end)], []
        for s in statements:
            for p, access in enumerate(s.accesses):
                if access[1] in arrays:
                    (writes if access[0] else reads).append(s.events(p, s.places[p]))
                    times[access[0]].append(s.events(p, s.map_to_time(access[3])))
        reads, writes, before, after = (
            union(isl.UnionMap, each) for each in (reads, writes, times[1], times[0])
        )
        pairs = reads.apply_range(writes.reverse())
        pairs = pairs.intersect(after.lex_gt_union_map(before))
        last = pairs.apply_range(before).lexmax().apply_range(before.reverse())
        pairs = pairs.intersect(last)
        return pairs.union(reads.subtract_domain(pairs.domain()))


def union(kind, parts):
    """The union of sets or relations."""
    parts = list(parts)
    if kind in (isl.UnionMap, isl.UnionSet):
        parts = [kind("{}"), *(p if isinstance(p, kind) else kind(p) for p in parts)]
    return reduce(kind.union, parts)


def main(arguments=None):
    """Checks a file; returns the exit code."""
    (file,) = sys.argv[1:] if arguments is None else arguments
    context = isl.DEFAULT_CONTEXT
    context.set_max_operations(OPERATIONS)
    try:
        with open(file, encoding="utf-8") as stream:
            data = json.load(stream)
        require(data["format"] == FORMAT and data["version"] == VERSION, "not this format")
        check = Check(data)
        check.run()
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        print(f"{file}: rejected: not a certificate: {error!r}")
        return 1
    except RejectedError as error:
        print(f"{file}: rejected: {error}")
        return 1
    except isl.Error as error:
        print(f"{file}: rejected: isl fails, or takes too long: {error}")
        return 1
    reordered = ", ".join(sorted(check.reordered))
    print(f"{file}: accepted" + (f"; steps of reductions are reordered: {reordered}" if reordered else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
