"""Closed-loop simulation of a plant, a sampled controller and a reference."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, one_of
from ..control.stability import warn_of_high_gains
from ..errors import ThunderError
from ..progress import percentage
from ..reference import JointReference, TaskReference
from ..robot import Robot
from ..robot.payload import Payload, read_payloads
from .adaptive import advance
from .divergence import warn_of_divergence, warn_of_limits
from .friction import FrictionModel
from .native import is_native, reference_is_native
from .observers import read_observers
from .options import initial_state, loaded_at_start, motor_joints, start_position, time_options, torque_bounds
from .protocols import ControllerLike, PlantLike
from .result import LOGGED, MOTORS_MEASURED, PARTS_LOGGED, SimulationResult
from .sensors import Actuators, ExternalTorque, ExternalWrench, Sensors, channel, read_external
from .tracking import replace_references

_LOG = logging.getLogger(__name__)

INTEGRATORS = ("rk4", "implicit_midpoint", "semi_implicit_euler", "adaptive", "plant")
#: methods that a plant must have for an integrator
_NEEDED = {"plant": ("advance",), "implicit_midpoint": ("mass_matrix", "mass_matrix_dot")}


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
    friction: FrictionModel | None = None,
    observers: _core.ExternalObserver | Mapping[str, _core.ExternalObserver] | None = None,
    log: Sequence[str] | None = None,
    log_every: int = 1,
    integrator: Literal["rk4", "implicit_midpoint", "semi_implicit_euler", "adaptive", "plant"] = "rk4",
    progress: bool | Callable[[float], object] = False,
) -> SimulationResult:
    """Simulate a plant under a sampled controller that holds its torque over each period.

    With a `Robot`, a controller of `thunder_py.control` and a reference of `thunder_py.reference` the whole loop runs
    in C++ without the GIL. Each of the three may be written in Python instead. Ctrl-C interrupts.

    The torque of an elastic joint drives its motor. Laws for rigid joints see the link's side, q and dq; those whose
    ``sees_motors`` is true see the motors too. The motors' positions and velocities are in ``SimulationResult.x`` and
    ``SimulationResult.dx``.

    Parameters
    ----------
    plant : Robot or PlantLike
        Robot with the true parameters, friction included; or a plant written in Python.
    controller : Controller or ControllerLike
        `reset` is called before the run if it exists.
    reference : callable
        ``reference(t)`` returns the `JointReference` or `TaskReference` that the controller takes.
    duration : float
        Simulated time [s], rounded up to whole control periods.
    dt : float
        Integration step [s].
    control_period : float, optional
        Period of the controller [s], a whole multiple of `dt`; default `dt`.
    q0 : (n,) array_like, optional
        Initial joint positions [rad or m]; default the start of a joint-space reference.
    dq0 : (n,) array_like, optional
        Initial joint velocities [rad/s or m/s]; default zero.
    x0, dx0 : (e,) array_like, optional
        Initial positions and velocities of the motors of elastic joints; default the static equilibrium of the springs
        at `q0` (`q0` itself, where there is none), and the velocities of the joints.
    torque_limits : float or (n,) array_like, optional
        Torques are clipped to plus and minus these values [N m or N], such as ``robot.limits.effort``; infinity is no
        limit. A controller of `thunder_py.control` with an integral and without limits of its own has them for the run.
    payloads : sequence of Payload
        Bodies that the plant, which must be a `Robot`, picks up.
    external : sequence of ExternalWrench and ExternalTorque
        External forces on the plant, which must be a `Robot`; as joint torques they are the signal ``external``.
    sensors : Sensors, optional
        Measurement model; the controller then sees ``q_measured`` and ``dq_measured``, and of motors ``x_measured``
        and ``dx_measured``, which are logged.
    actuators : Actuators, optional
        Model from the controller's torque, then the signal ``tau_commanded``, to ``tau``. `torque_limits` apply behind
        their delay.
    friction : FrictionModel, optional
        Friction of the joints of the plant, which must be a `Robot`, in addition to its own; with stiction not for
        ``integrator="adaptive"``. It is logged as the signal ``friction``, zero at rest.
    observers : MomentumObserver, EnergyObserver, or mapping of str to these, optional
        Observers of the external torque, which see the measured state, of motors too, and the applied torque; their
        models must have the plant's elastic joints. `reset` is called before the run. A single one logs
        ``external_estimate`` or ``external_power`` and, with a detector, ``contact``. Of a mapping, each logs its name
        and ``<name>_contact``.
    log : sequence of str, optional
        Signals of the controller to log; default all. ``t, q, dq, x, dx, tau, status`` and the signals named above
        are always logged. A controller written in Python that has no signal ``error`` has that of the reference's q,
        or of its p and R for the end effector of a `Robot`.
    log_every : int
        Control periods between logged rows, in a log of at most 8 GiB; the last state is always logged.
    integrator : {"rk4", "implicit_midpoint", "semi_implicit_euler", "adaptive", "plant"}
        Fourth, second and first order with a fixed step. ``"implicit_midpoint"`` is symplectic: the energy error of an
        arm without friction stays bounded; every step solves an equation by iteration.
        ``"adaptive"`` is a reference solution: SciPy's DOP853 integrates each step of length `dt` to eleven digits,
        hundreds of times slower. ``"plant"`` calls the method ``advance`` of a plant written in Python.
    progress : bool or callable
        True shows a bar on terminals and in notebooks; a callable gets the completed fraction, 0 to 1, about every
        100 ms.

    Returns
    -------
    Result
        Logged arrays. If the state exceeds 1e8 (SI units), or the integrator finds no next state, the run ends early
        with the last status ``diverged``, and a `RuntimeWarning` names the time, the joint and the likely cause.

    Warns
    -----
    LimitWarning
        If a joint leaves the position or velocity limits of the plant, which do not stop it.

    Raises
    ------
    ValueError
        If an argument is invalid; the message names it.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> motion = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    >>> law = th.ComputedTorque(robot, K_0=100.0, K_1=20.0)
    >>> run = th.simulate(robot, law, motion, duration=2.0)
    >>> run.q.shape, round(run.steady_state_error(), 4)
    ((2001, 2), 0.0001)
    """
    for name, part in (("plant", plant), ("controller", controller), ("reference", reference)):
        if isinstance(part, type):
            kind = part.__name__
            raise ThunderError(f"{name} must be an object, such as {kind}(...), got the class {kind} itself")
    n = _joint_count(plant, controller)
    if not callable(reference):
        raise ThunderError(f"reference must be callable with the time, got {type(reference).__name__}")
    one_of(integrator, INTEGRATORS, "integrator")
    _check_plant(plant, integrator, actuators, n)
    native = is_native(plant, Robot, "forward_dynamics")
    robot = plant if native and isinstance(plant, Robot) else None
    bodies = read_payloads(payloads, plant, native)
    times = time_options(duration, dt, control_period, log_every)
    period = times["dt"] * times["steps_per_period"]
    _check_signals(controller)
    bounds = torque_bounds(torque_limits, n)
    for name, given, sort in (
        ("sensors", sensors, Sensors), ("actuators", actuators, Actuators), ("friction", friction, FrictionModel),
    ):  # fmt: skip
        if given is not None and not isinstance(given, sort):
            raise ThunderError(f"{name} must be {sort.__name__} or None, got {given!r}")
    _check_friction(friction, native, integrator)
    options = {
        "n": n,
        **times,
        "sensors": sensors and sensors._options(n, period),
        "actuators": actuators and actuators._options(n, period, times["dt"], None if native else integrator, bounds),
        "friction": friction and friction._options(n),
        "torque_limits": bounds if actuators is None else np.zeros(0),
        "payloads": [(p.time, p.link, p.parameters.tolist()) for p in bodies],
        "external": read_external(external, plant, native),
        "observers": read_observers(observers, period),
        "log": _logged_signals(log),
        "x0": initial_state(plant if robot is None else robot, bodies, start_position(q0, reference, n), dq0, x0, dx0),
        "native_plant": native,
        "native_control": is_native(controller, _core.Controller, "step") and reference_is_native(reference),
        "integrator": advance if integrator == "adaptive" else integrator,
    }
    parts = {"plant": native, "controller and reference": options["native_control"]}
    _LOG.debug("in Python: %s", ", ".join(name for name, inside in parts.items() if not inside) or "nothing")
    own_law = is_native(controller, _core.Controller, "step")
    loaded = _modelled(plant) if robot is None else loaded_at_start(robot, bodies)
    between = channel(sensors, actuators, n, period) if own_law else None
    if between is not None:
        warn_of_high_gains(controller, loaded, options["x0"][:n], between)
    with ExitStack() as stack:
        stack.enter_context(_anti_windup(controller, bounds))
        raw = _core.simulate(plant, controller, reference, progress=_progress(progress, stack), **options)
    held = times["log_every"] == 1 and (actuators is None or actuators._holds(n))
    names = _names(plant, robot, n)
    replace_references(raw, raw["labels"], names["joints"], _modelled(plant) if robot is None else robot)
    if friction is not None:
        raw["friction"] = friction.torque(raw["dq"])
    result = _result(raw, names, robot, bodies, held)
    if not warn_of_divergence(result, controller, loaded, between, times):
        warn_of_limits(result, loaded)
    return result


@contextmanager
def _anti_windup(controller: object, bounds: Array) -> Iterator[None]:
    """Give the torque limits of a run to a controller whose integral would wind up while they clip its torque."""
    law = controller if isinstance(controller, _core.Controller) and "integral" in controller.signals else None
    if law is None or law.torque_limits is not None or not bounds.size:
        yield
        return
    law.torque_limits = bounds
    try:
        yield
    finally:
        law.torque_limits = None


def _modelled(plant: object) -> Robot | None:
    """Return the robot of a plant that is not one itself, if it has one."""
    robot = getattr(plant, "robot", None)
    return robot if isinstance(robot, Robot) else None


def _check_plant(plant: object, integrator: str, actuators: Actuators | None, n: int) -> None:
    """Refuse plants without the methods of an integrator, and states of actuators beside a plant that steps itself."""
    missing = [name for name in _NEEDED.get(integrator, ()) if not callable(getattr(plant, name, None))]
    if missing:
        raise ThunderError(
            f"plant must have {' and '.join(_NEEDED[integrator])} for integrator={integrator!r}, "
            f"got {type(plant).__name__} without {' and '.join(missing)}"
        )
    if integrator == "plant" and isinstance(actuators, Actuators) and not actuators._holds(n):
        raise ThunderError(
            "actuators must have no lag and no motor for integrator='plant', which holds torques over its steps"
        )


def _check_friction(friction: FrictionModel | None, native: bool, integrator: str) -> None:
    """Refuse friction of plants written in Python, and stiction where no inclusion is solved."""
    if friction is not None and not native:
        raise ThunderError("friction must be None unless plant is a Robot; a plant written in Python has its own")
    if friction is not None and friction.stiction and integrator == "adaptive":
        raise ThunderError(
            "friction must have no stiction for integrator='adaptive', which cannot solve inclusions; "
            "the fixed steps can, or set stiction=False with a small delta"
        )


def _logged_signals(log: Sequence[str] | None) -> list[str] | None:
    """Return the controller's signals to log."""
    if isinstance(log, str):
        raise ThunderError(f"log must be a sequence of names, got the text {log!r}")
    names = tuple(log) if isinstance(log, Iterable) else None
    if log is not None and (names is None or not all(isinstance(name, str) for name in names)):
        raise ThunderError(f"log must be a sequence of names or None, got {log!r}")
    return None if names is None else [name for name in names if name not in LOGGED]


