"""C and C++ programs that find a library by CMake or pkg-config."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.c_libraries import run
from support.shipped_wheels import LOWEST, small_wheel, unpack

PROGRAM = """
#include "small.hpp"

#include <iostream>
#include <vector>

// What std::mdspan has, without C++23.
struct Span {
    double *data;
    std::ptrdiff_t rows, columns, gap;
    static constexpr std::size_t rank() { return 2; }
    double *data_handle() const { return data; }
    std::ptrdiff_t extent(std::size_t d) const { return d == 0 ? rows : columns; }
    std::ptrdiff_t stride(std::size_t d) const { return d == 0 ? columns + gap : 1; }
};

using namespace loopwright;

template <class Call> void report(Call call) {
    try {
        call();
        std::cout << "done\\n";
    } catch (const error &e) {
        std::cout << e.status << " " << e.what() << "\\n";
    } catch (const std::invalid_argument &e) {
        std::cout << e.what() << "\\n";
    }
}

int main() {
    std::vector<double> x{1, 2, 3};
    const std::vector<double> y{4, 5, 6};
    std::cout << small::dot(3, x, y) << "\\n";
    double cell = 0;
    const auto values = small::scalars(1, 2, true, 3, 4, 5, view<double, 0>(&cell, {}));
    std::cout << std::get<1>(values) << " " << cell << "\\n";
    double A[4][3] = {{1}}, B[3][5] = {{2}}, C[4][5] = {};
    const view<const double, 2> constant(&A[0][0], {4, 3});
    small::gemm(4, 5, 3, C, constant, Span{&B[0][0], 3, 5, 0});
    std::cout << C[0][0] << "\\n";
    report([&] { small::gemm(4, 5, 3, C, A, Span{&B[0][0], 3, 4, 1}); });
    report([&] { small::gemm(4, 5, 4, C, A, B); });
    report([&] { small::gemm(4, 3, 3, A, A, B); });
    std::int32_t a[12] = {}, b[12] = {};
    const view<std::int32_t, 2> right(a, {4, 3}), wrong(b, {3, 4});
    report([&] { small::fixed(right, wrong); });
}
"""

ANSWER = """\
32
2 4
2
an array is not contiguous in row-major order
2 gemm: it would leave an array with these sizes
3 gemm: two arrays overlap in memory, and one of them is written
5 fixed: extent 0 of out is 3, must be 4
"""

CMAKE = """
cmake_minimum_required(VERSION 3.13)
project(main CXX)
find_package(small 0.1 CONFIG REQUIRED)
set(CMAKE_CXX_STANDARD 17)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE small::small)
get_target_property(soname small::small IMPORTED_SONAME)
if(NOT soname STREQUAL "libsmall.so")
  message(FATAL_ERROR "the name of the library is ${soname}")
endif()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("packages")
    found = unpack(small_wheel(place, "--levels", LOWEST), place / "site")
    (found / "main.cpp").write_text(PROGRAM)
    return found


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_pkg_config(folder: Path, standard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("g++") is None or shutil.which("pkg-config") is None:
        pytest.skip("g++ or pkg-config is not installed")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(folder / "small" / "lib" / "pkgconfig"))
    flags = run("pkg-config", "--cflags", "--libs", "small >= 0.1", folder=folder).split()
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", f"-std={standard}"]
    run("g++", *warnings, "main.cpp", *flags, "-o", "main", folder=folder)
    assert run("./main", folder=folder) == ANSWER


def test_cmake(folder: Path) -> None:
    if shutil.which("g++") is None or shutil.which("cmake") is None:
        pytest.skip("g++ or cmake is not installed")
    (folder / "CMakeLists.txt").write_text(CMAKE)
    place = f"-Dsmall_DIR={folder / 'small' / 'lib' / 'cmake' / 'small'}"
    run("cmake", "-S", ".", "-B", "build", place, folder=folder)
    run("cmake", "--build", "build", folder=folder)
    assert run("build/main", folder=folder) == ANSWER
