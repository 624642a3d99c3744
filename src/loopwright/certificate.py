# pyright: basic
"""Checks a certificate of `loopwright schedule --certificate`: is the loop nest the program?

`loopwright-check FILE`, or this file alone: it needs islpy and the standard library, and nothing of
the compiler. It reads both texts, computes all dependences anew, and proves for all sizes that each
instance of each statement runs exactly once and computes the same; that accesses to an element keep
their order, or, where copies come in, that each read sees the same last write; that no parallel or
vector loop carries a dependence; and that local arrays are accessed inside their extents.
docs/reference/certificates.md has the format. Exit code 0: accepted; 1: rejected.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from argparse import ArgumentParser
from collections import namedtuple
from functools import reduce
from itertools import count, groupby, product
from pathlib import Path

import islpy as isl

FORMAT, VERSION = "loopwright certificate", 1
OPERATIONS = 500_000_000  # of isl, for the whole check: a minute or two
_IN, _OUT, _WIDTH = isl.dim_type.in_, isl.dim_type.out, 24  # Components of a time.
_SSA, _DIM = r"%[\w$.-]+", r"(\?|\d+) ?x"
_MAP = r"affine_(?:map|set)<\((.*?)\)(?:\[(.*?)\])? (?:->|:) \((.*)\)>\((.*?)\)(?:\[(.*?)\])?"
_FOR = r"affine\.for (%\S+) = (.*) to (.*?)(?: step (\d+))?( parallel)?( vector \d+)? {"
_ELEMENT = rf"({_SSA})\[(.*?)\](?: {{.*}})? : \S+"
# What may be accumulated, exactly in any order or not; through which operands of an operation.
_EXACT = re.findall(r"\w+", "addi muli maximumf minimumf maxsi maxui minsi minui andi ori xori")
_STEPS = {f"arith.{kind}": (kind, 0, 1) for kind in (*_EXACT, "addf", "mulf", "maxnumf", "minnumf")}
_STEPS |= {"arith.subf": ("addf", 0), "math.fma": ("addf", 2), "arith.subi": ("addi", 0)}
_MALFORMED = OSError, LookupError, ValueError, TypeError, AttributeError, RecursionError
_DIVISIONS = {ast.FloorDiv: "floor({0}/{1})", ast.MatMult: "(-floor((-{0})/{1}))"}
_DIVISIONS[ast.Mod] = "({0} - {1}*floor({0}/{1}))"

# A value: operation `template` of `operands`; a load has an Access, an index its text.
Node = namedtuple("Node", "template operands access", defaults=((), None))
Access = namedtuple("Access", "is_write array subscripts time number")
Store = namedtuple("Store", "value access block instance")
# Its number in the text, the length of the time around it, bounds and marks.
Loop = namedtuple("Loop", "number depth bounds parallel vector")
# What is around an operation: the time has positions in blocks and values of loops.
Block = namedtuple("Block", "names loops conditions time positions")


class RejectedError(Exception):
    """The certificate does not show that the nest is the program."""


def require(condition, message):
    if not condition:
        raise RejectedError(message)


def _no_index(_):
    raise RejectedError("a copy of an index")


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


def union(kind, parts):
    return reduce(kind.union, (p if isinstance(p, kind) else kind(p) for p in parts), kind("{}"))


def affine(text, names):
    """An affine expression or comparison in isl's syntax; `names` are the names it may use."""
    for word, symbol in (("floordiv", "//"), ("ceildiv", "@"), ("mod", "%%")):
        text = re.sub(rf"(?<=[\s)]){word}(?=[\s(])", symbol, text)
    text = text.replace("symbol(", "(")
    known = {name: value for name, value in names.items() if name[0] != "%"}

    def plain(found):
        known[f"_{len(known)}"] = names.get(found[0])
        return f"_{len(known) - 1}"

    try:
        tree = ast.parse(re.sub(_SSA, plain, text).replace("%%", "%"), "", "eval")
    except SyntaxError as error:
        raise RejectedError(f"not an expression: {text}") from error
    return _isl(tree.body, known)


