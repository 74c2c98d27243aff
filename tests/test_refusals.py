import re

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.manipulation.throwing.flight import path


@pytest.mark.parametrize("name", ["base", "tool", "inertial"])
def test_reserved_names_of_links(name):
    with pytest.raises(
        th.errors.ThunderError, match=f"^link name must be none of the reserved names base, .*, got '{name}'$"
    ):
        th.Robot.from_dh([[0, 0, 0, 0]], link_names=[name])


@pytest.mark.parametrize("name", ["q", "labels", "status"])
def test_a_controller_may_not_log_what_the_run_logs(name):
    class Rest:
        def __init__(self):
            self.signals = {name: np.zeros(2)}

        def step(self, t, q, dq, reference):
            return np.zeros(2)

    robot = th.Robot.load("elbow")
    with pytest.raises(
        ValueError, match=f"^controller.signals must not use the names {name}, which the run logs itself$"
    ):
        th.simulate(robot, Rest(), th.reference.SetPoint([0.0, 0.0]), 0.01)


def test_negative_moment_of_inertia():
    dyn = [[1, 0.3, 0, 0, -1, 0, 0, 1, 0, 1]]
    assert_refused(
        (lambda: th.Robot.from_dh([[0, 0, 0, 0]], inertial=dyn), "principal moments of link1 about its center of m...")
    )
    flat = th.Robot.from_dh([[0, 0, 0, 0]], inertial=[[2, 0.3, 0.4, 0, 0, 0, 0, 0, 0, 1]])
    assert flat.inertial[0, 0] == 2.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"q": np.zeros((3, 7)), "dq": np.zeros((1, 7))},
            "dq must be numbers, one row for each of 3 instants, got (1, 7)",
        ),
        ({"tau": np.zeros((3, 6))}, "tau must have shape (3, 7), got (3, 6)"),
        ({"status": np.array([0, 99, 0])}, "status must be values of Status, got [99]"),
        ({"t": np.zeros(0)}, "t must be numbers, one row for each of 0 instants, got (0,)"),
    ],
)
def test_broken_result_files(tmp_path, change, message):
    arrays = {"t": np.arange(3.0), "q": np.zeros((3, 7)), "dq": np.zeros((3, 7)), "tau": np.zeros((3, 7))}
    arrays = {**arrays, "status": np.zeros(3, dtype=int), **change}
    np.savez(tmp_path / "run.npz", **arrays)
    with pytest.raises(th.errors.FileFormatError, match=re.escape(message)):
        th.SimulationResult.load(tmp_path / "run.npz")


def test_payloads_and_logs():
    robot, motion = th.Robot.load("elbow"), th.reference.SetPoint([0.0, 0.0])
    law = th.SlotineLi(robot, 1.0, 1.0, adaptation=None)
    assert_refused(
        (
            lambda: th.simulate(robot, law, motion, 0.01, payloads=[1]),
            "payloads must be a sequence of Payload, got 1 in it",
        ),
        (
            lambda: th.simulate(robot, law, motion, 0.01, payloads=th.Payload(1.0, link=True)),
            "payload link (or its name) must be a whole number from 1 to 2, got True",
        ),
        (lambda: th.simulate(robot, law, motion, 0.01, log="error"), "log must be a sequence of names, got the tex..."),
    )
    assert th.simulate(robot, law, motion, 0.01, payloads=th.Payload(1.0)).q.shape == (11, 2)


_WRIST = th.manipulation.ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
_PROMP = th.motion.ProMP.from_weights(np.zeros((4, 1)), np.eye(4))


def test_refusals():
    assert_refused(
        (lambda: th.Robot.load("elbow").velocity_ellipsoid([0.0, 0.0], rows=[9]), "rows must be increasing whole n...")
    )
    assert_refused(
        ({"friction": {"viscous": [1, 1]}}, "friction must be a Friction or None, got {'viscous': [1, 1]}"),
        ({"limits": [1, 2]}, "limits must be a Limits or None, got [1, 2]"),
        ({"rotors": [3]}, "each of rotors must be a Rotor, got int: 3"),
        call=lambda **fields: th.Robot.load("elbow").replace(**fields),
    )
    assert_refused(
        (lambda: th.spatial.rotation_about(np.array([1.0, 0.0, 0.0]), 0.1), "axis must be one of x, y, z,..."),
        (lambda: _PROMP.mean(None), "tau must be numbers, got NoneType..."),
        (lambda: _PROMP.mean([0.5, None]), "tau must be numbers, got list..."),
        (lambda: _PROMP.rollout().position(None), "t must be numbers..."),
        (lambda: _WRIST.acceleration(None, 0.0, 0.0), "q must be real numbers, got None"),
        (lambda: _WRIST.acceleration(0.0, 0.0, 0.0, ddz=None), "ddz must be real numbers, got None"),
        (lambda: _WRIST.oscillator().step(None), "t must be real numbers, got None"),
        (lambda: _WRIST.oscillator().step_rate([0.0, None]), "t must be real numbers..."),
        (lambda: path([0, 0, 1], [1, 0, 1], None), "t must be real numbers, got None"),
        (lambda: th.recordings.Trial.from_positions([0.0, 1.0], [[0, 0, None], [0, 0, 1]]), "...must be numbers..."),
    )
