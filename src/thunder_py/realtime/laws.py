"""Controllers by name, from plain data, and how their gains change while they run."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core, control
from ..checks import Array
from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..robot import Robot

__all__ = ["LAWS", "LawSpec", "adapt", "build_law", "continued", "estimate", "is_task_law"]

#: what a configuration may name
LAWS: tuple[str, ...] = (
    "ACT",
    "Backstepping",
    "CartesianComputedTorque",
    "CartesianMACT",
    "ComputedTorque",
    "Impedance",
    "IndependentJoint",
    "MACT",
    "OperationalSpace",
    "PDGravity",
    "PassivityBased",
    "RobustUnitVector",
    "SlotineLi",
)
#: what says which law it is, and not how strong: fixed while the loop runs
_FIXED = ("adaptive", "form", "frame", "rows", "unknown")
_ADAPTATION = {"gradient": control.Gradient, "natural": control.Natural}


@dataclass(frozen=True)
class LawSpec:
    """A controller as plain data.

    Attributes
    ----------
    name : str
        One of `LAWS`.
    arguments : mapping
        Of the class of this name in `thunder_py.control`, without the robot. ``law`` is a mapping of one entry,
        ``{"natural": {"gamma": 2.0}}`` or ``{"gradient": {"Gamma": 5.0, "dead_zone": 0.01}}``.
    """

    name: str
    arguments: Mapping[str, Any]

    def changed(self, gains: Mapping[str, Any]) -> LawSpec:
        """Return the same law with other gains.

        Raises
        ------
        UnknownNameError
            For a gain that the controller does not have, or that is fixed while it runs.
        """
        allowed = [name for name in _parameters(self.name) if name not in _FIXED]
        for name in gains:
            if name not in allowed:
                hint = nearest_hint(str(name), allowed) or f"; there are {', '.join(allowed)}"
                raise UnknownNameError(f"{self.name} has no gain {name!r} that can change while it runs{hint}")
        return LawSpec(self.name, {**self.arguments, **gains})


def _parameters(name: str) -> list[str]:
    return [p for p in inspect.signature(getattr(control, name).__init__).parameters if p not in ("self", "robot")]


def build_law(robot: Robot, spec: LawSpec) -> _core.Controller:
    """Make the controller.

    Raises
    ------
    UnknownNameError
        For a name that is none of `LAWS`, or an argument that the controller does not have.
    ValueError
        For values that the controller refuses, or that it lacks.
    """
    if spec.name not in LAWS:
        hint = nearest_hint(spec.name, LAWS) or f"; there are {', '.join(LAWS)}"
        raise UnknownNameError(f"no controller is called {spec.name!r}{hint}")
    known = _parameters(spec.name)
    for name in spec.arguments:
        if name not in known:
            raise UnknownNameError(f"{spec.name} has no argument {name!r}{nearest_hint(str(name), known)}")
    arguments = dict(spec.arguments)
    if "law" in arguments:
        arguments["law"] = _adaptation(arguments["law"])
    try:
        law = getattr(control, spec.name)(robot, **arguments)
    except TypeError as error:
        raise ThunderError(f"{spec.name}: {error}; it takes {', '.join(known)}") from error
    if not isinstance(law, _core.Controller):
        raise TypeError(f"{spec.name} is no controller")
    return law


def _adaptation(given: object) -> control.Gradient | control.Natural:
    if not isinstance(given, Mapping) or len(given) != 1 or next(iter(given)) not in _ADAPTATION:
        raise ThunderError(f"law must be a mapping with one of {', '.join(_ADAPTATION)}, got {given!r}")
    name, arguments = next(iter(given.items()))
    try:
        made: control.Gradient | control.Natural = _ADAPTATION[name](**arguments)
    except TypeError as error:
        raise ThunderError(f"law {name}: {error}") from error
    return made


def is_task_law(law: _core.Controller) -> bool:
    """Whether the controller follows poses."""
    return isinstance(law, _core.TaskController)


def estimate(law: _core.Controller) -> Array:
    """Return the parameters as the controller believes them, (p,); empty where it has no estimate."""
    values: Array = getattr(law, "parameters", np.empty(0))
    return values


def continued(law: _core.Controller, before: _core.Controller) -> None:
    """Let a new controller go on with the estimate of the one before, and with what adapted there."""
    for name in ("parameters", "adapting"):
        if hasattr(law, name) and hasattr(before, name):
            setattr(law, name, getattr(before, name))


def adapt(robot: Robot, law: _core.Controller, which: str | None, on: bool) -> None:
    """Let parameters move or stand still; their estimate stays what it is.

    Parameters
    ----------
    robot : Robot
        The controller's.
    law : Controller
        An adaptive one.
    which : str, optional
        A link, a joint, a group or a parameter, see `Robot.unknown`; default all that are unknown to the controller.
    on : bool
        Whether they move.

    Raises
    ------
    ValueError
        If the controller does not adapt, no unknown parameter has that name, or its law cannot move these alone.
    """
    if not hasattr(law, "adapting") or getattr(law, "law", None) is None:
        raise ThunderError(f"{type(law).__name__} does not adapt")
    chosen = robot.unknown(which).mask & law.unknown.mask  # type: ignore[attr-defined]
    if not chosen.any():
        raise ThunderError(f"none of the parameters of {which!r} is among the controller's unknown ones")
    law.adapting = np.where(chosen, on, law.adapting)
