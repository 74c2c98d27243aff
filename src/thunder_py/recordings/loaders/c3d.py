"""Markers from C3D files, read by the package ezc3d."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, ThunderError
from ...files import as_file
from ..motion_set import MotionSet
from ..trial import to_si
from .text import agreed_rate, agreed_unit, chosen, marker_trials

__all__ = ["load_c3d"]

#: bytes of a block, second byte of every file, type of processor in the fourth byte of the parameters
_BLOCK, _KEY, _BIG_ENDIAN = 512, 0x50, 86


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
    """Read the 3-D points of a C3D file: one trial for each marker, named like it.

    Unit and rate come from POINT:UNITS and POINT:RATE. A point with a negative residual was not seen: NaN. The first
    sample stands at t = (first frame) / rate, counted from 0. Needs the package ezc3d
    (``pip install "thunder_py[motion]"``).

    Parameters
    ----------
    path : path-like
        The file.
    markers : sequence of str, optional
        Labels of the points to read, in this order; all by default.
    unit : str, optional
        m, cm or mm: what the file should be in, and what it is in where POINT:UNITS is empty.
    rate : float, optional
        What the file should have [Hz], to 1 %.
    frame, subject, task : str
        Labels of the trials.

    Raises
    ------
    FileFormatError
        For a file that is none or damaged, a unit or rate that is missing or another one, an unknown marker.
    ThunderError
        If ezc3d is not installed.
    """
    content, promised = _read(Path(path))
    point = content["parameters"].get("POINT", {})
    factor = to_si(agreed_unit(_first(point, "UNITS", ""), unit, path, "POINT:UNITS"))
    hertz = agreed_rate(float(_first(point, "RATE", np.nan)), rate, path, "POINT:RATE")
    data = np.asarray(content["data"]["points"], dtype=np.float64)[:3]
    residuals = np.asarray(content["data"]["meta_points"]["residuals"], dtype=np.float64)[0]
    if data.shape[2] < max(2, promised):
        what = f"{promised} frames as the header says" if promised > 1 else "two frames of points or more"
        raise FileFormatError(f"expected {what}, got {data.shape[2]}", path=path)
    places = chosen(markers, _labels(point, data.shape[1], path), path)
    # points behind their frames, as everywhere else; ezc3d gives (xyz, point, frame)
    seen = np.moveaxis(np.where(residuals < 0.0, np.nan, data), (0, 1, 2), (2, 1, 0))[:, places]
    points: Array = factor * seen
    t: Array = (np.arange(len(points), dtype=np.float64) + float(content["header"]["points"]["first_frame"])) / hertz
    names = [_labels(point, data.shape[1], path)[k] for k in places]
    return marker_trials(t, points, names, hertz, frame, subject, task)


def _read(path: Path) -> tuple[Any, int]:
    """Return the content and the number of frames that the header promises."""
    try:
        ezc3d = importlib.import_module("ezc3d")
    except ImportError as error:
        raise ThunderError(
            'C3D files are read by ezc3d, which is not installed: pip install "thunder_py[motion]"'
        ) from error
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    promised = _frames_in_header(path)
    try:
        return ezc3d.c3d(str(path)), promised
    except Exception as error:  # what it throws depends on where the file breaks
        raise FileFormatError(f"not a C3D file: {error}", path=path) from error


def _frames_in_header(path: Path) -> int:
    """Return the number of frames that the file promises, 0 if its 16 bits are too few to say.

    ezc3d returns what is left of a file that was cut off in its data, with a header to fit, and never returns from one
    that was cut off in its parameters; so the header is looked at before.
    """
    size = as_file(path).stat().st_size
    with path.open("rb") as file:
        content = file.read(_BLOCK * 256)
    if len(content) < _BLOCK or content[1] != _KEY or content[0] < 2:
        raise FileFormatError("not a C3D file: its second byte must be 0x50", path=path)
    parameters = _BLOCK * (content[0] - 1)
    order = ">u2" if len(content) > parameters + 3 and content[parameters + 3] == _BIG_ENDIAN else "<u2"
    words = np.frombuffer(content, dtype=order, count=10)
    blocks = content[parameters + 2] if len(content) > parameters + 3 else 1
    if size < max(parameters + _BLOCK * blocks, _BLOCK * (int(words[8]) - 1)):
        raise FileFormatError(f"cut off before its data: {size} bytes", path=path)
    first, last = int(words[3]), int(words[4])
    return last - first + 1 if first <= last < 0xFFFF else 0


def _first(group: Mapping[str, Any], name: str, otherwise: Any) -> Any:
    """Return the first entry of a parameter, `otherwise` where it is missing or empty."""
    values = group.get(name, {}).get("value", ())
    return values[0] if len(values) else otherwise


def _labels(point: Mapping[str, Any], count: int, path: str | Path) -> list[str]:
    """Return the names of all points: a parameter holds 255, those behind are in LABELS2, LABELS3, ..."""
    labels: list[str] = []
    for name in ("LABELS", *(f"LABELS{k}" for k in range(2, 2 + count // 255))):
        labels += [str(label).strip() for label in point.get(name, {}).get("value", ())]
    if len(labels) < count:
        raise FileFormatError(
            f"expected {count} labels, one for each point, got {len(labels)}", path=path, key="POINT:LABELS"
        )
    return labels[:count]
