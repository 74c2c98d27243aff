"""Time-optimal motions of the Panda along random paths, beside the package toppra."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import thunder_py as th
from thunder_py.trajectory import time_optimal

#: a method's name, cells, limits in addition to velocity and torque
OURS = (
    ("time_optimal", 100, {}),
    ("time_optimal", 200, {}),
    ("time_optimal, torque rate", 200, {"effort_rate": 1000.0}),
)
TOPPRA = (100, 200, 2000)
INSTANTS = 10_000


def results(quick: bool) -> list[dict[str, Any]]:
    """Time every method on the same paths; the finest grid of toppra is the reference of durations."""
    robot = th.Robot.load("panda")
    paths = [_points(robot, seed) for seed in range(2 if quick else 20)]
    rows = [_row(name, cells, paths, _ours(robot, cells, more)) for name, cells, more in OURS]
    if importlib.util.find_spec("toppra"):
        rows += [_row("toppra", cells, paths, _toppra(robot, cells)) for cells in TOPPRA]
    finest = next((row["durations"] for row in rows[::-1] if row["method"] == "toppra"), rows[1]["durations"])
    for row in rows:
        ratios = np.array(row.pop("durations")) / finest
        row |= {"mean_ratio": float(ratios.mean()), "worst_ratio": float(ratios.max())}
    return rows


def _points(robot: th.Robot, seed: int) -> np.ndarray:
    """Return five postures in the middle half of the joint ranges."""
    lower, upper = robot.limits.lower, robot.limits.upper
    return 0.5 * (lower + upper) + 0.25 * (upper - lower) * np.random.default_rng(seed).uniform(-1.0, 1.0, (5, robot.n))


def _row(name: str, cells: int, paths: list[np.ndarray], plan: Callable[[np.ndarray], Any]) -> dict[str, Any]:
    seconds, durations, parts = [], [], []
    plan(paths[0])  # imports
    for path in paths:
        start = perf_counter()
        duration, largest = plan(path)
        seconds.append(perf_counter() - start)
        durations.append(duration)
        parts.append(largest())
    return {
        "method": name,
        "cells": cells,
        "paths": len(paths),
        "median_ms": 1e3 * float(np.median(seconds)),
        "durations": durations,
        "largest_part": max(parts),
    }


def _ours(robot: th.Robot, cells: int, more: dict[str, float]) -> Callable[[np.ndarray], Any]:
    def plan(points: np.ndarray) -> tuple[float, Callable[[], float]]:
        motion = time_optimal(robot, points, cells=cells, **more)
        t = np.linspace(0.0, motion.duration, INSTANTS)
        return motion.duration, lambda: max(float(usage.max()) for usage in motion.usage(t).values())

    return plan


def _toppra(robot: th.Robot, cells: int) -> Callable[[np.ndarray], Any]:
    """Return the planner of toppra within the robot's limits, on the same natural spline."""
    import toppra

    toppra.setup_logging("ERROR")
    limits = robot.limits
    velocity, effort = (np.column_stack([-x, x]) for x in (limits.velocity, limits.effort))
    constraints = [
        toppra.constraint.JointVelocityConstraint(velocity),
        toppra.constraint.JointTorqueConstraint(robot.inverse_dynamics, effort, np.zeros(robot.n)),
    ]
    grid = np.linspace(0.0, 1.0, cells + 1)

    def plan(points: np.ndarray) -> tuple[float, Callable[[], float]]:
        lengths = np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))
        s = np.concatenate([[0.0], lengths]) / lengths[-1]
        curve = toppra.SplineInterpolator(s, points, bc_type="natural")
        motion = toppra.algorithm.TOPPRA(constraints, curve, gridpoints=grid).compute_trajectory(0.0, 0.0)

        def largest() -> float:
            t = np.linspace(0.0, motion.duration, INSTANTS)
            q, dq, ddq = (motion(t, k) for k in range(3))
            parts = robot.inverse_dynamics(q, dq, ddq) / limits.effort, dq / limits.velocity
            return float(np.abs(parts).max())

        return float(motion.duration), largest

    return plan
