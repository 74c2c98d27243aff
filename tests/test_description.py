import copy
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError, UnknownNameError
from thunder_py.model.description import (
    Friction,
    Limits,
    Rotor,
    check_name,
    check_physical_input,
    describe_dh,
)
from thunder_py.spatial import cos_sin, dh_chain, dh_transform, pose_from_rpy

TRUTH = Path(__file__).parent / "data" / "truth"
ARMS = ["panda", "rr_elbow_distal", "rr_elbow_craig", "random6_standard", "scara_with_motors"]


def truth(name):
    return json.loads((TRUTH / f"{name}.json").read_text())


def from_truth(data, **fields):
    return describe_dh(
        [[row["a"], row["alpha"], row["d"], row["theta"]] for row in data["dh"]],
        convention=data["convention"],
        joint_types=[row["type"] for row in data["dh"]],
        inertial=data["par_DYN"],
        base=data["T_base"],
        tool=data["T_ee"],
        gravity=data["gravity"],
        **fields,
    )


def motion(kind, axis, q):
    T = np.eye(4)
    if kind == "P":
        T[:3, 3] = q * np.asarray(axis)
    else:
        x, y, z = axis
        S = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        T[:3, :3] += math.sin(q) * S + (1 - math.cos(q)) * S @ S
    return T


def end_effector(description, q):
    T = description.base
    for i, kind in enumerate(description.joint_types):
        T = T @ description.placements[i] @ motion(kind, description.axes[i], q[i]) @ description.offsets[i]
    return T @ description.tool


@pytest.mark.parametrize("name", ARMS)
def test_dh_chain_meets_truth(name):
    data = truth(name)
    description = from_truth(data)
    for state in data["states"]:
        np.testing.assert_allclose(end_effector(description, state["q"]), state["T_0_ee"], atol=1e-13)
    np.testing.assert_allclose(description.inertial, data["pi"], rtol=1e-14, atol=1e-16)


def test_quarter_turns_are_exact():
    for k in range(-9, 10):
        assert set(map(abs, cos_sin(k * math.pi / 2))) == {0.0, 1.0}
        np.testing.assert_allclose(
            cos_sin(k * math.pi / 2), (math.cos(k * math.pi / 2), math.sin(k * math.pi / 2)), atol=1e-15
        )
    assert cos_sin(math.pi / 2 + 1e-9) == (math.cos(math.pi / 2 + 1e-9), math.sin(math.pi / 2 + 1e-9))


def test_dh_factors():
    a, alpha, d, theta = 0.3, 0.4, -0.2, 1.1
    x = pose_from_rpy((a, 0, 0), (alpha, 0, 0))
    z = pose_from_rpy((0, 0, d), (0, 0, theta))
    np.testing.assert_allclose(dh_transform([a, alpha, d, theta]), x @ z, atol=1e-15)
    np.testing.assert_allclose(dh_transform([a, alpha, d, theta], "standard"), z @ x, atol=1e-15)
    placements, axes, offsets = dh_chain([[a, alpha, d, theta]], "standard")
    np.testing.assert_array_equal(placements[0], np.eye(4))
    np.testing.assert_array_equal(axes, [[0, 0, 1]])
    np.testing.assert_allclose(offsets[0], z @ x)


def test_rpy_order():
    T = pose_from_rpy((1, 2, 3), (0.1, 0.2, 0.3))
    roll, pitch, yaw = (pose_from_rpy((0, 0, 0), v) for v in ((0.1, 0, 0), (0, 0.2, 0), (0, 0, 0.3)))
    np.testing.assert_allclose(T[:3, :3], (yaw @ pitch @ roll)[:3, :3], atol=1e-15)
    np.testing.assert_array_equal(T[:3, 3], (1, 2, 3))


def arm(**fields):
    return describe_dh(np.zeros((2, 4)), joint_types="RP", inertial=np.ones((2, 10)), **fields)


