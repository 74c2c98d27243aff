"""Markers from C3D files."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, outer_level
from ..motion_set import MotionSet
from ..plausibility import RecordingWarning
from ..trial import to_si
from .c3d_file import read_c3d
from .text import TOLERANCE, agreed_rate, agreed_unit, chosen, marker_trials, positive_rate


def load_c3d(
    path: str | Path,
    *,
    markers: Sequence[str] | None = None,
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
        Labels of the points to read, in this order; all by default.
    unit : str, optional
        Expected unit (m, cm or mm), required if POINT:UNITS is empty or unknown.
    rate : float, optional
        Expected rate [Hz], to 1 %; required if the file has none, or two.
    frame, subject, task : str
        Labels of the trials.

    Returns
    -------
    MotionSet
        One trial per marker. Points of the same name are numbered, ``hand:1``, ``hand:2``; where their name is in
        a group of points that are no positions, all of them are left out.

    Warns
    -----
    RecordingWarning
        For points that are no positions (POINT:ANGLES, FORCES, MOMENTS, POWERS, SCALARS and further groups of
        POINT:TYPE_GROUPS, with or without the subject: ``S1:LKneeAngles``), which are left out; lost markers written as
        0, 0, 0, which become gaps; positions held; points of the same name; a unit replaced; and see `check_plausible`.

    Raises
    ------
    FileFormatError
        For a damaged file, a missing or unexpected unit or rate, or an unknown marker.

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
    unit_in_file = next(iter(_texts(point, "UNITS")), "")
    factor = to_si(agreed_unit(unit_in_file, unit, path, "POINT:UNITS"))
    hertz = _rate(content.rates, rate, path)
    if len(content.points) < 2:
        raise FileFormatError(f"expected two frames of points or more, got {len(content.points)}", path=path)
    in_file = _labels(point, content.points.shape[1], path)
    others = _no_positions(point, in_file)
    labels = _distinct(in_file, path)
    indices = _chosen(markers, labels, others, path)
    t: Array = (np.arange(len(content.points), dtype=np.float64) + float(content.first_frame - 1)) / hertz
    places = [k for k in range(len(labels)) if k not in others]
    return marker_trials(
        t,
        factor * content.points[:, places],
        [labels[k] for k in places],
        hertz,
        frame,
        subject,
        task,
        which=[places.index(k) for k in indices],
        path=path,
    )


#: groups of POINT that name points other than positions; files define more in TYPE_GROUPS
_TYPED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
#: types of positions
_PLACES = ("MARKERS", "MODELED_MARKERS", "MODELLED_MARKERS", "VIRTUAL_MARKERS")
#: endings of names of such points in files without these groups
_TELLTALE = re.compile(r"(angle|moment|power|torque|grf|force)s?\d*(:\d+)?$", re.IGNORECASE)
_MOST_NAMED = 5
_ELSEWHERE = "load_table reads them from an exported table"


def _no_positions(point: Mapping[str, Any], labels: Sequence[str]) -> dict[int, str]:
    """Return {index: type} of the points that are no positions, by their labels in the file.

    Of labels with a subject, ``S1:LKneeAngles``, the groups may have the name alone, and the other way round.
    """
    groups = [group for group in (*_TYPED, *_texts(point, "TYPE_GROUPS")) if group.upper() not in _PLACES]
    found: dict[int, str] = {}
    for group in dict.fromkeys(group.upper() for group in groups):
        names: set[str] = set()
        for name in (group, *(f"{group}{k}" for k in range(2, 2 + len(labels) // 255))):
            names.update(filter(None, _texts(point, name)))
        alone = {name.rpartition(":")[2] for name in names}
        for k, label in enumerate(labels):
            subject, _, name = label.rpartition(":")
            if label in names or name in names or (not subject and name in alone):
                found[k] = group
    return found


def _chosen(
    markers: Sequence[str] | None, labels: Sequence[str], others: Mapping[int, str], path: str | Path
) -> list[int]:
    """Return the indices of the points to return; all positions by default."""
    if markers is not None:
        indices = chosen(markers, labels, path)
        for k in indices:
            if k in others:
                text = f"markers must be positions, got {labels[k]!r}, one of POINT:{others[k]}; {_ELSEWHERE}"
                raise FileFormatError(text, path=path)
        return indices
    indices = [k for k in range(len(labels)) if k not in others]
    left = _listed([labels[k] for k in others])
    if not indices:
        raise FileFormatError(f"expected positions, got only {left}; {_ELSEWHERE}", path=path, key="POINT:LABELS")
    if others:
        kinds = ", ".join(dict.fromkeys(others.values()))
        text = f"{len(others)} points that are no positions ({kinds}) were left out: {left}; {_ELSEWHERE}"
        text += "; markers=[...] with positions only avoids this warning"
        warnings.warn(f"{path}: {text}", RecordingWarning, stacklevel=outer_level())
    if doubtful := [labels[k] for k in indices if _TELLTALE.search(labels[k])]:
        text = f"{len(doubtful)} points were read as positions, but are hardly any: {_listed(doubtful)}"
        warnings.warn(f"{path}: {text}; markers=[...] names what to read", RecordingWarning, stacklevel=outer_level())
    return indices


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")


def _rate(in_file: tuple[float, float], expected: float | None, path: str | Path) -> float:
    """Return the rate: that of POINT:RATE and of the header, which must agree; `expected` where both are missing."""
    rates = [value for value in in_file if np.isfinite(value) and value > 0.0]
    if not rates:
        if expected is not None:
            return positive_rate(expected)
        raise FileFormatError(
            "rate must be positive [Hz], got none in the file; pass rate=", path=path, key="POINT:RATE"
        )
    if abs(rates[-1] / rates[0] - 1.0) <= TOLERANCE:
        return agreed_rate(rates[0], expected, path, "POINT:RATE")
    if expected is None:
        text = f"rate must be that of the header, {rates[1]:g} Hz, got {rates[0]:g} Hz; pass the right one as rate="
        raise FileFormatError(text, path=path, key="POINT:RATE")
    nearest = min(rates, key=lambda value: abs(value - positive_rate(expected)))
    return agreed_rate(nearest, expected, path, "POINT:RATE")


def _texts(group: Mapping[str, Any], name: str) -> list[str]:
    values = group.get(name, ())
    return values if isinstance(values, list) else []


def _labels(point: Mapping[str, Any], count: int, path: str | Path) -> list[str]:
    """Return the names of all points; a parameter holds 255, further names are in LABELS2, LABELS3, ..."""
    labels: list[str] = []
    for name in ("LABELS", *(f"LABELS{k}" for k in range(2, 2 + count // 255))):
        labels += _texts(point, name)
    if len(labels) < count:
        raise FileFormatError(
            f"expected {count} labels, one per point, got {len(labels)}", path=path, key="POINT:LABELS"
        )
    return [label or "unnamed" for label in labels[:count]]


def _distinct(labels: Sequence[str], path: str | Path) -> list[str]:
    """Return names that differ: points of one name are numbered, ``hand:1``, ``hand:2``."""
    seen: Counter[str] = Counter()
    distinct = []
    for label in labels:
        seen[label] += 1
        distinct.append(f"{label}:{seen[label]}" if labels.count(label) > 1 else label)
    if twice := [label for label, times in seen.items() if times > 1]:
        text = f"several points are named {_listed(twice)}; they are told apart as {twice[0]}:1, {twice[0]}:2"
        warnings.warn(f"{path}: {text}", RecordingWarning, stacklevel=outer_level())
    return distinct
