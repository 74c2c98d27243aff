import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import thunder_py as th
from tests.kinematics.motions import robot
from tests.refusals import assert_refused
from thunder_py.kinematics import SphericalWristIK

HALF = np.pi / 2
#: [a, alpha, d, theta], standard
LECTURE = [[0, HALF, 0.4, 0], [0.5, 0, 0, 0], [0, HALF, 0, 0], [0, -HALF, 0.45, 0], [0, HALF, 0, 0], [0, 0, 0.1, 0]]
PUMA = [
    [0, HALF, 0.67, 0], [0.4318, 0, 0, 0], [0.0203, -HALF, 0.15005, 0], [0, HALF, 0.4318, 0], [0, -HALF, 0, 0],
    [0, 0, 0.056, 0],
]  # fmt: skip
#: a shoulder offset as large industrial arms have it, joint angles that count from elsewhere
OFFSET = [
    [0.35, -HALF, 0.675, 0.3], [1.15, 0, 0, -HALF], [-0.041, HALF, 0.02, 0.2], [0, -HALF, -1.2, 0], [0, HALF, 0, 0.7],
    [0, np.pi, -0.215, 0.1],
]  # fmt: skip
TILT = th.spatial.pose_from_rpy([0.1, -0.2, 0.05], [0.4, -0.3, 0.8])
ARMS = {
    "lecture": th.Robot.from_dh(LECTURE, convention="standard"),
    "puma": th.Robot.from_dh(PUMA, convention="standard", base=TILT, tool=TILT),
    "offset": th.Robot.from_dh(OFFSET, convention="standard", tool=TILT),
    # Craig's own table of the PUMA
    "craig": th.Robot.from_dh(
        [[0, 0, 0, 0], [0, -HALF, 0, 0], [0.43, 0, 0.12, 0], [0.02, -HALF, 0.43, 0], [0, HALF, 0, 0], [0, -HALF, 0, 0]]
    ),
}


def turned(a, b):
    """Largest difference of angles, whole turns aside."""
    return np.abs(np.remainder(a - b + np.pi, 2 * np.pi) - np.pi).max(axis=-1)


@pytest.mark.parametrize("name", ARMS)
def test_every_branch_reaches_and_the_given_one_is_among_them(name):
    arm = ARMS[name]
    solver, counts = SphericalWristIK(arm), []
    for q in np.random.default_rng(2).uniform(-np.pi, np.pi, (300, 6)):
        T = arm.forward_kinematics(q)
        found = solver.solve(T)
        counts.append(len(found))
        np.testing.assert_allclose(arm.forward_kinematics(found), np.broadcast_to(T, (len(found), 4, 4)), atol=1e-10)
        assert turned(found, q).min() < 1e-7
        apart = [turned(a, b) for i, a in enumerate(found) for b in found[:i]]
        assert min(apart) > 1e-7
    assert max(counts) == 8
    assert set(counts) <= {4, 8} or name == "offset"
    assert min(counts) >= 2


def lecture_11(center, signed):
    """The lecture's formulae for joints 1 to 3 of the elbow arm, with s = |z_c - d_1| as printed or z_c - d_1."""
    d1, a2, d4 = 0.4, 0.5, 0.45
    s = center[2] - d1 if signed else abs(center[2] - d1)
    r = np.hypot(*center[:2])
    D = (r**2 + s**2 - a2**2 - d4**2) / (2 * a2 * d4)
    t3 = np.arctan2(D, np.sqrt(1 - D**2))
    t2 = np.arctan2(s, r) - np.arctan2(d4 * np.sin(t3 - HALF), a2 + d4 * np.cos(t3 - HALF))
    return np.array([np.arctan2(center[1], center[0]), t2, t3])


