"""Descriptions of logs: their columns, rate and gaps, and the options that read them."""

from __future__ import annotations

from math import pi
from typing import TypeAlias

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ...table import Table as Text
from ..signals import sampling_period
from .archive import ArchiveReader
from .bag import BagReader
from .csv_table import CSVReader
from .folder import FolderReader
from .parquet import ParquetReader
from .units import TIMES

#: what reads a log
Reader: TypeAlias = ArchiveReader | BagReader | CSVReader | FolderReader | ParquetReader
#: rows that are looked at
_MOST = 200_000
#: correlation of a velocity with the differences of its position
_ALIKE = 0.9
#: periods that make a gap, ratio of long to short ones of a column of time, and largest angle of a joint in rad
_GAP, _UNEVEN, _LARGEST_ANGLE = 1.5, 20.0, 4.0 * pi
#: rows that can be told apart
_FEWEST = 20
#: units of a column of time, told by the usual periods of logs, 0.1 ms to 1 s
_UNITS = ("s", "ms", "us", "ns")


def described(path: str, reader: Reader) -> str:
    """Return columns with their ranges, rate, gaps, and what columns seem to be, with the options that read them."""
    if isinstance(reader, BagReader):
        return f"{path}\n{Text(('topic', 'messages', 'joints'), reader.topics())}"
    if isinstance(reader, FolderReader):
        files = [(file.name, CSVReader(file).rows, len(CSVReader(file).names())) for file in reader.texts()]
        return f"{path}\n{Text(('file', 'rows, about', 'columns'), files)}"
    if isinstance(reader, ArchiveReader):
        arrays = [(name, str(shape)) for name, shape in reader.shapes().items()]
        return f"{path}\n{Text(('array', 'shape'), arrays)}"
    names = reader.names()
    table = next(reader.parts(range(len(names)), _MOST), np.zeros((0, len(names))))
    meaning, notes = _look(table) if len(table) >= _FEWEST else ({}, ["too few rows to say what they are"])
    ranges = [(f"{v.min():.6g}", f"{v.max():.6g}") if v.size else ("", "") for v in table.T]
    rows = [(k, name, *ranges[k], meaning.get(k, "")) for k, name in enumerate(names)]
    part = "" if len(table) < _MOST else f", of which the first {_MOST} were looked at"
    head = f"{path}: about {reader.rows} rows of {len(names)} columns{part}"
    return "\n".join([head, str(Text(("column", "name", "least", "largest", "seems to be"), rows)), *notes])


def _look(table: Array) -> tuple[dict[int, str], list[str]]:
    """Return what columns seem to be, and notes: the rate, and the options that read them."""
    meaning: dict[int, str] = {}
    notes, options, period = [], [], None
    time = next((k for k, column in enumerate(table.T) if _increases(column)), None)
    if time is not None:
        steps = np.diff(table[:, time])
        unit = next((one for one in _UNITS if 1e-4 <= np.median(steps) * TIMES[one] <= 1.0), "s")
        factor = TIMES[unit]
        steps = steps * factor
        period = float(np.median(steps))
        meaning[time] = f"time [{unit}]"
        options.append(f"t={time}")
        gaps = int((steps > _GAP * period).sum())
        notes.append(f"{1.0 / period:.6g} Hz, periods of {steps.min():.4g} to {steps.max():.4g} s, {gaps} gaps")
        if not _is_even(table[:, time] * factor):
            notes.append(f"instants are uneven: --resample {float(f'{1.0 / period:.3g}'):g}")
        if unit != "s":
            notes.append(f"time in {unit}: --time-unit {unit}")
    motion = _motion(table, time)
    if motion is None:
        if time is None:
            notes.append("no column of time: --rate gives the rows per second")
        return meaning, notes
    first, n, derivatives, rate = motion
    for j, word in enumerate(("position", "velocity", "acceleration")[: 1 + derivatives]):
        meaning.update({first + j * n + i: f"{word} of joint {i + 1}" for i in range(n)})
    options.append(f"q={first}:{first + n}")
    if period is None:
        notes.append(f"no column of time; velocities agree with positions at about {rate:.3g} Hz: --rate")
    elif not 0.8 < rate * period < 1.25:
        notes.append(f"velocities are {rate * period:.3g} times the changes of positions: other units")
    if (largest := np.abs(table[:, first : first + n]).max()) > _LARGEST_ANGLE:
        notes.append(f"positions up to {largest:.4g}: degrees, --unit deg")
    free = [k for k in range(table.shape[1]) if k not in meaning]
    blocks = [k for k in free[::n] if set(range(k, k + n)) <= set(free)]
    for number, k in enumerate(blocks, 1):
        meaning.update({k + i: f"torque or current {number} of joint {i + 1}" for i in range(n)})
        notes.append(f"--columns {','.join([*options, f'tau={k}:{k + n}'])}")
    if len(blocks) > 1:
        notes.append("choose the torques that were measured; --gain has the torque for each unit of a current")
    return meaning, notes


def _is_even(t: Array) -> bool:
    try:
        sampling_period(t)
    except ThunderError:
        return False
    return True


def _increases(column: Array) -> bool:
    steps = np.diff(column)
    return bool((steps > 0.0).all() and np.quantile(steps, 0.9) < _UNEVEN * np.quantile(steps, 0.1))


def _motion(table: Array, time: int | None) -> tuple[int, int, int, float] | None:
    """Return the first column of positions, the number of joints, that of derivatives and the rate [Hz], or None.

    Velocities are proportional to the differences of positions, as many columns after them as there are joints.
    """
    differences = np.gradient(table, axis=0)
    still = np.ptp(table, axis=0) == 0.0
    moving = [k for k in range(table.shape[1]) if k != time and not still[k]]
    pairs: dict[int, dict[int, float]] = {}
    for a in moving:
        for b in moving:
            slope, alike = _agreement(differences[:, a], table[:, b])
            if b > a and alike > _ALIKE:
                pairs.setdefault(b - a, {})[a] = slope
    if not pairs:
        return None
    n = max(pairs, key=lambda distance: (len(pairs[distance]), -distance))
    first = min(pairs[n])
    while first > 0 and first - 1 != time and still[first - 1] and still[first - 1 + n]:
        first -= 1
    return first, n, 1 + any(k >= first + n for k in pairs[n]), float(np.median(list(pairs[n].values())))


def _agreement(differences: Array, values: Array) -> tuple[float, float]:
    """Return the slope of values over differences, and their correlation."""
    a, b = differences - differences.mean(), values - values.mean()
    norm = float(np.linalg.norm(a) * np.linalg.norm(b))
    return (0.0, 0.0) if norm == 0.0 else (float(a @ b) / float(a @ a), float(a @ b) / norm)
