"""How fast a closed loop runs: the Panda with a wrongly known link 7 under adaptive backstepping, all in C++."""

from __future__ import annotations

from time import perf_counter

import numpy as np

import thunder_py as th
from thunder_py.reference import Lissajous


def steps_per_second(duration: float, rounds: int) -> float:
    """Return control steps (each with one RK4 step of the plant) per second of real time, the best of some runs."""
    plant = th.Robot.load("panda")
    guess = plant.parameters.copy()
    guess[60:70] = th.inertia.reg_from_dyn([2.5, 0.2, 0.2, 0.2, *np.zeros(6)])
    controller = th.Backstepping(
        plant.with_parameters(guess),
        Lambda=5.0,
        K_p=50.0,
        K_d=[20.0] * 4 + [5.0] * 3,
        Gamma=[2.0] + [20.0] * 3 + [200.0] * 6,
        unknown="link7",
    )
    q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
    reference = Lissajous.starting_at(plant.forward_kinematics(q0), [0.10, 0.15, 0.10], [0.2, 0.1, 0.4])

    def run() -> float:
        start = perf_counter()
        result = th.simulate(plant, controller, reference, duration=duration, dt=1e-3, q0=q0)
        assert np.linalg.norm(result.error[-1]) < 0.1, "the loop that is timed must be one that works"
        return (len(result.t) - 1) / (perf_counter() - start)

    return max(run() for _ in range(rounds))
