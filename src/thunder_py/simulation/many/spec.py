"""The arguments of one run, and the record that it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import ThunderError
from ...values import Stateful
from .. import loop
from ..observers import named_observers
from ..result import SimulationResult
from .encoding import printable


class RunSpec(Stateful):
    """Store the arguments of a call of `simulate`, made by ``run()``.

    Parameters
    ----------
    plant, controller, reference, *arguments, **options
        Arguments of `simulate`. Runs may share objects without state; controllers, and plants with ``begin_step`` or
        ``advance`` such as `MujocoPlant`, must not be shared.
    label : str, optional
        Name of the run in tables and plots; default its parameters in `simulate_many`, or its number.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> run = th.RunSpec(robot, th.PDGravity(robot, 80.0, 20.0), th.reference.SetPoint([0.3, 0.2]), 1.0, label="PD")
    >>> run.label, run().status.shape
    ('PD', (1001,))
    """

    def __init__(
        self, plant: Any, controller: Any, reference: Any, *arguments: Any, label: str | None = None, **options: Any
    ) -> None:
        self.plant, self.controller, self.reference = plant, controller, reference
        self.arguments, self.options, self.label = arguments, options, label

    def __call__(self, progress: bool | Callable[[float], object] = False) -> SimulationResult:
        """Simulate and return the result."""
        return loop.simulate(
            self.plant, self.controller, self.reference, *self.arguments, **{**self.options, "progress": progress}
        )


def parts_with_state(run: RunSpec) -> Iterator[tuple[str, Any]]:
    """Yield the objects of a run that no other run may use, with a name for messages."""
    yield "controller", run.controller
    if hasattr(run.plant, "begin_step") or hasattr(run.plant, "advance"):
        yield "plant", run.plant
    for names, observer in named_observers(run.options.get("observers")).items():
        yield f"observer {names[0]}", observer


@dataclass(frozen=True)
class RunRecord:
    """What a run left: its metrics, its result or the file of it, or its error."""

    metrics: Mapping[str, Any] | None = None  # where only these are kept
    result: SimulationResult | Path | None = None
    error: Exception | None = None  # of the last attempt; then there are neither metrics nor a result
    traceback: str = ""
    label: str | None = None  # of the RunSpec
    attempts: int = 1
    seconds: float | None = 0.0  # duration of the last attempt
    host: str | None = ""  # of the worker
    error_unit: str | None = None  # of metrics that were named
    kernels: str = ""  # version and instruction set of the worker
    session: int = 0  # number of the call that wrote it to the store


class StoredError(ThunderError):
    """Error of a run that was read from a store, with the type of the original in its message."""


def describe(error: Exception) -> str:
    """Return type and message of an error."""
    text = printable(error)
    return text if isinstance(error, StoredError) else f"{type(error).__name__}: {text}"


def with_text(error: Exception) -> Exception:
    """Return an error whose message can be printed and stored: this one, or what can be said of it."""
    try:
        str(error).encode()
    except Exception:
        return StoredError(describe(error))
    return error
