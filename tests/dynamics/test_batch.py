import functools
import os
import subprocess
import sys

import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.numerics import assert_close
from tests.dynamics.quantities import INPUTS, INSTRUCTION_SETS, bound, kernel, size, use_instruction_set
from tests.dynamics.random_chains import random_robot
from tests.refusals import assert_refused

#: batches go through packs of 2, 4 or 8 states: every remainder, and a few hundred
SIZES = (*range(1, 18), 515)
#: rows of the largest batch that are compared
ROWS = [*range(17), *range(505, 515)]


@functools.cache
def arm(n: int = 7) -> th.Robot:
    """All drives and R joints; few joints cannot have six independent rows, so they slide as well."""
    return random_robot(11, n, joints="R" if n >= 6 else "RP", friction=True, rotors=True, armature=True, elastic=True)


def inputs(name: str, robot: th.Robot, *batch: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1.5, 1.5, (*batch, size(robot, vector))) for vector in INPUTS[name]]


def options(name: str, robot: th.Robot) -> dict[str, object]:
    return {"rows": [0]} if name.startswith(("operational_space_inertia", "manipulability")) and robot.n < 6 else {}


def loop(robot: th.Robot, name: str, batches: list[np.ndarray]) -> np.ndarray:
    """One call for each state of broadcast batches."""
    method = functools.partial(kernel(robot, name), **options(name, robot))
    common = np.broadcast_shapes(*(batch.shape[:-1] for batch in batches))
    batches = [np.broadcast_to(batch, (*common, batch.shape[-1])) for batch in batches]
    values = np.array([method(*(np.array(batch[index]) for batch in batches)) for index in np.ndindex(common)])
    return values.reshape(*common, *values.shape[1:])


@pytest.fixture(params=INSTRUCTION_SETS)
def instruction_set(request):
    with use_instruction_set(request.param):
        yield request.param


def test_the_list_of_quantities_is_whole():
    assert set(INPUTS) == bound()


def test_batch_is_a_loop(instruction_set):
    robot = arm()
    for name in INPUTS:
        all_inputs = inputs(name, robot, SIZES[-1])
        expected = loop(robot, name, [x[ROWS] for x in all_inputs])
        for count in SIZES:
            actual = kernel(robot, name)(*(x[:count] for x in all_inputs))
            assert len(actual) == count
            rows = [row for row in ROWS if row < count]
            assert_close(actual[rows], expected[: len(rows)], 1e-11)


@pytest.mark.parametrize(("threads", "count"), [(2, 4095), (3, 4099), (0, 4099)])
def test_threads_share_a_batch(instruction_set, threads, count):
    robot = arm(3)  # a thread is started for every thousand states
    for name in ("inverse_dynamics", "mass_matrix", "coriolis_matrix_algebra"):
        x = inputs(name, robot, count)
        actual = kernel(robot, name)(*x, threads=threads)
        np.testing.assert_array_equal(actual, kernel(robot, name)(*x, threads=1))


@pytest.mark.parametrize("n", [1, 2, 40])
def test_few_and_many_joints(instruction_set, n):
    for name in INPUTS:
        robot = arm(16 if n == 40 and "blocks" in name else n)
        x = inputs(name, robot, 2 if n == 40 else 9)
        assert_close(kernel(robot, name)(*x, **options(name, robot)), loop(robot, name, x), 1e-9 if n == 40 else 1e-11)


def test_broadcasting(instruction_set):
    """Mixed shapes, and each input in turn a batch while the others stay."""
    robot, rng = arm(), np.random.default_rng(0)
    for name, vectors in INPUTS.items():
        if len(vectors) > 1:
            shapes = [(2, 1), (3,), (), (2, 3), (1, 3)]
            x = [rng.uniform(-1.5, 1.5, (*shape, size(robot, v))) for shape, v in zip(shapes, vectors, strict=False)]
            actual = kernel(robot, name)(*x)
            assert actual.shape[:2] == (2, 3)
            assert_close(actual, loop(robot, name, x), 1e-11)
        batches, x = inputs(name, robot, 5), inputs(name, robot, seed=1)
        for k, batch in enumerate(batches):
            mixed = [*x[:k], batch, *x[k + 1 :]]
            assert_close(kernel(robot, name)(*mixed), loop(robot, name, mixed), 1e-11)


def test_empty_batches():
    robot = arm()
    for name, vectors in INPUTS.items():
        x = inputs(name, robot)
        one = np.shape(kernel(robot, name)(*x))
        for batch in [(0,), (0, 3), (3, 0)]:
            result = kernel(robot, name)(*(np.zeros((*batch, size(robot, vector))) for vector in vectors))
            assert result.shape == (*batch, *one)
            assert result.dtype == np.float64
        x[0] = np.zeros((0, *x[0].shape))  # beside single states
        assert kernel(robot, name)(*x).shape == (0, *one)


