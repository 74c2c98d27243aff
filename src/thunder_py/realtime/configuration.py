"""What a control loop is made of, as validated data."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core, control
from ..checks import Array
from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..robot import Robot
from .hold import HoldGains
from .plain_data import Table, read_plain

__all__ = ["LAWS", "LawSpec", "LoopOptions", "TaskLimits", "adapt", "build_law", "continued", "estimate", "is_task_law"]

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


#: of the velocity limits, what a jump of a reference is made up for with
_JOINING = 0.25
#: where a robot has no velocity limit [rad/s or m/s]
_NO_LIMIT_SPEED = 2.0


@dataclass(frozen=True)
class TaskLimits:
    """How fast the pose that the controller follows may change, whatever the messages say.

    Attributes
    ----------
    speed, turning : float
        Largest speed [m/s] and angular speed [rad/s].
    acceleration, angular_acceleration : float
        Largest [m/s^2, rad/s^2].
    bandwidth : float
        Of the approach to the reference [rad/s].
    """

    speed: float = 0.5
    turning: float = 1.0
    acceleration: float = 5.0
    angular_acceleration: float = 10.0
    bandwidth: float = 25.0


@dataclass(frozen=True)
class LoopOptions:
    """A control loop as data; `read` makes one from a mapping or a YAML file (docs/ros.md lists the keys).

    Attributes
    ----------
    robot : Robot
        The nominal model.
    law : LawSpec
        The controller.
    hold : HoldGains
        Of the safe torque.
    torque_limits : (n,) array
        [N m or N].
    torque_rate : (n,) array
        Most that a torque changes in a second; infinite for no limit.
    joining_speed : (n,) array
        With which a jump of a joint reference is made up for [rad/s or m/s].
    task : TaskLimits
        Of poses that stream in.
    state_late, state_lost : float
        Without a state for so long the loop gives the safe torque, and then none [s].
    reference_timeout : float
        A stream of poses or twists is lost after so long [s].
    patience : float
        So long the controller may be without an answer before the reference is given up [s].
    invalid_states : int
        So many invalid states in a row are a fault.
    largest_error : float
        An entry of the tracking error beyond this is a fault; infinite for none.
    other_joints : bool
        Whether states may list joints that the robot does not have.
    frame : str
        In which poses and twists must say they are; empty for any.
    """

    robot: Robot
    law: LawSpec
    hold: HoldGains
    torque_limits: Array
    torque_rate: Array
    joining_speed: Array
    task: TaskLimits = TaskLimits()
    state_late: float = 0.02
    state_lost: float = 0.25
    reference_timeout: float = 0.2
    patience: float = 0.5
    invalid_states: int = 50
    largest_error: float = np.inf
    other_joints: bool = False
    frame: str = ""

    @classmethod
    def read(cls, source: LoopOptions | Mapping[str, Any] | str | Path) -> LoopOptions:
        """Check a configuration and return it as options.

        Parameters
        ----------
        source : LoopOptions, mapping, str or path
            Options as they are; plain data; a YAML file.

        Raises
        ------
        ValueError
            Naming the key, what was expected and what came.
        """
        if isinstance(source, LoopOptions):
            return source
        given = Table(read_plain(source), "configuration")
        robot = Robot.load(given.text("robot"))
        n, limits = robot.n, robot.limits
        torques = given.positives("torque_limits", n, limits.effort, finite=False)
        speed = np.where(np.isfinite(limits.velocity), _JOINING * limits.velocity, _NO_LIMIT_SPEED)
        controller = given.table("controller")
        hold, task, times = given.table("hold"), given.table("task"), given.table("times")
        options = cls(
            robot=robot,
            law=LawSpec(controller.text("name"), controller.rest()),
            hold=HoldGains.read(hold, robot, torques),
            torque_limits=torques,
            torque_rate=given.positives("torque_rate", n, np.inf, finite=False),
            joining_speed=given.positives("joining_speed", n, speed),
            task=TaskLimits(**{name: task.positive(name, default) for name, default in vars(TaskLimits()).items()}),
            **{
                name: times.positive(name, getattr(cls, name))
                for name in ("state_late", "state_lost", "reference_timeout", "patience")
            },
            invalid_states=given.whole("invalid_states", cls.invalid_states),
            largest_error=float(given.positives("largest_error", 1, np.inf, finite=False)[0]),
            other_joints=given.flag("other_joints", False),
            frame=given.text("frame", ""),
        )
        for table in (task, times, given):
            table.done()
        return options
