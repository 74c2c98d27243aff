"""Report of an identification: figures, tables, and what to doubt."""

from __future__ import annotations

import base64
import io
import platform
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..checks import Array
from ..errors import FileFormatError
from ..files import write_whole
from ..model.inertia import dyn_from_reg
from ..plotting.style import (
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
from ..table import Table
from .identification import Identification, Prediction, ratio
from .least_squares import student_intervals
from .log import Recorded, as_sources
from .signals import JITTER
from .validation import CrossValidation, ModelComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


#: most logs whose torques are drawn, and most instants of a log that figures show
_DRAWN, _MOST = 2, 20_000
#: error on held-out logs relative to that of the fit above which the report warns
_OVERFITTED = 1.5
#: condition number of scaled columns above which the report warns (Gautier, Khalil 1992 ask for less than 100)
_CONDITION = 100.0


def write_report(
    identification: Identification,
    path: str | Path,
    *,
    logs: Sequence[Recorded] = (),
    validation: CrossValidation | None = None,
    comparison: ModelComparison | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write a report as one HTML file with figures, which refers to no other file or host.

    Parameters
    ----------
    identification : Identification
        The fit.
    path : path-like
        File to write, ``.html``.
    logs : sequence of Log, SimulationResult, LogFile or path
        Logs that the fit has not seen, whose torques are predicted.
    validation : CrossValidation, optional
        Validation of the same options on the logs of the fit, from `cross_validate`.
    comparison : ModelComparison, optional
        Comparison with other models, from `compare_models`.
    notes : sequence of str
        Further warnings to show, such as those of `identify`.

    Raises
    ------
    FileFormatError
        If the suffix is not ``.html``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.identification import identify, write_report
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> log = th.identification.Log(t=t, q=q, dq=dq, ddq=ddq, tau=robot.inverse_dynamics(q, dq, ddq))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(identify(robot, log[:250]), Path(folder, "report.html"), logs=[log[250:]])
    ...     "Identification of elbow" in Path(folder, "report.html").read_text(encoding="utf-8")
    True
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    if Path(path).suffix not in (".html", ".htm"):
        raise FileFormatError(f"a report is an .html file, got {Path(path).suffix or 'no suffix'!r}", path=path)
    held_out = as_sources(identification.robot, list(logs), called="held-out log")
    predictions = [identification.predict(log, most=_MOST) for log in held_out]
    if validation is not None:
        predictions += [validation.predict(i, most=_MOST) for i in range(len(validation.logs))]
    determined = int(np.isfinite(identification.standard_deviations).sum())
    facts = {
        "Robot": f"{identification.robot.name}, {identification.robot.n} joints",
        "Fit": "physically consistent" if identification.consistent else "least squares",
        "Base parameters": f"{identification.base.count}, of which the motion determines {determined}",
        "Condition number": f"{identification.condition:.3g} (weighted, columns scaled to unit length)",
        "Held-out logs": str(len(predictions)) if predictions else "none: errors on other logs are unknown",
    }
    values = {
        "title": f"Identification of {identification.robot.name}",
        "facts": facts.items(),
        "warnings": [*notes, *findings(identification, validation)],
        "held_out": _held_out(predictions, validation),
        "parameters": _parameters(identification),
        "links": _links(identification),
        "comparison": None if comparison is None else comparison.table(),
        "figures": _figures(identification, predictions, comparison),
        "provenance": _provenance().items(),
    }
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    write_whole(environment.get_template("report.html.j2").render(values), path)


def _figures(
    links: Identification, predictions: list[Prediction], comparison: ModelComparison | None
) -> dict[str, list[tuple[str, str]]]:
    """Return the captions and addresses of the figures of each section."""
    drawn: dict[str, list[tuple[str, Figure]]] = {
        name: [] for name in ("torques", "residuals", "excitation", "friction", "comparison")
    }
    drawn["parameters"] = [("Base parameters with 95 % intervals, and their precision", draw_parameters(links))]
    if predictions:
        drawn["torques"] = [(f"Torques of {each.name}", draw_torques(each)) for each in predictions[:_DRAWN]]
        drawn["residuals"] = [("Distribution and spectrum of the residuals", draw_residuals(predictions))]
        caption = "Ranges of the motion, next to the limits of the joints"
        drawn["excitation"] = [(caption, draw_excitation(links, predictions))]
        if links.robot.description.friction is not None:
            caption = "Friction (line), and the measured torque without that of the links"
            drawn["friction"] = [(caption, draw_friction(links, predictions))]
    if comparison is not None:
        drawn["comparison"] = [("Errors of the models on the same held-out logs", draw_comparison(comparison))]
    return {name: [(text, data_url(figure)) for text, figure in figures] for name, figures in drawn.items()}


def findings(identification: Identification, validation: CrossValidation | None) -> list[str]:
    """Return sentences on what the reader should doubt."""
    base, found = identification.base, []
    hidden = [
        name for name, sigma in zip(base.names, identification.standard_deviations, strict=True) if np.isinf(sigma)
    ]
    if hidden:
        found.append(f"The motion does not determine {', '.join(hidden)}; these keep their prior.")
    relative = relative_deviations(identification.base_parameters, identification.standard_deviations)
    uncertain = [name for name, value in zip(base.names, relative, strict=True) if 1.0 < value < np.inf]
    if uncertain:
        found.append(f"The standard deviation exceeds the value of {', '.join(uncertain)}.")
    if identification.condition > _CONDITION:
        found.append(
            f"The condition number is {identification.condition:.3g}; above {_CONDITION:g} a more exciting motion pays "
            "(optimize_excitation)."
        )
    bad = identification.inconsistent_links()
    if bad:
        found.append(f"No physical body has the parameters of {', '.join(bad)}: use consistent=True.")
    if validation is not None:
        worse = ratio(validation.error, identification.residual_rms) > _OVERFITTED
        if worse.any():
            names = ", ".join(np.array(validation.errors[0].rows)[worse])
            found.append(
                f"Errors on held-out logs exceed those of the fit by more than {_OVERFITTED:g} times at {names}: the "
                "fit does not generalize to these logs."
            )
    return found


def _held_out(errors: list[Prediction], validation: CrossValidation | None) -> list[tuple[str, Table]]:
    """Return tables of errors on held-out logs."""
    tables = []
    if validation is not None:
        tables.append((f"Cross-validation, {len(validation.fits)} folds over whole logs", validation.table()))
    if errors:
        header = ["log", "instants", *errors[0].rows]
        rows = [(each.name, each.instants, *(100.0 * each.relative)) for each in errors]
        tables.append(("Error of each held-out log, relative to its torque [%]", Table(header, rows, digits=3)))
    return tables


def _parameters(identification: Identification) -> Table:
    """Return the table of the base parameters and of the coefficients of further columns."""
    values, sigma = identification.estimates, identification.deviations
    header = ["base parameter", "value", "95 % from", "to", "standard deviation", "[%]"]
    names = identification.names
    relative = 100.0 * relative_deviations(values, sigma)
    intervals = student_intervals(values, sigma, identification.freedom, 0.95)
    columns: list[Any] = [names, values, *intervals.T, sigma, relative]
    return Table(header, zip(*columns, strict=True))


def _links(identification: Identification) -> Table:
    """Return the table of the links' inertial parameters."""
    robot = identification.robot
    header = ["link", "mass [kg]", "center x [m]", "y", "z", "physically consistent"]
    rows = []
    for name, reg, physical in zip(robot.link_names, robot.inertial, identification.physical, strict=True):
        center = dyn_from_reg(reg)[1:4] if reg[0] else np.full(3, np.nan)
        rows.append((name, reg[0], *center, "yes" if physical else "no"))
    return Table(header, rows)


def _provenance() -> dict[str, str]:
    import scipy

    return {
        "Written": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "thunder_py": __version__,
        "NumPy, SciPy": f"{np.__version__}, {scipy.__version__}",
        "Python": platform.python_version(),
        "Machine": f"{platform.node()}, {platform.platform()}",
    }
