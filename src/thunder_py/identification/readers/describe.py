"""Descriptions of logs: their columns, rate and gaps, and the options that read them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import pi
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ...table import Table as Text
from ...values import Value
from ..signals import difference_squares, sampling_period, white_noise
from .bag import BagTable
from .columns import groups, joint_names, times
from .tables import Table
from .units import TIMES, scale

#: rows that are looked at, and those that suffice
_MOST, _FEWEST = 200_000, 20
#: correlation of a velocity with the changes of its position, and of desired with measured values
_ALIKE, _SAME = 0.9, 0.98
#: samples over which changes are compared
_SPANS = (1, 8, 40)
#: periods that make a gap, ratio of long to short ones of a column of time, and largest angle of a joint in rad
_GAP, _UNEVEN, _LARGEST_ANGLE = 1.5, 20.0, 4.0 * pi
#: units of a column of time, told by the usual periods of logs, 0.1 ms to 1 s
_UNITS = ("s", "ms", "us", "ns")
#: usual rates [Hz], which an estimated one within 3 % is
_RATES = np.array([10, 20, 25, 30, 40, 50, 60, 100, 120, 125, 200, 240, 250, 300, 400, 500, 800, 1000, 2000, 4000])
#: logarithm of the ratio of rates that are the same, and names of columns that count rows
_CLOSE, _COUNTERS = 0.12, ("", "index", "frame", "frame_index", "sample", "row", "seq", "n", "k")
_WORDS = {"q": "position", "dq": "velocity", "ddq": "acceleration", "tau": "torque", "current": "current"}


#: columns of positions, velocities and accelerations
_Motion: TypeAlias = "tuple[list[int], list[int], list[int]]"


@dataclass(frozen=True)
class Description(Value):
    """What a log holds.

    Attributes
    ----------
    text : str
        Columns with their ranges and what they seem to be, rate, gaps, and the command that reads the log.
    options : dict
        Arguments of `LogFile` that read it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from thunder_py.identification import LogFile
    >>> t = np.arange(200) * 8.0
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = np.column_stack([t, np.sin(0.01 * t), np.cos(0.01 * t), np.cos(0.02 * t)])
    ...     np.savetxt(Path(folder, "log.txt"), rows)
    ...     description = LogFile(Path(folder, "log.txt")).describe()
    >>> description.options
    {'columns': {'t': '0', 'q': '1', 'tau': '3'}, 'time_unit': 'ms'}
    """

    text: str
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the text."""
        return self.text


def described(table: Table, joints: int | None) -> Description:
    """Return columns with their ranges, rate, gaps, and what columns seem to be, with the options that read them."""
    head = [str(table.path)]
    options: dict[str, Any] = {}
    if isinstance(table, BagTable):
        head.append(str(Text(("topic", "type", "messages"), table.topics())))
        topics = table.joint_topics()
        if table.topic is None and len(topics) > 1:
            table = replace(table, topic=topics[0])
            options = {"topic": topics[0]}
    names, data = table.names, _sample(table)
    meaning, notes, found, resample = _looked_at(names, data, joints)
    options |= found
    kept = [column[~np.isnan(column)] for column in data.T]
    ranges = [(f"{v.min():.6g}", f"{v.max():.6g}") if v.size else ("", "") for v in kept]
    rows = [(k, name, *ranges[k], meaning.get(k, "")) for k, name in enumerate(names)]
    part = "" if len(data) < _MOST else f", of which the first {_MOST} were looked at"
    head.append(f"about {table.rows} rows of {len(names)} columns{part}")
    command = ["thunder identify ROBOT", shlex.quote(str(table.path)), "--cutoff HZ"]
    for name, value in options.items():
        if name == "columns":
            value = ",".join(f"{signal}={_joined(places)}" for signal, places in value.items())
        command.append(f"--{name.replace('_', '-')} {value}")
    command += [] if resample is None else [f"--resample {resample:g}"]
    listed = str(Text(("column", "name", "least", "largest", "seems to be"), rows))
    return Description("\n".join([*head, listed, *notes, " ".join(command)]), options)


