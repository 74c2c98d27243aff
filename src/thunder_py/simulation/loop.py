"""Closed-loop simulation: a plant with its own parameters, a sampled controller, a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array
from ..progress import percentage
from ..reference import JointReference, TaskReference, _JointSource, _TaskSource
from ..result import ALWAYS_LOGGED, MOTORS_LOGGED, PARTS_LOGGED, Result
from ..robot import Robot
from ..robot.payload import Payload, read_payloads
from .adaptive import advance
from .options import elastic_joints, initial_state, start_position, time_options, torque_bounds
from .protocols import ControllerLike, PlantLike
from .sensors import Actuators, ExternalTorque, ExternalWrench, Sensors, read_external

__all__ = ["INTEGRATORS", "simulate"]

INTEGRATORS = ("rk4", "semi_implicit_euler", "adaptive", "plant")


def simulate(
    plant: Robot | PlantLike,
    controller: _core.Controller | ControllerLike,
    reference: Callable[[float], JointReference | TaskReference],
    duration: float = 10.0,
    dt: float = 1e-3,
    *,
    control_period: float | None = None,
    q0: npt.ArrayLike | None = None,
    dq0: npt.ArrayLike | None = None,
    x0: npt.ArrayLike | None = None,
    dx0: npt.ArrayLike | None = None,
    torque_limits: npt.ArrayLike | None = None,
    payloads: Payload | Sequence[Payload] = (),
    external: ExternalWrench | ExternalTorque | Sequence[ExternalWrench | ExternalTorque] = (),
    sensors: Sensors | None = None,
    actuators: Actuators | None = None,
    log: Sequence[str] | None = None,
    log_every: int = 1,
    integrator: Literal["rk4", "semi_implicit_euler", "adaptive", "plant"] = "rk4",
    progress: bool | Callable[[float], object] = False,
) -> Result:
    """Run a plant under a sampled controller that holds its torque over each period.

    With a `Robot`, a controller of `thunder_py.control` and a reference of `thunder_py.reference` the whole loop runs
    in C++ without the GIL; any of the three may be written in Python instead. Ctrl-C interrupts.

    Where the robot has elastic joints, the torque of such a joint drives its motor, and the controller sees the link's
    side, q and dq. The motors' positions and velocities are in ``Result.x`` and ``Result.dx``.

    Parameters
    ----------
    plant : Robot or PlantLike
        With the true parameters; friction is part of the robot.
    controller : Controller or ControllerLike
        Is `reset` first, where it can be.
    reference : callable
        ``reference(t)`` gives a `JointReference` or a `TaskReference`, as the controller wants.
    duration : float
        [s], rounded up to whole control periods.
    dt : float
        Integration step [s].
    control_period : float, optional
        A whole multiple of `dt`; default `dt`.
    q0 : (n,) array_like, optional
        Start; default where a joint-space reference starts.
    dq0 : (n,) array_like, optional
        Default at rest.
    x0, dx0 : (e,) array_like, optional
        Start of the motors of elastic joints; default where the springs hold the arm still at `q0` (at `q0` itself, if
        they cannot), and the speed of the joints.
    torque_limits : float or (n,) array_like, optional
        Torques are clipped to plus and minus these; ``robot.limits.effort`` fits. Infinity is no limit.
    payloads : sequence of Payload
        What the plant, which must be a `Robot`, picks up.
    external : sequence of ExternalWrench and ExternalTorque
        What pushes the plant, which must be a `Robot`; its joint torques are the signal ``external``.
    sensors : Sensors, optional
        What the controller sees instead of the true q and dq; signals ``q_measured`` and ``dq_measured``.
    actuators : Actuators, optional
        What makes ``tau`` of the controller's torque, which then is the signal ``tau_commanded``. `torque_limits` are
        within them, behind their delay.
    log : sequence of str, optional
        Signals of the controller to log, default all; ``t, q, dq, x, dx, tau, status`` and the signals named above
        always are.
    log_every : int
        Control periods between rows; the last state is logged in any case.
    integrator : {"rk4", "semi_implicit_euler", "adaptive", "plant"}
        Fourth and first order with a fixed step; ``"adaptive"`` is the reference to compare them with: every step of
        length `dt` is integrated by SciPy's DOP853 to eleven digits, hundreds of times slower. ``"plant"`` is the one
        that a plant written in Python brings along, its method ``advance``.
    progress : bool or callable
        True shows a bar on terminals and in notebooks; a callable gets the part done, 0 to 1, about every 100 ms.

    Returns
    -------
    Result
        Where the state passes 1e8 (SI units) the run ends, and the last status is ``diverged``.

    Raises
    ------
    ValueError
        Naming the argument, what was expected and what came.
    """
    n = _joint_count(plant, controller)
    if not callable(reference):
        raise ValueError(f"reference must be callable with the time, got {type(reference).__name__}")
    if integrator not in INTEGRATORS:
        raise ValueError(f"integrator must be one of {INTEGRATORS}, got {integrator!r}")
    if integrator == "plant":
        _check_own_integrator(plant, actuators, n)
    native = _in_core(plant, Robot, "forward_dynamics")
    robot = plant if native and isinstance(plant, Robot) else None
    carried = read_payloads(payloads, plant, native)
    times = time_options(duration, dt, control_period, log_every)
    _check_signals(controller)
    options = {
        "n": n,
        **times,
        **_parts(sensors, actuators, n, times, integrator, torque_bounds(torque_limits, n)),
        "payloads": [(p.time, p.link, p.parameters.tolist()) for p in carried],
        "external": read_external(external, plant, native),
        "log": _wanted(log),
        "x0": initial_state(robot, carried, start_position(q0, reference, n), dq0, x0, dx0),
        "native_plant": native,
        "native_control": _in_core(controller, _core.Controller, "step")
        and _definer(reference, "__call__") in (_JointSource, _TaskSource),
        "integrator": advance if integrator == "adaptive" else integrator,
    }
    with ExitStack() as stack:
        raw = _core.simulate(plant, controller, reference, progress=_progress(progress, stack), **options)
    held = times["log_every"] == 1 and (actuators is None or actuators._holds(n))
    return _result(raw, _names(plant, robot, n), robot, carried, held)


def _check_own_integrator(plant: object, actuators: Actuators | None, n: int) -> None:
    """Refuse plants without `advance`, and drives: their states are not the plant's to integrate."""
    if not callable(getattr(plant, "advance", None)):
        raise ValueError(f"integrator='plant' needs a plant with a method advance, got {type(plant).__name__}")
    if isinstance(actuators, Actuators) and not actuators._holds(n):
        raise ValueError("integrator='plant' holds torques over its steps: actuators must have no lag and no motor")


