"""Class `RobotModel`: the description of an arm with its kinematics, dynamics and regressors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, points, real
from ..errors import ThunderError
from . import elastic, inertia
from .derivatives import DerivativeMethods
from .description import Elastic, Friction, Limits, RobotDescription
from .elastic import ElasticMotion


def core_arguments(d: RobotDescription) -> dict[str, Any]:
    """Return the arguments of the core's model."""
    friction = d.friction
    return {
        "name": d.name,
        "prismatic": [kind == "P" for kind in d.joint_types],
        "placements": d.placements,
        "axes": d.axes,
        "offsets": d.offsets,
        "inertial": d.inertial,
        "gravity": d.gravity,
        "base": d.base,
        "tool": d.tool,
        "friction_terms": [] if friction is None else [Friction.TERMS.index(term) for term in friction.terms],
        "friction": np.zeros((d.n, 0)) if friction is None else friction.coefficients,
        "friction_delta": 1.0 if friction is None else friction.delta,
        "armature": [] if d.armature is None else list(d.armature),
        "lower": [] if d.limits is None else list(d.limits.lower),
        "upper": [] if d.limits is None else list(d.limits.upper),
        "rotors": [
            (r.joint, r.joint - 1 if r.carrier is None else r.carrier, r.axis, r.gear_ratio, r.inertia)
            for r in d.rotors
        ],
        "elastic": (
            [drive.joint for drive in d.elastic],
            *(elastic.rows(d.elastic, key) for key in ("K", "D", "Dm")),
            [drive.Mm for drive in d.elastic],
        ),
        "joint_names": list(d.joint_names),
        "link_names": list(d.link_names),
        "frames": [(name, link, pose) for name, (link, pose) in d.frames.items()],
    }