def _joined(places: str | Sequence[int]) -> str:
    return places if isinstance(places, str) else ",".join(map(str, places))


def _sample(table: Table) -> Array:
    """Return the first rows, NaN in columns of text."""
    read = [k for k in range(len(table.names)) if k not in table.texts]
    part = next(table.parts(read, _MOST), np.zeros((0, len(read))))
    data = np.full((len(part), len(table.names)), np.nan)
    data[:, read] = part
    return data


def _looked_at(
    names: Sequence[str], data: Array, joints: int | None
) -> tuple[dict[int, str], list[str], dict[str, Any], float | None]:
    """Return what columns seem to be, notes, the options that read the log, and a frequency to resample to."""
    meaning: dict[int, str] = {}
    notes: list[str] = []
    options: dict[str, Any] = {}
    numbers = [k for k in range(len(names)) if not np.isnan(data[:, k]).all()]
    whole = data[~np.isnan(data[:, numbers]).any(axis=1)]
    if len(whole) < _FEWEST:
        return meaning, ["too few rows to say what they are"], options, None
    if len(whole) < len(data):
        notes.append(f"numbers are missing in {len(data) - len(whole)} of {len(data)} rows")
    whole = whole[np.append(True, (np.diff(whole[:, numbers], axis=0) != 0.0).any(axis=1))]  # without repeated rows
    numbers = [k for k in numbers if np.ptp(whole[:, k]) > 0.0]
    clock, period, resample, columns = _clock(names, whole), None, None, {}
    if clock is not None:
        places, t, unit = clock
        period, resample, told = _rates_of(t)
        notes += told
        meaning.update(dict.fromkeys(places, f"time [{unit}]"))
        if period is not None:
            columns["t"] = _listed(places)
            options |= (
                {} if unit == "s" or _unit_of(names[places[0]], "t") or _is_epoch(t, unit) else {"time_unit": unit}
            )
    named, certain = _by_names(names, joints)
    certain &= period is not None and clock is not None and clock[0] in times(names)[:1]
    free = [k for k in numbers if k not in meaning]
    motion = [(named["q"], named.get("dq", []), named.get("ddq", []))] if "q" in named else []
    rate = 1.0 / period if period else None
    if not motion:
        motion = _by_changes(whole, free, period, joints) or _by_smoothness(whole, free, joints)
    if not motion:
        return meaning, [*notes, "positions are not recognized: name them with --columns"], options, resample
    for signal, places in zip(("q", "dq", "ddq"), motion[0], strict=True):
        meaning.update({k: f"{_WORDS[signal]} of joint {i}" for i, k in enumerate(places, 1)})
    q, dq = motion[0][:2]
    for other in motion[1:]:
        meaning.update({k: f"desired {_WORDS['q']} of joint {i}" for i, k in enumerate(other[0], 1)})
    if dq:
        rates, alike = _agreement(whole, q, dq)
        rate = float(np.median(np.diag(rates)[np.diag(alike) > _ALIKE])) if (np.diag(alike) > _ALIKE).any() else None
        if period is None and rate is not None:
            nearest = float(_RATES[np.argmin(np.abs(_RATES / rate - 1.0))])
            rate = nearest if abs(nearest / rate - 1.0) < 0.03 else float(f"{rate:.3g}")
            notes.append(f"no column of time; velocities agree with positions at about {rate:g} Hz")
        elif period is not None and (rate is None or not 0.8 < rate * period < 1.25):
            how = "do not follow from positions" if rate is None else f"are {rate * period:.3g} times their changes"
            notes.append(f"velocities {how}: other units, or others than measured")
    if period is None and "rate" not in options:
        options |= {"rate": rate} if rate else {}
        notes += [] if rate else ["no column of time: --rate gives the rows per second"]
    if _unit_of(names[q[0]], "q") is None and (largest := np.abs(whole[:, q]).max()) > _LARGEST_ANGLE:
        notes.append(f"positions up to {largest:.4g}: degrees")
        options["unit"] = "deg"
    torques = [named[signal] for signal in ("tau", "current") if signal in named]
    if not torques:
        torques = _torques(
            whole, q, [k for k in range(len(names)) if k not in meaning and not np.isnan(data[:, k]).all()]
        )
        certain = False
    if not torques:
        return meaning, [*notes, "torques are not recognized: name them with --columns"], options, resample
    for number, places in enumerate(torques, 1):
        word = (
            "torque"
            if places == named.get("tau")
            else "current"
            if places == named.get("current")
            else "torque or current"
        )
        which = f" {number}" if len(torques) > 1 else ""
        meaning.update({k: f"{word}{which} of joint {i}" for i, k in enumerate(places, 1)})
    columns |= {"q": _listed(q), "tau": _listed(torques[0])}
    options |= {} if certain else {"columns": columns}
    if "tau" not in named and "current" in named:
        options["gain"] = 1
        notes.append("torques are currents: --gain has the torque for each unit of them")
    for places in torques[1:]:
        notes.append(
            f"or tau={_joined(_listed(places))}, the measured ones; --gain has the torque for each unit of a current"
        )
    return meaning, notes, options, resample


