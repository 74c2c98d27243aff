"""Draw the figures of docs/theory: ``python docs/images/make_theory.py [folder]``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import thunder_py as th
from thunder_py.control import GradientAdaptation, NaturalAdaptation
from thunder_py.manipulation.wrist import ElasticWrist, WristThrow, free_switching, one_switch
from thunder_py.motion import FPCA, HumanLikePlanner
from thunder_py.recordings.synthetic import minimum_jerk_reaches

BLUE, ORANGE, GREEN, PURPLE, INK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#222222"
LAWS: dict[str, tuple[Callable[[Any], Any], str]] = {
    r"$r\sin\theta$ with $L^{-1}$": (np.tan, BLUE),
    r"$r\sin\theta$": (np.sin, ORANGE),
    r"$r\theta$": (lambda angle: angle, GREEN),
    r"$r\sin(\theta/2)$": (lambda angle: np.sin(angle / 2), PURPLE),
}


def falling(speed: Callable[[Any], Any], start: float, t: np.ndarray) -> np.ndarray:
    """Integrate theta' = -speed(theta) from `start`, held within half a turn."""
    angle, path = start, []
    for dt in np.diff(t, prepend=t[0]):
        angle = float(np.clip(angle - dt * speed(angle), 0.0, np.pi))
        path.append(angle)
    return np.array(path)


