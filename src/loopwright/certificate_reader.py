# pyright: basic
"""Reads the two texts of a certificate: loops, arrays, accesses, values; for certificate.py."""

from __future__ import annotations

import re
from collections import namedtuple
from itertools import count, product
from typing import Any

import islpy as isl

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
# What may be accumulated, exactly in any order or not; through which operands of an operation.
_EXACT = re.findall(r"\w+", "addi muli maximumf minimumf maxsi maxui minsi minui andi ori xori")
_INEXACT = re.findall(r"\w+", "addf mulf maxnumf minnumf cmpmaxf cmpminf")
_STEPS = {f"arith.{kind}": (kind, 0, 1) for kind in (*_EXACT, *_INEXACT)}
_STEPS |= {"arith.subf": ("addf", 0), "math.fma": ("addf", 2), "arith.subi": ("addi", 0)}
_WORDS = re.findall(r"\w+", "floor ceil max min mod and or not")
_NAME, _SSA = r"(?!i\d+\b)[A-Za-z]\w*", r"%[\w$.-]+"

Loop = namedtuple("Loop", "time size kind bounds")
# What is around a statement: the time has positions in blocks and values of loops.
Block = namedtuple("Block", "loops domain time positions")
Array = namedtuple("Array", "name depth element rank")
Access = namedtuple("Access", "site number name array is_write place time element")


def require(condition, message):
    if not condition:
        raise ValueError(message)


class Values:
    """Value numbering: what is computed in the same way from the same loads has one number."""

    def __init__(self):
        self.nodes, self.loads, self.numbers = [], [], {}

    def number(self, operation, *operands):
        node = operation, operands
        if node not in self.numbers:
            self.numbers[node] = number = len(self.nodes)
            self.nodes.append(node)
            self.loads.append(
                ({number} if not operands else set()).union(
                    *(self.loads[each] for each in operands)
                )
            )
        return self.numbers[node]

    def replaced(self, number, others):
        """A value with others in place of some."""
        if number not in others:
            operation, operands = self.nodes[number]
            operands = [self.replaced(each, others) for each in operands]
            others[number] = self.number(operation, *operands)
        return others[number]

    def steps(self, number, load, kind):
        """The operations from a load to a value, if all are of a kind, and only these use it."""
        found = []
        while number != load:
            operation, operands = self.nodes[number]
            own, *passing = _STEPS.get(operation.split()[0], ("",))
            places = [k for k, each in enumerate(operands) if load in self.loads[each]]
            if own != kind or len(places) != 1 or places[0] not in passing:
                return []
            found.append(operation)
            number = operands[places[0]]
        return found


class Statement:
    """Loads, operations and stores: of the program, an instance of its `origin`, or a copy."""

    def __init__(self, text, name, block, time):
        self.text, self.name, self.block, self.time = text, name, block, time
        self.domain, self.kinds = block.domain.set_tuple_name(name), ""
        self.accesses, self.stored, self.values = [], [], dict(text.scalars)
        self.origin: Any = None
        self.instances: Any = None

    def map(self, name, text):
        """Affine expressions of the loops around: one value each, in each iteration."""
        head = self.text.head(len(self.block.loops), text)
        found = isl.Map(f"{head} -> {name}[{text}] }}").intersect_domain(self.block.domain)
        is_total = found.is_single_valued() and self.block.domain.is_subset(found.domain())
        require(is_total, f"not affine: {text}")
        return found.set_tuple_name(_IN, self.name)

    def conflicts(self, other, array=None):
        """Accesses to the same array, one of them a write, with the pairs of instances."""
        for a, b in product(self.accesses, other.accesses):
            if a.array == b.array and array in (None, a.array) and (a.is_write or b.is_write):
                yield a, b, self.apart(other, a.place.apply_range(b.place.reverse()))

    def apart(self, other, pairs):
        """Of pairs of iterations, those of tiles that are the same or at least their size apart."""
        for k, loop in enumerate(self.block.loops):
            if loop.size and loop in other.block.loops:
                apart = f"i = j or i >= j + {loop.size} or j >= i + {loop.size}"
                apart = isl.Map(f"{self.text.space} -> {{ [i] -> [j] : {apart} }}")
                own, theirs = (each.map("", f"i{k}") for each in (self, other))
                pairs = pairs.intersect(own.apply_range(apart).apply_range(theirs.reverse()))
        return pairs

    def reduction(self, is_fast):
        """What is accumulated, and the numbers of the accesses, if steps may be reordered."""
        values, store = self.text.values, next(a for a in self.accesses if a.is_write)
        others = (a for a in self.accesses if (a.array, a.is_write) == (store.array, False))
        loads = [a.number for a in others if a.place.is_equal(store.place)]
        if len(self.stored) != 1 or len(loads) != 1:
            return "", ()
        kind, *_ = _STEPS.get(values.nodes[self.stored[0]][0].split()[0], ("",))
        found = values.steps(self.stored[0], values.number(f"load {loads[0]}"), kind)
        flags = [re.search(r"fastmath<(.*?)>", operation) for operation in found]
        free = all(each and {"fast", "reassoc"} & {*each[1].split(",")} for each in flags)
        free = found and (free or is_fast or kind in _EXACT)
        return (kind, (loads[0], store.number)) if free else ("", ())


