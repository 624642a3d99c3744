"""C++ headers: functions that take views of arrays, and throw where C returns a status."""

from __future__ import annotations

from collections.abc import Iterator

from ...lowering.llvm.entry_points import Status
from ..calling.arguments import ArrayArgument
from ..library.header import include_guard
from ..library.interface import RESERVED, Interface, c_name, c_type
from .shared_library import SharedLibrary

# What all headers share; it is C++17, and takes every class that looks like std::mdspan.
_VIEW = """\
#ifndef LOOPWRIGHT_VIEW
#define LOOPWRIGHT_VIEW

namespace loopwright {

/** A function has refused its arguments; `status` is an enum loopwright_status. */
class error : public std::runtime_error {
public:
    error(const std::string &message, int status) : std::runtime_error(message), status(status) {}
    int status;
};

namespace detail {

template <class Array, class = void> struct is_mdspan : std::false_type {};
template <class Array>
struct is_mdspan<Array, std::void_t<decltype(std::declval<const Array &>().data_handle()),
                                    decltype(std::declval<const Array &>().stride(0)),
                                    decltype(Array::rank())>> : std::true_type {};

template <class Array, class = void> struct is_container : std::false_type {};
template <class Array>
struct is_container<Array, std::void_t<decltype(std::declval<Array &>().data()),
                                       decltype(std::declval<Array &>().size())>>
    : std::true_type {};

} // namespace detail

/** A contiguous row-major array with `Rank` dimensions, which something else owns. */
template <class T, std::size_t Rank> class view {
public:
    using extents_type = std::array<std::int64_t, Rank>;

    view(T *data, const extents_type &extents) : data_(data), extents_(extents) {}

    /** Of a std::mdspan, or what looks like one: row-major without gaps, or it throws. */
    template <class Array, std::enable_if_t<detail::is_mdspan<Array>::value, int> = 0>
    view(const Array &array) : data_(array.data_handle()), extents_() {
        static_assert(Array::rank() == Rank, "the array has another number of dimensions");
        std::int64_t stride = 1;
        for (std::size_t dimension = Rank; dimension-- > 0;) {
            extents_[dimension] = static_cast<std::int64_t>(array.extent(dimension));
            if (extents_[dimension] > 1 &&
                static_cast<std::int64_t>(array.stride(dimension)) != stride)
                throw std::invalid_argument("an array is not contiguous in row-major order");
            stride *= extents_[dimension];
        }
    }

    /** Of a std::vector, std::array or std::span. */
    template <class Array,
              std::enable_if_t<Rank == 1 && detail::is_container<Array>::value &&
                                   !detail::is_mdspan<std::remove_const_t<Array>>::value, int> = 0>
    view(Array &&array) : data_(array.data()), extents_{static_cast<std::int64_t>(array.size())} {}

    /** Of an array such as `double A[20][30]`. */
    template <class Array,
              std::enable_if_t<std::is_array<Array>::value && std::rank<Array>::value == Rank &&
                                   std::is_convertible<std::remove_all_extents_t<Array> *,
                                                       T *>::value, int> = 0>
    view(Array &array) : data_(reinterpret_cast<T *>(&array)), extents_() {
        set_extents<Array>(std::make_index_sequence<Rank>());
    }

    /** Of a view of elements that may be written. */
    template <class Other,
              std::enable_if_t<std::is_same<const Other, T>::value &&
                                   !std::is_same<Other, T>::value, int> = 0>
    view(const view<Other, Rank> &other) : data_(other.data()), extents_(other.extents()) {}

    T *data() const { return data_; }
    const extents_type &extents() const { return extents_; }
    std::int64_t extent(std::size_t dimension) const { return extents_[dimension]; }

    /** Throws unless the extents are `expected`, of which a negative one stands for any. */
    void expect(const char *function, const char *name, const extents_type &expected) const {
        for (std::size_t dimension = 0; dimension < Rank; dimension++)
            if (expected[dimension] >= 0 && expected[dimension] != extents_[dimension])
                throw error(std::string(function) + ": extent " + std::to_string(dimension) +
                                " of " + name + " is " + std::to_string(extents_[dimension]) +
                                ", must be " + std::to_string(expected[dimension]),
                            LOOPWRIGHT_WRONG_SHAPE);
    }

private:
    template <class Array, std::size_t... Dimension>
    void set_extents(std::index_sequence<Dimension...>) {
        extents_ = {static_cast<std::int64_t>(std::extent<Array, Dimension>::value)...};
    }

    T *data_;
    extents_type extents_;
};

/** Throws unless all went well. */
inline void check(const char *function, int status) {
    static const char *const reasons[] = {REASONS};
    if (status != LOOPWRIGHT_OK)
        throw error(std::string(function) + ": " + reasons[status], status);
}

} // namespace loopwright

#endif
"""

