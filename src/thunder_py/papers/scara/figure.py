"""Figures of the SCARA project; numbers in parentheses count the report's figures without one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from ...checks import Array
from ...plotting import style
from ...plotting.ellipsoid import ELLIPSOID_COLORS, ellipsoid_points
from ...plotting.panels import new_panels
from ...plotting.space import draw_sticks
from ...plotting.style import draw_lines, draw_truth, figure_of, label, label_time, outside_legend, positive
from ...robot import Ellipsoid, Robot
from ...robot.frames import arm_points
from ...trajectory import Path
from .control import CLAIMS, ScaraControl, ScaraDynamics, ScaraSampling, spectral_radius
from .kinematics import POSTURES, ScaraClik, ScaraKinematics, ScaraPlanning, ScaraTranspose, inverse_kinematics
from .run import Scara

_STYLES = ("-", "--", "-.", ":")


def _log(axes: Axes, t: Array, values: Array, **options: Any) -> None:
    axes.semilogy(t, positive(values), **{"linewidth": style.LINE, **options})


def draw_position_errors(axes: Axes, experiment: ScaraClik, title: str) -> None:
    """Draw the position errors of all schemes on a logarithmic axis."""
    errors = {name: scheme.position_error() for name, scheme in experiment.schemes.items()}
    draw_lines(axes, experiment.t, errors, title, "position error [m]", log=True, ylim=(1e-10, 1e-1))
    axes.lines[list(errors).index("second order")].set(alpha=0.5, zorder=1)  # it would cover the others


def plot_errors(experiment: ScaraClik) -> Figure:
    """Draw position and angle errors of all schemes over time, on logarithmic axes."""
    title = "SCARA project, chapter 3: errors of closed-loop inverse kinematics"
    figure, panels = new_panels([["position", "angle"]], (12, 4.8), title)
    draw_position_errors(panels["position"], experiment, "position, rows of the task")
    errors = {name: np.abs(scheme.angle_error()) for name, scheme in experiment.schemes.items()}
    draw_lines(panels["angle"], experiment.t, errors, "angle", "angle error [rad]", log=True, ylim=(1e-10, 1e-1))
    return outside_legend(figure, panels["position"])


def plot_velocities(experiment: ScaraClik) -> Figure:
    """Draw joint velocities and position errors of inverse (left) and transpose (right)."""
    title = "SCARA project, Figures (3.3) to (3.5): inverse and transpose of the Jacobian"
    figure, panels = new_panels("ab;cd;ef", (12, 8), title)
    for names, scheme in (("ace", "inverse"), ("bdf", "transpose")):
        result = experiment.schemes[scheme].result
        turning, sliding, error = (panels[name] for name in names)
        joints = {rf"$\theta_{k + 1}$": result.dq[:, k] for k in (0, 1, 3)}
        draw_lines(turning, result.t, joints, f"{scheme}: revolute joints", "velocity [rad/s]")
        third, errors = {"$d_3$": result.dq[:, 2]}, dict(zip("xyz", 1e6 * result.error.T, strict=False))
        draw_lines(sliding, result.t, third, f"{scheme}: prismatic joint", "velocity [m/s]", colors=style.COLORS[3:])
        look: dict[str, Any] = {"colors": style.AXIS_COLORS, "width": style.THIN}
        draw_lines(error, result.t, errors, f"{scheme}: position", "error [µm]", **look)
    for name in "bdf":
        panels[name].legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _draw_manipulability(axes: Axes, experiment: ScaraClik, title: str) -> None:
    names = {"with objective": "pseudo-inverse, w", "without objective": "pseudo-inverse"}
    curves = {shown: experiment.schemes[name].result.manipulability for shown, name in names.items()}
    draw_lines(axes, experiment.t, curves, title, r"$w = \sqrt{\det(J J^\top)}$ [m]", ylim=(0.0, None))


def plot_dexterity(experiment: ScaraClik) -> Figure:
    """Draw joints, errors and manipulability with and without the objective, and the tip with x relaxed."""
    title = "SCARA project, Figures (3.7) and (3.8): pseudo-inverse with x relaxed"
    # relaxed, x is long
    rows = [["q", "error", "w"], ["tip", "tip", "tip"]]
    figure, panels = new_panels(rows, (12, 6), title, height_ratios=(1.5, 1.0))
    _draw_manipulability(panels["w"], experiment, "Figure (3.8): manipulability")
    for color, name, dashes in zip(style.COLORS, ("pseudo-inverse, w", "pseudo-inverse"), "-:", strict=False):
        result = experiment.schemes[name].result
        tip = experiment.robot.forward_kinematics(result.q)
        panels["tip"].plot(*tip[:, :2, 3].T, color=color, linewidth=style.LINE)
        for panel, values, names, what in (
            ("q", result.q, _JOINTS, "Figure (3.7a): q"),
            ("error", result.error, result.rows, "Figure (3.7b): error"),
        ):
            captions = names if dashes == "-" else [f"_{one}" for one in names]
            title, unit = f"{what}, dotted: without the objective", "q [rad, m]" if panel == "q" else "error [m, rad]"
            curves = dict(zip(captions, values.T, strict=False))
            draw_lines(panels[panel], result.t, curves, title, unit, colors=style.COLORS[2:], linestyle=dashes)
    path = experiment.path(result.t).p[:, :2]
    panels["tip"].plot(*path.T, "--", color=style.TRUTH, linewidth=style.THIN, label="path")
    for name in ("q", "error"):
        panels[name].legend(fontsize="small")
    label(panels["tip"], "tip from above, x relaxed", "x [m]", "y [m]", aspect="equal")
    return outside_legend(figure, panels["w"], panels["tip"])


#: labels of the joints
_JOINTS = (r"$\theta_1$", r"$\theta_2$", "$d_3$", r"$\theta_4$")


def plot_transpose(experiment: ScaraTranspose) -> Figure:
    """Draw the region where the printed gains are stable with the path, and the errors of runs to set points."""
    title = "SCARA project, section 3.2: stability of the printed $K_{tr}$ at 1 ms"
    figure, panels = new_panels([["map", "time"]], (12, 5), title, width_ratios=(1.1, 1.0))
    _draw_map(panels["map"], experiment)
    time = panels["time"]
    for color, (name, runs) in zip(style.COLORS, experiment.set_points.items(), strict=False):
        start = f"${name[0]}_{name[1]}$" if len(name) == 2 else name
        for dashes, (gains, result) in zip(_STYLES, runs.items(), strict=False):
            scale = "" if gains == "printed" else " / 2"
            name = f"{start}, $K_{{tr}}${scale}"
            _log(time, result.t, np.linalg.norm(result.error[:, :3], axis=1), color=color, linestyle=dashes, label=name)
    label_time(time, result.t, "set points, started 0.01 away", "position error [m]", ylim=(1e-12, 10.0))
    return outside_legend(figure, time, ncols=8)


def _draw_map(axes: Axes, experiment: ScaraTranspose) -> None:

    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 81), np.linspace(-1.0, 1.0, 81))
    number = experiment.map(x, y)
    drawn = axes.contourf(x, y, number, levels=np.arange(1.0, 3.31, 0.2), cmap="viridis")
    axes.contour(x, y, number, levels=[2.0], colors="white", linewidths=2.0)
    figure_of(axes).colorbar(drawn, ax=axes, label=r"$dt\,\lambda_{max}(J J^\top K_{tr})$ [1]")
    tips = experiment.robot.forward_kinematics(experiment.on_path["half"].q)[:, :2, 3]
    axes.plot(*tips.T, color=style.VERMILION, linewidth=style.LINE)
    for name, q in POSTURES.items():
        tip: Any = experiment.robot.forward_kinematics(q)[:2, 3]
        axes.plot(*tip, "o", color="white", markeredgecolor=style.TRUTH)
        axes.annotate(f"${name[0]}_{name[1]}$", tip, xytext=(-16, -12), textcoords="offset points")
    limits = (-1.08, 1.08)
    axes.set_axisbelow(True)
    label(axes, "unstable outside the white line", "x [m]", "y [m]", aspect="equal", xlim=limits, ylim=limits)


#: run of the report's three controllers -> law
_LAWS = {"robust": "robust", "adaptive": "Slotine-Li", "integral": "operational space"}
#: choice -> its runs with law and dashes
_CHOICES: dict[str, dict[str, tuple[str, str]]] = {
    "unit vector": {"computed torque": ("CT", "-"), "robust": ("robust", "--"), "robust, Q for z": ("robust", "-")},
    "adaptation": {"not adaptive": ("not adaptive", "-"), "adaptive": ("Slotine-Li", "-")},
    "integral": {
        "no integral": ("operational space", ":"),
        "integral": ("operational space", "--"),
        "integral, 15 times": ("operational space", "-"),
    },
}


def draw_z_errors(axes: Axes, experiment: ScaraControl) -> None:
    """Draw the error along z of the report's three controllers on a logarithmic axis."""
    errors = {law: np.abs(experiment.runs[name].error[:, 2]) for name, law in _LAWS.items()}
    t, title = experiment.runs["robust"].result.t, "Figures 4.2, 4.5, 4.7: with 5 kg"
    draw_lines(axes, t, errors, title, "error along z [m]", log=True, ylim=(1e-8, 1e-1))


