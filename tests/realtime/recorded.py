"""Messages of a script, whatever the loop answers: gaps, broken states, trajectories, poses, a clock set back."""

from typing import Any

import numpy as np

from thunder_py.realtime import Command, ControlLoop

from .loops import HOLD, JOINT_LAW, MS, NOON, POSE_LAW, Q0

OBSERVER = {"bandwidth": 40, "order": 2, "thresholds": 1.5, "samples": 5}
LOOPS: dict[str, dict[str, Any]] = {
    "joints": {"controller": JOINT_LAW, "torque_rate": 3000, "observer": OBSERVER},
    "poses": {"controller": POSE_LAW},
    "errors": {"controller": JOINT_LAW, "largest_error": 0.12, "torque_limits": [20, 40, 20, 20, 3, 3, 3]},
}


def state(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity at k ms."""
    w, phase = 2 * np.pi * np.linspace(0.3, 0.9, 7), np.arange(7)
    return Q0 + 0.05 * np.sin(1e-3 * k * w + phase), 0.05 * w * np.cos(1e-3 * k * w + phase)


def send(loop: ControlLoop, k: int, now: int) -> str | None:
    references, q = loop.references, Q0
    if loop.follows_poses:
        if k % 10 or not 100 <= k < 350:
            return None
        angle = 0.3 * np.sin(0.01 * k)
        references.twist(now, (0.05, 0.1 * np.cos(0.005 * k), 0.0), (0.0, 0.0, 0.2))
        return references.pose(now, (0.4 + 1e-4 * k, 0.1, 0.5), (np.sin(angle), 0.0, np.cos(angle), 0.0))
    names = loop.joint_names
    if k == 100:  # through points, in the future
        return references.trajectory(now + 60 * MS, names, [0.0, 0.1, 0.3, 0.5], [q, q + 0.02, q - 0.02, q + 0.05])
    if k == 300:  # with velocities, begun, in reverse order of joints
        points, rates = np.array([q, q + 0.1, q]), np.array([[0.2] * 7, [0.1] * 7, [0.0] * 7])
        return references.trajectory(now - 30 * MS, names[::-1], [0.0, 0.2, 0.5], points[:, ::-1], rates)
    if k == 450:  # with accelerations, ends in motion
        points, rates = np.array([q, q + 0.02]), np.full((2, 7), 0.1)
        return references.trajectory(0, names, [0.0, 0.1], points, rates, 0.5 * rates)
    if k == 760:
        return references.trajectory(0, names, [0.0], [q + 0.4])
    return None


def play(name: str, **options: Any) -> list[Command]:
    """Return every ninth command of a loop of `LOOPS`."""
    loop = ControlLoop({"robot": "panda", "hold": HOLD, **LOOPS[name], **options})
    commands: list[Command | None] = []
    now, names = NOON, loop.joint_names
    for k in range(1000):
        now += MS if k != 900 else -3600 * 1000 * MS
        q, dq = state(k)
        if 600 <= k < 750:
            if k % 10 == 0 and not 640 <= k < 700:
                commands.append(loop.watch(now))
            if k == 640:
                now += 300 * MS
            continue
        if k % 37 == 0:
            q = q * np.nan
        elif k % 41 == 0:
            q = q[:6]
        stamp = now - (30 * MS if k % 43 == 0 else MS // 5)
        commands.append(loop.state(stamp, now, names, q, dq))
        if k == 400:
            loop.set_gains({"Lambda": 8} if name != "poses" else {"K_1": 25})
        send(loop, k, now)
    return [command for command in commands if command is not None][::9]


def rows(commands: list[Command]) -> np.ndarray:
    """Stamp after the first one [ms], mode, torques, sum of the estimate, and external torque of the first joint."""
    return np.array([
        [
            1e-6 * (c.stamp - commands[0].stamp),
            c.mode,
            *c.tau,
            np.abs(c.error).max() if c.error.size else -1.0,
            c.parameters.sum() if c.parameters.size else 0.0,
            c.external_torque[1] if c.external_torque.size else 0.0,
        ]
        for c in commands
    ])  # fmt: skip
