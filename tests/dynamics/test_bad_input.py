import dataclasses
import re

import numpy as np
import pytest

from tests.dynamics.quantities import INPUTS, kernel
from tests.dynamics.random_chains import random_robot
from thunder_py.model.description import Elastic

#: every joint is elastic, so that all vectors have the same length
ROBOT = random_robot(5, 3, joints="R", friction=True, rotors=True, armature=True).replace(
    elastic=[Elastic(joint=i, K=(10.0, 1.0), D=(0.5,), Dm=(0.1,), Mm=0.2) for i in (1, 2, 3)]
)
GOOD = np.array([0.1, -0.2, 0.3])
PARAMETERS = np.ones(ROBOT.p)
FRAMES = (
    "forward_kinematics",
    "jacobian",
    "jacobian_dot",
    "jacobian_ddot",
    "jacobian_derivative",
    "operational_space_inertia",
    "operational_space_inertia_derivative",
    "manipulability",
)


def call(name, **changed):
    """Call a quantity with good vectors but for `changed`."""
    vectors = {vector: changed.pop(vector, PARAMETERS if vector == "pi" else GOOD) for vector in INPUTS[name]}
    return kernel(ROBOT, name)(*vectors.values(), **changed)


def assert_refused(message, name, **changed):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call(name, **changed)


VECTORS = [(name, vector) for name, vectors in INPUTS.items() for vector in vectors if vector != "pi"]


def test_wrong_shape():
    for name, vector in VECTORS:
        for wrong in (np.zeros(2), np.zeros(4), np.zeros(0), np.zeros((3, 2)), np.array(0.5), np.zeros((2, 3, 1))):
            assert_refused(f"{vector} must have shape (..., 3), got {wrong.shape}", name, **{vector: wrong})
        assert_refused(f"{vector} must have shape (..., 3), got (4,)", name, **{vector: [0, 1, 2, 3]})
        assert_refused(f"{vector} must have shape (..., 3), got ()", name, **{vector: 0.5})


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_one_number_in_a_batch_that_is_not_finite(wrong):
    """Wherever it stands; numbers near the ends of the range are finite."""
    for count in (1, 2, 3, 5, 8):
        q = np.resize([1e308, -1e308, 5e-324, 0.0, -0.0], (count, 3))
        for index in np.ndindex(q.shape):
            bad = q.copy()
            bad[index] = wrong
            assert_refused(f"q must be finite, got {wrong} at index {index}", "gravity_vector", q=bad)
        assert np.shape(call("gravity_vector", q=0.0 * q)) == q.shape


def test_not_real_numbers():
    for name, vector in VECTORS:
        wrong = ["abc", ["a", "b", "c"], None, [None] * 3, GOOD + 0j, [[1, 2, 3], [1, 2]], {"q": 1}, object(), b"xyz"]
        for value in wrong:
            text = repr(value)[:120]
            assert_refused(f"{vector} must be an array of real numbers, got {text}", name, **{vector: value})


