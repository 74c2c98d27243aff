"""C source of recorded functions by two generators, and the calls of it that bench_generated.cpp times."""

from __future__ import annotations

import hashlib
from itertools import accumulate
from pathlib import Path

import casadi
from _build import CACHE
from _generated import Case

from thunder_py import _core


def write_sources(cases: list[Case]) -> dict[str, Path]:
    """Write functions.h, functions.cpp and calls.inc by each generator, in folders named after their contents."""
    return {"generated": _write("generated", _ours(cases)), "casadi": _write("casadi", _casadi(cases))}


def _write(library: str, files: dict[str, str]) -> Path:
    digest = hashlib.sha256("\0".join(files.values()).encode()).hexdigest()[:12]
    folder = CACHE / f"{library}-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def _measured(case: Case, size: int, setup: str, call: str) -> str:
    return (
        f"{{\n  std::vector<double> out({size});\n{setup}"
        f'  measure("{case.quantity}", "{case.parameters}", states, out, [&](const State& s) {{ {call} }});\n}}\n'
    )


def _pointer(argument: str) -> str:
    return "parameters.data()" if argument == "par_REG" else f"s.{argument}.data()"


def _result_pointers(sizes: list[int]) -> list[str]:
    return [f"out.data() + {first}" for first in accumulate([0, *sizes[:-1]])]


def _ours(cases: list[Case]) -> dict[str, str]:
    header, source = _core.emit_c([case.function for case in cases], header_name="functions.h")
    calls = []
    for case in cases:
        sizes = [value.size for value in case.function.results.values()]
        pointers = [*map(_pointer, case.function.arguments), *_result_pointers(sizes)]
        calls.append(_measured(case, sum(sizes), "", f"{case.function.name}({', '.join(pointers)});"))
    return {"functions.h": header, "functions.cpp": source, "calls.inc": "".join(calls)}


def _casadi(cases: list[Case]) -> dict[str, str]:
    generator = casadi.CodeGenerator("functions", {"with_header": False, "cpp": True, "casadi_int": "int"})
    declarations, calls = [], []
    for case in cases:
        generator.add(case.casadi)
        name = case.casadi.name()
        declarations.append(f"int {name}(const double** arg, double** res, int* iw, double* w, int mem);\n")
        calls.append(_casadi_call(case))
    header = 'extern "C" {\n' + "".join(declarations) + "}\n"
    return {"functions.h": header, "functions.cpp": generator.dump(), "calls.inc": "".join(calls)}


def _casadi_call(case: Case) -> str:
    """Work vectors are made once; a call sets the pointers of the state."""
    function = case.casadi
    sizes = [function.nnz_out(k) for k in range(function.n_out())]
    arg, res, iw, w = (max(1, size()) for size in (function.sz_arg, function.sz_res, function.sz_iw, function.sz_w))
    setup = (
        f"  std::vector<const double*> arg({arg});\n  std::vector<double*> res({res});\n"
        f"  std::vector<int> iw({iw});\n  std::vector<double> w({w});\n"
        + "".join(f"  res[{k}] = {pointer};\n" for k, pointer in enumerate(_result_pointers(sizes)))
    )
    pointers = "".join(f"arg[{k}] = {_pointer(name)}; " for k, name in enumerate(case.function.arguments))
    call = f"{pointers}{function.name()}(arg.data(), res.data(), iw.data(), w.data(), 0);"
    return _measured(case, sum(sizes), setup, call)
