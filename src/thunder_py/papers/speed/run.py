"""Measurements for Figure 2 and Table 3 of the Thunder article: its formulae, this package's code and Pinocchio."""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ... import _core
from ...checks import Array
from ...optional import require
from ...robot import Robot
from ...symbolic import Function
from ...symbolic.compiler import compile_source
from .formulas import ArticleFormulas, panda_of

STATES = 16
_SHORTEST = 2e-3  # shortest run, well above the resolution of the clock [s]
_ROUNDS, _CALLS = 5, 20_000  # rounds of which the fastest counts; calls for their spread
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
void single(packed f, const double *const *in, double *const *out, int arity, int states, int calls, double *times) {
  struct timespec a, b;
  int k;
  for (k = 0; k < calls; ++k) {
    clock_gettime(CLOCK_MONOTONIC, &a);
    if (f) f(in + arity*(k % states), out);
    clock_gettime(CLOCK_MONOTONIC, &b);
    times[k] = (double)(b.tv_sec - a.tv_sec) + 1e-9*(double)(b.tv_nsec - a.tv_nsec);
  }
}
"""


def _flags(level: str) -> tuple[str, ...]:
    return ("-std=c99", level, "-fPIC", "-shared")


def _quickest(run: Callable[[int], float]) -> float:
    """Return the seconds of a pass in the fastest of some rounds; `run` takes the number of passes."""
    passes = 1
    while (elapsed := run(passes)) < _SHORTEST:
        passes = max(2 * passes, int(1.2 * _SHORTEST / max(elapsed, 1e-7) * passes))
    return min(run(passes) for _ in range(_ROUNDS)) / passes


def compiled_times(function: Function, states: Sequence[Sequence[Array]], level: str = "-O2") -> float:
    """Measure the time of a call of a recorded function as generated C.

    Parameters
    ----------
    function : Function
        Recorded function to compile.
    states : sequence of sequence of array
        Arguments of the function, for several states.
    level : str
        Option of the compiler, ``"-O0"`` to ``"-O3"``.

    Returns
    -------
    float
        Time of a call [s].
    """
    return _quickest(_packed(function, states, level).seconds) / len(states)


def compiled_jitter(function: Function, states: Sequence[Sequence[Array]], level: str = "-O2") -> float:
    """Measure the standard deviation of single calls of a recorded function as generated C [s].

    Parameters
    ----------
    function, states, level
        As in `compiled_times`.

    Notes
    -----
    Of `_CALLS` calls, the one in a hundred that takes longest is left out: other processes interrupt them. The variance
    of the clock, measured without a call, is subtracted. The article does not print how it measured.
    """
    found = _packed(function, states, level).single(_CALLS)
    variances = [float(np.var(times[times <= np.percentile(times, 99.0)])) for times in found]
    return float(np.sqrt(max(variances[0] - variances[1], 0.0)))


def _packed(function: Function, states: Sequence[Sequence[Array]], level: str) -> _Packed:
    _, source = _core.emit_c([function], header_name="", packed=True)
    return _Packed(source, f"{function.name}_packed", states, function.results.values(), level)


def compiled_casadi_times(function: Any, states: Sequence[Sequence[Array]], level: str = "-O2") -> float:
    """Measure the time of a call of a casadi.Function as C of CasADi's generator; see `compiled_times`."""
    generator = require("casadi", "symbolic").CodeGenerator("function", {"casadi_int": "int"})
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
    call = _Packed(source, f"{name}_packed", states, results, level)
    return _quickest(call.seconds) / len(states)


@functools.cache
def _timer() -> Any:
    timer = ctypes.CDLL(str(compile_source(_TIMER, _flags("-O2"))))
    timer.seconds.restype = ctypes.c_double
    timer.single.restype = None
    return timer


