"""Draw docs/images/conventions.svg: ``python docs/images/make_conventions.py [file]``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.axes3d import Axes3D

from thunder_py.spatial import dh_transform, rotation_about

A, D, THETA = 1.1, 1.0, np.radians(40)
ALPHA = {"modified": np.radians(-50), "standard": np.radians(55)}
RED, GREEN, BLUE, INK, SOFT = "#c0392b", "#1e8449", "#2471a3", "#222222", "#999999"


def arrow(ax: Axes3D, start: np.ndarray, end: np.ndarray, color: str, width: float = 2.0) -> None:
    """Arrow between two points."""
    ax.quiver(*start, *(end - start), color=color, linewidth=width, arrow_length_ratio=0.16)


def frame(ax: Axes3D, T: np.ndarray, label: str) -> None:
    """Axes of a frame, named."""
    size, origin = 0.5, T[:3, 3]
    for k, (letter, color) in enumerate(zip("xyz", (RED, GREEN, BLUE), strict=True)):
        arrow(ax, origin, origin + size * T[:3, k], color)
        beside = 0.12 * (T[:3, (k + 1) % 3] if letter != "y" else T[:3, k])  # off the dashed lines
        at = origin + size * T[:3, k] + beside
        ax.text(*at, f"${letter}_{{{label}}}$", color=color, fontsize=11, ha="center", va="center")


def length(ax: Axes3D, start: np.ndarray, end: np.ndarray, name: str, shift: tuple[float, float, float]) -> None:
    """Dashed line of a translation, named."""
    ax.plot(*np.transpose([start, end]), color=INK, linewidth=1.4, linestyle=(0, (4, 2)))
    ax.text(*((start + end) / 2 + shift), f"${name}$", color=INK, fontsize=13, ha="center", va="center")


def angle(ax: Axes3D, T: np.ndarray, axis: str, value: float, name: str) -> None:
    """Arc of a rotation of frame T: about x, from z; about z, from x. The axis it starts from is drawn too."""
    origin, radius = T[:3, 3], 0.36
    first, second = {"x": (T[:3, 2], -T[:3, 1]), "z": (T[:3, 0], T[:3, 1])}[axis]
    arrow(ax, origin, origin + 0.5 * first, SOFT, 1.2)
    t = np.linspace(0, value, 30)
    ax.plot(*(origin[:, None] + radius * (np.outer(first, np.cos(t)) + np.outer(second, np.sin(t)))), color=INK)
    middle = origin + (1.45 if axis == "x" else 1.6) * radius * (first * np.cos(value / 2) + second * np.sin(value / 2))
    ax.text(*middle, f"${name}$", color=INK, fontsize=13, ha="center", va="center")


def move(axis: str, distance: float) -> np.ndarray:
    """Pose of a translation along x or z."""
    T = np.eye(4)
    T["xyz".index(axis), 3] = distance
    return T


def turn(axis: str, value: float) -> np.ndarray:
    """Pose of a rotation about x or z."""
    T = np.eye(4)
    T[:3, :3] = rotation_about(axis, value)
    return T


def draw_dh(ax: Axes3D, convention: str) -> None:
    """One row of a DH table, step by step."""
    start = np.eye(4)
    if convention == "modified":
        first, distance, value, second, distance2, value2 = "x", A, ALPHA[convention], "z", D, THETA
        names = ("a", r"\alpha", "d", r"\theta + q")
    else:
        first, distance, value, second, distance2, value2 = "z", D, THETA, "x", A, ALPHA[convention]
        names = ("d", r"\theta + q", "a", r"\alpha")
    middle = start @ move(first, distance)
    turned = middle @ turn(first, value)
    moved = turned @ move(second, distance2)
    end = moved @ turn(second, value2)
    np.testing.assert_allclose(end, dh_transform([A, ALPHA[convention], D, THETA], convention), atol=1e-12)
    frame(ax, start, "i-1")
    frame(ax, end, "i")
    beside = (0.0, 0.0, -0.13) if first == "x" else (-0.12, 0.0, 0.0)
    length(ax, start[:3, 3], middle[:3, 3], names[0], beside)
    length(ax, middle[:3, 3], moved[:3, 3], names[2], (0.1, 0.0, -0.1) if first == "x" else (0.0, 0.0, 0.13))
    angle(ax, middle, first, value, names[1])
    angle(ax, moved, second, value2, names[3])
    ax.set_title(
        {
            "modified": "modified (Craig): joint $i$ turns about $z_i$\n"
            r"$\mathrm{Tr}_x(a)\;\mathrm{Rot}_x(\alpha)\;\mathrm{Tr}_z(d)\;\mathrm{Rot}_z(\theta + q)$",
            "standard": "standard (distal): joint $i$ turns about $z_{i-1}$\n"
            r"$\mathrm{Rot}_z(\theta + q)\;\mathrm{Tr}_z(d)\;\mathrm{Tr}_x(a)\;\mathrm{Rot}_x(\alpha)$",
        }[convention],
        fontsize=11,
    )
    ax.set_box_aspect((1, 1, 1), zoom=1.45)
    center = (start[:3, 3] + end[:3, 3]) / 2 + (0.05, 0.0, 0.1)
    for setter, c in zip((ax.set_xlim, ax.set_ylim, ax.set_zlim), center, strict=True):
        setter(c - 0.95, c + 0.95)
    ax.view_init(elev=24, azim=-62)
    ax.set_axis_off()


def cells(ax: plt.Axes, x: float, y: float, labels: list[str], color: str, width: float = 1.0) -> None:
    """Draw boxes with text in a row."""
    for k, label in enumerate(labels):
        ax.add_patch(plt.Rectangle((x + k * width, y), width, 1, facecolor=color, edgecolor="white", linewidth=1.5))
        ax.text(x + (k + 0.5) * width, y + 0.5, label, ha="center", va="center", fontsize=9, color=INK)


def draw_layouts(ax: plt.Axes) -> None:
    """Orders of a twist and of the parameter vector."""
    light = ("#d6e6f2", "#f6dcd7", "#d8efdf", "#eee3f3")
    ax.text(0, 6.45, r"twist $\xi = J(q)\,\dot q$, world axes", fontsize=11, va="center")
    cells(ax, 0, 5, ["$v_x$", "$v_y$", "$v_z$"], light[0])
    cells(ax, 3, 5, [r"$\omega_x$", r"$\omega_y$", r"$\omega_z$"], light[1])
    for k in range(6):
        ax.text(k + 0.5, 4.75, str(k), ha="center", va="top", fontsize=8, color=SOFT)
    ax.text(7.4, 6.45, r"orientation error: $R_d = \mathrm{Rot}(r, \theta)\, R$", fontsize=11, va="center")
    ax.text(7.4, 5.5, r"$e_o = r \sin\theta$, world axes; $0^\circ \leq \theta < 90^\circ$", fontsize=11, va="center")
    ax.text(0, 3.5, "parameter vector: REG of every link, then friction, rotors, armature", fontsize=11, va="center")
    reg = ["$m$", "$mc_x$", "$mc_y$", "$mc_z$", "$I_{xx}$", "$I_{xy}$", "$I_{xz}$", "$I_{yy}$", "$I_{yz}$", "$I_{zz}$"]
    cells(ax, 0, 2, reg, light[0])
    cells(ax, 10, 2, ["…"], light[0], 0.6)
    cells(ax, 10.6, 2, ["viscous", "coulomb"], light[1], 1.3)
    cells(ax, 13.2, 2, ["…"], light[1], 0.6)
    cells(ax, 13.8, 2, ["rotor"], light[2], 1.3)
    cells(ax, 15.1, 2, ["armature"], light[3], 1.5)
    for left, right, label in ((0, 10, "link1"), (10, 10.6, "…"), (10.6, 13.2, "joint1"), (13.2, 13.8, "…")):
        ax.text((left + right) / 2, 1.75, label, ha="center", va="top", fontsize=9, color=SOFT)
    ax.text(
        0, 0.3,
        r"DYN $= [m, c_x, c_y, c_z, I^c_{xx}, \ldots]$ about the center of mass.   REG: $mc$, and "
        r"$I = I^c + m\,[c]^T[c]$ "
        r"about the frame's origin.   $I_{xy} = -\int xy\,dm$",
        fontsize=10, va="center",
    )  # fmt: skip
    ax.set_xlim(-0.1, 16.8)
    ax.set_ylim(-0.2, 7)
    ax.set_axis_off()


def main() -> None:
    """Write the figure."""
    plt.rcParams.update({"svg.hashsalt": "conventions", "font.family": "DejaVu Sans", "mathtext.fontset": "dejavusans"})
    figure = plt.figure(figsize=(11, 8))
    grid = figure.add_gridspec(
        2, 2, height_ratios=(1.9, 1), left=0.03, right=0.98, top=0.93, bottom=0.01, hspace=0.02, wspace=0.02
    )
    for k, convention in enumerate(("modified", "standard")):
        draw_dh(figure.add_subplot(grid[0, k], projection="3d"), convention)
    draw_layouts(figure.add_subplot(grid[1, :]))
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("conventions.svg")
    figure.savefig(target, dpi=110, metadata={"Date": None} if target.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
