"""Figures of the elastic wrist: switching functions, phase portraits, speeds over time, throws of an arm."""

from __future__ import annotations

import math
import re

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plotting.panels import new_panels
from ...plotting.style import BLUE, COLORS, GRAY, GREEN, THIN, VERMILION, label, outside_legend
from .run import ArmCase, ElasticWristExperiment


def plot_elastic_wrist(found: ElasticWristExperiment) -> Figure:
    """Draw the motions of the motor alone: one switch and several, speed over the time of release, gravity.

    Parameters
    ----------
    found : ElasticWristExperiment
        Result to draw.
    """
    figure, panels = new_panels([["control", "phase", "sweep"], ["control beyond", "phase beyond", "cases"]])
    for throw, where in ((found.example, ""), (found.beyond, " beyond")):
        count = f"{throw.switches.size} switch{'es' if throw.switches.size > 1 else ''}"
        throw.plot(axes={kind: panels[f"{kind}{where}"] for kind in ("control", "phase")})
        panels[f"control{where}"].set_title(f"D4.2, eq. 85: motor, {count}", fontsize="medium")
        panels[f"phase{where}"].set_title(f"D4.2, eq. 80: phase portrait, {count}", fontsize="medium")
    _draw_sweep(found, panels["sweep"])
    _draw_cases(found, panels["cases"])
    return outside_legend(figure, *panels.values())


def plot_arms(found: ElasticWristExperiment) -> Figure:
    """Draw a row for each arm motion: speed of the object, wrist and motor, torques.

    Parameters
    ----------
    found : ElasticWristExperiment
        Result to draw.
    """
    rows = [[f"{kind} {k}" for kind in ("speed", "wrist", "effort")] for k in range(len(found.arms))]
    figure, panels = new_panels(rows, (12.0, 0.6 + 3.6 * len(rows)))
    for arm, names in zip(found.arms, rows, strict=True):
        _draw_arm(arm, [panels[name] for name in names])
    return outside_legend(figure, *panels.values(), ncols=8)


def _draw_arm(arm: ArmCase, axes: list[Axes]) -> None:
    speed, wrist, effort = axes
    run, base = arm.run, arm.base
    shown = (run.t > base.run_up - 0.2) & (run.t < base.release_time + 0.1)
    t = run.t[shown] - base.release_time
    robot = arm.throw.robot
    velocity = np.einsum("kij,kj->ki", robot.jacobian(run.q[shown])[:, :3], run.dq[shown])
    speed.plot(t, velocity @ base.direction, color=BLUE, label="elastic wrist")
    fixed = base.trajectory(run.t[shown])
    carried = np.einsum("kij,kj->ki", base.robot.jacobian(fixed.q)[:, :3], fixed.dq)
    speed.plot(t, carried @ base.direction, color=VERMILION, label="hand fixed")
    wrist.plot(t, run.q[shown, -1], color=BLUE, label="wrist q")
    wrist.plot(t, run.theta[shown], color=GREEN, label="motor $\\theta$")
    share = np.abs(run.tau[shown, :-1] / robot.limits.effort[:-1])
    largest = np.sort(np.argsort(-share.max(axis=0))[:3])
    for k in largest:
        effort.plot(t, 100.0 * share[:, k], color=COLORS[k % len(COLORS)], linewidth=1.0, label=f"joint {k + 1}")
    effort.axhline(100.0, color=GRAY, linestyle="--", label="limit")
    how = "may rotate" if arm.turning else "does not rotate"
    x = "time after release [s]"
    label(speed, f"Not in D4.2: hand {how}, + {arm.gain:.2f} m/s", x, "speed along the throw [m/s]")
    label(wrist, "Not in D4.2: wrist and motor on the arm", x, "angle [rad]")
    label(effort, "Not in D4.2: the three largest torques", x, "torque [% of limit]")
    for panel in axes:
        panel.axvline(0.0, color=GRAY, linewidth=THIN)


def _draw_sweep(found: ElasticWristExperiment, axes: Axes) -> None:
    axes.plot(found.times, found.free, color=BLUE, label="free switching")
    axes.plot(found.times, found.one, color=VERMILION, label="one switch, eq. 91")
    limit = math.pi + math.acos(1.0 / 3.0)
    axes.axvline(limit, color=GRAY, linestyle="--", label=f"limit of one switch, {limit:.4f} rad")
    title = "D4.2, eq. 91: speed over the time of release"
    label(axes, title, "$\\omega_0 T$ [rad]", "dq(T) / ($\\omega_0 \\theta_{max}$) [-]")


def _draw_cases(found: ElasticWristExperiment, axes: Axes) -> None:
    names = [re.sub(r"[^-\d., ]", "", case.name).replace(" ", "").replace(",", "\n") for case in found.cases]
    place = np.arange(len(names))
    for values, mark, color, name in (
        ([case.throw.speed for case in found.cases], "o", BLUE, "$|\\theta| \\leq \\theta_{max}$"),
        ([case.simulated[1] for case in found.cases], "s", GREEN, "the same, simulated with eq. 79"),
        ([case.printed.speed for case in found.cases], "x", VERMILION, "$|u| \\leq \\theta_{max}$, as printed"),
    ):
        axes.plot(place, values, mark, color=color, label=name)
    axes.set_xticks(place, names)
    label(axes, "D4.2, eqs. 85 to 88: bounds of u and gravity", "slope [deg], c [N m s/rad]", "dq(T) [rad/s]")
