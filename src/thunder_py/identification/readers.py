"""Columns of tables of logs as signals of joints: by their names and units, or by what they hold.

A name is words and numbers: ``actual_q_0``, ``/joint_states/elbow/position``, ``axisTauMsr_LBR_iiwa_1_0``. Columns that
differ by one number, or by the name of a joint, are a group; its words say which signal it is, and whether it was
measured or desired.
"""

from __future__ import annotations

import re
import shlex
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import pi
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..checks import Array
from ..errors import FileFormatError, ThunderError, ThunderWarning, outer_level
from ..robot import Robot
from ..table import Table as Text
from ..tabular.bag import BagTable
from ..tabular.files import Table
from ..values import Value
from .signals import LONGEST_GAP, difference_squares, sampling_period, white_noise

_ANGLES = {"rad": 1.0, "deg": pi / 180.0, "mrad": 1e-3, "rev": 2.0 * pi}
_LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6}
TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}
_TORQUES = {"N m": 1.0, "kN m": 1e3, "mN m": 1e-3, "N cm": 1e-2, "N mm": 1e-3}
_FORCES = {"N": 1.0, "kN": 1e3, "mN": 1e-3}
_CURRENTS = {"A": 1.0, "mA": 1e-3}
#: other spellings, as they are without spaces and dots
_SPELLINGS = {
    "°": "deg", "degree": "deg", "degrees": "deg", "radian": "rad", "radians": "rad", "meter": "m", "meters": "m",
    "µm": "um", "μm": "um", "µs": "us", "μs": "us", "sec": "s", "second": "s", "seconds": "s", "nm": "Nm",
    "msec": "ms", "usec": "us", "nsec": "ns", "mnm": "mNm", "a": "A", "ma": "mA", "n": "N",
}  # fmt: skip
#: number of time derivatives of motion
_DERIVATIVES = {"q": 0, "dq": 1, "ddq": 2, "x": 0, "dx": 1, "ddx": 2}
#: units behind the last line of a name, such as that of q1_deg or qd1_deg_s
SUFFIX = re.compile(
    r"(.*[^\W_])[_ ]+((?:deg|rad|degrees|radians|rev|mm)(?:[_/]s(?:\^?2)?)?|ms|us|ns|s|m?Nm|m?A|rpm|msec|usec|nsec)",
    re.IGNORECASE,
)


def name_and_unit(column: str) -> tuple[str, str]:
    """Return the name of a column, and the unit in brackets that follows it, or nothing."""
    found = re.fullmatch(r"(.*?)\s*[\[(]([^\[\]()]*)[\])]\s*", column)
    if found is None or not found[1] or found[2].strip().isdigit():  # a number is an index
        return column, ""
    return found[1], found[2].strip()


def scale(signal: str, revolute: bool, column: str, path: Path) -> float | None:
    """Return the factor that converts a column to s, rad, m, N m, N or A; None for a column without a unit.

    Raises
    ------
    FileFormatError
        If a unit in brackets is not one of the signal.
    """
    known = _known(signal, revolute)
    plain = {_plain(name): factor for name, factor in known.items()}
    unit = name_and_unit(column)[1]
    if not unit:
        behind = SUFFIX.fullmatch(column)
        return plain.get(_plain(behind[2].replace("_", "/"))) if behind else None
    for text in unit.split(" or "):
        if _plain(text) in plain:
            return plain[_plain(text)]
    raise FileFormatError(f"the unit of column {column!r} must be one of {', '.join(known)}, got {unit!r}", path=path)


def _known(signal: str, revolute: bool) -> Mapping[str, float]:
    """Return the units of a signal."""
    if signal == "t":
        return TIMES
    if signal not in _DERIVATIVES:
        return (_TORQUES if revolute else _FORCES) | (_CURRENTS if signal == "current" else {})
    order = _DERIVATIVES[signal]
    rate = ("", "/s", "/s^2")[order]
    known = {f"{name}{rate}": factor for name, factor in (_ANGLES if revolute else _LENGTHS).items()}
    return {**known, "rpm": pi / 30.0} if revolute and order == 1 else known


