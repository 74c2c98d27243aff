"""Columns of friction that may be asymmetric or have a Stribeck effect, for identification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, one_of
from ..errors import ThunderError
from ..model.description import Friction
from ..robot import Robot
from ..simulation.friction import FrictionModel
from .samples import Samples

#: kinds of friction, and the names of their coefficients, in which torque is linear
KINDS: dict[str, tuple[str, ...]] = {
    "none": (),
    "viscous": ("viscous",),
    "coulomb": ("viscous", "coulomb"),
    "asymmetric": ("viscous_negative", "viscous_positive", "coulomb_negative", "coulomb_positive"),
    "stribeck": ("viscous", "coulomb", "stribeck"),
}


def kind_terms(kind: str) -> tuple[str, ...]:
    """Return the names of the coefficients of a kind, or of terms such as ``viscous+quadratic``."""
    return KINDS[kind] if kind in KINDS else tuple(kind.split("+"))


def friction_kinds(friction: str | Sequence[str], n: int) -> tuple[str, ...]:
    """Return the kind of friction of each joint, or raise."""
    kinds = (friction,) * n if isinstance(friction, str) else tuple(friction)
    for kind in kinds:
        if not (isinstance(kind, str) and set(kind.split("+")) <= set(Friction.TERMS)):
            one_of(kind, KINDS, "friction")
    if len(kinds) != n:
        raise ThunderError(f"friction must be one kind or one for each of {n} joints, got {len(kinds)}")
    return kinds


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
        Kind of friction of each joint; see `identify`.
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
    >>> from thunder_py.identification import FrictionColumns, identify
    >>> from thunder_py.simulation import FrictionModel
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
        return tuple(f"{joint}.{name}" for joint, kind in joints for name in kind_terms(kind))

    def evaluate(self, samples: Samples) -> Array:
        """Return the columns in the rows of the links, (k, r, c)."""
        links, motors = samples.wide
        velocity, start = self.velocities, 0
        drives = 0 if motors is None else motors.q.shape[1] * (1 if samples.joint_torque is None else 2)
        found = np.zeros((len(samples), len(self.kinds) + drives, len(self.names)))
        for j, kind in enumerate(self.kinds):
            stop = start + len(kind_terms(kind))
            found[:, j, start:stop] = friction_terms(kind_terms(kind), self.delta, velocity[j], links.dq[:, j]).values
            start = stop
        return samples.filtered(found)

    @property
    def stribeck(self) -> npt.NDArray[np.intp]:
        """Joints with a Stribeck velocity."""
        return np.array([j for j, kind in enumerate(self.kinds) if "stribeck" in kind_terms(kind)], dtype=np.intp)

    def stribeck_terms(self, samples: Samples, velocity: Array, *, slopes: bool = False) -> Array:
        """Return the columns of the Stribeck effect with these velocities, (k, v), or their `bends`."""
        dq = samples.wide[0].dq
        terms = [friction_terms(("stribeck",), self.delta, velocity[j], dq[:, j]) for j in self.stribeck]
        return samples.filtered(np.hstack([each.bends if slopes else each.values for each in terms]))

    def model(self, coefficients: npt.ArrayLike) -> FrictionModel:
        """Return the friction with these coefficients, (c,)."""
        values, n = array(coefficients, (len(self.names),), "coefficients"), len(self.kinds)
        viscous, coulomb, stribeck = np.zeros((n, 2)), np.zeros((n, 2)), np.zeros(n)
        ends = np.cumsum([len(kind_terms(kind)) for kind in self.kinds])
        for j, (kind, part) in enumerate(zip(self.kinds, np.split(values, ends[:-1]), strict=True)):
            found = dict(zip(kind_terms(kind), part, strict=True))
            for sides, name in ((viscous, "viscous"), (coulomb, "coulomb")):
                both = found.get(name, 0.0)
                sides[j] = found.get(f"{name}_negative", both), found.get(f"{name}_positive", both)
            stribeck[j] = found.get("stribeck", 0.0)
        return FrictionModel(
            viscous=viscous, coulomb=coulomb, stribeck=stribeck, velocity=self.velocities, delta=self.delta
        )

    @property
    def velocities(self) -> Array:
        """Stribeck velocities, (n,); one where none are given."""
        return np.ones(len(self.kinds)) if self.velocity is None else np.asarray(self.velocity, dtype=np.float64)


def friction_model(robot: Robot, columns: FrictionColumns | None, coefficients: Array) -> FrictionModel | None:
    """Return the friction of columns, or without these that of a robot, None if this has more than Coulomb friction."""
    if columns is not None:
        return columns.model(coefficients)
    own, sides = robot.description.friction, np.zeros((2, robot.n, 1))
    if own is not None:
        if not {*own.terms} <= {*Friction.TERMS[:2]}:
            return None
        for name, column in zip(own.terms, own.coefficients.T, strict=True):
            sides[Friction.TERMS.index(name), :, 0] = column
    return FrictionModel(viscous=sides[0], coulomb=sides[1], delta=1e-2 if own is None else own.delta)


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
