"""Robots with the wrist: on a slope, on a floating base (D4.2, eq. 78), or as an additional joint of an arm."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...checks import Array, all_positive, array, of_kind, pose, positive
from ...model.description import RobotDescription
from ...model.inertia import reg_from_dyn
from ...model.joint_data import Elastic, Friction, Limits
from ...robot import Robot
from ...robot.payload import Payload
from .model import ElasticWrist

#: inertia of a motor whose motion no load disturbs, because theta is an input of the wrist's models [kg m^2]
IDEAL_MOTOR = 1e12
#: axis of the wrist, which turns from its x axis to its z axis
_AXIS = (0.0, -1.0, 0.0)


def inclined_wrist(wrist: ElasticWrist, *, tip: float = 0.15, motor_inertia: float = IDEAL_MOTOR) -> Robot:
    """Return the wrist on a fixed base with its slope, a robot with one elastic joint.

    Parameters
    ----------
    wrist : ElasticWrist
        Wrist, whose `alpha` pitches the base's x axis down.
    tip : float
        Distance of the end effector from the axis [m].
    motor_inertia : float
        Inertia of the motor [kg m^2].

    Returns
    -------
    Robot
        With one joint, ``wrist``.

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import ElasticWrist, inclined_wrist
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, alpha=0.5)
    >>> robot = inclined_wrist(wrist)
    >>> robot.n, robot.e, round(float(robot.gravity_vector([0.0])[0]), 4), round(wrist.k * wrist.theta_g, 4)
    (1, 1, 0.5424, 0.5424)
    """
    of_kind(wrist, ElasticWrist, "wrist")
    slope = np.eye(4)
    slope[0, 0] = slope[2, 2] = math.cos(wrist.alpha)
    slope[0, 2], slope[2, 0] = math.sin(wrist.alpha), -math.sin(wrist.alpha)
    description = RobotDescription(
        name="wrist",
        joint_types="R",
        placements=np.eye(4)[None],
        axes=np.array([_AXIS]),
        offsets=np.eye(4)[None],
        inertial=_hand(wrist)[None],
        gravity=np.array([0.0, 0.0, -wrist.g]),
        base=slope,
        tool=_along_x(tip),
        friction=Friction(terms=("viscous",), coefficients=np.array([[wrist.c]])),
        elastic=(_drive(wrist, 1, motor_inertia),),
        joint_names=("wrist",),
    )
    return Robot(description)


def floating_wrist(
    wrist: ElasticWrist,
    *,
    base_mass: float = 3.0,
    base_inertia: npt.ArrayLike = (0.02, 0.02, 0.02),
    tip: float = 0.15,
    motor_inertia: float = IDEAL_MOTOR,
) -> Robot:
    """Return the wrist on a floating base: six joints x, y, z, yaw, pitch, roll, and the elastic one.

    Parameters
    ----------
    wrist : ElasticWrist
        Wrist; `alpha` is not used, because the pitch of the base is a joint.
    base_mass : float
        Mass of the base [kg].
    base_inertia : (3,) array_like
        Principal moments about the base's origin, its center of mass [kg m^2].
    tip, motor_inertia : float
        As in `inclined_wrist`.

    Returns
    -------
    Robot
        With seven joints, the last called ``wrist``.

    Raises
    ------
    ThunderError
        If mass or a moment is not positive.

    Notes
    -----
    Source: D4.2, eq. 78 (``M dnu/dt + C(q, nu) nu``, errata D-16). The torques of the six joints are the wrench
    ``tau_b`` on the base, in joint coordinates, which are regular below a pitch of 90 degrees.

    Examples
    --------
    >>> from thunder_py.manipulation import ElasticWrist, floating_wrist
    >>> robot = floating_wrist(ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09), base_mass=3.0)
    >>> robot.joint_names
    ('x', 'y', 'z', 'yaw', 'pitch', 'roll', 'wrist')
    >>> round(float(robot.mass_matrix([0.0] * 7)[0, 0]), 3)  # base and hand [kg]
    3.7
    """
    of_kind(wrist, ElasticWrist, "wrist")
    mass, moments = positive(base_mass, "base_mass", "kg"), array(base_inertia, (3,), "base_inertia")
    all_positive(moments, "base_inertia")
    body = np.concatenate([[mass, 0.0, 0.0, 0.0], np.diag(moments)[np.triu_indices(3)]])
    axes = np.concatenate([np.eye(3), np.eye(3)[::-1]])
    base = RobotDescription(
        name="floating_wrist",
        joint_types="PPPRRR",
        placements=np.tile(np.eye(4), (6, 1, 1)),
        axes=axes,
        offsets=np.tile(np.eye(4), (6, 1, 1)),
        inertial=np.concatenate([np.zeros((5, 10)), body[None]]),
        gravity=np.array([0.0, 0.0, -wrist.g]),
        joint_names=("x", "y", "z", "yaw", "pitch", "roll"),
    )
    return with_wrist(Robot(base), wrist, tip=tip, motor_inertia=motor_inertia)


def with_wrist(
    robot: Robot,
    wrist: ElasticWrist,
    *,
    mount: npt.ArrayLike | None = None,
    tip: float = 0.15,
    motor_inertia: float = IDEAL_MOTOR,
) -> Robot:
    """Return the robot with the elastic wrist as an additional joint.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.
    wrist : ElasticWrist
        Wrist; `alpha` and `g` are not used, because its slope is that of the robot's end effector.
    mount : (4, 4) array_like, optional
        Pose of the wrist's base in the robot's end effector; its x axis is that of the hand at q = 0.
    tip : float
        Distance of the new end effector from the wrist's axis, along the hand [m].
    motor_inertia : float
        Inertia of the motor [kg m^2]; with the default no load disturbs its motion.

    Returns
    -------
    Robot
        With n + 1 joints, the last called ``wrist``.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import ElasticWrist, with_wrist
    >>> robot = with_wrist(th.Robot.load("panda"), ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09))
    >>> robot.n, robot.joint_names[-1], robot.elastic[-1].joint
    (8, 'wrist', 8)
    """
    of_kind(wrist, ElasticWrist, "wrist")
    d = of_kind(robot, Robot, "robot").description
    place = d.tool @ (np.eye(4) if mount is None else pose(mount, "mount"))
    no_limit = np.inf
    limits = robot.limits
    return Robot(
        d.replace(
            name=f"{d.name}_wrist" if not d.name.endswith("wrist") else d.name,
            joint_types=d.joint_types + "R",
            placements=np.concatenate([d.placements, place[None]]),
            axes=np.concatenate([d.axes, [_AXIS]]),
            offsets=np.concatenate([d.offsets, np.eye(4)[None]]),
            inertial=np.concatenate([d.inertial, _hand(wrist)[None]]),
            tool=_along_x(tip),
            convention="placements",
            dh=None,
            joint_names=(*d.joint_names, "wrist"),
            link_names=(*d.link_names, "hand"),
            limits=Limits(
                lower=np.r_[limits.lower, -no_limit],
                upper=np.r_[limits.upper, no_limit],
                velocity=np.r_[limits.velocity, no_limit],
                effort=np.r_[limits.effort, no_limit],
            ),
            armature=None if d.armature is None else np.r_[d.armature, 0.0],
            friction=_friction(d.friction, d.n, wrist.c),
            elastic=(*d.elastic, _drive(wrist, d.n + 1, motor_inertia)),
            masks={},
        )
    )


def with_rigid_hand(
    robot: Robot, wrist: ElasticWrist, *, mount: npt.ArrayLike | None = None, tip: float = 0.15
) -> Robot:
    """Return the robot with the same hand fixed to it at q = 0, for comparison with the elastic wrist.

    Parameters
    ----------
    robot, wrist, mount, tip
        As in `with_wrist`.

    Returns
    -------
    Robot
        With the joints of `robot`.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import ElasticWrist, with_rigid_hand
    >>> panda = th.Robot.load("panda")
    >>> robot = with_rigid_hand(panda, ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09), tip=0.15)
    >>> offset = robot.description.tool[:3, 3] - panda.description.tool[:3, 3]
    >>> robot.n, round(float((offset @ offset) ** 0.5), 3)
    (7, 0.15)
    """
    of_kind(wrist, ElasticWrist, "wrist")
    place = of_kind(robot, Robot, "robot").description.tool @ (np.eye(4) if mount is None else pose(mount, "mount"))
    body = Payload(
        mass=wrist.m,
        com=place[:3, :3] @ np.array([wrist.r_c, 0.0, 0.0]) + place[:3, 3],
        inertia=(wrist.I - wrist.m * wrist.r_c**2) * np.eye(3),
    )
    return body.added_to(robot).replace(tool=place @ _along_x(tip), name=f"{robot.name}_hand")


def _hand(wrist: ElasticWrist) -> Array:
    """Return the REG parameters of the hand, isotropic about its center of mass, which planar motion does not show."""
    about_com = wrist.I - wrist.m * wrist.r_c**2
    dyn = [wrist.m, wrist.r_c, 0.0, 0.0, about_com, 0.0, 0.0, about_com, 0.0, about_com]
    return np.asarray(reg_from_dyn(np.array([dyn]))[0])


def _drive(wrist: ElasticWrist, joint: int, motor_inertia: float) -> Elastic:
    return Elastic(joint=joint, K=(wrist.k,), Mm=positive(motor_inertia, "motor_inertia", "kg m^2"))


def _along_x(tip: float) -> Array:
    T = np.eye(4)
    T[0, 3] = positive(tip, "tip", "m")
    return T


def _friction(friction: Friction | None, n: int, c: float) -> Friction:
    """Return the friction of the robot with a row for the wrist, whose damping is viscous."""
    if friction is None:
        return Friction(terms=("viscous",), coefficients=np.r_[np.zeros(n), c][:, None])
    terms = friction.terms if "viscous" in friction.terms else ("viscous", *friction.terms)
    table = np.zeros((n + 1, len(terms)))
    table[:n, len(terms) - len(friction.terms) :] = friction.coefficients
    table[n, 0] = c
    return Friction(terms=terms, coefficients=table, delta=friction.delta)