def _plain(unit: str) -> str:
    """Return one spelling of a unit."""
    text = re.sub(r"[\s.*·⋅]|\*\*", "", unit.replace("**", "^")).replace("²", "^2")
    first, *rates = text.split("/")
    order = "/".join(rates).replace("sec", "s")
    order = {"s2": "s^2", "s/s": "s^2"}.get(order, order)
    return "/".join([_SPELLINGS.get(first, first), *([order] if order else [])])


#: columns of a signal, by names, numbers from 0, or ranges of these
Columns: TypeAlias = "str | int | range | Sequence[str | int]"

#: words of signals; those before win where a name has words of several
_WORDS: Mapping[str, str] = {
    "ddq": "ddq ddx qdd qddot ddtheta acc accs accel accels acceleration accelerations qacc",
    "dq": "dq dx qd qdot dtheta vel vels velocity velocities speed speeds omega qvel",
    "tau": "tau taus torque torques effort efforts trq tq torq moment moments qfrc",
    "q": "q x pos position positions angle angles theta thetas qpos th",
    "current": "current currents i iq amp amps cur curr",
}
_SIGNAL_OF = {word: signal for signal, words in _WORDS.items() for word in words.split()}
_MOTORS, _OF_SPRINGS = frozenset(("motor", "motors", "rotor", "x", "dx", "ddx")), frozenset(("joint", "joints", "j"))
#: signals of elastic joints, with those of links that they are like, and words that tell them from these
OF_MOTORS = {"x": ("q", _MOTORS), "dx": ("dq", _MOTORS), "ddx": ("ddq", _MOTORS), "joint_torque": ("tau", _OF_SPRINGS)}
SIGNALS = ("q", "dq", "ddq", "tau", *OF_MOTORS)
_OF_TORQUE = ("tau", "joint_torque")
_PHRASES = (
    (r"\b(?:q|theta|th|angle|pos|position)( [#\d]+)? (?:dot dot|ddot|dotdot)\b", r"ddq\1"),
    (r"\b(?:q|theta|th|angle|pos|position)( [#\d]+)? (?:dot|d dt)\b", r"dq\1"),
    (r"\bobservation state\b", "measured q"),
    (r"^action\b", "desired q"),
    (r"\bjoint (?:states?|data)\b", "joint"),
    (r"\bnano sec", "nanosec"),
    (r"\bdd q\b", "ddq"),
)
#: words that say more: values that were measured, desired or filtered, words that change nothing, and other quantities
_MEASURED, _DESIRED, _FILTERED, _NEUTRAL, _OTHER = (
    frozenset(words.split())
    for words in (
        "actual act meas measured measure msr mes real fb feedback observed obs observation state sensor",
        "desired des d ref reference cmd command commanded target goal setpoint set nominal ctrl plan action",
        "filt filtered smooth smoothed lowpass lp",
        "joint joints j axis a arm robot field value values data deg rad degrees radians s ms us ns nm mnm ma rpm mm "
        "states csv txt tsv dat npy files header from start in ros since",
        "ext external error err friction fric gravity grav coriolis temp temperature limit limits max min lower upper "
        "tcp tool ee cartesian pose wrench force cov bias status mode voltage power std offset contact derivative "
        "stiffness damping model residual id",
    )
)
_TIME = ("t", "time", "stamp", "timestamp", "seconds", "sec", "secs", "zeit", "clock", "elapsed", "timestamps", "times")
_NANO = ("nanosec", "nanosecs", "nanoseconds", "nsec", "nsecs", "nsec")
_KNOWN = {*_SIGNAL_OF, *_MEASURED, *_DESIRED, *_FILTERED, *_NEUTRAL}
_DESIRED_ONLY = 3
#: what may be a motor's angle beside a joint's, and signals that a log needs not have
_MOTOR_ANGLES, _FURTHER = ("theta", "thetas", "th", "dtheta", "ddtheta"), ("dq", "ddq", "dx", "ddx", "joint_torque")
#: instants of this century in seconds since 1970, from the year 2001 on, by their size
_EPOCHS = ((1e18, "ns"), (1e15, "us"), (1e12, "ms"))
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: columns from a number to another, that one excluded, as in Python
_RANGE = re.compile(r"(\d+):(\d+)")
#: ways out for a log whose columns are not recognized, and for one without time
_ADVICE = "name them with columns=, or give their numbers from 0, such as q=1:7; LogFile.describe shows them"
_NO_TIME = "give the number of rows per second with rate= of LogFile"