class _Packed:
    """Compiled function with its arguments at several states."""

    def __init__(self, source: str, symbol: str, states: Sequence[Sequence[Array]], results: Any, level: str) -> None:
        self._function = getattr(ctypes.CDLL(str(compile_source(source, _flags(level)))), symbol)
        self._inputs = [np.ascontiguousarray(value, dtype=float) for state in states for value in state]
        self._outputs = [np.empty(max(1, np.size(value))) for value in results]
        pointers = (ctypes.c_void_p * len(self._inputs))(*(value.ctypes.data for value in self._inputs))
        targets = (ctypes.c_void_p * len(self._outputs))(*(value.ctypes.data for value in self._outputs))
        self._arguments = (pointers, targets, len(states[0]), len(states))

    def seconds(self, passes: int) -> float:
        """Return the time of some passes over all states [s]."""
        return float(_timer().seconds(self._function, *self._arguments, passes))

    def single(self, calls: int) -> tuple[Array, Array]:
        """Return the times of single calls, and of the clock alone, (calls,) each [s]."""
        times = np.empty((2, calls))
        for row, function in zip(times, (self._function, None), strict=True):
            _timer().single(function, *self._arguments, calls, ctypes.c_void_p(row.ctypes.data))
        return times[0], times[1]


def casadi_times(function: Any, state: Sequence[Array]) -> float:
    """Measure the time of a call of a casadi.Function in CasADi's virtual machine, through its buffers [s]."""
    buffer, call = function.buffer()
    inputs = [np.ascontiguousarray(value, dtype=float) for value in state]
    outputs = [np.empty(function.nnz_out(k)) for k in range(function.n_out())]
    for k, value in enumerate(inputs):
        buffer.set_arg(k, value.data)
    for k, value in enumerate(outputs):
        buffer.set_res(k, value.data)
    return python_times(call)


def python_times(call: Callable[[], object]) -> float:
    """Measure the time of a call from Python [s], with the overhead of Python."""

    def run(passes: int) -> float:
        start = perf_counter()
        for _ in range(passes):
            call()
        return perf_counter() - start

    return _quickest(run)


#: largest number of joints for which a derivation element by element takes minutes and gigabytes at most
MOST_JOINTS = {"C_std": 7, "C": 15, "Y": 9}


@dataclass(frozen=True)
class Timing:
    """Measured time of a call.

    Attributes
    ----------
    joints : int
        Number of joints of the arm.
    curve : str
        ``"C_std"``, ``"C"``, ``"Y"`` (the article's formulae), ``"ours: C"``, ``"Pinocchio: C"``, ...
    build : str
        ``"interpreted"``, ``"-O0"``, ``"-O2"``, ``"as installed"``.
    seconds : float
        Time of one call [s].
    operations : int
        Number of operations in the function; 0 if unknown.
    sigma : float
        Standard deviation of single calls [s]; NaN where it was not measured.
    """

    joints: int
    curve: str
    build: str
    seconds: float
    operations: int = 0
    sigma: float = float("nan")


def _states(n: int, parameters: Array) -> list[dict[str, Array]]:
    rng = np.random.default_rng(n)
    names = ("q", "dq", "ddq", "dq_r", "ddq_r")
    return [{name: rng.uniform(-1, 1, n) for name in names} | {"par_REG": parameters} for _ in range(STATES)]


def article_curves(
    joints: Iterable[int], limits: Mapping[str, int], names: tuple[str, ...] = ("C_std", "C", "Y")
) -> list[Timing]:
    """Measure the article's formulae in CasADi's virtual machine and as CasADi's C.

    Parameters
    ----------
    joints : iterable of int
        Numbers of joints.
    limits : mapping of str to int
        Option of the compiler -> largest number of operations that is compiled; more would take minutes.
    names : tuple of str
        Curves, each up to `MOST_JOINTS`.

    Returns
    -------
    list of Timing
    """
    timings = []
    for n in joints:
        robot = panda_of(n)
        states = _states(n, robot.parameters)
        formulas = ArticleFormulas(robot)
        for name in (name for name in names if n <= MOST_JOINTS.get(name, n)):
            function = formulas.functions((name,))[name]
            operations = function.n_instructions()
            inputs = [[state[key] for key in function.name_in()] for state in states]
            timings.append(Timing(n, name, "interpreted", casadi_times(function, inputs[0]), operations))
            for level, most in limits.items():
                if operations <= most:
                    seconds = compiled_casadi_times(function, inputs, level)
                    timings.append(Timing(n, name, level, seconds, operations))
    return timings