@pytest.mark.parametrize(("value", "text"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_not_finite(value, text):
    for name, vector in VECTORS:
        one = GOOD.copy()
        one[2] = value
        assert_refused(f"{vector} must be finite, got {text} at index (2,)", name, **{vector: one})
        assert_refused(f"{vector} must be finite, got {text} at index (2,)", name, **{vector: one.tolist()})
        assert_refused(f"{vector} must be finite, got {text} at index (2,)", name, **{vector: one.astype(np.float32)})
        many = np.tile(GOOD, (4, 5, 1))
        many[2, 3, 1] = many[3, 0, 0] = value
        assert_refused(f"{vector} must be finite, got {text} at index (2, 3, 1)", name, **{vector: many})


def test_parameters_have_their_own_length():
    for wrong in (GOOD, PARAMETERS[:-1]):
        message = f"pi must have shape (..., {ROBOT.p}), got {wrong.shape}"
        assert_refused(message, "regressor_product_derivatives", pi=wrong)


def test_the_first_bad_argument_is_named():
    assert_refused("dq must be finite, got nan at index (0,)", "inverse_dynamics", dq=[np.nan, 0, 0], ddq=[0])


def test_batches_that_do_not_broadcast():
    for shapes, text in [
        (((2, 3), (4, 3)), "q (2,), dq (4,)"),
        (((2, 5, 3), (4, 3)), "q (2, 5), dq (4,)"),
        (((0, 3), (2, 3)), "q (0,), dq (2,)"),
    ]:
        q, dq = map(np.zeros, shapes)
        assert_refused(f"batch shapes do not broadcast: {text}", "coriolis_matrix", q=q, dq=dq)


def test_unknown_frame():
    known = "base, link1, link2, link3, tool, camera"
    assert_refused(f"frame must be a link index 0 to 3 or one of {known}; got {2**32 + 1}", "jacobian", frame=2**32 + 1)
    for name, wrong in ((name, wrong) for name in FRAMES for wrong in ("link4", "", "Camera", 4, -1, 1.0, 10**30, [1])):
        assert_refused(f"frame must be a link index 0 to 3 or one of {known}; got {wrong!r}", name, frame=wrong)


@pytest.mark.parametrize(
    "name", ["operational_space_inertia", "operational_space_inertia_derivative", "manipulability"]
)
def test_rows(name):
    for wrong in ([0, 6], [-1], [], [1, 0], [0, 0], "01", [1.5], [10**12], 3):
        assert_refused(f"rows must be increasing whole numbers from 0 to 5, got {wrong!r}", name, rows=wrong)


def test_threads():
    for name in INPUTS:
        assert_refused("threads must be a whole number from 0 (one per core) to 1024, got -1", name, threads=-1)


def test_motors_belong_to_elastic_joints():
    rigid, mixed = ROBOT.replace(elastic=()), ROBOT.replace(elastic=ROBOT.description.elastic[1:])
    for name in (name for name, vectors in INPUTS.items() if {"x", "dx", "ddx"} & {*vectors}):
        vectors = [GOOD] * len(INPUTS[name])
        with pytest.raises(ValueError, match=rf"^{name} needs elastic joints, and random has none$"):
            kernel(rigid, name)(*vectors)
        first = next(vector for vector in INPUTS[name] if vector in ("x", "dx", "ddx"))
        with pytest.raises(ValueError, match=rf"^{first} must have shape \(..., 2\), got \(3,\)$"):
            kernel(mixed, name)(*vectors)


def test_motors_without_inertia():
    drives = [dataclasses.replace(drive, Mm=0.0 if drive.joint == 2 else 1.0) for drive in ROBOT.description.elastic]
    robot = ROBOT.replace(elastic=drives)
    assert robot.motor_inertia_torque(GOOD)[1] == 0.0
    with pytest.raises(ValueError, match=r"^motor inertia Mm of joint2 must be > 0 for forward dynamics, got 0.0$"):
        robot.elastic_forward_dynamics(GOOD, GOOD, GOOD, GOOD, GOOD)


def test_parameter_vector():
    for wrong, message in [
        (np.zeros(5), rf"^parameters must have shape \({ROBOT.p},\), got \(5,\)$"),
        (np.zeros((1, ROBOT.p)), rf"^parameters must have shape \({ROBOT.p},\), got \(1, {ROBOT.p}\)$"),
        (np.full(ROBOT.p, np.nan), r"^parameters must be finite, got array\(\[nan, nan, .* \.\.\.$"),
    ]:
        with pytest.raises(ValueError, match=message):
            ROBOT.with_parameters(wrong)


def test_parameters_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        ROBOT.parameters[0] = 1.0


def test_nothing_is_written_when_an_input_is_refused():
    out = np.full((3, 3), 7.0)
    with pytest.raises(ValueError, match=r"^q must be finite"):
        ROBOT.mass_matrix([np.nan, 0, 0], out=out)
    assert (out == 7.0).all()


def test_an_argument_by_place_and_by_name():
    for name, vectors in INPUTS.items():
        for vector in vectors:
            with pytest.raises(TypeError, match=rf"^{name}\(\) got multiple values for argument '{vector}'$"):
                kernel(ROBOT, name)(*[GOOD] * len(vectors), **{vector: GOOD})
        if name in FRAMES:
            with pytest.raises(TypeError, match=rf"^{name}\(\) got multiple values for argument 'frame'$"):
                kernel(ROBOT, name)(*[GOOD] * len(vectors), 0, frame=0)