class Group(NamedTuple):
    """Columns that are one signal of several joints.

    Attributes
    ----------
    signal : str
        ``q``, ``dq``, ``ddq``, ``tau`` or ``current``.
    columns : tuple of int
        Columns in the order of joints.
    rank : (int, int) tuple
        0 measured, 1 plain, 2 filtered, 3 desired; then the number of unknown words.
    words : frozenset of str
        All words.
    twice : int or None
        A column with the same name as one of the group.
    """

    signal: str
    columns: tuple[int, ...]
    rank: tuple[int, int]
    words: frozenset[str]
    twice: int | None = None


def tokens(name: str) -> list[str]:
    """Return the words and numbers of a name, in small letters, without a unit in brackets.

    Examples
    --------
    >>> from thunder_py.identification.readers import tokens
    >>> tokens("axisTauMsr_1 [Nm]"), tokens("q_dot[2]")
    (['axis', 'tau', 'msr', '1'], ['dq', '2'])
    """
    text = " ".join(re.findall(r"\d+|[^\W\d_]+", _CAMEL.sub(" ", name_and_unit(name)[0]).lower()))
    for pattern, plain in _PHRASES:
        text = re.sub(pattern, plain, text)
    return text.split()


def groups(names: Sequence[str], joints: Sequence[str] = ()) -> list[Group]:
    """Return the signals that columns of a table are, of joints by their numbers from 0 or 1, or by their names."""
    split = [tokens(name) for name in names]
    called = [_without(tokens(joint), ("joint", "joints")) for joint in joints]
    found: dict[tuple[str, ...], dict[int, list[int]]] = {}
    for column, words in enumerate(split):
        places = [(k, 1, "#", int(word)) for k, word in enumerate(words) if word.isdigit()]
        for number, joint in enumerate(called):
            at = range(len(words) - len(joint) + 1)
            places += [(k, len(joint), "##", number) for k in at if words[k : k + len(joint)] == joint]
        for k, length, mark, number in places:
            template = (*words[:k], mark, *words[k + length :])
            found.setdefault(template, {}).setdefault(number, []).append(column)
        if len(joints) == 1 or (names.count(names[column]) > 1 and not places):
            earlier = 0 if len(joints) == 1 else names[:column].count(names[column])  # names that are repeated
            found.setdefault(tuple(words), {}).setdefault(earlier, []).append(column)
    result: dict[tuple[str, tuple[int, ...]], Group] = {}
    for template, by_number in found.items():
        numbers = sorted(by_number)
        group = _group(template, tuple(by_number[k][0] for k in numbers))
        if group is None or numbers[0] > 1 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            continue
        twice = next((columns[1] for columns in by_number.values() if len(columns) > 1), None)
        known = result.get((group.signal, group.columns), group)
        result[group.signal, group.columns] = min(known, group, key=lambda one: one.rank)._replace(twice=twice)
    return list(result.values())


def joint_names(names: Sequence[str]) -> list[str]:
    """Return what columns of several signals seem to call joints: the words that say nothing else."""
    found: dict[str, set[str]] = {}
    for words in map(tokens, names):
        rest = [word for word in words if word not in _KNOWN | _OTHER | {*_TIME}]
        signals = [_SIGNAL_OF[word] for word in words if word in _SIGNAL_OF]
        if signals and any(word.isalpha() for word in rest):
            found.setdefault(" ".join(rest), set()).update(signals)
    return [name for name, signals in found.items() if len(signals) > 1]


def _without(words: Sequence[str], dropped: Iterable[str]) -> list[str]:
    """Return words without some of them, where letters are left."""
    kept = [word for word in words if word not in dropped]
    return kept if any(word.isalpha() for word in kept) else list(words)


