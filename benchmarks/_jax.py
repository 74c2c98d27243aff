"""Recorded functions in JAX beside the methods of the robot, on large batches."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from _arm import Arm

QUANTITIES = {
    "M": "mass_matrix",
    "C": "coriolis_matrix",
    "G": "gravity_vector",
    "inverse dynamics": "inverse_dynamics",
    "forward dynamics": "forward_dynamics",
    "Y": "regressor",
    "Y_r": "slotine_li_regressor",
}
STATES = 65536
#: states at a time on a CPU, whose caches hold the values of so many
BLOCK = 512


def results(arm: Arm, quick: bool) -> dict[str, Any]:
    """Time compilation and long batches of every quantity, on all cores, and derivatives of inverse dynamics."""
    try:
        import jax
    except ModuleNotFoundError:
        return {"jax": {"reason": "JAX is not installed"}}
    jax.config.update("jax_enable_x64", True)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    robot, rng = arm.robot(), np.random.default_rng(3)
    model = robot.symbolic()
    cases = []
    for name, method in QUANTITIES.items():
        recorded = model.function(method, getattr(model, method)())
        state = rng.uniform(-2.0, 2.0, (len(recorded.arguments), STATES // (16 if quick else 1), arm.n))
        ours = getattr(robot, method)
        out = ours(*state)
        function, given = recorded.to_jax(), jax.device_put(list(state))
        if jax.default_backend() == "cpu":
            function, given = _in_blocks(jax, function), [x.reshape(-1, BLOCK, arm.n) for x in given]
        begin = perf_counter()
        found = jax.block_until_ready(function(*given))
        first = perf_counter() - begin
        assert np.abs(np.asarray(found).reshape(out.shape) - out).max() < 1e-11 * np.abs(out).max(), name
        rounds = 2 if quick else 10
        seconds = _best(lambda: jax.block_until_ready(function(*given)), rounds)  # noqa: B023
        mine = _best(lambda: ours(*state, out=out, threads=0), rounds)  # noqa: B023
        count = state.shape[1]
        case = {"quantity": name, "compile_s": first - seconds, "jax_ns": 1e9 * seconds / count}
        cases.append({**case, "ours_ns": 1e9 * mine / count})
    device = jax.devices()[0]
    return {
        "jax": {
            "version": jax.__version__,
            "device": f"{device.platform} ({device.device_kind})",
            "states": count,
            "cases": cases,
        }
    }


def _in_blocks(jax: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    return jax.jit(lambda *state: jax.lax.map(lambda part: function(*part), state))


def _best(call: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return min(times)
