"""The SCARA project on one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...plotting.ellipsoid import ellipsoid_points
from ...plotting.space import draw_sticks
from ...plotting.style import COLORS, TRUTH, tidy
from ...robot.frames import arm_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...robot import Ellipsoid, Robot
    from ...trajectory import Path
    from .control import Loaded, ScaraControl, ScaraDynamics, ScaraSampling
    from .kinematics import ScaraClik, ScaraKinematics, ScaraTranspose
    from .planning import ScaraPlanning
    from .run import Scara

__all__ = [
    "draw_arm",
    "draw_mass",
    "draw_norms",
    "draw_plan",
    "draw_z_errors",
    "plot_choices",
    "plot_control",
    "plot_coriolis",
    "plot_dexterity",
    "plot_errors",
    "plot_path",
    "plot_postures",
    "plot_profiles",
    "plot_sampling",
    "plot_scara",
    "plot_transpose",
    "plot_velocities",
    "plot_workspace",
]

_FIVE = (*COLORS, "#009E73", "#CC79A7")
_JOINTS = (r"$\theta_1$", r"$\theta_2$", "$d_3$", r"$\theta_4$")
_STYLES = ("-", "--", "-.", ":")


def _finish(axes: Axes, t: Array, **labels: object) -> None:
    axes.set(**{"xlim": (0.0, t[-1]), "xlabel": "time [s]", **labels})
    tidy(axes)


def _lines(axes: Axes, t: Array, values: Array, names: tuple[str, ...]) -> None:
    for line, color, name in zip(values.T, _FIVE, names, strict=False):
        axes.plot(t, line, color=color, linewidth=1.2, label=name)


def _log(axes: Axes, t: Array, values: Array, **style: Any) -> None:
    axes.semilogy(t, np.where(values > 0.0, values, np.nan), linewidth=0.9, **style)


def draw_norms(axes: Axes, experiment: ScaraClik, names: Sequence[str]) -> None:
    """Draw the norm of the task error of some schemes on a logarithmic axis."""
    for color, name in zip(_FIVE, names, strict=False):
        result = experiment.schemes[name].result
        _log(axes, result.t, result.error_norm(), color=color, label=f"Jacobian {name}")
    axes.legend(fontsize="small")
    _finish(axes, result.t, title="norm of the task error [m, rad]", ylim=(1e-9, 1e-1))


def plot_errors(experiment: ScaraClik) -> Figure:
    """Draw position and angle errors of all schemes over time, on logarithmic axes."""
    from matplotlib.pyplot import subplots

    figure, (position, angle) = subplots(1, 2, figsize=(12, 4.2), sharey=True, layout="constrained")
    for color, (name, scheme) in zip(_FIVE, experiment.schemes.items(), strict=True):
        faint = {"alpha": 0.5, "zorder": 1} if name == "second order" else {}  # it would cover the others
        _log(position, scheme.result.t, scheme.position_error(), color=color, label=name, **faint)
        _log(angle, scheme.result.t, np.abs(scheme.angle_error()), color=color)
    t = scheme.result.t
    _finish(position, t, title="position error [m], of the rows of the task", ylim=(1e-10, 1e-1))
    _finish(angle, t, title="angle error [rad]")
    position.legend(ncols=2, loc="upper left", fontsize="small")
    return figure


def plot_velocities(experiment: ScaraClik) -> Figure:
    """Draw joint velocities and errors of inverse (left) and transpose (right)."""
    from matplotlib.pyplot import subplots

    figure, panels = subplots(2, 2, figsize=(12, 5.6), sharex=True, layout="constrained")
    for (above, below), name in zip(panels.T, ("inverse", "transpose"), strict=True):
        result = experiment.schemes[name].result
        _lines(above, result.t, result.dq, _JOINTS)
        _lines(below, result.t, result.error, ("x", "y", "z", r"$\varphi$"))
        _finish(above, result.t, title=f"Jacobian {name}: joint velocities [rad/s, m/s]", xlabel="")
        _finish(below, result.t, title="error [m, rad]")
        above.legend(ncols=4, fontsize="small")
        below.legend(ncols=4, fontsize="small")
        below.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2), useMathText=True)
    return figure


def plot_dexterity(experiment: ScaraClik) -> Figure:
    """Draw manipulability with and without the objective, the elbow, and the motion of the tip with x relaxed."""
    from matplotlib.pyplot import figure as new_figure

    figure = new_figure(figsize=(13, 5.6), layout="constrained")
    panels = figure.subplot_mosaic([["w", "elbow"], ["tip", "tip"]], height_ratios=(1.5, 1.0))  # relaxed, x is long
    left, middle, right = (panels[name] for name in ("w", "elbow", "tip"))
    names = {"pseudo-inverse, w": "with objective", "pseudo-inverse": "without"}
    for color, (name, label) in zip(COLORS, names.items(), strict=False):
        result = experiment.schemes[name].result
        left.plot(result.t, result.manipulability, color=color, label=label)
        middle.plot(result.t, np.degrees(result.q[:, 1]), color=color, label=label)
        right.plot(*experiment.robot.forward_kinematics(result.q)[:, :2, 3].T, color=color, linewidth=1.0, label=label)
    right.plot(*experiment.path(result.t).p[:, :2].T, "--", color=TRUTH, linewidth=0.9, label="path")
    _finish(left, result.t, title=r"$w = \sqrt{\det(J J^\top)}$", ylim=(0.0, None))
    _finish(middle, result.t, title=r"$\theta_2$ [deg]")
    right.set(title="the tip from above", xlabel="x [m], relaxed", ylabel="y [m]", aspect="equal")
    tidy(right)
    left.legend(loc="lower right")
    right.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def plot_transpose(experiment: ScaraTranspose) -> Figure:
    """Draw the region where the printed gains are stable with the path, and the errors of runs to set points."""
    from matplotlib.pyplot import subplots

    figure, (plane, time) = subplots(1, 2, figsize=(12, 5), layout="constrained", width_ratios=(1.1, 1.0))
    _draw_map(plane, experiment)
    for color, (name, runs) in zip(_FIVE, experiment.set_points.items(), strict=False):
        label = f"${name[0]}_{name[1]}$" if len(name) == 2 else name
        for style, (gains, result) in zip(_STYLES, runs.items(), strict=False):
            scale = "" if gains == "printed" else " / 2"
            _log(time, result.t, result.error_norm(), color=color, linestyle=style, label=f"{label}, $K_{{tr}}${scale}")
    _finish(time, result.t, title="set points, started 0.01 away: norm of e [m, rad]", ylim=(1e-12, 10.0))
    time.legend(fontsize="small", ncols=2, loc="center right")
    return figure


def _draw_map(axes: Axes, experiment: ScaraTranspose) -> None:
    from ...plotting.style import figure_of
    from .kinematics import POSTURES

    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 81), np.linspace(-1.0, 1.0, 81))
    number = experiment.map(x, y)
    drawn = axes.contourf(x, y, number, levels=np.arange(1.0, 3.31, 0.2), cmap="viridis")
    axes.contour(x, y, number, levels=[2.0], colors="white", linewidths=2.0)
    figure_of(axes).colorbar(drawn, ax=axes, label=r"$dt\,\lambda_{max}(J J^\top K_{tr})$")
    tips = experiment.robot.forward_kinematics(experiment.on_path["half"].q)[:, :2, 3]
    axes.plot(*tips.T, color=COLORS[1], linewidth=1.4)
    for name, q in POSTURES.items():
        x_tip, y_tip = map(float, experiment.robot.forward_kinematics(q)[:2, 3])
        axes.plot(x_tip, y_tip, "o", color="white", markeredgecolor=TRUTH)
        axes.annotate(
            f"${name[0]}_{name[1]}$", (x_tip, y_tip), xytext=(-16, -12), textcoords="offset points", color="black"
        )
    limits = (-1.08, 1.08)
    axes.set(
        aspect="equal",
        xlim=limits,
        ylim=limits,
        xlabel="x [m]",
        ylabel="y [m]",
        title="unstable outside the white line",
    )


_FOUR = (*COLORS, "#009E73")
_THREE = {"robust": "robust", "adaptive": "adaptive", "integral": "operational space, integral"}
_PANELS = {
    "unit vector": ("computed torque", "robust", "robust, Q for z"),
    "adaptation": ("not adaptive", "adaptive"),
    "integral": ("no integral", "integral", "integral, 15 times"),
}


def _draw_z(axes: Axes, run: Loaded, label: str, color: str, style: str = "-") -> None:
    size = np.abs(run.error[:, 2])
    values = np.where(size > 0.0, size, np.nan)
    axes.semilogy(run.result.t, values, style, color=color, linewidth=1.0 if style == "-" else 2.0, label=label)


def _finish_panel(axes: Axes, end: float, title: str) -> None:
    axes.set(xlim=(0.0, end), xlabel="time [s]", title=title)
    tidy(axes)


def draw_z_errors(axes: Axes, experiment: ScaraControl) -> None:
    """Draw the error along z of the report's three controllers on a logarithmic axis."""
    for color, (name, label) in zip(COLORS, _THREE.items(), strict=True):
        _draw_z(axes, experiment.runs[name], label, color)
    axes.set_ylim(1e-8, 1e-1)
    axes.legend(fontsize="small", ncols=3)
    _finish_panel(axes, experiment.path.duration, "error along z with the payload [m]")


