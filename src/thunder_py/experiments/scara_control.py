"""SCARA project, chapter 4: robust, adaptive and operational-space control with 5 kg that no controller knows of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core import Controller
from ..checks import Array
from ..control import ComputedTorque
from ..result import Result
from ..robot import Robot
from ..simulation import simulate
from ..trajectory import Path
from .scara_clik import PERIOD, start
from .scara_controllers import (
    EPSILON,
    K_D,
    K_I,
    K_P,
    LAMBDA_Z,
    OPERATIONAL,
    PAYLOAD,
    Q_Z,
    RHO,
    adaptive,
    joint_reference,
    operational,
    robust,
    scara,
)
from .scara_path import scara_path
from .text import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "Claim", "Loaded", "ScaraControl", "run_control", "z_error_at_rest"]

WEIGHT = float(PAYLOAD.mass) * 9.81  # [N]


class Claim(NamedTuple):
    """What the report says of the error along z that is left, in words, and what theory does [m]."""

    report: str
    theory: float


def z_error_at_rest(stiffness: float) -> float:
    """Return the error that carries the payload at rest, ``m g / (B_33 stiffness)`` [m].

    Parameters
    ----------
    stiffness : float
        What multiplies the error along z, inside of the product with the model's inertia [1/s^2].
    """
    return WEIGHT / (float(Robot.load("scara").mass_matrix(np.zeros(4))[2, 2]) * stiffness)


def _layer(Q_ez: float) -> float:
    """Return what the boundary layer adds to K_P along z: ``rho P_ez / epsilon`` with ``P_ez = Q_ez / (2 K_P)``."""
    return RHO / EPSILON * Q_ez / (2.0 * K_P[2])


#: by run; zero is what adaptation and integral leave after a long time
CLAIMS: dict[str, Claim] = {
    "computed torque": Claim("", z_error_at_rest(K_P[2])),
    "robust": Claim("not zero", z_error_at_rest(K_P[2] + _layer(1.0))),
    "robust, Q for z": Claim("small by choice of gains", z_error_at_rest(K_P[2] + _layer(Q_Z[2]))),
    "not adaptive": Claim("", WEIGHT / (K_D[2] * LAMBDA_Z)),
    "adaptive": Claim("to zero, 1e-5 after 5 s", 0.0),
    "no integral": Claim("", z_error_at_rest(OPERATIONAL["K_p"][2])),
    "integral": Claim("to zero", 0.0),
    "integral, 15 times": Claim("", 0.0),
}


class Loaded(NamedTuple):
    """A run with the payload.

    Attributes
    ----------
    result : Result
        The run.
    error : (k, 3) array
        Position of the path less that of the tip over time [m].
    """

    result: Result
    error: Array

    def left(self, window: float = 1.0) -> float:
        """Return the mean of the error along z over the last `window` seconds, in size [m]."""
        t = self.result.t
        return abs(float(self.error[t >= t[-1] - window, 2].mean()))

    def worst(self, since: float = 0.0) -> tuple[float, float]:
        """Return the largest error from a time on, in the plane and along z [m]."""
        late = self.error[self.result.t >= since]
        return float(np.linalg.norm(late[:, :2], axis=1).max()), float(np.abs(late[:, 2]).max())


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraControl:
    """Runs along the path with the payload at the end effector.

    Attributes
    ----------
    robot : Robot
        What the controllers know, without the payload.
    path : Path
        What is followed.
    runs : dict of str to Loaded
        By `CLAIMS`.
    """

    robot: Robot
    path: Path
    runs: Mapping[str, Loaded]

    def estimated_mass(self) -> Array:
        """Return the estimate of the mass of link 3 over time, (k,) [kg]."""
        result = self.runs["adaptive"].result
        return result.parameters[:, list(result.names["parameters"]).index("link3.m")]

    def time_of_mass(self, tolerance: float = 0.02) -> float:
        """Return when the estimate comes within a part of 15 kg for good [s]."""
        truth = 10.0 + float(PAYLOAD.mass)
        outside = np.flatnonzero(np.abs(self.estimated_mass() - truth) > tolerance * truth)
        return float(self.runs["adaptive"].result.t[outside[-1]]) if outside.size else 0.0

    def table(self) -> str:
        """Return errors along z and in the plane beside the report's words and theory, as Markdown."""
        rows: list[list[object]] = []
        for name, run in self.runs.items():
            claim, (plane, z) = CLAIMS[name], run.worst(5.0)
            rows.append([name, claim.report, claim.theory, run.left(), run.worst()[1], z, plane])
        header = ["", "z left: report", "theory [m]", "ours [m]", "worst z [m]", "after 5 s [m]", "x, y after 5 s [m]"]
        return markdown(header, rows)

    def plot(self) -> Figure:
        """Draw the error along z of the three controllers, the estimated mass, and forces along z."""
        from ..plotting.scara_control import plot_control

        return plot_control(self)

    def plot_choices(self) -> Figure:
        """Draw what the unit vector, adaptation and integral each do to the error along z."""
        from ..plotting.scara_control import plot_choices

        return plot_choices(self)


def run_control(names: Iterable[str] = tuple(CLAIMS), *, viscous: float = 0.0, log_every: int = 10) -> ScaraControl:
    """Let controllers carry the payload along the path.

    Parameters
    ----------
    names : iterable of str
        Some of `CLAIMS`, default all.
    viscous : float
        Viscous friction of every joint, known to the controllers [N m s/rad, N s/m]; the report does not print its F_v.
    log_every : int
        Control periods between rows.
    """
    robot, path = scara(viscous), scara_path()
    joints = joint_reference(path)
    laws: dict[str, Controller] = {
        "computed torque": ComputedTorque(robot, K_P, K_D),
        "robust": robust(robot),
        "robust, Q for z": robust(robot, Q_Z),
        "not adaptive": adaptive(robot, adapts=False),
        "adaptive": adaptive(robot),
        **{name: operational(robot, K_i) for name, K_i in K_I.items()},
    }
    q0, runs = start(path), {}
    for name in names:
        reference = path if name in K_I else joints
        result = simulate(
            robot, laws[name], reference, path.duration, PERIOD, q0=q0, payloads=PAYLOAD, log_every=log_every
        )
        tip = robot.forward_kinematics(result.q)[:, :3, 3]
        runs[name] = Loaded(result, path(result.t).p - tip)
    return ScaraControl(robot=robot, path=path, runs=runs)
