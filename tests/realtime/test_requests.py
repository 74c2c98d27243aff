"""Gains, adaptation link by link, reset: all or nothing, while the loop runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py.errors import ThunderError, UnknownNameError
from thunder_py.realtime import ControlLoop, Mode
from thunder_py.realtime.configuration import LAWS, LawSpec, build_law

from .loops import JOINT_LAW, POSE_LAW, Bench, make_loop, make_robot

PANDA = th.Robot.load("panda")
TWO_LINKS = {**JOINT_LAW, "adaptation": {"gradient": {"Gamma": 5, "unknown": ["link6", "link7"]}}}


def tracking(law: dict[str, Any] | None = None) -> Bench:
    bench = Bench(make_loop(law), make_robot(payloads=[{"mass": 0.5}]))
    bench.run(0.1)
    bench.play(kind="sinusoid", amplitude=0.2, frequency=0.3)
    bench.run(1.0)
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


@pytest.mark.parametrize(
    "gains",
    [
        {"Lambda": 15, "K_d": -1},
        {"Lambda": 15, "Lamda": 1},
        {"Lambda": [1, 2]},
        {"Lambda": "much"},
        {"unknown": "link7"},
        {"adaptation": {"gradient": {"Gamma": 5, "unknown": "link6"}}},
        {"adaptation": 5},
        {"adaptation": None},
        {"adaptation": {"fast": {}}},
    ],
)
def test_gains_are_taken_all_or_none(gains: dict[str, Any]) -> None:
    bench = tracking()
    law, before = bench.loop._law, bench.loop.gains
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


def test_adaptation_that_cannot_be_is_refused() -> None:
    loop = make_loop()
    with pytest.raises(UnknownNameError, match="did you mean"):
        loop.adapt(False, "link77")
    with pytest.raises(ThunderError, match="unknown ones"):
        loop.adapt(False, "link1")
    with pytest.raises(ThunderError, match="does not adapt"):
        make_loop(POSE_LAW).adapt(False)
    with pytest.raises(ThunderError, match="does not adapt"):
        make_loop({"name": "SlotineLi", "Lambda": 5, "K_d": 5, "adaptation": "none"}).adapt(True)
    natural = {**JOINT_LAW, "adaptation": {"natural": {"gamma": 1, "unknown": "link7"}}}
    with pytest.raises(ValueError, match="all parameters of a link or none"):
        make_loop(natural).adapt(False, "link7.m")


def test_the_estimate_stands_still_while_the_loop_holds() -> None:
    bench = tracking()
    bench.generator = None
    bench.run(1.0)
    assert bench.loop.mode is Mode.hold
    held = bench.commands[-1].parameters
    bench.play(kind="set_point")
    bench.run(0.05)
    first = next(c for c in bench.commands[-50:] if c.mode is Mode.tracking)
    np.testing.assert_array_equal(first.parameters, held)


def test_reset_forgets_what_was_learned_and_keeps_gains_and_what_adapts() -> None:
    bench = tracking(TWO_LINKS)
    bench.loop.set_gains({"Lambda": 12})
    bench.loop.adapt(False, "link6")
    bench.loop.reset()
    assert bench.loop.mode is Mode.waiting
    assert bench.loop.period.count == 0
    assert bench.loop.gains["Lambda"] == 12
    assert bench.loop.adapting_links == {"link6": False, "link7": True}
    bench.generator = None
    bench.run(0.01)
    np.testing.assert_array_equal(bench.commands[-1].parameters, PANDA.parameters)
    assert bench.loop.mode is Mode.hold


@pytest.mark.parametrize("name", LAWS)
def test_every_law_can_be_named(name: str) -> None:
    joint = {"K_0": 100, "K_1": 20, "K_p": 200, "K_d": 5, "Lambda": 5, "K": 100, "D": 10, "adaptation": 5,
             "rho": 5, "epsilon": 0.1, "K_x": 5, "K_v": 5,
             "slow": {"name": "SlotineLi", "Lambda": 5, "K_d": 5, "adaptation": "none"}}  # fmt: skip
    import inspect

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


def test_composite_control_takes_a_law_that_does_not_adapt() -> None:
    soft = PANDA.replace(elastic=[th.robot.Elastic(joint=2, K=(5e3,), Mm=0.3)])
    slow = {"name": "SlotineLi", "Lambda": 5, "K_d": 5, "adaptation": 5}
    with pytest.raises(ValueError, match="slow must not adapt in a control loop: set adaptation to none"):
        build_law(soft, LawSpec("CompositeControl", {"slow": slow, "K_v": 5}))
    with pytest.raises(ValueError, match="slow must be a mapping, got 'PDGravity'"):
        build_law(soft, LawSpec("CompositeControl", {"slow": "PDGravity", "K_v": 5}))


@pytest.mark.parametrize(
    ("word", "change"),
    [
        ("did you mean 'panda'", {"robot": "pandda"}),
        ("robot must be a text", {"robot": None}),
        ("did you mean 'SlotineLi'", {"controller": {"name": "SlotinLi"}}),
        ("it takes", {"controller": {"name": "SlotineLi"}}),
        ("no argument 'Lamda'", {"controller": {**JOINT_LAW, "Lamda": 1}}),
        ("K_d", {"controller": {**JOINT_LAW, "K_d": -1}}),
        ("torque_limits", {"torque_limits": -1}),
        ("torque_limits", {"torque_limits": [1, 2]}),
        ("stiffness", {"hold": {"stiffness": 0}}),
        ("no key 'stifness'", {"hold": {"stifness": 1}}),
        ("no key 'watchdog'", {"watchdog": 1}),
        ("state_late", {"times": {"state_late": 0}}),
        ("other_joints", {"other_joints": "yes"}),
        ("mapping", {"task": 3}),
        ("speed", {"task": {"speed": "fast"}}),
    ],
)
def test_configurations_that_make_no_sense_say_so(word: str, change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=word):
        ControlLoop({"robot": "panda", "controller": JOINT_LAW, **change})
