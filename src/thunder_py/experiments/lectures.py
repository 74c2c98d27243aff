"""The lectures on control, 29 to 34, as runs of a planar arm: stability, passivity, adaptation, excitation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import Array
from ..control import ComputedTorque, PassivityBased, PDGravity, SlotineLi
from ..identification import (
    AdaptationConvergence,
    Excitation,
    MotionLimits,
    adaptation_convergence,
    optimise_excitation,
)
from ..reference import JointReference, SetPoint, Sinusoid
from ..result import Result
from ..result.lyapunov import Lyapunov
from ..robot import Robot
from ..simulation import simulate

__all__ = [
    "Candidate",
    "PrintedSlotineLi",
    "Study",
    "adaptation_study",
    "excitation_study",
    "mass_spring",
    "mass_spring_candidates",
    "mass_spring_motion",
    "passivity_study",
    "set_point_study",
    "wrong_arm",
]

GOAL = np.array([0.9, -0.6])
K_P, K_D = np.array([60.0, 30.0]), np.array([18.0, 6.0])
LAMBDA, K = 4.0, np.array([12.0, 5.0])
GAMMA = 1.0
MOTION = Sinusoid([0.8, 0.6], [0.4, 0.6], centre=[0.3, 0.8], phase=[0.0, 0.5])
LOG_EVERY = 2


@dataclass(frozen=True)
class Candidate:
    """A quadratic candidate of Lyapunov, ``V = x'Px``, for ``x' = A x``.

    Attributes
    ----------
    P, Q : (n, n) array
        ``V_dot = -x'Qx`` with ``Q = -(P A + A'P)``.
    """

    P: Array
    Q: Array

    @property
    def verdict(self) -> str:
        """What Lyapunov's theorem says of it, by eigenvalues."""
        smallest, rate = np.linalg.eigvalsh(self.P)[0], np.linalg.eigvalsh(self.Q)[0]
        tiny = 1e-12
        if smallest <= tiny or rate < -tiny:
            return "nothing"
        return "asymptotically stable" if rate > tiny else "stable; LaSalle has to say more"


def mass_spring(k: float = 1.0, m: float = 1.0, b: float = 1.0) -> Array:
    """Return A of the damped mass on a spring, ``x' = A x`` (lecture 30)."""
    return np.array([[0.0, 1.0], [-k / m, -b / m]])


def mass_spring_candidates() -> dict[str, Candidate]:
    """Lecture 30: the one that proves it, and energy, which needs LaSalle."""
    A = mass_spring()
    found = {"crossed": np.array([[0.5, 0.25], [0.25, 0.5]]), "energy": 0.5 * np.eye(2)}
    return {name: Candidate(P, -(P @ A + A.T @ P)) for name, P in found.items()}


