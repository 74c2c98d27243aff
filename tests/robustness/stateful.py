"""Every class whose objects one thread at a time may use: how to make one, and every use of it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from thunder_py import _core
from thunder_py.control import (
    ButterworthDerivative,
    ContactDetector,
    EnergyObserver,
    MomentumObserver,
    ParameterEstimator,
)
from thunder_py.geometry import Sphere
from thunder_py.kinematics import CLIK
from thunder_py.manipulation.interception import ConstantVelocityFilter, Feed, Interceptor
from thunder_py.manipulation.interception.runs import default_belt, default_planner
from thunder_py.motion.planning.obstacles import ViaSearch, obstacle_set
from thunder_py.realtime import ControlLoop, Safety, SafetyLimits
from thunder_py.realtime.hold import safe_torque
from thunder_py.reference import JointReference, SmoothJointReference, TaskReference
from thunder_py.trajectory import PotentialField

from .recipes import LAWS, RECIPES
from .recipes import panda as robot

Q, ZERO = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]), np.zeros(7)
JOINTS, SMOOTH = JointReference(Q, ZERO, ZERO), SmoothJointReference(Q, ZERO, ZERO, ZERO, ZERO)
START, GOAL = np.array([0.0, -0.3, 0.1]), np.array([0.2, 0.4, 0.3])
NOW = 10**18
OBSTACLES = (Sphere(0.5 * (START + GOAL), 0.1),)


@cache
def pose() -> TaskReference:
    T = robot().forward_kinematics(Q)
    return TaskReference(T[:3, 3], T[:3, :3], np.zeros(6), np.zeros(6))


@dataclass(frozen=True)
class Stateful:
    """A class of the extension with state."""

    make: Callable[[], Any]
    hold: Callable[[Any, Any], object]
    uses: dict[str, Callable[[Any], object]]
    constants: frozenset[str] = field(default_factory=frozenset)


def _setter(name: str, value: object) -> Callable[[Any], None]:
    return lambda x: setattr(x, name, value)


def _finish(x: Any) -> None:
    x.begin(NOW + 10**6, np.arange(7), 7, Q, ZERO, None)
    try:
        x.finish(None, 0)
    except ValueError as error:  # another thread finished, or reset, in between
        if "taken by `begin`" not in str(error):
            raise


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield what an extension class and its bases there define."""
    for base in cls.__mro__:
        if base.__module__ == _core.__name__:
            yield from vars(base).items()


def _controller(
    make: Callable[[], Any], reference: Any, motors: tuple[Any, ...] = (), **uses: Callable[[Any], object]
) -> Stateful:
    common: dict[str, Callable[[Any], object]] = {
        "step": lambda x: x.step(0.0, Q, ZERO, reference(), *motors),
        "reset": lambda x: x.reset(),
        "torque_limits=": _setter("torque_limits", 5.0),
        "_hold_rate": lambda x: x._hold_rate(1e-3, Q),
        "_unmodeled_gravity": lambda x: x._unmodeled_gravity(Q, robot()),
    }
    return Stateful(
        make,
        lambda x, array: x.step(0.0, array, ZERO, reference(), *motors),
        {**common, **uses},
        frozenset({"n", "sees_motors", "lyapunov_matrix"}) & set(dir(make())),
    )


ESTIMATE: dict[str, Callable[[Any], object]] = {
    "parameters=": lambda x: setattr(x, "parameters", robot().parameters),
    "adapting=": lambda x: setattr(x, "adapting", np.zeros(len(robot().parameters), bool)),
}


def _dmp() -> _core.Dmp:
    basis = _core.DmpBasis(_core.BasisKind.gaussian, 9, 4.0, 1.0)
    dmp = _core.Dmp(basis, 150.0, 24.0, _core.DmpScaling.hoffmann, False, np.ones((9, 3)), GOAL - START)
    dmp.reset(START, GOAL, 1.0, np.zeros(3), np.ones(3), 0.0)
    return dmp


def _quaternion_dmp() -> _core.QuaternionDmp:
    basis = _core.DmpBasis(_core.BasisKind.gaussian, 9, 4.0, 1.0)
    dmp = _core.QuaternionDmp(basis, 150.0, 24.0, False, np.ones((9, 3)))
    dmp.reset(np.eye(3), np.diag([1.0, -1.0, -1.0]), 1.0, np.zeros(3))
    return dmp


def _interceptor() -> Interceptor:
    start = np.eye(4)
    start[:3, :3] = np.diag([1.0, -1.0, -1.0])
    start[:3, 3] = [0.45, 0.0, 0.5]
    return Interceptor(default_planner(), default_belt(), start)


def _followed() -> _core.ScheduledInterception:
    t = np.arange(0.0, 1.0, 0.05)
    return _interceptor().follow(Feed(t, t + 0.02, np.array([0.5, -0.3, 0.1]) + np.outer(t, [0.0, 0.26, 0.0])))


def _estimator() -> ButterworthDerivative:
    estimator = ButterworthDerivative(20.0)
    estimator.step(1e-3, np.zeros(3))
    return estimator