def draw_mass(axes: Axes, experiment: ScaraControl) -> None:
    """Draw the estimated mass of link 3, and the mass of link and payload (Figure 4.4)."""
    curves, colors = {"_": experiment.estimated_mass()}, [style.LAW_COLORS["Slotine-Li"]]
    t = experiment.runs["adaptive"].result.t
    draw_lines(axes, t, curves, "Figure 4.4: estimate with 5 kg", "mass of link 3 [kg]", colors=colors)
    draw_truth(axes, 15.0, "link and payload")


def plot_control(experiment: ScaraControl) -> Figure:
    """Draw errors along z and in the plane, the estimated mass, forces along z, and Figure 4.7: errors and torques."""
    title = "SCARA project, Figures 4.2, 4.4, 4.5 and 4.7: control with a payload of 5 kg"
    figure, panels = new_panels([["z", "mass", "error"], ["plane", "force", "tau"]], (12, 7), title)
    draw_z_errors(panels["z"], experiment)
    draw_mass(panels["mass"], experiment)
    runs = {law: experiment.runs[name] for name, law in _LAWS.items()}
    t, integral = runs["robust"].result.t, experiment.runs["integral"]
    plane = {law: np.linalg.norm(run.error[:, :2], axis=1) for law, run in runs.items()}
    draw_lines(panels["plane"], t, plane, "in the plane", "error in x and y [m]", log=True, ylim=(1e-8, 1e-2))
    # forces of the initial transient with the payload would hide the rest
    forces = {law: run.result.tau[:, 2] for law, run in runs.items()}
    steady = forces["Slotine-Li"][t > 1.0]
    limits = (steady.min() - 15.0, steady.max() + 15.0)
    draw_lines(panels["force"], t, forces, "prismatic joint", "force of joint 3 [N]", ylim=limits)
    errors, torques = np.abs(integral.error.T), integral.result.tau.T
    title = "Figure 4.7a: operational space"
    axis: dict[str, Any] = {"colors": style.AXIS_COLORS, "log": True, "ylim": (1e-9, 1e-2)}
    draw_lines(panels["error"], t, dict(zip("xyz", errors, strict=True)), title, "error [m]", **axis)
    joints, title = dict(zip(_JOINTS, torques, strict=True)), "Figure 4.7b: operational space"
    draw_lines(panels["tau"], t, joints, title, "torque [N m], force [N]", width=style.THIN)
    for name in ("error", "tau"):
        panels[name].legend(fontsize="small", loc="center right", ncols=2)
    return outside_legend(figure, panels["z"], panels["mass"])


