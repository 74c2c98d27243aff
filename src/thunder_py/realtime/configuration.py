"""Configuration of a control loop as validated data."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core, control
from ..checks import Array, all_nonnegative, known_name, nonnegative, per_joint
from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..robot import Robot
from ..sampled_loop import Channel
from .hold import read_rate, safe_torque
from .plain_data import Table, read_plain
from .safety import Safety, SafetyLimits

#: those that need what plain data and messages do not have: four derivatives of the reference, a function that measures
_NOT_NAMED = (control.ElasticFeedbackLinearization, control.AdaptiveJacobianBackstepping)
#: controllers that a configuration may name
LAWS = tuple(
    name
    for name in dir(control)
    if isinstance(law := getattr(control, name), type) and issubclass(law, _core.Controller) and law not in _NOT_NAMED
)
#: arguments that define the law instead of its gains; constant while the loop runs
_FIXED = ("frame", "rows", "orientation", "slow")
_ADAPTATION = {"gradient": control.GradientAdaptation, "natural": control.NaturalAdaptation}


@dataclass(frozen=True)
class LawSpec:
    """A controller as plain data.

    Attributes
    ----------
    name : str
        One of `LAWS`.
    arguments : mapping
        Arguments of the class of this name in `thunder_py.control`, without the robot. ``adaptation`` is a number, a
        list, ``{"natural": {"gamma": 2.0}}``, ``{"gradient": {"Gamma": 5.0, "unknown": "link7"}}``, or None or
        ``"none"`` for a fixed estimate. ``slow`` of `CompositeControl` is a mapping with ``name`` and arguments.
    """

    name: str
    arguments: Mapping[str, Any]

    def changed(self, gains: Mapping[str, Any]) -> LawSpec:
        """Return the same law with other gains; the unknown parameters stay.

        Raises
        ------
        UnknownNameError
            If the controller does not have the gain, or it cannot change while the controller runs.
        ThunderError
            If the adaptation begins, ends, or has other unknown parameters.
        """
        allowed = [name for name in _parameters(self.name) if name not in _FIXED]
        for name in gains:
            if name not in allowed:
                hint = nearest_hint(str(name), allowed) or f"; there are {', '.join(allowed)}"
                raise UnknownNameError(f"{self.name} has no gain {name!r} that can change while it runs{hint}")
        if "adaptation" in gains:
            before, after = _unknown(self.arguments.get("adaptation")), _unknown(gains["adaptation"])
            if before != after:
                raise ThunderError(f"adaptation must be of {before} while {self.name} runs, got {after}")
        return LawSpec(self.name, {**self.arguments, **gains})


def _parameters(name: str) -> list[str]:
    return [p for p in inspect.signature(getattr(control, name).__init__).parameters if p not in ("self", "robot")]


def build_law(robot: Robot, spec: LawSpec) -> _core.Controller:
    """Return the controller.

    Raises
    ------
    UnknownNameError
        If the name is not in `LAWS`, or the controller does not have an argument.
    ValueError
        If the controller refuses a value, or an argument is missing.
    """
    if spec.name not in LAWS:
        hint = nearest_hint(spec.name, LAWS) or f"; there are {', '.join(LAWS)}"
        raise UnknownNameError(f"controller must be the name of a controller, got {spec.name!r}{hint}")
    known = _parameters(spec.name)
    for name in spec.arguments:
        known_name(name, known, f"{spec.name} has no argument")
    arguments = dict(spec.arguments)
    if "adaptation" in arguments:
        arguments["adaptation"] = _adaptation(arguments["adaptation"])
    if "slow" in arguments:
        arguments["slow"] = _slow(robot, arguments["slow"])
    try:
        law = getattr(control, spec.name)(robot, **arguments)
    except TypeError as error:
        raise ThunderError(f"{spec.name}: {error}; it takes {', '.join(known)}") from error
    if not isinstance(law, _core.Controller):
        raise TypeError(f"{spec.name} is not a controller")
    return law


def _slow(robot: Robot, entry: Any) -> _core.Controller:
    """Return the law of the rigid arm within a composite one, which is built again when a gain changes."""
    table = Table(entry, "slow")
    law = build_law(robot.rigid(), LawSpec(table.text("name"), table.rest()))
    if getattr(law, "adaptation", None) is not None:
        raise ThunderError("slow must not adapt in a control loop: set adaptation to none")
    return law


def _adaptation(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return None if entry == "none" else entry
    if len(entry) != 1 or next(iter(entry)) not in _ADAPTATION:
        raise ThunderError(f"adaptation must be a mapping with one of {', '.join(_ADAPTATION)}, got {entry!r}")
    name, arguments = next(iter(entry.items()))
    try:
        return _ADAPTATION[name](**arguments)
    except TypeError as error:
        raise ThunderError(f"adaptation {name}: {error}") from error


def _unknown(entry: Any) -> str:
    """Return the unknown parameters of an adaptation, in words."""
    law = _adaptation(entry)
    unknown = getattr(law, "unknown", None)
    return "no parameters" if law is None else "all parameters" if unknown is None else repr(unknown)


def estimate(law: _core.Controller) -> Array:
    """Return the controller's estimate of the parameters, (p,); empty without one."""
    values: Array = getattr(law, "parameters", np.empty(0))
    return values


