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
_NAME, _SSA, _WORDS = r"(?!i\d+\b)[A-Za-z]\w*", r"%[\w$.-]+", "floor|ceil|max|min|mod|and|or|not"
_EXTENSION = r"arith\.ext([su])i {} : i(\d+) to i(\d+)"

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
        self.nodes, self.leaves, self.numbers = [], [], {}

    def number(self, operation, *operands):
        if wide := re.fullmatch(_EXTENSION, operation):
            require(int(wide[2]) < int(wide[3]), operation)
            inner, value = self.nodes[operands[0]]
            own = re.fullmatch(_EXTENSION, inner)
            if own and own[3] == wide[2] and own[1] in ("u", wide[1]):  # Zeros in front: positive.
                operation, operands = f"arith.ext{own[1]}i {{}} : i{own[2]} to i{wide[3]}", value
        node, number = (operation, operands), len(self.nodes)
        if node not in self.numbers:
            self.numbers[node] = number
            self.nodes.append(node)
            leaves = (self.leaves[each] for each in operands)
            self.leaves.append(set().union(*leaves) if operands else {number})
        return self.numbers[node]

    def replaced(self, number, others):
        """A value with others in place of some."""
        if number not in others:
            operation, operands = self.nodes[number]
            operands = [self.replaced(each, others) for each in operands]
            others[number] = self.number(operation, *operands)
        return others[number]

    def kind(self, number):
        """What accumulates there, and through which operands."""
        return _STEPS.get(self.nodes[number][0].split()[0], ("",))

    def steps(self, number, load):
        """The operations from a load to a value, if all are of its kind, and only these use it."""
        kind, found = self.kind(number)[0], []
        while number != load:
            operation, operands = self.nodes[number]
            own, *passing = self.kind(number)
            places = [k for k, each in enumerate(operands) if load in self.leaves[each]]
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
        kind = values.kind(self.stored[0])[0]
        found = values.steps(self.stored[0], values.number(f"load {loads[0]}"))
        flags = [re.search(r"fastmath<(.*?)>", operation) for operation in found]
        free = all(each and {"fast", "reassoc"} & {*each[1].split(",")} for each in flags)
        free = found and (free or is_fast or kind in _EXACT)
        return (kind, (loads[0], store.number)) if free else ("", ())


class Text:
    """The text of the program or the nest: its arrays and statements."""

    def __init__(self, data, part, values):
        self.values, self.prefix, self.sizes = values, f"_{part}_", data["tile_sizes"]
        parameters, names = data["parameters"], [*data["parameters"], *self.sizes]
        is_known = all(re.fullmatch(_NAME, name) for name in names) and len({*names}) == len(names)
        require(is_known, "names of parameters")
        self.space = f"[{', '.join(names)}]"
        self.words = "|".join([r"i\d+", _WORDS, *(names if part == "nest" else parameters)])
        least = ["1 = 1", *(f"{name} >= 1" for name in self.sizes)]
        least += [f"{name} >= 0" for name, of in parameters.items() if of.startswith("memref.dim ")]
        context = isl.Set(f"{self.space} -> {{ [] : {' and '.join(least)} }}")
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
        require(all(each.stored for each in self.statements), "a statement stores nothing")

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
            _, stored, name, subscripts, element = found.groups()
            array, made = self.arrays[name].name, (self.copied, element)
            if stored:
                statement.stored.append(statement.values[stored])
                if statement.origin is None and statement.kinds == "r":
                    made = statement.stored[0], statement.accesses[0].element
            known = self.made.setdefault(array, made)
            require(known == made or not stored, f"copies to {name}")
            require(known == (self.copied, element) or array in self.extents, f"copies to {name}")
            self._check_type(known[0], known[1], element)
            self._access(statement, "w" if stored else "r", name, subscripts, element, known[1])
            if stored:
                return
            load = self.values.number(f"load {len(statement.accesses) - 1}")
            value = self.values.replaced(known[0], {self.copied: load})
        else:
            found = re.fullmatch(rf"({_SSA}) = ((?:arith|math)\.[^{{]*)", line)
            require(found, f"not in the subset: {line}")
            assert found is not None
            operands = [statement.values[name] for name in re.findall(_SSA, found[2])]
            value = self.values.number(re.sub(_SSA, "{}", found[2]), *operands)
        require(found[1] not in statement.values, f"{found[1]} is defined twice")
        statement.values[found[1]] = value

    def _check_type(self, value, source, element):
        """Copies have the type of what they copy, or that to which they extend it."""
        operation, operands = self.values.nodes[value]
        wide = re.fullmatch(rf"arith\.ext\w+ {{}} : {source} to {element}", operation)
        is_wide = wide and operands == (self.copied,)
        is_typed = is_wide if operation.startswith("arith.ext") else source == element
        require(is_typed, f"copies of {source} as {element}")

    def _access(self, statement, kind, name, subscripts, element, source):
        array, number = self.arrays[name], len(statement.accesses)
        outer = [f"i{k}" for k in range(array.depth)]
        place = statement.map(array.name, ", ".join([*outer, subscripts] if subscripts else outer))
        require((place.dim(_OUT), element) == (array.rank, array.element), f"an access to {name}")
        name, time = f"{statement.name}_{number}", (*statement.time, str(number))
        own = Access(statement, number, name, array.name, kind == "w", place, time, source)
        statement.accesses.append(own)
        self.accesses.append(own)
        statement.kinds += kind