def _observer(cls: type) -> Stateful:
    """An observer of external torques with a detector."""
    return Stateful(
        lambda: cls(robot(), 30.0, detector=ContactDetector(1.0)),
        lambda x, array: x.step(0.0, array, ZERO, ZERO),
        {
            "step": lambda x: x.step(0.0, Q, ZERO, ZERO),
            "apply": lambda x: x.apply(np.arange(3) * 1e-3, [Q] * 3, [ZERO] * 3, [ZERO] * 3),
            "reset": lambda x: x.reset(),
        },
        frozenset({"n"}),
    )


FIELD = _core.DynamicPotential(1.0, 1.0, 0.01, 0.1, [0.0, 0.0, 1.0])
GAINS = 100.0, 20.0

STATEFUL: dict[type, Stateful] = {
    _core.MomentumObserver: _observer(MomentumObserver),
    _core.EnergyObserver: _observer(EnergyObserver),
    _core.ParameterEstimator: Stateful(
        lambda: ParameterEstimator(robot(), adaptation=50.0),
        lambda x, array: x.step(0.0, array, ZERO, ZERO),
        {
            "step": lambda x: x.step(0.0, Q, ZERO, ZERO),
            "_run": lambda x: x._run(np.arange(3) * 1e-3, [Q] * 3, [ZERO] * 3, [ZERO] * 3, 0.0),
            "reset": lambda x: x.reset(),
            **ESTIMATE,
        },
        frozenset({"n"}),
    ),
    _core.DerivativeEstimator: Stateful(
        _estimator,
        lambda x, array: x._step(1e-3, array),
        {
            "_step": lambda x: x._step(1e-3, np.zeros(3)),
            "_apply": lambda x: x._apply(1e-3, np.zeros((4, 3))),
            "reset": lambda x: x.reset(),
        },
    ),
    _core.Clik: Stateful(
        lambda: CLIK(robot(), 5.0),
        lambda x, array: x._step(array, None, pose(), None),
        {
            "_set_tool": lambda x: x._set_tool(np.eye(4)),
            "_step": lambda x: x._step(Q, None, pose(), None),
            "_follow": lambda x: x._follow(lambda t: pose(), None, Q, ZERO, 1e-3, 5, False),
        },
        frozenset({"n", "order"}),
    ),
    _core.PotentialField: Stateful(
        lambda: PotentialField(robot(), Q + 0.3, [Sphere([2.0, 2.0, 2.0], 0.1)]),
        lambda x, array: x._potential(array),
        {
            "_potential": lambda x: x._potential(Q),
            "_clearance": lambda x: x._clearance(Q),
            "_free": lambda x: x._free(Q, Q + 0.1, 0.0),
            "_plan": lambda x: x._plan(Q, Q - 3.0, Q + 3.0, 0.1, 0.05, 0.0, 50, 10, 1, 0),
        },
    ),
    _core.ViaSearch: Stateful(
        lambda: ViaSearch(200).core(default_planner()._core),
        lambda x, array: x.plan(array, GOAL, 1.5, obstacle_set(OBSTACLES), 0.02),
        {
            "plan": lambda x: x.plan(START, GOAL, 1.5, obstacle_set(OBSTACLES), 0.02),
            "plan_many": lambda x: x.plan_many(
                np.zeros((4, 3, 3)), np.ones((4, 3, 3)), np.zeros(4), np.ones(4), [obstacle_set(OBSTACLES)], 0.02, 2
            ),
            "through": lambda x: x.through(START, GOAL, 1.5, [0.5 * (START + GOAL)]),
            "candidates": lambda x: x.candidates(START, GOAL),
        },
    ),
    _core.Dmp: Stateful(
        _dmp,
        lambda x, array: x.set_goal(array),
        {
            "reset": lambda x: x.reset(START, GOAL, 1.0, np.zeros(3), np.ones(3), 0.0),
            "step": lambda x: x.step(1e-3),
            "set_goal": lambda x: x.set_goal(GOAL),
            "set_amplitude": lambda x: x.set_amplitude(GOAL),
            "set_tau": lambda x: x.set_tau(1.1),
            "set_goal_filter": lambda x: x.set_goal_filter(0.1),
            "set_obstacles": lambda x: x.set_obstacles(FIELD, np.ones((3, 7))),
            "_rollout": lambda x: x._rollout(200, 1e-3, 2),
        },
        frozenset({"dimension"}),
    ),
    _core.QuaternionDmp: Stateful(
        _quaternion_dmp,
        lambda x, array: x.reset(np.eye(3), np.eye(3), 1.0, array),
        {
            "reset": lambda x: x.reset(np.eye(3), np.diag([1.0, -1.0, -1.0]), 1.0, np.zeros(3)),
            "step": lambda x: x.step(1e-3),
            "set_goal": lambda x: x.set_goal(np.eye(3)),
            "set_tau": lambda x: x.set_tau(1.1),
            "_rollout": lambda x: x._rollout(200, 1e-3),
        },
    ),
    _core.ConstantVelocityFilter: Stateful(
        ConstantVelocityFilter,
        lambda x, array: x.update(0.0, array),
        {
            "reset": lambda x: x.reset(),
            "update": lambda x: x.update(0.0, GOAL),
            "estimate": lambda x: x.estimate() if x.started else None,
            "time": lambda x: x.time if x.started else None,
        },
    ),
    _core.Interceptor: Stateful(
        _interceptor,
        lambda x, array: x.measure(0.0, 0.0, array),
        {
            "reset": lambda x: x.reset(),
            "measure": lambda x: x.measure(0.1, 0.08, [0.5, -0.3, 0.1]),
            "advance": lambda x: x.advance(0.1),
            "at": lambda x: x.at(0.1),
        },
    ),
    _core.ScheduledInterception: Stateful(
        _followed,
        lambda x, array: x.interceptor.measure(0.0, 0.0, array),
        {"at": lambda x: x.at(0.2), "sample": lambda x: x.sample([0.3, 0.4])},
        frozenset({"interceptor"}),
    ),
    _core.SafeTorque: Stateful(
        lambda: safe_torque(robot(), 100.0, robot().limits.effort),
        lambda x, array: x.step(0.0, array, ZERO),
        {"step": lambda x: x.step(0.0, Q, ZERO), "leave": lambda x: x.leave()},
    ),
    _core.Safety: Stateful(
        lambda: Safety(robot(), SafetyLimits.of(robot())),
        lambda x, array: x.check(0.0, array, ZERO),
        {
            "_check": lambda x: x.check(0.0, Q, ZERO),
            "_limit": lambda x: x.limit(0.0, ZERO),
            "_reason": lambda x: x.reason,
            "_reason=": _setter("reason", None),
            "reset": lambda x: x.reset(),
        },
    ),
    _core.ControlLoop: Stateful(
        lambda: ControlLoop({"robot": "panda", "controller": {"name": "PDGravity", "K_p": 50, "K_d": 1}})._core,
        lambda x, array: x.state(NOW, NOW, np.arange(7), 7, array, ZERO),
        {
            "state": lambda x: x.state(NOW, NOW, np.arange(7), 7, Q, ZERO),
            "begin": lambda x: x.begin(NOW, np.arange(7), 7, Q, ZERO, None),
            "finish": _finish,
            "request": lambda x: x.request(0),
            "stop": lambda x: x.stop(0),
            "watch": lambda x: x.watch(NOW),
            "follow": lambda x: x.follow(0.0, 1.0, None, JOINTS, JOINTS),
            "take_pose": lambda x: x.take_pose(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)),
            "take_twist": lambda x: x.take_twist(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
            "cancel": lambda x: x.cancel(),
            "time_of": lambda x: x.time_of(NOW),
            "reset": lambda x: x.reset(),
        },
    ),
}
#: what single laws have beside what all have
MORE: dict[type, dict[str, Callable[[Any], object]]] = {
    _core.CartesianComputedTorque: {"_obstacles=": _setter("_obstacles", np.ones((2, 4)))},
    _core.Impedance: {"wrench=": _setter("wrench", np.ones(6))},
    _core.Backstepping: {"_evaluate": lambda x: x._evaluate(Q, ZERO, pose())},
    _core.AdaptiveJacobianBackstepping: {
        "_evaluate": lambda x: x._evaluate(Q, ZERO, pose()),
        "lengths=": _setter("lengths", np.full(2, 0.1)),
    },
}
for law in LAWS:
    core = next(base for base in law.__mro__ if base.__module__ == _core.__name__)
    reference = (lambda: JOINTS) if issubclass(core, _core.JointController) else pose
    motors: tuple[Any, ...] = ()
    if RECIPES[law].make().sees_motors:
        reference, motors = (lambda: SMOOTH), (Q, ZERO)
    uses = {**(ESTIMATE if hasattr(core, "adapting") else {}), **MORE.get(core, {})}
    STATEFUL[core] = _controller(RECIPES[law].make, reference, motors, **uses)
