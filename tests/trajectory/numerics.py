"""What every trajectory is tested with."""

from collections.abc import Callable

import numpy as np

from thunder_py.reference import JointReference, TaskReference

H = 1e-6


def assert_joint_derivatives(reference: Callable[..., JointReference], t: np.ndarray, atol: float = 2e-6) -> None:
    """Velocity and acceleration are the derivatives of what stands before them, away from corners."""
    before, here, after = reference(t - H), reference(t), reference(t + H)
    np.testing.assert_allclose((after.q - before.q) / (2 * H), here.dq, atol=atol)
    np.testing.assert_allclose((after.dq - before.dq) / (2 * H), here.ddq, atol=atol)


def assert_task_derivatives(reference: Callable[..., TaskReference], t: np.ndarray, atol: float = 2e-6) -> None:
    """The same for poses: R_dot = [w]x R."""
    before, here, after = reference(t - H), reference(t), reference(t + H)
    R_dot = (after.R - before.R) / (2 * H)
    spin = R_dot @ np.swapaxes(here.R, 1, 2)
    w = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    np.testing.assert_allclose(spin, -np.swapaxes(spin, 1, 2), atol=atol)
    np.testing.assert_allclose(np.hstack([(after.p - before.p) / (2 * H), w]), here.xi, atol=atol)
    np.testing.assert_allclose((after.xi - before.xi) / (2 * H), here.xi_dot, atol=atol)


def assert_rests_outside(reference: Callable, start: float, end: float) -> None:
    """Before the start and after the end the values are those at the ends and nothing moves."""
    for outside, at in ((start - 1.0, start), (end + 1.0, end)):
        rest, edge = reference(outside), reference(at)
        np.testing.assert_allclose(rest[0], edge[0], atol=1e-12)
        for part in rest[len(rest) - 2 :]:
            assert not np.any(part)
