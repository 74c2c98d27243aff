"""The closed loop: integrators against oracles, payloads, limits, Python parts, and what it says to bad input."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import Status
from thunder_py.reference import JointReference, SetPoint, TaskReference
from thunder_py.simulation import Payload

from ..control.arms import Q0, backstepping, elbow, elbow_motion, lissajous, panda


class Idle:
    """No torque at all."""

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
        return np.zeros_like(q)


def slotine_li(robot: th.Robot | None = None) -> th.SlotineLi:
    return th.SlotineLi(robot or elbow(), 5.0, 8.0, adaptation=2.0)


def test_agrees_with_scipy() -> None:
    """An adaptive integrator, on the same plant under the same torques held over each period."""
    run = th.simulate(elbow(), slotine_li(), elbow_motion(), 1.0, 1e-3, control_period=1e-2, log=())
    x = np.concatenate([run.q[0], run.dq[0]])
    for k in range(len(run.t) - 1):
        solution = solve_ivp(
            lambda _, x, tau: np.concatenate([x[2:], elbow().forward_dynamics(x[:2], x[2:], tau)]),
            (0.0, 1e-2), x, args=(run.tau[k],), rtol=1e-11, atol=1e-12,
        )  # fmt: skip
        x = solution.y[:, -1]
    np.testing.assert_allclose(x, np.concatenate([run.q[-1], run.dq[-1]]), atol=1e-8)


def test_times_and_rows() -> None:
    run = th.simulate(elbow(), slotine_li(), elbow_motion(), 0.1, 1e-3, control_period=5e-3)
    np.testing.assert_allclose(run.t, np.arange(21) * 5e-3, atol=1e-15)
    thinned = th.simulate(elbow(), slotine_li(), elbow_motion(), 0.1, 1e-3, control_period=5e-3, log_every=8)
    np.testing.assert_array_equal(thinned.t, run.t[[0, 8, 16, 20]])  # the end is always there
    np.testing.assert_array_equal(thinned.q, run.q[[0, 8, 16, 20]])
    np.testing.assert_array_equal(thinned.parameters, run.parameters[[0, 8, 16, 20]])


def test_python_controller_equals_the_core() -> None:
    class Wrapped:
        def __init__(self) -> None:
            self.law = slotine_li()

        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: JointReference) -> np.ndarray:
            return self.law.step(t, q, dq, reference)

        @property
        def signals(self) -> dict[str, np.ndarray]:
            return self.law.signals

        @property
        def status(self) -> Status:
            return self.law.status

    core = th.simulate(elbow(), slotine_li(), elbow_motion(), 0.5)
    python = th.simulate(elbow(), Wrapped(), elbow_motion(), 0.5)
    for name in ("t", "q", "dq", "tau", "status", "error", "s", "parameters"):
        np.testing.assert_array_equal(getattr(python, name), getattr(core, name), err_msg=name)


def test_python_reference_and_plant_equal_the_core() -> None:
    class Plant:
        n = 2

        def forward_dynamics(self, q: np.ndarray, dq: np.ndarray, tau: np.ndarray) -> np.ndarray:
            return elbow().forward_dynamics(q, dq, tau)

    core = th.simulate(elbow(), slotine_li(), elbow_motion(), 0.3)
    motion = elbow_motion()
    python = th.simulate(Plant(), slotine_li(), lambda t: motion(t), 0.3)
    np.testing.assert_array_equal(python.q, core.q)
    np.testing.assert_array_equal(python.parameters, core.parameters)


def test_subclasses_in_python_are_called() -> None:
    class Quiet(th.SlotineLi):
        def step(self, *arguments: object) -> np.ndarray:  # type: ignore[override]
            return np.zeros(2)

    class Still(th.Robot):
        def forward_dynamics(self, q, dq, tau, **options):  # type: ignore[no-untyped-def, override]
            return np.zeros(2)

    quiet = th.simulate(elbow(), Quiet(elbow(), 5.0, 8.0, adaptation=2.0), elbow_motion(), 0.01)
    assert not quiet.tau.any()
    still = th.simulate(Still(elbow().description), slotine_li(), elbow_motion(), 0.01)
    assert not still.dq.any()


def test_payload_appears_in_time() -> None:
    body = Payload(2.0, com=[0.1, -0.05, 0.2], inertia=np.diag([0.01, 0.02, 0.03]), link="link7", time=0.2)
    law, hold = backstepping(panda(), adaptation=None), th.reference.SetPose(panda().forward_kinematics(Q0))
    run = th.simulate(panda(), law, hold, 0.4, q0=Q0, payloads=[body])
    assert np.abs(run.q[run.t <= 0.2] - Q0).max() < 1e-10
    assert np.abs(run.q[run.t > 0.25] - Q0).max() > 1e-4
    # afterwards the plant is the arm with both bodies
    loaded = panda().parameters.copy()
    loaded[60:] += body.parameters
    start = int(np.searchsorted(run.t, 0.3))
    heavy = th.simulate(panda().with_parameters(loaded), law, hold, 0.1, q0=run.q[start], dq0=run.dq[start])
    np.testing.assert_allclose(heavy.q, run.q[start:], atol=1e-9)


def test_torque_limits_clip_and_say_so() -> None:
    free = th.simulate(elbow(), slotine_li(), elbow_motion(), 0.5, q0=[1.5, -1.0])
    limited = th.simulate(elbow(), slotine_li(), elbow_motion(), 0.5, q0=[1.5, -1.0], torque_limits=[5.0, np.inf])
    assert np.abs(free.tau[:, 0]).max() > 5.0
    assert np.abs(limited.tau[:, 0]).max() == 5.0
    assert np.abs(limited.tau[:, 1]).max() > 5.0
    np.testing.assert_array_equal(limited.status == Status.saturated, np.abs(limited.tau[:, 0]) == 5.0)


def test_log_selection() -> None:
    def run(**options: object) -> th.SimulationResult:
        return th.simulate(elbow(), slotine_li(), elbow_motion(), 0.01, **options)  # type: ignore[arg-type]

    assert set(run().signals) == {"error", "s", "parameters"}
    assert set(run(log=("tau", "parameters")).signals) == {"parameters"}
    bare = run(log=())
    assert not bare.signals
    with pytest.raises(AttributeError, match=re.escape("signal 'error' was not logged (logged: none)")):
        _ = bare.error
    with pytest.raises(ValueError, match=r"log: the controller has no signal 'err', it has: parameters, error, s"):
        run(log=("err",))


def test_progress_is_told() -> None:
    parts: list[float] = []
    th.simulate(elbow(), Idle(), SetPoint([0.0, 0.0]), 0.3, 1e-5, progress=parts.append)
    assert parts[-1] == 1.0
    assert parts == sorted(parts)


def test_errors_of_python_parts_come_through() -> None:
    class Broken(Idle):
        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            raise KeyError("no such gain")

    class Short(Idle):
        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            return np.zeros(3)

    assert_refused(
        (lambda: th.simulate(elbow(), Broken(), elbow_motion(), 1.0), "...no such gain...", KeyError),
        (lambda: th.simulate(elbow(), Short(), elbow_motion(), 1.0), "...result of controller.step must have shape..."),
        (lambda: th.simulate(elbow(), slotine_li(), elbow_motion(), 1e4, progress=_stop), "...stop...", RuntimeError),
    )


def _stop(done: float) -> None:
    raise RuntimeError("stop")


def test_interrupt_ends_a_run_in_the_core() -> None:
    # a shell that starts the tests in the background may have it ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            th.simulate(elbow(), slotine_li(), elbow_motion(), 1e4, log_every=10**6)
        assert time.monotonic() - start < 10.0
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


PLANT = SimpleNamespace(n=2, forward_dynamics=lambda q, dq, tau: tau)
BAD = [
    ({"duration": 0.0}, "duration must be positive, got 0"),
    ({"duration": np.nan}, "duration must be positive, got nan"),
    ({"dt": -1e-3}, "dt must be positive, got -0.001"),
    ({"dt": "fast"}, "dt must be positive, got 'fast'"),
    ({"control_period": 1.5e-3}, "control_period must be a whole multiple of dt = 0.001, got 0.0015"),
    ({"control_period": 1e-4}, "control_period must be a whole multiple of dt = 0.001, got 0.0001"),
    ({"q0": [0.0]}, "q0 must have shape (2,), got (1,)"),
    ({"dq0": [0.0, np.nan]}, "dq0 must be finite"),
    ({"torque_limits": [1.0]}, "torque_limits must be a number or 2 numbers, one per joint, got 1"),
    ({"torque_limits": 0.0}, "torque_limits must be positive, got [0.0, 0.0]"),
    ({"log_every": 0}, "log_every must be a whole number of at least 1, got 0"),
    ({"log_every": 1.5}, "log_every must be a whole number of at least 1, got 1.5"),
    (
        {"integrator": "euler"},
        "integrator must be one of rk4, implicit_midpoint, semi_implicit_euler, adaptive, plant, "
        "got 'euler'",
    ),
    ({"reference": 3}, "reference must be callable with the time, got int"),
    ({"reference": SetPoint([0.0, 0.0, 0.0]), "q0": [0, 0]}, "reference must have 2 joints, got 3"),
    ({"plant": PLANT, "payloads": [Payload(1.0)]}, "payloads need a plant that is a Robot"),
    ({"plant": 3}, "plant must have a method forward_dynamics, got int"),
    ({"controller": 3}, "controller must have a method step, got int"),
    ({"plant": th.Robot}, "plant must be an object, such as Robot(...), got the class Robot itself"),
    ({"controller": th.SlotineLi}, "controller must be an object, such as SlotineLi(...), got the class Slot"),
    ({"reference": SetPoint}, "reference must be an object, such as SetPoint(...), got the class SetPoint itself"),
    ({"payloads": [Payload(1.0, link=3)]}, "payload link (or its name) must be a whole number from 1 to 2, got 3"),
    ({"payloads": [Payload(1.0, link="link9")]}, "must be a link, got 'link9'; did you mean 'link"),
]  # fmt: skip


def test_bad_arguments_say_what_came() -> None:
    good = {"plant": elbow(), "controller": slotine_li(), "reference": elbow_motion(), "duration": 0.01}
    assert_refused(
        *((changes, f"...{message}...") for changes, message in BAD),
        call=lambda **changes: th.simulate(**{**good, **changes}),
    )


def test_nan_of_a_python_reference_is_a_status() -> None:
    def lost(t: float) -> TaskReference:
        here = lissajous()(t)
        return here if t < 0.005 else here._replace(p=np.full(3, np.nan))

    run = th.simulate(panda(), backstepping(panda()), lost, 0.01, q0=Q0)
    np.testing.assert_array_equal(run.status, [Status.ok] * 5 + [Status.invalid_input] * 6)
    assert np.isfinite(run.tau).all()


def test_refusals() -> None:
    assert_refused(
        ({"mass": -1.0}, "payload mass must not be negative, got -1"),
        ({"mass": 1.0, "time": -1.0}, "payload time must not be negative, got -1"),
        ({"mass": 1.0, "com": [0, 0]}, "payload com must have shape (3,), got (2,)"),
        ({"mass": 1.0, "inertia": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}, "payload inertia must be symmetric..."),
        ({"mass": 1.0, "inertia": np.diag([1, 1, -1])}, "payload inertia must not have a negative eigenvalue..."),
        call=Payload,
    )
    assert_refused(
        (lambda: th.simulate(panda(), backstepping(panda()), lissajous(), 1.0), "q0 must be given unless the refer..."),
        (
            lambda: th.simulate(elbow(), backstepping(panda()), lissajous(), 1.0, q0=[0, 0]),
            "controller must have the plant's 2 joints, got 7",
        ),
        (lambda: th.simulate(panda(), backstepping(panda()), SetPoint(Q0), 1.0), "this controller follows task-spa..."),
    )
