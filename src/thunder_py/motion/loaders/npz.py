"""The package's own file of recordings: plain arrays in a ``.npz``, no pickles."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...archive import read_archive, write_archive
from ...errors import FileFormatError, ThunderError
from ..trial import Trial

__all__ = ["load_npz", "save_npz"]

_FORMAT = "thunder_py motions 1"
_LABELS = ("rate", "frame", "subject", "task", "name")
_ARRAYS = ("format", "sizes", "t", "x", "trials")


def save_npz(motions: Sequence[Trial], path: str | Path) -> None:
    """Write trials: complete or not at all.

    The file holds `sizes` (trials, 2) with T and d of every trial, `t` and `x` of all trials one behind the other, and
    `trials`, a JSON text with their labels.
    """
    labels = [
        {"dofs": trial.dofs, "units": trial.units, **{key: getattr(trial, key) for key in _LABELS}} for trial in motions
    ]
    arrays = {
        "format": np.array(_FORMAT),
        "sizes": np.array([trial.x.shape for trial in motions], dtype=np.int64).reshape(-1, 2),
        "t": np.concatenate([np.empty(0), *(trial.t for trial in motions)]),
        "x": np.concatenate([np.empty(0), *(trial.x.ravel() for trial in motions)]),
        "trials": np.array(json.dumps(labels)),
    }
    write_archive(path, arrays)


def load_npz(path: str | Path) -> MotionSet:
    """Read a file of `MotionSet.save`.

    Raises
    ------
    FileFormatError
        If the file is another one, or damaged.
    """
    arrays = read_archive(path, "MotionSet.save")
    if missing := [name for name in _ARRAYS if name not in arrays]:
        raise FileFormatError(f"not a file of MotionSet.save: {', '.join(missing)} missing", path=path)
    if str(arrays["format"]) != _FORMAT:
        raise FileFormatError(f"format must be {_FORMAT!r}, got {str(arrays['format'])!r}", path=path)
    try:
        return MotionSet(_trials(arrays))
    except (ThunderError, TypeError, ValueError, KeyError, RecursionError) as error:
        raise FileFormatError(f"damaged file of MotionSet.save: {error}", path=path) from error


def _trials(arrays: dict[str, Any]) -> list[Trial]:
    sizes, labels = arrays["sizes"], json.loads(str(arrays["trials"]))
    if not isinstance(labels, list) or not all(isinstance(label, dict) for label in labels):
        raise ThunderError("trials must be a list of objects")
    if sizes.ndim != 2 or sizes.shape[1] != 2 or sizes.dtype.kind != "i" or (sizes < 0).any():
        raise ThunderError(f"sizes must have shape (trials, 2), got {sizes.shape}")
    lengths, entries = sizes[:, 0], sizes[:, 0] * sizes[:, 1]
    if arrays["t"].shape != (lengths.sum(),) or arrays["x"].shape != (entries.sum(),) or len(labels) != len(sizes):
        raise ThunderError("sizes must fit t, x and trials")
    times = np.split(arrays["t"], np.cumsum(lengths)[:-1]) if len(sizes) else []
    values = np.split(arrays["x"], np.cumsum(entries)[:-1]) if len(sizes) else []
    return [
        Trial(t, x.reshape(size), tuple(label.pop("dofs")), tuple(label.pop("units")), **label)
        for t, x, size, label in zip(times, values, sizes, labels, strict=True)
    ]
