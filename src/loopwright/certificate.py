# pyright: basic
"""Checks a certificate of `loopwright schedule --certificate`: is the loop nest the program?

This file needs islpy and nothing of the compiler. It reads both texts, computes all dependences
anew, and proves for all sizes that each instance of each statement runs exactly once and computes
the same; that accesses to an element keep their order, or, where copies come in, that each read
sees the same last write; that no parallel or vector loop carries a dependence; and that local
arrays are accessed inside their extents. The format: docs/reference/certificates.md.
"""

from __future__ import annotations

import ast
import json
import re
import signal
import sys
from argparse import ArgumentParser
from collections import namedtuple
from functools import reduce
from itertools import chain, count, groupby, product
from pathlib import Path

import islpy as isl

FORMAT, VERSION, OPERATIONS, SECONDS = "loopwright certificate", 1, 500_000_000, 300  # Limits.
_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_SSA, _DIM = r"%[\w$.-]+", r"(\?|\d+) ?x"
_MAP = r"affine_(?:map|set)<\((.*?)\)(?:\[(.*?)\])? (?:->|:) \((.*)\)>\((.*?)\)(?:\[(.*?)\])?"
_FOR = r"affine\.for (%\S+) = (.*) to (.*?)(?: step (\d+))?( parallel)?( vector \d+)? {"
_ELEMENT = rf"({_SSA})\[(.*?)\](?: {{.*}})? : \S+"
# What may be accumulated, exactly in any order or not; through which operands of an operation.
_EXACT = re.findall(r"\w+", "addi muli maximumf minimumf maxsi maxui minsi minui andi ori xori")
_STEPS = {f"arith.{kind}": (kind, 0, 1) for kind in (*_EXACT, "addf", "mulf", "maxnumf", "minnumf")}
_STEPS |= {"arith.subf": ("addf", 0), "math.fma": ("addf", 2), "arith.subi": ("addi", 0)}
_DIVISIONS = {"floordiv": "//", "ceildiv": "@", "mod": "%%"}  # As Python's parser reads them.
_INFIX = {ast.FloorDiv: "floor({0}/{1})", ast.MatMult: "(-floor((-{0})/{1}))"}
_INFIX |= {ast.Mod: "({0} - {1}*floor({0}/{1}))", ast.GtE: "({} >= {})", ast.Eq: "({} = {})"}
_INFIX |= {ast.Add: "({} + {})", ast.Sub: "({} - {})", ast.Mult: "({} * {})"}

# A value: operation `template` of `operands`; a load has an Access, an index its text.
Node = namedtuple("Node", "template operands access", defaults=((), None))
Access = namedtuple("Access", "is_write array subscripts time number")
_OF_COPY = Access(False, *[None] * 4), Access(True, *[None] * 4)
Store = namedtuple("Store", "value access block instance")
Loop = namedtuple("Loop", "number depth bounds parallel vector")
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