def draw_mass(axes: Axes, experiment: ScaraControl) -> None:
    """Draw the estimated mass of link 3, and the mass of link and payload (Figure 4.4)."""
    axes.plot(experiment.runs["adaptive"].result.t, experiment.estimated_mass(), color=COLORS[1], linewidth=1.1)
    axes.axhline(15.0, color=TRUTH, linestyle="--", linewidth=1.0)
    _finish_panel(axes, experiment.path.duration, "estimated mass of link 3 [kg]")


def plot_control(experiment: ScaraControl) -> Figure:
    """Draw errors along z and in the plane, the estimated mass, and the forces along z."""
    from matplotlib.pyplot import figure as new_figure

    figure = new_figure(figsize=(12, 6.5), layout="constrained")
    panels = figure.subplot_mosaic([["z", "mass"], ["plane", "force"]])
    draw_z_errors(panels["z"], experiment)
    draw_mass(panels["mass"], experiment)
    for color, name in zip(COLORS, _THREE, strict=True):
        run = experiment.runs[name]
        plane = np.linalg.norm(run.error[:, :2], axis=1)
        panels["plane"].semilogy(run.result.t, np.where(plane > 0.0, plane, np.nan), color=color, linewidth=0.9)
        panels["force"].plot(run.result.t, run.result.tau[:, 2], color=color, linewidth=0.9)
    panels["plane"].set_ylim(1e-8, 1e-2)
    # forces of the initial transient with the payload would hide the rest
    late = experiment.runs["adaptive"].result
    steady = late.tau[late.t > 1.0, 2]
    panels["force"].set_ylim(steady.min() - 15.0, steady.max() + 15.0)
    _finish_panel(panels["plane"], experiment.path.duration, "error in the plane [m]")
    _finish_panel(panels["force"], experiment.path.duration, "force of joint 3 [N]")
    return figure


