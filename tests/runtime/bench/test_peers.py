"""The peers: their code computes what the kernels do, and their absence is no error."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopwright.kernels.catalogue import KernelEntry, catalogue
from loopwright.kernels.references import REFERENCES, reference
from loopwright.runtime.bench.case import Case, NotApplicable
from loopwright.runtime.bench.doall_loops import parallel_operations
from loopwright.runtime.bench.peers import compilers, python
from loopwright.runtime.bench.peers.compilers import Build, Compiler
from loopwright.runtime.bench.peers.libraries import Unsupported
from loopwright.runtime.bench.peers.python_loops import python_loops
from loopwright.runtime.program import load


def check(entry: KernelEntry, results: dict[str, Any], size: str = "MINI") -> None:
    """Compares results with the reference, where the values are determined."""
    expected = entry.arguments(size)
    reference(entry)(*expected)
    rtol = 1e-4 if entry.element_type == "f32" else 1e-9
    for array in entry.arrays:
        if array.output:
            wanted = entry.output_arrays(expected)[array.name]
            mask = array.determined_mask(wanted.shape, entry.parameter_values(size))
            scale = float(np.abs(wanted[mask]).max(initial=0.0))
            np.testing.assert_allclose(
                results[array.name][mask], wanted[mask], rtol=rtol, atol=rtol * scale
            )


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(tmp_path / "cache"))


def installed_compilers() -> list[str]:
    found = [peer for peer in ("gcc", "clang") if compilers.find(peer)]
    assert found, "the tests need a C compiler (gcc or clang)"
    return found


@pytest.mark.parametrize("peer", installed_compilers())
@pytest.mark.parametrize("name", ["polybench/durbin", "tiramisu/cvtcolor"])
def test_compiled_c_computes_the_kernel(peer: str, name: str) -> None:
    case = Case(catalogue()[name], "MINI")
    for variant in compilers.variants(peer, [1, 2]):
        prepared = variant.prepare(case)
        assert prepared.time() >= 0
        check(case.entry, dict(prepared.outputs()))


def test_parallel_c_has_a_pragma_at_the_outermost_loops_over_space() -> None:
    case = Case(catalogue()["polybench/jacobi-2d"], "MINI")
    text = compilers.source(case, parallel=True)
    assert text.count("#pragma omp parallel for\n        for (int64_t i = 1;") == 2
    assert "#pragma" not in compilers.source(case, parallel=False)


def test_loops_that_the_catalogue_names_have_their_pragmas() -> None:
    text = compilers.source(Case(catalogue()["field/hotspot"], "MINI"), parallel=True)
    assert text.count("#pragma omp parallel for\n        for (int64_t i = 1;") == 2
    assert text.count("#pragma omp simd\n            for (int64_t j = 1;") == 2
    text = compilers.source(Case(catalogue()["field/black_scholes"], "MINI"), parallel=True)
    assert "#pragma omp parallel for simd\n    for (int64_t i = 0;" in text


def test_a_program_without_parallel_loops_has_no_parallel_c() -> None:
    case = Case(catalogue()["polybench/nussinov"], "MINI")
    with pytest.raises(NotApplicable, match="no loop"):
        compilers.source(case, parallel=True)


def a_compiler() -> Compiler:
    found = compilers.find(installed_compilers()[0])
    assert found is not None
    return found


def test_compilers_that_fail_are_not_applicable() -> None:
    build = Build("gcc", "-O3", ("-fno-such-flag-in-any-compiler",))
    with pytest.raises(NotApplicable, match="failed"):
        compilers.compile_c(a_compiler(), build, "void f(void) {}\n")


def test_libraries_are_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    build = Build("gcc", "-O3", ())
    compilers.compile_c(a_compiler(), build, "int f(void) { return 42; }\n")

    def refuse(*args: object, **keywords: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(subprocess, "run", refuse)
    library = compilers.compile_c(a_compiler(), build, "int f(void) { return 42; }\n")
    assert library.f() == 42


@pytest.mark.parametrize("name", list(REFERENCES))
def test_loops_printed_as_python_compute_the_kernel(name: str) -> None:
    entry = catalogue()[name]
    function = load(entry.text)[entry.function]
    parallel = parallel_operations(function.function, function.scop)
    scope: dict[str, Any] = {"np": np, "math": math, "prange": range}
    exec(python_loops(function.function, parallel), scope)
    arguments = entry.arguments("MINI")
    with np.errstate(invalid="ignore", divide="ignore"):
        scope["kernel"](*arguments)
    check(entry, entry.output_arrays(arguments))


def test_torch_operators_compute_the_kernels() -> None:
    from loopwright.runtime.bench.peers import torch_library

    assert "torch" in torch_library.version()
    for name in torch_library.OPERATORS:
        entry = catalogue()[name]
        arguments = entry.arguments("MINI")
        torch_library.prepare(entry, arguments)()
        check(entry, entry.output_arrays(arguments))
    with pytest.raises(Unsupported, match="no operator"):
        torch_library.prepare(catalogue()["polybench/lu"], [])


def test_scipy_routines_compute_the_kernels() -> None:
    from loopwright.runtime.bench.peers import scipy_library

    assert "scipy" in scipy_library.version()
    for name in scipy_library.ROUTINES:
        entry = catalogue()[name]
        arguments = entry.arguments("MINI")
        scipy_library.prepare(entry, arguments)()
        check(entry, entry.output_arrays(arguments))


def test_a_worker_runs_cases_and_says_what_it_cannot() -> None:
    workers = python.Workers()
    try:
        (variant,) = python.variants("numpy", [1], workers)
        assert "numpy" in variant.version
        case = Case(catalogue()["polybench/atax"], "MINI")
        prepared = variant.prepare(case)
        assert prepared.time() > 0 and prepared.time() > 0
        check(case.entry, dict(prepared.outputs()))
        with pytest.raises(NotApplicable, match="vectorised"):
            variant.prepare(Case(catalogue()["polybench/nussinov"], "MINI"))
        assert prepared.time() > 0, "the worker goes on after a refusal"
        workers.close()
        with pytest.raises(NotApplicable, match="has ended"):
            prepared.time()
    finally:
        workers.close()


def test_libraries_that_are_not_installed_have_no_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python.importlib.util, "find_spec", lambda name: None)
    assert list(python.variants("numpy", [1], python.Workers())) == []
    assert not python.installed("numpy")


def test_onednn_adds_a_product() -> None:
    pytest.importorskip("torch")
    assert python.installed("onednn")
    workers = python.Workers()
    try:
        (variant,) = python.variants("onednn", [1], workers)
        for size in ("MINI", {"M": 5, "N": 1, "K": 3}, {"M": 7, "N": 9, "K": 1}):
            prepared = variant.prepare(Case(catalogue()["gemm/gemm"], size))
            assert prepared.time() >= 0 and prepared.time() >= 0
            entry = catalogue()["gemm/gemm"]
            expected = entry.arguments(size)
            reference(entry)(*expected)
            np.testing.assert_array_equal(
                prepared.outputs()["C"], entry.output_arrays(expected)["C"]
            )
        with pytest.raises(NotApplicable, match="no operator"):
            variant.prepare(Case(catalogue()["polybench/atax"], "MINI"))
    finally:
        workers.close()


def test_workers_can_be_told_to_unset_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "NoSuchProcessor")
    seen: dict[str, str] = {}

    def start(command: list[str], **options: Any) -> Any:
        seen.update(options["env"])
        raise OSError

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(OSError):
        python.Client("numpy", 2, {"OPENBLAS_CORETYPE": None, "OTHER": "1"})
    assert "OPENBLAS_CORETYPE" not in seen
    assert seen["OTHER"] == "1" and seen["OPENBLAS_NUM_THREADS"] == "2"
