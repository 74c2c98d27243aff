"""Columns of a fit, and sums over instants that it needs; those of windows and of logs add up."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..model.elastic import spring_slopes
from ..model.parameters import BaseParameters, UnknownParameters
from ..parallel import available_threads, one_blas_thread
from ..robot import Robot
from .equations import (
    Columns,
    Equations,
    Filtering,
    FrictionColumns,
    Window,
    all_names,
    all_parameters,
    equations,
    formed_columns,
    windows,
)
from .least_squares import (
    MOST_LOGS,
    SMALLEST_NOISE,
    Blocks,
    Data,
    Outliers,
    Triangle,
    block_length,
    r_factor,
    scale_of,
    split,
)
from .log import LogSource
from .samples import Filter, Samples, SensorCalibration, quantity_names
from .signals import Motion, difference_squares, white_noise

#: names of the parameters of a payload in `Identification.extra`
PAYLOAD = tuple(f"payload.{name}" for name in ("m", "cx", "cy", "cz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"))
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


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Logs, prior, and what is unknown.

    Attributes
    ----------
    robot : Robot
        The robot.
    logs : tuple of LogSource
        Its logs.
    loaded : int
        Number of logs with a payload, the last ones.
    theta0 : (P,) array
        Prior of all parameters.
    chosen : UnknownParameters
        Unknown parameters of the links.
    mask : (P,) bool array
        True for all parameters that are unknown.
    base : BaseParameters
        Base parameters of these.
    columns : tuple of Columns
        Further columns; those of friction come first.
    friction : bool
        Whether friction replaces that of the robot.
    body : (10,) int array
        Parameters of the link that carries a payload.
    payload : (10,) array or None
        Known REG parameters of the payload, zero without one; None for an unknown one.
    sensors : SensorCalibration
        Known values of sensors, and initial ones of unknown values.
    unknown : Nonlinear
        Nonlinear parameters.
    noise : (n,) array or None
        Standard deviations of torques before the filter; None where these are estimated.
    consistent : bool or "payload"
        Whether all parameters, or those of the payload, are restricted to physically consistent ones.
    gamma : float
        Weight of the divergence from the prior.
    ball : (10,) array or None
        Prior of an unknown payload; None for a ball of water.
    offsets : bool
        Whether offsets of springs are estimated.
    filtering : Filtering
        Conversion of logs to samples.
    threads : int
        Threads; 0 is one per core.
    """

    robot: Robot
    logs: tuple[LogSource, ...]
    loaded: int
    theta0: Array
    chosen: UnknownParameters
    mask: npt.NDArray[np.bool_]
    base: BaseParameters
    columns: tuple[Columns, ...]
    friction: bool
    body: npt.NDArray[np.intp]
    payload: Array | None
    sensors: SensorCalibration
    unknown: Nonlinear
    noise: Array | None
    consistent: bool | Literal["payload"]
    gamma: float
    ball: Array | None
    offsets: bool
    filtering: Filtering
    threads: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of base parameters, further coefficients, an unknown payload and nonlinear parameters."""
        sensors = quantity_names(self.robot)
        return (
            *self.base.names,
            *(name for each in self.columns for name in each.names),
            *(PAYLOAD if self.payload is None else ()),
            *(sensors[k] for k in self.unknown.chosen),
            *(f"{self.robot.joint_names[j]}.stribeck_velocity" for j in self.unknown.stribeck),
        )


class Layout:
    """The columns of a fit, and the rows in which they are not zero.

    Unknowns are base parameters, coefficients of further columns, parameters of a payload, changes of nonlinear
    parameters, and Stribeck effects with other velocities. The rows in which columns are not zero are found at random
    states; columns of users count as nonzero in all rows.

    Attributes
    ----------
    problem, guess
        What is sought, and what a pass over the logs linearizes at.
    robot : Robot
        The robot.
    columns : (u,) int array
        Columns of the regressor, further ones included, whose unknowns the fit finds.
    joints : (r,) int array
        Joint of each row.
    driven : (r,) bool array
        Rows whose torque is that of a joint's torque sensor.
    gains : (r,) array
        Gain of each row's torque sensor; one for measured joint torques.
    groups : list of int arrays
        Rows of each joint; their residuals at an instant are correlated.
    pattern : (r, P) bool array
        True where the regressor is not zero.
    used : list of (c,) int array
        Positions in `columns` that are not zero in each row.
    watched : (w,) int array
        Coefficients with a prior of zero, whose joints may be at rest throughout.
    ends : tuple of int
        Number of unknowns up to the base parameters, coefficients, payload, nonlinear parameters, and all of them.
    springs : (e,) int array
        Rows of the springs, whose offsets are estimated; empty where they are known.
    """

    def __init__(self, problem: Problem, guess: Guess) -> None:
        robot, unknown, base, P = problem.robot, problem.unknown, problem.base.independent, problem.theta0.size
        self.problem, self.guess, self.robot, n, e = problem, guess, robot, robot.n, robot.e
        first = next(problem.logs[0].chunks(robot, 1), None)
        sensed, drives = first is not None and first.joint_torque is not None, list(robot.motor_joints)
        self.joints = joints = np.array([*range(n), *(drives if sensed else ()), *drives], dtype=np.intp)
        self.driven = np.ones(joints.size, dtype=bool)
        if sensed:
            self.driven[drives] = self.driven[n : n + e] = False
        self.gains = np.where(self.driven, np.asarray(guess.sensors.torque_gain)[joints], 1.0)
        self.groups = [np.flatnonzero(joints == j) for j in range(n)]
        self.watched = np.flatnonzero((np.arange(P) >= 10 * n) & (problem.theta0 == 0.0))
        self.springs = np.arange(n, n + e) if problem.offsets else np.arange(0)
        rng = np.random.default_rng(0)
        samples = Samples(
            t=np.arange(64.0),
            motion=Motion(*rng.uniform(-1.0, 1.0, (3, 64, n))),
            torque=np.ones((64, n)),
            motors=Motion(*rng.uniform(-1.0, 1.0, (3, 64, e))) if e else None,
            joint_torque=np.ones((64, e)) if sensed else None,
        )
        W = equations(robot, samples, formed_columns(robot, samples, np.zeros(e))).W
        self.pattern = np.any(W != 0.0, axis=0)
        own = np.eye(n, dtype=bool)[joints]  # columns of one joint, in its rows
        of_links = own & (np.arange(joints.size) < n)[:, None]
        further = [
            of_links[:, each.joints] if isinstance(each, FrictionColumns) else np.ones((joints.size, len(each.names)))
            for each in guess.columns
        ]
        payload = [self.pattern[:, problem.body]] if problem.payload is None else []
        slopes, stribeck = [], of_links[:, unknown.stribeck]
        if guess.slopes:
            for index in unknown.chosen:
                here = (own[:, index % n] & self.driven)[:, None]
                of_torque = SensorCalibration.QUANTITIES[index // n].startswith("torque")
                slopes.append(here if of_torque else np.ones_like(here))
            slopes.append(stribeck)
        parts = [[self.pattern[:, base]], further, payload, slopes, [stribeck] * len(guess.tried)]
        self.ends = tuple(np.cumsum([sum(each.shape[1] for each in part) for part in parts]).tolist())
        whole = np.hstack([each for part in parts for each in part])
        self.used = [np.flatnonzero(row) for row in whole]
        self.columns = np.concatenate([base, P + np.arange(whole.shape[1] - base.size)])

    def prior(self, loaded: bool) -> Array:
        """Return the known parameters of logs with or without a payload, (P,)."""
        found = self.problem.theta0.copy()
        if loaded and self.problem.payload is not None:
            found[self.problem.body] += self.problem.payload
        return found

    def change(self, loaded: bool) -> Array:
        """Return what maps columns of all parameters to `columns`, and to the torque of the prior, (P, u + 1)."""
        P, payload = self.problem.theta0.size, np.arange(self.ends[1], self.ends[2])
        T = np.zeros((P, self.columns.size + 1))
        inner = np.flatnonzero(self.columns < P)
        T[self.columns[inner], inner] = 1.0
        if loaded:
            T[self.problem.body[: payload.size], payload] = 1.0
        T[:, -1] = self.prior(loaded)
        return T

    def places(self, group: Iterable[int]) -> list[slice]:
        """Return the part of a group's factor that belongs to each of its rows, whose last column is the torque."""
        ends = np.cumsum([0, *(self.used[row].size + 1 + int(row in self.springs) for row in group)])
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]

    def sums(self) -> tuple[Sums, float]:
        """Return the sums over all logs, and the variance of white noise after the filter relative to that before.

        The filter leaves different numbers of independent samples in logs with different periods. Their instants count
        in proportion to that number.
        """
        found: dict[float, Sums] = {}
        logs = self.problem.logs
        # windows have threads; those of linear algebra would wait for each other at every small factor
        with one_blas_thread():
            instants = 2**62 if self.guess.thinned else sum(log.rows() for log in logs)
            length = block_length(instants, self.joints.size, self.columns.size + 1)
            for k, log in enumerate(logs):
                number = k * min(MOST_LOGS, len(logs)) // len(logs)
                gain, sums = self._of_log(log, k >= len(logs) - self.problem.loaded, number, length)
                found[gain] = found[gain] + sums if gain in found else sums
        counts = {gain: float(sums.totals["count"]) for gain, sums in found.items()}
        mean = sum(gain * count for gain, count in counts.items()) / sum(counts.values())
        return reduce(add, (sums.scaled(gain / mean) if gain != mean else sums for gain, sums in found.items())), mean

    def _of_log(self, log: LogSource, loaded: bool, number: int, length: float) -> tuple[float, Sums]:
        def one(window: Window) -> tuple[Filter, Sums]:
            if (window.log.joint_torque is None) == (self.joints.size > self.robot.n + self.robot.e):
                raise ThunderError("joint_torque must be in all logs or in none")
            return window.filter, sums_of_window(self, window, loaded, number, length)

        source = windows(self.robot, log, self.problem.filtering)
        parts = in_order(one, source, self.problem.threads or available_threads())
        conversion, sums = reduce(lambda before, part: (part[0], before[1] + part[1]), parts)
        return conversion.gains[0], close_log(self, sums, conversion, loaded)

    def data(self, sums: Sums, slopes: Array, weight: Array) -> tuple[Data, Offsets | None]:
        """Return the least-squares data of sums, with offsets as in `without_offsets`, or raise."""
        totals, count = sums.totals, float(sums.totals["count"])
        if count < 1.0:
            raise ThunderError("t must hold instants further than two periods of the cutoff from the ends of a log")
        blocks, offsets = without_offsets(self, sums.blocks, slopes, weight)
        factors = np.stack([r_factor(row.reshape(-1, row.shape[-1])) for row in blocks.factors])
        measured, prior = (np.sqrt(totals[name] / count) for name in ("torque", "expected"))
        dead = (measured == 0.0) & (prior > SMALLEST_NOISE * prior.max())
        if dead.any():
            j = int(np.argmax(dead))
            raise ThunderError(
                f"tau must not be zero throughout at {self.robot.joint_names[j]}, where the prior's torque has a root "
                f"mean square of {prior[j]:.3g}: was it measured?"
            )
        errors = totals["errors"]
        scale, errors, pull = scale_of(measured)[self.joints], errors[:, :-1, :-1], errors[:, :-1, -1]
        return Data(factors, count, scale, errors, pull, blocks), offsets


