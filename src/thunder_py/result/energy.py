"""Where the energy of a run comes from and goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..robot import Robot
from ..values import Value
from .phases import plant_phases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .run import Result

__all__ = ["EnergyBalance", "energy_balance"]


@dataclass(frozen=True, eq=False)
class EnergyBalance(Value):
    """Energies [J] over time, (k,) each; all but the first two are sums since the start of the run.

    Attributes
    ----------
    t : (k,) array
        Time [s].
    kinetic, potential : (k,) array
        Of links, rotors and what is carried; with the motors and springs of elastic joints.
    work : (k,) array
        Of the torques.
    dissipated : (k,) array
        By friction, and by the dampers of elastic joints.
    external : (k,) array
        Work of what pushes from outside.
    payload : (k,) array
        Energy that payloads brought along: they arrive with the velocity and height of their link.
    """

    t: Array
    kinetic: Array
    potential: Array
    work: Array
    dissipated: Array
    external: Array
    payload: Array

    @property
    def total(self) -> Array:
        """Kinetic and potential energy."""
        return self.kinetic + self.potential

    @property
    def residual(self) -> Array:
        """What the balance leaves open: errors of the integrator, and of sums over logged instants.

        ``total - total[0] - work + dissipated - external - payload``; goes to zero with the step, of second order in
        the time between logged instants where nothing switches between them.
        """
        residual: Array = self.total - self.total[0] - self.work + self.dissipated - self.external - self.payload
        return residual

    def plot(self, *, axes: Axes | None = None) -> Axes:
        """Draw all of them, see `thunder_py.plotting.plot_energy`."""
        from ..plotting.runs import plot_energy

        return plot_energy(self, axes=axes)


def energy_balance(result: Result) -> EnergyBalance:
    """Return the balance of a run whose plant was a `Robot`.

    Work of torques that were held is exact; other sums are trapezoids over the logged instants, so log often.
    """
    rows = len(result.t)
    kinetic, potential, brought = np.zeros(rows), np.zeros(rows), np.zeros(rows)
    power = np.zeros(rows)
    before: Robot | None = None
    for robot, first, last in plant_phases(result, "energy"):
        if first == last:
            continue
        now = slice(first, last)
        kinetic[now], potential[now] = _energies(robot, result, now)
        power[now] = _dissipation(robot, result, now)
        if before is not None:
            then = slice(first, first + 1)
            brought[first:] += kinetic[first] + potential[first] - np.sum(_energies(before, result, then))
        before = robot
    external = result.signals.get("external")
    return EnergyBalance(
        t=result.t,
        kinetic=kinetic,
        potential=potential,
        work=_work(result, result.tau, drive_positions(result), result.held),
        dissipated=_sum(0.5 * (power[1:] + power[:-1]) * np.diff(result.t)),
        external=np.zeros(rows) if external is None else _work(result, external, result.q, held=False),
        payload=brought,
    )


def drive_positions(result: Result) -> Array:
    """Return the positions of what the torques drive: joints, or motors where joints are elastic, (k, n)."""
    positions = result.q.copy()
    for k, drive in enumerate(() if result.plant is None else result.plant.elastic):
        positions[:, drive.joint - 1] = result.x[:, k]
    return positions


def _sum(steps: Array) -> Array:
    return np.concatenate([[0.0], np.cumsum(steps)])


def _work(result: Result, tau: Array, positions: Array, held: bool) -> Array:
    mean = tau[:-1] if held else 0.5 * (tau[:-1] + tau[1:])
    return _sum(np.sum(mean * np.diff(positions, axis=0), axis=1))


def _energies(robot: Robot, result: Result, rows: slice) -> tuple[Array, Array]:
    """Return kinetic and potential energy at some of the instants."""
    kinetic = robot.kinetic_energy(result.q[rows], result.dq[rows])
    potential = robot.potential_energy(result.q[rows])
    for k, drive in enumerate(robot.elastic):
        deflection = result.x[rows, k] - result.q[rows, drive.joint - 1]
        kinetic = kinetic + 0.5 * drive.Mm * result.dx[rows, k] ** 2
        for order, stiffness in enumerate(drive.K):
            potential = potential + stiffness * deflection ** (2 * order + 2) / (2 * order + 2)
    return kinetic, potential


def _dissipation(robot: Robot, result: Result, rows: slice) -> npt.NDArray[np.float64]:
    """Return the power that friction and dampers take at some of the instants."""
    dq, dx = result.dq[rows], result.dx[rows]
    power: Array = np.sum(robot.friction_torque(dq) * dq, axis=1)
    if robot.elastic:
        slip = dx - dq[:, [drive.joint - 1 for drive in robot.elastic]]
        power = power + np.sum(robot.elastic_damping_torque(dq, dx) * slip, axis=1)
        power = power + np.sum(robot.motor_damping_torque(dx) * dx, axis=1)
    return power