def _listed(columns: Sequence[int]) -> str | list[int]:
    """Return columns as a number, a range or a list."""
    first, last = columns[0], columns[-1] + 1
    if list(columns) == list(range(first, last)):
        return str(first) if last == first + 1 else f"{first}:{last}"
    return list(columns)


def _unit_of(name: str, signal: str) -> float | None:
    try:
        return scale(signal, True, name, Path())
    except ThunderError:
        return None


def _is_epoch(t: Array, unit: str) -> bool:
    return bool(1e9 < t[0] < 5e9 and unit != "s")


def _clock(names: Sequence[str], data: Array) -> tuple[list[int], Array, str] | None:
    """Return the columns of time, the instants in s, and their unit."""
    named = [columns for columns in times(names) if not np.isnan(data[:, columns]).any()]
    known = {k for group in groups(names, joint_names(names)) for k in group.columns}
    others = [[k] for k in range(len(names)) if k not in known and [k] not in named and _increases(data[:, k])]
    counters = [columns for columns in others if (np.diff(data[:, columns[0]]) == 1.0).all()]
    for columns in [*named, *(one for one in others if one not in counters), *counters]:
        values = data[:, columns[0]]
        steps = np.diff(values)
        if (steps < 0.0).any() or not (steps > 0.0).any():
            continue
        if columns in counters and (
            names[columns[0]].strip().lower() in _COUNTERS or not names[columns[0]].isdecimal()
        ):
            continue
        if len(columns) == 2:
            return columns, values + 1e-9 * data[:, columns[1]], "s"
        factor = _unit_of(names[columns[0]], "t")
        unit = next((one for one in TIMES if TIMES[one] == factor), None)
        usual = (one for one in _UNITS if 1e-4 <= np.median(steps[steps > 0.0]) * TIMES[one] <= 1.0)
        epoch = next((one for one in _UNITS[1:] if 1e9 < values[0] * TIMES[one] < 5e9), None)
        unit = unit or epoch or next(usual, "s")
        return columns, values * TIMES[unit], unit
    return None