def _isl(node, names):
    def inner(*nodes):
        return [_isl(each, names) for each in nodes]

    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return str(value)
        case ast.Name(id=name) if isinstance(names.get(name), str):
            return names[name]
        case ast.UnaryOp(ast.USub(), operand):
            (value,) = inner(operand)
            return f"-{value}" if value.isdigit() else f"(-{value})"
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() as sign, right):
            symbol = {ast.Add: " + ", ast.Sub: " - ", ast.Mult: " * "}[type(sign)]
            return f"({symbol.join(inner(left, right))})"
        case ast.BinOp(left, sign, ast.Constant(value=int(divisor))) if divisor > 0:
            return _DIVISIONS[type(sign)].format(*inner(left), divisor)
        case ast.Call(ast.Name(id="max" | "min" as name), arguments, []) if len(arguments) > 1:
            return f"{name}({', '.join(inner(*arguments))})"
        case ast.Compare(left, [ast.GtE() | ast.Eq() as sign], [right]):
            return f"({('<=' if isinstance(sign, ast.GtE) else '=').join(inner(right, left))})"
        case ast.BoolOp(sign, values):
            return f"({(' and ' if isinstance(sign, ast.And) else ' or ').join(inner(*values))})"
    raise RejectedError(f"not affine: {ast.unparse(node)}")


def affines(text, names):
    """The results of `affine_map<...>(%i)[%n]`, of `%n` or `[%a, %b + 1]`, in isl's syntax."""
    if text.startswith("["):
        return [affine(each, names) for each in split(text[1:-1])]
    if (found := re.fullmatch(_MAP, text)) is None:
        return [affine(text, names)]
    dims, symbols, results, values, others = (split(each or "") for each in found.groups())
    require(len(dims) == len(values) and len(symbols) == len(others), f"operands of {text}")
    given = [affine(each, names) for each in values + others]
    return [affine(each, dict(zip(dims + symbols, given, strict=True))) for each in results]