def _parts(
    sensors: Sensors | None,
    actuators: Actuators | None,
    n: int,
    times: dict[str, Any],
    integrator: str,
    limits: Array,
) -> dict[str, Any]:
    """Return what stands between plant and controller."""
    for value, kind in ((sensors, Sensors), (actuators, Actuators)):
        if value is not None and not isinstance(value, kind):
            raise ValueError(f"{kind.__name__.lower()} must be {kind.__name__} or None, got {value!r}")
    dt, period = times["dt"], times["dt"] * times["steps_per_period"]
    return {
        "sensors": None if sensors is None else sensors._options(n, period),
        "actuators": None if actuators is None else actuators._options(n, period, dt, integrator, limits),
        "torque_limits": limits if actuators is None else np.zeros(0),
    }


def _wanted(log: Sequence[str] | None) -> list[str] | None:
    """Return the controller's signals to log."""
    if isinstance(log, str):
        raise ValueError(f"log must be a sequence of names, got the text {log!r}")
    names = tuple(log) if isinstance(log, Iterable) else None
    if log is not None and (names is None or not all(isinstance(name, str) for name in names)):
        raise ValueError(f"log must be a sequence of names or None, got {log!r}")
    always = {*ALWAYS_LOGGED, *MOTORS_LOGGED, *PARTS_LOGGED}
    return None if names is None else [name for name in names if name not in always]


def _names(plant: Any, robot: Robot | None, n: int) -> dict[str, tuple[str, ...]]:
    own = tuple(getattr(plant, "joint_names", ()))  # plants written in Python may have them
    names = {"joints": own if len(own) == n else tuple(f"joint{i + 1}" for i in range(n))}
    if robot is not None and robot.elastic:
        names["motors"] = tuple(names["joints"][j] for j in elastic_joints(robot))
    return names


def _check_signals(controller: object) -> None:
    """Refuse a Python controller whose signals are called like columns of the run itself."""
    taken = {*ALWAYS_LOGGED, *MOTORS_LOGGED, *PARTS_LOGGED, "labels"} & set(getattr(controller, "signals", ()))
    if taken and not isinstance(controller, _core.Controller):
        raise ValueError(f"controller.signals must not be called {', '.join(sorted(taken))}: the run logs these itself")


def _joint_count(plant: Any, controller: Any) -> int:
    for value, name, method in ((plant, "plant", "forward_dynamics"), (controller, "controller", "step")):
        if not callable(getattr(value, method, None)):
            raise ValueError(f"{name} must have a method {method}, got {type(value).__name__}")
    n = getattr(plant, "n", None)
    if not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"plant.n must be the number of joints, got {n!r}")
    return int(n)


def _definer(value: object, method: str) -> type:
    """Return the class whose `method` it is: a subclass may have put its own in the way of the core's."""
    return next(cls for cls in type(value).__mro__ if method in cls.__dict__)


def _in_core(value: object, base: type, method: str) -> bool:
    return isinstance(value, base) and _definer(value, method).__module__ == _core.__name__


def _progress(progress: bool | Callable[[float], object], stack: ExitStack) -> Callable[[float], object] | None:
    if callable(progress):
        return progress
    if not isinstance(progress, (bool, np.bool_)):
        raise ValueError(f"progress must be True, False or callable, got {progress!r}")
    if not progress:
        return None
    return stack.enter_context(percentage())


def _result(
    raw: dict[str, Any],
    names: dict[str, tuple[str, ...]],
    robot: Robot | None,
    payloads: tuple[Payload, ...],
    held: bool,
) -> Result:
    labels = raw.pop("labels")
    state = {name: raw.pop(name) for name in ("q", "dq", "tau", "x", "dx")}
    t, status = raw.pop("t")[:, 0], raw.pop("status")
    labels |= {name: names["joints"] for name in PARTS_LOGGED if name in raw}
    result = Result(
        t=t, status=status, signals=raw, names={**names, **labels}, **state,
        description=None if robot is None else robot.description, payloads=payloads, held=held,
    )  # fmt: skip
    if robot is not None:
        result.__dict__["plant"] = robot  # where it would be made anew
    return result
