"""Sums over instants that a fit needs; those of windows and of logs add up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..model.elastic import spring_slopes
from ..robot import Robot
from .equations import Equations, all_names
from .intervals import split
from .layout import RegressorColumns
from .robust import Outliers
from .samples import Filter, Samples
from .signals import difference_squares, white_noise
from .triangle import Triangle, r_factor
from .windows import Window


class Linearization(NamedTuple):
    """Offsets of springs, (e,), the robot whose stiffnesses weigh them, and the residuals that count as outliers."""

    offsets: Array
    known: Robot
    outliers: Outliers | None = None


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
    """

    blocks: dict[tuple[int, int], Block]
    totals: dict[str, Array]

    def __add__(self, other: Sums) -> Sums:
        """Return the sums over the instants of both."""
        blocks = dict(self.blocks)
        for place, block in other.blocks.items():
            blocks[place] = blocks[place] + block if place in blocks else block
        return Sums(blocks, {name: value + other.totals[name] for name, value in self.totals.items()})

    def scaled(self, factor: float) -> Sums:
        """Return the sums of instants that count `factor` times."""
        blocks = {
            place: Block(factor * block.count, tuple(np.sqrt(factor) * each for each in block.factors))
            for place, block in self.blocks.items()
        }
        return Sums(blocks, {name: factor * value for name, value in self.totals.items()})


def total(sums: Iterable[Sums]) -> Sums:
    """Return the sum, in the given order."""
    first, *others = sums
    for each in others:
        first = first + each
    return first


def sums_of_window(plan: RegressorColumns, window: Window, guess: Linearization, log: int, length: float) -> Sums:
    """Return the sums over the instants of a window, with blocks of at least `length` instants of this log."""
    samples, P, n, used = window.samples(), plan.theta0.size, plan.robot.n, window.used
    blocks: dict[tuple[int, int], Block] = {}
    totals = _of_signals(plan, samples[used], guess) | _of_noise(plan, window, samples)
    count = used.stop - used.start
    parts = split(window.first + used.start, count, length, window.filter.gains[0]) if count else ()
    for number, here in parts:
        triangles = [Triangle(plan.places(group)[-1].stop) for group in plan.groups]
        for part in window.equations(guess.offsets, plan.further, samples, here):
            prior = part.W[..., :P] @ plan.theta0
            totals["expected"] += np.sum(prior[:, :n] ** 2, axis=0)
            totals["moving"] += part.W[..., plan.watched].any(axis=(0, 1))
            pieces = _pieces(plan, part, part.y - prior, guess)
            if guess.outliers is not None:
                pieces, found = guess.outliers.weighted(pieces)
                totals["outliers"] = totals.get("outliers", 0.0) + found
            for triangle, group in zip(triangles, plan.groups, strict=True):
                triangle.add(np.hstack([pieces[row] for row in group]) if len(group) > 1 else pieces[group[0]])
        factors = tuple(triangle.factor() for triangle in triangles)
        blocks[log, number] = Block(float(here.stop - here.start), factors)
    return Sums(blocks, totals)


def _pieces(plan: RegressorColumns, part: Equations, left: Array, guess: Linearization) -> list[Array]:
    """Return the column of an offset, the columns that are not zero, and the torque of each row, (k, c) each."""
    pieces = []
    stiffness = _stiffness(guess, part.samples.deflection(plan.robot)) if plan.springs.size else None
    for row, used in enumerate(plan.used):
        columns = [part.W[:, row, plan.columns[used]], left[:, row, None]]
        if stiffness is not None and row in plan.springs:
            columns.insert(0, stiffness[:, row - plan.robot.n, None])
        pieces.append(np.hstack(columns))
    return pieces


def _stiffness(guess: Linearization, deflection: Array) -> Array:
    """Return the columns of offsets, (k, e), which are one where a spring has no stiffness."""
    relaxed = np.array([not any(drive.K) for drive in guess.known.elastic])
    return np.where(relaxed, 1.0, spring_slopes(guess.known.elastic, deflection - guess.offsets))


def _of_signals(plan: RegressorColumns, samples: Samples, guess: Linearization) -> dict[str, Array]:
    robot, count = plan.robot, len(samples)
    joints = list(robot.motor_joints)
    deflection = samples.deflection(robot)
    q = samples.motion.q[:, joints]
    x = q if samples.motors is None else samples.motors.q
    order = max((len(drive.K) for drive in robot.elastic), default=0)
    powers = ((deflection - guess.offsets) ** (2 * m) for m in range(order))
    return {
        "count": np.array(float(count)),
        "torque": np.sum(samples.torque**2, axis=0),
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


def _of_noise(plan: RegressorColumns, window: Window, samples: Samples) -> dict[str, Array]:
    """Return sums that show the noise of positions, and how it enters the rows of the links."""
    robot, log, own = plan.robot, window.log, window.own
    u = plan.columns.size + 1
    if window.filter.cutoff is None:
        return {}
    positions = log.q if log.x is None else np.hstack([log.q, log.x])
    stride = window.stride
    start = -(-(window.first + window.used.start) // stride) * stride - window.first
    q = samples.motion.q[start : window.used.stop : stride]
    slopes, still = np.zeros((robot.n, robot.n, u, u)), np.zeros_like(q)
    if len(q):
        change, at_rest = plan.change[: robot.p], robot.regressor(q, still, still)
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


def close_log(plan: RegressorColumns, sums: Sums, conversion: Filter) -> Sums:
    """Return the sums of a whole log with `errors`, (r, u + 1, u + 1), in place of those of its noise.

    These are the sums of W'W that are due to noise of q and x: that of accelerations in Y, and of the linear terms of
    elastic joints. The last column is the torque of the prior.
    """
    totals, n, change = dict(sums.totals), plan.robot.n, plan.change
    errors = np.zeros((plan.joints.size, change.shape[1], change.shape[1]))
    if "slopes" in totals:
        noise = white_noise(totals.pop("differences"))
        slopes, instants = totals.pop("slopes"), max(float(totals.pop("instants")), 1.0)
        errors[:n] = np.einsum("j,jrab->rab", conversion.gains[2] * noise[:n] / instants, slopes)
        errors += change.T @ _errors_of_drives(plan, conversion.gains, noise[:n], noise[n:]) @ change
    return Sums(sums.blocks, totals | {"errors": totals["count"] * errors})


def _errors_of_drives(
    plan: RegressorColumns, gains: tuple[float, float, float], of_links: Array, of_motors: Array
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
