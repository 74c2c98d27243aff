"""Units in the names of columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import pi
from pathlib import Path

from ...errors import FileFormatError

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
