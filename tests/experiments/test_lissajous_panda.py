"""The article's experiment shows what the article says."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py import papers
from thunder_py.papers.lissajous.run import LISSAJOUS_PANELS


@pytest.fixture(scope="module")
def experiment():
    return papers.run_lissajous_panda()


def test_adaptation_takes_an_order_of_magnitude_off_every_error(experiment):
    assert min(experiment.improvement) >= 10.0
    assert experiment.adaptive.statuses == experiment.fixed.statuses == ["ok"]


def test_only_the_adaptive_run_settles(experiment):
    assert 1.0 < experiment.adaptive.rise_time < 20.0
    assert experiment.fixed.rise_time is None


def test_errors_are_those_of_the_poses(experiment):
    for run in (experiment.adaptive, experiment.fixed):
        T = experiment.robot.forward_kinematics(run.result.q)
        target = experiment.reference(run.result.t)
        np.testing.assert_allclose(run.position_error, np.linalg.norm(target.p - T[:, :3, 3], axis=1), atol=1e-12)
        cosine = (np.einsum("kij,kij->k", target.R, T[:, :3, :3]) - 1.0) / 2.0
        np.testing.assert_allclose(np.cos(run.orientation_error), cosine, atol=1e-12)
        steady = run.result.t >= 30.0
        assert run.steady_state.position == pytest.approx(run.position_error[steady].mean(), rel=1e-12)


def test_it_starts_at_rest_on_the_reference_and_within_limits(experiment):
    limits = experiment.robot.limits
    for run in (experiment.adaptive.result, experiment.fixed.result):
        np.testing.assert_allclose(run.error[0], 0.0, atol=1e-12)
        assert not run.dq[0].any()
        assert (np.abs(run.tau) < limits.effort).all()
        assert (np.abs(run.dq) < limits.velocity).all()
        assert ((limits.lower < run.q) & (run.q < limits.upper)).all()


def test_what_the_torques_see_is_learnt_and_no_more(experiment):
    truth, estimate = experiment.link_7["truth"], experiment.link_7["estimate"][-1]
    np.testing.assert_allclose(estimate[:3], truth[:3], atol=0.01)  # m, c_x, c_y
    assert abs(estimate[3] - truth[3]) > 0.1  # c_z is along gravity


def test_both_runs_come_back_from_one_file(tmp_path):
    short = papers.run_lissajous_panda(0.5)
    short.save(tmp_path / "run.npz")
    assert th.SimulationResult.load(tmp_path / "run.npz") == short.to_result()
    np.testing.assert_array_equal(short.to_result().signals["fixed_tau"], short.fixed.result.tau)


def test_the_figure_draws_on_given_axes_and_on_its_own():
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    short = papers.run_lissajous_panda(0.5)
    figure = Figure()
    given = figure.subplot_mosaic(LISSAJOUS_PANELS)
    axes = given
    assert short.plot(axes) is figure
    np.testing.assert_allclose(axes["position"].lines[1].get_ydata(), 1e3 * short.adaptive.position_error[1:])
    np.testing.assert_array_equal(axes["mcx"].lines[0].get_ydata(), short.adaptive.result.parameters[:, 61])
    assert len(short.plot().axes) == len(given)
    pyplot.close("all")
