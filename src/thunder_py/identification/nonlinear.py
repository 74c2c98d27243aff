"""Parameters that torques are not linear in: delays, gains and biases of sensors, and Stribeck velocities.

The torque sensor of joint j and the encoder of joint i read, with the linear parameters x and the nonlinear ones theta,

``tau_j(t + d_j) = g_j (W(q, dq, ddq) x)_j + b_j + noise``, ``q_i(t) = (read_i(t + e_i) - c_i) / a_i``.

Derivatives of the modelled readings by theta are further columns, whose coefficients are the change of theta.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..robot import Robot
from .equations import Columns, Equations
from .friction import FrictionColumns
from .robust import Outliers
from .samples import Samples
from .sensors import SensorCalibration

#: smallest gain
_SMALLEST_GAIN = 0.01
#: number of Stribeck velocities tried at the start, the bounds among them
_FIRST = 6
#: relative step of differences
_STEP = 1e-6


class Nonlinear(NamedTuple):
    """What is unknown of theta.

    Attributes
    ----------
    chosen : (s,) int array
        Values of sensors, indices into `SensorCalibration.vector`.
    stribeck : (v,) int array
        Joints with a Stribeck velocity, whose logarithms follow.
    """

    chosen: npt.NDArray[np.intp]
    stribeck: npt.NDArray[np.intp]

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.chosen.size + self.stribeck.size


@dataclass(frozen=True, kw_only=True)
class Guess:
    """What a pass over the logs linearizes at.

    Attributes
    ----------
    known : Robot
        Robot of the solution before, whose stiffnesses weigh offsets.
    offsets : (e,) array
        Offsets of springs.
    sensors : SensorCalibration
        Sensors.
    columns : tuple of Columns
        Further columns; those of friction have the Stribeck velocities.
    extra : (c,) array
        Coefficients of these.
    payload : (10,) array
        REG parameters of the payload in logs with it.
    slopes : bool
        Whether there are columns of derivatives.
    tried : (v, n) array
        Further Stribeck velocities that are compared.
    outliers : Outliers or None
        Residuals that count as outliers.
    thinned : bool
        Whether only so many instants are used as filtered signals need.
    """

    known: Robot
    offsets: Array
    sensors: SensorCalibration
    columns: tuple[Columns, ...]
    extra: Array
    payload: Array
    slopes: bool = False
    tried: Array
    outliers: Outliers | None = None
    thinned: bool = False

    @cached_property
    def friction(self) -> tuple[FrictionColumns | None, Array]:
        """Columns of friction, which are the first ones, and their coefficients."""
        first = self.columns[0] if self.columns else None
        if not isinstance(first, FrictionColumns):
            return None, np.zeros(0)
        return first, self.extra[: len(first.names)]

    def theta(self, unknown: Nonlinear) -> Array:
        """Return the unknown nonlinear parameters."""
        velocity = np.zeros(0) if self.friction[0] is None else self.friction[0].velocities[unknown.stribeck]
        return np.concatenate([self.sensors.vector()[unknown.chosen], np.log(velocity)])

    def at(self, unknown: Nonlinear, theta: Array) -> Guess:
        """Return the guess with these nonlinear parameters."""
        values, columns = self.sensors.vector(), self.columns
        values[unknown.chosen] = theta[: unknown.chosen.size]
        if unknown.stribeck.size and self.friction[0] is not None:
            velocity = self.friction[0].velocities.copy()
            velocity[unknown.stribeck] = np.exp(theta[unknown.chosen.size :])
            columns = (replace(self.friction[0], velocity=velocity), *columns[1:])
        return replace(self, sensors=SensorCalibration.from_vector(values), columns=columns)

    def bounds(self, unknown: Nonlinear, longest: float, speed: Array) -> Array:
        """Return the lower and upper bounds of theta, (2, m), with the longest delay and each joint's largest speed."""
        quantity = unknown.chosen // self.sensors.n
        names = [SensorCalibration.QUANTITIES[k] for k in quantity]
        upper = [longest if name.endswith("_delay") else np.inf for name in names]
        lower = [_SMALLEST_GAIN if name.endswith("_gain") else -high for name, high in zip(names, upper, strict=True)]
        if not unknown.stribeck.size or self.friction[0] is None:
            return np.array([lower, upper])
        grid = np.log(velocities(self.friction[0].delta, speed)[:, unknown.stribeck])
        return np.array([[*lower, *grid[0]], [*upper, *grid[-1]]])


def velocities(delta: float, speed: Array) -> Array:
    """Return Stribeck velocities from the lower to the upper bound, delta and the joint's largest speed, (v, n)."""
    return np.geomspace(delta, np.maximum(speed, 2.0 * delta), _FIRST)


