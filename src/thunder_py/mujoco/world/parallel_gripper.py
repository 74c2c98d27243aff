"""A parallel gripper with two fingers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...values import Value
from .hand import MOTOR, HandMotor, MotorData, add_motor, check_numbers
from .objects import CONTACT, HAND

_GRAY, _DARK = (0.85, 0.85, 0.87, 1.0), (0.2, 0.2, 0.22, 1.0)
#: depth of the palm, and length, width and thickness of the fingers [m], close to those of the Franka Hand
_PALM, _FINGER, _WIDTH, _THICKNESS = 0.058, 0.054, 0.020, 0.010
#: gains of the motor [N/m], [N s/m]
_GAINS = (8000.0, 60.0)
#: height above the fingertips of the center of a grasp [m]
_TIP = 0.012


@dataclass(frozen=True)
class ParallelGripper(Value):
    """Two fingers that one motor moves in opposite directions along y of the hand's frame; z points out of the palm.

    Parameters
    ----------
    opening : float
        Largest distance between the pads [m].
    effort : float
        Largest force of each pad [N].
    speed : float
        Speed of the motor [1/s]: reciprocal of the time to close.
    friction : float
        Coefficient of friction of the pads with every object.
    torsion : float
        Torsional friction of the pads [m]: torque about the normal over the normal force.
    delay : float
        Time from a command to the motor's reaction [s].
    mass : float
        Mass with fingers [kg].

    Raises
    ------
    ThunderError
        If a number is invalid.

    Notes
    -----
    Sizes and mass are close to those of the Franka Hand. An equality constraint couples the fingers, so a pad that
    touches first waits for the other only if the object moves.

    Examples
    --------
    >>> from thunder_py.mujoco import ParallelGripper
    >>> ParallelGripper(effort=30.0).grasp_point
    (0.0, 0.0, 0.1)
    """

    opening: float = 0.08
    effort: float = 70.0
    speed: float = 1.25
    friction: float = 0.8
    torsion: float = 0.01
    delay: float = 0.02
    mass: float = 0.73

    def __post_init__(self) -> None:
        """Check everything."""
        check_numbers(self, "opening", least_mass=0.1)

    @property
    def motor(self) -> MotorData:
        """Numbers of its motor; the tendon's length is the sum of both fingers' ways."""
        return MotorData(self.opening, self.effort, self.speed, self.delay, *_GAINS, pushes=True)

    @property
    def grasp_point(self) -> tuple[float, float, float]:
        """Center of a grasp in the hand's frame [m]."""
        return (0.0, 0.0, round(_PALM + _FINGER - _TIP, 6))

    def covers(self, points: Array, closure: float) -> npt.NDArray[np.bool_]:
        """Return the mask (k,) of points (k, 3) in the frame of a grasp that are on the hand at a closure, or near."""
        x, y, z = np.abs(points[:, 0]), np.abs(points[:, 1]), points[:, 2]
        finger = 0.5 * (1.0 - closure) * self.opening
        palm = (x < 0.06) & (y < 0.13) & (z < -0.03)
        return np.asarray(palm | ((x < 0.025) & (y > finger - 0.004) & (y < finger + 0.025) & (z < 0.025)))

    def add_to(self, spec: Any, body: Any, mujoco: Any) -> None:
        """Add palm and fingers to a body of a MuJoCo specification, and the tendon ``"hand"`` with its motor."""
        box, finger = mujoco.mjtGeom.mjGEOM_BOX, 0.1 * self.mass
        touch = {"contype": HAND[0], "conaffinity": HAND[1], "condim": 4, "priority": 2, "group": 1, **CONTACT}
        friction = [self.friction, self.torsion, 1e-4]
        body.add_geom(
            type=box, size=[0.5 * 0.063, 0.5 * 0.204, 0.5 * _PALM], pos=[0.0, 0.0, 0.5 * _PALM], rgba=_GRAY,
            mass=self.mass - 2.0 * finger, friction=friction, **touch,
        )  # fmt: skip
        tendon = spec.add_tendon(name=MOTOR)
        for side, name in ((1.0, "finger1"), (-1.0, "finger2")):
            part = body.add_body(name=name, pos=[0.0, side * (0.5 * self.opening + 0.5 * _THICKNESS), _PALM])
            part.add_joint(
                name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, -side, 0.0], damping=2.0, armature=0.1,
                range=[0.0, 0.5 * self.opening], limited=True,
            )  # fmt: skip
            part.add_geom(
                type=box, size=[0.5 * _WIDTH, 0.5 * _THICKNESS, 0.5 * _FINGER], pos=[0.0, 0.0, 0.5 * _FINGER],
                rgba=_DARK, mass=finger, friction=friction, **touch,
            )  # fmt: skip
            tendon.wrap_joint(name, 1.0)
        same = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT, name1="finger1", name2="finger2",
            solref=[0.002, 1.0],
        )  # fmt: skip
        same.data = [0.0, 1.0] + [0.0] * (len(same.data) - 2)
        add_motor(spec, self.motor, mujoco)

    def drive(self, model: Any, data: Any) -> HandMotor:
        """Return the motor in a simulation."""
        return HandMotor(self.motor, model, data)
