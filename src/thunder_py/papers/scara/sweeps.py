"""SCARA project, Figures 4.2, 4.4, 4.5 and 4.7 over the quantities that the report does not print."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...kinematics.clik import SampledJointReference
from ...robot import Robot
from ...simulation import Payload
from ..sweeps.several import chosen, declared
from ..sweeps.sweep import FreeParameter
from .control import LAMBDA_Z, PAYLOAD, joint_reference, run_control
from .kinematics import PERIOD, scara_path, schemes, start

QUANTITIES = (
    FreeParameter("Q_z", 1.0, (1e2, 1e4, 1e6), "Q of the unit vector along z", "right side of the Lyapunov equation"),
    FreeParameter(
        "friction",
        "none",
        ("none", "20 known", "5 unknown", "20 unknown"),
        "viscous friction [N m s/rad, N s/m]",
        '"from the given parameters"',
    ),
    FreeParameter("payload", float(PAYLOAD.mass), (4.5, 5.5), "payload [kg]", '"about 5 kg"'),
    FreeParameter("Lambda_z", LAMBDA_Z, (300.0, 1900.0), "Lambda_3 [1/s]", "the printed 10000 diverges at 1 ms (S-6)"),
    FreeParameter("integrator", "RK4", ("RK4", "Euler"), "integrator of the reference", "discrete at 1 ms"),
)
#: law -> figure and statement; the text of the report has numbers for the adaptive law only
_LAWS = {"robust": "Figure 4.2, robust", "adaptive": "Figure 4.5, adaptive", "integral": "Figure 4.7, integral"}
_MASS = "Figure 4.4, mass within 2 % after [s]"


@lru_cache(maxsize=2)
def _reference(integrator: str) -> SampledJointReference:
    path = scara_path()
    if integrator == "RK4":
        return joint_reference(path)
    motion = schemes(Robot.load("scara"))["second order"].follow(path, start(path), path.duration, PERIOD)
    return SampledJointReference(PERIOD, motion.q, motion.dq)


def remaining_errors(**given: Any) -> dict[str, float]:
    """Return errors along z by law, and the time until the estimated mass stays within 2 %.

    Parameters
    ----------
    Q_z, friction, payload, Lambda_z, integrator
        See `QUANTITIES`.
    """
    s = chosen(QUANTITIES, given)
    viscous, _, known = s.friction.partition(" ")
    found = run_control(
        _LAWS, viscous=0.0 if viscous == "none" else float(viscous), known=known != "unknown",
        payload=Payload(s.payload), Q_z=s.Q_z, Lambda_z=s.Lambda_z, reference=_reference(s.integrator),
    )  # fmt: skip
    errors: dict[str, float] = {}
    for law, what in _LAWS.items():
        run = found.runs[law]
        failed = run.result.diverged
        errors[f"{what}: largest z error after 5 s [m]"] = np.inf if failed else run.worst(5.0)[1]
        errors[f"{what}: z error at the end [m]"] = np.inf if failed else run.left()
    return errors | {_MASS: np.inf if found.runs["adaptive"].result.diverged else found.time_of_mass()}


#: chapter 4 over `QUANTITIES`
sweep_control = declared(
    "SCARA project, chapter 4: errors with the payload",
    remaining_errors,
    QUANTITIES,
    {"Figure 4.5, adaptive: largest z error after 5 s [m]": 1e-5, _MASS: 5.0},
    combined=10,
    few=1,
)
