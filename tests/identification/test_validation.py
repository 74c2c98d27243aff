"""Held-out logs: errors by hand, paired intervals by textbook formulas, files of the identified robot."""

import base64
import html
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import thunder_py as th
from tests.control.arms import elbow
from tests.identification.test_identify import T as TIMES
from tests.identification.test_identify import motion
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError, ThunderWarning
from thunder_py.identification import Log, compare_models, cross_validate, identify, write_report

T = np.linspace(0.0, 6.0, 301)


def with_friction(robot, coefficients):
    return robot.replace(friction=th.robot.Friction(terms=("viscous",), coefficients=np.reshape(coefficients, (-1, 1))))


@pytest.fixture(scope="module")
def arm():
    return with_friction(elbow(), [2.0, 1.0])


def upright(robot):
    """The same arm where gravity points down, which URDF assumes."""
    return robot.replace(base=th.spatial.pose_from_rpy((0, 0, 0), (0.5 * np.pi, 0, 0)), gravity=(0.0, 0.0, -9.81))


def log_of(robot, seed, noise=0.2):
    rng = np.random.default_rng(seed)
    q, dq, ddq = th.reference.Sinusoid(rng.uniform(0.6, 0.9, 2), rng.uniform(0.3, 0.9, 2), phase=rng.uniform(0, 6, 2))(
        T
    )
    tau = robot.inverse_dynamics(q, dq, ddq) + noise * rng.normal(size=q.shape)
    return Log(t=T, q=q, dq=dq, ddq=ddq, tau=tau, name=f"log <{seed}>")


@pytest.fixture(scope="module")
def logs(arm):
    return [log_of(arm, seed) for seed in range(6)]


@pytest.fixture(scope="module")
def validation(arm, logs):
    return cross_validate(arm, logs, folds=3)


def test_held_out_errors_are_those_of_a_loop_by_hand(arm, logs, validation):
    assert validation.folds.tolist() == [0, 1, 2, 0, 1, 2]
    for i, log in enumerate(logs):
        fit = identify(arm, [other for k, other in enumerate(logs) if k % 3 != i % 3])
        residual = log.tau - fit.robot.inverse_dynamics(log.q, log.dq, log.ddq)
        rms = np.sqrt(np.mean(residual**2, axis=0))
        np.testing.assert_allclose(validation.errors[i].rms, rms, rtol=1e-9)
        np.testing.assert_allclose(validation.errors[i].relative, rms / np.sqrt(np.mean(log.tau**2, axis=0)), rtol=1e-9)
        prediction = validation.predict(i)
        np.testing.assert_allclose(prediction.residual, residual, atol=1e-9)
        np.testing.assert_allclose(prediction.rms, rms, rtol=1e-9)
    pooled = np.sqrt(np.mean([each.rms**2 for each in validation.errors], axis=0))
    np.testing.assert_allclose(validation.error, pooled, rtol=1e-12)
    np.testing.assert_allclose(validation.error, 0.2, rtol=0.1)
    assert validation.table().to_dict()["joint1"]["held-out error [N m or N]"] == validation.error[0]


def test_folds_may_be_given_and_run_elsewhere(arm, logs):
    days = [0, 0, 1, 1, 2, 2]
    here = cross_validate(arm, logs, folds=days)
    there = cross_validate(arm, logs, folds=days, workers=map)
    assert here.folds.tolist() == days
    assert here.scores.tolist() == there.scores.tolist()


def test_differences_are_paired_with_a_corrected_interval(arm, logs):
    comparison = compare_models(arm, logs, {"friction": {}, "none": {"robot": with_friction(elbow(), [0, 0])}}, folds=3)
    none = compare_models(arm, logs, {"friction": {}, "links": {"robot": elbow()}}, folds=3)
    assert none.best == "friction"
    assert comparison.validations["none"].fits[0].base.count == comparison.validations["friction"].fits[0].base.count
    one, other = (none.validations[name].scores for name in ("links", "friction"))
    found = none.difference("links", "friction", level=0.9)
    interval = stats.ttest_rel(one, other).confidence_interval(0.9)
    wider = np.sqrt(1.0 + 6 / 2)  # 1/L + 1/(K - 1) in place of 1/L
    half = 0.5 * (interval.high - interval.low) * wider
    np.testing.assert_allclose(found, np.mean(one - other) + np.array([0.0, -half, half]), rtol=1e-9)
    assert found.significant
    row = none.table().to_dict()["links"]
    assert row["minus the best [%]"] == pytest.approx(100.0 * found.mean)
    assert_refused((lambda: none.difference("link", "friction"), "...no model is called 'link'; did you mean ..."))


