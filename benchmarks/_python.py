"""What calls cost from Python: this package and Pinocchio, batches, and the import."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

import numpy as np
import pinocchio as pin
from _arm import Arm

import thunder_py as th

Call = Callable[[int], Any]  # of the index of a state
STATES = 64


def python_calls(arm: Arm, rounds: int) -> list[dict[str, Any]]:
    """Time one call of each quantity, results into preallocated arrays wherever the library can."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    q, dq, ddq, dq_r, ddq_r, tau = np.random.default_rng(1).uniform(-2, 2, (6, STATES, arm.n))
    states = [list(x) for x in (q, dq, ddq, dq_r, ddq_r, tau)]
    ours, theirs = thunder_calls(arm.robot(), *states), pinocchio_calls(pinocchio_model(arm), *states)
    for name, call in ours.items():
        np.testing.assert_allclose(np.linalg.norm(call(0)), np.linalg.norm(theirs[name](0)), rtol=1e-9, err_msg=name)
    return [
        {"library": library, "quantity": name, **time_calls(calls[name], rounds)}
        for name in ours
        for library, calls in (("thunder_py", ours), ("Pinocchio", theirs))
    ]


def thunder_calls(robot: th.Robot, q: Any, dq: Any, ddq: Any, dq_r: Any, ddq_r: Any, tau: Any) -> dict[str, Call]:
    n = robot.n
    J, M, M_C_Mdot, x, Y = (np.empty(s) for s in ((6, n), (n, n), (3, n, n), (n,), (n, 10 * n)))
    Mdot = M_C_Mdot[2]

    def coriolis(k: int) -> Any:
        robot.mass_and_coriolis(q[k], dq[k], out=M_C_Mdot)
        return Mdot

    return {
        "J": lambda k: robot.jacobian(q[k], out=J),
        "J_dot": lambda k: robot.jacobian_dot(q[k], dq[k], out=J),
        "M": lambda k: robot.mass_matrix(q[k], out=M),
        "C + M_dot": coriolis,
        "inverse dynamics": lambda k: robot.inverse_dynamics(q[k], dq[k], ddq[k], out=x),
        "forward dynamics": lambda k: robot.forward_dynamics(q[k], dq[k], tau[k], out=x),
        "Y": lambda k: robot.regressor(q[k], dq[k], ddq[k], out=Y),
        "Y_r": lambda k: robot.slotine_li_regressor(q[k], dq[k], dq_r[k], ddq_r[k], out=Y),
    }


def pinocchio_calls(model: Any, q: Any, dq: Any, ddq: Any, dq_r: Any, ddq_r: Any, tau: Any) -> dict[str, Call]:
    data, n, tip, aligned = model.createData(), model.nv, model.njoints - 1, pin.LOCAL_WORLD_ALIGNED
    free = pin.Model(model)
    free.gravity = pin.Motion.Zero()
    free_data, zero = free.createData(), np.zeros(n)
    Mdot, Y = np.empty((n, n)), np.empty((n, 10 * n))

    def jacobian(k: int) -> Any:
        pin.computeJointJacobians(model, data, q[k])
        return pin.getJointJacobian(model, data, tip, aligned)

    def jacobian_dot(k: int) -> Any:
        pin.computeJointJacobiansTimeVariation(model, data, q[k], dq[k])
        return pin.getJointJacobianTimeVariation(model, data, tip, aligned)

    def coriolis(k: int) -> Any:
        C = pin.computeCoriolisMatrix(model, data, q[k], dq[k])
        return np.add(C, C.T, out=Mdot)

    def slotine_li(k: int) -> Any:
        whole = pin.computeJointTorqueRegressor(model, data, q[k], 0.5 * (dq[k] + dq_r[k]), ddq_r[k])
        rest = pin.computeJointTorqueRegressor(free, free_data, q[k], 0.5 * (dq[k] - dq_r[k]), zero)
        return np.subtract(whole, rest, out=Y)

    return {
        "J": jacobian,
        "J_dot": jacobian_dot,
        "M": lambda k: pin.crba(model, data, q[k]),
        "C + M_dot": coriolis,
        "inverse dynamics": lambda k: pin.rnea(model, data, q[k], dq[k], ddq[k]),
        "forward dynamics": lambda k: pin.aba(model, data, q[k], dq[k], tau[k]),
        "Y": lambda k: pin.computeJointTorqueRegressor(model, data, q[k], dq[k], ddq[k]),
        "Y_r": slotine_li,
    }


