"""Assembly of the report from a template, figures and tables."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import __version__
from ...errors import FileFormatError
from ...files import write_whole
from ...model.inertia import dyn_from_reg
from ...table import Table
from ..identification import Identification
from ..intervals import student_intervals
from ..log_file import Recorded, as_sources
from ..prediction import Prediction, ratio
from ..validation import CrossValidation, ModelComparison
from .figures import (
    data_url,
    draw_comparison,
    draw_excitation,
    draw_friction,
    draw_parameters,
    draw_residuals,
    draw_torques,
    relative_deviations,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