def plot_choices(experiment: ScaraControl) -> Figure:
    """Draw the error along z with and without unit vector, adaptation, integral; dotted: remaining error by theory."""
    title = "SCARA project, chapter 4: error along z with 5 kg"
    figure, panels = new_panels([[*_CHOICES]], (12, 4.5), title, sharey=True)
    for choice, runs in _CHOICES.items():
        for name, (law, dashes) in runs.items():
            t, error = experiment.runs[name].result.t, np.abs(experiment.runs[name].error[:, 2])
            _log(panels[choice], t, error, color=style.LAW_COLORS[law], label=name, linestyle=dashes)
            if CLAIMS[name].theory:
                look: dict[str, Any] = {"color": style.TRUTH, "clip_on": False, "label": "by theory"}
                panels[choice].plot(t[-1:], CLAIMS[name].theory, "<", **look)
        label_time(panels[choice], t, choice, "error along z [m]", ylim=(1e-9, 1e-2))
    return outside_legend(figure, *panels.values(), ncols=8)


def plot_sampling(experiment: ScaraSampling) -> Figure:
    """Draw the spectral radius over Lambda_3, and the error along z of the runs."""
    title = r"SCARA project, section 4.2: stability of the printed $\Lambda_3$ at 1 ms"
    figure, panels = new_panels([["radius", "time"]], (12, 4.5), title)
    values = np.geomspace(100.0, 20000.0, 200)
    panels["radius"].loglog(values, [spectral_radius(float(value)) for value in values], color=style.TRUTH)
    draw_truth(panels["radius"], 1.0)
    for color, (value, result) in zip(style.COLORS, experiment.runs.items(), strict=False):
        panels["radius"].plot(value, spectral_radius(value), "o", color=color)
        name = rf"$\Lambda_3$ = {value:g} 1/s"
        _log(panels["time"], result.t[1:], np.abs(result.error[1:, 2]), color=color, label=name)
    label(panels["radius"], "error dynamics along z", r"$\Lambda_3$ [1/s]", "spectral radius [1]")
    label(panels["time"], "runs", "time [s]", "error along z [m]", ylim=(1e-9, 10.0), xscale="log")
    return outside_legend(figure, panels["time"])


