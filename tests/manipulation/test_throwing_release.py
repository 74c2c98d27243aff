"""The choice of a release: it hits, it keeps limits, it is better than others, and what cannot be is named."""

import re
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.manipulation import throwing as tw
from thunder_py.manipulation.throwing.release import ReleaseProblem
from thunder_py.trajectory import MotionLimits

from .throws import TARGET, limits_of, thrower

ROBOT = thrower()
LIMITS = limits_of(ROBOT)


def found(**options: Any) -> tw.Release:
    return tw.find_release(ROBOT, TARGET, **{"limits": LIMITS, "starts": 4, **options})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"objective": "limits", "palm": tw.Palm()},
        {"objective": "sensitivity", "acceleration": "free fall"},
        {"acceleration": "hand", "objective": "limits"},
        {"spin_free": False, "region": [[0.2, -0.6, 0.2], [1.2, 0.6, 1.2]]},
    ],
)
def test_a_release_hits_and_keeps_its_limits(options: dict[str, Any]) -> None:
    release = found(**options)
    np.testing.assert_allclose(tw.landing(release.p, release.v, TARGET[2]).p, TARGET, atol=1e-9)
    assert (np.abs(release.q - LIMITS.center) <= LIMITS.half_range).all()
    assert (np.abs(release.dq) <= LIMITS.velocity).all()
    assert (np.abs(release.ddq) <= LIMITS.acceleration).all()
    assert (np.abs(ROBOT.inverse_dynamics(release.q, release.dq, release.ddq)) <= LIMITS.effort).all()
    J, T = ROBOT.jacobian(release.q), ROBOT.forward_kinematics(release.q)
    np.testing.assert_allclose(J[:3] @ release.dq, release.v, atol=1e-12)
    np.testing.assert_allclose(T[:3, 3], release.p, atol=1e-12)
    np.testing.assert_allclose(
        J[:3] @ release.ddq + ROBOT.jacobian_dot(release.q, release.dq)[:3] @ release.dq, release.a, atol=1e-9
    )
    spin = np.linalg.norm(J[3:] @ release.dq)
    assert spin > 1e-3 if options.get("spin_free") is False else spin < 1e-9
    if "palm" in options:
        assert (T[:3, :3] @ options["palm"].axis) @ release.v >= np.cos(options["palm"].angle) * release.speed
    if "region" in options:
        assert (release.p >= np.array(options["region"][0]) - 1e-6).all()
    wanted = {"hand": [0, 0, 0], "free fall": [0, 0, -9.81]}.get(options.get("acceleration", ""))
    if wanted is not None:
        np.testing.assert_allclose(release.a, wanted, atol=1e-6)


@pytest.mark.release
def test_the_same_seed_finds_the_same() -> None:
    np.testing.assert_array_equal(found(seed=3).q, found(seed=3).q)


@pytest.mark.release
def test_objectives_are_minimized() -> None:
    """Each is best by its own measure, and no release of the others from the same starts is better."""
    noise = tw.ReleaseNoise()
    best = {name: found(objective=name, starts=6) for name in ("velocity", "sensitivity")}

    def velocities(release: tw.Release) -> float:
        return float(np.mean((release.dq / LIMITS.velocity) ** 2))

    assert velocities(best["velocity"]) == pytest.approx(best["velocity"].value)
    assert velocities(best["velocity"]) < velocities(best["sensitivity"])
    assert deviation(best["sensitivity"], noise) == pytest.approx(best["sensitivity"].value, rel=1e-5)
    assert deviation(best["sensitivity"], noise) < deviation(best["velocity"], noise)


def deviation(release: tw.Release, noise: tw.ReleaseNoise) -> float:
    """Standard deviation of the landing, all derivatives by differences."""

    def lands(q: Any, dq: Any, t: float = 0.0) -> Any:
        q, dq = q + dq * t + release.ddq * t**2 / 2, dq + release.ddq * t
        state = ROBOT.forward_kinematics(q)[:3, 3], ROBOT.jacobian(q)[:3] @ dq
        return tw.landing(*state, TARGET[2]).p[:2]

    h, q, dq = 1e-6, release.q, release.dq
    total = noise.time**2 * np.sum(((lands(q, dq, h) - lands(q, dq, -h)) / (2 * h)) ** 2)
    for step in h * np.eye(7):
        total += noise.position**2 * np.sum(((lands(q + step, dq) - lands(q - step, dq)) / (2 * h)) ** 2)
        total += noise.velocity**2 * np.sum(((lands(q, dq + step) - lands(q, dq - step)) / (2 * h)) ** 2)
    return float(np.sqrt(total))


@pytest.mark.release
def test_drag_is_aimed_against() -> None:
    release = found(drag=0.1)
    np.testing.assert_allclose(tw.landing_with_drag(release.p, release.v, TARGET[2], drag=0.1).p, TARGET, atol=1e-8)
    assert np.linalg.norm(tw.landing(release.p, release.v, TARGET[2]).p - TARGET) > 1e-3


