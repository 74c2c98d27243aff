"""Friction of the joints of a simulated arm: asymmetric, with a Stribeck effect, with stiction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_positive, array, positive
from ..errors import ThunderError
from ..model.joint_data import Friction
from ..robot import Robot
from ..values import Value, set_fields


@dataclass(frozen=True, kw_only=True, eq=False)
class FrictionModel(Value):
    """Friction of joints that may depend on the direction of motion and have a Stribeck effect.

    The torque of a joint, on the left of the equation of motion, is

    ``F_v dq + (F_c + F_s exp(-(dq / v_s)^2)) dq / (abs(dq) + delta)``

    with its own F_v and F_c in each direction. With stiction the sign is not smooth but set-valued: a joint at rest
    stays exactly at rest while the other torques on it are within F_c + F_s, the breakaway torque.

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
        Width of the smooth sign [rad/s or m/s]; see `thunder_py.robot.Friction`. Without effect with `stiction`.
    stiction : bool
        True for joints that stick; a fixed step of `thunder_py.simulate` then solves an inclusion.

    Raises
    ------
    ThunderError
        If shapes do not match, or a velocity or delta is not positive; with stiction also if the breakaway torque or
        the Coulomb level of a joint is negative.

    References
    ----------
    Armstrong-Helouvry, Dupont, Canudas de Wit, A survey of models, analysis tools and compensation methods for the
    control of machines with friction, Automatica 30(7), 1994.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.simulation import FrictionModel
    >>> friction = FrictionModel(
    ...     viscous=[[0.5], [0.4]], coulomb=[[1.0, 1.5], [0.2, 0.2]], stribeck=[0.0, 0.3], velocity=[1.0, 0.1]
    ... )
    >>> friction.torque([[-1.0, 0.02], [1.0, 1.0]]).round(3).tolist()
    [[-1.49, 0.333], [1.985, 0.598]]
    >>> friction.in_robot is None  # a robot has neither direction nor Stribeck effect
    True
    >>> robot, law = th.Robot.load("elbow"), th.PDGravity(th.Robot.load("elbow"), 20.0, 1.0)
    >>> held = FrictionModel(viscous=[[0.5], [0.4]], coulomb=[[1.0], [0.2]], stiction=True)
    >>> run = th.simulate(robot, law, th.reference.SetPoint([0.04, 0.0]), 0.5, q0=[0.0, 0.0], friction=held)
    >>> bool((run.q == 0.0).all())  # 0.8 N m do not move what 1 N m hold
    True
    """

    viscous: npt.ArrayLike
    coulomb: npt.ArrayLike
    stribeck: npt.ArrayLike | None = None
    velocity: npt.ArrayLike | None = None
    delta: float = 1e-2
    stiction: bool = False

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
            stiction=bool(self.stiction),
        )

        if self.stiction:
            level = np.asarray(self.coulomb)
            least = float(np.minimum(level, level + stribeck[:, None]).min(initial=0.0))
            if least < 0.0:
                raise ThunderError(f"friction coulomb must not be negative with stiction, got a level of {least:g}")

    @classmethod
    def of(cls, robot: Robot, *, stiction: bool = False) -> FrictionModel:
        """Return the friction of a robot, which must be viscous and Coulomb friction.

        Parameters
        ----------
        robot : Robot
            To simulate it with this friction, leave out its own: ``robot.replace(friction=None)``.
        stiction : bool
            See `FrictionModel`.
        """
        own = robot.description.friction
        found = {} if own is None else dict(zip(own.terms, own.coefficients.T, strict=True))
        others = [name for name in found if name not in ("viscous", "coulomb") and found[name].any()]
        if others:
            raise ThunderError(f"robot must have viscous and Coulomb friction only, got {', '.join(others)}")
        zero = np.zeros(robot.n)
        viscous, coulomb = (found.get(name, zero)[:, None] for name in ("viscous", "coulomb"))
        delta = 1e-2 if own is None else own.delta
        return cls(viscous=viscous, coulomb=coulomb, delta=delta, stiction=stiction)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(np.asarray(self.viscous))

    def torque(self, dq: npt.ArrayLike) -> Array:
        """Return the torque against motion (..., n) for joint velocities (..., n); with stiction zero at rest."""
        v = array(dq, (*(None,) * (np.ndim(dq) - 1), self.n), "dq")
        negative, smooth = v < 0.0, np.sign(v) if self.stiction else v / (np.abs(v) + self.delta)
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
        if self.stiction or not one_sided or np.any(np.asarray(self.stribeck)):
            return None
        if not coulomb.any():
            return Friction(terms=("viscous",), coefficients=viscous[:, :1], delta=self.delta)
        coefficients = np.column_stack([viscous[:, 0], coulomb[:, 0]])
        return Friction(terms=("viscous", "coulomb"), coefficients=coefficients, delta=self.delta)

    def _options(self, n: int) -> dict[str, Any]:
        """Return the options of the core."""
        if self.n != n:
            raise ThunderError(f"friction must have the plant's {n} joints, got {self.n}")
        return dict(vars(self))


def _sides(value: npt.ArrayLike, name: str) -> Array:
    """Return coefficients (n, 2) from (n, 2) or (n, 1)."""
    columns = array(value, (None, None), f"friction {name}")
    if columns.shape[1] not in (1, 2):
        raise ThunderError(f"friction {name} must have one column, or two for negative and positive velocities")
    return np.broadcast_to(columns, (len(columns), 2))
