"""Names of columns, matched to signals and joints."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, ThunderWarning, outer_level
from ...robot import Robot
from .units import TIMES, name_and_unit, scale

#: what columns of a signal are called
SIGNALS: Mapping[str, tuple[str, ...]] = {
    "q": ("q", "pos", "position", "positions"),
    "dq": ("dq", "qd", "vel", "velocity", "velocities"),
    "ddq": ("ddq", "qdd", "acc", "acceleration", "accelerations"),
    "tau": ("tau", "torque", "torques", "effort", "efforts"),
    "x": ("x", "motor_position", "motor_positions"),
    "dx": ("dx", "motor_velocity", "motor_velocities"),
    "ddx": ("ddx", "motor_acceleration", "motor_accelerations"),
    "joint_torque": ("joint_torque", "tau_j", "joint_torques"),
}
_TIME = ("t", "time", "stamp", "timestamp", "seconds")
#: names of torques that a gain converts
_CURRENTS = ("current", "currents", "i")
#: columns from a number to another, that one excluded, as in Python
_RANGE = re.compile(r"(\d+):(\d+)")
#: way out for a log without time
NO_TIME = "give the number of rows per second with rate= of LogFile"
_OF_MOTORS = ("x", "dx", "ddx", "joint_torque")
_ANGLES = ("q", "dq", "ddq", "x", "dx", "ddx")

#: columns of a signal, by names, numbers from 0, or ranges of these
Columns: TypeAlias = "str | int | range | Sequence[str | int]"


def elastic_joints(robot: Robot) -> tuple[str, ...]:
    """Return the names of the elastic joints."""
    return tuple(robot.joint_names[drive.joint - 1] for drive in robot.elastic)


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
    """

    path: Path
    given: Mapping[str, Columns] | None = None
    unit: str = "rad"
    time_unit: str = "s"
    timed: bool = True
    currents: bool = False

    @property
    def required(self) -> tuple[str, ...]:
        """Signals that every log of a table or archive has."""
        return ("t", "q", "tau") if self.timed else ("q", "tau")

    def called(self) -> dict[str, tuple[str, ...]]:
        """Return what columns of each signal are called, those of time first where there are some."""
        called = {**({"t": _TIME} if self.timed else {}), **SIGNALS}
        return {**called, "tau": (*called["tau"], *_CURRENTS)} if self.currents else called

    def width(self, robot: Robot, signal: str) -> int:
        """Return the number of columns of a signal."""
        return 1 if signal == "t" else robot.e if signal in _OF_MOTORS else robot.n

    def columns(self, robot: Robot, present: Iterable[str]) -> dict[str, list[int]]:
        """Return the columns of each signal that the table has, in the order of joints, by numbers from 0.

        Raises
        ------
        FileFormatError
            If a column is missing.
        """
        names = list(present)
        if self.given is not None:
            return self._given(robot, names)
        plain = {_plain(name): name for name in names}
        found = {"t": [self._time(plain, names)]} if self.timed else {}
        self.tell_time_unread(plain)
        for signal, called in self.called().items():
            if signal == "t":
                continue
            joints = elastic_joints(robot) if signal in _OF_MOTORS else robot.joint_names
            columns = self._of_joints(plain, called, joints) if joints else None
            if columns is not None:
                found[signal] = columns
            elif signal in ("q", "tau") or (signal == "x" and robot.e):
                raise FileFormatError(
                    f"there must be columns of {signal}, such as {signal}1 to {signal}{len(joints)} or "
                    f"{signal}_{joints[0]}, got {listed(names)}; {_name_them(names)}",
                    path=self.path,
                )
        self._check_once(found, [_plain(name) for name in names])
        return {signal: [names.index(column) for column in columns] for signal, columns in found.items()}

    def tell_time_unread(self, present: Iterable[str]) -> None:
        """Warn of instants in the file beside a given rate."""
        if not self.timed and (unread := sorted({*_TIME}.intersection(present))):
            message = f"{self.path}: {unread[0]!r} is not read, since rate= gives the times"
            warnings.warn(message, ThunderWarning, stacklevel=outer_level())

    def _check_once(self, found: Mapping[str, Sequence[str]], present: Sequence[str]) -> None:
        """Raise if several columns have the name of one that is used."""
        for column in itertools.chain.from_iterable(found.values()):
            count = present.count(_plain(column))
            if count > 1:
                raise FileFormatError(f"there must be one column {column}, got {count}", path=self.path)

    def scaled(
        self, robot: Robot, signals: Mapping[str, Array], columns: Mapping[str, Sequence[str]] | None = None
    ) -> dict[str, Array]:
        """Convert signals from the units of their columns to s, rad, m, N m and N.

        Raises
        ------
        FileFormatError
            If a unit in the name of a column is not one of its signal.
        """
        found = {}
        for name, values in signals.items():
            factors = self._scales(robot, name, [] if columns is None else columns[name])
            # another number of joints is refused later
            found[name] = values * factors if np.shape(factors) in ((), values.shape[1:]) else values
        return found

    def _scales(self, robot: Robot, signal: str, columns: Sequence[str]) -> float | Array:
        if signal == "t":
            known = scale(signal, False, columns[0], self.path) if columns else None
            return TIMES[self.time_unit] if known is None else known
        joints = robot.motor_joints if signal in _OF_MOTORS else range(robot.n)
        revolute = [robot.joint_types[k] == "R" for k in joints]
        usual = np.where(np.array(revolute) & (signal in _ANGLES) & (self.unit == "deg"), np.pi / 180.0, 1.0)
        if not columns:
            return usual
        units = [scale(signal, kind, column, self.path) for kind, column in zip(revolute, columns, strict=True)]
        return np.array([default if each is None else each for default, each in zip(usual, units, strict=True)])

    def _of_joints(self, plain: Mapping[str, str], called: Sequence[str], joints: Sequence[str]) -> list[str] | None:
        """Return the columns of a signal for all joints, by names or numbers from 1 or 0; None without them."""
        by_name = [_plain(joint) for joint in joints]
        for name in called:
            for pattern in ("{name}_{joint}", "{joint}_{name}"):
                wanted = [pattern.format(name=name, joint=joint) for joint in by_name]
                if all(column in plain for column in wanted):
                    return [plain[column] for column in wanted]
            for between in ("", "_", "_j", "_joint", "_joint_"):
                for start in (0, 1):  # a column of number 0 says that numbers begin there
                    wanted = [f"{name}{between}{start + k}" for k in range(len(joints))]
                    if all(column in plain for column in wanted):
                        self._check_last(plain, f"{name}{between}{start + len(joints)}", len(joints))
                        return [plain[column] for column in wanted]
        if len(joints) == 1:
            return next(([plain[name]] for name in called if name in plain), None)
        return None

    def _check_last(self, plain: Mapping[str, str], spare: str, count: int) -> None:
        """Raise if there are columns of more joints."""
        if spare in plain:
            raise FileFormatError(
                f"there must be columns of {count} joints, got also {plain[spare]}; name those of the robot with "
                "columns=",
                path=self.path,
            )

    def _time(self, plain: Mapping[str, str], names: Sequence[str]) -> str:
        for name in _TIME:
            if name in plain:
                return plain[name]
        raise FileFormatError(
            f"there must be a column of time, such as t or time, got {listed(names)}; {_name_them(names)}, "
            f"or {NO_TIME}",
            path=self.path,
        )

    def _given(self, robot: Robot, names: Sequence[str]) -> dict[str, list[int]]:
        found = {}
        for signal, columns in (self.given or {}).items():
            if signal != "t" and signal not in SIGNALS:
                raise FileFormatError(f"columns must name t, {', '.join(SIGNALS)}, got {signal!r}", path=self.path)
            listed_columns = [columns] if isinstance(columns, (str, int)) else columns
            chosen = [place for column in listed_columns for place in self._places(column, signal, names)]
            count = self.width(robot, signal)
            if len(chosen) != count:
                raise FileFormatError(f"columns must name {count} of {signal}, got {columns!r}", path=self.path)
            found[signal] = chosen
        for signal in self.required:
            if signal not in found:
                raise FileFormatError(f"columns must name those of {signal}", path=self.path)
        return found

    def _places(self, column: str | int, signal: str, names: Sequence[str]) -> Sequence[int]:
        """Return the numbers of a column or of a range of columns."""
        if column in names:
            if names.count(str(column)) > 1:
                message = f"there must be one column {column}, got {names.count(str(column))}; give its number from 0"
                raise FileFormatError(message, path=self.path)
            return [names.index(str(column))]
        text = str(column)
        between = _RANGE.fullmatch(text)
        if not (between or text.isdecimal()):
            raise FileFormatError(f"columns {column} of {signal} must be there, got {listed(names)}", path=self.path)
        places = range(int(between[1]), int(between[2])) if between else [int(text)]
        if not places or max(places) >= len(names):
            message = f"columns of {signal} must be numbers from 0 to {len(names) - 1}, got {column}"
            raise FileFormatError(message, path=self.path)
        return places


def _name_them(names: Sequence[str]) -> str:
    """Return the way out for columns that are not recognized."""
    if all(name.isdecimal() for name in names):
        return "give their numbers from 0 with columns=, such as q=1:7; LogFile.describe shows them"
    return "name them with columns="


def _plain(name: str) -> str:
    """Return a name in small letters, without spaces, a unit in brackets, and brackets around an index."""
    name = re.sub(r"[\[(](\d+)[\])]", r"_\1", name.strip().lower())
    return re.sub(r"[\s.:/-]+", "_", name_and_unit(name)[0]).strip("_")


def listed(names: Sequence[str]) -> str:
    """Return the first names, shortened, for a message."""
    shown = ", ".join(f"{name:.60}" for name in names[:12])
    return f"{shown}, ..." if len(names) > 12 else shown or "none"
