"""SCARA project, section 4.2: the printed Lambda_3 = 10000 is unstable at 1 ms; where stability begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..checks import Array
from ..control import SlotineLi
from ..result import Result
from ..robot import Robot
from ..simulation import simulate
from .scara_clik import PERIOD
from .scara_controllers import K_D, LAMBDA, PAYLOAD, adaptive, joint_reference, scara
from .scara_path import scara_path
from .text import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CASES", "WITH_ROTORS", "ScaraSampling", "run_sampling", "sampled_error_dynamics", "spectral_radius"]

#: Lambda_3 [1/s]: as printed, past the limit, within, and ours
CASES = (10000.0, 2100.0, 1900.0, 1000.0)
#: another reading of the twelve parameters: masses, inertias, and rotors in the place of viscous friction
WITH_ROTORS = (
    *(f"link{i}.{what}" for what in ("m", "Izz") for i in range(1, 5)),
    *(f"joint{i}.rotor_inertia" for i in range(1, 5)),
)


def sampled_error_dynamics(Lambda: float, damping: float, dt: float = PERIOD) -> Array:
    """Return the matrix that takes error and its rate to the next sample, for one joint, (2, 2).

    Parameters
    ----------
    Lambda : float
        [1/s].
    damping : float
        K_D over inertia [1/s].
    dt : float
        For which the torque is held [s].

    Notes
    -----
    With the true model, Slotine-Li is ``e'' = -(Lambda + damping) e' - Lambda damping e`` in continuous time.
    """
    stiffness, rate = Lambda * damping, Lambda + damping
    hold = np.array([[0.5 * dt * dt], [dt]])
    free = np.array([[1.0, dt], [0.0, 1.0]])
    closed: Array = free - hold * np.array([[stiffness, rate]])
    return closed


def spectral_radius(Lambda: float, dt: float = PERIOD) -> float:
    """Return the largest size of an eigenvalue along z, without payload: above 1 errors grow from sample to sample."""
    inertia = float(Robot.load("scara").mass_matrix(np.zeros(4))[2, 2])
    return float(np.abs(np.linalg.eigvals(sampled_error_dynamics(Lambda, K_D[2] / inertia, dt))).max())


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraSampling:
    """The adaptive controller with several Lambda_3.

    Attributes
    ----------
    runs : dict of float to Result
        By Lambda_3.
    with_rotors : Result
        Our Lambda_3, with `WITH_ROTORS` adapting at the same gains.
    """

    runs: Mapping[float, Result]
    with_rotors: Result

    def table(self) -> str:
        """Return spectral radii and how the runs end, as Markdown."""
        rows: list[list[object]] = []
        for Lambda, result in self.runs.items():
            rows.append([f"{Lambda:g}", Lambda * PERIOD, spectral_radius(Lambda), *_end(result)])
        ours = CASES[-1]
        rows.append([f"{ours:g}, rotors adapt", ours * PERIOD, spectral_radius(ours), *_end(self.with_rotors)])
        header = ["Lambda_3 [1/s]", "Lambda_3 dt", "spectral radius", "run ends at [s]", "status", "z error then [m]"]
        return markdown(header, rows)

    def plot(self) -> Figure:
        """Draw the spectral radius over Lambda_3 and the errors of the runs."""
        from ..plotting.scara_control import plot_sampling

        return plot_sampling(self)


def _end(result: Result) -> tuple[float, str, float]:
    from ..control import Status

    return float(result.t[-1]), Status(int(result.status[-1])).name, abs(float(result.error[-1, 2]))


def run_sampling(duration: float = 5.0) -> ScaraSampling:
    """Let the adaptive controller carry the payload along the path with every Lambda_3 of `CASES`.

    Parameters
    ----------
    duration : float
        Of runs that do not end before [s].
    """
    robot, path = scara(), scara_path()
    reference = joint_reference(path)

    def follow(law: SlotineLi) -> Result:
        return simulate(robot, law, reference, duration, PERIOD, payloads=PAYLOAD)

    gains = [0.01 if name == "link3.m" else 10.0 for name in robot.unknown(WITH_ROTORS).names]
    rotors = SlotineLi(robot, [*LAMBDA[:2], CASES[-1], LAMBDA[3]], K_D, gains, unknown=WITH_ROTORS)
    return ScaraSampling(runs={value: follow(adaptive(robot, value)) for value in CASES}, with_rotors=follow(rotors))
