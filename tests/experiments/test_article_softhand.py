"""Figures 12 and 13, Table 8 of the Thunder article: a hand of which the controller does not know."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py.papers.softhand import run as article_softhand
from thunder_py.papers.softhand.setup import HAND_COM, HAND_MASS, TABLE_8, hand_of_table_8, merged


@pytest.fixture(scope="module")
def experiment():
    return article_softhand.run_softhand()


def test_merging_is_the_huygens_steiner_theorem(experiment):
    """Body by body about the common center of mass, against sums about the frame's origin."""
    m, c, inertia = [], [], []
    for dyn in (
        th.model.inertia.dyn_from_reg(experiment.robot.inertial[6]),
        np.array([HAND_MASS, *HAND_COM, *6 * [0.0]]),
    ):
        m.append(dyn[0])
        c.append(dyn[1:4])
        xx, xy, xz, yy, yz, zz = dyn[4:]
        inertia.append(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    center = np.average(c, axis=0, weights=m)
    whole = sum(
        own + mass * ((at - center) @ (at - center) * np.eye(3) - np.outer(at - center, at - center))
        for own, mass, at in zip(inertia, m, c, strict=True)
    )
    expected = [sum(m), *center, *whole[np.triu_indices(3)]]
    np.testing.assert_allclose(th.model.inertia.dyn_from_reg(experiment.truth), expected, atol=1e-14)


def test_table_8_has_the_mass_and_its_center_needs_a_mounting(experiment):
    """T-7: mass adds up; with the hand's base at the flange the center is (0.0590, -0.0036, -0.0017), not Table 8's."""
    m, *c = th.model.inertia.dyn_from_reg(experiment.truth)[:4]
    assert m == pytest.approx(TABLE_8["true"][0], abs=5e-5)
    np.testing.assert_allclose(c, [0.0590, -0.0036, -0.0017], atol=5e-5)
    assert np.abs(np.subtract(c, TABLE_8["true"][1:])).max() > 0.002
    # a hand that is placed so that it does
    moved = th.Payload(mass=HAND_MASS, com=hand_of_table_8(), link="link7")
    again = th.model.inertia.dyn_from_reg(merged(experiment.robot, moved))[1:4]
    np.testing.assert_allclose(again, TABLE_8["true"][1:], atol=5e-6)
    np.testing.assert_allclose(hand_of_table_8() - HAND_COM, [0.005, 0.006, 0.005], atol=1e-3)


@pytest.mark.parametrize(("plant", "factor"), [("ideal", 50.0), ("friction", 3.0)])
def test_adaptation_takes_the_hand_off_the_error(experiment, plant, factor):
    adaptive, fixed = experiment.adaptive[plant], experiment.fixed[plant]
    assert fixed.steady_state.norm > factor * adaptive.steady_state.norm
    assert adaptive.statuses == fixed.statuses == ["ok"]


def test_mass_and_horizontal_moments_are_learnt_and_no_other(experiment):
    truth = experiment.truth
    for plant, mass, moment in (("ideal", 1e-3, 1e-3), ("friction", 0.02, 0.01)):
        estimate = experiment.estimate(plant)
        assert estimate[0] == pytest.approx(truth[0], rel=mass)
        np.testing.assert_allclose(estimate[1:3], truth[1:3], atol=moment)
        # the article's moves about as far as ours and ends as far from its truth
        z = [th.model.inertia.dyn_from_reg(reg)[3] for reg in (experiment.robot.inertial[6], estimate, truth)]
        article = [TABLE_8[name][3] for name in ("initial", "estimate", "true")]
        ours, theirs = ((b - a) / (c - a) for a, b, c in (z, article))
        assert 0.4 < ours < 0.7
        assert theirs == pytest.approx(ours, abs=0.15)