def test_arrays_are_read_only_copies():
    gravity = np.array([0.0, 0.0, -9.81])
    description = arm(gravity=gravity)
    gravity[2] = 0.0
    assert description.gravity[2] == -9.81
    for value in (description.gravity, description.inertial, description.placements, description.base):
        with pytest.raises(ValueError, match="read-only"):
            value[0] = 1.0
    with pytest.raises(TypeError):
        description.masks["x"] = 1


def test_equality_pickle_and_copy():
    one = arm(
        frames={"camera": (1, np.eye(4))},
        masks={"dh": [0, 1]},
        limits=Limits.none(2),
        rotors=(Rotor(joint=1, inertia=1),),
    )
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), one.replace()):
        assert other == one
    assert one.masks["dh"] == (0, 1)
    assert one != one.replace(gravity=(0, 0, 0))
    assert one != 3
    assert one.replace(limits=None) != one


def test_estimates_have_a_description_but_are_no_input():
    estimate = arm().replace(inertial=-np.ones((2, 10)))
    assert estimate.inertial[0, 0] == -1
    with pytest.raises(ThunderError, match=r"^mass of link1 must not be negative, got -1$"):
        check_physical_input(estimate)


def friction(**changes):
    return Friction(**{"terms": ("viscous",), "coefficients": [[1.0], [1.0]], **changes})


