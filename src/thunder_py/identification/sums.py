"""Columns of a fit, and sums over instants that it needs; those of windows and of logs add up."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..model.elastic import spring_slopes
from ..robot import Robot
from .equations import Columns, Equations, all_names, all_parameters, equations, formed_columns
from .friction import FrictionColumns, kind_terms
from .intervals import split
from .nonlinear import Guess, Nonlinear, Slopes
from .samples import Filter, Samples
from .sensors import SensorCalibration
from .signals import Motion, difference_squares, white_noise
from .triangle import Triangle, r_factor
from .windows import Window


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The columns of a fit, and the rows in which they are not zero.

    Unknowns are base parameters, coefficients of further columns, parameters of a payload, changes of nonlinear
    parameters, and Stribeck effects with other velocities.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta0 : (P,) array
        Prior of all parameters.
    columns : (u,) int array
        Columns of the regressor, further ones included, whose unknowns the fit finds.
    joints : (r,) int array
        Joint of each row.
    driven : (r,) bool array
        Rows whose torque is that of a joint's torque sensor.
    groups : tuple of tuple of int
        Rows of each joint; their residuals at an instant are correlated.
    pattern : (r, P) bool array
        True where the regressor is not zero.
    used : tuple of (c,) int array
        Positions in `columns` that are not zero in each row.
    watched : (w,) int array
        Coefficients with a prior of zero, whose joints may be at rest throughout.
    body : (10,) int array or slice
        Columns of the link that carries a payload.
    payload : (10,) array
        Known payload of logs with one.
    ends : tuple of int
        Number of unknowns up to the base parameters, coefficients, payload, nonlinear parameters, and all of them.
    unknown : Nonlinear
        Nonlinear parameters.
    springs : (e,) int array
        Rows of the springs, whose offsets are estimated; empty where they are known.
    """

    robot: Robot
    theta0: Array
    columns: npt.NDArray[np.intp]
    joints: npt.NDArray[np.intp]
    driven: npt.NDArray[np.bool_]
    groups: tuple[tuple[int, ...], ...]
    pattern: npt.NDArray[np.bool_]
    used: tuple[npt.NDArray[np.intp], ...]
    watched: npt.NDArray[np.intp]
    body: npt.NDArray[np.intp]
    payload: Array
    ends: tuple[int, int, int, int, int]
    unknown: Nonlinear
    springs: npt.NDArray[np.intp]

    def prior(self, loaded: bool) -> Array:
        """Return the known parameters of logs with or without a payload, (P,)."""
        found = self.theta0.copy()
        if loaded:
            found[self.body] += self.payload
        return found

    def change(self, loaded: bool) -> Array:
        """Return what maps columns of all parameters to `columns`, and to the torque of the prior, (P, u + 1)."""
        P = self.theta0.size
        T = np.zeros((P, self.columns.size + 1))
        inner = np.flatnonzero(self.columns < P)
        T[self.columns[inner], inner] = 1.0
        if loaded:
            T[self.body[: self.ends[2] - self.ends[1]], np.arange(self.ends[1], self.ends[2])] = 1.0
        T[:, -1] = self.prior(loaded)
        return T

    def places(self, group: Sequence[int]) -> list[slice]:
        """Return the part of a group's factor that belongs to each of its rows, whose last column is the torque."""
        ends = np.cumsum([0, *(self.used[row].size + 1 + int(row in self.springs) for row in group)])
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]

    def gains(self, guess: Guess) -> Array:
        """Return the gain of each row's torque sensor, (r,); one for measured joint torques."""
        return np.where(self.driven, np.asarray(guess.sensors.torque_gain)[self.joints], 1.0)


