import copy
import enum
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py import _core
from thunder_py.errors import ConcurrentUseError, ThunderError
from thunder_py.geometry import Sphere
from thunder_py.kinematics import InverseKinematics
from thunder_py.reference import SetPoint, Sinusoid, TaskReference

from .stateful import GOAL, JOINTS, START, STATEFUL, ZERO, Q, _members, in_use, robot

#: classes without methods that change anything
IMMUTABLE = {
    "Model", "JointReferenceSource", "TaskReferenceSource", "SetPoint", "Sinusoid", "SetPose", "Lissajous",
    "AdaptationLaw", "GradientLaw", "NaturalLaw", "PiecewisePolynomial", "FourierSeries", "JointTrajectory", "TaskPath",
    "Obstacle", "Sphere", "Box", "Capsule", "HalfSpace", "BezierPath", "RotationVectorPath", "JointBezierPath",
    "ConditionedMotion", "FunctionalPlanner", "ObstacleSet", "DmpBasis", "DynamicPotential", "NullObjective",
    "ManipulabilityObjective", "JointLimitObjective", "PostureObjective",
    "SampledJointReference", "InverseKinematics", "SphericalWrist", "Expression", "Function", "SymbolicChain",
    "LengthModel",
}  # fmt: skip
#: of pickles, beside each class's own methods
STATE = {"_core_state", "_set_core_state"}
#: what they hold changes, but only with the GIL held and never across a call of Python
GROWING = {"Graph", "Quantiles"}
#: used beside the thread of a real-time loop: tests/realtime/test_realtime_loop.py
THREADED = {"RealtimeLoop", "SimulatedRobot"}


def classes() -> list[type]:
    values = vars(_core).values()
    return [value for value in values if isinstance(value, type) and not issubclass(value, enum.Enum)]


def members(cls: type) -> set[str]:
    """Methods, properties and, as ``name=``, setters of an extension class and its bases there."""
    found: set[str] = set()
    for name, value in _members(cls):
        if (name.startswith("__") and name not in ("__call__", "__len__")) or "conduit" in name:
            continue
        found.add(name)
        if isinstance(value, property) and value.fset is not None:
            found.add(f"{name}=")
    return found


def test_every_class_is_known() -> None:
    """A new class has to be put into one of the lists."""
    bases = {"Controller", "JointController", "TaskController", "ExternalObserver", "Drive"}
    known = {cls.__name__ for cls in STATEFUL} | IMMUTABLE | GROWING | THREADED | bases
    assert {cls.__name__ for cls in classes()} == known


def test_every_use_is_known() -> None:
    for cls, kind in STATEFUL.items():
        assert members(cls) - STATE == set(kind.uses) | set(kind.constants), cls


def test_a_second_thread_is_refused() -> None:
    message = r"\w+ is in use by another thread: make one for each thread, or use it in one at a time"
    for cls, kind in STATEFUL.items():
        value = kind.make()
        state = value._core_state() if hasattr(cls, "_core_state") else None
        uses = dict(kind.uses)
        if state is not None:
            uses |= {"save": lambda x: x._core_state(), "restore": lambda x, state=state: x._set_core_state(state)}
        with in_use(kind, value):
            for name, use in uses.items():
                with pytest.raises(ConcurrentUseError) as caught:
                    use(value)
                assert re.fullmatch(message, str(caught.value)), (cls, name)
            for name in kind.constants:
                getattr(value, name)
        for use in uses.values():  # free again, and as before
            use(value)


def test_the_error() -> None:
    """It names the class, is caught as every error of the package, and travels between processes."""
    kind = STATEFUL[_core.SlotineLi]
    value = kind.make()
    with in_use(kind, value), pytest.raises(ConcurrentUseError, match=r"^SlotineLi is in use by another") as caught:
        value.reset()
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, ThunderError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_an_interceptor_and_its_reference_are_one() -> None:
    kind = STATEFUL[_core.Interceptor]
    interceptor = kind.make()
    followed = interceptor.follow(_feed())
    with in_use(kind, interceptor), pytest.raises(ConcurrentUseError, match=r"^ScheduledInterception is in use"):
        followed(0.1)
    other = STATEFUL[_core.ScheduledInterception].make()
    with (
        in_use(STATEFUL[_core.ScheduledInterception], other),
        pytest.raises(ConcurrentUseError, match=r"^Interceptor is"),
    ):
        other.interceptor.reset()


def _feed() -> Any:
    from thunder_py.manipulation.interception import Feed

    return Feed(np.zeros(1), np.zeros(1), np.zeros((1, 3)))


def test_the_filter_of_an_interceptor_is_a_copy() -> None:
    interceptor = STATEFUL[_core.Interceptor].make()
    before = interceptor.filter
    interceptor.measure(0.1, 0.08, [0.5, -0.3, 0.1])
    assert not before.started
    assert interceptor.filter.started
    interceptor.filter.reset()
    assert interceptor.filter.started


class Pause:
    """A progress callback that tells when a run is under way, and ends it when it is told to."""

    def __init__(self) -> None:
        self.running, self.stop = threading.Event(), False

    def __call__(self, done: float) -> None:
        self.running.set()
        if self.stop:
            raise InterruptedError


class PythonLaw:
    def __init__(self) -> None:
        self.resets = 0

    def reset(self) -> None:
        self.resets += 1

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
        return np.zeros(7)