def test_bad_input():
    assert_refused(
        (lambda: arm(name="my-arm"), "robot name must be an identifier ... got 'my-arm'"),
        (lambda: check_name(3), "robot name must be an identifier ... got 3"),
        (lambda: arm(name="a" * 64), "robot name must be an identifier..."),
        (lambda: describe_dh(np.zeros((0, 4))), "an arm must have 1 to 64 joints, got 0"),
        (lambda: describe_dh(np.zeros((65, 4))), "an arm must have 1 to 64 joints, got 65"),
        (lambda: arm().replace(joint_types="RX"), "type of joint 2 must be R (revolute) or P (prismatic), got 'X'"),
        (lambda: arm().replace(joint_types=3), "joint_types must be letters R and P, got 3"),
        (lambda: describe_dh(np.zeros((2, 4)), joint_types="R"), "joint_types must have 2 letters, ... got 1"),
        (lambda: describe_dh(np.zeros((2, 3))), "dh must have shape (n, 4), got (2, 3)"),
        (lambda: describe_dh([["a", 0, 0, 0]]), "dh must be numbers of shape (n, 4), got..."),
        (lambda: describe_dh(np.zeros((1, 4), complex)), "dh must be real numbers ... got dtype complex128"),
        (lambda: describe_dh([[0, 0, np.nan, 0]]), "dh must be finite, got..."),
        (lambda: arm(convention="modifed"), "DH convention must be one of modified, standard, got 'modifed'; did y..."),
        (lambda: arm().replace(inertial=np.zeros((3, 10))), "inertial must have shape (2, 10), got (3, 10)"),
        (
            lambda: describe_dh(np.zeros((2, 4)), inertial=[[1.0] * 10, [-2.5] + [0.0] * 9]),
            "mass of link2 must not be negative, got -2.5",
        ),
        (lambda: arm(gravity=9.81), "gravity must have shape (3,), got ()"),
        (lambda: arm(gravity=(0, 0, np.inf)), "gravity must be finite, got..."),
        (lambda: arm(base=np.ones((4, 4))), "base must have the last row [0, 0, 0, 1], got..."),
        (lambda: arm(tool=np.diag([2.0, 2, 2, 1])), "tool must hold an orthonormal rotation matrix..."),
        (lambda: arm(tool=np.diag([1.0, 1, -1, 1])), "tool must hold a rotation, got a reflection..."),
        (
            lambda: arm().replace(dh=None, convention="placements", axes=[[0, 0, 1], [0, 1, 1]]),
            "axis of joint 2 must have unit length, got [0.0, 1.0, 1.0] of length 1.41421",
        ),
        (lambda: arm().replace(dh=None), "convention must be 'modified' or 'standard' with a DH table ... got 'mod..."),
        (lambda: arm().replace(dh=None, convention="x"), "convention must be ... and 'placements' without, got 'x'..."),
        (lambda: arm().replace(offsets=[pose_from_rpy((1, 0, 0))] * 2), "offsets must be those of the DH table..."),
        (lambda: arm(joint_names=("a",)), "joint_names must be 2 names, got ('a',)"),
        (lambda: arm(link_names=("a", "a")), "link names must differ, got 'a' twice"),
        (lambda: arm(link_names=("a", "b*")), "link name must be 1 to 255 printable ... got 'b*'"),
        (lambda: arm(armature=[0.1, -0.1]), "armature of joint2 must not be negative, got -0.1"),
        (lambda: arm(armature=[0.1]), "armature must have shape (2,), got (1,)"),
        (lambda: arm(limits=Limits.none(3)), "limits must be given for 2 joints, got 3"),
        (lambda: Limits(lower=[0, 1], upper=[1, 0], velocity=[1, 1], effort=[1, 1]), "limits of joint 2: lower mus..."),
        (
            lambda: Limits(lower=[0], upper=[1], velocity=[1], effort=[-1]),
            "limits.effort of joint 1 must not be n...",
        ),
        (lambda: Limits(lower=[0], upper=[np.nan], velocity=[1], effort=[1]), "limits.upper must be without NaN, g..."),
        (lambda: Limits(lower=[0], upper=[1, 2], velocity=[1], effort=[1]), "limits.upper must have shape (1,), go..."),
        (lambda: arm(friction=friction(coefficients=[[1.0]])), "friction must be given for 2 joints, got 1"),
        (lambda: friction(terms=("viscos",)), "friction term must be one of ... got 'viscos'; did you mean 'viscous'?"),
        (lambda: friction(terms=("coulomb", "viscous")), "friction terms must be some of ... once each in this ord..."),
        (lambda: friction(terms=()), "friction terms must be some of..."),
        (lambda: friction(delta=0), "friction.delta must be positive, got 0"),
        (
            lambda: arm(friction=friction(coefficients=[[1.0], [-3.0]])),
            "viscous friction of joint2 must not be...",
        ),
        (lambda: Rotor(joint=0, inertia=1), "rotor joint must be a whole number of at least 1, got 0"),
        (lambda: Rotor(joint=1, inertia=1, carrier=0.5), "rotor carrier must be a whole number of at least 0, got 0.5"),
        (lambda: Rotor(joint=1, inertia=1, axis=[1, 1, 0]), "rotor of joint 1: axis must have unit length..."),
        (lambda: arm(rotors=(Rotor(joint=3, inertia=1),)), "rotors must be on joints and links 1 to 2, got joint 3..."),
        (lambda: arm(rotors=(Rotor(joint=1, inertia=1),) * 2), "rotors must be one per joint at most, got two for ..."),
        (lambda: arm(rotors=(Rotor(joint=1, inertia=-1),)), "rotor inertia of joint1 must not be negative, got -1"),
        (lambda: arm(frames={"link1": (1, np.eye(4))}), "frame name must be no link's name, got 'link1'"),
        (
            lambda: arm(frames={"camera": (3, np.eye(4))}),
            "link of frame 'camera' must be a whole number from 0 to 2, got 3",
        ),
        (lambda: arm(frames={"camera": (1, np.zeros((4, 4)))}), "frame 'camera' must have the last row..."),
        (lambda: arm(reference=3), "reference must be text, got 3"),
    )


def test_a_velocity_limit_of_zero_is_a_missing_one():
    assert Limits(lower=[0, 0], upper=[1, 1], velocity=[0, 2], effort=[1, 1]).velocity.tolist() == [math.inf, 2.0]


def test_rotor_defaults_to_the_previous_link():
    assert Rotor(joint=3, inertia=0.1).carrier == 2
    assert arm(rotors=(Rotor(joint=2, inertia=1), Rotor(joint=1, inertia=1))).rotors[0].joint == 1


def test_refusals():
    assert_refused(
        (lambda: arm(gravty=(0, 0, 0)), "unknown argument 'gravty'; did you mean 'gravity'?", UnknownNameError),
        (lambda: arm().replace(tol=np.eye(4)), "description has no field 'tol'; did you mean 'to...", UnknownNameError),
    )
