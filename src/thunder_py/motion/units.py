"""Units of recordings: everything inside is metres and radians."""

from __future__ import annotations

import math

from ..errors import ThunderError, nearest_hint

__all__ = ["ANGLES", "LENGTHS", "SI_UNITS", "to_si"]

#: metres in one of them
LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
#: radians in one of them
ANGLES = {"rad": 1.0, "deg": math.pi / 180.0}
#: what a `Trial` may hold: metres, radians, and numbers without a unit (the opening of a hand, normalised signals)
SI_UNITS = ("m", "rad", "1")


def to_si(unit: str, kind: str = "length", what: str = "unit") -> float:
    """Return the factor from `unit` to metres (`kind` ``"length"``), to radians (``"angle"``) or either (``"any"``)."""
    tables = {"length": LENGTHS, "angle": ANGLES, "any": LENGTHS | ANGLES | {"1": 1.0}}
    known = tables[kind]
    if not isinstance(unit, str) or unit not in known:
        raise ThunderError(f"{what} must be one of {', '.join(known)}, got {unit!r}{nearest_hint(str(unit), known)}")
    return known[unit]