def test_layouts_and_types():
    robot = arm()
    for name in INPUTS:
        # multiples of 1/8 are exact in every type
        x = [np.round(8 * v) / 8 for v in inputs(name, robot, 5)]
        method = kernel(robot, name)
        expected = method(*x)
        padded = [np.zeros((10, 2 * v.shape[1] + 1)) for v in x]
        for whole, v in zip(padded, x, strict=True):
            whole[::2, 1::2] = v
        variants = {
            "strided": [whole[::2, 1::2] for whole in padded],
            "fortran": [np.asfortranarray(v) for v in x],
            "reversed": [v[::-1, ::-1].copy()[::-1, ::-1] for v in x],
            "float32": [v.astype(np.float32) for v in x],
            "float16": [v.astype(np.float16) for v in x],
            "big-endian": [v.astype(">f8") for v in x],
            "lists": [v.tolist() for v in x],
            "tuples": [tuple(map(tuple, v.tolist())) for v in x],
            "read-only": [np.frombuffer(v.tobytes()).reshape(v.shape) for v in x],
        }
        for values in variants.values():
            np.testing.assert_array_equal(method(*values), expected)
        whole_numbers = [np.round(2 * v).astype(int) for v in x]
        floats = [v.astype(float) for v in whole_numbers]
        np.testing.assert_array_equal(method(*whole_numbers), method(*floats))
        np.testing.assert_array_equal(method(*(v.astype(np.int8) for v in whole_numbers)), method(*floats))


def test_out():
    """It is returned and filled, also where an input lies in its memory, shifted by some entries."""
    robot = arm()
    for name in INPUTS:
        method = kernel(robot, name)
        for batch in [(), (6,), (2, 3)]:
            x = inputs(name, robot, *batch)
            expected = np.asarray(method(*x))
            out = np.full(expected.shape, np.nan)
            assert method(*x, out=out) is out
            np.testing.assert_array_equal(out, expected)
            for k, shift in [(k, shift) for k in range(len(x)) for shift in (0, 3)]:
                memory = np.zeros(max(expected.size, x[k].size) + shift)
                inside = memory[shift : shift + x[k].size].reshape(x[k].shape)
                inside[...] = x[k]
                out = memory[: expected.size].reshape(expected.shape)
                method(*x[:k], inside, *x[k + 1 :], out=out)
                np.testing.assert_array_equal(out, expected)


def test_out_is_checked():
    robot = arm()
    for name in INPUTS:
        x, method = inputs(name, robot, 5), kernel(robot, name)
        shape = method(*x).shape
        frozen = np.zeros(shape)
        frozen.flags.writeable = False
        plain = f"out must be a C-contiguous float64 array of shape {shape}"
        assert_refused(
            *(
                (np.zeros(wrong), f"out must have shape {shape}, got {wrong}")
                for wrong in [(4, *shape[1:]), (*shape, 1), shape[1:]]
            ),
            (frozen, "out must be writeable"),
            (np.zeros(shape, np.float32), plain),
            (np.zeros((2 * shape[0], *shape[1:]))[::2], plain),
            (np.zeros(shape).tolist(), plain),
            call=lambda out, method=method, x=x: method(*x, out=out),
        )
        assert not frozen.any()


def test_out_may_overlap_an_input_that_is_broadcast():
    robot = arm()
    q, dq = inputs("coriolis_matrix", robot)
    many = np.random.default_rng(2).uniform(-1, 1, (6, robot.n))
    expected = robot.inverse_dynamics(q, many, dq)
    memory = np.zeros((6, robot.n))
    memory[2] = q
    robot.inverse_dynamics(memory[2], many, dq, out=memory)
    np.testing.assert_array_equal(memory, expected)


def test_large_angles_in_a_pack(instruction_set):
    """Beyond the range of its own sine and cosine a pack takes the library's, also for one state among small ones."""
    robot = th.Robot.from_dh([[0.5, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0]])
    q = np.random.default_rng(3).uniform(-3, 3, (40, 2))
    q[::3, 0] *= 1e6
    q[1::5, 1] *= 1e12
    R = robot.forward_kinematics(q, 1)
    assert_close(R[:, 1, 0], np.sin(q[:, 0]), 1e-15)
    assert_close(R[:, 0, 0], np.cos(q[:, 0]), 1e-15)
    total = robot.forward_kinematics(q, 2)
    sine = np.sin(q[:, 0]) * np.cos(q[:, 1]) + np.cos(q[:, 0]) * np.sin(q[:, 1])
    assert_close(total[:, 1, 0], sine, 1e-15)


def test_unknown_instruction_set():
    message = f"instruction set 'mmx' is not available: this build on this processor has {', '.join(INSTRUCTION_SETS)}"
    assert_refused((lambda: th._core.use_instruction_set("mmx"), message))


def test_the_environment_chooses_the_instruction_set():
    program = "from thunder_py import _core; print(_core.build_config()['instruction_set'])"
    for name in INSTRUCTION_SETS:
        run = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "THUNDER_ISA": name}, capture_output=True, text=True
        )
        assert run.stdout.strip() == name, run.stderr
    run = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "THUNDER_ISA": "mmx"}, capture_output=True, text=True
    )
    assert run.returncode != 0
    assert "instruction set 'mmx' (from THUNDER_ISA) is not available: this build on this processor has" in run.stderr
