"""Runs in ``.npz`` files, without pickles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..archive import read_archive, write_archive
from ..errors import FileFormatError, ThunderError
from ..io import parse_description
from ..io.yaml_writer import write_native
from .names import ALWAYS_LOGGED, MOTORS_LOGGED

if TYPE_CHECKING:
    from ..simulation.payload import Payload
    from .run import Result

__all__ = ["load_run", "save_run"]

#: names of arrays in a file: plain ones as they are, signals and their labels behind a prefix
_SIGNAL, _LABELS = "signal:", "labels:"
_ROBOT, _PAYLOADS, _HELD = "robot", "payloads", "held"
#: columns of payloads: time, link, mass, centre of mass, inertia about it
_PAYLOAD_COLUMNS = 15


def save_run(result: Result, path: str | Path) -> None:
    """Write a run: complete or not at all."""
    arrays: dict[str, Any] = {name: getattr(result, name) for name in result._columns()}
    arrays |= {_SIGNAL + name: values for name, values in result.signals.items()}
    arrays |= {_LABELS + name: np.array(list(labels), dtype=np.str_) for name, labels in result.names.items()}
    arrays[_HELD] = np.array(result.held)
    if result.description is not None:
        arrays[_ROBOT] = np.array(write_native(result.description))
    if result.payloads:
        arrays[_PAYLOADS] = np.array([_payload_row(payload) for payload in result.payloads])
    write_archive(path, arrays)


def _payload_row(payload: Payload) -> np.ndarray[Any, np.dtype[np.float64]]:
    link = np.asarray(payload.link, dtype=np.float64)
    return np.concatenate([[payload.time, link, payload.mass], np.ravel(payload.com), np.ravel(payload.inertia)])  # type: ignore[arg-type]


def load_run(cls: type[Result], path: str | Path) -> Result:
    """Read a file that `save_run` wrote."""
    arrays = read_archive(path, "Result.save")
    missing = [name for name in ALWAYS_LOGGED if name not in arrays]
    if missing:
        raise FileFormatError(f"not a file of Result.save: {', '.join(missing)} missing", path=path)
    signals = {k.removeprefix(_SIGNAL): v for k, v in arrays.items() if k.startswith(_SIGNAL)}
    names = {k.removeprefix(_LABELS): tuple(map(str, v)) for k, v in arrays.items() if k.startswith(_LABELS)}
    try:
        columns = {name: arrays[name] for name in (*ALWAYS_LOGGED, *MOTORS_LOGGED) if name in arrays}
        return cls(**columns, signals=signals, names=names, **_plant(arrays, path))
    except (ThunderError, TypeError) as error:
        raise FileFormatError(f"not a file of Result.save: {error}", path=path) from error


def _plant(arrays: dict[str, Any], path: str | Path) -> dict[str, Any]:
    """Return description, payloads and held, as far as they are there: files of older versions have none."""
    fields: dict[str, Any] = {}
    if _HELD in arrays:
        fields["held"] = bool(np.all(arrays[_HELD]))
    if _ROBOT in arrays:
        fields["description"] = parse_description(str(arrays[_ROBOT]), path)
    if _PAYLOADS in arrays:
        from ..simulation.payload import Payload

        rows = arrays[_PAYLOADS]
        if rows.ndim != 2 or rows.shape[1] != _PAYLOAD_COLUMNS or rows.dtype.kind != "f":
            raise ThunderError(f"payloads must have shape (n, {_PAYLOAD_COLUMNS}), got {rows.shape}")
        fields["payloads"] = tuple(
            Payload(row[2], row[3:6], row[6:].reshape(3, 3), int(row[1]), row[0]) for row in rows
        )
    return fields
