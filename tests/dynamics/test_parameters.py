import numpy as np
import pytest
from hypothesis import given

import thunder_py as th
from tests.dynamics.numerics import assert_close
from tests.dynamics.random_chains import cases, few, random_robot
from tests.refusals import assert_refused
from tests.truth import robot_of
from thunder_py.errors import ThunderWarning, UnknownNameError
from thunder_py.model.description import Friction, Rotor

BODY = [1.0, 0.1, 0.2, 0.3, 0.4, 0.0, 0.0, 0.5, 0.0, 0.6]


@pytest.fixture(scope="module")
def arm():
    """Two joints with everything that has parameters."""
    return th.Robot.from_dh(
        [[0.0, 0.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0]],
        inertial=[BODY, BODY],
        link_names=("upper", "fore.arm"),
        joint_names=("shoulder", "elbow"),
        friction=Friction(terms=("viscous", "coulomb"), coefficients=[[1.0, 2.0], [3.0, 4.0]]),
        rotors=(Rotor(joint=2, inertia=0.01, gear_ratio=10.0),),
        armature=[0.5, 0.6],
    )


def test_names(arm):
    inertial = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    assert arm.parameter_names == (
        *(f"upper.{key}" for key in inertial),
        *(f"fore.arm.{key}" for key in inertial),
        "shoulder.viscous", "shoulder.coulomb", "elbow.viscous", "elbow.coulomb",
        "elbow.rotor_inertia",
        "shoulder.armature", "elbow.armature",
    )  # fmt: skip
    assert arm.p == len(arm.parameter_names) == 27
    assert_close(arm.parameters, [*arm.inertial.ravel(), 1, 2, 3, 4, 0.01, 0.5, 0.6], 1e-15)


@pytest.mark.parametrize(
    ("which", "indices"),
    [
        (None, range(27)),
        ("upper", range(10)),
        ("fore.arm", range(10, 20)),
        ("fore.arm.mcy", [12]),
        ("elbow", [22, 23, 24, 26]),
        ("elbow.coulomb", [23]),
        ("inertial", range(20)),
        ("friction", range(20, 24)),
        ("rotor", [24]),
        ("armature", [25, 26]),
        (["elbow.armature", "upper.m", "rotor"], [0, 24, 26]),
        (("shoulder", "shoulder.viscous"), [20, 21, 25]),
        (np.arange(27) % 9 == 0, [0, 9, 18]),
        (np.zeros(27, dtype=bool), []),
    ],
)
def test_unknown(arm, which, indices):
    chosen = arm.unknown(which)
    assert list(chosen.indices) == list(indices)
    assert chosen.names == tuple(arm.parameter_names[k] for k in indices)
    assert_close(chosen.values, arm.parameters[list(indices)], 0.0)
    assert chosen.mask.sum() == len(chosen.indices)


@pytest.mark.parametrize(
    ("which", "hint"),
    [
        ("uper", "; did you mean 'upper'?"),
        ("upper.mcw", "; did you mean 'upper.mcz'?"),
        ("frictions", "; did you mean 'friction'?"),
        (["upper", "elbou"], "; did you mean 'elbow'?"),
        ("fore", ""),
        ("", ""),
    ],
)
def test_unknown_name(arm, which, hint):
    name = which if isinstance(which, str) else which[-1]
    with pytest.raises(UnknownNameError) as error:
        arm.unknown(which)
    assert str(error.value).startswith(f"no parameter of robot is called {name!r}")
    assert hint in str(error.value)


@pytest.mark.parametrize(
    "which", [np.zeros(26, bool), np.zeros((1, 27), bool), np.zeros(27), [0, 1], [], ["upper", 3], 5]
)
def test_unknown_of_no_names_and_no_mask(arm, which):
    with pytest.raises(ValueError, match=r"^unknown must be names or a bool mask of shape \(27,\), got "):
        arm.unknown(which)