def our_functions(robot: Robot) -> dict[str, Any]:
    """Return this package's recordings of the quantities of Table 3, with inertial parameters at run time."""
    model = robot.symbolic(inertial=True)
    expressions = {
        "J": model.jacobian(),
        "J_dot": model.jacobian_dot(),
        "M": model.mass_matrix(),
        "C": model.coriolis_matrix(),
        "M_dot": model.mass_matrix_dot(),
        "Y": model.slotine_li_regressor(),
    }
    return {name: model.function(f"own_{name}", value) for name, value in expressions.items()}


def our_curves(
    joints: Iterable[int], names: Iterable[str] = ("C", "Y"), levels: Iterable[str] = ("-O0", "-O2")
) -> list[Timing]:
    """Measure this package's generated C, under the names ``"ours: C"``, ..."""
    timings = []
    for n in joints:
        robot = panda_of(n)
        states, functions = _states(n, robot.parameters), our_functions(robot)
        for name in names:
            function = functions[name]
            inputs = [[state[key] for key in function.arguments] for state in states]
            for level in levels:
                seconds, sigma = compiled_times(function, inputs, level), compiled_jitter(function, inputs, level)
                timings.append(Timing(n, f"ours: {name}", level, seconds, function.operation_count, sigma))
    return timings


def pinocchio_calls(robot: Robot, state: Mapping[str, Array]) -> dict[str, Callable[[], Any]]:
    """Return calls of Pinocchio's functions for the quantities of Table 3, Y being the classical regressor.

    Parameters
    ----------
    robot : Robot
        Revolute robot in modified DH form, without friction.
    state : mapping
        ``q, dq, ddq``.
    """
    pin = importlib.import_module("pinocchio")
    d, model, parent = robot.description, pin.Model(), 0
    for i in range(robot.n):
        placement = pin.SE3(d.placements[i])
        parent = model.addJoint(parent, pin.JointModelRZ(), placement, f"joint{i + 1}")
        reordered = d.inertial[i][[0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]  # order of the inertia in Pinocchio
        model.appendBodyToJoint(parent, pin.Inertia.FromDynamicParameters(reordered), pin.SE3.Identity())
    model.gravity.linear = np.array(d.gravity)
    data, tip, axes = model.createData(), model.njoints - 1, pin.LOCAL_WORLD_ALIGNED
    q, dq, ddq = (np.array(state[name]) for name in ("q", "dq", "ddq"))

    def jacobian() -> Any:
        pin.computeJointJacobians(model, data, q)
        return pin.getJointJacobian(model, data, tip, axes)

    def jacobian_dot() -> Any:
        pin.computeJointJacobiansTimeVariation(model, data, q, dq)
        return pin.getJointJacobianTimeVariation(model, data, tip, axes)

    def mass_dot() -> Any:
        C = pin.computeCoriolisMatrix(model, data, q, dq)
        return C + C.T

    return {
        "J": jacobian,
        "J_dot": jacobian_dot,
        "M": lambda: pin.crba(model, data, q),
        "C": lambda: pin.computeCoriolisMatrix(model, data, q, dq),
        "M_dot": mass_dot,
        "Y": lambda: pin.computeJointTorqueRegressor(model, data, q, dq, ddq),
    }


def pinocchio_curves(joints: Iterable[int], names: Iterable[str] = ("C", "Y")) -> list[Timing]:
    """Measure the Pinocchio wheel, called from Python, under the names ``"Pinocchio: C"``, ..."""
    timings = []
    for n in joints:
        robot = panda_of(n)
        calls = pinocchio_calls(robot, _states(n, robot.parameters)[0])
        timings += [Timing(n, f"Pinocchio: {name}", "as installed", python_times(calls[name])) for name in names]
    return timings