def mass_spring_motion(x0: Array, t: Array) -> Array:
    """Return the states of the mass on the spring from `x0` on, (k, 2), exactly."""
    from scipy.linalg import expm

    A = mass_spring()
    return np.stack([expm(A * time) @ x0 for time in t])


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Runs that differ in one thing.

    Attributes
    ----------
    runs : mapping of str to Result
        By what differs.
    lyapunov : mapping of str to Lyapunov
        Function and derivative, as the lecture's proof has them, of the runs that it covers.
    """

    runs: Mapping[str, Result]
    lyapunov: Mapping[str, Lyapunov]

    def table(self) -> str:
        """Markdown: errors in the middle and at the end."""
        from .text import markdown

        rows = [
            [name, float(run.error_norm()[len(run.t) // 2]), float(run.steady_state_error())]
            for name, run in self.runs.items()
        ]
        return markdown(["run", "error half-way [rad]", "steady state [rad]"], rows)


def wrong_arm(robot: Robot, factor: float = 0.5) -> Robot:
    """Return the arm with all inertial parameters multiplied by `factor`: a body that can exist, and a wrong one."""
    return robot.replace(inertial=factor * robot.inertial)


def set_point_study(duration: float = 4.0) -> Study:
    """Lecture 31: PD control with gravity compensation, without, and with a wrong one; V of the proof."""
    robot = Robot.load("elbow")
    models = {
        "with gravity": robot,
        "without": robot.replace(gravity=(0.0, 0.0, 0.0)),
        "half of gravity": wrong_arm(robot),
    }
    runs = {
        name: simulate(robot, PDGravity(model, K_P, K_D), SetPoint(GOAL), duration, q0=np.zeros(2), log_every=LOG_EVERY)
        for name, model in models.items()
    }
    run = runs["with gravity"]
    V = 0.5 * _quadratic(run.dq, robot.mass_matrix(run.q)) + 0.5 * run.error**2 @ K_P
    return Study(runs=runs, lyapunov={"with gravity": Lyapunov(run.t, V, -(run.dq**2) @ K_D, True)})


def passivity_study(duration: float = 4.0) -> Study:
    """Lectures 28 and 32: feedback linearisation and passivity-based control, with a true and with a wrong model."""
    robot = Robot.load("elbow")
    wrong = wrong_arm(robot, 0.8)
    laws = {
        "passivity-based": PassivityBased(robot, LAMBDA, K),
        "computed torque": ComputedTorque(robot, 25.0, 10.0),
        "passivity-based, wrong model": PassivityBased(wrong, LAMBDA, K),
        "computed torque, wrong model": ComputedTorque(wrong, 25.0, 10.0),
    }
    runs = {name: _track(robot, law, duration) for name, law in laws.items()}
    run = runs["passivity-based"]
    e, de = run.error, run.s - LAMBDA * run.error
    V = 0.5 * _quadratic(run.s, robot.mass_matrix(run.q)) + e**2 @ (LAMBDA * K)
    V_dot = -(de**2) @ K - e**2 @ (LAMBDA**2 * K)
    return Study(runs=runs, lyapunov={"passivity-based": Lyapunov(run.t, V, V_dot, True)})


def adaptation_study(duration: float = 8.0) -> Study:
    """Lecture 34: Slotine-Li from half of the true parameters, not adapting, and as printed (errata N-9)."""
    robot = Robot.load("elbow")
    nominal = wrong_arm(robot)
    laws: dict[str, Any] = {
        "Slotine-Li": SlotineLi(nominal, LAMBDA, K, GAMMA),
        "the same, not adapting": SlotineLi(nominal, LAMBDA, K, adaptive=False),
        "as printed": PrintedSlotineLi(nominal, LAMBDA, K, GAMMA),
    }
    runs = {name: _track(robot, law, duration) for name, law in laws.items()}
    return Study(runs=runs, lyapunov={"Slotine-Li": runs["Slotine-Li"].lyapunov(laws["Slotine-Li"])})


def excitation_study(
    duration: float = 40.0, *, iterations: int = 100
) -> tuple[Excitation, dict[str, AdaptationConvergence]]:
    """Lecture 34's last remark: what the estimate learns at rest, on a motion of one joint and on an exciting one."""
    robot = Robot.load("elbow")
    period = 4.0
    limits = MotionLimits.of(robot, fraction=0.5)
    exciting = optimise_excitation(robot, period, 3, limits=limits, restarts=1, iterations=iterations)
    start = exciting.reference(0.0).q
    references: dict[str, Callable[[float], JointReference]] = {
        "at rest": SetPoint(start),
        "one joint moves": Sinusoid([0.0, 0.8], [0.0, 1.0 / period], centre=start),
        "exciting": exciting.reference,
    }
    nominal = wrong_arm(robot)
    return exciting, {
        name: adaptation_convergence(
            robot, nominal, reference, duration, period, Lambda=LAMBDA, K_d=K, Gamma=GAMMA, log_every=10
        )
        for name, reference in references.items()
    }


class PrintedSlotineLi:
    """Lecture 34 to the letter, ``r = dq + Lambda q~`` where ``r = dq~/dt + Lambda q~`` is meant.

    Parameters
    ----------
    robot : Robot
        The model it starts from.
    Lambda, K, Gamma : float or (n,) array_like
        As in `SlotineLi`; here too Gamma divides.
    dt : float
        Control period [s].
    """

    def __init__(self, robot: Robot, Lambda: float, K: Array, Gamma: float, dt: float = 1e-3) -> None:
        self._robot, self._gains, self._dt = robot, (Lambda, np.asarray(K), Gamma), dt
        self.reset()

    def reset(self) -> None:
        """Forget what was learnt."""
        self._estimate = self._robot.parameters.copy()
        self.signals = {"error": np.zeros(self._robot.n), "parameters": self._estimate}

    def step(self, t: float, q: Array, dq: Array, reference: JointReference) -> Array:
        """Return the torque and learn."""
        Lambda, K, Gamma = self._gains
        e, de = reference.q - q, reference.dq - dq
        v, a = reference.dq + Lambda * e, reference.ddq + Lambda * de
        r = dq - Lambda * e
        Y = self._robot.slotine_li_regressor(q, dq, v, a)
        tau: Array = Y @ self._estimate - K * r
        self._estimate = self._estimate - self._dt / Gamma * (Y.T @ r)
        self.signals = {"error": e, "parameters": self._estimate}
        return tau


def _track(robot: Robot, law: Any, duration: float) -> Result:
    start = MOTION(0.0)
    return simulate(robot, law, MOTION, duration, q0=start.q + np.array([0.3, -0.2]), log_every=LOG_EVERY)


def _quadratic(x: Array, A: Array) -> Array:
    return np.asarray(np.einsum("ki,kij,kj->k", x, A, x))
