"""Markers from C3D files."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import Array, positive
from ...errors import FileFormatError, nearest_hint
from ..motion_set import MotionSet
from ..plausibility import check_plausible, listed, warn_about
from ..trial import Trial, to_si
from .c3d_file import read_c3d
from .lost import without_lost
from .text import TOLERANCE, UNITS, agreed_rate, agreed_unit, chosen, distinct, marker_trials


def load_c3d(
    path: str | Path,
    *,
    markers: Sequence[str] | None = None,
    quantities: Sequence[str] | Mapping[str, str] = (),
    unit: str | None = None,
    rate: float | None = None,
    frame: str = "",
    subject: str = "",
    task: str = "",
) -> MotionSet:
    r"""Read the 3-D points of a C3D file: one trial per marker, with its name.

    Files of Intel, DEC and MIPS processors, with integers or reals. Unit and rate are POINT:UNITS and POINT:RATE (the
    header's if it is missing). A negative residual marks a point as not measured (NaN), and so does a jump to exactly
    0, 0, 0 (see Warns). The time of the first sample is (first frame) / rate, counted from 0. Where parameters and
    header contradict each other in the layout of the data, the size of the file decides; if it does not, the file is
    refused.

    Parameters
    ----------
    path : path-like
        The file.
    markers : sequence of str, optional
        Labels of the points to read, in this order; by default all positions and all `quantities`.
    quantities : sequence of str or mapping, optional
        Points to read that are no positions: groups as ``"ANGLES"``, ``"FORCES"``, ``"MOMENTS"``, ``"POWERS"``, or
        labels. Units are those of the file (POINT:ANGLE_UNITS), or the mapping has them, ``{"ANGLES": "deg"}``: deg,
        rad, N, Nmm, Nm, W, mm, cm, m or 1, with ``/kg`` if divided by the mass of the body.
    unit : str, optional
        Unit of positions (m, cm or mm) instead of that of the file; required if POINT:UNITS is empty or unknown.
    rate : float, optional
        Rate [Hz] instead of that of the file; required if the file has none, or two.
    frame, subject, task : str
        Labels of the trials.

    Returns
    -------
    MotionSet
        One trial per point: positions, or `quantities` with dofs such as ``angle_x``, ``force_y`` in rad, N, Nm, W (per
        kg). Points of the same name are numbered, ``hand:1``, ``hand:2``, and so are points without one, ``unnamed:1``.

    Warns
    -----
    RecordingWarning
        For points that are no positions (POINT:ANGLES, FORCES, MOMENTS, POWERS, SCALARS and further groups of
        POINT:TYPE_GROUPS, with or without the subject: ``S1:LKneeAngles``), which are left out; lost markers written as
        0, 0, 0, which become gaps; positions held; points of the same name; a unit or a rate replaced; a file cut off;
        and see `check_plausible`.

    Raises
    ------
    FileFormatError
        For a damaged file, a missing unit or rate, or an unknown marker or quantity.

    Examples
    --------
    >>> import struct
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_c3d
    >>> header = struct.pack("<2B5hf2hf", 2, 80, 1, 0, 1, 2, 0, -1.0, 3, 0, 100.0)  # a point, frames 1 to 2
    >>> names = b"\1\x50\1\x54" + b"\5\xffPOINT\3\0\0" + b"\6\1LABELS\x0b\0\xff\2\4\1hand\0" + b"\0\0"
    >>> points = struct.pack("<8f", 0.0, 0.0, 500.0, 0.0, 200.0, 0.0, 500.0, 0.0)  # x, y, z, residual
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "reach.c3d"
    ...     _ = path.write_bytes(b"".join(block.ljust(512, b"\0") for block in (header, names, points)))
    ...     (trial,) = load_c3d(path, unit="mm")
    >>> trial.name, trial.rate, trial.position[-1].round(6).tolist()
    ('hand', 100.0, [0.2, 0.0, 0.5])
    """
    content = read_c3d(path)
    point = content.parameters.get("POINT", {})
    hertz = _rate(content.rates, rate, path)
    if len(content.points) < 2:
        text = f"expected two frames of points or more, got {len(content.points)}: a pose is no motion"
        raise FileFormatError(f"{text}; loaders.c3d_file.read_c3d returns its points", path=path)
    in_file = _labels(point, content.points.shape[1])
    groups = _groups(point, in_file)
    names = distinct(in_file, path, "points")
    asked = _asked(quantities, groups, list(zip(in_file, names, strict=True)), path)
    others = {k: group for k, group in groups.items() if k not in asked}
    indices = _chosen(markers, names, others, asked, path)
    t: Array = (np.arange(len(content.points), dtype=np.float64) + float(content.first_frame - 1)) / hertz
    labels: dict[str, Any] = {"rate": hertz, "frame": frame, "subject": subject, "task": task}
    trials: dict[int, Trial] = {}
    for k in set(indices) & set(asked):
        factor, si = _quantity(*asked[k], point, path)
        values = factor * content.points[:, k]
        if si in ("m", "rad"):
            values = without_lost(values[:, None], [names[k]], path)[:, 0]
        dofs = tuple(f"{_DOFS.get(si.partition('/')[0], 'value')}_{axis}" for axis in "xyz")
        trials[k] = Trial(t, values, dofs, (si,) * 3, name=names[k], **labels)
    check_plausible(list(trials.values()), ())
    places = [k for k in range(len(names)) if k not in groups and k not in asked]
    if which := [places.index(k) for k in indices if k in places]:
        length = agreed_unit(next(iter(_texts(point, "UNITS")), ""), unit, path, "POINT:UNITS")
        points, labels["arguments"] = to_si(length) * content.points[:, places], {"unit": length, "rate": ""}
        positions = marker_trials(t, points, [names[k] for k in places], path, which=which, **labels)
        trials |= {places[k]: trial for k, trial in zip(which, positions, strict=True)}
    return MotionSet(trials[k] for k in indices)


#: groups of POINT that name points other than positions; files define more in TYPE_GROUPS
_TYPED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
#: types of positions
_PLACES = ("MARKERS", "MODELED_MARKERS", "MODELLED_MARKERS", "VIRTUAL_MARKERS")
#: endings of names of such points in files without these groups
_TELLTALE = re.compile(r"(angle|moment|power|torque|grf|force)s?\d*(:\d+)?$", re.IGNORECASE)
_DOFS = {"rad": "angle", "N": "force", "Nm": "moment", "W": "power"}


def _groups(point: Mapping[str, Any], labels: Sequence[str]) -> dict[int, str]:
    """Return {index: group} of the points that are no positions, by their labels in the file.

    Of labels with a subject, ``S1:LKneeAngles``, the groups may have the name alone, and the other way round.
    """
    known = [group for group in (*_TYPED, *_texts(point, "TYPE_GROUPS")) if group.upper() not in _PLACES]
    found: dict[int, str] = {}
    for group in dict.fromkeys(group.upper() for group in known):
        names = set(filter(None, _long_list(point, group, len(labels))))
        alone = {name.rpartition(":")[2] for name in names}
        for k, label in enumerate(labels):
            subject, _, name = label.rpartition(":")
            if label in names or name in names or (not subject and name in alone):
                found[k] = group
    return found


def _asked(
    quantities: Sequence[str] | Mapping[str, str],
    groups: Mapping[int, str],
    labels: Sequence[tuple[str, str]],
    path: str | Path,
) -> dict[int, tuple[str, str]]:
    """Return {index: (name, unit)} of the points asked for by their group, or by one of their two labels."""
    if isinstance(quantities, str):
        text = f"quantities must be a sequence of names or {{name: unit}}, got {quantities!r}"
        raise FileFormatError(text, path=path)
    units = dict(quantities) if isinstance(quantities, Mapping) else dict.fromkeys(quantities, "")
    asked: dict[int, tuple[str, str]] = {}
    for name, unit in units.items():
        points = [k for k, both in enumerate(labels) if name in both or groups.get(k) == name.upper()]
        if not points:
            known = list(dict.fromkeys(groups.values()))
            hint = nearest_hint(name, [*known, *(label for _, label in labels)])
            raise FileFormatError(f"no quantity {name!r} among {', '.join(known) or 'none'}{hint}", path=path)
        asked |= {k: (groups.get(k, name), unit) for k in points}
    return asked


def _quantity(name: str, unit: str, point: Mapping[str, Any], path: str | Path) -> tuple[float, str]:
    """Return the factor to SI and the SI unit of a group or point: of `unit`, or of the group's in the file."""
    types = _texts(point, "TYPE_GROUPS")
    stem = dict(zip(types[::2], types[1::2], strict=False)).get(name, name[:-1])
    text = unit or next(iter(_texts(point, f"{stem}_UNITS")), "")
    known, slash, mass = re.sub(r"[ .*]", "", text.lower()).partition("/")
    known = next((each for each in UNITS if each.lower() == ("deg" if known.startswith("deg") else known)), "")
    if not known or (slash and mass != "kg"):
        text = f"the unit of {name} must be one of {', '.join(UNITS)}, got {text!r}"
        raise FileFormatError(
            f"{text}; pass the right one, or quantities={{{name!r}: '1'}} for mere numbers", path=path
        )
    factor, si = UNITS[known]
    return factor, si + slash + mass


def _chosen(
    markers: Sequence[str] | None,
    labels: Sequence[str],
    others: Mapping[int, str],
    asked: Collection[int],
    path: str | Path,
) -> list[int]:
    """Return the indices of the points to return; by default all positions and the quantities asked for."""
    if markers is not None:
        indices = chosen(markers, labels, path)
        for k in indices:
            if k in others:
                text = f"markers must be positions, got {labels[k]!r}, one of POINT:{others[k]}"
                raise FileFormatError(f"{text}; pass quantities=[{others[k]!r}]", path=path)
        return indices
    indices = [k for k in range(len(labels)) if k not in others]
    left, kinds = listed([labels[k] for k in others]), list(dict.fromkeys(others.values()))
    if not indices:
        text = f"expected positions, got only {left}; pass quantities={kinds}"
        raise FileFormatError(text, path=path, key="POINT:LABELS")
    if others:
        text = f"{len(others)} points that are no positions ({', '.join(kinds)}) were left out: {left}"
        text += f"; quantities={kinds} reads them, markers=[...] with positions only avoids this warning"
        warn_about(path, text)
    if doubtful := [labels[k] for k in indices if k not in asked and _TELLTALE.search(labels[k])]:
        text = f"{len(doubtful)} points were read as positions, but are hardly any: {listed(doubtful)}"
        text += "; quantities={name: unit} reads them as what they are, markers=[...] names what to read"
        warn_about(path, text)
    return indices


def _rate(in_file: tuple[float, float], expected: float | None, path: str | Path) -> float:
    """Return the rate: `expected`, or that of POINT:RATE and of the header, which must agree."""
    rates = [value for value in in_file if np.isfinite(value) and value > 0.0]
    if expected is None and rates and abs(rates[-1] / rates[0] - 1.0) > TOLERANCE:
        text = f"rate must be that of the header, {rates[1]:g} Hz, got {rates[0]:g} Hz; pass the right one as rate="
        raise FileFormatError(text, path=path, key="POINT:RATE")
    nearest = min(rates, key=lambda value: abs(value - positive(expected or value, "rate", "Hz")), default=np.nan)
    return agreed_rate(nearest, expected, path, "POINT:RATE")


def _long_list(point: Mapping[str, Any], name: str, count: int) -> list[str]:
    """Return the texts of a parameter; one holds 255, further ones are in LABELS2, LABELS3, ..."""
    return [text for key in (name, *(f"{name}{k}" for k in range(2, 2 + count // 255))) for text in _texts(point, key)]


def _texts(group: Mapping[str, Any], name: str) -> list[str]:
    values = group.get(name, ())
    return values if isinstance(values, list) else []


def _labels(point: Mapping[str, Any], count: int) -> list[str]:
    """Return the names of all points."""
    labels = _long_list(point, "LABELS", count)[:count]
    return [label or "unnamed" for label in labels] + ["unnamed"] * (count - len(labels))