def plot_choices(experiment: ScaraControl) -> Figure:
    """Draw the error along z with and without unit vector, adaptation, integral; dotted: remaining error by theory."""
    from matplotlib.pyplot import subplots

    from .control import CLAIMS

    figure, panels = subplots(1, 3, figsize=(13, 4), sharey=True, layout="constrained")
    for panel, (title, names) in zip(panels, _PANELS.items(), strict=True):
        for color, name in zip(COLORS, names, strict=False):
            _draw_z(panel, experiment.runs[name], name, color, "--" if name == "robust" else "-")
            if CLAIMS[name].theory:
                panel.axhline(CLAIMS[name].theory, color=color, linestyle=":", linewidth=2.0)
        panel.legend(fontsize="small", loc="lower left")
        _finish_panel(panel, experiment.path.duration, f"error along z [m]: {title}")
    panels[0].set_ylim(1e-9, 1e-2)
    return figure


def plot_sampling(experiment: ScaraSampling) -> Figure:
    """Draw the spectral radius over Lambda_3, and the error along z of the runs."""
    from matplotlib.pyplot import subplots

    from .control import spectral_radius

    figure, (radius, time) = subplots(1, 2, figsize=(12, 4), layout="constrained")
    values = np.geomspace(100.0, 20000.0, 200)
    radius.loglog(values, [spectral_radius(float(value)) for value in values], color=TRUTH)
    radius.axhline(1.0, color=TRUTH, linestyle="--", linewidth=1.0)
    for color, (value, result) in zip(_FOUR, experiment.runs.items(), strict=True):
        radius.plot(value, spectral_radius(value), "o", color=color)
        size = np.abs(result.error[:, 2])
        label = rf"$\Lambda_3$ = {value:g}"
        time.loglog(result.t[1:], np.where(size > 0.0, size, np.nan)[1:], color=color, linewidth=1.1, label=label)
    radius.set(xlabel=r"$\Lambda_3$ [1/s]", title="spectral radius along z at 1 ms")
    time.set(xlabel="time [s]", title="error along z [m]", ylim=(1e-9, 10.0))
    time.legend(fontsize="small")
    for axes in (radius, time):
        tidy(axes)
    return figure


