"""Functions of the Panda, recorded once for two generators of C, this package's and CasADi's; answers compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from _arm import Arm

from thunder_py.codegen.library import outlining
from thunder_py.symbolic import Function, SymbolicModel

NONE, BAKED, RUN_TIME = "none", "baked", "at run time"  # inertial parameters
WITHOUT_PARAMETERS = ("J", "J_dot", "Y", "Y_r")
QUICK = ("J", "M", "inverse dynamics", "Y_r")  # quantities of a quick run


@dataclass(frozen=True)
class Case:
    """A recorded function: which quantity it is, with which parameters."""

    quantity: str
    parameters: str
    function: Function
    model: SymbolicModel  # without functions for what repeats, for CasADi
    flat: Function

    @cached_property
    def casadi(self) -> Any:
        """Return CasADi's function of the recorded operations; it does not store zeros that are known."""
        return self.model.to_casadi(self.flat, f"{self.function.name}_casadi")


def record(arm: Arm, quick: bool) -> list[Case]:
    """Record all functions, with baked parameters and, where it makes a difference, with parameters at run time."""
    robot, found = arm.robot(), []
    for parameters, label in ((BAKED, "baked"), (RUN_TIME, "given")):
        model = robot.symbolic(inertial=parameters == RUN_TIME, outline=outlining(robot))
        flat = robot.symbolic(inertial=parameters == RUN_TIME)
        plain = _quantities(flat)
        for quantity, (name, expressions) in _quantities(model).items():
            function = model.function(f"{name}_{label}", expressions)
            needed = quantity not in WITHOUT_PARAMETERS
            if (parameters == BAKED or needed) and (not quick or quantity in QUICK):
                recorded = flat.function(f"{name}_{label}_flat", plain[quantity][1])
                found.append(Case(quantity, parameters if needed else NONE, function, flat, recorded))
    return found


def _quantities(model: SymbolicModel) -> dict[str, tuple[str, Any]]:
    """Return a name for C and the expressions of every quantity."""
    C = model.coriolis_matrix()
    return {
        "J": ("J", model.jacobian()),
        "J_dot": ("J_dot", model.jacobian_dot()),
        "M": ("M", model.mass_matrix()),
        "M + C + M_dot": ("MC", {"M": model.mass_matrix(), "C": C, "M_dot": C + C.T}),
        "G": ("G", model.gravity_vector()),
        "inverse dynamics": ("ID", model.inverse_dynamics()),
        "forward dynamics": ("FD", model.forward_dynamics()),
        "Y": ("Y", model.regressor()),
        "Y_r": ("Yr", model.slotine_li_regressor()),
    }


def check_entries(cases: list[Case], arm: Arm) -> None:
    """Compare recordings and CasADi's functions with the package's kernels, entry by entry."""
    values = np.random.default_rng(5).normal(size=(6, arm.n))
    state = dict(zip(("q", "dq", "ddq", "dq_r", "ddq_r", "tau"), values, strict=True))
    state["par_REG"] = arm.inertial.ravel()
    expected = _expected(arm, *values)
    for case in cases:
        arguments = [state[name] for name in case.function.arguments]
        ours, theirs = _listed(case.function(*arguments)), _listed(case.casadi(*arguments))
        for wanted, a, b in zip(expected[case.quantity], ours, theirs, strict=True):
            for result, who in ((a, "this package"), (np.array(b).reshape(wanted.shape), "CasADi")):
                if np.abs(result - wanted).max() > 1e-10 * np.abs(wanted).max():
                    raise SystemExit(f"{case.quantity}, {case.parameters}: {who} is wrong")


def _listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple) else [results]


def _expected(arm: Arm, q: Any, dq: Any, ddq: Any, dq_r: Any, ddq_r: Any, tau: Any) -> dict[str, list[Any]]:
    robot = arm.robot()
    M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, dq)
    return {
        "J": [robot.jacobian(q)],
        "J_dot": [robot.jacobian_dot(q, dq)],
        "M": [M],
        "M + C + M_dot": [M, C, C + C.T],
        "G": [robot.gravity_vector(q)],
        "inverse dynamics": [robot.inverse_dynamics(q, dq, ddq)],
        "forward dynamics": [robot.forward_dynamics(q, dq, tau)],
        "Y": [robot.regressor(q, dq, ddq)],
        "Y_r": [robot.slotine_li_regressor(q, dq, dq_r, ddq_r)],
    }