def plot_coriolis(dynamics: ScaraDynamics) -> Figure:
    """Draw the Coriolis torques of joints 1 and 2 along the path by the printed matrix and by the printed formula."""
    title = "SCARA project, chapter 4: Coriolis torques along the path"
    figure, panels = new_panels("01", (12, 4), title, sharey=True)
    for joint, panel in enumerate(panels.values()):
        curves = {"printed matrix": dynamics.torque[:, joint], "printed formula": dynamics.printed_torque[:, joint]}
        draw_lines(panel, dynamics.t, curves, f"joint {joint + 1}", "Coriolis torque [N m]")
        panel.lines[1].set_linestyle("--")
    return outside_legend(figure, panels["0"])


_REACH = 1.0
#: scale of the figure, meters for 1 m/s and 1 N; the frame clips long axes
_SCALES = {"velocity": 0.35, "force": 0.08}
_SMALLER = {"velocity": 0.25, "force": 0.15}  # than in the figure of single postures
_UNITS = {"velocity": "m/s", "force": "N"}


def draw_arm(axes: Axes, robot: Robot, q: npt.ArrayLike) -> None:
    """Draw the two links seen from above."""
    draw_sticks(axes, arm_points(robot, q)[None, :3, :2])


def _draw(axes: Axes, center: Array, ellipsoid: Ellipsoid, scale: float, kind: str) -> None:
    x, y = center[:, None] + ellipsoid_points(ellipsoid, scale, points=121)
    axes.plot(x, y, color=ELLIPSOID_COLORS[kind], linewidth=style.LINE)
    axes.fill(x, y, color=ELLIPSOID_COLORS[kind], alpha=0.15)


def plot_postures(kinematics: ScaraKinematics) -> Figure:
    """Draw velocity (above) and force ellipsoids (below) in q1, q2 and q3."""
    rows = [[f"{kind} {name}" for name in POSTURES] for kind in _SCALES]
    title = "SCARA project, section 1.4: manipulability ellipsoids"
    figure, panels = new_panels(rows, (11, 7), title)
    for kind, scale in _SCALES.items():
        for name, q in POSTURES.items():
            panel, ellipsoid = panels[f"{kind} {name}"], getattr(kinematics, kind)(q)
            draw_arm(panel, kinematics.robot, q)
            _draw(panel, kinematics.robot.forward_kinematics(q)[:2, 3], ellipsoid, scale, kind)
            longest, shortest = ellipsoid.lengths
            size = f"{longest:.3g} by {shortest:.3g} {_UNITS[kind]}"
            _frame(panel, f"{kind}, {name[0]}$_{name[1]}$: {size}", (-0.6, 1.6), (-0.4, 1.4))
    return figure


def plot_workspace(kinematics: ScaraKinematics) -> Figure:
    """Draw both ellipsoids at many points of the workspace; by symmetry their shape depends on the radius alone."""
    title = "SCARA project, section 1.4: ellipsoids in the workspace, elbow to the right"
    figure, panels = new_panels([[*_SCALES]], (11, 6), title)
    for kind, panel in panels.items():
        _draw_workspace(panel, kinematics, kind, f"{kind} ellipsoids")
    return figure


def _draw_workspace(axes: Axes, kinematics: ScaraKinematics, kind: str, title: str) -> None:

    for radius in (0.25, 0.4, 0.55, 0.7, 0.85, 0.97):
        for azimuth in np.arange(-150.0, 181.0, 30.0):
            tip = radius * np.array([np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth)), 0.0])
            q = inverse_kinematics(tip, 0.0)
            _draw(axes, tip[:2], getattr(kinematics, kind)(q), _SMALLER[kind] * _SCALES[kind], kind)
    axes.add_patch(Circle((0.0, 0.0), _REACH, fill=False, linestyle="--", color=style.ARM))
    _frame(axes, title, (-1.15, 1.15), (-1.15, 1.15))


