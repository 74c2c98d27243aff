"""Draw the block diagrams of docs/control_schemes.md: ``python docs/images/make_schemes.py [NAME ...]``.

A scheme is a dictionary of blocks, each with its position and its text, and a list of signals between them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch

from thunder_py.plotting.style import BLUE, GRAY, GREEN, TRUTH

FOLDER = Path(__file__).parent / "schemes"
HEIGHT, RADIUS, MARGIN = 0.62, 0.13, 0.45


@dataclass(frozen=True)
class Block:
    """A box with a text, a sum (``text="+"``), or a text without a box (``kind="signal"``)."""

    x: float
    y: float
    text: str
    width: float = 1.5
    kind: str = "model"

    def side(self, name: str) -> tuple[float, float]:
        """Return the middle of a side: west, east, north or south."""
        half = (RADIUS, RADIUS) if self.text == "+" else (self.width / 2, HEIGHT / 2)
        dx, dy = {"w": (-1, 0), "e": (1, 0), "n": (0, 1), "s": (0, -1)}[name]
        return self.x + dx * half[0], self.y + dy * half[1]


#: colors by kind: parts of the law, adaptation, the robot
COLORS = {"model": BLUE, "adaptation": GREEN, "robot": TRUTH}


def draw_block(ax: Axes, block: Block) -> None:
    """Draw the outline and the text of a block."""
    if block.text == "+":
        ax.add_patch(Circle((block.x, block.y), RADIUS, facecolor="white", edgecolor=TRUTH, linewidth=1.2))
        ax.text(block.x, block.y, "+", ha="center", va="center", fontsize=10)
        return
    if block.kind != "signal":
        corner = (block.x - block.width / 2 + 0.05, block.y - HEIGHT / 2 + 0.05)
        color = COLORS[block.kind]
        ax.add_patch(
            FancyBboxPatch(
                corner, block.width - 0.1, HEIGHT - 0.1, "round,pad=0.05", facecolor="white", edgecolor=color, lw=1.4
            )
        )
    ax.text(block.x, block.y, block.text, ha="center", va="center", fontsize=10)


def draw_signal(ax: Axes, blocks: dict[str, Block], signal: tuple[str, ...], dots: list[tuple[float, float]]) -> None:
    """Draw a signal ``(start, end, label, bends...)``: from "block.side" to "block.side" over the bends.

    A bend ``x=3`` or ``y=2`` leads to that coordinate along the other axis; a start ``@3,2`` is a point of a line,
    one of `dots`. Feedback enters a sum "error" with a minus sign.
    """
    start, end, text, *bends = signal
    points = [_end(blocks, start)]
    if start.startswith("@"):
        ax.plot(*points[0], "o", color=TRUTH, markersize=3.5)
    last = _end(blocks, end)
    for bend in bends:
        axis, value = bend.split("=")
        x, y = points[-1]
        points.append((float(value), y) if axis == "x" else (x, float(value)))
    ax.plot(*zip(*points, strict=True), color=GRAY, linewidth=1.2, solid_joinstyle="round")
    ax.annotate("", last, points[-1], arrowprops={"arrowstyle": "-|>", "color": GRAY, "shrinkA": 0, "shrinkB": 0})
    points.append(last)
    if text:
        (x0, y0), (x1, y1) = max(pairwise(points), key=lambda ends: abs(ends[1][0] - ends[0][0]))
        x0 = max([x0, *(x for x, y in dots if y == y0 == y1 and x0 < x < x1 and x1 - x > x - x0)])
        ax.text((x0 + x1) / 2, (y0 + y1) / 2 + 0.07, text, ha="center", va="bottom", fontsize=9)
    if end == "error.s":
        ax.text(last[0] + 0.12, last[1] - 0.12, "\N{MINUS SIGN}", ha="center", va="center", fontsize=10)


def _end(blocks: dict[str, Block], name: str) -> tuple[float, float]:
    if name.startswith("@"):
        x, y = name[1:].split(",")
        return float(x), float(y)
    block, side = name.split(".")
    return blocks[block].side(side)


Scheme = tuple[dict[str, Block], list[tuple[str, ...]]]

REFERENCE = {"d": Block(0.2, 2.0, r"$x_d,\ \xi_d,\ \dot\xi_d$", 1.1, "signal")}
JOINTS = {"d": Block(0.2, 2.0, r"$q_d,\ \dot q_d,\ \ddot q_d$", 1.1, "signal")}


def robot(x: float, y: float = 2.0) -> Block:
    """Return the block of the robot."""
    return Block(x, y, "robot", 1.1, "robot")


def adaptive(reference: dict[str, Block], first: str, damping: str, errors: str) -> Scheme:
    """Return the scheme of a law that adapts by s: `first` makes dq_r and `errors`, which `damping` multiplies."""
    blocks = {
        **reference,
        "first": Block(2.6, 2.0, first, 2.3),
        "regressor": Block(6.0, 2.0, r"$Y_r(q,\dot q,\dot q_r,\ddot q_r)\,\hat\pi$", 2.0),
        "adapt": Block(6.0, 3.3, r"$\dot{\hat\pi} = \Gamma^{-1} Y_r^T s$", 2.0, "adaptation"),
        "damping": Block(6.0, 0.9, damping, 2.0),
        "sum": Block(7.7, 2.0, "+"),
        "robot": robot(9.2),
    }
    signals = [
        ("d.e", "first.w", ""),
        ("first.e", "regressor.w", r"$\dot q_r, \ddot q_r$"),
        ("@4.0,2.0", "adapt.w", "$s$", "y=3.3"),
        ("@4.0,2.0", "damping.w", errors, "y=0.9"),
        ("adapt.s", "regressor.n", ""),
        ("regressor.e", "sum.w", ""),
        ("damping.e", "sum.s", "", "x=7.7"),
        ("sum.e", "robot.w", r"$\tau$"),
        ("robot.e", "first.s", r"$q,\ \dot q$", "x=10.3", "y=0.2", "x=2.6"),
    ]
    return blocks, signals


SCHEMES: dict[str, Scheme] = {
    "backstepping": adaptive(
        REFERENCE,
        "inverse kinematics\n" r"$J^+ L^{-1}(L^T\xi_d + \Lambda e)$",
        r"$K_d\, s + J^T L^T K_p\, e$",
        r"$s,\ e$",
    ),
    "slotine_li": adaptive(
        JOINTS, r"$\dot q_r = \dot q_d + \Lambda e$" "\n" r"$s = \dot q_r - \dot q$", r"$K_d\, s$", "$s$"
    ),
    "mact": (
        {
            **JOINTS,
            "error": Block(1.9, 2.0, "+"),
            "regressor": Block(4.6, 2.0, r"$Y_r(q,\dot q,\dot q_d,\ddot q_d)\,\hat\pi$", 2.0),
            "feedback": Block(4.6, 0.9, r"$K_p\, e + K_d\, \dot e$", 2.0),
            "adapt": Block(
                4.6, 3.3, r"$\dot{\hat\pi} = \Gamma^{-1}(Y_r^T\dot e + \gamma W^T R_t\,\epsilon)$", 2.9, "adaptation"
            ),
            "predict": Block(8.4, 3.3, "prediction error\n" r"$\epsilon = y - W\hat\pi$", 1.8, "adaptation"),
            "sum": Block(6.4, 2.0, "+"),
            "robot": robot(8.4),
        },
        [
            ("d.e", "error.w", ""),
            ("error.e", "regressor.w", r"$e,\ \dot e$"),
            ("@2.3,2.0", "adapt.w", r"$\dot e$", "y=3.3"),
            ("@2.3,2.0", "feedback.w", r"$e,\ \dot e$", "y=0.9"),
            ("adapt.s", "regressor.n", ""),
            ("regressor.e", "sum.w", ""),
            ("feedback.e", "sum.s", "", "x=6.4"),
            ("sum.e", "robot.w", r"$\tau$"),
            ("robot.n", "predict.s", ""),
            ("predict.w", "adapt.e", r"$\epsilon$"),
            ("robot.e", "error.s", r"$q,\ \dot q$", "x=9.5", "y=0.2", "x=1.9"),
        ],
    ),
    "robust": (
        {
            **JOINTS,
            "error": Block(1.9, 2.0, "+"),
            "pd": Block(3.9, 2.0, r"$\ddot q_d + K_1\dot e + K_0 e$", 1.8),
            "unit": Block(3.9, 3.3, r"$w = \rho\, z/|z|$", 1.8),
            "sum": Block(5.4, 2.0, "+"),
            "dynamics": Block(7.0, 2.0, r"$\hat M\, y + \hat n(q, \dot q)$", 1.7),
            "robot": robot(9.0),
        },
        [
            ("d.e", "error.w", ""),
            ("error.e", "pd.w", r"$e,\ \dot e$"),
            ("@2.15,2.0", "unit.w", "", "y=3.3"),
            ("unit.e", "sum.n", "", "x=5.4"),
            ("pd.e", "sum.w", ""),
            ("sum.e", "dynamics.w", "$y$"),
            ("dynamics.e", "robot.w", r"$\tau$"),
            ("robot.e", "error.s", r"$q,\ \dot q$", "x=10.1", "y=1.0", "x=1.9"),
            ("@7.0,1.0", "dynamics.s", ""),
        ],
    ),
    "operational_space": (
        {
            **REFERENCE,
            "error": Block(1.9, 2.0, "+"),
            "pid": Block(4.2, 2.0, r"$\dot\xi_d + K_1\dot e + K_0 e + K_I\!\int\! e$", 2.6),
            "inverse": Block(7.1, 2.0, r"$J^+(\,\cdot\, - \dot J\dot q)$", 1.6),
            "dynamics": Block(9.5, 2.0, r"$M\, y + n(q, \dot q)$", 1.7),
            "robot": robot(11.6),
            "forward": Block(5.6, 0.9, "forward\nkinematics", 1.4),
        },
        [
            ("d.e", "error.w", ""),
            ("error.e", "pid.w", "$e$"),
            ("pid.e", "inverse.w", ""),
            ("inverse.e", "dynamics.w", "$y$"),
            ("dynamics.e", "robot.w", r"$\tau$"),
            ("robot.e", "forward.e", r"$q,\ \dot q$", "x=12.7", "y=0.9"),
            ("@7.1,0.9", "inverse.s", ""),
            ("@9.5,0.9", "dynamics.s", ""),
            ("forward.w", "error.s", r"$x,\ \xi$", "x=1.9"),
        ],
    ),
    "clik": (
        {
            **REFERENCE,
            "error": Block(1.9, 2.0, "+"),
            "gain": Block(3.4, 2.0, "$K e$", 0.9),
            "forward_feed": Block(3.4, 3.1, r"$\xi_d$", 0.9, "signal"),
            "sum": Block(4.8, 2.0, "+"),
            "inverse": Block(6.4, 2.0, r"$J^{-1}$ or $J^T$ or $J^+$", 1.9),
            "sum2": Block(8.2, 2.0, "+"),
            "null": Block(6.4, 3.1, r"$(I - J^+J)\,\dot q_0$", 1.9),
            "integral": Block(9.5, 2.0, r"$\int$", 0.7),
            "q": Block(11.0, 2.0, "$q$", 0.5, "signal"),
            "forward": Block(6.4, 0.9, "forward kinematics", 1.9),
        },
        [
            ("d.e", "error.w", ""),
            ("error.e", "gain.w", "$e$"),
            ("gain.e", "sum.w", ""),
            ("forward_feed.e", "sum.n", "", "x=4.8"),
            ("sum.e", "inverse.w", ""),
            ("inverse.e", "sum2.w", ""),
            ("null.e", "sum2.n", "", "x=8.2"),
            ("sum2.e", "integral.w", r"$\dot q$"),
            ("integral.e", "q.w", ""),
            ("@10.4,2.0", "forward.e", "", "y=0.9"),
            ("forward.w", "error.s", "$x$", "x=1.9"),
        ],
    ),
    "clik_second_order": (
        {
            **REFERENCE,
            "error": Block(1.9, 2.0, "+"),
            "pd": Block(4.1, 2.0, r"$\dot\xi_d + K_1\dot e + K_0 e$", 2.0),
            "inverse": Block(7.0, 2.0, r"$J^+(\,\cdot\, - \dot J\dot q)$", 1.6),
            "first": Block(9.1, 2.0, r"$\int$", 0.7),
            "second": Block(10.6, 2.0, r"$\int$", 0.7),
            "q": Block(12.0, 2.0, "$q$", 0.5, "signal"),
            "forward": Block(5.6, 0.9, "forward\nkinematics", 1.4),
        },
        [
            ("d.e", "error.w", ""),
            ("error.e", "pd.w", r"$e,\ \dot e$"),
            ("pd.e", "inverse.w", ""),
            ("inverse.e", "first.w", r"$\ddot q$"),
            ("first.e", "second.w", r"$\dot q$"),
            ("second.e", "q.w", ""),
            ("@11.4,2.0", "forward.e", "", "y=0.9"),
            ("@7.0,0.9", "inverse.s", ""),
            ("@9.9,2.0", "@9.9,0.9", ""),
            ("forward.w", "error.s", r"$x,\ \xi$", "x=1.9"),
        ],
    ),
    "generator": (
        {
            "file": Block(0.9, 2.0, "robot file\n(YAML, URDF, MJCF)", 1.9, "signal"),
            "model": Block(3.4, 2.0, "Robot.load", 1.4),
            "kernels": Block(6.0, 2.6, "C++ kernels", 1.6),
            "symbols": Block(6.0, 1.4, "recorded expressions", 1.8),
            "user": Block(3.4, 0.4, "functions of the user", 1.9, "signal"),
            "use": Block(9.1, 2.6, "controllers, simulation", 2.2),
            "library": Block(9.1, 1.4, "generated C++ library", 2.2),
        },
        [
            ("file.e", "model.w", ""),
            ("model.n", "kernels.w", "", "y=2.6"),
            ("model.s", "symbols.w", "", "y=1.4"),
            ("user.e", "symbols.s", "", "x=6.0"),
            ("kernels.s", "symbols.n", ""),
            ("kernels.e", "use.w", ""),
            ("symbols.e", "library.w", "thunder gen"),
        ],
    ),
}


def draw(name: str) -> None:
    """Write one diagram as SVG; the text is drawn as paths and needs no font."""
    blocks, signals = SCHEMES[name]
    x = [block.x + sign * block.width / 2 for block in blocks.values() for sign in (-1, 1)]
    bends = [bend.split("=") for signal in signals for bend in signal[3:]]
    x += [float(value) for axis, value in bends if axis == "x"]
    y = [block.y for block in blocks.values()] + [float(value) for axis, value in bends if axis == "y"]
    limits = min(x) - 0.1, max(x) + 0.2, min(y) - MARGIN, max(y) + MARGIN
    figure = plt.figure(figsize=(0.85 * (limits[1] - limits[0]), 0.85 * (limits[3] - limits[2])))
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set(xlim=limits[:2], ylim=limits[2:])
    ax.axis("off")
    dots = [_end(blocks, signal[0]) for signal in signals if signal[0].startswith("@")]
    for signal in signals:
        draw_signal(ax, blocks, signal, dots)
    for block in blocks.values():
        draw_block(ax, block)
    FOLDER.mkdir(exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    for scheme in sys.argv[1:] or SCHEMES:
        draw(scheme)
