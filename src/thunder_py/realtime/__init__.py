"""Controllers, references and a simulated arm in real time, behind messages: what a node of a middleware is made of.

Nothing here knows a middleware. Time stamps are whole nanoseconds of one clock, as messages carry them; durations are
seconds. What a message brings is never an exception: it is dropped, counted and reported (docs/ros.md).
"""

from __future__ import annotations

import importlib
from typing import Any

# what costs an import of its own comes when it is first used
_LAZY = {
    "Command": "command",
    "ControlLoop": "control_loop",
    "JointSample": "reference_generator",
    "JointState": "simulated_robot",
    "LoopOptions": "options",
    "Mode": "command",
    "Pacer": "pacing",
    "PoseSample": "reference_generator",
    "Quantiles": "timing",
    "Reason": "command",
    "ReferenceGenerator": "reference_generator",
    "SimulatedRobot": "simulated_robot",
}

__all__ = [
    "Command",
    "ControlLoop",
    "JointSample",
    "JointState",
    "LoopOptions",
    "Mode",
    "Pacer",
    "PoseSample",
    "Quantiles",
    "Reason",
    "ReferenceGenerator",
    "SimulatedRobot",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
