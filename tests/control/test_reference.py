import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.reference import JointReference, Lissajous, SetPoint, SetPose, Sinusoid, TaskReference

from .arms import Q0, lissajous, panda

A, F = (0.10, 0.15, 0.10), (0.2, 0.1, 0.4)


def test_lissajous_of_the_article() -> None:
    curve = Lissajous(A, F, center=[1.0, 2.0, 3.0], t0=0.5)
    t = np.linspace(0.0, 10.0, 7)
    tau = 2 * np.pi * (t[:, None] - 0.5) * F
    expected = np.array(A) * np.stack([np.sin(tau[:, 0]), np.cos(tau[:, 1]), np.sin(tau[:, 2])], axis=1) + [1, 2, 3]
    np.testing.assert_allclose(curve(t).p, expected, atol=1e-14)
    np.testing.assert_array_equal(curve(t).R, np.tile(np.eye(3), (7, 1, 1)))


def test_lissajous_starts_where_it_is_told() -> None:
    """Errata T-15: the printed curve starts at center + (0, B, 0)."""
    T = panda().forward_kinematics(Q0)
    np.testing.assert_allclose(lissajous()(0.0).p, T[:3, 3], atol=1e-15)
    np.testing.assert_array_equal(lissajous()(0.0).R, T[:3, :3])
    late = Lissajous.starting_at(T, A, F, t0=2.0)
    np.testing.assert_allclose(late(2.0).p, T[:3, 3], atol=1e-15)
    np.testing.assert_allclose(Lissajous(A, F, center=T[:3, 3])(0.0).p - T[:3, 3], [0.0, A[1], 0.0], atol=1e-15)


@pytest.mark.parametrize("t", [0.0, 0.7, 3.1])
def test_derivatives_are_consistent(t: float) -> None:
    h = 1e-5
    curve, sway = lissajous(), Sinusoid([0.5, 0.2], [0.8, 0.3], center=[1.0, -1.0], phase=0.4)
    np.testing.assert_allclose((curve(t + h).p - curve(t - h).p) / (2 * h), curve(t).xi[:3], atol=1e-9)
    np.testing.assert_allclose((curve(t + h).xi - curve(t - h).xi) / (2 * h), curve(t).xi_dot, atol=1e-8)
    np.testing.assert_allclose((sway(t + h).q - sway(t - h).q) / (2 * h), sway(t).dq, atol=1e-8)
    np.testing.assert_allclose((sway(t + h).dq - sway(t - h).dq) / (2 * h), sway(t).ddq, atol=1e-7)
    assert not curve(t).xi[3:].any()


def test_types_and_batches() -> None:
    sway = Sinusoid([0.5, 0.2], 0.8)
    assert isinstance(sway(0.0), JointReference)
    assert isinstance(lissajous()(0.0), TaskReference)
    assert sway(np.zeros((3, 4))).q.shape == (3, 4, 2)
    assert lissajous()([0.0, 1.0]).xi.shape == (2, 6)
    assert lissajous()([]).R.shape == (0, 3, 3)


def test_rest() -> None:
    point = SetPoint([0.1, 0.2])(5.0)
    np.testing.assert_array_equal(point.q, [0.1, 0.2])
    assert not point.dq.any()
    assert not point.ddq.any()
    T = panda().forward_kinematics(Q0)
    pose = SetPose(T)(5.0)
    np.testing.assert_array_equal(pose.p, T[:3, 3])
    np.testing.assert_array_equal(pose.R, T[:3, :3])
    assert not pose.xi.any()


def test_refusals() -> None:
    assert_refused(
        (lambda: SetPoint([[0.0]]), "q must have shape (n,), got (1, 1)"),
        (lambda: SetPoint([np.nan]), "q must be finite..."),
        (lambda: Sinusoid([1.0, 2.0], [1.0]), "frequency must be a number or 2 numbers, one per joint, got 1"),
        (lambda: Lissajous([1.0, 2.0], F, center=[0, 0, 0]), "amplitude must have shape (3,), got (2,)"),
        (lambda: Lissajous(A, F, center=A, orientation=-np.eye(3)), "orientation must hold a rotation, got a refle..."),
        (lambda: SetPose(np.eye(3)), "T must have shape (4, 4), got (3, 3)"),
        (lambda: lissajous()("now"), "t must be a time or an array of times, got 'now'"),
    )