class RobotModel(DerivativeMethods):
    """Compute kinematics, dynamics and regressors of a described arm: base class of `thunder_py.Robot`.

    Parameters
    ----------
    description : RobotDescription
        Data of the arm.
    """

    def __init__(self, description: RobotDescription) -> None:
        super().__init__(**core_arguments(description))
        self._description = description

    @property
    def description(self) -> RobotDescription:
        """Description that the robot was made from."""
        return self._description

    @property
    def joint_types(self) -> str:
        """Joint types, one letter for each joint: ``R`` revolute or ``P`` prismatic."""
        return self._description.joint_types

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self._description.joint_names

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links."""
        return self._description.link_names

    @property
    def limits(self) -> Limits:
        """Joint limits, infinite where unknown."""
        return self._description.limits or Limits.none(self.n)

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity in the world, (3,) [m/s^2]."""
        return self._description.gravity

    @property
    def inertial(self) -> Array:
        """REG parameters of the links, (n, 10), inertia about the origin of the link frame."""
        return self._description.inertial

    @property
    def total_mass(self) -> float:
        """Mass of all moving links [kg]."""
        return float(self.inertial[:, 0].sum())

    @property
    def elastic(self) -> tuple[Elastic, ...]:
        """Drives of the `e` elastic joints, in the order of the motor vectors ``x, dx, ddx``."""
        return self._description.elastic

    @property
    def motor_joints(self) -> tuple[int, ...]:
        """Indices of the elastic joints, from 0, in the order of the motor vectors."""
        return tuple(drive.joint - 1 for drive in self.elastic)

    @property
    def motor_names(self) -> tuple[str, ...]:
        """Names of the motors of elastic joints in messages and in MJCF, such as ``joint2_motor``."""
        return elastic.motor_names(self.elastic, self.joint_names)

    @property
    def elastic_parameters(self) -> Mapping[str, Array]:
        """Parameters of the elastic joints by group, joint after joint.

        ``K``, ``D``, ``Dm`` and ``Mm`` multiply `elastic_regressor`, `elastic_damping_regressor`,
        `motor_damping_regressor` and `motor_inertia_regressor`. They are not part of `parameters`.
        """
        return elastic.parameters(self.elastic)

    @property
    def elastic_parameter_names(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the entries of `elastic_parameters`, such as ``joint2.K0``, the linear stiffness."""
        return elastic.parameter_names(self.elastic, self.joint_names)

    def elastic_equilibrium(self, q: npt.ArrayLike) -> Array:
        """Compute the motor positions x at which the springs balance gravity, ``elastic_torque(q, x) = G(q)``.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].

        Returns
        -------
        (..., e) array
            Motor positions [rad or m].

        Raises
        ------
        ThunderError
            If there are no elastic joints, or a spring cannot balance the torque.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> drive = th.robot.Elastic(joint=2, K=(100.0,), Mm=0.2)
        >>> robot = th.Robot.load("elbow").replace(elastic=(drive,))
        >>> q = [0.3, 0.4]
        >>> x = robot.elastic_equilibrium(q)
        >>> np.allclose(robot.elastic_torque(q, x), robot.gravity_vector(q)[1])
        True
        """
        if not self.elastic:
            raise ThunderError(f"elastic_equilibrium needs elastic joints, and {self.name} has none")
        return elastic.equilibrium(self.elastic, q, self.gravity_vector(q), self.joint_names)

    def elastic_inverse_dynamics(
        self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike, d3q: npt.ArrayLike, d4q: npt.ArrayLike
    ) -> ElasticMotion:
        """Compute the torques and the motion of the motors under which the links move as given.

        Parameters
        ----------
        q, dq, ddq, d3q, d4q : (..., n) array_like
            Joint positions [rad or m] and their time derivatives.

        Returns
        -------
        ElasticMotion
            Torques ``tau`` (..., n), motor positions ``x`` and velocities ``dx`` (..., e).

        Raises
        ------
        ThunderError
            If there are no elastic joints, a spring cannot carry its torque, or springs have damping D, with which the
            motion of the motors is no function of that of the links.

        Notes
        -----
        Buondonno and De Luca (2015) solve the same problem by a Newton-Euler recursion for linear springs.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> drives = [th.robot.Elastic(joint=j, K=(400.0,), Mm=0.1) for j in (1, 2)]
        >>> robot = th.Robot.load("elbow").replace(elastic=drives)
        >>> tau, x, dx = robot.elastic_inverse_dynamics(*th.reference.Sinusoid([0.8, 0.6], 0.5).smooth(0.3))
        >>> tau.shape, x.shape, dx.shape
        ((2,), (2,), (2,))
        """
        if not self.elastic:
            raise ThunderError(f"elastic_inverse_dynamics needs elastic joints, and {self.name} has none")
        if self.elastic_parameters["D"].any():
            raise ThunderError("elastic_inverse_dynamics needs springs without damping: use a model with D = 0")
        parts = {"q": q, "dq": dq, "ddq": ddq, "d3q": d3q, "d4q": d4q}
        motion = np.broadcast_arrays(*(points(real(part, name), name, (self.n,)) for name, part in parts.items()))
        joints = list(self.motor_joints)
        tau = self.inverse_dynamics(*motion[:3])
        torques = (tau, self.inverse_dynamics_dot(*motion[:4]), self.inverse_dynamics_ddot(*motion))
        x, dx, ddx = elastic.motor_motion(
            self.elastic,
            (motion[0][..., joints], motion[1][..., joints], motion[2][..., joints]),
            (torques[0][..., joints], torques[1][..., joints], torques[2][..., joints]),
            self.joint_names,
        )
        motors: Array = np.zeros_like(tau)
        motors[..., joints] = self.motor_inertia_torque(ddx) + self.motor_damping_torque(dx)
        return ElasticMotion(tau + motors, x, dx)

    def inertial_is_physical(self) -> npt.NDArray[np.bool_]:
        """Test the physical consistency of every link: positive definite pseudo-inertia.

        Returns
        -------
        (n,) array of bool

        Examples
        --------
        >>> import thunder_py as th
        >>> th.Robot.load("panda").inertial_is_physical().all().item()
        True
        """
        return inertia.is_physical(self.inertial)
