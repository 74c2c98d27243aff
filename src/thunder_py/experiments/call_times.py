"""How long functions take: compiled C, CasADi's virtual machine, and calls from Python."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..codegen.compiler import compile_source
from ..symbolic import Function
from ..symbolic.optional import require

__all__ = ["casadi_times", "compiled_casadi_times", "compiled_times", "python_times"]

Array = npt.NDArray[np.float64]
STATES = 16
_SHORTEST = 2e-3  # s; shorter runs would measure the clock
_TIMER = """
#define _POSIX_C_SOURCE 199309L
#include <time.h>
typedef void (*packed)(const double *const *in, double *const *out);
double seconds(packed f, const double *const *in, double *const *out, int arity, int states, int passes) {
  struct timespec a, b;
  int k, s;
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (k = 0; k < passes; ++k) for (s = 0; s < states; ++s) f(in + arity*s, out);
  clock_gettime(CLOCK_MONOTONIC, &b);
  return (double)(b.tv_sec - a.tv_sec) + 1e-9*(double)(b.tv_nsec - a.tv_nsec);
}
"""


def _flags(level: str) -> tuple[str, ...]:
    return ("-std=c99", level, "-fPIC", "-shared")


def _quickest(run: Callable[[int], float], rounds: int) -> float:
    """Seconds of a pass in the quickest of some rounds; `run` takes how many passes to make."""
    passes = 1
    while (taken := run(passes)) < _SHORTEST:
        passes = max(2 * passes, int(1.2 * _SHORTEST / max(taken, 1e-7) * passes))
    return min(run(passes) for _ in range(rounds)) / passes


def compiled_times(function: Function, states: Sequence[Sequence[Array]], level: str = "-O2", rounds: int = 5) -> float:
    """Time of a call of a recorded function as generated C.

    Parameters
    ----------
    function : Function
    states : sequence of sequence of array
        Arguments of the function, for several states.
    level : str
        The compiler's option, ``"-O0"`` to ``"-O3"``.
    rounds : int
        Of which the quickest counts.

    Returns
    -------
    float
        Seconds.
    """
    _, source = _core.emit_c([function], header_name="", packed=True)
    return _library_times(source, f"{function.name}_packed", states, function.results.values(), level, rounds)


def compiled_casadi_times(
    function: Any, states: Sequence[Sequence[Array]], level: str = "-O2", rounds: int = 5
) -> float:
    """Time of a call of a casadi.Function as C by CasADi's own generator; see `compiled_times`."""
    generator = require("casadi").CodeGenerator("function", {"casadi_int": "int"})
    generator.add(function)
    arg, res, iw, w = (max(1, size()) for size in (function.sz_arg, function.sz_res, function.sz_iw, function.sz_w))
    name, inputs, outputs = function.name(), function.n_in(), function.n_out()
    source = f"""{generator.dump()}
void {name}_packed(const double *const *in, double *const *out) {{
  static const double *arg[{arg}];
  static double *res[{res}], w[{w}];
  static int iw[{iw}];
  int k;
  for (k = 0; k < {inputs}; ++k) arg[k] = in[k];
  for (k = 0; k < {outputs}; ++k) res[k] = out[k];
  {name}(arg, res, iw, w, 0);
}}
"""
    results = [np.empty(function.nnz_out(k)) for k in range(outputs)]
    return _library_times(source, f"{name}_packed", states, results, level, rounds)


@functools.cache
def _timer() -> Any:
    timer = ctypes.CDLL(str(compile_source(_TIMER, _flags("-O2")))).seconds
    timer.restype = ctypes.c_double
    return timer


def _library_times(
    source: str, symbol: str, states: Sequence[Sequence[Array]], results: Any, level: str, rounds: int
) -> float:
    function = getattr(ctypes.CDLL(str(compile_source(source, _flags(level)))), symbol)
    inputs = [np.ascontiguousarray(value, dtype=float) for state in states for value in state]
    outputs = [np.empty(max(1, np.size(value))) for value in results]
    pointers = (ctypes.c_void_p * len(inputs))(*(value.ctypes.data for value in inputs))
    places = (ctypes.c_void_p * len(outputs))(*(value.ctypes.data for value in outputs))

    def run(passes: int) -> float:
        return float(_timer()(function, pointers, places, len(states[0]), len(states), passes))

    return _quickest(run, rounds) / len(states)


def casadi_times(function: Any, state: Sequence[Array], rounds: int = 5) -> float:
    """Time of a call of a casadi.Function in CasADi's virtual machine, through its buffers [s]."""
    buffer, call = function.buffer()
    inputs = [np.ascontiguousarray(value, dtype=float) for value in state]
    outputs = [np.empty(function.nnz_out(k)) for k in range(function.n_out())]
    for k, value in enumerate(inputs):
        buffer.set_arg(k, value.data)
    for k, value in enumerate(outputs):
        buffer.set_res(k, value.data)
    return python_times(call, rounds)


def python_times(call: Callable[[], object], rounds: int = 5) -> float:
    """Time of a call from Python [s], Python's own share included."""

    def run(passes: int) -> float:
        start = perf_counter()
        for _ in range(passes):
            call()
        return perf_counter() - start

    return _quickest(run, rounds)