@dataclass(frozen=True)
class Block:
    """Number of instants of a part of a log, and triangular factors.

    There is a factor, (m, m), for each joint, of its rows next to each other: for each row the column of the offset of
    its spring, where there is one, the columns that are not zero, and the torque minus that of the prior.
    """

    count: float
    factors: tuple[Array, ...]

    def __add__(self, other: Block) -> Block:
        """Return the block of the instants of both."""
        factors = tuple(r_factor(np.vstack(both)) for both in zip(self.factors, other.factors, strict=True))
        return Block(self.count + other.count, factors)


@dataclass(frozen=True)
class Sums:
    """Sums over instants.

    Attributes
    ----------
    blocks : dict of (int, int) to Block
        Numbers of a log and of a block of it, from 0, and its factors.
    totals : dict of str to array
        Further sums.
    speed : (n,) array
        Largest speed of each joint, behind a wider filter, where Stribeck velocities are unknown.
    """

    blocks: dict[tuple[int, int], Block]
    totals: dict[str, Array]
    speed: Array

    def __add__(self, other: Sums) -> Sums:
        """Return the sums over the instants of both."""
        blocks = dict(self.blocks)
        for place, block in other.blocks.items():
            blocks[place] = blocks[place] + block if place in blocks else block
        totals = {name: value + other.totals[name] for name, value in self.totals.items()}
        return Sums(blocks, totals, np.maximum(self.speed, other.speed))

    def scaled(self, factor: float) -> Sums:
        """Return the sums of instants that count `factor` times."""
        blocks = {
            place: Block(factor * block.count, tuple(np.sqrt(factor) * each for each in block.factors))
            for place, block in self.blocks.items()
        }
        return Sums(blocks, {name: factor * value for name, value in self.totals.items()}, self.speed)