def _group(template: Sequence[str], columns: tuple[int, ...]) -> Group | None:
    """Return the signal that a template means."""
    words = [word for word in template if not word.isdigit() and word not in ("#", "##")]
    signals = [_SIGNAL_OF[word] for word in words if word in _SIGNAL_OF]
    if not signals or _OTHER.intersection(words):
        return None
    kind = 3 if _DESIRED.intersection(words) else 0 if _MEASURED.intersection(words) else 1
    kind = 2 if kind < 3 and _FILTERED.intersection(words) else kind
    unknown = sum(word not in _KNOWN or word in _MOTOR_ANGLES for word in words)
    return Group(min(signals, key=list(_WORDS).index), columns, (kind, unknown), frozenset(words))


def times(names: Sequence[str]) -> list[list[int]]:
    """Return the columns that are times by their names, the likeliest ones first; two are seconds and nanoseconds."""
    ranked = []
    split = [tokens(name) for name in names]
    parts = [["sec" if word in ("secs", "seconds") else word for word in words] for words in split]
    for column, name in enumerate(names):
        last = tokens(name.rpartition("/")[2] or name)
        hits = [word for word in last if word in _TIME]
        if not hits or any(word in _SIGNAL_OF for word in last) or _OTHER.intersection(last):
            continue
        nano = [
            other
            for other, words in enumerate(split)
            if parts[column] != words and ["sec" if word in _NANO else word for word in words] == parts[column]
        ]
        unknown = sum(word not in _KNOWN | {*_TIME} for word in split[column])
        ranked.append((unknown, _TIME.index(hits[-1]), column, [column, *nano[:1]]))
    return [columns for *_, columns in sorted(ranked)]