def test_a_target_too_far_away_is_refused_with_what_binds() -> None:
    with pytest.raises(th.errors.ReleaseError, match=r"needs [0-9.]+ times the limit of velocity of joint") as caught:
        tw.find_release(ROBOT, [3.0, 0.0, 0.0], limits=LIMITS, starts=3)
    assert caught.value.limit.startswith("velocity of joint")


@pytest.mark.release
def test_limits_next_to_zero_are_what_binds() -> None:
    """The least use of a limit is in proportion to it, however small, and no rounding of the target changes it."""
    rng, messages = np.random.default_rng(0), set()
    for k in (2, 6, 9):
        slow = MotionLimits(lower=LIMITS.lower, upper=LIMITS.upper, velocity=10.0**-k)
        for target in TARGET * (1.0 + 1e-15 * rng.standard_normal((2, 3))):
            with pytest.raises(th.errors.ReleaseError, match="times the limit of velocity of joint") as caught:
                tw.find_release(ROBOT, target, limits=slow, starts=3)
            times, joint = re.findall("needs (.*) times .* of (.*), at best", str(caught.value))[0]
            messages.add((round(float(times) * 10.0 ** (2 - k)), joint))
    assert len(messages) == 1


@pytest.mark.release
def test_an_impossible_region_is_refused() -> None:
    with pytest.raises(th.errors.ReleaseError, match="binding: reach, region"):
        tw.find_release(ROBOT, TARGET, limits=LIMITS, starts=2, region=[[2.0, 2.0, 2.0], [3.0, 3.0, 3.0]])


@pytest.mark.release
def test_no_convergence_is_not_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReleaseProblem, "search", lambda *_, **__: None)  # an optimizer that never converges
    region = [[2.0, 2.0, 2.0], [3.0, 3.0, 3.0]]
    for options, limit, message in (
        ({}, "convergence", "in reach, but the search converged from none of 2 starts; more starts may help"),
        ({"region": region}, "reach, region", "binding: reach, region"),
    ):
        with pytest.raises(th.errors.ReleaseError, match=message) as caught:
            tw.find_release(ROBOT, TARGET, starts=2, **options)
        assert caught.value.limit == limit


def test_a_given_release_beyond_a_limit_is_refused() -> None:
    dq = np.zeros(7)
    dq[3] = 1.1 * LIMITS.velocity[3]
    with pytest.raises(th.errors.ReleaseError, match="breaks the velocity of joint4 by 10 %") as caught:
        tw.release_at(ROBOT, LIMITS.center, dq, TARGET, LIMITS)
    assert caught.value.limit == "velocity of joint4"


def test_nonsense_is_refused() -> None:
    assert_refused(
        ({"objective": "velocities"}, "...objective must be one of ...did you mean 'velocity'..."),
        ({"acceleration": "none"}, "...acceleration must be one of..."),
        ({"palm": tw.Palm((0.0, 0.0, 0.0))}, "...palm must have an axis..."),
        ({"palm": tw.Palm(angle=0.0)}, "...palm angle must be positive..."),
        ({"palm": tw.Palm(angle=4.0)}, "...palm must have an axis and an angle..."),
        ({"palm": (0.0, 0.0, 1.0)}, "...palm must be a Palm, got tuple..."),
        ({"limits": 1.0}, "...limits must be a MotionLimits, got float..."),
        ({"noise": 1e-3}, "...noise must be a ReleaseNoise, got float..."),
        ({"region": [[0, 0, 0], [1, 1, 0]]}, "...region must have its lower corner below..."),
        ({"drag": -1.0}, "...drag must not be negative..."),
        ({"starts": 0}, "...starts must be a whole number..."),
        ({"seed": -1}, "...seed must be a whole number..."),
        call=lambda **options: found(**options),
    )


def test_targets_that_are_no_numbers_are_refused() -> None:
    for target in ([1.0, np.nan, 0.0], [1.0, 0.0], "here"):
        with pytest.raises(th.errors.ThunderError, match="target must"):
            tw.find_release(ROBOT, target)
    assert_refused(
        (lambda: tw.find_release("panda", TARGET), "...robot must be a Robot, got str..."),
        (lambda: tw.ReleaseNoise(time=-1.0), "...noise time must not be negative..."),
    )


def test_a_target_above_is_come_down_on() -> None:
    above = np.array([0.9, 0.2, 1.1])
    fast = MotionLimits(lower=LIMITS.lower, upper=LIMITS.upper, velocity=3.0 * LIMITS.velocity)
    release = tw.find_release(ROBOT, above, limits=fast, starts=3, region=[[0.2, -0.6, 0.3], [0.6, 0.6, 0.9]])
    lands = tw.landing(release.p, release.v, above[2])
    np.testing.assert_allclose(lands.p, above, atol=1e-9)
    assert lands.v[2] <= 0.0