@dataclass(frozen=True)
class Slopes:
    """Derivatives of the modelled readings of a window by theta.

    Attributes
    ----------
    robot : Robot
        Links of the solution before, with the payload of this log, without friction.
    unknown : Nonlinear
        Unknown parameters.
    guess : Guess
        Values of all of them.
    samples : Samples
        Signals of the window.
    joints : (r,) int array
        Joint of each row.
    driven : (r,) bool array
        Rows whose torque is that of a joint's torque sensor.
    """

    robot: Robot
    unknown: Nonlinear
    guess: Guess
    samples: Samples
    joints: npt.NDArray[np.intp]
    driven: npt.NDArray[np.bool_]

    @cached_property
    def _names(self) -> list[str]:
        return [SensorCalibration.QUANTITIES[k // self.robot.n] for k in self.unknown.chosen]

    @cached_property
    def _shifts(self) -> dict[str, Array]:
        """How positions, velocities and accelerations change by the quantities of encoders, (3, k, n) each."""
        motion, gain = np.stack(self.samples.motion), np.asarray(self.guess.sensors.position_gain)
        bias = np.zeros_like(motion)
        bias[0] = -1.0 / gain
        rates = np.stack([_rates(part, self.samples.t) for part in motion])
        return {"torque_delay": rates, "position_delay": rates, "position_gain": -motion / gain, "position_bias": bias}

    @cached_property
    def _own(self) -> dict[str, Array]:
        """Derivatives of the torques of friction and springs, of which each depends on its own joint, (k, r) each."""
        (q, dq, ddq), motors = self.samples.wide
        gain = np.asarray(self.guess.sensors.position_gain)
        ways = {
            "torque_delay": (dq, ddq),
            "position_delay": (dq, ddq),
            "position_gain": (-q / gain, -dq / gain),
            "position_bias": (np.broadcast_to(-1.0 / gain, q.shape), np.zeros_like(dq)),
        }
        columns, coefficients = self.guess.friction

        def friction(speed: Array) -> Array:
            known = self.guess.known.friction_torque(speed)
            return known if columns is None else known + columns.model(coefficients).torque(speed)

        def torque(step: float, way: tuple[Array, Array]) -> Array:
            found = np.zeros((len(q), self.joints.size))
            n, e = self.robot.n, self.robot.e
            at, speed = q + step * way[0], dq + step * way[1]
            found[:, :n] = friction(speed)
            if motors is not None:
                known, offsets = self.guess.known, self.guess.offsets
                found[:, n : n + e] = known.elastic_torque(at, motors.q - offsets)
                found[:, n : n + e] += known.elastic_damping_torque(speed, motors.dq)
            return found

        found = {}
        for name in ways.keys() & set(self._names):
            found[name] = (torque(_STEP, ways[name]) - torque(-_STEP, ways[name])) / (2.0 * _STEP)
            if name == "torque_delay":  # samples may miss the slope of a sign, which is steep, but not its change
                found[name][:, : self.robot.n] = _rates(friction(dq), self.samples.t)
            found[name] = self.samples.filtered(found[name])
        return found

    @cached_property
    def _bends(self) -> Array:
        """Derivatives of friction by the logarithms of the Stribeck velocities, (k, v)."""
        columns, coefficients = self.guess.friction
        if columns is None or not self.unknown.stribeck.size:
            return np.zeros((len(self.samples), 0))
        sizes = np.asarray(columns.model(coefficients).stribeck)[self.unknown.stribeck]
        return sizes * columns.stribeck_terms(self.samples, columns.velocities, slopes=True)

    def at(self, rows: Equations, predicted: Array) -> Array:
        """Return the derivatives of exact torques in some equations, (k, r, m), from the modelled ones, (k, r)."""
        part, n, gain = rows.part, self.robot.n, np.asarray(self.guess.sensors.torque_gain)[self.joints]
        found = np.zeros((*predicted.shape, self.unknown.size))
        torque = predicted + np.where(self.driven, rows.samples.torque[:, self.joints] - rows.y, 0.0)
        by: dict[str, Array] = {}
        if self._own:
            slopes = self.robot.inverse_dynamics_derivatives(*rows.samples.motion)
            for name in self._own:
                by[name] = np.zeros((*predicted.shape, n))
                by[name][:, :n] = sum(
                    slope * shift[part][:, None, :] for slope, shift in zip(slopes, self._shifts[name], strict=True)
                )
                by[name][:, np.arange(self.joints.size), self.joints] += self._own[name][part]
        for k, (index, name) in enumerate(zip(self.unknown.chosen, self._names, strict=True)):
            joint = index % n
            here = self.driven & (self.joints == joint)
            if name == "torque_gain":
                found[:, here, k] = (torque / gain)[:, here]
            elif name == "torque_bias":
                found[:, here, k] = 1.0 / gain[here]
            elif name == "torque_delay":
                found[:, here, k] = -self._rate(torque, by, rows)[:, here]
            else:
                found[..., k] = by[name][..., joint]
        for k, joint in enumerate(self.unknown.stribeck, self.unknown.chosen.size):
            found[:, joint, k] = self._bends[part, k - self.unknown.chosen.size]
        return found

    def _rate(self, torque: Array, by: dict[str, Array], rows: Equations) -> Array:
        """Return the time derivative of the modelled torques: all encoders late by the same time, and the motors."""
        if self.robot.e == 0:
            return np.asarray(by["torque_delay"].sum(axis=-1))
        return _rates(torque, rows.samples.t)


def _rates(signals: Array, t: Array) -> Array:
    """Return time derivatives of even samples (k, n), by differences of fourth order."""
    period = (t[-1] - t[0]) / max(len(t) - 1, 1)
    found = np.gradient(signals, period, axis=0) if len(t) > 1 else np.zeros_like(signals)
    found[2:-2] = (signals[:-4] - 8.0 * signals[1:-3] + 8.0 * signals[3:-1] - signals[4:]) / (12.0 * period)
    return np.asarray(found)