@dataclass(frozen=True)
class Names:
    """Columns of a file that hold the signals of a robot, and their units.

    Attributes
    ----------
    path : Path
        The file.
    given : mapping or None
        Columns of ``t`` and of each signal; None recognizes them.
    unit : "rad" or "deg"
        Unit of the motion of revolute joints in columns whose names have no unit.
    time_unit : str
        Unit of the instants in a column whose name has none.
    timed : bool
        Whether the file has the instants.
    currents : bool
        Whether columns of currents are those of torques.
    joints : sequence of str
        Names of the joints in the file, where they are not those of the robot.
    further : str
        What else is in the file, for messages.
    """

    path: Path
    given: Mapping[str, Columns] | None = None
    unit: str = "rad"
    time_unit: str = "s"
    timed: bool = True
    currents: bool = False
    joints: Sequence[str] = ()
    further: str = ""

    def columns(self, robot: Robot, names: Sequence[str]) -> dict[str, list[int]]:
        """Return the columns of each signal that the table has, in the order of joints, by numbers from 0.

        Warns
        -----
        ThunderWarning
            If only desired values are there.

        Raises
        ------
        FileFormatError
            If a column is missing, or several could be meant.
        """
        if self.given is not None:
            return self._given(robot, names)
        clocks = times(names)
        found = {}
        if self.timed and not clocks:
            message = f"there must be a column of time, such as t or time, got {listed(names)}; {_ADVICE}"
            raise FileFormatError(f"{message}, or {_NO_TIME}", path=self.path)
        if self.timed:
            found["t"] = clocks[0]
        elif clocks:
            warn(self.path, f"{names[clocks[0][0]]!r} is not read, since rate= gives the times")
        joints = self.joints or robot.joint_names
        if len(joints) != robot.n:
            raise FileFormatError(f"columns must name {robot.n} of q, got {', '.join(joints)}", path=self.path)
        of_links = groups(names, joints)
        others = {"x", "dx", "ddx"} if not robot.e else _MOTORS
        for signal in SIGNALS[:4]:
            others = _OF_SPRINGS if robot.e and signal == "tau" else others
            same = [one for one in of_links if one.signal == signal]
            wanted = [one for one in same if not one.words & others] or (same if signal == "tau" else [])
            if signal == "tau" and self.currents:
                currents = [one for one in of_links if one.signal == "current"]
                wanted = [one for one in currents if len(one.columns) == len(joints)] or wanted
            if (columns := self._chosen(signal, wanted, names, len(joints))) is not None:
                found[signal] = columns
            elif signal in ("q", "tau"):
                self._refuse(signal, of_links, names, joints)
        if "dq" not in found:
            found.pop("ddq", None)
        if not robot.e:
            return found
        elastic = [joints[drive.joint - 1] for drive in robot.elastic]
        of_motors = [one for one in groups(names, elastic) if [*one.columns] != found["tau"]]
        for signal, (of, words) in OF_MOTORS.items():
            wanted = [one for one in of_motors if one.signal == of and one.words & words]
            if (columns := self._chosen(signal, wanted, names, len(elastic))) is not None:
                found[signal] = columns
            elif signal == "x":
                self._refuse(signal, [], names, elastic)
        return found

    def _chosen(self, signal: str, found: Sequence[Group], names: Sequence[str], count: int) -> list[int] | None:
        """Return the columns of the likeliest group."""
        groups_of_all = sorted((one for one in found if len(one.columns) == count), key=lambda one: one.rank)
        if not groups_of_all:
            more = [one for one in found if len(one.columns) > count]
            if more and signal not in _FURTHER:
                message = f"there must be columns of {count} joints, got also {names[more[0].columns[count]]}"
                raise FileFormatError(f"{message}; name those of the robot with columns=", path=self.path)
            return None
        best = groups_of_all[0]
        if len(groups_of_all) > 1 and groups_of_all[1].rank == best.rank:
            if signal in _FURTHER:
                return None
            first, second = (names[one.columns[0]] for one in groups_of_all[:2])
            message = f"there must be one column of {signal} for each joint, got {first} and {second}, among others"
            raise FileFormatError(f"{message}; name one of them with columns=", path=self.path)
        if best.twice is not None:
            same = [name for name in names if tokens(name) == tokens(names[best.twice])]
            raise FileFormatError(f"there must be one column {same[-1]}, got {len(same)}", path=self.path)
        if best.rank[0] == _DESIRED_ONLY:
            warn(self.path, f"{signal} is read from desired values, {names[best.columns[0]]} and others")
        return list(best.columns)

    def _refuse(self, signal: str, found: Sequence[Group], names: Sequence[str], joints: Sequence[str]) -> None:
        message = (
            f"there must be columns of {signal}, such as {signal}1 to {signal}{len(joints)} or {signal}_{joints[0]}, "
            f"got {listed(names)}; {_ADVICE}"
        )
        if signal == "tau" and any(one.signal == "current" for one in found):
            message += "; currents are read with gain=, the torque for each unit of them"
        raise FileFormatError(message + self.further, path=self.path)

    def scaled(
        self, robot: Robot, signals: Mapping[str, Array], columns: Mapping[str, Sequence[str]]
    ) -> dict[str, Array]:
        """Convert signals from the units of their columns to s, rad, m, N m and N.

        Raises
        ------
        FileFormatError
            If a unit in the name of a column is not one of its signal.
        """
        found = {name: values * self._scales(robot, name, columns[name]) for name, values in signals.items()}
        if "t" in found:
            largest = float(np.abs(signals["t"][:1, 0]).max(initial=0.0))
            # seconds since 1970 in another unit
            epoch = next((one for low, one in _EPOCHS if low <= largest < 5.0 * low), None)
            found["t"] = signals["t"][:, 0] * TIMES[epoch] if epoch is not None else found["t"].sum(axis=1)
        return found

    def _scales(self, robot: Robot, signal: str, columns: Sequence[str]) -> float | Array:
        if signal == "t":
            known = scale(signal, False, columns[0], self.path)
            factor = TIMES[self.time_unit] if known is None else known
            return factor if len(columns) == 1 else np.array([1.0, 1e-9])
        joints = robot.motor_joints if signal in OF_MOTORS else range(robot.n)
        revolute = [robot.joint_types[k] == "R" for k in joints]
        angle = np.pi / 180.0 if self.unit == "deg" and signal not in _OF_TORQUE else 1.0
        what = "current" if signal == "tau" and self.currents else signal
        units = [scale(what, kind, column, self.path) for kind, column in zip(revolute, columns, strict=True)]
        usual = [angle if kind else 1.0 for kind in revolute]
        return np.array([default if each is None else each for default, each in zip(usual, units, strict=True)])

    def _given(self, robot: Robot, names: Sequence[str]) -> dict[str, list[int]]:
        found = {}
        for signal, columns in (self.given or {}).items():
            if signal != "t" and signal not in SIGNALS:
                raise FileFormatError(f"columns must name t, {', '.join(SIGNALS)}, got {signal!r}", path=self.path)
            listed_columns = [columns] if isinstance(columns, (str, int)) else columns
            chosen = [place for column in listed_columns for place in self._places(column, signal, names)]
            count = 1 if signal == "t" else robot.e if signal in OF_MOTORS else robot.n
            if len(chosen) != count and (signal != "t" or len(chosen) != 2):
                raise FileFormatError(f"columns must name {count} of {signal}, got {columns!r}", path=self.path)
            found[signal] = chosen
        for signal in ("t", "q", "tau") if self.timed else ("q", "tau"):
            if signal not in found:
                otherwise = f", or {_NO_TIME}" if signal == "t" else ""
                raise FileFormatError(f"columns must name those of {signal}{otherwise}", path=self.path)
        return found

    def _places(self, column: str | int, signal: str, names: Sequence[str]) -> Sequence[int]:
        """Return the numbers of a column, of a range of columns, or of those of an array."""
        text = str(column)
        if text in names:
            if names.count(text) > 1:
                message = f"there must be one column {column}, got {names.count(text)}; give its number from 0"
                raise FileFormatError(message, path=self.path)
            return [names.index(text)]
        of_array = [k for k, name in enumerate(names) if re.fullmatch(re.escape(text) + r"\[\d+\]", name)]
        between = _RANGE.fullmatch(text)
        if of_array:
            return of_array
        if not (between or text.isdecimal()):
            message = f"columns {column} of {signal} must be there, got {listed(names)}{self.further}"
            raise FileFormatError(message, path=self.path)
        places = range(int(between[1]), int(between[2])) if between else [int(text)]
        if not places or max(places) >= len(names):
            message = f"columns of {signal} must be numbers from 0 to {len(names) - 1}, got {column}"
            raise FileFormatError(message, path=self.path)
        return places