class PythonPlant:
    n = 7

    def begin_step(self, t: float) -> None:
        """Has a state."""

    def forward_dynamics(self, q: np.ndarray, dq: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.zeros(7)


def start(plant: object, controller: object, reference: object) -> tuple[threading.Thread, Pause]:
    pause = Pause()

    def work() -> None:
        with pytest.raises(InterruptedError):
            th.simulate(plant, controller, reference, 1e5, log=(), log_every=10**6, q0=Q, progress=pause)

    thread = threading.Thread(target=work)
    thread.start()
    assert pause.running.wait(60.0)
    return thread, pause


def held_runs() -> list[tuple[str, object, object, object]]:
    """Name of what is shared, and the parts of a run."""
    return [
        ("ComputedTorque", robot(), th.ComputedTorque(robot(), 100.0, 20.0), SetPoint(Q)),
        ("PythonLaw", robot(), PythonLaw(), SetPoint(Q)),
        ("PythonPlant", PythonPlant(), th.ComputedTorque(robot(), 100.0, 20.0), SetPoint(Q)),
    ]


@pytest.mark.parametrize("index", range(3), ids=["controller", "Python controller", "Python plant"])
def test_a_run_holds_its_parts(index: int) -> None:
    name, plant, controller, reference = held_runs()[index]
    thread, pause = start(plant, controller, reference)
    try:
        other = controller if name != "PythonPlant" else th.ComputedTorque(robot(), 100.0, 20.0)
        with pytest.raises(ConcurrentUseError, match=f"^{name} is in use by another thread"):
            th.simulate(plant, other, reference, 0.01, q0=Q)
        if isinstance(controller, _core.Controller) and name == "ComputedTorque":
            with pytest.raises(ConcurrentUseError):
                controller.torque_limits = [5.0] * 7
        if isinstance(controller, PythonLaw):
            assert controller.resets == 1  # the refused run left it alone
    finally:
        pause.stop = True
        thread.join()
    th.simulate(plant, controller, reference, 0.01, q0=Q)


def test_a_run_holds_a_reference_with_state() -> None:
    law = th.OperationalSpace(robot(), 100.0, 20.0, 1.0)
    followed = STATEFUL[_core.ScheduledInterception].make()
    thread, pause = start(robot(), law, followed)
    try:
        with pytest.raises(ConcurrentUseError, match=r"^ScheduledInterception is in use"):
            followed(0.1)
        with pytest.raises(ConcurrentUseError, match=r"^Interceptor is in use"):
            followed.interceptor.reset()
    finally:
        pause.stop = True
        thread.join()


def test_the_same_thread_may_come_back() -> None:
    """A callback of a run may look at its controller and change it: steps are over when it is called."""
    law = th.SlotineLi(robot(), 5.0, 8.0, adaptation=2.0)
    seen = []

    def progress(done: float) -> None:
        law.torque_limits = 50.0
        law.parameters = robot().parameters
        seen.append(law.status)
        th.simulate(robot(), law, SetPoint(Q), 0.01, q0=Q)
        law.torque_limits = None
        law.step(0.0, Q, ZERO, JOINTS)

    th.simulate(robot(), law, SetPoint(Q), 0.5, q0=Q, progress=progress)
    assert seen


def test_a_clik_callback_may_use_its_clik() -> None:
    clik = STATEFUL[_core.Clik].make()
    T = robot().forward_kinematics(Q)

    def target(t: float) -> TaskReference:
        clik.set_tool(np.eye(4))
        return TaskReference(T[:3, 3], T[:3, :3], np.zeros(6), np.zeros(6))

    assert (clik.follow(target, Q, 0.05).status == 0).all()


def test_a_failed_use_frees_the_object() -> None:
    law = th.PDGravity(robot(), 100.0, 20.0)
    with pytest.raises(ValueError, match="q must have shape"):
        law.step(0.0, ZERO[:3], ZERO, JOINTS)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(law.reset).result()


def test_a_copy_is_free() -> None:
    kind = STATEFUL[_core.Dmp]
    dmp = kind.make()
    other = copy.copy(dmp)
    with in_use(kind, dmp):
        other.step(1e-3)


def test_immutable_objects_are_shared() -> None:
    """The same answers as alone, at the same time as others."""
    arm, ik, reference = robot(), InverseKinematics(robot()), Sinusoid([0.1] * 7, [0.5] * 7)
    q = np.random.default_rng(1).uniform(-1.0, 1.0, (4000, 7))
    T, model = arm.forward_kinematics(q[:6]), arm.symbolic()
    function = model.function("M", model.mass_matrix())

    def work(_: int) -> tuple[np.ndarray, ...]:
        rows = reference(np.linspace(0.0, 1.0, 50)).q
        return arm.mass_matrix(q, threads=2), ik.solve(T).q, rows, function(q[:50])

    alone = work(0)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, range(8)):
            for a, b in zip(alone, found, strict=True):
                np.testing.assert_array_equal(a, b)


def test_a_planner_is_shared() -> None:
    """Each thread has a search of its own."""
    from thunder_py.manipulation.interception.runs import default_planner
    from thunder_py.motion import HumanLikePlanner, ViaSearch

    planner, via = HumanLikePlanner(default_planner().fpca, max_travel_ratio=np.inf), ViaSearch(300)
    obstacle = Sphere(0.5 * (START + GOAL), 0.1)

    def points(_: int) -> np.ndarray:
        return planner.plan(START, GOAL, 1.5, obstacles=[obstacle], margin=0.02, via=via).path.points

    alone = points(0)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(points, range(24)):
            np.testing.assert_array_equal(alone, found)