def continued(law: _core.Controller, before: _core.Controller) -> None:
    """Copy the estimate of the previous controller, and the mask of its adapting parameters, to a new one."""
    for name in ("parameters", "adapting"):
        if hasattr(law, name) and hasattr(before, name):
            setattr(law, name, getattr(before, name))


def chosen_parameters(robot: Robot, law: _core.Controller, which: str | None) -> npt.NDArray[np.bool_]:
    """Return the mask (p,) of the controller's unknown parameters that have a name; see `ControlLoop.adapt`.

    Raises
    ------
    ValueError
        If the controller does not adapt, or no unknown parameter has that name.
    """
    if getattr(law, "adaptation", None) is None:
        raise ThunderError(f"{type(law).__name__} does not adapt")
    chosen: npt.NDArray[np.bool_] = robot.unknown(which).mask & law.unknown.mask  # type: ignore[attr-defined]
    if not chosen.any():
        raise ThunderError(f"none of the parameters of {which!r} is among the controller's unknown ones")
    return chosen


#: fraction of the velocity limits with which a jump of a reference is removed
_JOINING = 0.25
#: speed at which an arm is braked, in velocity limits: a law that follows a reference at the limit overshoots it
_OVERSPEED = 1.3
#: distance from a position limit at which an arm is braked, at least [rad or m]
_MARGIN = 2e-3
#: periods without a state after which the arm is braked by default
_LATE_PERIODS = 3
#: the same speed without a velocity limit [rad/s or m/s]
_NO_LIMIT_SPEED = 2.0


def motion_limits(robot: Robot) -> dict[str, Array]:
    """Return the limits of references in joint space, and the speed with which a jump is removed by default, (n,)."""
    own = robot.limits
    joining = np.where(np.isfinite(own.velocity), _JOINING * own.velocity, _NO_LIMIT_SPEED)
    return {"lower": own.lower, "upper": own.upper, "velocity": own.velocity, "joining_speed": joining}


#: options that are times, counts and flags with constant defaults
_TIMES, _COUNTS = ("state_lost", "reference_timeout", "patience"), ("invalid_states", "most_holds")
_FLAGS = ("recover", "other_joints")
#: options that the loop in the core has by the same names
_IN_CORE = ("joining_speed", "state_late", "largest_error", *_TIMES, *_COUNTS, "recover")


@dataclass(frozen=True)
class TaskLimits:
    """Limits of the pose that the controller follows, independent of the messages.

    Attributes
    ----------
    speed, turning : float
        Largest speed [m/s] and angular speed [rad/s].
    acceleration, angular_acceleration : float
        Largest accelerations [m/s^2, rad/s^2].
    bandwidth : float
        Bandwidth of the approach to the reference [rad/s].
    """

    speed: float = 0.5
    turning: float = 1.0
    acceleration: float = 5.0
    angular_acceleration: float = 10.0
    bandwidth: float = 25.0


def _observer(robot: Robot, table: Table) -> control.MomentumObserver:
    """Return the observer of a table, whose detector is given by thresholds, samples and release."""
    rule, n = control.ContactDetector, robot.n
    detector = None
    if table.get("thresholds") is not None:
        detector = rule(
            table.positives("thresholds", n, None),
            table.whole("samples", rule.samples),
            table.positive("release", rule.release),
        )
    order = table.whole("order", 1)
    observer = control.MomentumObserver(robot, table.positives("bandwidth", n, None), order=order, detector=detector)
    table.done()
    return observer


