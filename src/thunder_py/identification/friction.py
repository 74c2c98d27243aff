"""Friction models beyond the linear terms of a robot: asymmetric and Stribeck friction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_positive, array, one_of, positive
from ..errors import ThunderError
from ..model.description import Friction
from ..robot import Robot
from ..values import Value, set_fields
from .samples import Samples

#: kinds of friction, and the names of their coefficients, in which torque is linear
KINDS: dict[str, tuple[str, ...]] = {
    "none": (),
    "viscous": ("viscous",),
    "coulomb": ("viscous", "coulomb"),
    "asymmetric": ("viscous_negative", "viscous_positive", "coulomb_negative", "coulomb_positive"),
    "stribeck": ("viscous", "coulomb", "stribeck"),
}


def friction_kinds(friction: str | Sequence[str], n: int) -> tuple[str, ...]:
    """Return the kind of friction of each joint, or raise."""
    kinds = (friction,) * n if isinstance(friction, str) else tuple(friction)
    for kind in kinds:
        one_of(kind, KINDS, "friction")
    if len(kinds) != n:
        raise ThunderError(f"friction must be one kind or one for each of {n} joints, got {len(kinds)}")
    return kinds


@dataclass(frozen=True, kw_only=True, eq=False)
class FrictionModel(Value):
    """Friction of joints that may depend on the direction of motion and have a Stribeck effect.

    The torque of a joint, on the left of the equation of motion, is

    ``F_v dq + (F_c + F_s exp(-(dq / v_s)^2)) dq / (abs(dq) + delta)``

    with its own F_v and F_c in each direction.

    Attributes
    ----------
    viscous : (n, 2) array
        Coefficients F_v for dq < 0 and dq > 0 [N m s/rad or N s/m]; one column stands for both directions.
    coulomb : (n, 2) array
        Levels F_c for dq < 0 and dq > 0 [N m or N]; one column stands for both directions.
    stribeck : (n,) array
        Excess F_s of the breakaway torque over the Coulomb level [N m or N]; default zero.
    velocity : (n,) array
        Stribeck velocities v_s [rad/s or m/s]; default one, without effect where `stribeck` is zero.
    delta : float
        Width of the smooth sign [rad/s or m/s]; see `thunder_py.robot.Friction`.

    Raises
    ------
    ThunderError
        If shapes do not match, or a velocity or delta is not positive.

    References
    ----------
    Armstrong-Helouvry, Dupont, Canudas de Wit, A survey of models, analysis tools and compensation methods for the
    control of machines with friction, Automatica 30(7), 1994.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.identification import FrictionModel
    >>> friction = FrictionModel(
    ...     viscous=[[0.5], [0.4]], coulomb=[[1.0, 1.5], [0.2, 0.2]], stribeck=[0.0, 0.3], velocity=[1.0, 0.1]
    ... )
    >>> friction.torque([[-1.0, 0.02], [1.0, 1.0]]).round(3).tolist()
    [[-1.49, 0.333], [1.985, 0.598]]
    >>> friction.in_robot is None  # a robot has neither direction nor Stribeck effect
    True
    >>> plant = friction.plant(th.Robot.load("elbow"))
    >>> rest = plant.robot.gravity_vector([0.0, 0.0])
    >>> plant.forward_dynamics([0.0, 0.0], [0.0, 0.0], rest).round(9).tolist()
    [0.0, 0.0]
    """

    viscous: npt.ArrayLike
    coulomb: npt.ArrayLike
    stribeck: npt.ArrayLike | None = None
    velocity: npt.ArrayLike | None = None
    delta: float = 1e-2

    def __post_init__(self) -> None:
        """Check every field and make its arrays read-only copies."""
        viscous, coulomb = (_sides(getattr(self, name), name) for name in ("viscous", "coulomb"))
        n = len(viscous)
        stribeck = array(np.zeros(n) if self.stribeck is None else self.stribeck, (n,), "friction stribeck")
        velocity = array(np.ones(n) if self.velocity is None else self.velocity, (n,), "friction velocity")
        all_positive(velocity, "friction velocity")
        set_fields(
            self,
            viscous=array(viscous, (n, 2), "friction viscous"),
            coulomb=array(coulomb, (n, 2), "friction coulomb"),
            stribeck=stribeck,
            velocity=velocity,
            delta=positive(self.delta, "friction delta"),
        )

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(np.asarray(self.viscous))

    def torque(self, dq: npt.ArrayLike) -> Array:
        """Return the torque that opposes motion, (..., n), for joint velocities (..., n)."""
        v = array(dq, (*(None,) * (np.ndim(dq) - 1), self.n), "dq")
        negative, smooth = v < 0.0, v / (np.abs(v) + self.delta)
        viscous, level = (
            np.where(negative, sides[:, 0], sides[:, 1]) for sides in map(np.asarray, (self.viscous, self.coulomb))
        )
        excess = np.asarray(self.stribeck) * np.exp(-((v / np.asarray(self.velocity)) ** 2))
        return np.asarray(viscous * v + (level + excess) * smooth)

    @property
    def in_robot(self) -> Friction | None:
        """The same friction as the data of a robot; None where a robot cannot hold it."""
        viscous, coulomb = np.asarray(self.viscous), np.asarray(self.coulomb)
        one_sided = (viscous[:, 0] == viscous[:, 1]).all() and (coulomb[:, 0] == coulomb[:, 1]).all()
        if not one_sided or np.any(np.asarray(self.stribeck)):
            return None
        if not coulomb.any():
            return Friction(terms=("viscous",), coefficients=viscous[:, :1], delta=self.delta)
        coefficients = np.column_stack([viscous[:, 0], coulomb[:, 0]])
        return Friction(terms=("viscous", "coulomb"), coefficients=coefficients, delta=self.delta)

    def plant(self, robot: Robot) -> FrictionPlant:
        """Return a plant for `thunder_py.simulate`: the robot with this friction in addition to its own."""
        return FrictionPlant(robot, self)


def _sides(value: npt.ArrayLike, name: str) -> Array:
    """Return coefficients (n, 2) from (n, 2) or (n, 1)."""
    columns = array(value, (None, None), f"friction {name}")
    if columns.shape[1] not in (1, 2):
        raise ThunderError(f"friction {name} must have one column, or two for negative and positive velocities")
    return np.broadcast_to(columns, (len(columns), 2))


@dataclass(frozen=True)
class FrictionPlant:
    """Plant of `thunder_py.simulate` written in Python: a robot with a `FrictionModel`.

    Attributes
    ----------
    robot : Robot
        Robot without elastic joints.
    friction : FrictionModel
        Friction in addition to the robot's own.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> friction = th.identification.FrictionModel(viscous=[[0.5], [0.5]], coulomb=[[1.0, 1.5], [0.5, 0.5]])
    >>> law, goal = th.PDGravity(robot, 80.0, 20.0), th.reference.SetPoint([0.3, 0.2])
    >>> run = th.simulate(friction.plant(robot), law, goal, 0.1, q0=[0.0, 0.0])
    >>> run.q.shape
    (101, 2)
    """

    robot: Robot
    friction: FrictionModel

    def __post_init__(self) -> None:
        """Check that both have the same joints."""
        if self.robot.e:
            raise ThunderError(f"robot must not have elastic joints for a FrictionPlant, as {self.robot.name} has")
        if self.friction.n != self.robot.n:
            raise ThunderError(f"friction must have {self.robot.n} joints, got {self.friction.n}")

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.robot.n

    def forward_dynamics(self, q: npt.ArrayLike, dq: npt.ArrayLike, tau: npt.ArrayLike) -> Array:
        """Return the joint accelerations, (n,)."""
        return self.robot.forward_dynamics(q, dq, np.asarray(tau) - self.friction.torque(dq))

    def mass_matrix(self, q: npt.ArrayLike) -> Array:
        """Return the robot's mass matrix, (n, n)."""
        return self.robot.mass_matrix(q)

    def mass_matrix_dot(self, q: npt.ArrayLike, dq: npt.ArrayLike) -> Array:
        """Return the time derivative of the mass matrix, (n, n)."""
        return self.robot.mass_matrix_dot(q, dq)