class Text:
    """The text of the program or the nest: its arrays and statements."""

    def __init__(self, data, part, values):
        self.values, self.prefix = values, f"_{part}_"
        parameters, sizes = data["parameters"], data["tile_sizes"]
        names = [*parameters, *sizes]
        is_known = all(re.fullmatch(_NAME, name) for name in names) and len({*names}) == len(names)
        require(is_known, "names of parameters")
        self.space = f"[{', '.join(names)}]"
        words = [r"i\d+", *_WORDS, *parameters, *(sizes if part == "nest" else ())]
        self.sizes, self.words = sizes, "|".join(words)
        least = [f"{name} >= 1" for name in sizes]
        least += [f"{name} >= 0" for name, of in parameters.items() if of.startswith("memref.dim ")]
        context = isl.Set(f"{self.space} -> {{ [] : {' and '.join(['1=1', *least])} }}")
        self.scalars = {name: values.number(name) for name in data["scalars"]}
        self.arrays = {name: Array(f"_{name}", 0, *each) for name, each in data["arrays"].items()}
        self.extents, self.made, self.statements, self.accesses = {}, {}, [], []
        self.copied = values.number("load 0")
        self.blocks = [Block((), context, (), count())]
        for line in data[part]:
            depth = (len(line) - len(line.lstrip())) // 2
            require(depth < len(self.blocks), f"indentation of {line}")
            del self.blocks[depth + 1 :]
            self._line(self.blocks[-1], line.strip())
        for statement in self.statements:
            require(statement.stored, f"{statement.name} stores nothing")

    def head(self, depth, text, signs=""):
        """The loops around in isl's syntax; requires that a text has numbers, names and signs."""
        is_affine = re.fullmatch(rf"(\b({self.words})\b|[\d\s()+*,/{signs}-])*", text)
        require(is_affine, f"not affine: {text}")
        return f"{self.space} -> {{ [{', '.join(f'i{k}' for k in range(depth))}]"

    def _where(self, domain, count, text):
        """A condition on a domain with some more dimensions."""
        domain = domain.add_dims(isl.dim_type.set, count)
        head = self.head(domain.dim(isl.dim_type.set), text, "<>=")
        return domain.intersect(isl.Set(f"{head} : {text} }}"))

    def _line(self, block, line):
        time, depth = (*block.time, str(next(block.positions))), len(block.loops)
        if found := re.fullmatch(r"(if|for(?: tiles of (\w+))?( parallel| vector)?) : (.*)", line):
            word, size, kind, text = found.groups()
            require(size is None or size in self.sizes, f"the size {size}")
            time = (*time, f"i{depth}") if word != "if" else time
            loops = (Loop(time, size, kind, text),) if word != "if" else ()
            domain = self._where(block.domain, len(loops), text)
            self.blocks.append(Block(block.loops + loops, domain, time, count()))
        elif found := re.fullmatch(rf"array ({_NAME}) (\w+) (\d+) : (.*)", line):
            name, element, rank, bounds = found.groups()
            require(name not in self.arrays, f"the name {name}")
            array = Array(self.prefix + name, depth, element, depth + int(rank))
            extent = self._where(block.domain, int(rank), bounds).set_tuple_name(array.name)
            self.arrays[name], self.extents[array.name] = array, isl.UnionSet(extent)
        elif found := re.fullmatch(rf"run ({_NAME})(?:\[(.*)\])?", line):
            is_own, name = self.prefix == "_program_", f"_{len(self.statements)}"
            statement = Statement(self, found[1] if is_own else name, block, time)
            statement.origin = found[1] if is_own or found[2] is not None else None
            statement.instances = found[2] is not None and statement.map(*found.groups())
            self.statements.append(statement)
        else:
            is_inside = self.statements and self.statements[-1].block is block
            require(is_inside, f"outside of statements: {line}")
            self._operation(self.statements[-1], line)

    def _operation(self, statement, line):
        """A load, a store or an operation; all copies to a local array make the same of a value."""
        access = rf"(?:({_SSA}) = load|store ({_SSA}),) ({_NAME})\[(.*)\] : (\w+)"
        if found := re.fullmatch(access, line):
            _, stored, *place = found.groups()
            load = self.values.number(f"load {len(statement.accesses)}")
            array = self._access(statement, "w" if stored else "r", *place)
        if found and stored:
            statement.stored.append(statement.values[stored])
            is_copy = statement.origin is None and statement.kinds == "rw"
            made = statement.stored[0] if is_copy else self.copied
            is_same = self.made.setdefault(array, made) == made
            require(
                is_same and (made == self.copied or array in self.extents), f"copies to {array}"
            )
            return
        if found:
            made = self.made.setdefault(array, self.copied)
            value = self.values.replaced(made, {self.copied: load})
        else:
            found = re.fullmatch(rf"({_SSA}) = ((?:arith|math)\.[^{{]*)", line)
            require(found, f"not in the subset: {line}")
            assert found is not None
            operands = [statement.values[name] for name in re.findall(_SSA, found[2])]
            value = self.values.number(re.sub(_SSA, "{}", found[2]), *operands)
        require(found[1] not in statement.values, f"{found[1]} is defined twice")
        statement.values[found[1]] = value

    def _access(self, statement, kind, name, subscripts, element):
        array, number = self.arrays[name], len(statement.accesses)
        outer = [f"i{k}" for k in range(array.depth)]
        place = statement.map(array.name, ", ".join([*outer, subscripts] if subscripts else outer))
        require((place.dim(_OUT), element) == (array.rank, array.element), f"an access to {name}")
        name, time = f"{statement.name}_{number}", (*statement.time, str(number))
        own = Access(statement, number, name, array.name, kind == "w", place, time, element)
        statement.accesses.append(own)
        self.accesses.append(own)
        statement.kinds += kind
        return array.name
