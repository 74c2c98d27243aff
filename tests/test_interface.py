import csv
import pickle
import re

import numpy as np
import pytest

import thunder_py as th
from thunder_py.motion import FPCA
from thunder_py.recordings.synthetic import minimum_jerk_reaches

ROBOT = th.Robot.load("elbow")
RUN = th.simulate(ROBOT, th.PDGravity(ROBOT, 80.0, 20.0), th.reference.SetPoint([0.3, 0.2]), 0.01)
MOTIONS = minimum_jerk_reaches(6, seed=0)
PROJECTION = FPCA(n_components=2).fit(MOTIONS).project(MOTIONS)


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: th.simulate(ROBOT, T=3.0), "simulate() has no argument 'T'; did you mean 'duration'?"),
        (lambda: th.simulate(ROBOT, time=3.0), "simulate() has no argument 'time'; did you mean 'duration'?"),
        (
            lambda: th.ComputedTorque(ROBOT, Kp=9.0, Kd=6.0),
            "ComputedTorque() has no argument 'Kp'; did you mean 'K_p'?",
        ),
        (lambda: th.SlotineLi(ROBOT, lam=1.0), "SlotineLi() has no argument 'lam'; did you mean 'Lambda'?"),
        (lambda: th.reference.Lissajous(amp=1.0), "Lissajous() has no argument 'amp'; did you mean 'amplitude'?"),
        (lambda: th.Robot.load("arm.urdf", tip="hand"), "Robot.load() has no argument 'tip'; did you mean 'tip_link'?"),
        (lambda: th.Payload(kilograms=1.0), "Payload() has no argument 'kilograms'; its arguments are mass, com, "),
        (lambda: th.tune(ROBOT), "tune() missing "),
        (lambda: th.inverse_kinematics, "module 'thunder_py' has no attribute 'inverse_kinematics'; did you mean 'Inv"),
        (
            lambda: th.Lissajous,
            "module 'thunder_py' has no attribute 'Lissajous'; did you mean 'thunder_py.ref",
        ),
        (
            lambda: th.control.SlotinLi,
            "module 'thunder_py.control' has no attribute 'SlotinLi'; did you mean 'S",
        ),
        (
            lambda: th.RunSpec(ROBOT, None, None, torque_limit=3.0)(),
            "simulate() has no argument 'torque_limit'; did you mean 'torque_limits'?",
        ),
        (lambda: RUN.time, "SimulationResult has no attribute 'time'; did you mean 't'?"),
        (lambda: RUN.torque, "SimulationResult has no attribute 'torque'; did you mean 'tau'?"),
        (lambda: RUN.parameters, "signal 'parameters' was not logged"),
        (lambda: MOTIONS[0].position_x, "Trial has no attribute 'position_x'; did you mean 'position'?"),
    ],
)
def test_wrong_names_are_answered_with_the_nearest(call, answer):
    with pytest.raises((TypeError, AttributeError), match=f"^{re.escape(answer)}"):
        call()