def sums_of_window(plan: Layout, window: Window, loaded: bool, log: int, length: float) -> Sums:
    """Return the sums over the instants of a window, with blocks of at least `length` instants of this log."""
    guess, P, n = plan.guess, plan.problem.theta0.size, plan.robot.n
    samples = window.samples(guess.sensors)
    step = window.filter.spacing if guess.thinned else 1
    used = window.every(step)
    blocks: dict[tuple[int, int], Block] = {}
    gains, prior = plan.gains, plan.prior(loaded)
    totals = _of_signals(plan, samples[used]) | _of_noise(plan, window, samples, loaded)
    if guess.outliers is not None:
        totals["outliers"] = np.array(0.0)
    further, rows = _Further(plan, samples, loaded), window.rows(guess.offsets, guess.columns, samples)
    count = -(-(used.stop - used.start) // step)
    for number, here in split(window.first + used.start, count, length, window.filter.gains[0]) if count else ():
        triangles = [Triangle(plan.places(group)[-1].stop) for group in plan.groups]
        for part in map(rows, window.spread(here, step)):
            expected = part.W[..., :P] @ prior
            totals["expected"] += np.sum((gains * expected)[:, :n] ** 2, axis=0)
            totals["moving"] += part.W[..., plan.watched].any(axis=(0, 1))
            pieces = _pieces(plan, part, further.columns(part), part.y - expected)
            if guess.outliers is not None:
                pieces, found = guess.outliers.weighted(pieces)
                totals["outliers"] = totals["outliers"] + found
            for triangle, group in zip(triangles, plan.groups, strict=True):
                triangle.add(np.hstack([pieces[row] for row in group]) if len(group) > 1 else pieces[group[0]])
        blocks[log, number] = Block(float(here.stop - here.start), tuple(each.factor() for each in triangles))
    speed = np.zeros(n)
    if plan.problem.unknown.stribeck.size and count:
        speed = np.abs(samples.wide[0].dq[window.used]).max(axis=0)
    sums = Sums(blocks, totals, speed)
    return sums if step == 1 else sums.scaled(step)


class _Further:
    """Columns of a window that are not those of the regressor or of its user."""

    def __init__(self, plan: Layout, samples: Samples, loaded: bool) -> None:
        self._plan, self._loaded, guess = plan, loaded, plan.guess
        self._theta = np.concatenate([all_parameters(guess.known), guess.extra])
        if loaded:
            self._theta[plan.problem.body] += guess.payload
        self._slopes = self._tried = None
        if guess.slopes and plan.problem.unknown.size:
            links = guess.known.with_parameters(self._theta[: guess.known.p]).replace(friction=None)
            self._slopes = Slopes(links, plan.problem.unknown, guess, samples, plan.joints, plan.driven)
        if guess.friction[0] is not None and len(guess.tried):
            columns = [guess.friction[0].stribeck_terms(samples, velocity) for velocity in guess.tried]
            self._tried = np.zeros((len(samples), plan.joints.size, plan.ends[4] - plan.ends[3]))
            for k, joint in enumerate(np.tile(plan.problem.unknown.stribeck, len(columns))):
                self._tried[:, joint, k] = np.hstack(columns)[:, k]

    def columns(self, rows: Equations) -> Array:
        """Return the columns at the instants of some equations, those of the regressor and of the user first."""
        plan, found = self._plan, [rows.W]
        if plan.ends[2] > plan.ends[1]:
            body = rows.W[..., plan.problem.body]
            found.append(body if self._loaded else np.zeros_like(body))
        if self._slopes is not None:
            found.append(self._slopes.at(rows, rows.W @ self._theta))
        if self._tried is not None:
            found.append(self._tried[rows.part])
        return rows.W if len(found) == 1 else np.concatenate(found, axis=-1)


def _pieces(plan: Layout, part: Equations, W: Array, left: Array) -> list[Array]:
    """Return the column of an offset, the columns that are not zero, and the torque of each row, (k, c) each."""
    pieces, gains = [], plan.gains
    stiffness = _stiffness(plan.guess, part.samples.deflection(plan.robot)) if plan.springs.size else None
    for row, used in enumerate(plan.used):
        columns = [W[:, row, plan.columns[used]], left[:, row, None]]
        if stiffness is not None and row in plan.springs:
            columns.insert(0, stiffness[:, row - plan.robot.n, None])
        piece = np.hstack(columns)
        pieces.append(piece if gains[row] == 1.0 else gains[row] * piece)
    return pieces


def _stiffness(guess: Guess, deflection: Array) -> Array:
    """Return the columns of offsets, (k, e), which are one where a spring has no stiffness."""
    relaxed = np.array([not any(drive.K) for drive in guess.known.elastic])
    return np.where(relaxed, 1.0, spring_slopes(guess.known.elastic, deflection - guess.offsets))


def _of_signals(plan: Layout, samples: Samples) -> dict[str, Array]:
    robot, guess, count = plan.robot, plan.guess, len(samples)
    joints = list(robot.motor_joints)
    deflection = samples.deflection(robot)
    q = samples.motion.q[:, joints]
    x = q if samples.motors is None else samples.motors.q
    order = max((len(drive.K) for drive in robot.elastic), default=0)
    powers = ((deflection - guess.offsets) ** (2 * m) for m in range(order))
    return {
        "count": np.array(float(count)),
        "torque": np.sum((np.asarray(guess.sensors.torque_gain) * samples.torque) ** 2, axis=0),
        "expected": np.zeros(robot.n),
        "moving": np.zeros(plan.watched.size),
        "deflection": np.sum(deflection**2, axis=0),
        "powers": np.array([np.sum(power, axis=0) for power in powers]),
        "motors": np.array([np.sum(each, axis=0) for each in (q, x, q * q, q * x, x * x)]),
    }


def mean_slopes(known: Robot, powers: Array) -> Array:
    """Return the mean stiffness of each spring, (e,), from the means of even powers of x - q, (m, e)."""
    coefficients = np.zeros(powers.shape)
    for k, drive in enumerate(known.elastic):
        coefficients[: len(drive.K), k] = drive.K
    odd = 2.0 * np.arange(len(powers)) + 1.0
    return np.asarray(np.sum(odd[:, None] * coefficients * powers, axis=0))


# --- noise of positions -----------------------------------------------------------------------------------------------


def _of_noise(plan: Layout, window: Window, samples: Samples, loaded: bool) -> dict[str, Array]:
    """Return sums that show the noise of positions, and how it enters the rows of the links."""
    robot, log, own = plan.robot, window.log, window.own
    u = plan.columns.size + 1
    if window.filter.cutoff is None:
        return {}
    positions = log.q / np.asarray(plan.guess.sensors.position_gain)
    positions = positions if log.x is None else np.hstack([positions, log.x])
    q = samples.motion.q[window.every(window.stride)]
    slopes, still = np.zeros((robot.n, robot.n, u, u)), np.zeros_like(q)
    if len(q):
        change, at_rest = plan.change(loaded)[: robot.p], robot.regressor(q, still, still)
        for j in range(robot.n):
            unit = still.copy()
            unit[:, j] = 1.0
            slope = ((robot.regressor(q, still, unit) - at_rest) @ change).swapaxes(0, 1)
            slopes[j] = slope.swapaxes(1, 2) @ slope
    return {
        "differences": difference_squares(positions, own.start, own.stop),
        "slopes": slopes,
        "instants": np.array(float(len(q))),
    }


def close_log(plan: Layout, sums: Sums, conversion: Filter, loaded: bool) -> Sums:
    """Return the sums of a whole log with `errors`, (r, u + 1, u + 1), in place of those of its noise.

    These are the sums of W'W that are due to noise of q and x: that of accelerations in Y, and of the linear terms of
    elastic joints. The last column is the torque of the prior.
    """
    totals, n, change = dict(sums.totals), plan.robot.n, plan.change(loaded)
    errors = np.zeros((plan.joints.size, change.shape[1], change.shape[1]))
    if "slopes" in totals:
        noise = white_noise(totals.pop("differences"))
        slopes, instants = totals.pop("slopes"), max(float(totals.pop("instants")), 1.0)
        errors[:n] = np.einsum("j,jrab->rab", conversion.gains[2] * noise[:n] / instants, slopes)
        errors += change.T @ _errors_of_drives(plan, conversion.gains, noise[:n], noise[n:]) @ change
    errors *= plan.gains[:, None, None] ** 2
    return Sums(sums.blocks, totals | {"errors": totals["count"] * errors}, sums.speed)


def _errors_of_drives(
    plan: Layout, gains: tuple[float, float, float], of_links: Array, of_motors: Array
) -> npt.NDArray[np.float64]:
    """Return those of the elastic parameters: K0, D0, Dm0 and Mm multiply x - q, dx - dq, dx and ddx, (r, P, P)."""
    robot, P = plan.robot, plan.problem.theta0.size
    errors = np.zeros((plan.joints.size, P, P))
    place = {name: k for k, name in enumerate(all_names(robot))}
    s, ds, dds = gains
    for drive, x in zip(robot.elastic, of_motors, strict=True):
        j = drive.joint - 1
        d = x + of_links[j]
        covariance = np.array(
            [[s * d, 0, 0, -ds * x], [0, ds * d, ds * x, 0], [0, ds * x, ds * x, 0], [-ds * x, 0, 0, dds * x]]
        )
        found = [place.get(f"{robot.joint_names[j]}.{name}", -1) for name in ("K0", "D0", "Dm0", "Mm")]
        for row in np.flatnonzero(plan.joints == j):
            kept = [i for i, k in enumerate(found) if k >= 0 and plan.pattern[row, k]]
            columns = [found[i] for i in kept]
            errors[row][np.ix_(columns, columns)] = covariance[np.ix_(kept, kept)]
    return errors


@dataclass(frozen=True)
class Offsets:
    """Parts of the springs' rows along the columns of offsets, which are taken out of the rows.

    Attributes
    ----------
    W : (e, u) array
        Part of the columns.
    y : (e,) array
        Part of the torques minus those of the prior.
    squares : (e,) array
        Sum of squares of each column of an offset, whose mean is one.
    mean : (e,) array
        Mean of the column before, its stiffness; one where there is none.
    """

    W: Array
    y: Array
    squares: Array
    mean: Array

    def torques(self, deviation: Array) -> Array:
        """Return the constant torques that these unknowns leave, (e,)."""
        return np.asarray(self.y - self.W @ deviation)

    def coefficients(self, deviation: Array) -> Array:
        """Return the coefficients of the columns before their mean was made one, (e,)."""
        return self.torques(deviation) / self.mean


def without_offsets(
    plan: Layout, blocks: Mapping[tuple[int, int], Block], stiffness: Array, weight: Array
) -> tuple[Blocks, Offsets | None]:
    """Split the factors of joints into those of rows, and take the columns of offsets out of them.

    An offset c of x - q changes the torque of a spring by -c times its stiffness to first order. By the theorem of
    Frisch and Waugh least squares with this further column finds the same parameters as with rows orthogonal to it.
    `stiffness` is its mean, (e,), and `weight` the mean weight of each row, (r,), by which it is divided.
    """
    u, n, e = plan.columns.size, plan.robot.n, plan.robot.e
    most = max(plan.places(group)[-1].stop for group in plan.groups)
    found = Blocks(
        np.zeros((plan.joints.size, len(blocks), most, u + 1)),
        np.array([block.count for block in blocks.values()]),
        np.array([log for log, _ in blocks], dtype=np.intp),
    )
    rows = found.factors.reshape(plan.joints.size, -1, u + 1)
    parts, squares = np.zeros((e, u + 1)), np.ones(e)
    mean = np.where(stiffness != 0.0, stiffness, 1.0)
    for joint, group in enumerate(plan.groups):
        factor = np.zeros((len(blocks), most, plan.places(group)[-1].stop))
        for k, block in enumerate(blocks.values()):
            factor[k, : len(block.factors[joint])] = block.factors[joint]
        factor = factor.reshape(-1, factor.shape[-1])
        for row, place in zip(group, plan.places(group), strict=True):
            columns = factor[:, place] / np.sqrt(weight[row])
            inner = rows[row]
            if row in plan.springs:
                offset, columns, i = columns[:, 0] / mean[row - n], columns[:, 1:], row - n
                squares[i] = offset @ offset
            inner[:, [*plan.used[row], u]] = columns
            if row in plan.springs:
                parts[i] = offset @ inner / squares[i]
                inner -= np.outer(offset, parts[i])
    if not plan.springs.size:
        return found, None
    return found, Offsets(parts[:, :-1], parts[:, -1], squares, mean)


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def in_order(function: Callable[[_Item], _Result], items: Iterable[_Item], threads: int) -> Iterator[_Result]:
    """Apply a function to each item in threads, with a few items in memory, and yield the results in order."""
    if threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[_Result]] = deque()
        for item in items:
            if len(waiting) > threads:
                yield waiting.popleft().result()
            waiting.append(pool.submit(function, item))
        while waiting:
            yield waiting.popleft().result()
