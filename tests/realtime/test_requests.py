"""Gains, adaptation link by link, reset: all or nothing, while the loop runs."""

import inspect
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import UnknownNameError
from thunder_py.realtime import ControlLoop, Mode
from thunder_py.realtime.configuration import LAWS, LawSpec, build_law

from . import loops
from .loops import HELD, JOINT_LAW, POSE_LAW, Bench, make_loop, make_robot

PANDA = th.Robot.load("panda")
MOTOR = {"name": "MotorPD", "K_p": 60.0, "K_d": 8.0}
TWO_LINKS = {**JOINT_LAW, "adaptation": {"gradient": {"Gamma": 5, "unknown": ["link6", "link7"]}}}


def tracking(law: dict[str, Any] | None = None) -> Bench:
    bench = loops.tracking(1.0, make_robot(payloads=[{"mass": 0.5}]), law=law)
    assert bench.loop.mode is Mode.tracking
    return bench


def test_gains_change_while_the_estimate_goes_on() -> None:
    bench = tracking()
    before = bench.commands[-1].parameters
    changes = {"Lambda": 15, "adaptation": {"gradient": {"Gamma": 50, "unknown": "link7"}}}
    bench.loop.set_gains(changes)
    assert bench.loop.gains == {**{k: v for k, v in JOINT_LAW.items() if k != "name"}, **changes}
    bench.run(0.002)
    np.testing.assert_allclose(bench.commands[-1].parameters, before, atol=1e-3)
    assert (before != PANDA.parameters).any()
    tau = np.array([c.tau for c in bench.commands[-3:]])
    assert np.abs(np.diff(tau, axis=0)).max() < 5.0
    bench.run(1.0)
    assert bench.loop.mode is Mode.tracking


def test_gains_are_taken_all_or_none() -> None:
    bench = tracking()
    law, before = bench.loop._law, bench.loop.gains
    for gains in (
        {"Lambda": 15, "K_d": -1},
        {"Lambda": 15, "Lamda": 1},
        {"Lambda": [1, 2]},
        {"Lambda": "much"},
        {"unknown": "link7"},
        {"adaptation": {"gradient": {"Gamma": 5, "unknown": "link6"}}},
        {"adaptation": 5},
        {"adaptation": None},
        {"adaptation": {"fast": {}}},
    ):
        with pytest.raises(ValueError, match=r"gain|K_d|Lambda|adaptation must"):
            bench.loop.set_gains(gains)
        assert bench.loop.gains == before
        assert bench.loop._law is law


def test_one_link_stands_still_while_another_adapts() -> None:
    bench = tracking(TWO_LINKS)
    assert bench.loop.adapting_links == {"link6": True, "link7": True}
    bench.loop.adapt(False, "link6")
    assert bench.loop.adapting_links == {"link6": False, "link7": True}
    before = bench.commands[-1].parameters
    bench.run(1.0)
    after = bench.commands[-1].parameters
    np.testing.assert_array_equal(after[50:60], before[50:60])
    assert (after[60:70] != before[60:70]).any()
    bench.loop.set_gains({"Lambda": 12})
    assert bench.loop.adapting_links == {"link6": False, "link7": True}
    bench.loop.adapt(True)
    bench.run(0.1)
    assert (bench.commands[-1].parameters[50:60] != before[50:60]).any()


def test_the_estimate_stands_still_while_the_loop_holds() -> None:
    bench = tracking()
    bench.generator = None
    bench.run(1.0)
    assert bench.loop.mode in HELD
    held = bench.commands[-1].parameters
    bench.play(kind="set_point")
    bench.run(0.05)
    first = next(c for c in bench.commands[-50:] if c.mode is Mode.tracking)
    np.testing.assert_array_equal(first.parameters, held)


def test_reset_forgets_the_estimate_and_keeps_gains() -> None:
    bench = tracking(TWO_LINKS)
    bench.loop.set_gains({"Lambda": 12})
    bench.loop.adapt(False, "link6")
    bench.loop.reset()
    assert bench.loop.mode is Mode.starting
    assert bench.loop.period.count == 0
    assert bench.loop.gains["Lambda"] == 12
    assert bench.loop.adapting_links == {"link6": False, "link7": True}
    bench.generator = None
    bench.run(0.01)
    np.testing.assert_array_equal(bench.commands[-1].parameters, PANDA.parameters)
    assert bench.loop.mode in HELD


