"""Figures of the elastic wrist: phase portraits, switching functions, speeds over time, throws of an arm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...plotting.style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .run import ArmCase, ElasticWristExperiment

__all__ = ["draw_arm_case", "plot_elastic_wrist"]

_BLUE, _ORANGE, _GREEN, _PINK, _GRAY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#888888"


def plot_elastic_wrist(found: ElasticWristExperiment) -> Figure:
    """Draw the experiment.

    Parameters
    ----------
    found : ElasticWristExperiment
    """
    import matplotlib.pyplot as plt

    arms = len(found.arms)
    figure, axes = plt.subplots(2 + arms, 3, figsize=(14, 4.0 * (2 + arms)), layout="constrained")
    found.example.plot(axes={"control": axes[0, 0], "phase": axes[0, 1]})
    _draw_sweep(found, axes[0, 2])
    found.beyond.plot(axes={"control": axes[1, 0]})
    axes[1, 0].set_title(f"beyond the limit: {found.beyond.switches.size} switches")
    _draw_cases(found, axes[1, 1])
    found.together.full.plot(axes={"control": axes[1, 2]})
    for arm, row in zip(found.arms, axes[2:], strict=True):
        draw_arm_case(arm, row)
    for panel in axes.flat:
        tidy(panel)
    return figure


def draw_arm_case(arm: ArmCase, axes: Any) -> None:
    """Draw the throw of an arm: speed of the object, wrist and motor, torques.

    Parameters
    ----------
    arm : ArmCase
    axes : sequence of three Axes
    """
    speed, wrist, effort = axes
    run, base = arm.run, arm.base
    shown = (run.t > base.run_up - 0.2) & (run.t < base.release_time + 0.1)
    t = run.t[shown] - base.release_time
    robot = arm.throw.robot
    velocity = np.einsum("kij,kj->ki", robot.jacobian(run.q[shown])[:, :3], run.dq[shown])
    speed.plot(t, velocity @ base.direction, color=_BLUE, label="elastic wrist")
    fixed = base.trajectory(run.t[shown])
    carried = np.einsum("kij,kj->ki", base.robot.jacobian(fixed.q)[:, :3], fixed.dq)
    speed.plot(t, carried @ base.direction, color=_ORANGE, label="hand fixed")
    how = "free to rotate" if arm.turning else "without rotation"
    speed.set(ylabel="speed along the throw [m/s]", title=f"arm, hand {how}: + {arm.gain:.2f} m/s")
    wrist.plot(t, run.q[shown, -1], color=_BLUE, label="wrist q")
    wrist.plot(t, run.theta[shown], color=_GREEN, label="motor $\\theta$")
    wrist.set(ylabel="[rad]", title="wrist and motor")
    share = np.abs(run.tau[shown, :-1] / robot.limits.effort[:-1])
    for k in np.argsort(-share.max(axis=0))[:3]:
        effort.plot(t, 100.0 * share[:, k], linewidth=1.0, label=f"joint {k + 1}")
    effort.axhline(100.0, color=_GRAY, linestyle="--")
    effort.set(ylabel="torque [% of limit]", title="arm's torques, the three largest")
    for panel in (speed, wrist, effort):
        panel.axvline(0.0, color=_GRAY, linewidth=0.8)
        panel.set_xlabel("time to release [s]")
        panel.legend(fontsize="small")


def _draw_sweep(found: ElasticWristExperiment, axes: Axes) -> None:
    axes.plot(found.times, found.free, color=_BLUE, label="free switching")
    axes.plot(found.times, found.one, color=_ORANGE, label="one switch, (91)")
    limit = math.pi + math.acos(1.0 / 3.0)
    axes.axvline(limit, color=_GRAY, linestyle="--", label=f"limit, $\\omega_0 T$ = {limit:.4f}")
    axes.set(
        xlabel="$\\omega_0 T$", ylabel="dq(T) / ($\\omega_0 \\theta_{max}$)", title="speed over the time of release"
    )
    axes.legend(fontsize="small")


def _draw_cases(found: ElasticWristExperiment, axes: Axes) -> None:
    names = [case.name.replace(" N m s/rad", "").replace(" deg", "°").replace(", ", "\n") for case in found.cases]
    place = np.arange(len(names))
    for values, mark, color, label in (
        ([case.throw.speed for case in found.cases], "o", _BLUE, "$|\\theta| \\leq \\theta_{max}$"),
        ([case.simulated[1] for case in found.cases], "s", _GREEN, "the same, simulated with (79)"),
        ([case.printed.speed for case in found.cases], "x", _ORANGE, "$|u| \\leq \\theta_{max}$, as printed"),
    ):
        axes.plot(place, values, mark, color=color, label=label)
    axes.set_xticks(place, names, rotation=25, fontsize="small")
    axes.set(ylabel="dq(T) [rad/s]", title="gravity's bounds are not symmetric")
    axes.legend(fontsize="small")