def test_a_mask_is_copied(arm):
    mask = np.zeros(27, dtype=bool)
    chosen = arm.unknown(mask)
    mask[:] = True
    assert not chosen.mask.any()


@few
@given(case=cases())
def test_regressors_split_into_known_and_unknown(case):
    """T, remark 2: tau = [Y_known pi_known | Y_unknown] [1; pi_unknown]."""
    robot, q, dq, ddq, dq_r, ddq_r = case
    for which in ("link1", "inertial", np.arange(robot.p) % 3 == 1):
        chosen = robot.unknown(which)
        assert_close(chosen.regressor(q, dq, ddq) @ chosen.parameters, robot.inverse_dynamics(q, dq, ddq))
        Y_r = robot.slotine_li_regressor(q, dq, dq_r, ddq_r)
        split = chosen.slotine_li_regressor(q, dq, dq_r, ddq_r)
        assert_close(split @ chosen.parameters, Y_r @ robot.parameters)
        assert_close(split[:, 1:], Y_r[:, chosen.mask], 0.0)


@pytest.mark.parametrize(
    ("name", "count"),
    [("rr_elbow_distal", 6), ("rr_elbow_craig", 6), ("scara_with_motors", 8), ("panda", 43), ("random6_standard", 29)],
)
def test_base_parameters(name, count):
    """Counts known from the ranks of regressors at 50 digits; SCARA's of its links."""
    robot = robot_of(name).replace(rotors=())
    base = robot.base_parameters()
    assert base.count == count == len(base.independent) == len(base.names)
    assert base.names == tuple(robot.parameter_names[k] for k in base.independent)
    assert base.mapping.shape == (count, robot.p)
    assert_close(base.mapping[:, base.independent], np.eye(count), 1e-15)
    q, dq, ddq = np.random.default_rng(99).uniform(-3, 3, (3, 50, robot.n))
    Y = robot.regressor(q, dq, ddq)
    Y_b = Y[..., base.independent]
    assert_close(Y_b @ base.mapping, Y)
    assert_close(Y_b @ (base.mapping @ robot.parameters), robot.inverse_dynamics(q, dq, ddq))
    singular = np.linalg.svd(Y_b.reshape(-1, count), compute_uv=False)
    assert singular[-1] > 1e-6 * singular[0]
    assert 1.0 <= base.condition_number < 1e4


#: rows of a, alpha in quarter turns, d of arms in modified convention
TABLES = {
    "ur5e": [[0, 0, 0.1625], [0, 1, 0], [-0.425, 0, 0], [-0.3922, 0, 0.1333], [0, 1, 0.0997], [0, -1, 0.0996]],
    "puma": [[0, 0, 0.66], [0, -1, 0.15], [0.4318, 0, 0], [0.0203, -1, 0.4318], [0, 1, 0], [0, -1, 0]],
    "panda": [[0, 0, 0.333], [0, -1, 0], [0, 1, 0.316], [0.0825, 1, 0], [-0.0825, -1, 0.384], [0, 1, 0], [0.088, 1, 0]],
}


def rounded_arm(name, angle):
    """An arm whose twists are wrong by an angle, with signs in turn."""
    a, quarters, d = np.array(TABLES[name]).T
    alpha = 0.5 * np.pi * quarters + angle * (-1.0) ** np.arange(len(a))
    return th.Robot.from_dh(np.stack([a, alpha, d, 0.0 * a], axis=1), inertial=[BODY] * len(a), name=name)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-11, 1e-10, 1e-9, 3.2e-9, 1e-8, 1e-7, 3.3e-7, 1e-6, 7.3e-6])