class FrictionTerms(NamedTuple):
    """Columns of one joint that coefficients of friction multiply, and their derivatives.

    Attributes
    ----------
    values, slopes : (k, c) array
        Columns, and their derivatives by the velocity.
    bends : (k, c) array
        Their derivatives by the logarithm of the Stribeck velocity.
    """

    values: Array
    slopes: Array
    bends: Array


def friction_terms(names: Sequence[str], delta: float, velocity: float, v: Array) -> FrictionTerms:
    """Evaluate the columns of one joint, named in `KINDS` or `Friction.TERMS`, at the velocities v, (k,)."""
    parts = [_COLUMNS[name](v, delta, velocity) for name in names]
    if not parts:
        return FrictionTerms(*np.zeros((3, v.size, 0)))
    return FrictionTerms(*(np.stack(part, axis=-1) for part in zip(*parts, strict=True)))


@dataclass(frozen=True)
class FrictionColumns:
    """Friction as further columns of `identify`, with coefficients in any direction and known Stribeck velocities.

    The columns are formed of velocities behind a wider filter and then filtered like the torques, because the filter of
    a sign is not the sign of the filtered velocity.

    Attributes
    ----------
    kinds : tuple of str
        Kind of friction of each joint; see `identify_model`.
    joint_names : tuple of str
        Names of the joints.
    delta : float
        Width of the smooth sign [rad/s or m/s].
    velocity : (n,) array, optional
        Stribeck velocities [rad/s or m/s].

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.identification import FrictionColumns, FrictionModel, identify
    >>> robot, t = th.Robot.load("elbow"), np.arange(0.0, 10.0, 2e-3)
    >>> truth = FrictionModel(viscous=[[0.5], [0.3]], coulomb=[[1.0, 1.2], [0.5, 0.6]])
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = robot.inverse_dynamics(q, dq, ddq) + truth.torque(dq)
    >>> columns = FrictionColumns(("asymmetric", "asymmetric"), robot.joint_names)
    >>> found = identify(robot, t, q, tau=tau, cutoff=20.0, columns=[columns])
    >>> np.abs(columns.model(found.extra).coulomb - truth.coulomb).max() < 0.01
    np.True_
    """

    kinds: tuple[str, ...]
    joint_names: tuple[str, ...]
    delta: float = 1e-2
    velocity: npt.ArrayLike | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, such as ``joint1.coulomb_positive``."""
        joints = zip(self.joint_names, self.kinds, strict=True)
        return tuple(f"{joint}.{name}" for joint, kind in joints for name in KINDS[kind])

    def evaluate(self, samples: Samples) -> Array:
        """Return the columns in the rows of the links, (k, r, c)."""
        links, motors = samples.wide
        velocity, start = self._velocity(), 0
        drives = 0 if motors is None else motors.q.shape[1] * (1 if samples.joint_torque is None else 2)
        found = np.zeros((len(samples), len(self.kinds) + drives, len(self.names)))
        for j, kind in enumerate(self.kinds):
            stop = start + len(KINDS[kind])
            found[:, j, start:stop] = friction_terms(KINDS[kind], self.delta, velocity[j], links.dq[:, j]).values
            start = stop
        return samples.filtered(found)

    def model(self, coefficients: npt.ArrayLike) -> FrictionModel:
        """Return the friction with these coefficients, (c,)."""
        values, n = array(coefficients, (len(self.names),), "coefficients"), len(self.kinds)
        viscous, coulomb, stribeck = np.zeros((n, 2)), np.zeros((n, 2)), np.zeros(n)
        ends = np.cumsum([len(KINDS[kind]) for kind in self.kinds])
        for j, (kind, part) in enumerate(zip(self.kinds, np.split(values, ends[:-1]), strict=True)):
            found = dict(zip(KINDS[kind], part, strict=True))
            for sides, name in ((viscous, "viscous"), (coulomb, "coulomb")):
                both = found.get(name, 0.0)
                sides[j] = found.get(f"{name}_negative", both), found.get(f"{name}_positive", both)
            stribeck[j] = found.get("stribeck", 0.0)
        return FrictionModel(
            viscous=viscous, coulomb=coulomb, stribeck=stribeck, velocity=self._velocity(), delta=self.delta
        )

    def _velocity(self) -> Array:
        return np.ones(len(self.kinds)) if self.velocity is None else np.asarray(self.velocity, dtype=np.float64)


_Column = tuple[Array, Array, Array]


def _viscous(v: Array, delta: float, velocity: float) -> _Column:
    return v, np.ones_like(v), np.zeros_like(v)


def _coulomb(v: Array, delta: float, velocity: float) -> _Column:
    size = np.abs(v) + delta
    return v / size, delta / size**2, np.zeros_like(v)


def _stribeck(v: Array, delta: float, velocity: float) -> _Column:
    smooth, slope, _ = _coulomb(v, delta, velocity)
    ratio = v / velocity
    decay = np.exp(-(ratio**2))
    return smooth * decay, (slope - 2.0 * ratio / velocity * smooth) * decay, 2.0 * ratio**2 * smooth * decay


def _one_side(column: Callable[[Array, float, float], _Column], positive: bool) -> Callable[..., _Column]:
    def evaluate(v: Array, delta: float, velocity: float) -> _Column:
        here = v > 0.0 if positive else v < 0.0
        value, slope, bend = (np.where(here, part, 0.0) for part in column(v, delta, velocity))
        return value, slope, bend

    return evaluate


def _power(k: int) -> Callable[..., _Column]:
    def evaluate(v: Array, delta: float, velocity: float) -> _Column:
        size = np.abs(v) ** (k - 1)
        return v * size, k * size, np.zeros_like(v)

    return evaluate


_COLUMNS: dict[str, Callable[[Array, float, float], _Column]] = {
    "viscous": _viscous,
    "coulomb": _coulomb,
    "stribeck": _stribeck,
    "viscous_negative": _one_side(_viscous, positive=False),
    "viscous_positive": _one_side(_viscous, positive=True),
    "coulomb_negative": _one_side(_coulomb, positive=False),
    "coulomb_positive": _one_side(_coulomb, positive=True),
    **{name: _power(k) for k, name in enumerate(Friction.TERMS) if k > 1},
}
