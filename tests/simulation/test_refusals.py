"""Bad input of simulations is a ValueError that says what was expected, as soon as it can be known."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import ComputedTorque, DCMotor, IndependentJoint, PassivityBased, PDGravity, RobustUnitVector
from thunder_py.simulation import Actuators, Sensors

from ..control.arms import elbow, elbow_motion


def run(**options: object) -> th.SimulationResult:
    return th.simulate(elbow(), th.SlotineLi(elbow(), 5.0, 8.0, adaptation=2.0), elbow_motion(), 0.01, **options)  # type: ignore[arg-type]


def motor(**entries: object) -> DCMotor:
    return DCMotor(**{"inertia": 1e-4, "damping": 0.0, "torque_constant": 0.05, "resistance": 0.5, **entries})  # type: ignore[arg-type]


LAWS: list[tuple[Callable[..., object], list[float], dict[str, float]]] = [
    *((law, [1.0], {}) for law in (PDGravity, ComputedTorque, PassivityBased)),
    (RobustUnitVector, [1.0, 1.0, 1.0], {}),
    (IndependentJoint, [1.0], {"inertia": 1.0}),
    (IndependentJoint.with_poles, [], {"inertia": 1.0}),
]


def test_motors_of_another_arm() -> None:
    names = ("inertia", "torque_constant", "resistance", "back_emf", "gear_ratio")
    assert_refused(
        *(
            (
                Actuators(motor=motor(**{name: np.ones(7)}), **options),
                "actuators motor ... 2 numbers, one per joint, got 7",
            )
            for name in names
            for options in ({}, {"voltage_limit": 24.0}, {"inductance": 0.1})
        ),
        call=lambda other: run(actuators=other),
    )


@pytest.mark.parametrize(
    ("name", "log", "law", "dt"),
    [("elbow", None, th.PDGravity, 2e-5), ("panda", [], th.PDGravity, 1e-3), ("ur5e", None, th.ComputedTorque, 1e-3)],
)
def test_a_log_is_bounded_in_bytes(name: str, log: list[str] | None, law: type, dt: float) -> None:
    """The bound that is told is the least one: compared with the bytes of the arrays of short runs."""
    robot = th.Robot.load(name)
    rest = th.reference.SetPoint(np.clip(np.full(robot.n, 0.1), robot.limits.lower + 0.1, robot.limits.upper))

    def run(**options: Any) -> th.SimulationResult:
        return th.simulate(robot, law(robot, 0.4, 0.1), rest, dt=dt, log=log, **options)

    def size(result: th.SimulationResult) -> int:
        arrays = (result.t, result.q, result.dq, result.tau, result.x, result.dx, result.status)
        return sum(array.nbytes for array in (*arrays, *result.signals.values()))

    row = size(run(duration=20 * dt)) - size(run(duration=19 * dt))
    duration = 3e8 * dt
    with pytest.raises(ValueError, match=r"^log_every must be at least \d+ for a log of at most 8 GiB, got 2") as error:
        run(duration=duration, log_every=2)
    least = int(re.search(r"at least (\d+)", str(error.value))[1])
    assert (3e8 / least + 2) * row <= 2**33 < (3e8 / (least - 1) + 2) * row
    with pytest.raises(ValueError, match=rf"at least {least} .*, got {least - 1}"):
        run(duration=duration, log_every=least - 1)
    assert f"it has {(1.5e8 + 1) * row / 2**30:.3g} GiB" in str(error.value)


def test_refusals() -> None:
    assert_refused(
        *(
            (partial(law, "panda", 1.0, *rest, **more), "robot must be a Robot, got str: 'panda'")
            for law, rest, more in LAWS
        ),
        *(
            (lambda name=name, part=part: run(**{name: part(delay=1e300)}), f"{name} delay must be at most 1000000 ...")
            for name, part in (("sensors", Sensors), ("actuators", Actuators))
        ),
        (lambda: run(payloads=1.0), "payloads must be a sequence of Payload, got 1.0"),
        (lambda: run(external=1.0), "external must be a sequence of ExternalWrench and ExternalTorque, got 1.0"),
        (lambda: run(log=3), "log must be a sequence of names or None, got 3"),
        (lambda: run(log=["error", 3]), "log must be a sequence of names or None, got ['error', 3]"),
        (lambda: run(progress="yes"), "progress must be True, False or callable, got 'yes'"),
        (lambda: th.simulate_many(3), "runs must be a sequence of RunSpec or a function that makes them, got 3"),
        (lambda: th.compare_results([run()]), 'results must map names to SimulationResult, {"name": run}, got list'),
        (lambda: IndependentJoint.with_poles(elbow(), 1.0, inertia=[1.0, 2.0, 3.0]), "inertia must be a number or..."),
        (lambda: motor(inertia="x"), "inertia must be a number or a row of numbers, got 'x'"),
        (lambda: motor(resistance=[1.0, 1.0], gear_ratio=[1.0] * 3), "...got sizes {'resistance': 2, 'gear_ratio': 3}"),
        (lambda: Actuators(lag="x"), "actuators lag must be a number or a row of numbers, got 'x'"),
        (lambda: Actuators(lag=np.nan), "actuators lag must be finite, got nan"),
        (lambda: Actuators(delay="x"), "actuators delay must not be negative, got 'x'"),
        (lambda: Actuators(delay=-1.0), "actuators delay must not be negative, got -1"),
        (lambda: Actuators(rate_limits=[0.0, 1.0]), "actuators rate_limits must be positive, got [0.0, 1.0]"),
        (lambda: Actuators(motor=motor(), voltage_limit=-1.0), "actuators voltage_limit must be positive, got -1.0"),
        (lambda: Actuators(motor=motor(), inductance=-1.0), "actuators inductance must not be negative, got -1.0"),
        (lambda: Actuators(motor=motor(), compensate_back_emf="no"), "actuators compensate_back_emf must be True o..."),
        (lambda: Sensors(position_noise=np.nan), "sensors position_noise must be finite, got nan"),
        (lambda: Sensors(velocity_noise="x"), "sensors velocity_noise must be a number or a row of numbers, got 'x'"),
        (lambda: Sensors(position_resolution=[-1.0, 0.0]), "...must not be negative, got [-1.0, 0.0]"),
        (lambda: Sensors(position_noise=[[1.0]]), "sensors position_noise must have shape (n,), got (1, 1)"),
        (lambda: Sensors(delay=np.inf), "sensors delay must be finite, got inf"),
    )