def plot_coriolis(dynamics: ScaraDynamics) -> Figure:
    """Draw the Coriolis torques of joints 1 and 2 along the path by the printed matrix and by the printed formula."""
    from matplotlib.pyplot import subplots

    figure, panels = subplots(1, 2, figsize=(12, 3.4), sharey=True, layout="constrained")
    for joint, panel in enumerate(panels):
        panel.plot(dynamics.t, dynamics.torque[:, joint], color=COLORS[0], label="printed matrix")
        panel.plot(dynamics.t, dynamics.printed_torque[:, joint], "--", color=COLORS[1], label="printed formula")
        panel.set(title=f"Coriolis torque of joint {joint + 1} [N m]", xlabel="time [s]", xlim=(0.0, dynamics.t[-1]))
        tidy(panel)
    panels[0].legend(fontsize="small")
    return figure


_ARM = "#444444"
_REACH = 1.0
#: scale of the figure, meters for 1 m/s and 1 N; the frame clips long axes
_SCALES = {"velocity": 0.35, "force": 0.08}
_SMALLER = {"velocity": 0.25, "force": 0.15}  # than in the figure of single postures


def draw_arm(axes: Axes, robot: Robot, q: npt.ArrayLike) -> None:
    """Draw the two links seen from above."""
    draw_sticks(axes, arm_points(robot, q)[None, :3, :2])


def _draw(axes: Axes, center: Array, ellipsoid: Ellipsoid, scale: float, color: str) -> None:
    x, y = center[:, None] + ellipsoid_points(ellipsoid, scale, points=121)
    axes.plot(x, y, color=color, linewidth=1.2)
    axes.fill(x, y, color=color, alpha=0.15)


def plot_postures(kinematics: ScaraKinematics) -> Figure:
    """Draw velocity (above) and force ellipsoids (below) in q1, q2 and q3."""
    from matplotlib.pyplot import subplots

    from .kinematics import POSTURES

    figure, panels = subplots(2, len(POSTURES), figsize=(11, 6.5), layout="constrained")
    for line, (kind, color) in zip(panels, (("velocity", COLORS[0]), ("force", COLORS[1])), strict=True):
        for panel, (name, q) in zip(line, POSTURES.items(), strict=True):
            tip = kinematics.robot.forward_kinematics(q)[:2, 3]
            ellipsoid = getattr(kinematics, kind)(q)
            draw_arm(panel, kinematics.robot, q)
            _draw(panel, tip, ellipsoid, _SCALES[kind], color)
            longest, shortest = ellipsoid.lengths
            unit = "m/s" if kind == "velocity" else "N"
            panel.set_title(f"{kind}, {name[0]}$_{name[1]}$: {longest:.3g} by {shortest:.3g} {unit}", fontsize="medium")
            _frame(panel, (-0.6, 1.6), (-0.4, 1.4))
    return figure


def plot_workspace(kinematics: ScaraKinematics) -> Figure:
    """Draw both ellipsoids at many points of the workspace; by symmetry their shape depends on the radius alone."""
    from matplotlib.pyplot import subplots

    from .kinematics import inverse_kinematics

    figure, panels = subplots(1, 2, figsize=(11, 5.6), layout="constrained")
    for panel, (kind, color) in zip(panels, (("velocity", COLORS[0]), ("force", COLORS[1])), strict=True):
        for radius in (0.25, 0.4, 0.55, 0.7, 0.85, 0.97):
            for azimuth in np.arange(-150.0, 181.0, 30.0):
                tip = radius * np.array([np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth)), 0.0])
                q = inverse_kinematics(tip, 0.0)
                _draw(panel, tip[:2], getattr(kinematics, kind)(q), _SMALLER[kind] * _SCALES[kind], color)
        panel.add_patch(_circle())
        panel.set_title(f"{kind} ellipsoids, elbow to the right")
        _frame(panel, (-1.15, 1.15), (-1.15, 1.15))
    return figure


def _circle() -> object:
    from matplotlib.patches import Circle

    return Circle((0.0, 0.0), _REACH, fill=False, linestyle="--", color=_ARM)


