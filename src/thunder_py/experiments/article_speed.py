"""Figure 2 and Table 3 of the Thunder article, measured: its formulae, this package's code and Pinocchio."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..robot import Robot
from .article_formulas import ArticleFormulas, panda_of
from .call_times import STATES, casadi_times, compiled_casadi_times, compiled_times, python_times

__all__ = ["Timing", "article_curves", "our_curves", "our_functions", "pinocchio_calls", "pinocchio_curves"]

Array = npt.NDArray[np.float64]
#: where a derivation element by element stops fitting into minutes and gigabytes
MOST_JOINTS = {"C_std": 7, "C": 15, "Y": 9}


@dataclass(frozen=True)
class Timing:
    """Time of a call.

    Attributes
    ----------
    joints : int
    curve : str
        ``"C_std"``, ``"C"``, ``"Y"`` (the article's formulae), ``"ours: C"``, ``"Pinocchio: C"``, ...
    build : str
        ``"interpreted"``, ``"-O0"``, ``"-O2"``, ``"as installed"``.
    seconds : float
    operations : int
        In the function; 0 where unknown.
    """

    joints: int
    curve: str
    build: str
    seconds: float
    operations: int = 0


def _states(n: int, parameters: Array) -> list[dict[str, Array]]:
    rng = np.random.default_rng(n)
    names = ("q", "dq", "ddq", "dq_r", "ddq_r")
    states = []
    for _ in range(STATES):
        states.append({name: rng.uniform(-1, 1, n) for name in names} | {"par_REG": parameters})
    return states


def article_curves(
    joints: Iterable[int],
    limits: Mapping[str, int],
    names: tuple[str, ...] = ("C_std", "C", "Y"),
    report: Callable[[str], None] = lambda line: None,
) -> list[Timing]:
    """Time the article's formulae in CasADi's virtual machine and as CasADi's C.

    Parameters
    ----------
    joints : iterable of int
    limits : mapping of str to int
        Compiler's option -> largest number of operations that is compiled; beyond, minutes go by.
    names : tuple of str
        Curves; none goes beyond `MOST_JOINTS`.
    report : callable
        Told what was measured.

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
            report(f"{n} joints, {name}: {operations} operations")
    return timings


def our_functions(robot: Robot) -> dict[str, Any]:
    """Return this package's recordings of the quantities of Table 3, inertial parameters at run time."""
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
    """Time this package's generated C, under the names ``"ours: C"``, ..."""
    timings = []
    for n in joints:
        robot = panda_of(n)
        states, functions = _states(n, robot.parameters), our_functions(robot)
        for name in names:
            function = functions[name]
            inputs = [[state[key] for key in function.arguments] for state in states]
            for level in levels:
                seconds = compiled_times(function, inputs, level)
                timings.append(Timing(n, f"ours: {name}", level, seconds, function.operation_count))
    return timings


def pinocchio_calls(robot: Robot, state: Mapping[str, Array]) -> dict[str, Callable[[], Any]]:
    """Return calls of Pinocchio's functions for the quantities of Table 3, Y being the classical regressor.

    Parameters
    ----------
    robot : Robot
        Revolute, in modified DH form; without friction.
    state : mapping
        ``q, dq, ddq``.
    """
    pin = importlib.import_module("pinocchio")
    d, model, parent = robot.description, pin.Model(), 0
    for i in range(robot.n):
        placement = pin.SE3(d.placements[i])
        parent = model.addJoint(parent, pin.JointModelRZ(), placement, f"joint{i + 1}")
        reordered = d.inertial[i][[0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]  # Pinocchio's order of the inertia is its own
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
    """Time Pinocchio as its wheel has it, called from Python, under the names ``"Pinocchio: C"``, ..."""
    timings = []
    for n in joints:
        robot = panda_of(n)
        calls = pinocchio_calls(robot, _states(n, robot.parameters)[0])
        timings += [Timing(n, f"Pinocchio: {name}", "as installed", python_times(calls[name])) for name in names]
    return timings
