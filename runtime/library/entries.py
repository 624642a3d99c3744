"""Functions with entry points for C: sizes, schedule, LLVM IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llvmlite import ir

from ...lowering.llvm import EntryPoint, Options, translate
from ...lowering.llvm.entry_points import LARGEST_SIZE
from ...lowering.loops.bounds_check import bounds_check
from ...lowering.loops.index_magnitudes import size_limits
from ...lowering.validation.verdict import Verdict
from ...passes.machine.target import Target
from ...passes.polyhedral.bounds import check_bounds
from ...passes.polyhedral.extents import infer_extents
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.schedules.schedule import Schedule
from ..calling.arguments import ArrayArgument
from ..calling.errors import BuildError
from ..jit.generated_code import verified_loops
from ..jit.size_limits import generated_limits
from ..jit.source import Source
from .interface import Interface

_LARGEST = (1 << 63) - 1


@dataclass(frozen=True)
class CompiledEntry:
    """LLVM IR of a function with its entry point, made with a schedule (None: as written).

    `type` is that of the entry point in LLVM; `verdict` is what the validation has said.
    """

    interface: Interface
    schedule: Schedule | None
    llvm_ir: str
    type: str
    verdict: Verdict | None

    @property
    def parallel(self) -> bool:
        """Whether it calls the OpenMP runtime."""
        return "GOMP_parallel" in self.llvm_ir


def compile_entry(
    source: Source,
    interface: Interface,
    options: Options,
    target: Target,
    *,
    suffix: str = "",
    typical: Mapping[str, int] | None = None,
) -> CompiledEntry:
    """The code of a function for the sizes of its interface.

    The entry point's symbol ends in `suffix`. A schedule that is chosen for the sizes is chosen for
    `typical` ones where not all are known; without these, the loops stay as written then.

    Raises SourceError, ValidationError, BoundsError.
    """
    schedule = _schedule(source, interface, typical)
    scop, sizes = source.scop, interface.sizes
    with ISL_LOCK:
        fits = bounds_check(scop, sizes)
        loops, verdict = verified_loops(source, schedule, sizes)
        limits = generated_limits(source.function, loops, scop, sizes)
        open_sizes = tuple((s.argument, s.dimension) for s in scop.sizes if s.name not in sizes)
        if fits is not None:
            limits = limits.joined(size_limits(fits, {}).renamed(open_sizes))
        entry = EntryPoint(
            interface.symbol + suffix,
            scop.name,
            interface.fixed_integers,
            interface.checked_extents,
            fits,
            {size: limits.largest.get(size, LARGEST_SIZE) for size in open_sizes},
            interface.signature.pairs,
            tuple(
                position
                for position, argument in enumerate(interface.signature.arguments)
                if isinstance(argument, ArrayArgument) and (argument.reads or argument.writes)
            ),
        )
        module = translate(loops, target=target, options=options, entry=entry)
    function = module.globals[entry.symbol]
    assert isinstance(function, ir.Function)
    return CompiledEntry(interface, schedule, str(module), str(function.function_type), verdict)


def _schedule(
    source: Source, interface: Interface, typical: Mapping[str, int] | None
) -> Schedule | None:
    sizes = interface.sizes
    if all(size.name in sizes for size in source.scop.sizes):
        with ISL_LOCK:
            check_bounds(source.scop, sizes)
            return source.schedule_for(sizes)
    if typical is not None:
        with ISL_LOCK:
            return source.schedule_for(typical)
    return source.schedule


def check_tile_sizes(source: Source) -> None:
    """Raises BuildError for a schedule that leaves tile sizes to the caller."""
    schedule = source.schedule
    if schedule is not None and schedule.run_time_sizes:
        raise BuildError(
            f"{source.scop.name}: a library has no arguments for the tile sizes "
            f"{', '.join(schedule.run_time_sizes)}; give them as numbers"
        )


def check_sizes(sources: Sequence[Source], sizes: Mapping[str, int]) -> None:
    """Raises BuildError for sizes that no function has, or that are out of range."""
    parameters = [size for source in sources for size in source.scop.sizes]
    known = list(dict.fromkeys(parameter.name for parameter in parameters))
    extents = {parameter.name for parameter in parameters if parameter.dimension is not None}
    for name, size in sizes.items():
        if name not in known:
            raise BuildError(f"there is no size '{name}'; there are {', '.join(known) or 'none'}")
        if not (0 if name in extents else -_LARGEST) <= size <= _LARGEST:
            raise BuildError(f"{name} = {size} is no possible size")


def known_sizes(source: Source, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes that are given; once all integers are, with the extents that follow from them."""
    scop = source.scop
    given = {size.name: sizes[size.name] for size in scop.sizes if size.name in sizes}
    integers = [size.name for size in scop.sizes if size.dimension is None]
    is_complete = given and all(name in given for name in integers)
    return infer_extents(scop, given) if is_complete else given


def check_symbols(interfaces: Sequence[Interface]) -> None:
    """Raises BuildError for two functions with one name in C."""
    seen: dict[str, str] = {}
    for interface in interfaces:
        function = interface.signature.kernel
        other = seen.setdefault(interface.symbol, function)
        if other != function:
            raise BuildError(
                f"@{other} and @{function} would both be called '{interface.symbol}' in C; "
                "rename one, or build them apart"
            )
