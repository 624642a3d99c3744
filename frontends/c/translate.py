"""Translation of a region of C to affine MLIR text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial

from ...dialects.errors import SourceError
from ...dialects.marks import ASSUMPTION, UNSIGNED
from ...dialects.source_location import Location
from ...runtime.program import Function
from ...support.cached_property import cached_property
from ..text.affine import Affine, Index
from ..text.affine import Name as TextName
from ..text.emitter import Emitter, Line
from .c_types import BOOL, Elements, IntegerType, NumberType, elements_of, has_structures
from .certain_reads import first_loops, uncertain_reads
from .counted_loops import counts, with_for_loops
from .counters import without_counters
from .declared_extents import declared_extents, sizes_of_extents
from .domain import Domain
from .early_exits import without_early_exits
from .element_sizes import ElementSizes, NewSize
from .expressions import Expressions
from .flat_arrays import NewStrides, Strides, extents
from .growing_loops import grows, may_grow, without_growing
from .loop_tests import with_plain_tests
from .moving_pointers import moved_pointers, without_moves
from .names import Names
from .padded_rows import spelled_length
from .parsing import parsed
from .regions import Region, plain_name
from .rotated_pointers import Rotation, without_rotations
from .sizes import size_symbols
from .statements import Statements
from .table_loops import has_tables, without_table_loops
from .tree import (
    Block,
    Declare,
    For,
    Name,
    Piece,
    Refused,
    Statement,
    Symbol,
    While,
    all_expressions,
    all_statements,
    blocks_of,
)
from .values import Array, Linear, Scalar
from .variables import find_variables, is_live, loop_symbols


@dataclass(frozen=True)
class Parameter:
    """An argument: a size, a number, or an array (`elements`).

    `lengths` are the inner extents of an array that C has as one of one dimension.
    """

    symbol: Symbol
    name: str
    mlir: str
    elements: Elements | None = None
    lengths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Translation:
    """A region as text; `nodes` has the piece of C for each line of it, `code` all but its name.

    `assumptions` are expressions over the sizes that must not be negative: C means something else
    where they are. With `has_products`, subscripts are not affine in
    loop variables. `ended_loops` are loop variables that are read behind the region;
    `conditional_stores` are of memory that C writes under a condition on data only, and
    `conditional_accesses` are pieces of C with accesses that are under such conditions;
    `uncertain_reads` are variables behind pointers that C may not follow; `rotations` are loops
    behind which pointers that they rotate may be used; with `uses_rotated`, the region uses some.
    `gathered` are arrays with subscripts that depend on data, by name, with whether some elements
    are accessed under a condition on data; `written` are the names of what is written. C follows
    all pointers of `uncertain_reads` where the loops `running` run, if there are any.
    """

    region: Region
    code: str
    nodes: tuple[Piece, ...]
    parameters: tuple[Parameter, ...]
    assumptions: tuple[Affine, ...]
    ended_loops: tuple[Symbol, ...] = ()
    conditional_stores: tuple[tuple[Symbol, Piece], ...] = ()
    uncertain_reads: tuple[Symbol, ...] = ()
    has_products: bool = False
    rotations: tuple[Rotation, ...] = ()
    uses_rotated: bool = False
    conditional_accesses: tuple[Piece, ...] = ()
    gathered: Mapping[str, bool] = field(default_factory=dict[str, bool])
    written: Set[str] = frozenset()
    running: tuple[For, ...] = ()

    @property
    def text(self) -> str:
        """The function in MLIR, with the name of the region."""
        return f"func.func @{self.region.name}{self.code}"

    @property
    def places(self) -> list[Location]:
        """The position in the C file for each line of the text."""
        return [self.place(each) for each in self.nodes]

    @cached_property
    def function(self) -> Function:
        """The function, with the name of that of C: regions may get theirs later."""
        name = plain_name(self.region.function)
        text = f"func.func @{name}{self.code}"
        return parsed(text, self.places, self.region.function.source)[name]

    def place(self, piece: Piece) -> Location:
        """Where a piece is in the file itself: what is inlined from a header is at the region."""
        is_own = piece.place.file == self.region.function.source.file
        return piece.place if is_own else self.region.place

    @property
    def is_affine(self) -> bool:
        """Whether the text has no loops over data, no stores at such subscripts, no products."""
        marks = ("scf.", "memref.store")
        return not self.has_products and not any(mark in self.code for mark in marks)

    @property
    def has_affine_loops(self) -> bool:
        """Whether all of its loops are affine, if not all of its subscripts."""
        return "scf." not in self.code


def translate(region: Region) -> Translation:
    """The text of a region; raises SourceError."""
    block = region.block
    if region.function.has_labels:
        return _with_tables(region, block)
    plain = with_plain_tests(block)
    try:
        return _with_tables(region, plain)
    except SourceError as error:
        whole = with_plain_tests(block, counting=True)
        if whole is plain:
            raise
        try:
            return _with_tables(region, whole)
        except SourceError:
            raise error from None


def _with_tables(region: Region, block: Block) -> Translation:
    """The text of a region, where loops along constant tables are unrolled."""
    behind = region.behind
    if not region.function.has_labels:
        block = without_early_exits(block, behind)
    if not region.function.has_labels and has_tables(block):
        try:
            return _grown(region, without_table_loops(block, behind), behind)
        except SourceError:
            pass  # the elements of tables are data
    return _grown(region, block, behind)


def _grown(region: Region, block: Block, behind: Sequence[Statement]) -> Translation:
    """The text of a region, where `for` loops without constant steps are `while` loops."""
    if region.function.has_labels or not may_grow(block):
        return _counted(region, block, behind)
    if grows(block):
        return _counted(region, without_growing(block, behind), behind)
    try:
        return _counted(region, block, behind)
    except SourceError as error:
        try:
            return _counted(region, without_growing(block, behind), behind)
        except SourceError:
            raise error from None


def _counted(region: Region, block: Block, behind: Sequence[Statement]) -> Translation:
    """The text of a region, where `while` loops that count are `for` loops."""
    if not region.function.has_labels and any(
        isinstance(each, While) and counts(each) for each in all_statements(block.statements)
    ):
        try:
            return _translate(region, with_for_loops(block, behind), behind)
        except SourceError:
            pass  # 'while' loops are statements that are not affine
    return _translate(region, block, behind)


def _translate(region: Region, block: Block, behind: Sequence[Statement]) -> Translation:
    """The text of a region, whose statements are those of the block; raises SourceError."""
    later = {each.symbol for each in all_expressions(behind) if isinstance(each, Name)}
    plain = partial(_of_statements, region, behind=behind, later=later)
    uncounted = without_counters(
        block,
        region.function.body,
        lambda each: _is_lasting(each, later, behind),
        lambda each: _is_repeated(each, region),
    )
    if uncounted is block:
        return plain(block)
    try:
        found = plain(uncounted)
    except SourceError:
        return plain(block)
    try:
        counted = plain(block)
    except SourceError:
        return found
    # Subscripts may be rows and columns at some sizes only, and are data for all of them then.
    return found if {*found.assumptions} <= {*counted.assumptions} else counted


def _of_statements(
    region: Region, block: Block, *, behind: Sequence[Statement], later: Set[Symbol]
) -> Translation:
    block, rotations = without_rotations(block)
    body = without_moves(
        block,
        region.function.body,
        {
            each
            for each in moved_pointers(block.statements)
            if _is_lasting(each, later, behind) or _is_repeated(each, region)
        },
    )
    own = _declared(body.statements)
    used = _used(body.statements)
    own |= {each for each in used if each.holder in own}
    loops = loop_symbols(body.statements)
    outer = [symbol for symbol in used if symbol not in own]
    for each in own & later:
        raise SourceError(
            f"'{each.name}' is declared inside of the region and used behind it",
            each.place,
            "declare it before the region",
        )
    lasting = {each for each in outer if _is_lasting(each, later, behind)}
    for each in own.intersection(used):
        if each.through and each.holder is not None:
            raise SourceError(
                f"the pointer '{each.holder.name}' leads to a structure, and is declared inside of "
                "the region",
                each.holder.place,
                "declare it before the region, or write the element of an array of structures",
            )
    variables = find_variables(body, set(outer), lasting)
    kept, assigned = set(variables.kept), variables.assigned
    arguments = [
        symbol
        for symbol in _ordered(region.function.parameters, outer)
        if symbol in kept
        or not (symbol in assigned or symbol in loops or symbol.constant is not None)
    ]
    # Variables that the reader has made are at no place in the text.
    if any(not (each.offset or each.is_global or each.holder) for each in arguments):
        hint = "put all of the statements that the jump leaves into the region"
        raise SourceError("a jump goes into the middle of this region", region.place, hint)
    # The members that a pointer to a structure leads to are variables of their own.
    arguments = [each for each in arguments if each in used or not has_structures(each.type)]
    sizes = size_symbols(body.statements)
    strides = Strides()
    elements = ElementSizes.of(body.statements)
    while True:
        variables.forget_cells()
        emitter: Emitter[Piece] = Emitter()
        is_full = not region.function.limits_complex_range
        expressions = Expressions(emitter, Domain(), variables, strides, elements, is_full)
        names = Names()
        declare = _Declarations(expressions, names, sizes, kept, strides)
        parameters = [found for each in arguments if (found := declare(each)) is not None]
        statements = Statements(expressions, names)
        try:
            statements.region(body)
        except NewStrides as found:  # at most once for each dimension, and once for their padding
            strides[found.symbol] = found.strides
            continue
        except NewSize as found:
            elements.found[found.key] = found.symbol
            arguments.append(found.symbol)
            sizes.add(found.symbol)
            continue
        irregular = expressions.gathers.found
        more = {
            size
            for each in irregular
            for size in sizes_of_extents(each, region.function.body.statements)
        }
        if more <= sizes:
            break
        sizes |= more
    # Rows are as long as declared; how many there are, C does not say.
    declared = {
        each.symbol: {
            dimension: extent
            for dimension, extent in declared_extents(
                each.symbol, expressions, region.function.body.statements
            )
            if dimension > 0 or each.symbol in irregular
        }
        for each in parameters
    }
    lines = _function(region.function.place, parameters, emitter, expressions.domain, declared)
    code = "".join(f"{line}\n" for line, _ in lines)
    nodes = tuple(node for _, node in lines)
    assumptions = tuple(expressions.domain.assumptions)
    ended = tuple(each for each in loops if each in lasting)
    conditional_stores = expressions.conditional.stores
    stored = tuple(
        (each.symbol, conditional_stores[each.name])
        for each in parameters
        if each.name in conditional_stores and _is_shared(each.symbol)
    )
    spelled = {each.name: each.symbol.spelling for each in parameters}
    symbols = [each.symbol for each in parameters]
    uncertain = tuple(uncertain_reads(symbols, body.statements))
    loops_run = first_loops(body.statements) if uncertain else ()
    prefixes = (loops_run[: count + 1] for count in range(len(loops_run)))
    running = next(
        (each for each in prefixes if not uncertain_reads(symbols, body.statements, each)), ()
    )
    rotated = tuple(
        rotation
        for rotation in rotations
        if any(
            _is_lasting(each, later, behind) or _is_repeated(each, region)
            for each in rotation.targets
        )
    )
    return Translation(
        region,
        code,
        nodes,
        tuple(
            replace(each, lengths=tuple(spelled_length(n, spelled) for n in lengths))
            for each in parameters
            for lengths in [extents(strides.get(each.symbol, ()))]
        ),
        assumptions,
        ended,
        stored,
        uncertain,
        expressions.gathers.has_products,
        rotated,
        not all(each.is_last for each in rotations),
        tuple(expressions.conditional.pieces),
        {expressions.arrays[each].name: found for each, found in irregular.items()},
        expressions.conditional.written,
        running,
    )


def _is_lasting(symbol: Symbol, later: Set[Symbol], behind: Sequence[Statement]) -> bool:
    """Whether the value that a variable has behind the region may be read."""
    if symbol.is_global or symbol.has_address:
        return True
    return symbol in later and is_live(symbol, behind)


def _is_repeated(symbol: Symbol, region: Region) -> bool:
    """Whether the region may run again with the value that it has left in a variable."""
    loops = [each for each in region.around if isinstance(each, For | While | Refused)]
    if not region.function.has_labels:
        inside = all_statements(loops[-1:])
        if not loops or any(isinstance(each, Declare) and each.symbol is symbol for each in inside):
            return False
    return is_live(symbol, region.block.statements)


def _is_shared(symbol: Symbol) -> bool:
    """Whether others may have the address of a variable, or of the elements of an array."""
    is_number = isinstance(symbol.type, NumberType)
    return not is_number or symbol.is_global or symbol.has_address


def _function(
    place: Location,
    parameters: Sequence[Parameter],
    emitter: Emitter[Piece],
    domain: Domain,
    declared: Mapping[Symbol, Mapping[int, Affine]],
) -> list[Line[Piece]]:
    node = Piece(place)
    arguments = ", ".join(map(_argument, parameters))
    assumed = _assumed(domain.assumptions, parameters, declared)
    lines: list[Line[Piece]] = [(f"({arguments}){assumed} {{", node)]
    lines += [(f"  {line}", node) for line, node in emitter.constants(node)]
    lines += emitter.blocks[0].indented()
    return [*lines, ("  return", node), ("}", node)]


def _argument(parameter: Parameter) -> str:
    kind = parameter.symbol.type if parameter.elements is None else parameter.elements.element
    is_unsigned = isinstance(kind, IntegerType) and not kind.signed and kind != BOOL
    attribute = f" {{{UNSIGNED}}}" if is_unsigned and parameter.mlir != "index" else ""
    return f"%{parameter.name}: {parameter.mlir}{attribute}"


def _is_integer(parameter: Parameter) -> bool:
    return parameter.elements is None and isinstance(parameter.symbol.type, IntegerType)


def _assumed(
    assumptions: Sequence[Affine],
    parameters: Sequence[Parameter],
    declared: Mapping[Symbol, Mapping[int, Affine]],
) -> str:
    """The attribute that says which sizes the region is for, and how long arrays are at least."""
    sizes = [TextName(each.name, symbol=True) for each in parameters if _is_integer(each)]
    spelled = {name: f"d{position}" for position, name in enumerate(sizes)}
    relations = [f"{each.render(spelled)} >= 0" for each in assumptions]
    extents = [
        (parameter, dimension)
        for parameter in parameters
        for dimension, extent in enumerate(parameter.elements.extents if parameter.elements else ())
        if extent is None
    ]
    for position, (parameter, dimension) in enumerate(extents):
        least = declared.get(parameter.symbol, {}).get(dimension)
        if least is not None and not parameter.lengths and {*least.names()} <= {*sizes}:
            relations.append(f"s{position} - ({least.render(spelled)}) >= 0")
    if not relations:
        return ""
    head = f"({', '.join(spelled.values())})"
    if any(each.startswith("s") for each in relations):
        head += f"[{', '.join(f's{position}' for position in range(len(extents)))}]"
    return f" attributes {{{ASSUMPTION} = affine_set<{head} : ({', '.join(relations)})>}}"


@dataclass(frozen=True)
class _Declarations:
    """Makes variables arguments."""

    expressions: Expressions
    names: Names
    sizes: set[Symbol]
    kept: set[Symbol]
    strides: Strides

    def __call__(self, symbol: Symbol) -> Parameter | None:
        """The argument; None for a variable of a type that is none."""
        if symbol.is_volatile:
            return None
        name = self.names.take(symbol.name)
        kind = symbol.type
        if isinstance(kind, NumberType):
            if symbol in self.kept:
                return self._array(symbol, name, Elements(kind, ()))
            if isinstance(kind, IntegerType) and symbol in self.sizes:
                return self._size(symbol, name, kind)
            self.expressions.names[symbol] = Scalar(f"%{name}", kind)
            return Parameter(symbol, name, kind.mlir)
        elements = elements_of(kind, parameter=symbol.is_parameter)
        return None if elements is None else self._array(symbol, name, elements)

    def _size(self, symbol: Symbol, name: str, kind: IntegerType) -> Parameter:
        size = TextName(name, symbol=True)
        domain = self.expressions.domain
        domain.declare(size, kind)
        if not kind.signed:
            domain.assumptions.append(Affine.of(size))
        self.expressions.names[symbol] = Linear(Index((Affine.of(size),)), kind)
        return Parameter(symbol, name, "index")

    def _array(self, symbol: Symbol, name: str, elements: Elements) -> Parameter:
        lengths = extents(self.strides.get(symbol, ()))
        if lengths:
            flat = (None,) * (len(lengths) + 1)
            elements = Elements(elements.element, (*flat, *elements.extents[1:]))
        self.expressions.arrays[symbol] = Array(name, elements)
        return Parameter(symbol, name, elements.mlir, elements, tuple(n.text for n in lengths))


def _ordered(parameters: Sequence[Symbol], outer: Sequence[Symbol]) -> list[Symbol]:
    """Parameters in the order of C, then other variables as they are declared."""
    others = [each for each in outer if each not in parameters]
    return [*parameters, *sorted(others, key=lambda each: (not each.is_global, each.offset))]


def _declared(statements: Sequence[Statement]) -> set[Symbol]:
    found: set[Symbol] = set()
    for statement in statements:
        if isinstance(statement, Declare):
            found.add(statement.symbol)
        if isinstance(statement, For) and isinstance(statement.first, Declare):
            found.add(statement.first.symbol)
        for block in blocks_of(statement):
            found |= _declared(block.statements)
    return found


def _used(statements: Sequence[Statement]) -> dict[Symbol, None]:
    pieces = all_expressions(list(statements))
    return {each.symbol: None for each in pieces if isinstance(each, Name)}
