"""Observers of a run and the names of their signals."""

from __future__ import annotations

from collections.abc import Mapping

from .. import _core
from ..checks import of_kind
from ..errors import ThunderError
from .result import LOGGED

_RESERVED = {*LOGGED, "labels"}
#: time without a state after which observers restart [s]; StepClock::kLongestGap of the core
_PAUSE = 0.1


def named_observers(observers: object) -> dict[tuple[str, str], _core.ExternalObserver]:
    """Return the observers of a run by the names of estimate and contacts in its log."""
    if observers is None:
        return {}
    if isinstance(observers, Mapping):
        return {
            (str(name), f"{name}_contact"): of_kind(observer, _core.ExternalObserver, f"observers[{name!r}]")
            for name, observer in observers.items()
        }
    observer = of_kind(observers, _core.ExternalObserver, "observers")
    estimate = "external_power" if isinstance(observer, _core.EnergyObserver) else "external_estimate"
    return {(estimate, "contact"): observer}


def read_observers(observers: object, period: float) -> list[tuple[str, str, _core.ExternalObserver]]:
    """Check observers and return them for the core; `period` is in s."""
    named = named_observers(observers)
    if named and period >= _PAUSE:
        raise ThunderError(f"control_period must be less than {_PAUSE:g} s for observers, got {period:g}")
    taken = _RESERVED & {name for names in named for name in names}
    if taken:
        raise ThunderError(f"observers must not use the names {', '.join(sorted(taken))}, which the run logs itself")
    if len({id(observer) for observer in named.values()}) < len(named):
        raise ThunderError("observers must be different objects, because an observer has a state")
    return [(*names, observer) for names, observer in named.items()]
