"""Figures of a closed-loop run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Array, array
from ..errors import ThunderError
from ..plotting.panels import draw_curves, label_column, panel, panels
from ..plotting.style import BLUE, MOST_IN_LEGEND, TRUTH, VERMILION, positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..robot import Robot
    from .result import EnergyBalance, Lyapunov, SimulationResult


def plot_result(result: SimulationResult, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Plot the error norm, torques, external torques, spring deflections and estimates; see `SimulationResult.plot`."""
    curves: dict[str, tuple[Array, str, Sequence[str]]] = {}
    if "error" in result.signals:
        curves["error"] = positive(result.error_norm()), f"error norm [{result.error_unit}]", ()
    curves["tau"] = result.tau, "torque [N m, N]", result.names.get("joints", ())
    if "external_estimate" in result.signals:
        names = result.names["external_estimate"]
        curves["external_estimate"] = result.external_estimate, "external torque [N m, N]", names
    if result.x.shape[1]:
        joints, motors = list(result.names["joints"]), result.names["motors"]
        deflection = result.x - result.q[:, [joints.index(name) for name in motors]]
        curves["deflection"] = deflection, "deflection [rad, m]", motors
    if "parameters" in result.signals:
        change = result.parameters - result.parameters[0]
        moved = np.any(change != 0.0, axis=0)
        if moved.any():
            names = [name for name, kept in zip(result.names["parameters"], moved, strict=True) if kept]
            curves["parameters"] = change[:, moved], "change of estimate", names
    empty = [name for name in ("error", "external_estimate", "deflection", "parameters") if name not in curves]
    drawn = panels(axes, list(curves), (8.0, 2.5 * len(curves)), empty=empty, sharex=True)
    for name, ax in drawn.items():
        draw_curves(ax, result.t, *curves[name])
        if name == "error":
            ax.set_yscale("log")
        if name == "external_estimate" and "external" in result.signals:
            ax.plot(result.t, result.signals["external"], color=TRUTH, linestyle=":", linewidth=1.0)
    label_column(drawn)
    return drawn


def plot_comparison(
    results: Mapping[str, SimulationResult], *, axes: Mapping[str, Axes] | None = None
) -> dict[str, Axes]:
    """Overlay the norms of errors and torques of several runs, a panel for each unit; see `Comparison.plot`."""
    units = list(dict.fromkeys(result.error_unit for result in results.values() if result.error_unit is not None))
    errors = {f"error [{unit}]": unit for unit in units} if len(units) > 1 else {"error": next(iter(units), None)}
    drawn = panels(axes, [*errors, "tau"], (8.0, 2.5 * len(errors) + 2.5), sharex=True)
    for panel_name, ax in drawn.items():
        for name, result in results.items():
            if panel_name == "tau":
                ax.plot(result.t, np.linalg.norm(result.tau, axis=1), linewidth=1.0, label=name)
            elif result.error_unit == errors[panel_name] is not None:
                ax.semilogy(result.t, positive(result.error_norm()), linewidth=1.0, label=name)
            else:  # keeps its color
                ax.plot([], [], label=name if result.error_unit else f"{name} (error not logged)")
        ax.set_ylabel(f"error norm [{errors.get(panel_name)}]" if panel_name in errors else "norm of torques [N m, N]")
        ax.grid(visible=True, alpha=0.3)
    if drawn and 0 < len(results) <= MOST_IN_LEGEND:
        next(iter(drawn.values())).legend(fontsize="small", loc="upper right")
    label_column(drawn)
    return drawn


def plot_energy(energy: EnergyBalance, *, ax: Axes | None = None) -> Axes:
    """Draw the energy balance of a run; see `EnergyBalance.plot`."""
    ax = panel(ax)
    for name in ("kinetic", "potential", "work", "dissipated", "external", "payload", "residual"):
        values = getattr(energy, name)
        if name == "potential":  # its zero is arbitrary
            values, name = values - values[0], "potential, change"
        if np.any(values != 0.0):
            (line,) = ax.plot(energy.t, values, linewidth=1.0, label=name)
            if name == "residual":
                line.set(color=TRUTH, linestyle=":")
    ax.set_ylabel("energy [J]")
    ax.set_xlabel("time [s]")
    ax.grid(visible=True, alpha=0.3)
    ax.legend(fontsize="small", ncols=2, loc="upper right")
    return ax


def plot_lyapunov(lyapunov: Lyapunov, *, ax: Axes | None = None) -> Axes:
    """Draw a Lyapunov function on a logarithmic axis, and its derivative on a second one; see `Lyapunov.plot`."""
    ax = panel(ax)
    lines = ax.semilogy(lyapunov.t, positive(lyapunov.V), color=BLUE, label="$V$")
    second = ax.twinx()
    label = r"$\dot V$" + ("" if lyapunov.analytic else " (differences)")
    lines += second.plot(lyapunov.t, lyapunov.V_dot, color=VERMILION, linewidth=1.0, label=label)
    ax.set_ylabel("$V$")
    second.set_ylabel(r"$\dot V$")
    ax.set_xlabel("time [s]")
    ax.grid(visible=True, alpha=0.3)
    second.legend(lines, [str(line.get_label()) for line in lines], fontsize="small", loc="upper right")
    return ax


#: points of a drawn path
_POINTS = 400


def robot_of(result: SimulationResult, robot: Robot | None = None) -> Robot:
    """Return the robot to draw: the argument, or else the plant of the run.

    Raises
    ------
    ThunderError
        If the plant was written in Python and no robot is given, or the number of joints differs.
    """
    arm = result.plant if robot is None else robot
    if arm is None:
        raise ThunderError("robot must be given for a run whose plant is not a Robot")
    if arm.n != result.q.shape[1]:
        raise ThunderError(f"robot must have {result.q.shape[1]} joints as in the run, got {arm.n} ({arm.name})")
    return arm


def reference_path(robot: Robot, reference: Callable[[float], Any], t: Array) -> Array:
    """Return the path of the end effector along a reference, (k, 3) [m].

    Parameters
    ----------
    robot : Robot
        Arm that converts joint positions to positions of the tip.
    reference : callable
        ``reference(t)`` has an attribute ``p``, (3,), or ``q``, (n,), whose forward kinematics is used.
    t : (T,) array
        Times of the run [s].
    """
    times = np.linspace(t[0], t[-1], min(_POINTS, max(len(t), 2)))
    values = [reference(float(time)) for time in times]
    if all(hasattr(value, "p") for value in values):
        return np.array([array(value.p, (3,), "reference(t).p") for value in values])
    if all(hasattr(value, "q") for value in values):
        q = np.array([array(value.q, (robot.n,), "reference(t).q") for value in values])
        return np.asarray(robot.forward_kinematics(q)[:, :3, 3])
    raise ThunderError(f"reference must return an object with p or q, got {type(values[0]).__name__}")
