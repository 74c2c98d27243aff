"""Closed-loop simulation: a plant with its own parameters, a sampled controller, a reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from . import _core, inertia
from .checks import Array, array
from .errors import ModelError, UnknownNameError, nearest_hint
from .joint_data import Elastic
from .reference import JointReference, TaskReference, _JointSource, _TaskSource
from .result import ALWAYS_LOGGED, MOTORS_LOGGED, Result
from .robot import Robot

__all__ = ["ControllerLike", "Payload", "PlantLike", "simulate"]

INTEGRATORS = ("rk4", "semi_implicit_euler")


class PlantLike(Protocol):
    """A plant written in Python."""

    n: int

    def forward_dynamics(self, q: Array, dq: Array, tau: Array, /) -> npt.ArrayLike:
        """Return the joint accelerations, (n,)."""


class ControllerLike(Protocol):
    """A controller written in Python.

    Optional attributes: ``status`` (a `thunder_py.control.Status`), ``signals`` (a mapping of names to vectors of
    fixed length, present before the first step) and ``reset()``, called before a run.
    """

    def step(self, t: float, q: Array, dq: Array, reference: Any, /) -> npt.ArrayLike:
        """Return the torque, (n,)."""


@dataclass(frozen=True, eq=False)
class Payload:
    """A rigid body that is fixed to a link of the plant from a time on; the controller is not told.

    Parameters
    ----------
    mass : float
        [kg].
    com : (3,) array_like
        Centre of mass in the link frame [m].
    inertia : (3, 3) array_like, optional
        About the centre of mass, link axes [kg m^2]; default zero, a point mass.
    link : int or str, optional
        1 to n or a link's name; default the last.
    time : float
        When it appears [s].
    """

    mass: float
    com: npt.ArrayLike = (0.0, 0.0, 0.0)
    inertia: npt.ArrayLike | None = None
    link: int | str | None = None
    time: float = 0.0
    parameters: Array = field(init=False, repr=False)  # REG, about the link frame's origin

    def __post_init__(self) -> None:
        """Check everything and move it to the link frame."""
        mass, time = float(array(self.mass, (), "payload mass")), float(array(self.time, (), "payload time"))
        if mass < 0.0:
            raise ValueError(f"payload mass must not be negative, got {mass:g}")
        if time < 0.0:
            raise ValueError(f"payload time must not be negative, got {time:g}")
        about_com = np.zeros((3, 3)) if self.inertia is None else array(self.inertia, (3, 3), "payload inertia")
        if not np.array_equal(about_com, about_com.T):
            raise ValueError(f"payload inertia must be symmetric, got {about_com.tolist()}")
        if np.linalg.eigvalsh(about_com)[0] < -1e-12 * np.abs(about_com).max():
            raise ValueError(f"payload inertia must not have a negative eigenvalue, got {about_com.tolist()}")
        dyn = np.concatenate([[mass], array(self.com, (3,), "payload com"), about_com[np.triu_indices(3)]])
        object.__setattr__(self, "parameters", inertia.reg_from_dyn(dyn[None])[0])

    def link_index(self, robot: Robot) -> int:
        """Return the number of the link, 1 to n."""
        if self.link is None:
            return robot.n
        if isinstance(self.link, str):
            if self.link not in robot.link_names:
                hint = nearest_hint(self.link, robot.link_names)
                raise UnknownNameError(f"payload link: no link of {robot.name} is called {self.link!r}{hint}")
            return int(robot.link_names.index(self.link)) + 1
        if isinstance(self.link, bool) or not isinstance(self.link, (int, np.integer)) or not 1 <= self.link <= robot.n:
            raise ValueError(f"payload link must be 1 to {robot.n} or a name, got {self.link!r}")
        return int(self.link)


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
    payloads: Sequence[Payload] = (),
    log: Sequence[str] | None = None,
    log_every: int = 1,
    integrator: Literal["rk4", "semi_implicit_euler"] = "rk4",
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
    log : sequence of str, optional
        Signals of the controller to log, default all; ``t, q, dq, x, dx, tau, status`` always are.
    log_every : int
        Control periods between rows; the last state is logged in any case.
    integrator : {"rk4", "semi_implicit_euler"}
        Fixed step.
    progress : bool or callable
        True shows a bar; a callable gets the part done, 0 to 1, about every 100 ms.

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
    options = {
        "n": n,
        **_time_options(duration, dt, control_period, log_every),
        **_plant_options(plant, payloads),
        "torque_limits": _torque_limits(torque_limits, n),
        "log": None if log is None else [name for name in log if name not in (*ALWAYS_LOGGED, *MOTORS_LOGGED)],
        "x0": _initial_state(plant, payloads, _start(q0, reference, n), dq0, x0, dx0),
        "native_control": _in_core(controller, _core.Controller, "step")
        and _definer(reference, "__call__") in (_JointSource, _TaskSource),
    }
    _check_signals(controller)
    if isinstance(log, str):
        raise ValueError(f"log must be a sequence of names, got the text {log!r}")
    if integrator not in INTEGRATORS:
        raise ValueError(f"integrator must be one of {INTEGRATORS}, got {integrator!r}")
    if hasattr(controller, "reset"):
        controller.reset()
    with ExitStack() as stack:
        shown = _progress(progress, stack)
        raw = _core.simulate(plant, controller, reference, integrator=integrator, progress=shown, **options)
    names = {"joints": plant.joint_names if isinstance(plant, Robot) else tuple(f"joint{i + 1}" for i in range(n))}
    if (drives := _drives(plant)) != ():
        names["motors"] = tuple(names["joints"][drive.joint - 1] for drive in drives)
    return _result(raw, names)


def _check_signals(controller: object) -> None:
    """Refuse a Python controller whose signals are called like columns of the run itself."""
    taken = {*ALWAYS_LOGGED, *MOTORS_LOGGED, "labels"} & set(getattr(controller, "signals", ()))
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


def _positive(value: float, name: str) -> float:
    number = float(array(value, (), name))
    if number <= 0.0:
        raise ValueError(f"{name} must be positive, got {number:g}")
    return number


def _time_options(duration: float, dt: float, control_period: float | None, log_every: int) -> dict[str, Any]:
    dt, duration = _positive(dt, "dt"), _positive(duration, "duration")
    period = dt if control_period is None else _positive(control_period, "control_period")
    steps = round(period / dt)
    if steps < 1 or abs(period / dt - steps) > 1e-6:
        raise ValueError(f"control_period must be a whole multiple of dt = {dt:g}, got {period:g}")
    if isinstance(log_every, bool) or not isinstance(log_every, (int, np.integer)) or log_every < 1:
        raise ValueError(f"log_every must be an integer of at least 1, got {log_every!r}")
    periods = math.ceil(duration / period - 1e-6)
    return {"dt": dt, "steps_per_period": steps, "periods": periods, "log_every": int(log_every)}


def _plant_options(plant: Robot | PlantLike, payloads: Sequence[Payload]) -> dict[str, Any]:
    if isinstance(payloads, Payload):
        payloads = (payloads,)
    native = _in_core(plant, Robot, "forward_dynamics")
    if payloads and not native:
        raise ValueError("payloads need a plant that is a Robot; let a plant written in Python change itself")
    for payload in payloads:
        if not isinstance(payload, Payload):
            raise ValueError(f"payloads must be a sequence of Payload, got {payload!r} in it")
    bodies = [(p.time, p.link_index(plant), p.parameters.tolist()) for p in payloads if isinstance(plant, Robot)]
    return {"native_plant": native, "payloads": bodies}


def _start(q0: npt.ArrayLike | None, reference: Callable[[float], Any], n: int) -> Array:
    if q0 is not None:
        return array(q0, (n,), "q0")
    first = reference(0.0)
    if not hasattr(first, "q"):
        raise ValueError("q0 is needed: only a joint-space reference says where the joints start")
    return array(first.q, (n,), "reference(0).q")


def _drives(plant: Robot | PlantLike) -> tuple[Elastic, ...]:
    """Elastic joints of the plant that is simulated; a plant written in Python has none that we know of."""
    return plant.elastic if isinstance(plant, Robot) and _in_core(plant, Robot, "forward_dynamics") else ()


def _initial_state(
    plant: Robot | PlantLike,
    payloads: Sequence[Payload],
    q: Array,
    dq0: npt.ArrayLike | None,
    x0: npt.ArrayLike | None,
    dx0: npt.ArrayLike | None,
) -> Array:
    """Return q, dq and, if there are motors behind springs, x and dx of these."""
    dq = np.zeros_like(q) if dq0 is None else array(dq0, q.shape, "dq0")
    drives = _drives(plant)
    if not isinstance(plant, Robot) or not drives:
        for name, value in (("x0", x0), ("dx0", dx0)):
            if value is not None:
                raise ValueError(f"{name} needs a plant that is a Robot with elastic joints")
        return np.concatenate([q, dq])
    joints, e = [drive.joint - 1 for drive in drives], len(drives)
    x = _resting_motors(plant, payloads, q, joints) if x0 is None else array(x0, (e,), "x0")
    return np.concatenate([q, dq, x, dq[joints] if dx0 is None else array(dx0, (e,), "dx0")])


def _resting_motors(plant: Robot, payloads: Sequence[Payload], q: Array, joints: list[int]) -> Array:
    """Where the springs hold the arm with what it carries from the start, else where they are relaxed."""
    parameters = plant.parameters.copy()
    for payload in (payloads,) if isinstance(payloads, Payload) else payloads:
        if payload.time == 0.0:
            parameters[10 * (payload.link_index(plant) - 1) :][:10] += payload.parameters
    try:
        return plant.with_parameters(parameters).elastic_equilibrium(q)
    except ModelError:
        return q[joints]


def _torque_limits(limits: npt.ArrayLike | None, n: int) -> Array:
    if limits is None:
        return np.zeros(0)
    if np.ndim(limits) == 0:
        limits = np.full(n, limits)
    given = array(limits, (n,), "torque_limits", finite=False)
    if not (given > 0.0).all():
        raise ValueError(f"torque_limits must be positive, got {given.tolist()}")
    return np.minimum(given, np.finfo(np.float64).max)  # no limit


def _definer(value: object, method: str) -> type:
    """Return the class whose `method` it is: a subclass may have put its own in the way of the core's."""
    return next(cls for cls in type(value).__mro__ if method in cls.__dict__)


def _in_core(value: object, base: type, method: str) -> bool:
    return isinstance(value, base) and _definer(value, method).__module__ == _core.__name__


def _progress(progress: bool | Callable[[float], object], stack: ExitStack) -> Callable[[float], object] | None:
    if callable(progress):
        return progress
    if not progress:
        return None
    from tqdm.auto import tqdm

    bar = stack.enter_context(tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed} < {remaining}"))
    return lambda done: bar.update(round(100 * done) - bar.n)


def _result(raw: dict[str, Any], names: dict[str, tuple[str, ...]]) -> Result:
    labels = raw.pop("labels")
    state = {name: raw.pop(name) for name in ("q", "dq", "tau", "x", "dx")}
    t, status = raw.pop("t")[:, 0], raw.pop("status")
    return Result(t=t, status=status, signals=raw, names={**names, **labels}, **state)