for cls, kind in STATEFUL.items():  # reading a property is a use
    for name, member in _members(cls):
        if isinstance(member, property) and name not in kind.constants:
            kind.uses.setdefault(name, partial(lambda x, name: getattr(x, name), name=name))


#: classes whose uses read a vector of joints
_OF_JOINTS = (
    _core.Controller, _core.ExternalObserver, _core.Clik, _core.PotentialField, _core.SafeTorque, _core.Safety,
    _core.ControlLoop, _core.ParameterEstimator,
)  # fmt: skip


class Blocking:
    """An array that another thread waits for: while it is read, whatever reads it is in use."""

    def __init__(self, values: object) -> None:
        self.values, self.reading, self.finish = np.asarray(values, float), threading.Event(), threading.Event()

    def __len__(self) -> int:
        """Length, as of a list."""
        return len(self.values)

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        """Wait."""
        self.reading.set()
        assert self.finish.wait(60.0)
        return self.values


@contextmanager
def in_use(kind: Stateful, value: Any) -> Iterator[None]:
    """Use an object in another thread for as long as the context lasts."""
    array = Blocking(Q if isinstance(value, _OF_JOINTS) else GOAL)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            kind.hold(value, array)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert array.reading.wait(60.0)
        yield
    finally:
        array.finish.set()
        thread.join()
    assert not errors, errors