@pytest.mark.parametrize("name", LAWS)
def test_every_law_can_be_named(name: str) -> None:
    joint = {"K_0": 100, "K_1": 20, "K_p": 200, "K_d": 5, "Lambda": 5, "K": 100, "D": 10, "adaptation": 5,
             "rho": 5, "epsilon": 0.1, "K_x": 5, "K_v": 5,
             "slow": {"name": "SlotineLi", "Lambda": 5, "K_d": 5, "adaptation": "none"}}  # fmt: skip
    takes = inspect.signature(getattr(th.control, name).__init__).parameters
    arguments = {k: v for k, v in joint.items() if k in takes}
    if name == "IndependentJoint":
        arguments |= {"inertia": 1.0, "damping": 1.0}
    if "K_0" in takes and name in ("ACT", "ComputedTorque"):  # one of the pairs
        del arguments["K_p"], arguments["K_d"]
    sees_motors = name in ("CompositeControl", "ElasticSlotineLi", "MotorPD")
    soft = PANDA.replace(elastic=[th.robot.Elastic(joint=j, K=(5e3,), Mm=0.3) for j in (2, 4)])
    law = build_law(soft if sees_motors else PANDA, LawSpec(name, arguments))
    assert law.n == 7
    assert law.sees_motors == sees_motors


def test_what_makes_no_sense_is_refused() -> None:
    soft = PANDA.replace(elastic=[th.robot.Elastic(joint=2, K=(5e3,), Mm=0.3)])
    slow = {"name": "SlotineLi", "Lambda": 5, "K_d": 5, "adaptation": 5}
    natural = {**JOINT_LAW, "adaptation": {"natural": {"gamma": 1, "unknown": "link7"}}}
    loop, fixed = make_loop(), make_loop({**slow, "adaptation": "none"})
    assert_refused(
        (lambda: loop.adapt(False, "link77"), "...did you mean...", UnknownNameError),
        (lambda: loop.adapt(False, "link1"), "...unknown ones..."),
        (lambda: make_loop(POSE_LAW).adapt(False), "...does not adapt..."),
        (lambda: fixed.adapt(True), "...does not adapt..."),
        (lambda: make_loop(natural).adapt(False, "link7.m"), "...all parameters of a link or none..."),
        (
            lambda: build_law(soft, LawSpec("CompositeControl", {"slow": slow, "K_v": 5})),
            "...slow must not adapt in a control loop: set adaptation to none...",
        ),
        (
            lambda: build_law(soft, LawSpec("CompositeControl", {"slow": "PDGravity", "K_v": 5})),
            "...slow must be a mapping, got 'PDGravity'...",
        ),
        (lambda: ControlLoop({"robot": "elbow", "controller": MOTOR}), "...robot must have elastic joints..."),
    )
    number = "...invalid_states must be a positive whole number..."
    assert_refused(
        ({"robot": "pandda"}, "...did you mean 'panda'..."),
        ({"robot": None}, "...robot must be a text..."),
        ({"controller": {"name": "SlotinLi"}}, "...did you mean 'SlotineLi'..."),
        ({"controller": {"name": "SlotineLi"}}, "...it takes..."),
        ({"controller": {**JOINT_LAW, "Lamda": 1}}, "...no argument 'Lamda'..."),
        ({"controller": {**JOINT_LAW, "K_d": -1}}, "...K_d..."),
        ({"torque_limits": -1}, "...torque_limits..."),
        ({"torque_limits": [1, 2]}, "...torque_limits..."),
        ({"hold": {"stiffness": 0}}, "...stiffness..."),
        ({"hold": {"stifness": 1}}, "...no key 'stifness'..."),
        ({"watchdog": 1}, "...no key 'watchdog'..."),
        ({"times": {"state_late": 0}}, "...state_late..."),
        ({"other_joints": "yes"}, "...other_joints..."),
        ({"task": 3}, "...mapping..."),
        ({"task": {"speed": "fast"}}, "...speed..."),
        ({"observer": {}}, "...observer: bandwidth must be..."),
        ({"observer": {"bandwidth": 10, "thresholds": -1}}, "...observer: thresholds must be positive..."),
        ({"observer": {"bandwidth": 10, "order": 3}}, "...order must be 1 or 2, got 3..."),
        ({"observer": {"bandwidth": 10, "samples": 3}}, "...observer has no key 'samples'..."),
        *(({"invalid_states": x}, number) for x in (0, 0.5, -1, True, float("inf"), float("nan"), "many", 1.5)),
        call=lambda **change: ControlLoop({"robot": "panda", "controller": JOINT_LAW, **change}),
    )
