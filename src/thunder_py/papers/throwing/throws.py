"""Throws of all objects with all controllers."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...manipulation.throwing import throw
from .setup import CONTROLLERS, OBJECTS, REPETITIONS, Setup, controller_of

#: by controller and object: miss, RMSE of position and of velocity
Row = dict[tuple[str, str], tuple[Array, Array, Array]]


def throws_of_seed(setup: Setup, seed: int) -> Row:
    """Throw every object once with every controller, all with the same grasp, jitter and noise."""
    result: Row = {}
    grasps, noise, jitter = np.random.SeedSequence(seed).spawn(3)
    rng = np.random.default_rng(grasps)
    for name in OBJECTS:
        grasp = setup.grasp(name, rng)
        sensors = setup.sensors(int(noise.generate_state(1)[0]))
        for controller in CONTROLLERS:
            thrown = throw(
                setup.motion, controller_of(setup, controller), plant=setup.plant, payload=grasp.payload,
                offset=grasp.offset, repetitions=REPETITIONS, hand=setup.opening, sensors=sensors,
                seed=int(jitter.generate_state(1)[0]), torque_limits=setup.robot.limits.effort, log=(),
            )  # fmt: skip
            result[controller, name] = (thrown.miss, thrown.position_errors, thrown.velocity_errors)
    return result
