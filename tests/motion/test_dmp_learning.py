"""What movement primitives learn from: recordings, functions, several of them; and what they refuse."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.motion.primitives.dmp import DMP
from thunder_py.recordings.motion_set import MotionSet
from thunder_py.recordings.trial import Trial
from thunder_py.trajectory.hermite import minimum_jerk

REACH = minimum_jerk([0.0, 0.0, 0.0], [0.4, 0.3, 0.25], 5.0)


def _recorded(n: int = 501) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(0.0, 5.0, n)
    return t, REACH.position(t)


def test_functions_samples_and_trials_teach_the_same() -> None:
    t, x = _recorded()
    exact = DMP().fit(REACH).weights_
    given = (t + 7.0, x, REACH.position(t, 1), REACH.position(t, 2))
    trial = Trial(t, x, ("x", "y", "z"), name="reach")
    for demo in ((t, x), given, trial, [trial, (2.0 * t, x)], MotionSet([trial, trial])):
        dmp = DMP().fit(demo)
        np.testing.assert_allclose(dmp.weights_, exact, atol=3e-4)
        assert abs(dmp.duration_ - 5.0) < 1e-12


def test_time_counts_and_not_samples() -> None:
    t, x = _recorded(4001)
    early = np.where(t < 1.0, True, np.arange(len(t)) % 20 == 0)  # twenty times as dense for a fifth of the time
    early[-1] = True
    # five functions cannot follow everywhere, so that it matters what counts
    np.testing.assert_allclose(DMP(5).fit((t[early], x[early])).weights_, DMP(5).fit((t, x)).weights_, atol=5e-4)


def test_several_demonstrations_are_averaged() -> None:
    t, x = _recorded()
    bump = 0.03 * np.sin(np.pi * t / 5.0)[:, None] ** 3 * np.array([0.0, 1.0, -0.5])
    for scaling in ("hoffmann", "paper"):
        both = DMP(scaling=scaling).fit([(t, x + bump), (t, x - bump)])
        np.testing.assert_allclose(both.weights_, DMP(scaling=scaling).fit((t, x)).weights_, atol=1e-6 * both.K)


def test_a_filter_makes_noise_harmless() -> None:
    t, x = _recorded(601)
    noisy = x + 2e-4 * np.random.default_rng(0).normal(size=x.shape)
    raw, filtered = DMP().fit((t, noisy)).rollout(), DMP().fit((t, noisy), cutoff=5.0).rollout()
    jerk = np.linalg.norm(REACH.position(filtered.t, 3), axis=1).mean()
    assert filtered.mean_jerk() < 2.0 * jerk < raw.mean_jerk()
    assert np.abs(filtered.x - REACH.position(filtered.t)).max() < 2e-3


def test_weights_from_elsewhere() -> None:
    dmp = DMP().fit(REACH)
    again = DMP().with_weights(dmp.weights_, dmp.start_, dmp.goal_, dmp.duration_)
    np.testing.assert_array_equal(again.rollout(goal=[1, 1, 1]).x, dmp.rollout(goal=[1, 1, 1]).x)


T9, X9 = _recorded(9)
T99, X99 = _recorded(99)
GAP = np.where(np.arange(99)[:, None] == 50, np.nan, X99)


def test_bad_demonstrations_are_refused() -> None:
    def given(demonstration):
        return DMP().fit(demonstration)

    assert_refused(
        (lambda: given((0.5 * T9, X9)), "...at least n_basis = 21 samples, got 9..."),
        (lambda: given((T9[:4], X9[:4])), "...at least 6 samples to be differentiated..."),
        (lambda: given((T99, GAP)), "...must have no gaps ...NaN..."),
        (lambda: given(Trial(T99, GAP, ("x", "y", "z"), name="left")), "...demonstration 0 (left) must have no ..."),
        (lambda: given((0.0 * T99, X99)), "...must last longer than 0 s..."),
        (lambda: given((T99[::-1], X99)), "...must last longer than 0 s..."),
        (lambda: given((np.where(np.arange(99) == 7, 0.0, T99), X99)), "...times must increase..."),
        (lambda: given((T99, X99[:50])), "...must have shape (99, n), got (50, 3)..."),
        (lambda: given((T99, X99, X99)), "...got 3 entries..."),
        (lambda: given((T99, X99, X99, X99[:, :2])), "...one shape..."),
        (lambda: given([(T99, X99), (T99, X99[:, :2])]), "...same number of coordinates, got [2, 3]..."),
        (lambda: given([]), "...at least one..."),
        (lambda: given(X99), "...must be a Trial, ... got ndarray..."),
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: DMP(basis="gausian").fit(REACH), "did you mean 'gaussian'"),
        (lambda: DMP(scaling="hofmann").fit(REACH), "did you mean 'hoffmann'"),
        (lambda: DMP(fit="lws").fit(REACH), "did you mean"),
        (lambda: DMP(K=0.0).fit(REACH), "K must be a positive number, got 0.0"),
        (lambda: DMP(K=-1.0).fit(REACH), "K must be"),
        (lambda: DMP(D=-1.0).fit(REACH), "D must be a positive number"),
        (lambda: DMP(scaling="paper", rotodilatation=True).fit(REACH), "rotodilatation must go with"),
        (lambda: DMP().rollout(), "call fit"),
        (lambda: DMP().fit(REACH).step(0.01), "call reset"),
        (lambda: DMP().fit(REACH, cutoff=0.0).rollout(), None),
        (lambda: DMP().fit((T99, X99), cutoff=0.0), "cutoff must be a frequency > 0 Hz"),
        (lambda: DMP().fit((T99, X99), cutoff=20.0), "cutoff must be below half the rate"),
        (lambda: DMP(rotodilatation=True).fit((T99, np.sin(2 * np.pi * T99 / 5.0))), "must not end where they start"),
        (lambda: DMP().fit(REACH).rollout(goal=[1.0, 2.0]), r"goal must have shape \(3,\)"),
        (lambda: DMP().fit(REACH).rollout(start=[1.0, 2.0, np.nan]), "start must be finite"),
        (lambda: DMP().fit(REACH).rollout(duration=0.0), "duration must be a positive number"),
        (lambda: DMP().fit(REACH).rollout(dt=-0.1), "dt must be a positive number"),
        (lambda: DMP().fit(REACH).rollout(dt=1e-9), "dt must give at most 1e7 samples"),
        (lambda: DMP().fit(REACH).rollout(obstacles=[3.0]), r"obstacles\[0\] must be a Sphere"),
        (lambda: DMP().fit(REACH).rollout(potential=2.0), "potential must be a DynamicPotential"),
        (lambda: DMP().fit(REACH).rollout().position(0.0, 4), "derivative must be 0, 1, 2 or 3"),
        (lambda: DMP().with_weights(np.zeros((20, 3)), [0, 0, 0], [1, 1, 1], 1.0), "weights must have shape"),
    ],
)
def test_bad_arguments_are_refused(call, message: str | None) -> None:
    if message is None:  # nothing to differentiate, nothing to filter
        call()
        return
    with pytest.raises(ThunderError, match=message):
        call()


def test_motion_and_basis_are_drawn() -> None:
    dmp = DMP(7, basis="mollifier").fit(minimum_jerk([0.0, 0.0], [0.4, 0.3], 1.0))
    motion = dmp.rollout()
    panels = motion.plot(label="reach")
    assert list(panels) == ["x", "speed", "jerk"]
    np.testing.assert_allclose(panels["speed"].lines[0].get_ydata(), np.linalg.norm(motion.dx, axis=1))
    np.testing.assert_allclose(panels["jerk"].lines[0].get_ydata(), np.linalg.norm(motion.dddx, axis=1))
    shares = np.array([line.get_ydata() for line in dmp.plot_basis().lines])
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    assert_refused((lambda: motion.plot(axes={"force": panels["x"]}), "axes must be named x, speed, jerk, got 'force'"))
    plt.close("all")
