"""Figures 6 to 10, Tables 6 and 7 of the Thunder article: order and size of what it prints."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py.papers.gains import run as article_gains
from thunder_py.papers.gains.run import CASES, TABLES
from thunder_py.papers.lissajous.run import controller_of, curve, follow_lissajous, wrong_last_link


@pytest.fixture(scope="module")
def gains():
    return article_gains.run_article_gains()


@pytest.mark.release
def test_published_gains_are_within_a_factor_of_two(gains):
    """Nothing is fitted: gains of the authors' repository, friction of Gaz et al."""
    for name, case in CASES.items():
        assert 0.5 < gains.published[name].steady_state.norm / case.steady_state < 2.0, name
    assert gains.published["fixed"].steady_state.norm == pytest.approx(0.9, abs=0.1)  # Figure 10


@pytest.mark.release
def test_what_the_steady_state_consists_of_is_friction(gains):
    """Without friction, the same six settings end far below what the article prints."""
    for name in (*TABLES["Table 6"], "r_7 = 1"):
        assert gains.ideal[name].steady_state.norm < 0.2 * gains.friction[name].steady_state.norm, name
        assert gains.ideal[name].steady_state.norm < 0.1 * CASES[name].steady_state, name


@pytest.mark.release
def test_larger_k_d_lowers_the_error_and_slows_the_estimate(gains):
    runs = [gains.friction[name].result for name in TABLES["Table 6"]]
    peaks = [run.error_norm().max() for run in runs]
    assert peaks[0] > peaks[1] > peaks[2]
    after_5_s = [abs(run.parameters[500, 60] - gains.truth.parameters[60]) for run in runs]
    assert after_5_s[0] < after_5_s[1] < after_5_s[2]


@pytest.mark.release
def test_a_small_gamma_has_the_estimate_follow_the_friction(gains):
    """The oscillation that the article sees at r_7 = 1 is there with friction only."""

    def swing(runs, name):
        return np.ptp(runs[name].result.parameters[-1000:, 60])

    assert swing(gains.friction, "r_7 = 1") > 2.0 * swing(gains.friction, "r_7 = 10")
    assert swing(gains.friction, "r_7 = 1") > 3.0 * swing(gains.ideal, "r_7 = 1")


@pytest.mark.release
def test_adaptation_takes_an_order_of_magnitude_off(gains):
    """Figure 10, at gains whose Lambda and K_p are not printed: what is left without adaptation depends on both."""
    for runs in (gains.ideal, gains.friction, gains.published):
        assert runs["fixed"].steady_state.norm > 10.0 * runs["K_d2"].steady_state.norm
    assert gains.published["fixed"].steady_state.norm > 2.0 * gains.friction["fixed"].steady_state.norm


def test_without_adaptation_all_three_gains_hold_the_arm():
    """At rest s = J^+ L^-1 Lambda e, so that K_d Lambda is a spring beside K_p."""

    def left(Lambda=1.0, K_p=1.0, K_d=1.0):
        gains = {"K_p": K_p, "Lambda": Lambda}
        controller = controller_of(wrong_last_link(robot), K_d * np.array(CASES["K_d2"].K_d), adaptive=False, **gains)
        return follow_lissajous(robot, controller, curve(robot), 20.0).steady_state.norm

    robot = th.Robot.load("panda")
    printed = left()
    assert left(Lambda=3.0) < 0.7 * printed
    assert left(Lambda=1 / 3) > 1.2 * printed
    assert left(K_d=3.0) < 0.7 * printed
    assert left(K_d=0.5) > 1.1 * printed
    assert left(K_p=3.0) < 0.5 * printed
