"""Threads that share, set, compile, copy and drop every public object with state, at random.

``python -m tests.robustness.stress 60`` takes a minute, from a seed that it prints. A run ends well if the process
does, and no error but those of the package's rules was raised.
"""

import copy
import gc
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import thunder_py as th
from thunder_py import _core
from thunder_py.errors import CompilerError, ConcurrentUseError
from thunder_py.kinematics import InverseKinematics
from thunder_py.reference import SetPoint
from thunder_py.symbolic import Function

from .recipes import elastic_panda as elastic_robot
from .stateful import STATEFUL, ZERO, Q, pose, robot

BATCH = np.random.default_rng(1).uniform(-1.0, 1.0, (2500, 7))


def simulated(value: Any) -> None:
    """Run what can be run in a loop."""
    if isinstance(value, (_core.JointController, _core.TaskController)):
        reference: Any = SetPoint(Q) if isinstance(value, _core.JointController) else _Hold()
        plant = elastic_robot() if value.sees_motors else robot()
        th.simulate(plant, value, reference, 0.05, q0=Q, log=())
    elif isinstance(value, _core.ScheduledInterception):
        th.simulate(robot(), th.OperationalSpace(robot(), 100.0, 20.0, 1.0), value, 0.05, q0=Q, log=())


class _Hold:
    """A task-space reference that is written in Python."""

    def __call__(self, t: float) -> Any:
        return pose()


class Shared:
    """Objects that all threads see; any of them may be replaced at any time."""

    def __init__(self) -> None:
        self.values: dict[type, Any] = {cls: kind.make() for cls, kind in STATEFUL.items()}
        self.function = _recorded()
        self.ik = InverseKinematics(robot(), restarts=1)
        self.targets = robot().forward_kinematics(BATCH[:4])


def _recorded() -> Any:
    """Return a recorded function."""
    graph = _core.Graph()
    a = graph.symbol("a")
    y: Any = a
    for _ in range(60):
        y = (y * a + 0.5).sin()
    return Function("stress", {"a": a}, {"y": y})


def actions(shared: Shared, rng: random.Random) -> list[Callable[[], None]]:
    """Return what a thread may do next."""

    classes = list(STATEFUL)

    def chosen() -> type:
        """Return a class; all threads meet at two of them at a time."""
        k = int(2.0 * time.monotonic()) % (len(classes) - 1)
        return rng.choice(classes[k : k + 2] if rng.random() < 0.7 else classes)

    def use() -> None:
        cls = chosen()
        kind = STATEFUL[cls]
        rng.choice(list(kind.uses.values()))(shared.values[cls])

    def read_constants() -> None:
        cls = chosen()
        kind = STATEFUL[cls]
        for name in kind.constants:
            getattr(shared.values[cls], name)

    def simulate() -> None:
        simulated(shared.values[chosen()])

    def drop() -> None:
        cls = chosen()
        shared.values[cls] = STATEFUL[cls].make()

    def batch() -> None:
        quantity = rng.choice(["mass_matrix", "gravity_vector", "jacobian"])
        getattr(robot(), quantity)(BATCH, threads=rng.choice([1, 2, 4]))

    def solve() -> None:
        shared.ik.solve(shared.targets, threads=rng.choice([1, 2]))

    def call() -> None:
        shared.function(np.linspace(0.0, 1.0, rng.choice([1, 5000, 50_000])))

    def compile_function() -> None:
        shared.function.compile()

    def new_function() -> None:
        shared.function = _recorded()

    def copied() -> None:
        value = shared.values[rng.choice([_core.Dmp, _core.QuaternionDmp])]
        copy.copy(value).step(1e-3)

    def uninitialized() -> None:
        cls = rng.choice(list(STATEFUL))
        try:
            cls.__new__(cls).reset()  # type: ignore[call-overload]
        except (TypeError, AttributeError):
            return
        raise AssertionError(f"{cls.__name__} was used before it was initialized")

    def collect() -> None:
        gc.collect()

    return [use] * 12 + [simulate] * 4 + [batch, solve, call, call, drop, drop, read_constants, copied] + [
        uninitialized, compile_function, new_function, collect
    ]  # fmt: skip


def work(shared: Shared, seed: int, until: float, done: Counter[str], errors: list[BaseException]) -> None:
    """Act at random until the time is over."""
    rng = random.Random(seed)
    choices = actions(shared, rng)
    while time.monotonic() < until and not errors:
        action = rng.choice(choices)
        try:
            action()
            done[action.__name__] += 1
        except ConcurrentUseError:
            done["refused"] += 1
        except CompilerError:
            done["no compiler"] += 1
        except BaseException as error:
            errors.append(error)
            return


def stress(seconds: float, seed: int, threads: int = 4) -> Counter[str]:
    """Return how often each thing was done; raises what a thread raised."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    shared, done, errors = Shared(), Counter[str](), list[BaseException]()
    until = time.monotonic() + seconds
    workers = [
        threading.Thread(target=work, args=(shared, seed * 1000 + k, until, done, errors)) for k in range(threads)
    ]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(before)
    if errors:
        raise errors[0]
    assert np.isfinite(robot().mass_matrix(ZERO)).all()
    return done


if __name__ == "__main__":
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}", flush=True)
    print(stress(float(sys.argv[1]), seed))