class Text:
    """A function in affine text, the program or the nest: its arrays, stores and stored values."""

    def __init__(self, lines, parameters, prefix):
        self.parameters = {meaning: f"p{k}" for k, meaning in enumerate(parameters.values())}
        self.prefix, self.arrays, self.extents, self.found = prefix, {}, {}, set()
        self.stores, self.conditions, self.numbers = [], ["1=1"], count()
        head = re.fullmatch(r"func\.func @[\w$.-]+\((.*)\) {", lines[0])
        if head is None or lines[-1].strip() != "}":
            raise RejectedError("not one function without results")
        names: dict = dict(zip(parameters, self.parameters.values(), strict=True))
        for argument in split(head[1], "()[]<>"):
            name, kind = (part.strip() for part in argument.split(":", 1))
            names[name] = self._parameter(name) if kind == "index" else Node(name)
            if kind.startswith("memref<"):
                names[name] = self._array("a", name, len(re.findall(_DIM, kind)), 0)
        self.blocks, self.instance = [Block(names, (), (), (), count())], (-1, None, [])
        for line in lines[1:-1]:
            self._line(line.strip())
        require(len(self.blocks) == 1, "unbalanced braces")
        self.space = f"[{', '.join(self.parameters.values())}]"
        self.context = isl.Set(f"{self.space} -> {{ : {' and '.join(self.conditions)} }}")

    def _array(self, prefix, name, rank, depth):
        key = f"{prefix}{len(self.arrays)}_" + re.sub(r"\W", "", name)
        self.arrays[key] = rank + depth
        return (key, depth)

    def _parameter(self, meaning):
        self.found.add(meaning)
        return self.parameters.get(meaning, Node(meaning))

    def _line(self, line):
        block = self.blocks[-1]
        names, conditions, loops = block.names, block.conditions, block.loops
        if line in ("}", "} else {"):
            closed = self.blocks.pop()
            around = self.blocks[-1]
            if line != "}":
                require(closed.loops == around.loops, "the other branch of a loop")
                conditions = (*around.conditions, f"not {conditions[-1]}")
                self.blocks.append(Block({**around.names}, loops, conditions, block.time, count()))
            return
        time = (*block.time, str(next(block.positions)))
        if found := re.fullmatch(_FOR, line):
            self._loop(block, time, *found.groups())
        elif found := re.fullmatch(r"affine\.if (.*) {", line):
            holds = f"({' and '.join(affines(found[1], names))})"
            self.blocks.append(Block({**names}, loops, (*conditions, holds), time, count()))
        elif found := re.fullmatch(rf"affine\.store ({_SSA}), {_ELEMENT}", line):
            access = self._access(block, time, found[2], found[3], is_write=True)
            self.stores.append(Store(self._operand(names, found[1]), access, block, self.instance))
        elif found := re.fullmatch(r"instance (?:(\w+)\[(.*)\]|copy)", line):
            own = [affine(each, names) for each in split(found[2] or "")]
            self.instance = (next(self.numbers), found[1], own)
        elif found := re.fullmatch(rf"({_SSA}) = (.*)", line):
            require(found[1] not in names, f"{found[1]} is defined twice")
            names[found[1]] = self._value(block, time, *found.groups())
        else:
            require(re.match("(func.)?return$|memref.dealloc ", line), f"not in the subset: {line}")

    def _loop(self, block, time, variable, low, high, step, parallel, vector):
        own, step = f"i{len(block.loops)}", int(step or 1)
        require(variable not in block.names, f"{variable} is defined twice")
        lower = affines(low.removeprefix("max "), block.names)
        upper = affines(high.removeprefix("min "), block.names)
        conditions = [f"({own} >= {each})" for each in lower] + [f"({own} < {e})" for e in upper]
        first = f"max({', '.join(lower)})" if len(lower) > 1 else lower[0]
        conditions += [] if step == 1 else [f"(({own} - {first}) mod {step} = 0)"]
        marks = " ".join(lower + upper), parallel is not None, vector is not None
        loops = (*block.loops, Loop(next(self.numbers), len(time), *marks))
        names, conditions = {**block.names, variable: own}, (*block.conditions, *conditions)
        self.blocks.append(Block(names, loops, conditions, (*time, own), count()))

    def _access(self, block, time, memref, subscripts, *, is_write):
        require(isinstance(block.names.get(memref), tuple), f"{memref} is no array")
        name, depth = block.names[memref]
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
        if found := re.fullmatch(r"memref\.alloca?\((.*)\)(?: {.*})? : memref<(.*?)>", text):
            shape, given = re.findall(_DIM, found[2]), iter(split(found[1]))
            array = self._array(self.prefix, name, len(shape), len(block.loops))
            self.extents[array[0]] = [affine(next(given) if e == "?" else e, names) for e in shape]
            return array
        if found := re.fullmatch(rf"memref\.dim ({_SSA}), ({_SSA}) : .*", text):
            value = self._parameter(f"memref.dim {found[1]}, {names[found[2]]}")
            self.conditions += [f"{value} >= 0"] if isinstance(value, str) else []
            return value
        if found := re.fullmatch(rf"(arith\.index_cast ({_SSA})) : i\d+ to index", text):
            require(names.get(found[2]) is self.blocks[0].names.get(found[2]), "a computed index")
            return self._parameter(found[1])
        if found := re.fullmatch(r"(?:arith\.constant (.*) : index|affine\.apply (.*))", text):
            return affines(found[1] or found[2], names)[0]
        require(re.match(r"(arith|math)\.[^{]*$", text), f"not in the subset: {text}")
        operands = tuple(self._operand(names, each) for each in re.findall(_SSA, text))
        return Node(re.sub(_SSA, "{}", text), operands)


