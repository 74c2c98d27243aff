"""Figures of the report: torques, residuals, parameters, excitation, friction, models."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...checks import Array
from ...plotting.style import (
    BLUE,
    COLORS,
    FAINT,
    GRAY,
    MOST_IN_LEGEND,
    SHADE,
    SKY,
    THIN,
    TRUTH,
    VERMILION,
    label,
    literal,
    outside_legend,
    tidy,
)
from ..signals import JITTER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..identification import Identification
    from ..prediction import Prediction
    from ..validation import ModelComparison

#: longest piece of a log in a figure [s], and most points of a curve and of a cloud of points
_WINDOW, _POINTS, _CLOUD = 10.0, 1500, 1000
#: relative standard deviation above which a parameter counts as uncertain
_UNCERTAIN = 0.3


def data_url(figure: Figure) -> str:
    """Return a figure as the address of an SVG picture that holds its own data."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    # the same file for the same numbers: no date, no random names
    with rc_context({"svg.hashsalt": "thunder_py", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", dpi=150, metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _grid(count: int, *, sharex: bool) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels in two columns."""
    rows = (count + 1) // 2
    figure = _figure(12.0, 0.6 + 1.9 * rows)
    axes = figure.subplots(rows, 2, squeeze=False, sharex=sharex).ravel().tolist()
    for ax in axes[count:]:
        ax.remove()
    for ax in axes[max(count - 2, 0) : count]:  # the lowest panels, also that above a removed one
        ax.tick_params(labelbottom=True)
    return figure, axes[:count]


def draw_torques(prediction: Prediction) -> Figure:
    """Draw the measured and the predicted torque of each row, and the residual."""
    t = prediction.t - prediction.t[0]
    shown = np.flatnonzero(t <= _WINDOW)
    shown = shown[:: max(shown.size // _POINTS, 1)]
    figure, axes = _grid(len(prediction.rows), sharex=True)
    for k, (name, ax) in enumerate(zip(prediction.rows, axes, strict=True)):
        ax.plot(t[shown], prediction.residual[shown, k], color=FAINT, linewidth=THIN, label="residual")
        ax.plot(t[shown], prediction.measured[shown, k], color=GRAY, linewidth=1.6, label="measured")
        ax.plot(t[shown], prediction.predicted[shown, k], color=VERMILION, linewidth=1.0, label="predicted")
        error = f"{name}, error {100.0 * prediction.relative[k]:.2g} % of the torque"
        label(ax, error, "time [s]" if k >= len(axes) - 2 else "", "N m or N", xlim=(0.0, float(t[shown[-1]])))
    outside_legend(figure, ax)
    return figure


def draw_residuals(predictions: Sequence[Prediction]) -> Figure:
    """Draw the distribution of the residuals, next to the normal one, and their spectra."""
    from scipy.signal import welch

    figure = _figure(12.0, 3.6)
    histogram, spectrum = figure.subplots(1, 2)
    z, edges = np.linspace(-5.0, 5.0, 201), np.linspace(-5.0, 5.0, 51)
    histogram.plot(z, np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi), color=TRUTH, linestyle="--", label="normal")
    longest = max(predictions, key=lambda prediction: prediction.t.size)
    steps = np.diff(longest.t)
    even = np.ptp(steps) <= 2.0 * JITTER * steps.mean()
    for k, name in enumerate(longest.rows):
        residuals = np.concatenate([prediction.residual[:, k] for prediction in predictions])
        scale = float(residuals.std()) or 1.0
        counts, _ = np.histogram((residuals - residuals.mean()) / scale, edges)
        color = COLORS[k % len(COLORS)]
        histogram.stairs(counts / (residuals.size * np.diff(edges)), edges, color=color, label=name)
        if even:
            rate = 1.0 / float(steps.mean())
            frequency, power = welch(longest.residual[:, k], rate, nperseg=min(longest.t.size, 1024))
            spectrum.loglog(frequency[1:], np.sqrt(power[1:]), color=color, linewidth=THIN)
    label(histogram, "residuals, relative to their standard deviation", "", "density")
    title = f"spectrum of the residuals, {literal(longest.name)}" if even else "no spectrum: instants are uneven"
    label(spectrum, title, "frequency [Hz]", "N m or N per √Hz")
    if len(longest.rows) <= MOST_IN_LEGEND:
        histogram.legend(fontsize="x-small")
    return figure


def draw_parameters(identification: Identification) -> Figure:
    """Draw the base parameters with 95 % intervals, and the standard deviations relative to them."""
    count = identification.base.count
    figure = _figure(12.0, 6.4)
    values, precision = figure.subplots(2, 1, sharex=True)
    identification.plot(ax=values)
    relative = relative_deviations(identification.base_parameters, identification.standard_deviations)
    shown = np.clip(relative, 1e-6, 10.0)
    color = np.where(relative > _UNCERTAIN, VERMILION, SKY)
    precision.bar(np.arange(count), shown, 0.7, color=color.tolist())
    precision.axhline(_UNCERTAIN, color=TRUTH, linestyle="--", linewidth=THIN)
    precision.set_yscale("log")
    label(precision, "standard deviation relative to the value", "", "")
    precision.set_xticks(np.arange(count), identification.base.names, rotation=90, fontsize="x-small")
    return figure


def relative_deviations(values: Array, deviations: Array) -> Array:
    """Return standard deviations relative to their values, infinite where these are zero."""
    size = np.abs(values)
    return np.asarray(np.divide(deviations, size, out=np.full(size.shape, np.inf), where=size > 0.0))


def draw_excitation(identification: Identification, predictions: Sequence[Prediction]) -> Figure:
    """Draw the ranges of positions and velocities, next to the limits of the joints."""
    robot = identification.robot
    figure = _figure(12.0, 1.1 + 0.28 * robot.n)
    k = np.arange(robot.n)
    limits = robot.limits
    sides = ((limits.lower, limits.upper), (-limits.velocity, limits.velocity))
    for ax, name, (lower, upper) in zip(figure.subplots(1, 2), ("q", "dq"), sides, strict=True):
        values = np.concatenate([getattr(prediction, name) for prediction in predictions])
        low, high = np.percentile(values, [0.0, 100.0], axis=0)
        inner = np.percentile(values, [25.0, 75.0], axis=0)
        finite = np.isfinite(lower) & np.isfinite(upper)
        ax.barh(k[finite], (upper - lower)[finite], 0.8, left=lower[finite], color=SHADE, label="limits")
        ax.barh(k, high - low, 0.45, left=low, color=SKY, label="range")
        ax.barh(k, inner[1] - inner[0], 0.45, left=inner[0], color=BLUE, label="middle half")
        ax.set_yticks(k, robot.joint_names)
        ax.invert_yaxis()
        what = "positions [rad or m]" if name == "q" else "velocities [rad/s or m/s]"
        ax.set_title(what, fontsize="medium")
        tidy(ax)
    outside_legend(figure, ax)
    return figure


def draw_friction(identification: Identification, predictions: Sequence[Prediction]) -> Figure:
    """Draw the friction torque of each joint by its velocity, and what the measured torque leaves for it."""
    robot = identification.robot
    dq = np.concatenate([prediction.dq for prediction in predictions])
    residual = np.concatenate([prediction.residual[:, : robot.n] for prediction in predictions])
    chosen = np.linspace(0, len(dq) - 1, min(len(dq), _CLOUD)).astype(np.intp)
    left = residual[chosen] + robot.friction_torque(dq[chosen])
    most = np.abs(dq).max(axis=0)
    grid = np.linspace(-1.0, 1.0, 401)[:, None] * most
    curves = robot.friction_torque(grid)
    figure, axes = _grid(robot.n, sharex=False)
    for k, (name, ax) in enumerate(zip(robot.joint_names, axes, strict=True)):
        ax.plot(dq[chosen, k], left[:, k], ".", color=FAINT, markersize=2.0, rasterized=True)
        ax.plot(grid[:, k], curves[:, k], color=VERMILION)
        label(ax, name, "velocity [rad/s or m/s]" if k >= robot.n - 2 else "", "N m or N")
    return figure


def draw_comparison(comparison: ModelComparison) -> Figure:
    """Draw the error of each log by model."""
    names = list(comparison.validations)
    figure = _figure(12.0, 1.2 + 0.4 * len(names))
    ax = figure.add_subplot()
    scores = [100.0 * comparison.validations[name].scores for name in names]
    for k, values in enumerate(scores):
        ax.plot(values, np.full(values.size, k), "o", color=SKY, markersize=5.0)
        ax.plot(values.mean(), k, "|", color=TRUTH, markersize=18.0, markeredgewidth=2.0)
    ax.set_yticks(range(len(names)), list(map(literal, names)))
    ax.set_ylim(len(names) - 0.5, -0.5)
    label(ax, "error of each held-out log, and their mean", "relative to the torque [%]", "")
    return figure
