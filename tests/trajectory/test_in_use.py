import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py import geometry, trajectory
from thunder_py.reference import Lissajous, Sinusoid

from ..control.arms import Q0, backstepping, elbow, panda


def test_laws_are_drawn_with_their_jumps() -> None:
    law = trajectory.trapezoidal(duration=2.0, blend=0.25)
    axes = law.plot()
    assert list(axes) == ["s", "ds", "dds"]
    for name, axis in axes.items():
        t, values = axis.lines[0].get_data()
        np.testing.assert_array_equal(values, getattr(law(t), name))
    t, acceleration = axes["dds"].lines[0].get_data()
    jump = np.abs(np.diff(acceleration)) > 0.1
    assert np.diff(t)[jump].max() < 1e-12  # upright, not slanted
    assert jump.sum() == 2
    _, one = plt.subplots()
    assert law.plot(axes={"ds": one}, label="speed") == {"ds": one}
    assert one.lines[0].get_label() == "speed"
    with pytest.raises(ValueError, match=r"^axes must be named s, ds, dds, got 'v'"):
        law.plot(axes={"v": one})
    plt.close("all")


def test_plans_are_drawn() -> None:
    field = trajectory.PotentialField(elbow(), [1.2, 0.4], [geometry.Sphere([0.0, 5.0, 0.0], 0.1)])
    plan = field.plan([0.2, 0.3], seed=1)
    axes = plan.plot()
    np.testing.assert_array_equal([line.get_ydata() for line in axes["q"].lines], plan.path.T)
    np.testing.assert_array_equal(axes["clearance"].lines[0].get_ydata(), plan.clearance)
    assert "reached" in axes["clearance"].get_xlabel()
    film = plan.animate(duration=0.5, fps=4)
    film._func(2)  # type: ignore[attr-defined]
    (space,) = film._fig.axes  # type: ignore[attr-defined]
    tip = np.ravel(space.lines[1].get_data_3d()).reshape(3, -1)[:, -1]
    np.testing.assert_allclose(tip, elbow().forward_kinematics(plan.path[-1])[:3, 3], atol=1e-12)
    assert len(space.collections) == 2  # the obstacle and the bodies of the arm
    film._draw_was_started = True  # type: ignore[attr-defined]  # it is not saved
    plt.close("all")


JOINT = {
    "spline": trajectory.spline([0.0, 0.1, 0.2], [[0.3, 0.8], [0.4, 0.7], [0.3, 0.9]]),
    "Fourier": trajectory.FourierSeries([[0.3, 0.1], [0.2, 0.4]], [[0.1, 0.2], [0.0, 0.1]], [0.3, 0.8], 2.0),
}


def path() -> trajectory.Path:
    T = panda().forward_kinematics(Q0)
    p = T[:3, 3]
    corner = p + np.array([0.0, 0.02, 0.0])
    return trajectory.Path(
        [
            trajectory.Line(p, corner, 0.1),
            trajectory.Circle(corner, p, [1, 0, 0], 0.2, angle=1),
        ],
        anticipation=0.05,
        orientation=trajectory.Orientation.about(T[:3, :3], [0, 0, 1], [0.0, 0.05], 0.2),
    )


@pytest.mark.parametrize("reference", JOINT.values(), ids=JOINT)
def test_joint_trajectories_run_in_the_core_as_in_python(reference) -> None:
    robot = elbow()
    controller = th.SlotineLi(robot, [20, 20], [30, 10], adaptation=None)
    start = {"q0": reference(0.0).q, "dq0": reference(0.0).dq}
    native = th.simulate(robot, controller, reference, 0.2, **start)
    python = th.simulate(robot, controller, lambda t: reference(t), 0.2, **start)
    np.testing.assert_array_equal(native.q, python.q)
    assert np.abs(native.q - reference(native.t).q).max() < 2e-3


def test_task_trajectories_run_in_the_core_as_in_python() -> None:
    reference, controller = path(), backstepping(panda(), adaptation=None)
    native = th.simulate(panda(), controller, reference, 0.1, q0=Q0)
    python = th.simulate(panda(), controller, lambda t: reference(t), 0.1, q0=Q0)
    np.testing.assert_array_equal(native.q, python.q)
    p = panda().forward_kinematics(native.q)[:, :3, 3]
    assert np.abs(p - reference(native.t).p).max() < 1e-3


def test_refusals() -> None:
    assert_refused(
        (lambda: Sinusoid([1.0], [1.0]).plot(), "duration must be given for a Sinusoid, which has none"),
        (lambda: JOINT["spline"].plot(0.0), "duration must be positive, got 0"),
        (lambda: JOINT["spline"].plot(axes={"v": None}), "axes must be named q, dq, ddq, got 'v'..."),
        (lambda: path().plot(axes={"speed": None}), "axes must be named path, p, v, w, got 'speed'"),
    )


def test_pictures() -> None:
    axes = JOINT["spline"].plot()
    assert {name: len(axis.lines) for name, axis in axes.items()} == {"q": 2, "dq": 2, "ddq": 2}
    np.testing.assert_allclose(axes["q"].lines[0].get_ydata()[[0, -1]], 0.3)
    panels = path().plot()
    assert set(panels) == {"path", "p", "v", "w"}
    assert panels["v"].lines[0].get_xdata()[-1] == pytest.approx(path().duration)
    assert Sinusoid([1.0], [1.0]).plot(2.0)["q"].lines[0].get_xdata()[-1] == 2.0
    only = {"v": plt.figure().subplots()}
    assert Lissajous([1, 1, 1], [1, 1, 1], center=[0, 0, 0]).plot(1.0, axes=only) == only
    plt.close("all")