class Statement:
    """Stores that run together: instances, accesses with their places and times, stored values.

    One of the nest has an `origin` in the program, to which `instances` leads, or is a copy.
    """

    def __init__(self, text, name, stores, origin=None):
        self.text, self.name, self.origin, self.block = text, name, origin, stores[0].block
        require(all(store.block is self.block for store in stores), f"{name}: several blocks")
        self.values, self.nodes = [store.value for store in stores], {}
        pending = list(self.values)
        while pending:
            node = pending.pop()
            self.nodes[id(node)] = node
            pending += (each for each in node.operands if id(each) not in self.nodes)
        accesses = [n.access for n in self.nodes.values() if n.template == "load"]
        accesses += [store.access for store in stores]
        self.accesses = sorted(accesses, key=lambda access: access.number)
        conditions = " and ".join(["1=1", *self.block.conditions])
        self.domain = isl.Set(self.written("", f" : {conditions}")).intersect_params(text.context)
        self.places = [self.map(f"{a.array}[{', '.join(a.subscripts)}]") for a in self.accesses]
        self.pairs = list(zip(self.accesses, self.places, strict=True))
        self.time = self.timed(stores[0].access.time)
        start, _, arguments = stores[0].instance
        if origin is not None:
            require(len(arguments) == len(origin.block.loops), f"instances of {origin.name}")
            self.instances = self.map(f"{origin.name}[{', '.join(arguments)}]")
        own = (a.time[:-1] == [*self.block.time] and a.number > start for a in self.accesses)
        require(start < 0 or all(own), f"accesses of {name} in other blocks")

    def written(self, target, rest=""):
        dims = ", ".join(f"i{k}" for k in range(len(self.block.loops)))
        return f"{self.text.space} -> {{ {self.name}[{dims}]{target and ' -> '}{target}{rest} }}"

    def map(self, target):
        return isl.Map(self.written(target)).intersect_domain(self.domain)

    def timed(self, time):
        return self.map(f"[{', '.join([*time] + ['0'] * (_WIDTH - len(time)))}]")

    def event(self, p, relation):
        return isl.UnionMap(relation.set_tuple_name(_IN, f"{self.name}_{p}"))

    def conflicts(self, other, array=None):
        """Accesses to the same array, one of them a write, with the pairs of instances."""
        for (p, a), (q, b) in product(enumerate(self.accesses), enumerate(other.accesses)):
            if a.array == b.array and array in (None, a.array) and (a.is_write or b.is_write):
                yield a, b, self.places[p].apply_range(other.places[q].reverse())

    def reduction(self, is_fast):
        """The accesses of a reduction whose steps may be reordered."""
        nodes, top = self.nodes.values(), self.values[0]
        uses = [id(each) for node in nodes for each in node.operands]
        store = next(a for a in self.accesses if a.is_write)
        same = [n for n in nodes if n.template == "load" and n.access[1:3] == store[1:3]]
        if len(self.values) != 1 or len(same) != 1 or same[0].access.time[:-1] != store.time[:-1]:
            return ()
        kind = _STEPS.get(top.template.split()[0], ("",))[0]

        def steps(node):  # Operations of this kind from the load on, each used once.
            own, *passing = _STEPS.get(node.template.split()[0], ("",))
            if uses.count(id(node)) != (node is not top) or node is same[0] or own != kind:
                return [] if node is same[0] and uses.count(id(node)) == 1 else None
            inner = (steps(node.operands[k]) for k in passing)
            return next(([node, *each] for each in inner if each is not None), None)

        found = steps(top) or []
        flags = [re.search(r"fastmath<(.*?)>", node.template) for node in found]
        free = all(each and {"fast", "reassoc"} & set(split(each[1])) for each in flags)
        return (same[0].access, store) if found and (is_fast or free or kind in _EXACT) else ()