def test_sign_of_the_height_below_the_shoulder():
    """N-5: |z_c - d_1| mirrors wrists below the shoulder: half a meter off. The branch theta_1 + pi is missing too."""
    arm = ARMS["lecture"]
    wrist = lambda q: arm.forward_kinematics(np.r_[q, 0, 0, 0], 4)[:3, 3]  # noqa: E731
    above, below = np.array([0.3, 0.4, 0.7]), np.array([0.3, 0.4, 0.15])
    for center, error in ((above, 0.0), (below, 0.5)):
        np.testing.assert_allclose(wrist(lecture_11(center, signed=True)), center, atol=1e-12)
        printed = np.linalg.norm(wrist(lecture_11(center, signed=False)) - center)
        assert printed == pytest.approx(error, abs=1e-12)
    T = arm.forward_kinematics(np.r_[lecture_11(below, signed=True), 0.3, 0.8, -0.4])
    found = SphericalWristIK(arm).solve(T)
    first = np.arctan2(below[1], below[0])
    near, opposite = np.abs(found[:, 0] - first) < 1e-9, np.abs(found[:, 0] - first + np.pi) < 1e-9
    assert near.sum() == opposite.sum() == 4


def test_both_branches_of_the_zyz_wrist():
    """N-6: of ZYZ angles (phi, theta, psi) the other branch is (phi + pi, -theta, psi + pi)."""
    # of standard DH rows, alpha = -90, 90, 0 degrees makes the wrist Rz(q4) Ry(q5) Rz(q6)
    arm = ARMS["lecture"]
    q = np.array([0.2, 0.7, 1.9, 0.5, 0.9, -1.1])
    T3 = arm.forward_kinematics(q, 3)
    R36 = T3[:3, :3].T @ arm.forward_kinematics(q)[:3, :3]
    np.testing.assert_allclose(R36, Rotation.from_euler("ZYZ", q[3:]).as_matrix(), atol=1e-14)
    found = SphericalWristIK(arm).solve(arm.forward_kinematics(q))
    same_arm = found[turned(found[:, :3], q[:3]) < 1e-9][:, 3:]
    expected = [q[3:], [q[3] - np.pi, -q[4], q[5] + np.pi]]
    assert len(same_arm) == 2
    for branch in expected:
        assert turned(same_arm, np.asarray(branch)).min() < 1e-9


@pytest.mark.parametrize("q5", [0.0, np.pi, 1e-12, 1e-7])
def test_singular_wrist(q5):
    """Only q4 + q6 (or q4 - q6) counts: the free one stays where it is told to."""
    arm = ARMS["lecture"]
    q = np.array([0.2, 0.7, 1.9, 0.5, q5, -1.1])
    T = arm.forward_kinematics(q)
    near = np.array([0, 0, 0, 1.3, 0, 0])
    found = SphericalWristIK(arm).solve(T, near=near)
    np.testing.assert_allclose(arm.forward_kinematics(found), np.broadcast_to(T, (len(found), 4, 4)), atol=1e-10)
    alike = found[turned(found[:, :3], q[:3]) < 1e-9]
    if q5 == 1e-7:  # not singular: both branches
        assert len(alike) == 2
    else:
        assert len(alike) == 1
        assert alike[0, 3] == 1.3
        assert alike[0, 3] + np.cos(q5) * alike[0, 5] == pytest.approx(q[3] + np.cos(q5) * q[5], abs=1e-9)


def test_singular_arm():
    """Stretched elbow: two branches are one. Wrist above the shoulder: joint 1 is free."""
    arm = ARMS["lecture"]
    solver = SphericalWristIK(arm)
    stretched = np.array([0.2, 0.7, HALF, 0.5, 0.9, -1.1])
    found = solver.solve(arm.forward_kinematics(stretched))
    assert turned(found, stretched).min() < 1e-6
    assert len(found) == 4
    rng = np.random.default_rng(0)
    for T in arm.forward_kinematics(stretched) + 4e-16 * rng.integers(-1, 2, (100, 4, 4)):
        T[3] = [0.0, 0.0, 0.0, 1.0]
        found = solver.solve(T)
        assert len(found) == 4  # whichever way the pose is rounded
        np.testing.assert_allclose(arm.forward_kinematics(found), np.broadcast_to(T, (4, 4, 4)), atol=1e-11)
    a2, d4 = 0.5, 0.45
    q3 = 2.0
    reach = [a2 + d4 * np.sin(q3), -d4 * np.cos(q3)]
    above = np.array([0.2, HALF - np.arctan2(reach[1], reach[0]), q3, 0.5, 0.9, -1.1])
    T = arm.forward_kinematics(above)
    assert np.hypot(*arm.forward_kinematics(above, 4)[:2, 3]) < 1e-15
    found = solver.solve(T, near=above)
    assert turned(found, above).min() < 1e-7
    np.testing.assert_allclose(arm.forward_kinematics(found), np.broadcast_to(T, (len(found), 4, 4)), atol=1e-10)


