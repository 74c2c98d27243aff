"""Markers from C3D files, read with the package ezc3d."""

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
    """Read the 3-D points of a C3D file: one trial per marker, with its name.

    Unit and rate are POINT:UNITS and POINT:RATE. A negative residual marks a point as not measured (NaN). The time of
    the first sample is (first frame) / rate, counted from 0. Needs the package ezc3d
    (``pip install "thunder_py[motion]"``).

    Parameters
    ----------
    path : path-like
        The file.
    markers : sequence of str, optional
        Labels of the points to read, in this order; all by default.
    unit : str, optional
        Expected unit (m, cm or mm), required if POINT:UNITS is empty.
    rate : float, optional
        Expected rate [Hz], to 1 %.
    frame, subject, task : str
        Labels of the trials.

    Returns
    -------
    MotionSet
        One trial per marker.

    Raises
    ------
    FileFormatError
        For a damaged file, a missing or unexpected unit or rate, or an unknown marker.
    ThunderError
        If ezc3d is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ezc3d
    >>> import numpy as np
    >>> from thunder_py.recordings.loaders import load_c3d
    >>> file = ezc3d.c3d()
    >>> for name, value in (("RATE", [100.0]), ("LABELS", ["hand"]), ("UNITS", ["mm"])):
    ...     file["parameters"]["POINT"][name]["value"] = value
    >>> file["data"]["points"] = np.reshape([0.0, 200.0, 0.0, 0.0, 0.0, 500.0, 1.0, 1.0], (4, 1, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file.write(str(Path(folder) / "reach.c3d"))
    ...     (trial,) = load_c3d(Path(folder) / "reach.c3d")
    >>> trial.name, trial.rate, trial.position[-1].round(6).tolist()
    ('hand', 100.0, [0.2, 0.0, 0.5])
    """
    content, frames = _read(Path(path))
    point = content["parameters"].get("POINT", {})
    factor = to_si(agreed_unit(_first(point, "UNITS", ""), unit, path, "POINT:UNITS"))
    hertz = agreed_rate(float(_first(point, "RATE", np.nan)), rate, path, "POINT:RATE")
    data = np.asarray(content["data"]["points"], dtype=np.float64)[:3]
    residuals = np.asarray(content["data"]["meta_points"]["residuals"], dtype=np.float64)[0]
    if data.shape[2] < max(2, frames):
        what = f"{frames} frames as in the header" if frames > 1 else "two frames of points or more"
        raise FileFormatError(f"expected {what}, got {data.shape[2]}", path=path)
    labels = _labels(point, data.shape[1], path)
    indices = chosen(markers, labels, path)
    # (frame, point, xyz) from the (xyz, point, frame) of ezc3d
    points: Array = factor * np.moveaxis(np.where(residuals < 0.0, np.nan, data), (0, 1, 2), (2, 1, 0))[:, indices]
    t: Array = (np.arange(len(points), dtype=np.float64) + float(content["header"]["points"]["first_frame"])) / hertz
    return marker_trials(t, points, [labels[k] for k in indices], hertz, frame, subject, task)


def _read(path: Path) -> tuple[Any, int]:
    """Return the content and the number of frames in the header."""
    try:
        ezc3d = importlib.import_module("ezc3d")
    except ImportError as error:
        raise ThunderError('C3D files need ezc3d, which is not installed: pip install "thunder_py[motion]"') from error
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    frames = _frames_in_header(path)
    try:
        return ezc3d.c3d(str(path)), frames
    except Exception as error:  # the type depends on the damage
        raise FileFormatError(f"not a C3D file: {error}", path=path) from error


def _frames_in_header(path: Path) -> int:
    """Return the number of frames in the header, 0 if it exceeds its 16 bits.

    ezc3d truncates the header of a file cut off in its data, and never returns from a file cut off in its parameters.
    This check of the header comes first.
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
    """Return the first entry of a parameter, `otherwise` if it is missing or empty."""
    values = group.get(name, {}).get("value", ())
    return values[0] if len(values) else otherwise


def _labels(point: Mapping[str, Any], count: int, path: str | Path) -> list[str]:
    """Return the names of all points; a parameter holds 255, further names are in LABELS2, LABELS3, ..."""
    labels: list[str] = []
    for name in ("LABELS", *(f"LABELS{k}" for k in range(2, 2 + count // 255))):
        labels += [str(label).strip() for label in point.get(name, {}).get("value", ())]
    if len(labels) < count:
        raise FileFormatError(
            f"expected {count} labels, one per point, got {len(labels)}", path=path, key="POINT:LABELS"
        )
    return labels[:count]