class Check:
    """The proof that the nest is the program."""

    def __init__(self, data):
        parameters, texts = data["parameters"], (data["program"], data["nest"])
        require(texts[0][0] == texts[1][0], "program and nest have other arguments")
        self.is_fast, self.reordered, self.numbers = data["fast_math"] is True, set(), {}
        self.program, self.nest = Text(texts[0], parameters, "p"), Text(texts[1], parameters, "n")
        is_known = set(self.program.parameters) <= self.program.found
        require(is_known and all(re.match("[A-Za-z]", p) for p in parameters), "parameters")
        self.nest.context = self.program.context
        stores, self.statements, self.sites = self.program.stores, {}, []
        numbers = sorted(number for each in data["statements"].values() for number in each)
        require(numbers == [*range(len(stores))], "the statements are not the program's stores")
        for name, own in data["statements"].items():
            own = [stores[number] for number in own]
            self.statements[name] = Statement(self.program, f"S{len(self.statements)}", own)
        for (start, name, _), own in groupby(self.nest.stores, lambda store: store.instance):
            require(start >= 0, "a store of no instance")
            origin = None if name is None else self.statements[name]
            self.sites.append(Statement(self.nest, f"E{len(self.sites)}", [*own], origin))
        self.copies = [site for site in self.sites if site.origin is None]

    def run(self):
        self.check_values()
        self.check_coverage()
        self.check_extents()
        self.check_loops()
        done = set()
        for array in self.program.arrays:
            if self.is_direct(array):
                self.check_order(array)
            elif array not in done:
                done |= self.check_dataflow(array)

    def number(self, node, load, index=_no_index):
        """The number of a value: equal ones are computed in the same way from the same loads."""
        if node.template in ("load", "index"):
            return (load if node.template == "load" else index)(node.access)
        key = node.template, *(self.number(each, load, index) for each in node.operands)
        return self.numbers.setdefault(key, len(self.numbers))

    def check_values(self):
        """Each statement of the nest computes what that of the program does from its loads."""
        factors = {}
        for site in self.sites:
            is_copy = [access.is_write for access in site.accesses] == [False, True]
            require(site.origin or is_copy, "a copy of several values")
            value = Node("load") if site.origin else site.values[0]
            for array in (access.array for access in site.accesses if access.is_write):
                other = factors.setdefault(array, value)
                same = self.number(value, lambda _: "x") == self.number(other, lambda _: "x")
                is_plain = value.template == "load" or array in self.nest.extents
                require(same and is_plain, f"copies to {array}")
        for site in self.sites:
            if site.origin is None:
                factor = factors.get(site.accesses[0].array, Node("load"))
                require(factor.template == "load", "a copy of products")
            else:
                self.check_site(site, site.origin, factors)

    def check_site(self, site, origin, factors):
        kinds = [[access.is_write for access in each.accesses] for each in (site, origin)]
        require(kinds[0] == kinds[1], f"the accesses of {origin.name}")
        to_origin = isl.PwMultiAff.from_map(site.instances)

        def load(access):
            factor = factors.get(access.array, Node("load"))
            return self.number(factor, lambda _: f"load {site.accesses.index(access)}")

        def index(text, is_origin=False):
            value = isl.PwAff((origin if is_origin else site).written(f"[{text}]"))
            value = value.pullback_pw_multi_aff(to_origin) if is_origin else value
            return str(value.gist(site.domain).coalesce())

        loads = (lambda a: f"load {origin.accesses.index(a)}"), (lambda text: index(text, True))
        own = [self.number(value, load, index) for value in site.values]
        wanted = [self.number(value, *loads) for value in origin.values]
        require(own == wanted, f"the nest computes something else than {origin.name}")

    def check_coverage(self):
        """Every instance of every statement runs exactly once, and no other one."""
        for name, statement in self.statements.items():
            rest = statement.domain
            for site in (site for site in self.sites if site.origin is statement):
                own = site.instances.range()
                once = site.instances.is_injective() and own.is_subset(rest)
                require(once, f"{name} runs twice, or where the program does not run it")
                rest = rest.subtract(own)
            require(rest.is_empty(), f"{name} does not run: {rest.sample_point()}")

    def check_extents(self):
        """Local arrays are accessed inside their extents, arguments where the program does."""
        touched = [p.range() for each in self.statements.values() for p in each.places]
        touched = union(isl.UnionSet, touched)
        for access, place in (pair for site in self.sites for pair in site.pairs):
            name, dims = access.array, [f"i{k}" for k in range(len(access.subscripts))]
            sizes = self.nest.extents.get(name, [])
            own = zip(dims[len(dims) - len(sizes) :], sizes, strict=True)
            box = " and ".join(["1=1", *(f"0 <= {dim} < {size}" for dim, size in own)])
            box = isl.UnionSet(f"{self.nest.space} -> {{ {name}[{', '.join(dims)}] : {box} }}")
            inside = box if name in self.nest.extents else touched
            require(isl.UnionSet(place.range()).is_subset(inside), f"{name} is accessed outside")

    def check_loops(self):
        """No two iterations of a parallel loop conflict, and no lanes of a vector, in lockstep."""
        for one, other in product(self.sites, self.sites):
            for depth, loop in enumerate(one.block.loops):
                if loop not in other.block.loops or not (loop.parallel or loop.vector):
                    continue
                bounds = [each.bounds for s in (one, other) for each in s.block.loops[depth + 1 :]]
                fixed = not any(re.search(rf"\bi{depth}\b", each) for each in bounds)
                require(loop.parallel or fixed, "lanes of a vector have different loops inside")
                for a, b, pairs in one.conflicts(other):
                    for outer in range(depth):
                        pairs = pairs.equate(_IN, outer, _OUT, outer)
                    pairs = pairs.order_lt(_IN, depth, _OUT, depth)
                    if not loop.parallel and not pairs.is_empty():
                        late = one.timed(a.time[loop.depth + 1 :])
                        late = late.lex_ge_map(other.timed(b.time[loop.depth + 1 :]))
                        pairs = pairs.intersect(late)
                    require(pairs.is_empty(), f"a parallel or vector loop carries {a.array}")

    def is_direct(self, array):
        """Whether elements of an array stand for places of the nest one to one, without copies."""
        is_local, links = array in self.program.extents, []
        used, others = {array}, {access.array for s in self.copies for access in s.accesses}
        for site in (site for site in self.sites if site.origin):
            for p, access in enumerate(site.origin.accesses):
                (used if access.array == array else others).add(site.accesses[p].array)
                if access.array == array:
                    elements = site.instances.apply_range(site.origin.places[p])
                    if not is_local and not site.places[p].is_equal(elements):
                        return False
                    links += [elements.reverse().apply_range(site.places[p])] if is_local else []
        link = union(isl.UnionMap, links)
        return not used & others and link.is_single_valued() and link.is_injective()

    def check_order(self, array):
        """Accesses to an element of which one is a write keep their order, but for reductions."""
        for one, other in product(self.statements.values(), self.statements.values()):
            steps = one.reduction(self.is_fast) if one is other else ()
            every, kept = [], []
            for a, b, pairs in one.conflicts(other, array):
                every.append(pairs.intersect(one.timed(a.time).lex_lt_map(other.timed(b.time))))
                kept += [] if a in steps and b in steps else every[-1:]
            wrong = self.backward(one, other, every)
            if wrong and steps:
                self.reordered.add(next(k for k, v in self.statements.items() if v is one))
                wrong = self.backward(one, other, kept)
            require(not wrong, f"{array}: accesses run in another order: {wrong}")

    def backward(self, one, other, relations):
        whole = reduce(isl.Map.union, relations).coalesce() if relations else None
        for a, b in product(self.sites, self.sites) if relations else ():
            if a.origin is one and b.origin is other:
                pairs = a.instances.apply_range(whole).apply_range(b.instances.reverse())
                wrong = pairs.intersect(a.time.lex_gt_map(b.time))
                if not wrong.is_empty():
                    return wrong.sample()
        return None

    def check_dataflow(self, array):
        """Each read of some arrays sees the value of the same last write, through all copies.

        These are `array` and all whose accesses share places with it, by copies, too.
        """
        arrays, places, size = {array}, {array}, 0
        while size < len(arrays) + len(places):
            size = len(arrays) + len(places)
            for site in self.sites:
                own = {access.array for access in site.accesses}
                places |= own if site.origin is None and own & places else set()
                for k, access in enumerate(site.origin.accesses if site.origin else ()):
                    at = site.accesses[k]
                    if access.array in arrays or at.array in places:
                        arrays, places = arrays | {access.array}, places | {at.array}
            arrays |= places & set(self.program.arrays)
        every = [*self.statements.values(), *self.sites]
        every = [(a, place.range()) for each in every for a, place in each.pairs]
        arguments = arrays - set(self.program.extents)
        ends = union(isl.UnionSet, (e for a, e in every if a.is_write and a.array in arguments))
        elements = union(isl.UnionSet, (each for _, each in every))
        names, link = [elements.identity()], []
        for site in self.sites:
            for p in range(len(site.accesses)) if site.origin else ():
                target = site.instances.set_tuple_name(_OUT, f"{site.origin.name}_{p}")
                names.append(site.event(p, target))
            source = site.domain.identity().set_tuple_name(_OUT, f"{site.name}_0")
            link += [site.event(1, source)] if site.origin is None else []
        link, names = union(isl.UnionMap, link), union(isl.UnionMap, names)
        direct = found = self.flow(self.sites, places, ends)
        for _ in self.copies:
            through = found.apply_range(link).apply_range(direct)
            found = found.subtract_range(link.domain()).union(through)
        found = names.reverse().apply_range(found).apply_range(names)
        wanted = self.flow(self.statements.values(), arrays, ends)
        require(found.is_equal(wanted), f"{array}: a read sees the value of another write")
        return arrays

    def flow(self, statements, arrays, ends):
        """Reads and elements at the end -> their last writes, or the elements as they were."""
        end = isl.UnionSet(f"{{ [{', '.join(['1000000000'] + ['0'] * (_WIDTH - 1))}] }}")
        times = [isl.UnionMap.from_domain_and_range(ends, end)], []
        events = [ends.identity()], []
        for s, p in ((each, p) for each in statements for p in range(len(each.pairs))):
            access, place = s.pairs[p]
            if access.array in arrays:
                events[access.is_write].append(s.event(p, place))
                times[access.is_write].append(s.event(p, s.timed(access.time)))
        reads, writes, after, before = (union(isl.UnionMap, each) for each in (*events, *times))
        pairs = reads.apply_range(writes.reverse()).intersect(after.lex_gt_union_map(before))
        last = pairs.apply_range(before).lexmax().apply_range(before.reverse())
        pairs = pairs.intersect(last)
        return pairs.union(reads.subtract_domain(pairs.domain()))


def main(arguments=None):
    """Checks a file; returns the exit code."""
    parser = ArgumentParser(description="Checks a certificate of loopwright schedule.")
    parser.add_argument("file", help="what `loopwright schedule --certificate` has written")
    file = parser.parse_args(arguments).file
    isl.DEFAULT_CONTEXT.set_max_operations(OPERATIONS)
    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"))
        require((data["format"], data["version"]) == (FORMAT, VERSION), "another format")
        check = Check(data)
        check.run()
        steps = f"; reductions in another order: {', '.join(sorted(check.reordered))}"
        print(f"{file}: accepted{steps if check.reordered else ''}")
        return 0
    except (RejectedError, isl.Error, *_MALFORMED) as error:
        print(f"{file}: rejected: {error}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