def _rates_of(t: Array) -> tuple[float | None, float | None, list[str]]:
    """Return the period, None for stamps of a coarse clock, the frequency to resample to, and notes."""
    steps = np.diff(t)
    forward = np.flatnonzero(steps > 0.0)
    if len(forward) < 0.8 * len(steps):
        rate = (forward[-1] - forward[0]) / (t[forward[-1]] - t[forward[0]]) if len(forward) > 1 else 0.0
        return None, None, [f"instants are repeated; on average {rate:.6g} Hz: --rate instead of the column of time"]
    period = float(np.median(steps[forward]))
    gaps = int((steps > _GAP * period).sum())
    note = f"{1.0 / period:.6g} Hz, periods of {steps.min():.4g} to {steps.max():.4g} s, {gaps} gaps"
    try:
        sampling_period(t)
    except ThunderError:
        resample = float(f"{1.0 / period:.3g}")
        return period, resample, [note, f"instants are uneven: --resample {resample:g}"]
    return period, None, [note]


def _increases(column: Array) -> bool:
    steps = np.diff(column)
    return bool((steps > 0.0).all() and np.quantile(steps, 0.9) < _UNEVEN * np.quantile(steps, 0.1))


def _by_names(names: Sequence[str], joints: int | None) -> tuple[dict[str, list[int]], bool]:
    """Return the signals that names tell, and whether these are read without options."""
    found = groups(names, joint_names(names)) or groups(names, ["joint"])
    sizes = Counter(size for size, _ in {(len(one.columns), one.signal) for one in found if one.signal in _WORDS})
    n = joints or max(sizes, key=lambda size: (sizes[size], size), default=0)
    chosen, certain = {}, True
    for signal in _WORDS:
        ranked = sorted(
            (one for one in found if one.signal == signal and len(one.columns) == n), key=lambda one: one.rank
        )
        if ranked:
            chosen[signal] = list(ranked[0].columns)
            doubtful = len(ranked) > 1 and ranked[1].rank == ranked[0].rank
            certain &= not doubtful or signal in ("dq", "ddq", "current")
    return chosen, certain and "q" in chosen and ("tau" in chosen or "current" in chosen)


def _agreement(data: Array, of: Sequence[int], values: Sequence[int]) -> tuple[Array, Array]:
    """Return the rates [Hz] at which values are velocities of columns, (a, b), and correlations with their changes."""
    rates, alike = np.zeros((2, len(of), len(values)))
    sums = np.cumsum(np.vstack([np.zeros(len(values)), data[:, values]]), axis=0)
    for span in (one for one in _SPANS if 4 * one < len(data)):
        change = data[span:, of] - data[:-span, of]
        ends = 0.5 * (data[span:, values] + data[:-span, values])
        mean = (sums[span + 1 :] - sums[: -span - 1] - ends) / span
        change, mean = change - change.mean(axis=0), mean - mean.mean(axis=0)
        norms = np.maximum(np.linalg.norm(change, axis=0), 1e-100)
        product = change.T @ mean
        found = product / np.outer(norms, np.maximum(np.linalg.norm(mean, axis=0), 1e-100))
        better = found > alike
        rates, alike = np.where(better, span * product / norms[:, None] ** 2, rates), np.where(better, found, alike)
    return rates, alike