def union(kind, parts):
    return reduce(kind.union, parts, kind("{}"))


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

    def __init__(self, lines, parameters, prefix):
        self.parameters = {meaning: f"p{k}" for k, meaning in enumerate(parameters.values())}
        self.space = f"[{', '.join(self.parameters.values())}]"
        self.prefix, self.arrays, self.extents = prefix, {}, {}
        self.stores, self.conditions, self.numbers, self.width = [], ["1=1"], count(), 1
        (arguments,) = re.findall(r"^func\.func @[\w$.-]+\((.*)\) {$", lines[0])
        names: dict = dict(zip(parameters, self.parameters.values(), strict=True))
        for name, kind in re.findall(rf"({_SSA}) ?: ([^%]*)", arguments):
            names[name] = self.parameters.get(kind.startswith("index") and name, Node(name))
            if kind.startswith("memref<"):
                names[name] = self._array("a", name, len(re.findall(_DIM, kind)), 0)
        self.blocks, self.instance = [Block(names, (), (), (), count())], (-1, None, [])
        for line in lines[1:-1]:
            self._line(line.strip())
        require(len(self.blocks) == 1 and lines[-1].strip() == "}", "unbalanced braces")
        self.context = isl.Set(f"{self.space} -> {{ : {' and '.join(self.conditions)} }}")

    def _array(self, prefix, name, rank, depth):
        key = f"{prefix}{len(self.arrays)}_" + re.sub(r"\W", "", name)
        self.arrays[key] = rank + depth
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
            access = self._access(block, time, found[2], found[3], is_write=True)
            self.stores.append(Store(self._operand(names, found[1]), access, block, self.instance))
        elif found := re.fullmatch(r"instance (?:(\w+)\[(.*)\]|copy)", line):
            self.instance = next(self.numbers), found[1], affines(found[2] or "", names)
        elif found := re.fullmatch(rf"({_SSA}) = (.*)", line):
            require(found[1] not in names, f"{found[1]} is defined twice")
            names[found[1]] = self._value(block, time, *found.groups())
        else:
            require(re.match("(func.)?return$|memref.dealloc ", line), f"not in the subset: {line}")

    def _loop(self, block, time, variable, low, high, step, parallel, vector):
        own = f"i{len(block.loops)}"
        require(variable not in block.names, f"{variable} is defined twice")
        lower = affines(low.removeprefix("max "), block.names)
        upper = affines(high.removeprefix("min "), block.names)
        conditions = [f"({own} >= {each})" for each in lower] + [f"({own} < {e})" for e in upper]
        first = f"max({', '.join(lower)})" if len(lower) > 1 else lower[0]
        conditions += [] if step in (None, "1") else [f"(({own} - {first}) mod {step} = 0)"]
        loop = Loop(next(self.numbers), len(time), " ".join(lower + upper), parallel, vector)
        self._open(block, (*time, own), conditions, {variable: own}, [loop])

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
            key, depth = array = self._array(self.prefix, name, len(shape), len(block.loops))
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
        return Node(re.sub(_SSA, "{}", text), (*operands,))


class Statement:
    """Stores that run together; in the nest, `instances` of the `origin`, or a copy without one."""

    def __init__(self, text, name, stores, origin=None):
        self.text, self.name, self.origin, self.block = text, name, origin, stores[0].block
        require(all(store.block is self.block for store in stores), f"{name}: several blocks")
        self.values, self.nodes = [store.value for store in stores], {}
        for value in self.values:
            self._reach(value)
        accesses = [n.access for n in self.nodes.values() if n.template == "load"]
        accesses += [store.access for store in stores]
        self.accesses = sorted(accesses, key=lambda access: access.number)
        conditions = " and ".join(["1=1", *self.block.conditions])
        self.domain = isl.Set(self.written("", f" : {conditions}")).intersect_params(text.context)
        self.pairs = [(a, self.map(f"{a.array}[{', '.join(a.subscripts)}]")) for a in self.accesses]
        self.time = self.timed(stores[0].access.time)
        start, _, arguments = stores[0].instance
        if origin is not None:
            require(len(arguments) == len(origin.block.loops), f"instances of {origin.name}")
            self.instances = self.map(f"{origin.name}[{', '.join(arguments)}]")
        own = (a.time[:-1] == [*self.block.time] and a.number > start for a in self.accesses)
        require(start < 0 or all(own), f"accesses of {name} in other blocks")

    def _reach(self, node):
        for each in node.operands if id(node) not in self.nodes else ():
            self._reach(each)
        self.nodes[id(node)] = node

    def written(self, target, rest=""):
        dims = ", ".join(f"i{k}" for k in range(len(self.block.loops)))
        return f"{self.text.space} -> {{ {self.name}[{dims}]{target and ' -> '}{target}{rest} }}"

    def map(self, target):
        return isl.Map(self.written(target)).intersect_domain(self.domain)

    def timed(self, time):
        return self.map(f"[{', '.join([*time] + ['0'] * (self.text.width - len(time)))}]")

    def event(self, p, relation):
        return isl.UnionMap(relation.set_tuple_name(_IN, f"{self.name}_{p}"))

    def conflicts(self, other, array=None):
        """Accesses to the same array, one of them a write, with the pairs of instances."""
        for (a, at), (b, to) in product(self.pairs, other.pairs):
            if a.array == b.array and array in (None, a.array) and (a.is_write or b.is_write):
                yield a, b, at.apply_range(to.reverse())

    def reduction(self, is_fast):
        """What is accumulated, and the accesses for it, if steps may be reordered."""
        nodes, top = self.nodes.values(), self.values[0]
        store = next(a for a in self.accesses if a.is_write)
        same = [n for n in nodes if n.template == "load" and n.access[1:3] == store[1:3]]
        if len(self.values) != 1 or len(same) != 1 or same[0].access.time[:-1] != store.time[:-1]:
            return "", ()
        kind, found, node = _STEPS.get(top.template.split()[0], ("",))[0], [], same[0]
        while node is not top:  # Only operations of this kind use it on the way, each once.
            users = [(n, k) for n in nodes for k, each in enumerate(n.operands) if each is node]
            own, *passing = _STEPS.get(users[0][0].template.split()[0], ("",))
            if len(users) != 1 or own != kind or users[0][1] not in passing:
                return "", ()
            found.append(node := users[0][0])
        flags = [re.search(r"fastmath<(.*?)>", node.template) for node in found]
        free = all(each and {"fast", "reassoc"} & set(split(each[1])) for each in flags)
        free = found and (free or is_fast or kind in _EXACT)
        return (kind, (same[0].access, store)) if free else ("", ())


