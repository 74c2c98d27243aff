"""How fast closed loops run: the Panda with a wrongly known link 7 under adaptive control, all in C++."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import thunder_py as th
from thunder_py.reference import Lissajous, Sinusoid

MINUTE = 60.0
RUNS, RUN_SECONDS = 16, 10.0

START = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
DAMPING = [20.0] * 4 + [2.0] * 3
GAMMA = [2.0] + [20.0] * 3 + [200.0] * 6  # of each link: m, m c, I


def steps_per_second(duration: float, rounds: int) -> float:
    """Return control steps (each with one RK4 step of the plant) per second of real time, the best of some runs."""
    plant, guess = _arms()
    controller = th.Backstepping(
        guess,
        Lambda=5.0,
        K_p=50.0,
        K_d=[20.0] * 4 + [5.0] * 3,
        adaptation=th.control.GradientAdaptation(GAMMA, unknown="link7"),
    )
    run = th.RunSpec(plant, controller, _curve(plant), duration=duration, dt=1e-3, q0=START)
    return max((len(result.t) - 1) / seconds for seconds, result in (_timed(run) for _ in range(rounds)))


def minutes(rounds: int) -> dict[str, float]:
    """Return what 60 s of adaptive control, all parameters unknown, take [s], the best of some runs, for some laws."""
    return {name: min(_timed(make(MINUTE))[0] for _ in range(rounds)) for name, make in LAWS.items()}


def many(rounds: int) -> dict[str, Any]:
    """Return the seconds that many runs take on one thread and on one for each core, the best of some rounds."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    cores = len(os.sched_getaffinity(0))

    def seconds(workers: int | None) -> float:
        runs = [LAWS["SlotineLi"](RUN_SECONDS) for _ in range(RUNS)]
        start = perf_counter()
        results = th.simulate_many(runs, workers=workers)
        spent = perf_counter() - start
        for result in results:
            _check(result)
        return spent

    best: dict[int | None, float] = {1: np.inf, None: np.inf}
    for _ in range(rounds):
        for workers in best:
            best[workers] = min(best[workers], seconds(workers))
    return {"cores": cores, "one": best[1], "all": best[None]}


def _slotine_li(duration: float) -> th.RunSpec:
    plant, guess = _arms()
    return _run(plant, th.SlotineLi(guess, 5.0, DAMPING, adaptation=GAMMA * plant.n), _wave(), duration)


def _mact(duration: float, gamma: float = 0.0) -> th.RunSpec:
    plant, guess = _arms()
    return _run(
        plant, th.MACT(guess, 400.0, DAMPING, adaptation=GAMMA * plant.n, gamma=gamma, R_t=1.0), _wave(), duration
    )


def _backstepping(duration: float) -> th.RunSpec:
    plant, guess = _arms()
    return _run(plant, th.Backstepping(guess, 5.0, 50.0, DAMPING, adaptation=GAMMA * plant.n), _curve(plant), duration)


LAWS: dict[str, Callable[[float], th.RunSpec]] = {
    "SlotineLi": _slotine_li,
    "Backstepping": _backstepping,
    "MACT (gamma = 0)": _mact,
    "MACT (regressor)": lambda duration: _mact(duration, gamma=1.0),
}


def _arms() -> tuple[th.Robot, th.Robot]:
    """Return the plant, and what the controller takes it for."""
    plant = th.Robot.load("panda")
    guess = plant.parameters.copy()
    guess[60:70] = th.model.inertia.reg_from_dyn([2.5, 0.2, 0.2, 0.2, *np.zeros(6)])
    return plant, plant.with_parameters(guess)


def _wave() -> Sinusoid:
    return Sinusoid(np.full(7, 0.3), np.linspace(0.1, 0.4, 7), center=START)


def _curve(plant: th.Robot) -> Lissajous:
    return Lissajous.starting_at(plant.forward_kinematics(START), [0.10, 0.15, 0.10], [0.2, 0.1, 0.4])


def _run(plant: th.Robot, controller: Any, reference: Any, duration: float) -> th.RunSpec:
    return th.RunSpec(plant, controller, reference, duration=duration, dt=1e-3, q0=START, log_every=10)


def _timed(run: th.RunSpec) -> tuple[float, th.SimulationResult]:
    start = perf_counter()
    result = run()
    spent = perf_counter() - start
    _check(result)
    return spent, result


def _check(result: th.SimulationResult) -> None:
    assert np.linalg.norm(result.error[-1]) < 0.1, "the loop that is timed must be one that works"
