"""Data of joints: limits, friction, rotors and elastic drives."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from ..checks import Array, apart, array, one_of, unit_axis, whole
from ..errors import ThunderError
from ..values import Value, set_fields


@dataclass(frozen=True, kw_only=True, eq=False)
class Limits(Value):
    """Store joint limits; an absent limit is infinite.

    Attributes
    ----------
    lower, upper : (n,) array
        Position [rad or m].
    velocity : (n,) array
        Largest speed [rad/s or m/s]. Zero, which many files have for a missing one, is infinite.
    effort : (n,) array
        Largest torque or force [N m or N].

    Raises
    ------
    ThunderError
        If lengths differ, a limit is NaN, a lower limit exceeds the upper one, or a speed or effort is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.robot import Limits
    >>> limits = Limits(lower=[-1.5, -2.0], upper=[1.5, 2.0], velocity=[2.0, 2.0], effort=[np.inf, 40.0])
    >>> limits.upper.tolist(), limits.effort.tolist()
    ([1.5, 2.0], [inf, 40.0])
    >>> bool(np.isinf(Limits.none(3).lower).all())
    True
    """

    lower: Array
    upper: Array
    velocity: Array
    effort: Array

    def __post_init__(self) -> None:
        """Check every field and make its arrays read-only copies."""
        names = [f.name for f in dataclasses.fields(self)]
        n = len(array(self.lower, (None,), "limits.lower", finite=False))
        set_fields(self, **{k: array(getattr(self, k), (n,), f"limits.{k}", finite=False) for k in names})
        for i in np.flatnonzero(self.lower > self.upper):
            raise ThunderError(
                f"limits of joint {i + 1}: lower must not exceed upper, got "
                + " and ".join(apart(self.lower[i], self.upper[i]))
            )
        for name in ("velocity", "effort"):
            for i in np.flatnonzero(getattr(self, name) < 0):
                raise ThunderError(
                    f"limits.{name} of joint {i + 1} must not be negative, got {getattr(self, name)[i]:g}"
                )
        speed = np.where(self.velocity == 0.0, np.inf, self.velocity)
        set_fields(self, velocity=array(speed, (n,), "limits.velocity", finite=False))

    @classmethod
    def none(cls, n: int) -> Limits:
        """Return infinite limits of `n` joints."""
        inf = np.full(n, np.inf)
        return cls(lower=-inf, upper=inf, velocity=inf, effort=inf)


@dataclass(frozen=True, kw_only=True, eq=False)
class Friction(Value):
    """Describe joint friction, ``sum_k c_k f_k(dq)``, linear in its coefficients.

    Attributes
    ----------
    terms : tuple of str
        Basis functions, the same for every joint, in the order of `TERMS`: ``"viscous"`` dq; ``"coulomb"``
        dq / (abs(dq) + delta) (D4.2, eq. 62); ``"quadratic"``, ``"cubic"``, ``"quartic"``, ... dq abs(dq)^(k-1) for
        k = 2, 3, 4 (Thunder's polynomial).
    coefficients : (n, len(terms)) array
        One row per joint.
    delta : float
        Width of the smooth sign of the Coulomb term [rad/s or m/s].

    Raises
    ------
    ThunderError
        If a term is unknown, repeated or out of order, the coefficients have the wrong shape, or delta is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> friction = th.robot.Friction(terms=("viscous", "coulomb"), coefficients=[[0.5, 0.2], [0.3, 0.1]])
    >>> robot = th.Robot.load("elbow").replace(friction=friction)
    >>> np.round(robot.friction_torque([1.0, -1.0]), 3).tolist()
    [0.698, -0.399]
    >>> robot.unknown("friction").names
    ('joint1.viscous', 'joint1.coulomb', 'joint2.viscous', 'joint2.coulomb')
    """

    terms: tuple[str, ...]
    coefficients: Array
    delta: float = 1e-2

    #: known basis functions, in the order of the parameter vector
    TERMS = ("viscous", "coulomb", "quadratic", "cubic", "quartic", "quintic", "sextic")

    def __post_init__(self) -> None:
        """Check every field and make its arrays read-only copies."""
        terms = tuple(self.terms)
        for term in terms:
            one_of(term, self.TERMS, "friction term")
        if not terms or list(terms) != [t for t in self.TERMS if t in terms]:
            raise ThunderError(
                f"friction terms must be some of {', '.join(self.TERMS)}, once each in this order, got {terms}"
            )
        delta = float(array(self.delta, (), "friction.delta"))
        if delta <= 0.0:
            raise ThunderError(f"friction.delta must be positive, got {delta:g}")
        coefficients = array(self.coefficients, (None, len(terms)), "friction.coefficients")
        set_fields(self, terms=terms, coefficients=coefficients, delta=delta)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rotor(Value):
    """Describe a motor's rotor: axial inertia spinning at ``gear_ratio * dq[joint]`` relative to the carrying link.

    The mass and transverse inertia of the rotor do not depend on the spin and belong to the carrying link's parameters.

    Attributes
    ----------
    joint : int
        Driven joint, 1..n.
    inertia : float
        Axial moment of inertia [kg m^2].
    gear_ratio : float
        Rotor turns per joint turn (prismatic joint: rad per m).
    carrier : int
        Link that carries the motor, 0 (base) .. n; default ``joint - 1``.
    axis : (3,) array, optional
        Unit spin axis in the frame of the carrier; default: the joint's axis at q = 0.

    Raises
    ------
    ThunderError
        If an index is not an integer or out of range, a number is not finite, or the axis is not a unit vector.

    Examples
    --------
    >>> import thunder_py as th
    >>> rotor = th.robot.Rotor(joint=2, inertia=1e-4, gear_ratio=100.0)
    >>> rotor.carrier
    1
    >>> elbow = th.Robot.load("elbow")
    >>> with_rotor = elbow.replace(rotors=(rotor,))
    >>> (with_rotor.mass_matrix([0, 0]) - elbow.mass_matrix([0, 0])).round(3).tolist()
    [[0.0, 0.01], [0.01, 1.0]]
    """

    joint: int
    inertia: float
    gear_ratio: float = 1.0
    carrier: int | None = None
    axis: Array | None = None

    def __post_init__(self) -> None:
        """Check every field and make its arrays read-only copies."""
        carrier = self.joint - 1 if self.carrier is None else self.carrier
        joint, carrier = whole(self.joint, "rotor joint", 1), whole(carrier, "rotor carrier", 0)
        what = f"rotor of joint {self.joint}"
        set_fields(
            self,
            joint=joint,
            carrier=carrier,
            inertia=float(array(self.inertia, (), f"{what}: inertia")),
            gear_ratio=float(array(self.gear_ratio, (), f"{what}: gear_ratio")),
            axis=None if self.axis is None else unit_axis(self.axis, f"{what}: axis"),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Elastic(Value):
    """Describe the drive of an elastic joint: a motor coupled to the link by a spring and a damper.

    With motor position x and link position q, both seen at the joint, spring and damper exert the torque
    ``tau_el = sum_k K[k] (x - q)^(2k+1) + sum_k D[k] v abs(v)^k``, v = dx - dq, on the link and its opposite on the
    motor: ``Mm ddx + sum_k Dm[k] dx abs(dx)^k + tau_el = tau``. The bases are those of Thunder: odd powers for the
    spring; v, v abs(v), v^3, ... for damping, as for the polynomial terms of `Friction`.

    Attributes
    ----------
    joint : int
        Elastic joint, 1..n.
    K : tuple of float
        Stiffness, one coefficient or more: [N m/rad], [N m/rad^3], ... or [N/m], ...
    D : tuple of float
        Damping parallel to the spring [N m s/rad or N s/m, then per higher powers].
    Dm : tuple of float
        Damping of the motor, in the same units.
    Mm : float
        Inertia of the motor, reflected to the joint [kg m^2 or kg].

    Raises
    ------
    ThunderError
        If the index is not an integer >= 1, `K` is empty, or a number is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> drive = th.robot.Elastic(joint=2, K=(100.0, 5.0), D=(0.1,), Dm=(0.1,), Mm=0.2)
    >>> robot = th.Robot.load("elbow").replace(elastic=(drive,))
    >>> robot.e, robot.elastic_parameter_names["K"]
    (1, ('joint2.K0', 'joint2.K1'))
    >>> np.round(robot.elastic_torque([0.0, 0.0], [0.1]), 3).tolist()
    [10.005]
    """

    joint: int
    K: tuple[float, ...]
    D: tuple[float, ...] = ()
    Dm: tuple[float, ...] = ()
    Mm: float

    #: names of the groups of parameters
    GROUPS = ("K", "D", "Dm", "Mm")

    def __post_init__(self) -> None:
        """Check every field; numbers become floats, lists tuples."""
        joint = whole(self.joint, "elastic joint", 1)
        what = f"elastic joint {joint}"
        rows = {key: tuple(array(getattr(self, key), (None,), f"{what}: {key}").tolist()) for key in ("K", "D", "Dm")}
        if not rows["K"]:
            raise ThunderError(f"{what}: K must have at least one coefficient, got none")
        set_fields(self, joint=joint, Mm=float(array(self.Mm, (), f"{what}: Mm")), **rows)