def _names(plant: Any, robot: Robot | None, n: int) -> dict[str, tuple[str, ...]]:
    own = tuple(getattr(plant, "joint_names", ()))  # optional in plants written in Python
    names = {"joints": own if len(own) == n else tuple(f"joint{i + 1}" for i in range(n))}
    motors = motor_joints(plant if robot is None else robot)
    if motors:
        names["motors"] = tuple(names["joints"][j] for j in motors)
    return names


def _check_signals(controller: object) -> None:
    """Refuse a Python controller with signals named like columns of the run."""
    reserved = {*LOGGED, "labels"} & set(getattr(controller, "signals", ()))
    if reserved and not isinstance(controller, _core.Controller):
        raise ThunderError(
            f"controller.signals must not use the names {', '.join(sorted(reserved))}, which the run logs itself"
        )


def _joint_count(plant: Any, controller: Any) -> int:
    for value, name, method in ((plant, "plant", "forward_dynamics"), (controller, "controller", "step")):
        if not callable(getattr(value, method, None)):
            raise ThunderError(f"{name} must have a method {method}, got {type(value).__name__}")
    n = getattr(plant, "n", None)
    if not isinstance(n, (int, np.integer)) or n < 1:
        raise ThunderError(f"plant.n must be the number of joints, got {n!r}")
    return int(n)


def _progress(progress: bool | Callable[[float], object], stack: ExitStack) -> Callable[[float], object] | None:
    if callable(progress):
        return progress
    if not isinstance(progress, (bool, np.bool_)):
        raise ThunderError(f"progress must be True, False or callable, got {progress!r}")
    return stack.enter_context(percentage()) if progress else None


def _result(
    raw: dict[str, Any],
    names: dict[str, tuple[str, ...]],
    robot: Robot | None,
    payloads: tuple[Payload, ...],
    held: bool,
) -> SimulationResult:
    labels = raw.pop("labels")
    state = {name: raw.pop(name) for name in ("q", "dq", "tau", "x", "dx")}
    t, status = raw.pop("t")[:, 0], raw.pop("status")
    labels |= {name: names["joints"] for name in PARTS_LOGGED if name in raw}
    labels |= {name: names["motors"] for name in MOTORS_MEASURED if name in raw}
    result = SimulationResult(
        t=t, status=status, signals=raw, names={**names, **labels}, **state,
        description=None if robot is None else robot.description, payloads=payloads, held=held,
    )  # fmt: skip
    if robot is not None:
        result.__dict__["plant"] = robot  # spares its construction from the description
    return result