def test_errors_in_words(arm, logs):
    assert_refused(
        (lambda: cross_validate(arm, logs[:1]), "...logs must hold at least 2 logs, got 1..."),
        (lambda: cross_validate(arm, logs, folds=7), "...folds must..."),
        (lambda: cross_validate(arm, logs, folds=[0, 2, 2, 0, 2, 2]), "...folds must be numbered 0, 1, ... with a ..."),
        (lambda: compare_models(arm, logs, {"a": {"cutoff": 5.0}, "b": {"cutoff": 9.0}}), "...models must have ..."),
        (lambda: compare_models(arm, logs, {"a": {}, "b": {"hold": 0.01}}), "...models must have the same hold, ..."),
        (lambda: cross_validate(arm, "a.csv"), "...logs must hold at least 2 logs, got 1..."),
        (lambda: compare_models(arm, logs, {}), "...models must hold at least one model..."),
    )


def test_intervals_are_quantiles_of_students_distribution(arm, logs):
    found = identify(arm, logs)
    for level in (0.5, 0.99):
        low, high = stats.t.interval(level, found.freedom, found.base_parameters, found.standard_deviations)
        np.testing.assert_allclose(found.intervals(level).T, [low, high], rtol=1e-12)
    still = log_of(arm, 0)
    still = Log(t=T, q=still.q, dq=0.0 * still.dq, ddq=0.0 * still.ddq, tau=arm.gravity_vector(still.q))
    hidden = identify(arm, still).intervals()[-1]
    assert hidden.tolist() == [-np.inf, np.inf]
    assert_refused((lambda: found.intervals(1.0), "...level must..."))


def test_a_prediction_may_end_early_and_has_the_errors_of_the_log(arm, logs):
    found = identify(arm, logs[:3])
    whole, part = found.predict(logs[4]), found.predict(logs[4], most=100)
    assert part.t.tolist() == T[:100].tolist()
    np.testing.assert_array_equal(part.predicted, whole.predicted[:100])
    errors = found.errors(logs[4])
    assert (errors.name, errors.rows, errors.instants) == ("log <4>", ("joint1", "joint2"), T.size)
    np.testing.assert_allclose(errors.rms, whole.rms, rtol=1e-12)
    assert errors.table().to_dict()["joint2"]["of the torque [%]"] == pytest.approx(100.0 * whole.relative[1])
    assert part.rms.tolist() == whole.rms.tolist() == errors.rms.tolist()
    assert errors.t.size == 0
    assert np.isnan(replace(errors, torque_rms=np.zeros(2)).relative).all()


@pytest.mark.parametrize("suffix", [".yaml", ".urdf", ".xml"])
def test_the_identified_robot_comes_back_from_files(arm, logs, tmp_path, suffix):
    if suffix == ".xml":
        pytest.importorskip("mujoco")
    guess = upright(arm.replace(inertial=1.3 * arm.inertial))
    found = identify(guess, logs, consistent=True)
    found.save(tmp_path / f"identified{suffix}")
    again = th.Robot.load(tmp_path / f"identified{suffix}")
    states = np.random.default_rng(0).normal(size=(3, 20, 2))
    np.testing.assert_allclose(again.inverse_dynamics(*states), found.torque(*states), rtol=1e-6, atol=1e-6)
    assert np.abs(guess.inverse_dynamics(*states) - found.torque(*states)).max() > 1.0