def _by_changes(data: Array, moving: Sequence[int], period: float | None, joints: int | None) -> list[_Motion]:
    """Return blocks of positions, velocities and accelerations, the measured ones first.

    Velocities are proportional to the changes of positions, at one rate for all joints, and at one distance from them.
    """
    rates, alike = _agreement(data, moving, moving)
    near = (alike > _ALIKE) & ~np.eye(len(moving), dtype=bool)
    steps = np.log(np.where(near, rates, 1.0))
    if period is None:  # the rate that most pairs have
        counts = [(np.abs(steps[near] - step) < _CLOSE).sum() for step in steps[near]]
        centers = [steps[near][np.argmax(counts)]] if counts else []
    else:  # degrees beside rad, where the same unit is not found
        centers = [-np.log(period * ratio) for ratio in (1.0, pi / 180.0, 180.0 / pi)]
    for center in centers:
        found = np.argwhere(near & (np.abs(steps - center) < _CLOSE) & ((alike > _SAME) | (center == centers[0])))
        linked = {(moving[a], moving[b]) for a, b in found}
        if linked:
            break
    else:
        return []
    distances = Counter(b - a for a, b in linked)
    d = max(distances, key=lambda one: (distances[one], -abs(one)))
    first = sorted(a for a, b in linked if b - a == d and (a - d, a) not in linked)
    stride = min(np.diff(first), default=1)
    stride = int(stride) if len(first) > 1 and not (np.diff(first) % stride).any() else 1
    q = list(range(first[0], first[-1] + 1, stride))
    still = set(range(data.shape[1])).difference(moving)
    most = joints or (abs(d) if stride == 1 and abs(d) > 1 else data.shape[1])
    for step in (-stride, stride):  # joints that stand still
        while len(q) < most and {(end := q[0 if step < 0 else -1]) + step, end + step + d} <= still:
            q = sorted([*q, end + step])
    halves = [q[: len(q) // 2], q[len(q) // 2 :]]
    blocks = halves if len(q) % 2 == 0 and _are_alike(data, *halves) else [q]
    blocks.sort(key=lambda block: -_roughness(data, block).mean())
    return [
        (
            block,
            [k + d for k in block],
            [k + 2 * d for k in block] if sum((k + d, k + 2 * d) in linked for k in block) > len(block) // 2 else [],
        )
        for block in blocks
    ]


def _by_smoothness(data: Array, free: Sequence[int], joints: int | None) -> list[_Motion]:
    """Return the positions where there are only these and torques, in blocks or in turn: the smoother half."""
    n = joints or len(free) // 2
    if n == 0 or len(free) != 2 * n:
        return []
    rough = np.log(_roughness(data, free) + 1e-12)
    cuts = [(free[:n], free[n:], rough[:n], rough[n:]), (free[::2], free[1::2], rough[::2], rough[1::2])]
    one, other, r, s = max(cuts, key=lambda cut: abs(np.median(cut[2]) - np.median(cut[3])))
    return [(list(one if np.median(r) < np.median(s) else other), [], [])]


def _roughness(data: Array, columns: Sequence[int]) -> Array:
    """Return the white noise on columns, relative to their deviations."""
    values = data[:, columns]
    noise = np.sqrt(white_noise(difference_squares(values, 0, len(values))))
    rough: Array = noise / np.maximum(values.std(axis=0), 1e-100)
    return rough


def _are_alike(data: Array, a: Sequence[int], b: Sequence[int]) -> bool:
    """Return whether blocks are the same but for noise and delays."""
    found = []
    for one, other in zip(data[:, a].T, data[:, b].T, strict=True):
        if np.ptp(one) > 0.0 and np.ptp(other) > 0.0:
            found.append(np.corrcoef(one, other)[0, 1] > _SAME)
        elif np.ptp(one) != np.ptp(other):
            found.append(False)
    return bool(np.mean(found) > 0.5) if found else False


def _torques(data: Array, q: Sequence[int], free: Sequence[int]) -> list[list[int]]:
    """Return the columns that can be torques, the likeliest first: large, and with noise, as what is measured."""
    n, stride = len(q), q[1] - q[0] if len(q) > 1 else 1
    blocks = []
    if stride > 1:
        blocks = [[k + by for k in q] for by in range(-stride, stride + 1)]
    else:
        k = 0
        while k + n <= len(free):
            run = list(free[k : k + n])
            blocks += [run] if run[-1] - run[0] == n - 1 else []
            k += n if run[-1] - run[0] == n - 1 else 1
    blocks = [block for block in blocks if set(block) <= {*free} and np.ptp(data[:, block], axis=0).any()]
    blocks = [block for block in blocks if not _are_alike(data, q, block)]
    size = [float(data[:, block].std(axis=0).sum()) for block in blocks]
    largest = max(size, default=0.0)
    order = sorted(
        range(len(blocks)),
        key=lambda k: (size[k] < 0.5 * largest, -_roughness(data, blocks[k]).mean()),
    )
    return [blocks[k] for k in order]
