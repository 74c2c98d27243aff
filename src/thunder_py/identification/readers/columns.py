"""Columns of a table as signals of joints, by their names.

A name is words and numbers: ``actual_q_0``, ``/joint_states/elbow/position``, ``axisTauMsr_LBR_iiwa_1_0``. Columns that
differ by one number, or by the name of a joint, are a group; its words say which signal it is, and whether it was
measured or desired.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, ThunderWarning, outer_level
from ...robot import Robot
from .units import TIMES, name_and_unit, scale

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
_TORQUES = ("tau", "joint_torque")
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
    >>> from thunder_py.identification.readers.columns import tokens
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
        angle = np.pi / 180.0 if self.unit == "deg" and signal not in _TORQUES else 1.0
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