def test_bodies_that_cannot_exist_are_saved_as_yaml_only(arm, logs, tmp_path):
    found = identify(arm.replace(inertial=0.1 * arm.inertial), logs)
    assert found.inconsistent_links()
    for suffix in (".urdf", ".xml"):
        with pytest.raises(ThunderError, match=f"links must be physically consistent in {suffix}.*consistent=True"):
            found.save(tmp_path / f"arm{suffix}")
    found.save(tmp_path / "arm.yaml")
    np.testing.assert_array_equal(th.Robot.load(tmp_path / "arm.yaml").parameters, found.robot.parameters)
    log = log_of(with_friction(elbow(), [-2.0, 1.0]), 0)
    with pytest.warns(ThunderWarning, match=r"^the log asks for negative friction, joint1\.viscous \(-"):
        rising = identify(with_friction(elbow(), [0.0, 0.0]), [log], unknown="friction")
    assert_refused(
        (lambda: rising.save(tmp_path / "arm.urdf"), "...viscous friction of joint1 ..."), error=ThunderError
    )


# --- The report: complete, in one file, safe whatever names are in it ---
@pytest.fixture(scope="module")
def report(arm, logs, validation, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    found = identify(arm, logs)
    models = compare_models(arm, logs, {"friction": {}, "links & more": {"unknown": "inertial"}}, folds=3)
    write_report(
        found,
        path,
        logs=[log_of(arm, 9), replace(log_of(arm, 8), name="")],
        validation=validation,
        comparison=models,
        notes=["a <note>"],
    )
    return found, path.read_text(encoding="utf-8")


@pytest.mark.release
def test_it_has_every_section_and_number_and_loads_nothing(report):
    found, text = report
    assert re.findall("<h[12][^>]*>(.*?)</h[12]>", text) == [
        "Identification of robot", "Warnings", "Torques of held-out logs", "Residuals", "Models", "Parameters",
        "Friction", "Excitation", "Provenance",
    ]  # fmt: skip
    cells = set(map(html.unescape, re.findall("<t[dh][^>]*>(.*?)</t[dh]>", text)))
    assert {*found.base.names, f"{found.base_parameters[0]:.4g}", "log <9>", "held-out log 2", "links & more"} <= cells
    assert th.__version__ in text
    pictures = re.findall(r'src="data:image/svg\+xml;base64,(.*?)"', text)
    assert len(pictures) == 7
    assert not any(re.findall(r"""(?:href|src)=["'](?!#|data:)""", base64.b64decode(x).decode()) for x in pictures)
    assert re.findall(r"""(?:href|src)=["'](?!data:)|url\(|@import|<script""", text) == []
    assert "a &lt;note&gt;" in text
    assert "<note>" not in text


@pytest.mark.parametrize("options", [{"friction": "asymmetric"}, {"sensors": "torque_bias"}])
def test_it_shows_fits_with_further_parameters(arm, tmp_path, options):
    """Bars are of base parameters; rows of the table are of all."""
    log = replace(log_of(arm, 9), dq=None, ddq=None)
    found = identify(arm.replace(friction=None), log, cutoff=20.0, **options)
    write_report(found, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert set(map(html.escape, found.extra_names)) <= set(re.findall("<t[dh][^>]*>(.*?)</t[dh]>", text))


# --- Wrong data are pointed out: signs, units, no motion ---
def doubtful(sign=1.0, scale=1.0, still=False):
    q, dq, ddq = motion(2)
    if still:
        q, dq, ddq = np.full_like(q, 0.3), np.zeros_like(q), np.zeros_like(q)
    tau = sign * elbow().inverse_dynamics(q, dq, ddq) + np.random.default_rng(0).normal(scale=0.1, size=q.shape)
    return Log(t=TIMES, q=scale * q, dq=scale * dq, ddq=scale * ddq, tau=tau)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"sign": -1.0},
            r"^the log fits with correct='tau1=-tau1, tau2=-tau2' of LogFile: the residual of ",
        ),
        ({"scale": 180.0 / np.pi}, r"^the log fits with unit='deg' of LogFile: the residual of joint\d falls from "),
        (
            {"still": True},
            r"^the motion determines only 0 of 6 base parameters, the others keep ",
        ),
    ],
)
def test_wrong_data_are_pointed_out(wrong, message):
    with pytest.warns(ThunderWarning, match=message):
        identify(elbow(), doubtful(**wrong))