def draw_orientation() -> Figure:
    """Angular speed that laws ask for, and where the angle goes."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.0), layout="constrained")
    angles, t = np.linspace(0.0, np.pi, 721), np.linspace(0.0, 4.0, 4001)
    for name, (speed, color) in LAWS.items():
        values = speed(angles)
        left.plot(np.degrees(angles), np.where(np.abs(values) < 4.0, values, np.nan), color=color, label=name)
        for start, style in ((80.0, "-"), (100.0, "--")):
            right.plot(t, np.degrees(falling(speed, np.radians(start), t)), style, color=color)
    left.axhline(0.0, color=INK, linewidth=0.6)
    left.set(xlabel=r"$\theta$ [deg]", ylabel="speed towards 0 [rad/s]", ylim=(-3.2, 3.2), xticks=range(0, 181, 45))
    left.legend(fontsize="small")
    right.set(xlabel="time [s]", ylabel=r"$\theta$ [deg]", ylim=(0, 185), yticks=range(0, 181, 45))
    return figure


def draw_lyapunov() -> Figure:
    """V along runs of an elbow that believes in half of some parameters, and the errors."""
    elbow = th.Robot.load("elbow")
    half = elbow.with_parameters(0.5 * elbow.parameters)
    lighter = elbow.with_parameters(np.where(elbow.unknown("link2.m").mask, 0.5, 1.0) * elbow.parameters)
    mass = GradientAdaptation(1.0, unknown="link2.m")
    laws = {
        "Slotine-Li, all 20 unknown": th.SlotineLi(half, 5.0, 8.0, adaptation=GradientAdaptation(1.0)),
        "natural law, both links unknown": th.SlotineLi(half, 5.0, 8.0, adaptation=NaturalAdaptation(1.0)),
        "Slotine-Li, $m_2$ unknown": th.SlotineLi(lighter, 5.0, 8.0, adaptation=mass),
        "MACT, $m_2$ unknown": th.MACT(lighter, 40.0, 8.0, adaptation=mass, gamma=0.5, R_t=1.0),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.0), layout="constrained")
    motion = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8], center=[0.3, 0.8])
    start = motion(0.0)
    for (name, law), color in zip(laws.items(), (BLUE, GREEN, ORANGE, PURPLE), strict=True):
        run = th.simulate(elbow, law, motion, 10.0, q0=start.q, dq0=start.dq)
        V = run.lyapunov(law).V
        left.semilogy(run.t, V / V[0], color=color, label=name)
        right.semilogy(run.t, run.error_norm(), color=color, linewidth=1.0)
    left.set(xlabel="time [s]", ylabel="V / V(0)", ylim=(1e-5, 3))
    left.legend(fontsize="small", loc="center right")
    right.set(xlabel="time [s]", ylabel="tracking error [rad]", ylim=(1e-5, 0.2))
    return figure


def draw_components() -> Figure:
    """Mean and components of reaches, and what a planner makes of them."""
    figure, axes = plt.subplots(1, 3, figsize=(8.5, 2.8), layout="constrained")
    motions = minimum_jerk_reaches(80, seed=3, boundary_velocity=0.2, boundary_acceleration=1.0)
    fpca, tau = FPCA(n_components=5, alignment="none", shrinkage=0.0).fit(motions), np.linspace(0.0, 1.0, 201)
    axes[0].plot(tau, fpca.mean(tau)[:, 0], color=INK)
    axes[0].set(xlabel=r"$\tau$", ylabel="[m]", title=r"$S_0$, x", yticks=[])
    axes[1].plot(tau, fpca.components(tau)[:3, :, 0].T)
    axes[1].set(xlabel=r"$\tau$", title=r"$S_1, S_2, S_3$, x", yticks=[])
    start, goal = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.0, 0.4])
    planner = HumanLikePlanner(FPCA(alignment="path", shrinkage=0.2).fit(motions))
    t = np.linspace(0.0, 1.2, 101)
    mean, deviation, _ = planner.tube(start, goal, 1.2, t=t)
    axes[2].plot(t, mean[:, 0], color=BLUE)
    axes[2].fill_between(t, mean[:, 0] - 2 * deviation[:, 0], mean[:, 0] + 2 * deviation[:, 0], color=BLUE, alpha=0.25)
    axes[2].set(xlabel="t [s]", ylabel="x [m]", title="conditioned on both ends")
    return figure


def draw_phase(ax: Axes, throw: WristThrow, title: str) -> None:
    """Draw one throw in the phase plane, a color for each bound of the motor."""
    t = np.linspace(0.0, throw.T, 600)
    (q, dq), u = throw.state(t), throw.control(t)
    for bound, color in ((u.min(), BLUE), (u.max(), ORANGE)):
        ax.plot(np.where(u == bound, q, np.nan), np.where(u == bound, dq, np.nan), color=color)
    ax.set(title=title, xlabel="q [rad]", ylabel="dq [rad/s]")


def draw_switching() -> Figure:
    """Phase plane of the elastic wrist, and the switching function."""
    wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03, theta_max=0.6)
    figure, axes = plt.subplots(1, 3, figsize=(8.5, 2.9), layout="constrained")
    throws = {"T = 0.15 s": one_switch(wrist, 0.15), "T = 0.30 s": free_switching(wrist, 0.30)}
    for ax, (title, throw) in zip(axes, throws.items(), strict=False):
        draw_phase(ax, throw, title)
    for (title, throw), color in zip(throws.items(), (GREEN, PURPLE), strict=True):
        t = np.linspace(0.0, throw.T, 400)
        axes[2].plot(t - throw.T, throw.costates(t)[:, 1], color=color, label=title)
    axes[2].axhline(0.0, color=INK, linewidth=0.6)
    axes[2].set(title=r"switching function $\lambda_2$", xlabel="t - T [s]")
    axes[2].legend(fontsize="small")
    return figure


def draw_throw(ax: Axes) -> None:
    """D4.2, Figure 24: flights of (77) from one release at several angles."""
    p, speed, floor = np.array([0.0, 0.0, 0.6]), 2.5, 0.0
    for degrees, color in ((20.0, GREEN), (45.0, BLUE), (65.0, PURPLE)):
        v = speed * np.array([np.cos(np.radians(degrees)), 0.0, np.sin(np.radians(degrees))])
        fall = th.manipulation.landing(p, v, floor)
        t = np.linspace(0.0, fall.time, 100)[:, None]
        path = p + v * t + 0.5 * np.array([0.0, 0.0, -9.81]) * t**2
        ax.plot(path[:, 0], path[:, 2], color=color, label=rf"$\theta$ = {degrees:g}°, d = {path[-1, 0]:.2f} m")
    ax.annotate("h", (0.02, 0.28))
    ax.plot([0.0, 0.0], [floor, p[2]], "--", color=INK, linewidth=0.8)
    ax.set(title="D4.2, Figure 24: throw", xlabel="d [m]", ylabel="height [m]", ylim=(0.0, 1.4))
    ax.legend(fontsize="x-small")


def draw_wrist(ax: Axes) -> None:
    """D4.2, Figure 29: base pitched down by alpha, motor angle theta, link at q on a spring."""
    alpha, theta, q = np.radians([15.0, -50.0, -30.0])
    for angle, color, style, name in (
        (0.0, INK, "-", r"base, pitched by $\alpha$"),
        (theta, ORANGE, "--", r"motor, $\theta$"),
        (q, BLUE, "-", "link, q, with its center of mass"),
    ):  # q turns from x to z, the pitch is down
        x, z = np.cos(-alpha - angle), np.sin(-alpha - angle)
        ax.plot([0.0, x], [0.0, z], style, color=color, label=name)
    ax.plot(0.7 * np.cos(-alpha - q), 0.7 * np.sin(-alpha - q), "o", color=BLUE)
    turns = np.linspace(0.0, 1.0, 200)
    wave = 0.45 + 0.05 * np.sin(2.0 * np.pi * 8.0 * turns)
    between = -alpha - (theta + turns * (q - theta))
    ax.plot(wave * np.cos(between), wave * np.sin(between), color=GREEN, linewidth=0.8, label="stiffness k, damping c")
    ax.axhline(0.0, color=INK, linewidth=0.4, linestyle=":")
    ax.set(
        title="D4.2, Figure 29: elastic wrist",
        xlabel="x [m]",
        ylabel="z [m]",
        aspect="equal",
        xlim=(-0.1, 1.6),
        ylim=(-0.4, 1.3),
    )
    ax.legend(fontsize="x-small", loc="upper left")


def draw_regions(ax: Axes) -> None:
    """D4.2, Figure 35: new goal and new time of a plan over where the object will be at the planned time."""
    strategy, speed = th.manipulation.VariableStructure(), 0.26
    lead = np.linspace(-0.12, 0.16, 561)
    inside = (lead >= -strategy.behind) & (lead <= strategy.ahead)
    ax.axvspan(-strategy.behind, strategy.ahead, color=ORANGE, alpha=0.2, label="the planned time is kept")
    ax.plot(lead, np.where(inside, lead, 0.0), color=BLUE, label=r"goal less $p_{ref}$ [m]")
    ax.plot(lead, np.where(inside, 0.0, -lead / speed), color=GREEN, label=r"change of $t_f$ [s]")
    ax.set(title="D4.2, Figure 35: regions", xlabel=r"object less $p_{ref}$ at $t_f$ [m]", ylabel="goal [m], time [s]")
    ax.legend(fontsize="x-small")


def draw_report() -> Figure:
    """Schemes of the report: a throw, the wrist, the strategy with two regions."""
    figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.2), layout="constrained")
    for ax, draw in zip(axes, (draw_throw, draw_wrist, draw_regions), strict=True):
        draw(ax)
    return figure


def main() -> None:
    """Draw all of them."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    drawings = {
        "orientation": draw_orientation,
        "lyapunov": draw_lyapunov,
        "components": draw_components,
        "switching": draw_switching,
        "report": draw_report,
    }
    for name, draw in drawings.items():
        figure = draw()
        figure.savefig(folder / f"theory_{name}.png", dpi=100, pil_kwargs={"optimize": True})
        plt.close(figure)


if __name__ == "__main__":
    main()