@dataclass(frozen=True)
class LoopOptions:
    """A control loop as data; `read` makes one from a mapping or a YAML file (docs/ros.md lists the keys).

    Attributes
    ----------
    robot : Robot
        The nominal model.
    law : LawSpec
        The controller.
    hold_rate : float
        Rate of braking of the safe torque [1/s].
    torque_limits : (n,) array
        Torque limits [N m or N].
    torque_rate : (n,) array
        Largest rate of a torque [N m/s or N/s]; infinite for no limit.
    joining_speed : (n,) array
        Speed with which a jump of a joint reference is removed [rad/s or m/s].
    task : TaskLimits
        Limits of poses that stream in.
    period, delay : float
        Period of the states, and delay from a state to the command's effect, for which gains are checked [s].
    lag : (n,) array
        Time constants of the drives, for which gains are checked [s].
    state_late, state_lost : float
        Times without a state after which the loop commands the safe torque, and then none [s]. `read` takes three
        periods, and 5 ms at least, for the first one: the last torque acts for as long.
    reference_timeout : float
        Time after which a stream of poses or twists is lost [s].
    patience : float
        Longest time without a solution of the controller, before the reference is dropped [s].
    invalid_states : int
        Number of consecutive invalid states that are a fault.
    most_holds : int
        Number of times within 10 s that the arm is held for want of a solution, or at a limit of position or velocity,
        before that is a fault.
    largest_error : float
        Largest entry of the tracking error, beyond which there is a fault; infinite for none.
    recover : bool
        Whether the loop goes on by itself after states were lost or the clock was set back, instead of a fault.
    other_joints : bool
        Whether states may list joints that the robot does not have.
    frame : str
        Required frame of poses and twists; empty for any.
    observer : MomentumObserver or None
        Observer of the external torque, with the commanded torques; a loop uses a copy.

    Examples
    --------
    >>> from thunder_py.realtime import LoopOptions
    >>> law = {"name": "PDGravity", "K_p": 50, "K_d": 10}
    >>> options = LoopOptions.read({"robot": "elbow", "controller": law, "times": {"state_late": 0.01}})
    >>> options.law.name, options.state_late, options.patience
    ('PDGravity', 0.01, 0.5)
    >>> try:
    ...     LoopOptions.read({"robot": "elbow", "controller": law, "times": {"late": 0.01}})
    ... except ValueError as error:
    ...     print(str(error)[:41])
    configuration: times has no key 'late'; d
    """

    robot: Robot
    law: LawSpec
    hold_rate: float
    torque_limits: Array
    torque_rate: Array
    joining_speed: Array
    task: TaskLimits = TaskLimits()
    period: float = 1e-3
    delay: float = 0.0
    lag: npt.ArrayLike = 0.0
    state_late: float = 5e-3
    state_lost: float = 0.25
    reference_timeout: float = 0.2
    patience: float = 0.5
    invalid_states: int = 50
    most_holds: int = 5
    largest_error: float = np.inf
    recover: bool = False
    other_joints: bool = False
    frame: str = ""
    observer: control.MomentumObserver | None = None

    @property
    def channel(self) -> Channel:
        """Sampling, delay and lag of the loop."""
        return Channel(self.period, self.delay, self.lag)

    def brake(self) -> _core.SafeTorque:
        """Return the safe torque."""
        return safe_torque(self.robot, self.hold_rate, self.torque_limits, self.torque_rate)

    def guard(self) -> Safety:
        """Return the limits of torques, and those at which a reference is dropped and the arm braked."""
        own = self.robot.limits
        limits = SafetyLimits.of(
            self.robot,
            margin=np.minimum(_MARGIN, 0.25 * (own.upper - own.lower)),
            velocity=_OVERSPEED * own.velocity,
            torque=self.torque_limits,
            torque_rate=self.torque_rate,
            lookahead=0.0,
            patience=np.inf,
        )
        return Safety(self.robot, limits, period=self.period)

    def settings(self) -> dict[str, Any]:
        """Return the settings of the loop in the core."""
        own = {name: getattr(self, name) for name in _IN_CORE}
        task = {"frame": self.law.arguments.get("frame"), "task": list(vars(self.task).values())}
        return motion_limits(self.robot) | own | task

    @classmethod
    def read(cls, source: LoopOptions | Mapping[str, Any] | str | Path) -> LoopOptions:
        """Check a configuration and return it as options.

        Parameters
        ----------
        source : LoopOptions, mapping, str or path
            Options, which are returned unchanged; plain data; a YAML file.

        Raises
        ------
        ValueError
            If an entry is invalid; the message names key, requirement and value.
        """
        if isinstance(source, LoopOptions):
            return source
        root = Table(read_plain(source), "configuration")
        robot = Robot.load(root.text("robot"))
        n, limits = robot.n, robot.limits
        torques = root.positives("torque_limits", n, limits.effort, finite=False)
        controller = root.table("controller")
        hold, task, times = root.table("hold"), root.table("task"), root.table("times")
        period = times.positive("period", cls.period)
        plain: dict[str, Any] = {name: times.positive(name, getattr(cls, name)) for name in _TIMES}
        plain |= {name: root.whole(name, getattr(cls, name)) for name in _COUNTS}
        plain |= {name: root.flag(name, getattr(cls, name)) for name in _FLAGS}
        options = cls(
            robot=robot,
            law=LawSpec(controller.text("name"), controller.rest()),
            hold_rate=read_rate(hold, period),
            torque_limits=torques,
            torque_rate=root.positives("torque_rate", n, np.inf, finite=False),
            joining_speed=root.positives("joining_speed", n, motion_limits(robot)["joining_speed"]),
            task=TaskLimits(**{name: task.positive(name, default) for name, default in vars(TaskLimits()).items()}),
            period=period,
            state_late=times.positive("state_late", max(cls.state_late, _LATE_PERIODS * period)),
            delay=nonnegative(times.get("delay", 0.0), "times: delay"),
            lag=all_nonnegative(per_joint(times.get("lag", 0.0), n, "times: lag"), "times: lag"),
            largest_error=float(root.positives("largest_error", 1, np.inf, finite=False)[0]),
            frame=root.text("frame", ""),
            observer=None if root.get("observer") is None else _observer(robot, root.table("observer")),
            **plain,
        )
        for table in (task, times, root):
            table.done()
        return options