def _frame(axes: Axes, x: tuple[float, float], y: tuple[float, float]) -> None:
    axes.set(xlim=x, ylim=y, aspect="equal", xlabel="x [m]", ylabel="y [m]")
    tidy(axes)


_SAMPLES = 4001


def draw_plan(axes: Axes, path: Path) -> None:
    """Draw a path from above with the limit of the arm's reach; hollow points are over-flown."""
    p = path(np.linspace(0.0, path.duration, _SAMPLES)).p
    axes.plot(p[:, 1], p[:, 0], color=COLORS[0], linewidth=1.6)
    points, passed = path.key_points, path.over_flown
    axes.plot(points[~passed, 1], points[~passed, 0], "o", color=TRUTH, markersize=4, label="reached")
    axes.plot(
        points[passed, 1], points[passed, 0], "o", color="white", markeredgecolor=TRUTH, markersize=5, label="via point"
    )
    reach = np.linspace(-0.35, 0.35, 61)
    axes.plot(np.sin(reach), np.cos(reach), "--", color=TRUTH, linewidth=0.8, label="end of reach")
    axes.set(aspect="equal", xlabel="y [m]", ylabel="x [m], away from the arm", title="the path from above")
    axes.invert_xaxis()
    axes.legend(fontsize="small", loc="upper right", bbox_to_anchor=(1.0, 0.88))
    tidy(axes)


def plot_path(planning: ScaraPlanning) -> Figure:
    """Draw the path from above (Figure 2.1), its height, and the angle over time (Figure 2.2)."""
    from matplotlib.pyplot import figure as new_figure

    figure = new_figure(figsize=(11, 4.8), layout="constrained")
    panels = figure.subplot_mosaic([["plan", "angle"], ["plan", "z"]], width_ratios=(1.1, 1.0))
    draw_plan(panels["plan"], planning.path)
    t = np.linspace(0.0, planning.path.duration, _SAMPLES)
    panels["angle"].plot(t, planning.angle(t), color=COLORS[0])
    panels["angle"].set_yticks([0.0, np.pi / 2, np.pi], ["0", r"$\pi/2$", r"$\pi$"])
    panels["z"].plot(t, planning.path(t).p[:, 2], color=COLORS[0])
    for name, title in (("angle", r"angle $\varphi$ of the end effector"), ("z", "height z [m]")):
        panels[name].set(title=title, xlabel="time [s]", xlim=(0.0, t[-1]))
        tidy(panels[name])
    return figure


def plot_profiles(planning: ScaraPlanning) -> Figure:
    """Draw velocities (above) and accelerations of position and angle over time."""
    from matplotlib.pyplot import subplots

    figure, panels = subplots(2, 2, figsize=(12, 5.4), sharex=True, layout="constrained")
    t = np.linspace(0.0, planning.path.duration, _SAMPLES)
    at = planning.path(t)
    for line, rates, kind, units in (
        (panels[0], at.xi, "velocity", ("m/s", "rad/s")),
        (panels[1], at.xi_dot, "acceleration", ("m/s²", "rad/s²")),
    ):
        for axis, color, name in zip(rates[:, :3].T, COLORS, "xyz", strict=True):
            line[0].plot(t, axis, color=color, linewidth=1.0, label=name)
        line[1].plot(t, rates[:, 5], color=COLORS[0], linewidth=1.2)
        line[0].set_title(f"{kind} of position [{units[0]}]")
        line[1].set_title(f"{kind} of the angle [{units[1]}]")
    for panel in panels.flat:
        panel.set_xlim(0.0, t[-1])
        tidy(panel)
    for panel in panels[1]:
        panel.set_xlabel("time [s]")
    panels[0, 0].legend(ncols=3, fontsize="small")
    return figure


def plot_scara(scara: Scara) -> Figure:
    """Draw the path, errors of inverse and transpose, errors along z of the controllers, and the estimated mass."""
    from matplotlib.pyplot import figure as new_figure

    figure = new_figure(figsize=(12, 8), layout="constrained")
    panels = figure.subplot_mosaic([["plan", "clik"], ["z", "mass"]])
    draw_plan(panels["plan"], scara.planning.path)
    draw_norms(panels["clik"], scara.clik, ("inverse", "transpose"))
    draw_z_errors(panels["z"], scara.control)
    draw_mass(panels["mass"], scara.control)
    return figure