class Check:
    """The proof that the nest is the program."""

    def __init__(self, data):
        parameters, texts = data["parameters"], (data["program"], data["nest"])
        require(texts[0][0] == texts[1][0], "program and nest have other arguments")
        self.is_fast, self.reordered, self.table = data["fast_math"] is True, set(), {}
        self.program, self.nest = Text(texts[0], parameters, "p"), Text(texts[1], parameters, "n")
        require(all(re.match("[A-Za-z]", name) for name in parameters), "names of parameters")
        self.nest.context = self.program.context
        self.program.width = self.nest.width = max(self.program.width, self.nest.width)
        stores, self.statements, self.sites = self.program.stores, {}, []
        numbers = sorted(number for each in data["statements"].values() for number in each)
        require(numbers == [*range(len(stores))], "the statements are not the program's stores")
        for name, own in data["statements"].items():
            own = [stores[number] for number in own]
            require(re.fullmatch(r"S\w*", name), f"the name {name}")  # None of an array.
            self.statements[name] = Statement(self.program, name, own)
        for (start, name, _), own in groupby(self.nest.stores, lambda store: store.instance):
            require(start >= 0, "a store of no instance")
            origin = name and self.statements[name]
            self.sites.append(Statement(self.nest, f"_{len(self.sites)}", [*own], origin))
        self.copies = [site for site in self.sites if site.origin is None]
        self.calls = [site for site in self.sites if site.origin]
        # Which arrays of the program the places of an array of the nest stand for; None: copies.
        self.users = {array: {array} for array in self.program.arrays}
        for site in self.sites:
            wanted = site.origin.accesses if site.origin else _OF_COPY
            same = [a.is_write for a in site.accesses] == [a.is_write for a in wanted]
            require(same, f"accesses of {site.origin.name if site.origin else 'a copy'}")
            for access, other in zip(site.accesses, wanted, strict=True):
                self.users.setdefault(access.array, set()).add(other.array)

    def run(self):
        for check in (self.check_values, self.check_coverage, self.check_extents, self.check_loops):
            check()
        direct = {array for array in self.program.arrays if self.is_direct(array)}
        for array in direct:
            self.check_order(array)
        if others := set(self.program.arrays) - direct:
            self.check_dataflow(others)
        return self.reordered

    def numbers(self, statement, load, index):
        """The numbers of stored values: equal where the same is computed from the same loads."""
        found = {}
        for key, node in statement.nodes.items():
            if node.template in ("load", "index"):
                found[key] = (load if node.template == "load" else index)(statement, node.access)
            else:
                value = node.template, *(found[id(each)] for each in node.operands)
                found[key] = self.table.setdefault(value, len(self.table))
        return [found[id(value)] for value in statement.values]

    def copied_value(self, copy, value):
        """What a copy makes of a value; without a copy, the value."""
        if copy is None:
            return value
        return self.numbers(copy, lambda *_: value, lambda *_: require(False, "a copied index"))[0]

    def check_values(self):
        """Each statement of the nest computes what that of the program does from its loads."""
        copies = {}  # Array -> one of the copies to it, which all make the same of a value.
        for site in self.sites:
            copy = None if site.origin else site
            value = self.copied_value(copy, "x")
            for array in (access.array for access in site.accesses if access.is_write):
                same = value == self.copied_value(copies.setdefault(array, copy), "x")
                require(same and (value == "x" or array in self.nest.extents), f"copies to {array}")
        copied = (self.copied_value(copies.get(c.accesses[0].array), "x") for c in self.copies)
        require({*copied} <= {"x"}, "a copy of products")

        def load(statement, access):
            number = f"load {statement.accesses.index(access)}"
            return self.copied_value(copies.get(access.array), number)

        for site in self.calls:
            to_origin = isl.PwMultiAff.from_map(site.instances)

            def index(statement, text, site=site, to_origin=to_origin):
                value = isl.PwAff(statement.written(f"[{text}]"))
                value = value if statement is site else value.pullback_pw_multi_aff(to_origin)
                return str(value.gist(site.domain).coalesce())

            own, wanted = (self.numbers(each, load, index) for each in (site, site.origin))
            require(own == wanted, f"the nest computes something else than {site.origin.name}")

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
        touched = (place.range() for each in self.statements.values() for _, place in each.pairs)
        inside = union(isl.UnionSet, (*touched, *self.nest.extents.values()))
        for access, place in (pair for site in self.sites for pair in site.pairs):
            is_inside = isl.UnionSet(place.range()).is_subset(inside)
            require(is_inside, f"{access.array} is accessed outside")

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
                    if not loop.parallel:
                        own, theirs = (each.time[loop.depth + 1 :] for each in (a, b))
                        pairs = pairs.intersect(one.timed(own).lex_ge_map(other.timed(theirs)))
                    require(pairs.is_empty(), f"a parallel or vector loop carries {a.array}")

    def is_direct(self, array):
        """Whether elements of an array stand for places of the nest one to one, without copies."""
        is_local = array in self.program.extents
        links = []
        pairs = (zip(s.origin.pairs, s.pairs, [s] * len(s.pairs), strict=True) for s in self.calls)
        for (access, place), (_, own), site in chain.from_iterable(pairs):
            if access.array == array:
                elements = site.instances.apply_range(place)
                if not is_local and not own.is_equal(elements):
                    return False
                links += [elements.reverse().apply_range(own)] if is_local else []
        link = union(isl.UnionMap, links)
        is_alone = all(users == {array} for users in self.users.values() if array in users)
        return is_alone and link.is_single_valued() and link.is_injective()

    def check_order(self, array):
        """Accesses to an element of which one is a write keep their order, but for reductions."""
        order = {}  # The names of reductions, of their steps, or none -> pairs in program order.
        steps = {each: each.reduction(self.is_fast) for each in self.statements.values()}
        for (one, (kind, first)), (other, (same, second)) in product(steps.items(), steps.items()):
            for a, b, pairs in one.conflicts(other, array):
                ordered = pairs.intersect(one.timed(a.time).lex_lt_map(other.timed(b.time)))
                names = (one.name, other.name) if a in first and b in second else ()
                order.setdefault(frozenset(names if kind == same else ()), []).append(ordered)
        order = [(names, union(isl.UnionMap, each).coalesce()) for names, each in order.items()]
        for (names, pairs), a, b in product(order, self.calls, self.calls):
            pairs = pairs.apply_domain(a.instances.reverse()).apply_range(b.instances.reverse())
            wrong = pairs.intersect(a.time.lex_gt_map(b.time)) if not pairs.is_empty() else pairs
            require(names or wrong.is_empty(), f"{array}: accesses run in another order: {wrong}")
            self.reordered |= set() if wrong.is_empty() else names

    def check_dataflow(self, arrays):
        """Each read of the arrays sees the value of the same last write, through all copies."""
        places = {place for place, users in self.users.items() if users & {None, *arrays}}
        every = [*self.statements.values(), *self.sites]
        every = [(a, place.range()) for each in every for a, place in each.pairs]
        arguments = arrays - set(self.program.extents)
        ends = union(isl.UnionSet, (e for a, e in every if a.is_write and a.array in arguments))
        elements = union(isl.UnionSet, (each for _, each in every))
        names = [elements.identity()]
        for site, p in ((s, p) for s in self.calls for p in range(len(s.accesses))):
            target = site.instances.set_tuple_name(_OUT, f"{site.origin.name}_{p}")
            names.append(site.event(p, target))
        sources = ((c, c.domain.identity()) for c in self.copies)
        link = [c.event(1, each.set_tuple_name(_OUT, f"{c.name}_0")) for c, each in sources]
        link, names = union(isl.UnionMap, link), union(isl.UnionMap, names)
        direct = found = self.flow(self.sites, places, ends)
        for _ in self.copies:
            through = found.apply_range(link).apply_range(direct)
            found = found.subtract_range(link.domain()).union(through)
        # Each read is in `found`, and has one write in `wanted`: so a subset is the whole.
        wanted = self.flow(self.statements.values(), arrays, ends)
        is_same = names.reverse().apply_range(found).apply_range(names).is_subset(wanted)
        is_same &= found.intersect_range(link.domain()).is_empty()
        require(is_same, f"{', '.join(arrays)}: a read sees the value of another write")

    def flow(self, statements, arrays, ends):
        """Reads and elements at the end -> their last writes, or the elements as they were."""
        end = isl.UnionSet(f"{{ [{', '.join(['1000000000'] + ['0'] * (self.nest.width - 1))}] }}")
        events = [ends.identity()], []
        times = [isl.UnionMap.from_domain_and_range(ends, end)], []
        for statement in statements:
            for p, (access, place) in enumerate(statement.pairs):
                if access.array in arrays:
                    events[access.is_write].append(statement.event(p, place))
                    times[access.is_write].append(statement.event(p, statement.timed(access.time)))
        reads, writes, after, before = (union(isl.UnionMap, each) for each in (*events, *times))
        pairs = reads.apply_range(writes.reverse()).intersect(after.lex_gt_union_map(before))
        pairs = pairs.intersect(pairs.apply_range(before).lexmax().apply_range(before.reverse()))
        return pairs.union(reads.subtract_domain(pairs.domain()))


def main(arguments=None):
    """Checks a file; returns the exit code."""
    parser = ArgumentParser(description="Checks a certificate of loopwright schedule.")
    parser.add_argument("file", help="what `loopwright schedule --certificate` has written")
    file = parser.parse_args(arguments).file
    isl.DEFAULT_CONTEXT.set_max_operations(OPERATIONS)
    signal.alarm(SECONDS)  # Ends the process: Python runs no handler while isl computes.
    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"))
        require((data["format"], data["version"]) == (FORMAT, VERSION), "another format")
        others = ", ".join(sorted(Check(data).run())) or "none"
        print(f"{file}: accepted; reductions in another order: {others}")
        return 0
    except Exception as error:  # Whatever goes wrong, nothing is proved.
        print(f"{file}: rejected: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