def warn(path: Path, message: str) -> None:
    """Warn with the path."""
    warnings.warn(f"{path}: {message}", ThunderWarning, stacklevel=outer_level())


def listed(names: Sequence[str]) -> str:
    """Return the first names, shortened, for a message."""
    shown = ", ".join(f"{name:.60}" for name in names[:12])
    return f"{shown}, ..." if len(names) > 12 else shown or "none"


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
#: logarithm of the ratio of rates that are the same, and one minus a correlation that nothing exceeds
_CLOSE, _CHANCE = 0.12, 1e-6
#: cutoff [Hz] below which gaps are too long to interpolate: motions of arms are faster
_LOWEST = 2.0
_CALLED = {"q": "position", "dq": "velocity", "ddq": "acceleration", "tau": "torque", "current": "current"}


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
    torques = [(named[signal], _CALLED[signal]) for signal in ("tau", "current") if signal in named]
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
    highest, k = LONGEST_GAP / steps.max(), int(np.argmax(steps))
    try:
        sampling_period(t)
    except ThunderError:
        if gaps and highest < _LOWEST:
            return period, False, f"{note}; too long to interpolate: split the log at the one after {t[k]:.6g} s"
        return period, True, f"{note}; uneven: --resample, with a cutoff of at most {highest:.3g} Hz"
    return period, False, note


def _increases(column: Array) -> bool:
    steps = np.diff(column)
    return bool((steps > 0.0).all() and np.quantile(steps, 0.9) < _UNEVEN * np.quantile(steps, 0.1))


def _by_names(names: Sequence[str], joints: int | None) -> tuple[dict[str, list[int]], bool]:
    """Return the signals that names tell, and whether these are read without options."""
    found = groups(names, joint_names(names)) or groups(names, ["joint"])
    sizes = Counter(size for size, _ in {(len(one.columns), one.signal) for one in found if one.signal in _CALLED})
    most = max(sizes, key=lambda size: (sizes[size], size), default=0)
    other = joints not in sizes and any(one.signal == "q" for one in found)  # names tell of another number
    n = most if joints is None or other else joints
    chosen, certain = {}, True
    for signal in _CALLED:
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
    if period is None:  # the rate that most pairs have, of which those agree better that are not there by chance
        surprise = -np.log(1.0 - np.minimum(alike[near], 1.0 - _CHANCE))
        counts = [surprise[np.abs(steps[near] - step) < _CLOSE].sum() for step in steps[near]]
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