@pytest.mark.parametrize("name", TABLES)
def test_base_parameters_of_axes_that_are_hardly_parallel(name, angle):
    """7 n - 6 for revolute joints, the first one vertical (Khalil and Dombre 2002, chapter 9), for all roundings."""
    robot = rounded_arm(name, angle)
    for samples in (64, 70):
        base = robot.base_parameters(samples=samples)
        assert base.count == 7 * robot.n - 6
        assert base.condition_number < 10.0
        if angle <= 1e-12:
            assert base.gap == np.inf
        elif angle >= 1e-10:
            assert 0.01 < base.gap * angle < 1.0
    Y = robot.regressor(*np.random.default_rng(4).uniform(-2.0, 2.0, (3, robot.n)))
    assert_close(Y[:, base.independent] @ base.mapping, Y, 1e-10 + 2.0 * angle)


def test_a_number_of_base_parameters_that_depends_on_the_tolerance():
    robot = rounded_arm("puma", 1e-6)
    with pytest.warns(ThunderWarning, match="puma has 37 base parameters or another number: .* nearly unidentifiable"):
        assert robot.base_parameters(tolerance=3e-7).gap < 3.0
    assert robot.base_parameters(tolerance=1e-8).count == 38


def test_columns_of_rounding_errors_are_no_base_parameters():
    """A gantry turns no link, so that moments of inertia have columns of rounding errors."""
    placements = [[0.1, 0.3, 0.2, 0.5], [0.2, 1.1, 0.1, -0.3], [0.3, 0.7, 0.4, 0.2]]
    base = th.Robot.from_dh(placements, joint_types="PPP", inertial=[BODY] * 3).base_parameters()
    assert base.names == ("link1.m", "link2.m", "link3.m")
    assert base.gap == np.inf


def test_base_parameters_of_drives(arm):
    """Viscous and Coulomb coefficients, a rotor and armature: armature of joint 1 is in Izz of the first link."""
    base = arm.base_parameters()
    assert {"shoulder.viscous", "shoulder.coulomb", "elbow.viscous", "elbow.coulomb"} <= set(base.names)
    assert "shoulder.armature" not in base.names
    column = base.mapping[:, arm.parameter_names.index("shoulder.armature")]
    assert base.names[int(np.argmax(np.abs(column)))] == "upper.Izz"
    assert_close(np.sort(np.abs(column))[-2:], [0.0, 1.0])


def test_base_parameters_of_many_joints():
    """Any placements, where the leftmost independent columns are hardly independent, and more columns than samples."""
    robot = random_robot(3, 16)
    base = robot.base_parameters(samples=4)
    assert base.condition_number < 1e3
    Y = robot.regressor(*np.random.default_rng(2).uniform(-1, 1, (3, 16)))
    assert_close(Y[:, base.independent] @ base.mapping, Y)


@few
@given(case=cases())
def test_with_parameters_keeps_all_else(case):
    robot, q, dq, ddq, *_ = case
    again = robot.with_parameters(robot.parameters)
    assert again.description == robot.description
    pi = np.random.default_rng(3).normal(size=robot.p)
    other = robot.with_parameters(pi)
    assert_close(other.parameters, pi, 0.0)
    assert other.parameter_names == robot.parameter_names
    assert_close(other.forward_kinematics(q), robot.forward_kinematics(q), 0.0)
    assert_close(
        other.with_parameters(robot.parameters).inverse_dynamics(q, dq, ddq), robot.inverse_dynamics(q, dq, ddq), 0.0
    )


def test_refusals():
    robot = th.Robot.from_dh([[0, 0, 0, 0]], inertial=[BODY])
    assert_refused((lambda: robot.unknown("rotor"), "no parameter of robot is called 'rotor'", UnknownNameError))


def test_split_regressor_of_a_batch(arm):
    q, dq, ddq = np.random.default_rng(0).normal(size=(3, 4, 5, 2))
    chosen = arm.unknown("fore.arm")
    Y = chosen.regressor(q, dq, ddq)
    assert Y.shape == (4, 5, 2, 11)
    assert_close(Y @ chosen.parameters, arm.inverse_dynamics(q, dq, ddq))