def _frame(axes: Axes, title: str, x: tuple[float, float], y: tuple[float, float]) -> None:
    label(axes, title, "x [m]", "y [m]", xlim=x, ylim=y, aspect="equal")


_SAMPLES = 4001


def draw_plan(axes: Axes, path: Path) -> None:
    """Draw a path from above with the limit of the arm's reach; hollow points are over-flown."""
    p = path(np.linspace(0.0, path.duration, _SAMPLES)).p
    axes.plot(p[:, 1], p[:, 0], color=style.BLUE, linewidth=style.LINE)
    points, passed = path.key_points, path.over_flown
    axes.plot(points[~passed, 1], points[~passed, 0], "o", color=style.TRUTH, markersize=4, label="reached")
    hollow: dict[str, Any] = {"color": "white", "markeredgecolor": style.TRUTH, "markersize": 5}
    axes.plot(points[passed, 1], points[passed, 0], "o", label="via point", **hollow)
    reach = np.linspace(-0.35, 0.35, 61)
    axes.plot(np.sin(reach), np.cos(reach), "--", color=style.TRUTH, linewidth=style.THIN, label="end of reach")
    label(axes, "Figure 2.1: path from above", "y [m]", "x [m]", aspect="equal")
    axes.invert_xaxis()


def plot_path(planning: ScaraPlanning) -> Figure:
    """Draw the path from above (Figure 2.1), its height, and the angle over time (Figure 2.2)."""
    title = "SCARA project, Figures 2.1 and 2.2: planned path"
    figure, panels = new_panels([["plan", "angle"], ["plan", "z"]], (11, 5.5), title, width_ratios=(1.1, 1.0))
    draw_plan(panels["plan"], planning.path)
    t = np.linspace(0.0, planning.path.duration, _SAMPLES)
    angle, title = {"_": planning.angle(t)}, "Figure 2.2: orientation of the end effector"
    draw_lines(panels["angle"], t, angle, title, r"$\varphi$ [rad]")
    panels["angle"].set_yticks([0.0, np.pi / 2, np.pi], ["0", r"$\pi/2$", r"$\pi$"])
    draw_lines(panels["z"], t, {"_": planning.path(t).p[:, 2]}, "height", "z [m]")
    return outside_legend(figure, panels["plan"])


def plot_profiles(planning: ScaraPlanning) -> Figure:
    """Draw velocities (above) and accelerations of position and angle over time."""
    figure, panels = new_panels("ab;cd", (12, 6), "SCARA project, Figures (2.3) and (2.4): velocity and acceleration")
    t = np.linspace(0.0, planning.path.duration, _SAMPLES)
    at = planning.path(t)
    look: dict[str, Any] = {"colors": style.AXIS_COLORS, "width": style.THIN}
    for names, rates, kind, unit in (("ab", at.xi, "velocity", "s"), ("cd", at.xi_dot, "acceleration", "s²")):
        axes = dict(zip("xyz", rates.T, strict=False))
        draw_lines(panels[names[0]], t, axes, f"{kind} of the position", f"{kind} [m/{unit}]", **look)
        draw_lines(panels[names[1]], t, {"_": rates[:, 5]}, f"{kind} of the angle", f"{kind} [rad/{unit}]")
    return outside_legend(figure, panels["a"])


def plot_scara(scara: Scara) -> Figure:
    """Draw velocity ellipsoids, the path, errors of the inverse kinematics, w, errors of the controllers, the mass."""
    title = "SCARA project: ellipsoids, path, inverse kinematics and control"
    figure, panels = new_panels([["cells", "plan", "clik"], ["w", "z", "mass"]], title=title)
    _draw_workspace(panels["cells"], scara.kinematics, "velocity", "section 1.4: velocity ellipsoids")
    draw_plan(panels["plan"], scara.planning.path)
    draw_position_errors(panels["clik"], scara.clik, "chapter 3: inverse kinematics")
    _draw_manipulability(panels["w"], scara.clik, "Figure (3.8): manipulability")
    draw_z_errors(panels["z"], scara.control)
    draw_mass(panels["mass"], scara.control)
    for name, top in (("clik", 1e3), ("z", 1.0)):  # room for the legends
        panels[name].set_ylim(top=top)
    corner: Any
    for name, corner in (("clik", "upper left"), ("w", "lower right"), ("z", "upper right"), ("mass", "lower right")):
        panels[name].legend(fontsize="small", loc=corner)
    return figure
