"""Figures of a closed-loop run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from ..plotting.animation import animate, save_animation
from ..plotting.style import BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

    from ..plotting.meshes import Meshes
    from ..robot import Robot
    from . import EnergyBalance, Lyapunov, SimulationResult

__all__ = [
    "LEGEND_LINES",
    "animate_result",
    "new_axes",
    "plot_comparison",
    "plot_energy",
    "plot_lyapunov",
    "plot_result",
    "reference_path",
    "robot_of",
]

#: most lines of a legend
LEGEND_LINES = 12


def plot_result(result: SimulationResult, *, axes: Sequence[Axes] | None = None) -> npt.NDArray[np.object_]:
    """Plot the error norm, torques, spring deflections and parameter estimates of a run.

    Parameters
    ----------
    result : Result
        The run.
    axes : sequence of Axes, optional
        Axes, one for each panel; default a new figure. Panels: the error if it was logged, the torques, the
        deflections x - q of elastic joints, and the changes of those estimates that changed.

    Returns
    -------
    array of Axes
        One per panel.
    """
    panels = ["tau"]
    if "error" in result.signals:
        panels.insert(0, "error")
    if result.x.shape[1]:
        panels.append("deflection")
    moved = _moved(result)
    if moved.any():
        panels.append("parameters")
    column = new_axes(len(panels)) if axes is None else np.ravel(np.asarray(axes, dtype=object))
    if len(column) != len(panels):
        raise ValueError(f"axes must be {len(panels)} ({', '.join(panels)}), got {len(column)}")
    for axis, panel in zip(column, panels, strict=True):
        if panel == "error":
            axis.semilogy(result.t, np.maximum(result.error_norm(), np.finfo(np.float64).tiny))
            axis.set_ylabel("error norm")
        elif panel == "tau":
            _lines(axis, result.t, result.tau, result.names.get("joints", ()), "torque [N m, N]")
        elif panel == "deflection":
            joints, motors = list(result.names["joints"]), result.names["motors"]
            deflection = result.x - result.q[:, [joints.index(name) for name in motors]]
            _lines(axis, result.t, deflection, motors, "deflection [rad, m]")
        else:
            change = (result.parameters - result.parameters[0])[:, moved]
            names = [name for name, kept in zip(result.names["parameters"], moved, strict=True) if kept]
            _lines(axis, result.t, change, names, "change of estimate")
        axis.grid(visible=True, alpha=0.3)
    column[-1].set_xlabel("time [s]")
    return column


def new_axes(count: int) -> npt.NDArray[np.object_]:
    """Return a column of axes in a new figure."""
    from matplotlib.pyplot import subplots

    _, axes = subplots(count, sharex=True, squeeze=False, figsize=(8.0, 2.5 * count), layout="constrained")
    column: npt.NDArray[np.object_] = axes[:, 0]
    return column


def _moved(result: SimulationResult) -> npt.NDArray[np.bool_]:
    if "parameters" not in result.signals:
        return np.zeros(0, dtype=bool)
    moved: npt.NDArray[np.bool_] = np.any(result.parameters != result.parameters[0], axis=0)
    return moved


def _lines(axis: Axes, t: Array, values: Array, names: Sequence[str], label: str) -> None:
    lines = axis.plot(t, values, linewidth=1.0)
    axis.set_ylabel(label)
    if 0 < len(names) <= LEGEND_LINES:
        axis.legend(lines, names, ncols=2, fontsize="small", loc="upper right")


def plot_comparison(
    results: Mapping[str, SimulationResult], *, axes: Sequence[Axes] | None = None
) -> npt.NDArray[np.object_]:
    """Overlay the error norms and the norms of the torques of several runs.

    Parameters
    ----------
    results : mapping of str to Result
        Runs by their names in the legend.
    axes : sequence of two Axes, optional
        Axes of errors and torques; default a new figure.

    Returns
    -------
    array of Axes
        Errors, torques.
    """
    column = new_axes(2) if axes is None else np.ravel(np.asarray(axes, dtype=object))
    if len(column) != 2:
        raise ValueError(f"axes must be 2 (error, tau), got {len(column)}")
    for name, result in results.items():
        if "error" in result.signals:
            column[0].semilogy(result.t, _above_zero(result.error_norm()), linewidth=1.0, label=name)
        else:
            column[0].plot([], [], label=f"{name} (error not logged)")
        column[1].plot(result.t, np.linalg.norm(result.tau, axis=1), linewidth=1.0, label=name)
    column[0].set_ylabel("error norm")
    column[1].set_ylabel("norm of torques [N m, N]")
    for axis in column:
        axis.grid(visible=True, alpha=0.3)
    if 0 < len(results) <= LEGEND_LINES:
        column[0].legend(fontsize="small", loc="upper right")
    column[-1].set_xlabel("time [s]")
    return column


def plot_energy(energy: EnergyBalance, *, axes: Axes | None = None) -> Axes:
    """Draw the energy balance of a run.

    Parameters
    ----------
    energy : EnergyBalance
        Result of `SimulationResult.energy`.
    axes : Axes, optional
        Default a new figure.
    """
    axis = new_axes(1)[0] if axes is None else axes
    for name in ("kinetic", "potential", "work", "dissipated", "external", "payload", "residual"):
        values = getattr(energy, name)
        if name == "potential":  # its zero is arbitrary
            values, name = values - values[0], "potential, change"
        if np.any(values != 0.0):
            (line,) = axis.plot(energy.t, values, linewidth=1.0, label=name)
            if name == "residual":
                line.set(color="black", linestyle=":")
    axis.set_ylabel("energy [J]")
    axis.set_xlabel("time [s]")
    axis.grid(visible=True, alpha=0.3)
    axis.legend(fontsize="small", ncols=2, loc="upper right")
    return axis


def plot_lyapunov(lyapunov: Lyapunov, *, axes: Axes | None = None) -> Axes:
    """Draw a Lyapunov function on a logarithmic axis, and its derivative on a second one.

    Parameters
    ----------
    lyapunov : Lyapunov
        Result of `SimulationResult.lyapunov`.
    axes : Axes, optional
        Default a new figure.
    """
    axis = new_axes(1)[0] if axes is None else axes
    lines = axis.semilogy(lyapunov.t, _above_zero(lyapunov.V), color=BLUE, label="$V$")
    second = axis.twinx()
    label = r"$\dot V$" + ("" if lyapunov.analytic else " (differences)")
    lines += second.plot(lyapunov.t, lyapunov.V_dot, color=VERMILION, linewidth=1.0, label=label)
    axis.set_ylabel("$V$")
    second.set_ylabel(r"$\dot V$")
    axis.set_xlabel("time [s]")
    axis.grid(visible=True, alpha=0.3)
    second.legend(lines, [str(line.get_label()) for line in lines], fontsize="small", loc="upper right")
    return axis


def _above_zero(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return values for a logarithmic axis, NaN where they are not positive."""
    return np.where(values > 0.0, values, np.nan)


#: points of a drawn path
_POINTS = 400


def animate_result(
    result: SimulationResult,
    path: str | Path | None = None,
    *,
    robot: Robot | None = None,
    reference: Callable[[float], Any] | None = None,
    meshes: Meshes | None = None,
    playback_speed: float = 1.0,
    fps: float = 20.0,
    dpi: int = 72,
) -> FuncAnimation:
    """Animate a run; see `SimulationResult.animate`."""
    arm = robot_of(result, robot)
    line = None if reference is None else reference_path(arm, reference, result.t)
    film = animate(arm, result.t, result.q, path=line, meshes=meshes, playback_speed=playback_speed, fps=fps)
    if path is not None:
        from matplotlib.pyplot import close

        close(film._fig)  # type: ignore[attr-defined]  # written to the file: no window needed
        save_animation(film, path, dpi=dpi)
    return film


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
        points: Array = robot.forward_kinematics(q)[:, :3, 3]
        return points
    raise ThunderError(f"reference must return an object with p or q, got {type(values[0]).__name__}")
