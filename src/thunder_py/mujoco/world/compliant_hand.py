"""A compliant hand with four fingers and a thumb, which one motor closes with one tendon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...io.xml import quaternion
from ...values import Value
from .hand import MOTOR, HandMotor, MotorData, add_motor, check_numbers
from .objects import CONTACT, HAND


class _Finger(NamedTuple):
    """Base in the hand's frame [m], side of the hand, and from the base outwards: lengths, closed angles, pulleys."""

    base: tuple[float, float, float]
    side: float
    radius: float
    lengths: tuple[float, ...]
    closed: tuple[float, ...]
    pulleys: tuple[float, ...]


_SKIN, _BONE = (0.20, 0.21, 0.23, 1.0), (0.75, 0.76, 0.78, 1.0)
#: sides of the palm [m]
_PALM = (0.10, 0.08, 0.03)
#: angle of the open fingers away from z [rad]
_SPREAD = 0.55
_FINGERS = tuple(
    _Finger((x, 0.036, _PALM[2]), 1.0, 0.008, (0.042, 0.030, 0.024), (1.3, 1.1, 0.9), (0.010, 0.008, 0.006))
    for x in (-0.039, -0.013, 0.013, 0.039)
)
#: its pulleys are larger, because it opposes four fingers
_THUMB = _Finger((0.0, -0.036, _PALM[2]), -1.0, 0.011, (0.048, 0.036), (1.2, 1.0), (0.022, 0.016))
_ALL = (*_FINGERS, _THUMB)
#: tension that closes the free hand [N], gains of the motor [N/m], [N s/m]
_TENSION, _GAINS = 40.0, (8000.0, 60.0)
#: damping over stiffness [s], rotor inertia [kg m^2], mass of a length [kg/m] of the fingers
_RELAXATION, _ARMATURE, _DENSITY = 0.03, 2e-5, 0.5


@dataclass(frozen=True)
class CompliantHand(Value):
    """A hand in the manner of the Pisa/IIT SoftHand: fingers with springs in all joints, closed by one tendon.

    The fingers lie on the side of positive y, the thumb opposite; z points out of the palm.

    Parameters
    ----------
    effort : float
        Largest tension of the tendon [N].
    speed : float
        Speed of the motor [1/s]: reciprocal of the time to close.
    friction : float
        Coefficient of friction with every object.
    torsion : float
        Torsional friction [m]: torque about the normal over the normal force.
    delay : float
        Time from a command to the motor's reaction [s].
    mass : float
        Mass with fingers [kg]; default that of the SoftHand (D4.2, section 3.3.2).

    Attributes
    ----------
    joint_names : tuple of str
        Names of the finger joints.
    pulleys, stiffness : (14,) array
        Lever of the tendon [m] and stiffness of the spring [N m/rad] of each joint.

    Raises
    ------
    ThunderError
        If a number is invalid.

    Notes
    -----
    With pulleys r, springs K and tension T the joints satisfy ``K q = r T + J^T f``, where f are contact forces, and
    the tendon's length is ``r . q``: the motor sets one combination of the angles, contacts decide the others
    (Catalano et al., Adaptive synergies for the design and control of the Pisa/IIT SoftHand, 2014). Sizes are ours; the
    SoftHand has 19 joints and abduction.

    Examples
    --------
    >>> from thunder_py.mujoco import CompliantHand
    >>> hand = CompliantHand()
    >>> len(hand.joint_names), round(hand.motor.stroke, 3)
    (14, 0.151)
    """

    effort: float = 200.0
    speed: float = 2.0
    friction: float = 0.9
    torsion: float = 0.01
    delay: float = 0.05
    mass: float = 0.83

    def __post_init__(self) -> None:
        """Check everything."""
        check_numbers(self, least_mass=0.4)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the finger joints, from the base outwards, the thumb's last."""
        return tuple(f"finger{k + 1}_{j + 1}" for k, finger in enumerate(_ALL) for j in range(len(finger.lengths)))

    @property
    def pulleys(self) -> Array:
        """Lever of the tendon at each joint, (14,) [m]."""
        return np.concatenate([finger.pulleys for finger in _ALL])

    @property
    def stiffness(self) -> Array:
        """Stiffness of the spring of each joint, (14,) [N m/rad]."""
        return np.asarray(_TENSION * self.pulleys / np.concatenate([finger.closed for finger in _ALL]))

    @property
    def motor(self) -> MotorData:
        """Numbers of its motor."""
        stroke = float(self.pulleys @ np.concatenate([finger.closed for finger in _ALL]))
        return MotorData(stroke, self.effort, self.speed, self.delay, *_GAINS, pushes=False)

    @property
    def grasp_point(self) -> tuple[float, float, float]:
        """Center of a grasp in the hand's frame [m]."""
        return (0.0, 0.0, 0.085)

    def covers(self, points: Array, closure: float) -> npt.NDArray[np.bool_]:
        """Return the mask (k,) of points (k, 3) in the frame of a grasp that are on the hand, or near."""
        return np.asarray((np.abs(points[:, 0]) < 0.07) & (np.abs(points[:, 1]) < 0.12) & (points[:, 2] < 0.035))

    def add_to(self, spec: Any, body: Any, mujoco: Any) -> None:
        """Add palm and fingers to a body of a MuJoCo specification, and the tendon ``"hand"`` with its motor."""
        touch = {
            "contype": HAND[0], "conaffinity": HAND[1], "condim": 4, "priority": 2, "group": 1,
            "friction": [self.friction, self.torsion, 1e-4], **CONTACT,
        }  # fmt: skip
        fingers = _DENSITY * sum(sum(finger.lengths) for finger in _ALL)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5 * side for side in _PALM], pos=[0.0, 0.0, 0.5 * _PALM[2]],
            rgba=_BONE, mass=self.mass - fingers, **touch,
        )  # fmt: skip
        tendon, stiffness = spec.add_tendon(name=MOTOR), iter(self.stiffness.tolist())
        for k, finger in enumerate(_ALL):
            parent, place, angle = body, list(finger.base), -_SPREAD * finger.side
            for j, (length, pulley) in enumerate(zip(finger.lengths, finger.pulleys, strict=True)):
                name, spring = f"finger{k + 1}_{j + 1}", next(stiffness)
                # a turn about x takes z towards -y
                turn = [
                    [1.0, 0.0, 0.0],
                    [0.0, math.cos(angle), -math.sin(angle)],
                    [0.0, math.sin(angle), math.cos(angle)],
                ]
                parent = parent.add_body(name=name, pos=place, quat=quaternion(np.array(turn)))
                parent.add_joint(
                    name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[finger.side, 0.0, 0.0], stiffness=spring,
                    damping=_RELAXATION * spring, armature=_ARMATURE, range=[-0.3, 1.9], limited=True,
                )  # fmt: skip
                parent.add_geom(
                    type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0.0, 0.0, 0.0, 0.0, 0.0, length],
                    size=[finger.radius, 0.0, 0.0], rgba=_SKIN, mass=_DENSITY * length, **touch,
                )  # fmt: skip
                tendon.wrap_joint(name, pulley)
                place, angle = [0.0, 0.0, length], 0.0
        add_motor(spec, self.motor, mujoco)

    def drive(self, model: Any, data: Any) -> HandMotor:
        """Return the motor in a simulation."""
        return HandMotor(self.motor, model, data)
