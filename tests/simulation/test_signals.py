"""Errors of controllers of any kind, their units, limits of joints and of torques."""

from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py.errors import LimitWarning

PANDA, ELBOW = th.Robot.load("panda"), th.Robot.load("elbow")
Q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
TARGET = th.reference.SetPoint([0.5, 0.2])


class Law:
    """A controller in Python that holds the arm, whatever the reference."""

    def __init__(self, robot: th.Robot) -> None:
        self.hold = th.PDGravity(robot, 20.0, 2.0)

    def step(self, t: float, q: Any, dq: Any, reference: Any) -> Any:
        return self.hold.step(t, q, dq, th.reference.SetPoint(q)(0.0))


class Reference:
    def __init__(self, **entries: Any) -> None:
        self.__dict__ |= entries


def held(reference: Any, robot: th.Robot = PANDA, **options: Any) -> th.SimulationResult:
    return th.simulate(robot, Law(robot), reference, 0.05, **options)


def test_the_error_of_a_python_controller_is_that_of_the_same_law_in_the_core() -> None:
    class PD:
        def step(self, t: float, q: Any, dq: Any, reference: Any) -> Any:
            return ELBOW.gravity_vector(q) + 50.0 * (reference.q - q) + 10.0 * (reference.dq - dq)

    sensors = th.Sensors(position_noise=1e-3, seed=1)
    ours, native = (
        th.simulate(ELBOW, law, TARGET, 1.0, q0=[0.0, 0.0], sensors=sensors)
        for law in (PD(), th.PDGravity(ELBOW, 50.0, 10.0))
    )
    np.testing.assert_allclose(ours.error, native.error, atol=1e-12)
    np.testing.assert_array_equal(ours.error, TARGET(0.0).q - ours.signals["q_measured"])
    assert ours.names["error"] == native.names["error"]
    table = th.compare_results({"ours": ours, "native": native}).table().to_columns()
    np.testing.assert_allclose(*table["rmse [rad]"], rtol=1e-9)


def test_errors_of_poses_beyond_a_right_angle() -> None:
    T = PANDA.forward_kinematics(Q0)
    p, R = T[:3, 3] + [0.1, 0.0, 0.0], th.spatial.exp([0.0, 0.0, 2.0]) @ T[:3, :3]
    run = held(lambda t: Reference(p=p, R=R), q0=Q0)
    np.testing.assert_allclose(run.error[0], [0.1, 0.0, 0.0, 0.0, 0.0, 2.0], atol=1e-9)
    assert run.error_unit == "m, rad"
    for other in (Reference(p=p), Reference(p=p, R=2.0 * R), Reference(p=p, R="none")):
        point = held(lambda t, other=other: other, q0=Q0)
        np.testing.assert_array_equal(point.error, run.error[:, :3])
        assert point.error_unit == "m"


@pytest.mark.parametrize(
    "reference",
    [None, Reference(q=[0.0] * 3), Reference(q=[np.nan] * 7), Reference(q="none", p=None), Reference(R=np.eye(3))],
)
def test_no_error_without_a_reference(reference: Any) -> None:
    run = held(lambda t: reference, q0=Q0)
    assert "error" not in run.signals
    assert run.error_unit is None


def test_units_keep_joints_and_poses_apart() -> None:
    pose = th.reference.SetPose(PANDA.forward_kinematics(Q0))
    law = th.OperationalSpace(PANDA, K_0=90.0, K_1=19.0, K_d=2.0)
    scara = th.Robot.load("scara")
    runs = {
        "joints": held(th.reference.SetPoint(Q0), q0=Q0),
        "pose": th.simulate(PANDA, law, pose, 0.05, q0=Q0),
        "scara": held(th.reference.SetPoint([0.1] * 4), scara),
        "bare": held(pose, q0=Q0, log=()),
    }
    both = th.compare_results(runs)
    columns = both.table(["peak", "status"]).to_columns()
    assert list(columns) == ["", "peak [rad]", "peak [m, rad]", "peak [rad or m]", "status"]
    for k, (name, unit) in enumerate({"joints": "rad", "pose": "m, rad", "scara": "rad or m"}.items()):
        values = columns[f"peak [{unit}]"]
        assert values[k] == runs[name].peak()
        assert [x for j, x in enumerate(values) if j != k] == [None] * 3
    pytest.importorskip("matplotlib").use("Agg")
    panels = both.plot()
    assert list(panels) == ["error [rad]", "error [m, rad]", "error [rad or m]", "tau"]
    assert [ax.get_ylabel() for ax in panels.values()][1] == "error norm [m, rad]"


@pytest.mark.parametrize("metrics", [None, ["rmse"]])
def test_units_of_many_runs(tmp_path: Any, metrics: Any) -> None:
    pose = th.reference.SetPose(PANDA.forward_kinematics(Q0))
    law = th.OperationalSpace(PANDA, K_0=90.0, K_1=19.0, K_d=2.0)
    specs = [
        th.RunSpec(PANDA, th.PDGravity(PANDA, 20.0, 2.0), th.reference.SetPoint(Q0), 0.01),
        th.RunSpec(PANDA, law, pose, 0.01, q0=Q0),
    ]
    th.simulate_many(specs, metrics=metrics, store=tmp_path)
    columns = th.simulation.Runs.load(tmp_path).columns(["rmse"])
    assert [name for name, values in columns.items() if values[0] is not None] == ["rmse [rad]"]
    assert [name for name, values in columns.items() if values[1] is not None] == ["rmse [m, rad]"]
    with pytest.raises(ValueError, match="metric must have one unit in all runs"):
        th.simulate_many(lambda k: specs[k], [{"k": 0}, {"k": 1}], metrics=metrics).plot_metric("rmse", "k")


@pytest.mark.parametrize(
    ("q0", "dq0", "text"),
    [
        ([0.0] * 7, None, "the position limit of 'joint4' by 0.0[67].* rad, first at t = 0 s;"),
        (Q0, [0.0] * 6 + [3.0], "the velocity limit of 'joint7' by 0.39 rad/s, first at t = 0 s;"),
    ],
)
def test_limits_that_a_run_passes_are_told_once(q0: Any, dq0: Any, text: str) -> None:
    with pytest.warns(LimitWarning, match=f"^the run passes {text}") as told:
        held(th.reference.SetPoint(q0), q0=q0, dq0=dq0)
    assert len(told) == 1


@pytest.mark.parametrize("actuators", [None, th.Actuators(delay=1e-3)])
def test_limits_of_the_run_stop_an_integral(actuators: Any) -> None:
    limits = [12.0, 12.0]

    def wound(law: Any, **options: Any) -> Any:
        run = th.simulate(ELBOW, law, TARGET, 2.0, q0=[-1.5, 0.0], actuators=actuators, **options)
        return run.signals["integral"]

    law, own = (th.PDGravity(ELBOW, 50.0, 20.0, K_i=60.0) for _ in range(2))
    own.torque_limits = limits
    np.testing.assert_array_equal(wound(law, torque_limits=limits), wound(own, torque_limits=limits))
    assert law.torque_limits is None
