"""The core's own sine and cosine, through the pose of one joint, against fifty digits."""

import mpmath
import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.quantities import INSTRUCTION_SETS, use_instruction_set

JOINT = th.Robot.from_dh([[0.0, 0.0, 0.0, 0.0]])


def angles() -> np.ndarray:
    """Angles of all sizes, and the doubles next to multiples of a quarter turn, where most digits cancel."""
    rng = np.random.default_rng(0)
    spread = rng.uniform(-1, 1, 2000) * 10.0 ** rng.uniform(-12, 8, 2000)
    quarters = np.concatenate([np.arange(-40, 41), rng.integers(-60_000, 60_000, 400)]) * (np.pi / 2)
    eighths = (np.arange(-40, 40) + 0.5) * (np.pi / 2)
    near = np.concatenate([quarters, eighths])
    edge = 1e5 + np.linspace(-1, 1, 21)  # where the library's functions take over
    special = [0.0, 1e-300, 5e-324, 1e15, 1e22, 1e300]
    return np.concatenate([spread, near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf), edge, -edge, special])


@pytest.fixture(scope="module")
def exact():
    """The angles, and pairs of cosine and sine to fifty digits."""
    q = angles()
    with mpmath.workdps(50):
        pairs = [mpmath.cos_sin(mpmath.mpf(float(x))) for x in q]
    return q, pairs


def largest_error(values: np.ndarray, references: list) -> float:
    with mpmath.workdps(50):
        return max(float(abs(mpmath.mpf(float(v)) - r)) for v, r in zip(values, references, strict=True))


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@pytest.mark.parametrize("way", ["single", "batch"])
def test_accuracy(exact, way, instruction_set):
    q, pairs = exact
    with use_instruction_set(instruction_set):
        if way == "single":
            T = np.array([JOINT.forward_kinematics([x]) for x in q])
        else:
            T = JOINT.forward_kinematics(q[:, None])
    assert largest_error(T[:, 1, 0], [sine for _, sine in pairs]) < 3e-16
    assert largest_error(T[:, 0, 0], [cosine for cosine, _ in pairs]) < 3e-16
    np.testing.assert_array_equal(T[:, 0, 1], -T[:, 1, 0])
    np.testing.assert_array_equal(T[:, 1, 1], T[:, 0, 0])


def test_small_angles_keep_their_digits():
    q = np.array([1e-300, 1e-20, 1e-8, 1e-5])
    sine = JOINT.forward_kinematics(q[:, None])[:, 1, 0]
    np.testing.assert_allclose(sine, np.sin(q), rtol=4e-16)