def test_other_mistakes_keep_their_errors():
    with pytest.raises(TypeError, match="positional"):
        th.Payload(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    with pytest.raises(TypeError, match="from the callback"):
        th.samples.grid(gain=_Broken())
    assert not hasattr(th, "no_such_name")


class _Broken:
    def __iter__(self):
        raise TypeError("from the callback")


@pytest.mark.parametrize("thing", [th.simulate, th.simulate.__wrapped__, th.ComputedTorque, th.samples.grid])
def test_what_answers_wrong_arguments_is_pickled_by_name(thing):
    assert pickle.loads(pickle.dumps(thing)) is thing


def test_a_warning_names_the_line_of_the_caller():
    law = th.ComputedTorque(ROBOT, K_0=4e6, K_1=4e3)
    with pytest.warns(RuntimeWarning) as caught:
        th.simulate(ROBOT, law, th.reference.SetPoint([0.3, 0.2]), 0.01)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("name", [name for name in th.__all__ if hasattr(getattr(th, name), "__all__")])
def test_only_public_names_are_listed(name):
    module = getattr(th, name)
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize(
    ("thing", "names", "rows"),
    [
        (RUN, ["t", "q.joint1", "q.joint2", "dq.joint1", "dq.joint2", "tau.joint1", "tau.joint2", "error.joint1"], 11),
        (MOTIONS[0], ["t", "x", "y", "z"], len(MOTIONS[0])),
        (MOTIONS, ["trial", "subject", "task", "name", "t", "x", "y", "z"], sum(map(len, MOTIONS))),
        (PROJECTION, ["score.1.x", "score.1.y", "score.1.z", "score.2.x"], 6),
        (th.compare_results({"PD": RUN}).table(["rmse"]), ["", "rmse [rad]"], 1),
        (th.compare_results({"PD": RUN}), ["", "rmse [rad]"], 1),
    ],
    ids=["run", "trial", "set", "scores", "table", "comparison"],
)
def test_columns_in_data_frames_and_files(tmp_path, thing, names, rows):
    columns = thing.to_columns()
    assert list(columns)[: len(names)] == names
    thing.to_csv(tmp_path / "table.csv")
    header, *lines = csv.reader((tmp_path / "table.csv").read_text(encoding="utf-8").splitlines())
    assert header == list(columns)
    assert len(lines) == rows
    number = names[-1]
    assert [float(line[header.index(number)]) for line in lines] == np.asarray(columns[number]).tolist()
    pytest.importorskip("pandas")
    np.testing.assert_array_equal(thing.to_pandas()[number], columns[number])


def test_gains_in_files_and_notebooks(tmp_path):
    found = th.tune(ROBOT, th.ComputedTorque, period=1e-3)
    found.to_csv(tmp_path / "gains.csv")
    rows = list(csv.reader((tmp_path / "gains.csv").read_text(encoding="utf-8").splitlines()))
    assert [row[0] for row in rows] == ["gain", "bandwidth", "K_0", "K_1", "damping / stable"]
    assert found._repr_html_() == found.table().to_html()


@pytest.mark.parametrize("thing", [ROBOT, RUN, MOTIONS[0], MOTIONS, th.compare_results({"PD": RUN})])
def test_notebooks_show_the_text_and_a_table(thing):
    page = thing._repr_html_()
    assert page.startswith("<p>&lt;")
    assert page.endswith("</table>")


def test_table_in_html_and_latex():
    table = th.simulation.Table(["law & gain", "x^2"], [["K_0 < 1", 0.5]])
    assert table._repr_html_() == (
        "<table><tr><th>law &amp; gain</th><th>x^2</th></tr><tr><td>K_0 &lt; 1</td><td>0.5</td></tr></table>"
    )
    assert table.to_latex().splitlines()[2:5] == [
        r"law \& gain & x\textasciicircum{}2 \\",
        r"\hline",
        r"K\_0 < 1 & 0.5 \\",
    ]


def test_mass_and_payload():
    assert ROBOT.with_payload(th.Payload(0.5)).total_mass == pytest.approx(ROBOT.total_mass + 0.5)


def test_decisions_are_logged(caplog):
    motion = th.Sinusoid([0.8, 0.6], [0.5, 0.8])
    with caplog.at_level("DEBUG", logger="thunder_py"):
        law = th.tune(ROBOT, th.SlotineLi, motion, period=1e-3).controller()
        th.simulate(ROBOT, law, motion, 0.01)
        th.trajectory.time_optimal(ROBOT, [[0.0, 0.0], [0.5, 0.5]], cells=8, velocity=1.0, acceleration=1.0)
    texts = {record.name.removeprefix("thunder_py."): record.getMessage() for record in caplog.records}
    assert "limited by period and delay" in texts["control.tuning"]
    assert texts["simulation.loop"] == "in Python: nothing"
    assert "cells: " in texts["trajectory.retiming"]


def test_many_runs_in_columns(tmp_path):
    runs = th.simulate_many(
        lambda K: th.RunSpec(ROBOT, th.PDGravity(ROBOT, K, 20.0), th.reference.SetPoint([0.3, 0.2]), 0.01),
        th.samples.grid(K=[50.0, 80.0]),
    )
    runs.to_csv(tmp_path / "runs.csv")
    rows = list(csv.DictReader((tmp_path / "runs.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["K"] for row in rows] == ["50.0", "80.0"]
    assert "<td>50</td>" in runs._repr_html_()