def test_out_of_reach_and_at_its_edge():
    arm = ARMS["lecture"]
    solver = SphericalWristIK(arm)
    for reach, expected in ((0.95, True), (0.9501, False), (0.0499, False)):
        T = np.eye(4)
        T[:3, 3] = [reach, 0.0, 0.4 + 0.1]  # the wrist's center is 0.1 m below the tool
        assert (len(solver.solve(T)) > 0) == expected
    assert solver.solve(T).shape == (0, 6)


def test_limits_and_order():
    limits = th.model.description.Limits(
        lower=[-np.pi, -2.0, -1.0, 2.0, -2.0, -7.0], upper=[np.pi, 2.0, 4.0, 9.0, 2.0, 7.0], velocity=[9.0] * 6,
        effort=[9.0] * 6,
    )  # fmt: skip
    arm = th.Robot.from_dh(LECTURE, convention="standard", limits=limits)
    q = np.array([0.3, 0.5, 2.0, 6.5, 0.8, 1.0])
    T = arm.forward_kinematics(q)
    solver = SphericalWristIK(arm)
    kept = solver.solve(T, limits=True)
    assert 0 < len(kept) < len(solver.solve(T))
    assert (kept >= limits.lower).all()
    assert (kept <= limits.upper).all()
    assert np.abs(kept - q).max(axis=1).min() < 1e-9  # joint 4 by a whole turn
    np.testing.assert_allclose(arm.forward_kinematics(kept), np.broadcast_to(T, (len(kept), 4, 4)), atol=1e-10)
    ordered = solver.solve(T, near=q)
    distances = np.abs(ordered - q).max(axis=1)
    assert distances[0] < 1e-9
    assert (np.diff(distances) >= 0).all()


def test_frames_of_the_last_link():
    arm = ARMS["puma"]
    q = np.array([0.3, -0.8, 0.5, 0.4, 1.0, -0.6])
    found = SphericalWristIK(arm, 6).solve(arm.forward_kinematics(q, 6))
    assert turned(found, q).min() < 1e-9
    with pytest.raises(ValueError, match=r"^frame must be fixed to the last link of robot, got 5$"):
        SphericalWristIK(arm, 5)


def changed(row, column, value):
    dh = np.array(LECTURE, dtype=float)
    dh[row, column] = value
    return th.Robot.from_dh(dh, convention="standard", name="arm")


def test_refusals():
    assert_refused(
        (robot("panda"), "robot must have six revolute joints for a spherical-wrist solution, got RRRRRRR"),
        (robot("ur5e"), "no spherical wrist: the last three axes of ur5e miss a common point by 0.0... m"),
        (changed(4, 0, 0.01), "no spherical wrist: the last three axes of arm miss a common point by 0.00... m"),
        (changed(3, 1, 1.0), "no spherical wrist: axes 4 and 5 of arm must be at a right angle, got 57.29..."),
        (changed(1, 1, 0.1), "no elbow arm: axes 2 and 3 of arm must be parallel"),
        (changed(0, 1, 0.0), "no elbow arm: axes 1 and 2 of arm must not be parallel"),
        call=lambda arm: SphericalWristIK(arm),
    )
    assert_refused((lambda: SphericalWristIK(ARMS["lecture"]).solve(np.full((4, 4), np.inf)), "T must be finite..."))