def pinocchio_model(arm: Arm) -> Any:
    """Build the arm joint by joint, as bench_pinocchio.cpp does."""
    model, parent = pin.Model(), 0
    for i, (kind, pose, pi) in enumerate(zip(arm.types, arm.placements, arm.inertial, strict=True)):
        joint = pin.JointModelPZ() if kind == "P" else pin.JointModelRZ()
        parent = model.addJoint(parent, joint, pin.SE3(np.array(pose)), f"joint{i + 1}")
        m, hx, hy, hz, xx, xy, xz, yy, yz, zz = pi
        inertia = pin.Inertia.FromDynamicParameters(np.array([m, hx, hy, hz, xx, xy, yy, xz, yz, zz]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    model.gravity = pin.Motion(arm.gravity, np.zeros(3))
    return model


def time_calls(call: Call, rounds: int) -> dict[str, float]:
    """Median of blocks of calls, and p99 and worst of single ones, in ns; the loop's own cost is taken off."""
    blocks, singles, empty = [], [], []
    for _ in range(rounds):
        blocks.append(_block(call))
        empty.append(_block(_nothing))
        for k in range(STATES):
            start = perf_counter_ns()
            call(k)
            singles.append(perf_counter_ns() - start)
    overhead = float(np.median(empty))
    return {
        "median_ns": float(np.median(blocks)) - overhead,
        "p99_ns": float(np.quantile(singles, 0.99)) - overhead,
        "worst_ns": max(singles) - overhead,
    }


def batches(arm: Arm, rounds: int) -> list[dict[str, Any]]:
    """Time calls per state: short batches with each instruction set, long ones on one thread and two."""
    sets = th._core.build_config()["instruction_sets"]
    short = _batches(arm, 128, rounds, tuple((name, 1) for name in sets))
    return short + _batches(arm, 16384, max(rounds // 10, 3), ((sets[-1], 1), (sets[-1], 2)))


def _batches(arm: Arm, count: int, rounds: int, ways: tuple[tuple[str, int], ...]) -> list[dict[str, Any]]:
    robot, n = arm.robot(), arm.n
    q, dq, v, a = np.random.default_rng(2).uniform(-2, 2, (4, count, n))
    M, Y, x = np.empty((count, n, n)), np.empty((count, n, 10 * n)), np.empty((count, n))
    calls: dict[str, Callable[[int], Any]] = {
        "M": lambda t: robot.mass_matrix(q, out=M, threads=t),
        "inverse dynamics": lambda t: robot.inverse_dynamics(q, dq, a, out=x, threads=t),
        "forward dynamics": lambda t: robot.forward_dynamics(q, dq, a, out=x, threads=t),
        "Y_r": lambda t: robot.slotine_li_regressor(q, dq, v, a, out=Y, threads=t),
    }
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    records = []
    for quantity, call in calls.items():
        for instructions, threads in ways:
            th._core.use_instruction_set(instructions)
            best = min(_duration(lambda call=call, threads=threads: call(threads)) for _ in range(rounds))
            how = {"quantity": quantity, "count": count, "instructions": instructions, "threads": threads}
            records.append({**how, "ns": best / count})
    th._core.use_instruction_set("best")
    return records


def import_milliseconds(rounds: int) -> dict[str, float]:
    """Time imports in new interpreters, in turns, less what the interpreter itself takes."""
    code = {
        "": "",
        "numpy": "import numpy",
        "thunder_py": "import thunder_py, sys; thunder_py.Robot; assert 'matplotlib' not in sys.modules",
    }
    best = dict.fromkeys(code, float("inf"))
    for _ in range(rounds):
        for name, text in code.items():
            spent = _duration(lambda text=text: subprocess.run([sys.executable, "-c", text], check=True)) / 1e6
            best[name] = min(best[name], spent)
    return {name: best[name] - best[""] for name in code if name}


def _block(call: Call, states: Sequence[int] = range(STATES)) -> float:
    start = perf_counter_ns()
    for k in states:
        call(k)
    return (perf_counter_ns() - start) / len(states)


def _duration(call: Callable[[], Any]) -> int:
    start = perf_counter_ns()
    call()
    return perf_counter_ns() - start


def _nothing(k: int) -> None:
    pass