def layout(
    robot: Robot,
    theta0: Array,
    base: npt.NDArray[np.intp],
    sensed: bool,
    further: Sequence[Columns],
    body: npt.NDArray[np.intp],
    payload: Array | None,
    unknown: Nonlinear,
    slopes: bool,
    tried: int,
    offsets: bool,
) -> Layout:
    """Find the rows in which columns are not zero, at random states; columns of users count as nonzero in all rows.

    `payload` is None for an unknown one, and zero where no log has one; `slopes` asks for derivatives by nonlinear
    parameters, and `tried` is the number of further Stribeck velocities.
    """
    P, n, e = theta0.size, robot.n, robot.e
    drives = list(robot.motor_joints)
    joints = np.array([*range(n), *(drives if sensed else ()), *drives], dtype=np.intp)
    driven = np.ones(joints.size, dtype=bool)
    if sensed:
        driven[drives] = driven[n : n + e] = False
    rng = np.random.default_rng(0)
    motion, torque = Motion(*rng.uniform(-1.0, 1.0, (3, 64, n))), np.ones((64, n))
    motors = Motion(*rng.uniform(-1.0, 1.0, (3, 64, e))) if e else None
    samples = Samples(
        t=np.arange(64.0),
        motion=motion,
        torque=torque,
        motors=motors,
        joint_torque=np.ones((64, e)) if sensed else None,
    )
    pattern = np.any(equations(robot, samples, formed_columns(robot, samples, np.zeros(e))).W != 0.0, axis=0)
    own = np.eye(n, dtype=bool)[joints]  # columns of one joint, in its rows
    parts = [pattern[:, base]]
    for each in further:
        dense = np.ones((joints.size, len(each.names)), dtype=bool)
        if isinstance(each, FrictionColumns):
            of = np.repeat(np.arange(n), [len(kind_terms(kind)) for kind in each.kinds])
            dense = own[:, of] & (np.arange(joints.size) < n)[:, None]
        parts.append(dense)
    ends = [base.size, sum(part.shape[1] for part in parts)]
    if payload is None:
        parts.append(pattern[:, body])
    ends.append(sum(part.shape[1] for part in parts))
    for index in unknown.chosen[: None if slopes else 0]:
        here = own[:, index % n] & driven
        of_torque = SensorCalibration.QUANTITIES[index // n].startswith("torque")
        parts.append((here if of_torque else np.ones_like(here))[:, None])
    stribeck = own[:, unknown.stribeck] & (np.arange(joints.size) < n)[:, None]
    if slopes:
        parts.append(stribeck)
    ends.append(sum(part.shape[1] for part in parts))
    parts += [stribeck] * tried
    whole = np.hstack(parts)
    return Layout(
        robot=robot,
        theta0=theta0,
        columns=np.concatenate([base, P + np.arange(whole.shape[1] - base.size)]),
        joints=joints,
        driven=driven,
        groups=tuple(tuple(map(int, np.flatnonzero(joints == j))) for j in range(n)),
        pattern=pattern,
        used=tuple(np.flatnonzero(row) for row in whole),
        watched=np.flatnonzero((np.arange(P) >= 10 * n) & (theta0 == 0.0)),
        body=body,
        payload=np.zeros(10) if payload is None else payload,
        ends=(*ends, whole.shape[1]),
        unknown=unknown,
        springs=np.arange(n, n + e) if offsets else np.arange(0),
    )


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


def total(sums: Iterable[Sums]) -> Sums:
    """Return the sum, in the given order."""
    first, *others = sums
    for each in others:
        first = first + each
    return first


def sums_of_window(plan: Layout, window: Window, guess: Guess, loaded: bool, log: int, length: float) -> Sums:
    """Return the sums over the instants of a window, with blocks of at least `length` instants of this log."""
    samples, P, n = window.samples(guess.sensors), plan.theta0.size, plan.robot.n
    step = window.filter.spacing if guess.thinned else 1
    used = window.every(step)
    blocks: dict[tuple[int, int], Block] = {}
    gains, prior = plan.gains(guess), plan.prior(loaded)
    totals = _of_signals(plan, samples[used], guess) | _of_noise(plan, window, samples, guess, loaded)
    if guess.outliers is not None:
        totals["outliers"] = np.array(0.0)
    further, rows = _Further(plan, samples, guess, loaded), window.rows(guess.offsets, guess.columns, samples)
    count = -(-(used.stop - used.start) // step)
    for number, here in split(window.first + used.start, count, length, window.filter.gains[0]) if count else ():
        triangles = [Triangle(plan.places(group)[-1].stop) for group in plan.groups]
        for part in map(rows, window.spread(here, step)):
            expected = part.W[..., :P] @ prior
            totals["expected"] += np.sum((gains * expected)[:, :n] ** 2, axis=0)
            totals["moving"] += part.W[..., plan.watched].any(axis=(0, 1))
            pieces = _pieces(plan, part, further.columns(part), part.y - expected, guess, gains)
            if guess.outliers is not None:
                pieces, found = guess.outliers.weighted(pieces)
                totals["outliers"] = totals["outliers"] + found
            for triangle, group in zip(triangles, plan.groups, strict=True):
                triangle.add(np.hstack([pieces[row] for row in group]) if len(group) > 1 else pieces[group[0]])
        blocks[log, number] = Block(float(here.stop - here.start), tuple(each.factor() for each in triangles))
    speed = np.zeros(n)
    if plan.unknown.stribeck.size and count:
        speed = np.abs(samples.wide[0].dq[window.used]).max(axis=0)
    sums = Sums(blocks, totals, speed)
    return sums if step == 1 else sums.scaled(step)


class _Further:
    """Columns of a window that are not those of the regressor or of its user."""

    def __init__(self, plan: Layout, samples: Samples, guess: Guess, loaded: bool) -> None:
        self._plan, self._loaded = plan, loaded
        self._theta = np.concatenate([all_parameters(guess.known), guess.extra])
        if loaded:
            self._theta[plan.body] += guess.payload
        self._slopes = self._tried = None
        if guess.slopes and plan.unknown.size:
            links = guess.known.with_parameters(self._theta[: guess.known.p]).replace(friction=None)
            self._slopes = Slopes(links, plan.unknown, guess, samples, plan.joints, plan.driven)
        if guess.friction[0] is not None and len(guess.tried):
            columns = [guess.friction[0].stribeck_terms(samples, velocity) for velocity in guess.tried]
            self._tried = np.zeros((len(samples), plan.joints.size, plan.ends[4] - plan.ends[3]))
            for k, joint in enumerate(np.tile(plan.unknown.stribeck, len(columns))):
                self._tried[:, joint, k] = np.hstack(columns)[:, k]

    def columns(self, rows: Equations) -> Array:
        """Return the columns at the instants of some equations, those of the regressor and of the user first."""
        plan, found = self._plan, [rows.W]
        if plan.ends[2] > plan.ends[1]:
            body = rows.W[..., plan.body]
            found.append(body if self._loaded else np.zeros_like(body))
        if self._slopes is not None:
            found.append(self._slopes.at(rows, rows.W @ self._theta))
        if self._tried is not None:
            found.append(self._tried[rows.part])
        return rows.W if len(found) == 1 else np.concatenate(found, axis=-1)


def _pieces(plan: Layout, part: Equations, W: Array, left: Array, guess: Guess, gains: Array) -> list[Array]:
    """Return the column of an offset, the columns that are not zero, and the torque of each row, (k, c) each."""
    pieces = []
    stiffness = _stiffness(guess, part.samples.deflection(plan.robot)) if plan.springs.size else None
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


def _of_signals(plan: Layout, samples: Samples, guess: Guess) -> dict[str, Array]:
    robot, count = plan.robot, len(samples)
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


def _of_noise(plan: Layout, window: Window, samples: Samples, guess: Guess, loaded: bool) -> dict[str, Array]:
    """Return sums that show the noise of positions, and how it enters the rows of the links."""
    robot, log, own = plan.robot, window.log, window.own
    u = plan.columns.size + 1
    if window.filter.cutoff is None:
        return {}
    positions = log.q / np.asarray(guess.sensors.position_gain)
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


def close_log(plan: Layout, sums: Sums, conversion: Filter, guess: Guess, loaded: bool) -> Sums:
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
    errors *= plan.gains(guess)[:, None, None] ** 2
    return Sums(sums.blocks, totals | {"errors": totals["count"] * errors}, sums.speed)


def _errors_of_drives(
    plan: Layout, gains: tuple[float, float, float], of_links: Array, of_motors: Array
) -> npt.NDArray[np.float64]:
    """Return those of the elastic parameters: K0, D0, Dm0 and Mm multiply x - q, dx - dq, dx and ddx, (r, P, P)."""
    robot, P = plan.robot, plan.theta0.size
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
