"""Descriptions of logs: their columns, rate and gaps, and the options that read them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import pi
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ...table import Table as Text
from ...tabular.bag import BagTable
from ...tabular.files import Table
from ...values import Value
from ..signals import difference_squares, sampling_period, white_noise
from .columns import groups, joint_names, times
from .units import TIMES, scale

#: rows that are looked at, and those that suffice
_MOST, _FEWEST = 200_000, 20
#: correlation of a velocity with the changes of its position, of desired with measured values, of the only velocity
_ALIKE, _SAME, _SURE = 0.9, 0.98, 0.995
#: samples over which changes are compared
_SPANS = (1, 8, 40)
#: periods that make a gap, ratio of long to short ones of a column of time, and largest angle of a joint in rad
_GAP, _UNEVEN, _LARGEST_ANGLE = 1.5, 20.0, 4.0 * pi
#: units of a column of time, told by the usual periods of logs, 0.1 ms to 1 s
_UNITS = ("s", "ms", "us", "ns")
#: usual rates [Hz], which an estimated one within 3 % is
_RATES = np.array([10, 20, 25, 30, 40, 50, 60, 100, 120, 125, 200, 240, 250, 300, 400, 500, 800, 1000, 2000, 4000])
#: relative error of an estimated rate, share of instants that increase, and blocks of q and tau
_NEAR, _MANY, _PAIR = 0.03, 0.8, 2
#: logarithm of the ratio of rates that are the same
_CLOSE = 0.12
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
    ...     rows = np.column_stack([t, np.sin(0.01 * t), 10.0 * np.cos(0.01 * t), np.cos(0.02 * t)])
    ...     np.savetxt(Path(folder, "log.txt"), rows)
    ...     description = LogFile(Path(folder, "log.txt")).describe()
    >>> description.options
    {'time_unit': 'ms', 'columns': {'t': '0', 'q': '1', 'tau': '3'}}
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
    seems, notes, found, further = _looked_at(names, data, joints)
    options |= found
    kept = [column[~np.isnan(column)] for column in data.T]
    notes += [f"{names[k]} has no numbers" for k in seems if not kept[k].size]
    ranges = [(f"{v.min():.6g}", f"{v.max():.6g}") if v.size else ("", "") for v in kept]
    rows = [(k, name, *ranges[k], seems.get(k, "")) for k, name in enumerate(names)]
    part = "" if len(data) < _MOST else f", of which the first {_MOST} were looked at"
    head.append(f"about {table.rows} rows of {len(names)} columns{part}")
    given = {**options, **({"columns": _columns_text(options["columns"])} if "columns" in options else {})}
    command = ["thunder identify ROBOT", shlex.quote(str(table.path)), "--cutoff HZ"]
    command += [f"--{name.replace('_', '-')} {value}" for name, value in {**given, **further}.items()]
    listed = str(Text(("column", "name", "least", "largest", "seems to be"), rows))
    return Description("\n".join([*head, listed, *notes, " ".join(command)]), options)


def _columns_text(columns: Mapping[str, str | Sequence[int]]) -> str:
    """Return columns as the command reads them."""
    joined = {name: text if isinstance(text, str) else ",".join(map(str, text)) for name, text in columns.items()}
    return ",".join(f"{signal}={places}" for signal, places in joined.items())


def _sample(table: Table) -> Array:
    """Return the first rows, NaN in columns of text."""
    read = [k for k in range(len(table.names)) if k not in table.texts]
    part = next(table.parts(read, _MOST), np.zeros((0, len(read))))
    data = np.full((len(part), len(table.names)), np.nan)
    data[:, read] = part
    return data


def _looked_at(
    names: Sequence[str], data: Array, joints: int | None
) -> tuple[dict[int, str], list[str], dict[str, Any], dict[str, Any]]:
    """Return what columns seem to be, notes, the options that read the log, and further ones of the command."""
    seems: dict[int, str] = {}
    columns: dict[str, str | list[int]] = {}
    options: dict[str, Any] = {}
    numbers = [k for k in range(len(names)) if not np.isnan(data[:, k]).all()]
    whole = data[~np.isnan(data[:, numbers]).any(axis=1)]
    if len(whole) < _FEWEST:
        return seems, ["too few rows to say what they are"], options, {}
    missing = len(data) - len(whole)
    notes = [f"numbers are missing in {missing} of {len(data)} rows"] if missing else []
    whole = whole[np.append(True, (np.diff(whole[:, numbers], axis=0) != 0.0).any(axis=1))]  # without repeated rows

    def mark(places: Sequence[int], word: str) -> None:
        seems.update({k: f"{word} of joint {i}" for i, k in enumerate(places, 1)})

    clock, unit, t = _clock(names, whole)
    period, further = None, {}
    if clock:
        seems.update(dict.fromkeys(clock, f"time [{unit}]"))
        period, uneven, note = _periods(t)
        notes.append(note)
        further = {"resample": f"{float(f'{1.0 / period:.3g}'):g}"} if period and uneven else {}
        if period:
            columns["t"] = _listed(clock)
            told = unit == "s" or len(clock) > 1 or _unit_of(names[clock[0]], "t") or 1e9 < t[0] < 5e9
            options |= {} if told else {"time_unit": unit}
    elif named_clocks := times(names):
        columns["t"] = _listed(named_clocks[0])
        if (back := np.diff(whole[:, named_clocks[0][0]]) < 0.0).any():
            notes.append(f"{names[named_clocks[0][0]]} decreases {back.sum()} times: split the log there")
    named, certain = _by_names(names, joints)
    moving = [k for k in numbers if np.ptp(whole[:, k]) > 0.0 and k not in seems]
    motions = [(named["q"], named.get("dq", []), named.get("ddq", []))] if "q" in named else []
    motions = motions or _by_changes(whole, moving, period, joints) or _by_smoothness(whole, moving, joints)
    if not motions:
        return seems, [*notes, "positions are not recognized: name them with --columns"], options, further
    for places, word in zip(motions[0], ("position", "velocity", "acceleration"), strict=True):
        mark(places, word)
    for desired, *_ in motions[1:]:
        mark(desired, "desired position")
    q, dq, _ = motions[0]
    rates, alike = (np.diag(each) for each in _agreement(whole, q, dq))
    if joints and len(q) != joints:
        notes.append(f"these are {len(q)} joints, not {joints}: name those of the robot with --columns")
    rate = float(np.median(rates[alike > _ALIKE])) if (alike > _ALIKE).any() else None
    if period is None and rate is not None:
        notes.append(f"no column of time; velocities agree with positions at about {rate:.4g} Hz")
    if period is None and clock and rate is None:
        rate = (len(t) - 1) / (t[-1] - t[0])
    if period is None and rate is not None:
        nearest = float(_RATES[np.argmin(np.abs(_RATES / rate - 1.0))])
        options["rate"] = nearest if abs(nearest / rate - 1.0) < _NEAR else float(f"{rate:.3g}")
    elif period is None and "t" not in columns:
        notes.append("no column of time: --rate gives the rows per second")
        further = {"rate": "RATE"}
    if period is not None and dq and (rate is None or not 0.8 < rate * period < 1.25):
        how = "do not follow from positions" if rate is None else f"are {rate * period:.3g} times their changes"
        notes.append(f"velocities {how}: other units, or others than measured")
    if _unit_of(names[q[0]], "q") is None and (largest := np.abs(whole[:, q]).max()) > _LARGEST_ANGLE:
        notes.append(f"positions up to {largest:.4g}: degrees")
        options["unit"] = "deg"
    torques = [(named[signal], _WORDS[signal]) for signal in ("tau", "current") if signal in named]
    free = [k for k in numbers if k not in seems]
    torques = torques or [(places, "torque or current") for places in _torques(whole, q, free)]
    if not torques:
        return seems, [*notes, "torques are not recognized: name them with --columns"], options, further
    for number, (places, word) in enumerate(torques, 1):
        mark(places, f"{word} {number}" if len(torques) > 1 else word)
    columns |= {"q": _listed(q), "tau": _listed(torques[0][0])}
    if not (certain and period and clock in times(names)[:1]):
        options["columns"] = columns
    if torques[0][1] == "current":
        options["gain"] = 1
        notes.append("torques are currents: --gain has the torque for each unit of them")
    for places, _ in torques[1:]:
        others = _columns_text({"tau": _listed(places)})
        notes.append(f"or {others}, if these were measured; --gain has the torque for each unit of a current")
    return seems, notes, options, further


def _listed(columns: Sequence[int]) -> str | list[int]:
    """Return columns as a number, a range or a list."""
    first, last = columns[0], columns[-1] + 1
    if list(columns) != list(range(first, last)):
        return list(columns)
    return str(first) if last == first + 1 else f"{first}:{last}"


def _unit_of(name: str, signal: str) -> float | None:
    try:
        return scale(signal, True, name, Path())
    except ThunderError:
        return None


def _clock(names: Sequence[str], data: Array) -> tuple[list[int], str, Array]:
    """Return the columns of time, their unit, and the instants in s; counters of rows are the last choice."""
    known = {k for group in groups(names, joint_names(names)) for k in group.columns}
    counted = [k for k in range(len(names)) if (np.diff(data[:, k]) == 1.0).all()]
    free = [k for k in range(len(names)) if k not in known and _increases(data[:, k])]
    others = [k for k in free if k not in counted] + [k for k in counted if k in free and names[k].isdecimal()]
    for columns in [*times(names), *([k] for k in others)]:
        values = data[:, columns[0]]
        steps = np.diff(values)
        if not ((steps >= 0.0).all() and (steps > 0.0).any()):
            continue
        if len(columns) == 2:
            return columns, "s", values + 1e-9 * data[:, columns[1]]
        factor = _unit_of(names[columns[0]], "t")
        step = np.median(steps[steps > 0.0])
        unit = next(
            (one for one in TIMES if TIMES[one] == factor or (factor is None and 1e9 < values[0] * TIMES[one] < 5e9)),
            next((one for one in _UNITS if 1e-4 <= step * TIMES[one] <= 1.0), "s"),
        )
        return columns, unit, values * TIMES[unit]
    return [], "s", np.zeros(0)


def _periods(t: Array) -> tuple[float | None, bool, str]:
    """Return the period, None for stamps of a coarse clock, whether instants are uneven, and a note."""
    steps = np.diff(t)
    forward = np.flatnonzero(steps > 0.0)
    if len(forward) < _MANY * len(steps):
        rate = (forward[-1] - forward[0]) / max(t[forward[-1]] - t[forward[0]], 1e-9)
        return None, True, f"instants are repeated, {rate:.6g} Hz on average: --rate instead of the column of time"
    period = float(np.median(steps[forward]))
    gaps = int((steps > _GAP * period).sum())
    note = f"{1.0 / period:.6g} Hz, periods of {steps.min():.4g} to {steps.max():.4g} s, {gaps} gaps"
    try:
        sampling_period(t)
    except ThunderError:
        return period, True, f"{note}; uneven: --resample"
    return period, False, note


def _increases(column: Array) -> bool:
    steps = np.diff(column)
    return bool((steps > 0.0).all() and np.quantile(steps, 0.9) < _UNEVEN * np.quantile(steps, 0.1))


def _by_names(names: Sequence[str], joints: int | None) -> tuple[dict[str, list[int]], bool]:
    """Return the signals that names tell, and whether these are read without options."""
    found = groups(names, joint_names(names)) or groups(names, ["joint"])
    sizes = Counter(size for size, _ in {(len(one.columns), one.signal) for one in found if one.signal in _WORDS})
    most = max(sizes, key=lambda size: (sizes[size], size), default=0)
    other = joints not in sizes and any(one.signal == "q" for one in found)  # names tell of another number
    n = most if joints is None or other else joints
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
    if max(distances.values()) == 1 and not any(alike[a, b] > _SURE for a, b in found):
        return []  # by chance
    d = max(distances, key=lambda one: (distances[one], -abs(one)))
    first = sorted(a for a, b in linked if b - a == d and (a - d, a) not in linked)
    stride = min(np.diff(first), default=1)
    stride = int(stride) if len(first) > 1 and not (np.diff(first) % stride).any() else 1
    still, targets = set(range(data.shape[1])).difference(moving), {b for _, b in linked}
    blocks: list[list[int]] = []
    for k in range(first[0], first[-1] + 1, stride):
        if k in targets and k not in first:
            blocks.append([])  # velocities between two blocks of positions
        else:
            blocks = blocks or [[]]
            blocks[-1].append(k)
    blocks = [block for block in blocks if block and len(block) == max(map(len, blocks))]
    q = blocks[0]
    most = joints or (abs(d) if stride == 1 and abs(d) > 1 else data.shape[1])
    for step in (-stride, stride):  # joints that stand still
        while len(q) < most and {(end := q[0 if step < 0 else -1]) + step, end + step + d} <= still:
            q[:] = sorted([*q, end + step])
    halves = [q[: len(q) // 2], q[len(q) // 2 :]]
    blocks = halves if len(blocks) == 1 and len(q) % 2 == 0 and _are_alike(data, *halves) else blocks
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
    """Return the positions where there are no velocities: the smoothest block, or the measured one that is like it."""
    for parts in (4, 3, 2):  # with desired values or without
        n = len(free) // parts
        if n == 0 or len(free) % parts or n != (joints or n):
            continue
        best: tuple[float, list[int]] = (0.0, [])
        for blocks in ([free[k * n : k * n + n] for k in range(parts)], [free[k::parts] for k in range(parts)]):
            rough = [float(np.median(_roughness(data, block))) for block in blocks]
            order = sorted(range(parts), key=lambda k: rough[k])
            alike = [k for k in order[1:] if _are_alike(data, blocks[order[0]], blocks[k])]
            if parts == _PAIR or alike:
                apart = rough[order[-1]] / max(rough[order[0]], 1e-12)
                best = max(best, (apart, list(blocks[alike[0] if alike else order[0]])))
        if best[1]:
            return [(best[1], [], [])]
    return []


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
    noise = [round(float(np.log(_roughness(data, block).mean() + 1e-12)), 1) for block in blocks]
    order = sorted(range(len(blocks)), key=lambda k: (size[k] < 0.5 * largest, -noise[k]))
    return [blocks[k] for k in order]