_REASONS = {
    Status.OK: "",
    Status.OUT_OF_MEMORY: "not enough memory for the arrays that it allocates itself",
    Status.OUT_OF_BOUNDS: "it would leave an array with these sizes",
    Status.OVERLAP: "two arrays overlap in memory, and one of them is written",
    Status.MISALIGNED: "an array is not aligned to its elements",
    Status.WRONG_SHAPE: "an extent is not the one that it was made for",
    Status.NULL_POINTER: "an array that has elements is NULL",
    Status.UNSUPPORTED_PROCESSOR: "there is no code for this processor",
    Status.WRONG_SUBSCRIPT: "a subscript among the data is outside of its array",
}

_INCLUDES = (
    "array",
    "cstddef",
    "cstdint",
    "stdexcept",
    "string",
    "tuple",
    "type_traits",
    "utility",
)


def cpp_header(library: SharedLibrary) -> str:
    """The text of NAME.hpp, whose functions are in the namespace `loopwright::NAME`."""
    guard = include_guard(library.name, "HPP")
    reasons = ",\n        ".join(f'"{_REASONS[status]}"' for status in Status)
    functions = "\n\n".join(_function(interface) for interface in library.interfaces)
    return "\n".join(
        [
            f"/* {library.name}.h for C++17 and later: arrays are views, errors are exceptions. */",
            f"#ifndef {guard}\n#define {guard}\n",
            f'#include "{library.name}.h"\n',
            *(f"#include <{name}>" for name in _INCLUDES),
            "",
            _VIEW.replace("REASONS", reasons),
            f"namespace loopwright {{\nnamespace {library.name} {{\n",
            functions,
            f"\n}} // namespace {library.name}\n}} // namespace loopwright\n\n#endif\n",
        ]
    )


def _function(interface: Interface) -> str:
    names = _names(interface)
    parameters: list[str] = []
    body: list[str] = []
    passed: list[str] = []
    for position, argument in enumerate(interface.signature.arguments):
        name = names.get(position)
        if name is None:
            continue
        kind = c_type(argument.element)
        if not isinstance(argument, ArrayArgument):
            parameters.append(f"{kind} {name}")
            passed.append(name)
            continue
        rank = len(argument.shape)
        passed.append(f"{name}.data()")
        passed += [f"{name}.extent({d})" for d in interface.passed_dimensions(position)]
        constant = "" if argument.writes else "const "
        parameters.append(f"view<{constant}{kind}, {rank}> {name}")
        shape = interface.shape(position)
        if any(isinstance(extent, int) for extent in shape):
            extents = ", ".join(str(e) if isinstance(e, int) else "-1" for e in shape)
            body.append(f'{name}.expect("{interface.symbol}", "{name}", {{{extents}}});')
    results = [c_type(result) for result in interface.signature.results]
    cells = [f"result{number}" for number in range(len(results))]
    body += [f"{kind} {cell}{{}};" for kind, cell in zip(results, cells, strict=True)]
    call = ", ".join([*passed, *(f"&{cell}" for cell in cells)])
    body.append(f'check("{interface.symbol}", ::{interface.symbol}({call}));')
    body += _returned(cells)
    kind = "void" if not results else results[0]
    if len(results) > 1:
        kind = f"std::tuple<{', '.join(results)}>"
    lines = "\n".join(f"    {line}" for line in body)
    return f"inline {kind} {interface.symbol}({', '.join(parameters)}) {{\n{lines}\n}}"


def _returned(cells: list[str]) -> Iterator[str]:
    if len(cells) == 1:
        yield f"return {cells[0]};"
    elif cells:
        yield f"return {{{', '.join(cells)}}};"


def _names(interface: Interface) -> dict[int, str]:
    """Names of the arguments that are passed, by position."""
    taken = {*RESERVED, "check", "view", "error", interface.symbol}
    names: dict[int, str] = {}
    for position, argument in enumerate(interface.signature.arguments):
        if position not in interface.fixed_integers:
            names[position] = c_name(argument.place.name, taken)
            taken.add(names[position])
    return names
