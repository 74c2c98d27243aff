"""Lectures on control, 29 to 34, as simulations of a planar arm: stability, passivity, adaptation, excitation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array
from ...control import ComputedTorque, PassivityBased, PDGravity, SlotineLi
from ...identification import Excitation, PersistentExcitation, optimize_excitation, persistent_excitation
from ...optional import LazyModule
from ...reference import JointReference, SetPoint, Sinusoid
from ...robot import Robot
from ...simulation import SimulationResult, simulate
from ...simulation.result import Lyapunov
from ...trajectory import MotionLimits
from ..results import drawing
from ..tables import markdown

sp: Any = LazyModule("sympy", "symbolic")

GOAL = np.array([0.9, -0.6])
K_P, K_D = np.array([60.0, 30.0]), np.array([18.0, 6.0])
LAMBDA, K = 4.0, np.array([12.0, 5.0])
GAMMA = 1.0
MOTION = Sinusoid([0.8, 0.6], [0.4, 0.6], center=[0.3, 0.8], phase=[0.0, 0.5])
LOG_EVERY = 2


@dataclass(frozen=True)
class Candidate:
    """Quadratic Lyapunov candidate, ``V = x'Px``, for ``x' = A x``.

    Attributes
    ----------
    P, Q : (n, n) array
        ``V_dot = -x'Qx`` with ``Q = -(P A + A'P)``.
    """

    P: Array
    Q: Array

    @property
    def verdict(self) -> str:
        """Conclusion of Lyapunov's theorem, by eigenvalues."""
        smallest, rate = np.linalg.eigvalsh(self.P)[0], np.linalg.eigvalsh(self.Q)[0]
        tiny = 1e-12
        if smallest <= tiny or rate < -tiny:
            return "nothing"
        return "asymptotically stable" if rate > tiny else "stable; LaSalle is needed for more"


#: A of the damped mass on a spring, ``x' = A x`` (lecture 30); mass, stiffness and damping are 1
MASS_SPRING = np.array([[0.0, 1.0], [-1.0, -1.0]])


def mass_spring_candidates() -> dict[str, Candidate]:
    """Return the candidates of lecture 30: one that proves stability, and the energy, which needs LaSalle."""
    candidates = {"crossed": np.array([[0.5, 0.25], [0.25, 0.5]]), "energy": 0.5 * np.eye(2)}
    return {name: Candidate(P, -(P @ MASS_SPRING + MASS_SPRING.T @ P)) for name, P in candidates.items()}


def mass_spring_motion(x0: Array, t: Array) -> Array:
    """Return the exact states of the mass on the spring from `x0`, (k, 2)."""
    from scipy.linalg import expm

    return np.stack([expm(MASS_SPRING * time) @ x0 for time in t])


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Runs that differ in one setting.

    Attributes
    ----------
    title : str
        Lecture and its subject.
    runs : mapping of str to SimulationResult
        By this setting.
    lyapunov : mapping of str to Lyapunov
        Function and derivative of the lecture's proof, for the runs that it covers.
    """

    title: str
    runs: Mapping[str, SimulationResult]
    lyapunov: Mapping[str, Lyapunov]

    plot = drawing("plot_study")

    def table(self) -> str:
        """Return the errors in the middle and at the end, as Markdown."""
        rows = [[x, run.error_norm()[len(run.t) // 2], run.steady_state_error()] for x, run in self.runs.items()]
        return markdown(["run", "error half-way [rad]", "steady state [rad]"], rows)


def wrong_arm(robot: Robot, factor: float = 0.5) -> Robot:
    """Return the arm with all inertial parameters multiplied by `factor`: physically consistent, but wrong."""
    return robot.replace(inertial=factor * robot.inertial)


def set_point_study(duration: float = 4.0) -> Study:
    """Run lecture 31: PD control with gravity compensation, without, and with a wrong one; V of the proof."""
    robot = Robot.load("elbow")
    models = {"with gravity": robot, "without": robot.replace(gravity=np.zeros(3)), "half of gravity": wrong_arm(robot)}
    runs = {
        name: simulate(robot, PDGravity(model, K_P, K_D), SetPoint(GOAL), duration, q0=np.zeros(2), log_every=LOG_EVERY)
        for name, model in models.items()
    }
    run = runs["with gravity"]
    V = 0.5 * _quadratic(run.dq, robot.mass_matrix(run.q)) + 0.5 * run.error**2 @ K_P
    proof = {"with gravity": Lyapunov(run.t, V, -(run.dq**2) @ K_D, True)}
    return Study(title="Lecture 31: PD control with gravity compensation", runs=runs, lyapunov=proof)


def passivity_study(duration: float = 4.0) -> Study:
    """Run lectures 28 and 32: feedback linearization and passivity-based control, with a true and a wrong model."""
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
    title = "Lectures 28 and 32: computed torque and passivity-based control"
    return Study(title=title, runs=runs, lyapunov={"passivity-based": Lyapunov(run.t, V, V_dot, True)})


def adaptation_study(duration: float = 8.0) -> Study:
    """Run lecture 34: Slotine-Li from half of the true parameters, without adaptation, and as printed (errata N-9)."""
    robot = Robot.load("elbow")
    nominal = wrong_arm(robot)
    laws: dict[str, Any] = {
        "Slotine-Li": SlotineLi(nominal, LAMBDA, K, adaptation=GAMMA),
        "the same, not adapting": SlotineLi(nominal, LAMBDA, K, adaptation=None),
        "as printed": PrintedSlotineLi(nominal, LAMBDA, K, GAMMA),
    }
    runs = {name: _track(robot, law, duration) for name, law in laws.items()}
    proof = {"Slotine-Li": runs["Slotine-Li"].lyapunov(laws["Slotine-Li"])}
    return Study(title="Lecture 34: Slotine-Li adaptive control", runs=runs, lyapunov=proof)


class Convergence(NamedTuple):
    """Run of adaptive control, error of its base parameters relative to the first, and excitation of its reference."""

    result: SimulationResult
    parameter_error: Array
    excitation: PersistentExcitation


def excitation_study(duration: float = 40.0, *, iterations: int = 100) -> tuple[Excitation, dict[str, Convergence]]:
    """Run the last remark of lecture 34: convergence at rest, for a motion of one joint and for an exciting motion."""
    robot = Robot.load("elbow")
    period = 4.0
    limits = MotionLimits.of(robot, fraction=0.5)
    exciting = optimize_excitation(robot, period, 3, limits=limits, restarts=1, iterations=iterations)
    start = exciting.reference(0.0).q
    references: dict[str, Callable[[float], JointReference]] = {
        "at rest": SetPoint(start),
        "one joint moves": Sinusoid([0.0, 0.8], [0.0, 1.0 / period], center=start),
        "exciting": exciting.reference,
    }
    runs = {}
    for name, reference in references.items():
        law = SlotineLi(wrong_arm(robot), LAMBDA, K, adaptation=GAMMA)
        run = simulate(robot, law, reference, duration, 1e-3, log_every=10)
        error, desired = run.parameter_error(), [reference(float(t)) for t in run.t]
        q, dq, ddq = (np.stack([getattr(point, signal) for point in desired]) for signal in ("q", "dq", "ddq"))
        excited = persistent_excitation(robot, q, dq, ddq, run.t, period)
        runs[name] = Convergence(run, error / error[0], excited)
    return exciting, runs


class PrintedSlotineLi:
    """Controller as printed in lecture 34, with ``r = dq + Lambda q~`` instead of ``r = dq~/dt + Lambda q~``.

    Parameters
    ----------
    robot : Robot
        Initial model.
    Lambda, K, Gamma : float or (n,) array_like
        As in `SlotineLi`; Gamma divides here too.
    dt : float
        Control period [s].
    """

    def __init__(self, robot: Robot, Lambda: float, K: Array, Gamma: float, dt: float = 1e-3) -> None:
        self._robot, self._gains, self._dt = robot, (Lambda, np.asarray(K), Gamma), dt
        self.reset()

    def reset(self) -> None:
        """Reset the estimate to the initial model."""
        self._estimate = self._robot.parameters.copy()
        self.signals = {"error": np.zeros(self._robot.n), "parameters": self._estimate}

    def step(self, t: float, q: Array, dq: Array, reference: JointReference) -> Array:
        """Return the torque and update the estimate."""
        Lambda, K, Gamma = self._gains
        e, de = reference.q - q, reference.dq - dq
        v, a = reference.dq + Lambda * e, reference.ddq + Lambda * de
        r = dq - Lambda * e
        Y = self._robot.slotine_li_regressor(q, dq, v, a)
        tau: Array = Y @ self._estimate - K * r
        self._estimate = self._estimate - self._dt / Gamma * (Y.T @ r)
        self.signals = {"error": e, "parameters": self._estimate}
        return tau


def _track(robot: Robot, law: Any, duration: float) -> SimulationResult:
    start = MOTION(0.0)
    return simulate(robot, law, MOTION, duration, q0=start.q + np.array([0.3, -0.2]), log_every=LOG_EVERY)


def _quadratic(x: Array, A: Array) -> Array:
    return np.asarray(np.einsum("ki,kij,kj->k", x, A, x))


@dataclass(frozen=True)
class LectureModel:
    """Model ``D(q) ddq + C(q, dq) dq + G(q) = tau`` in the notation of the lectures.

    Attributes
    ----------
    D, C, G : sympy.Matrix
        Mass matrix, Coriolis matrix by Christoffel symbols, gravity.
    q, dq : tuple of sympy.Symbol
        Positions and velocities.
    """

    D: Any
    C: Any
    G: Any
    q: tuple[Any, ...]
    dq: tuple[Any, ...]

    def latex(self, which: str) -> str:
        """Return one of the three as LaTeX, ``M = ...``."""
        return f"{which} = {sp.latex(getattr(self, which))}"


def _short(expression: Any) -> Any:
    """Expand, apply trigonometric identities, collect: faster than simplify, and sufficient here."""
    return sp.factor_terms(sp.trigsimp(sp.expand(expression)))


def euler_lagrange(kinetic: Any, potential: Any, q: Sequence[Any], dq: Sequence[Any]) -> LectureModel:
    """Derive D, C and G from energies, as in lecture 25.

    ``d_ij = d2 T / d dq_i d dq_j``, ``c_ijk = (d d_kj/d q_i + d d_ki/d q_j - d d_ij/d q_k) / 2``,
    ``C_kj = sum_i c_ijk dq_i``, ``g_k = d U / d q_k``.
    """
    n = len(q)
    D = sp.Matrix(n, n, lambda i, j: _short(sp.diff(kinetic, dq[i], dq[j])))

    def c(i: int, j: int, k: int) -> Any:
        return (sp.diff(D[k, j], q[i]) + sp.diff(D[k, i], q[j]) - sp.diff(D[i, j], q[k])) / 2

    C = sp.Matrix(n, n, lambda k, j: _short(sum(c(i, j, k) * dq[i] for i in range(n))))
    return LectureModel(D, C, sp.Matrix([sp.diff(potential, x) for x in q]), tuple(q), tuple(dq))


def cart_pendulum_by_hand() -> LectureModel:
    """Return the model of lecture 26: cart m_1 at x, pendulum m_2, center l from the pivot, phi from upright."""
    x, phi, dx, dphi = sp.symbols("x phi xdot phidot", real=True)
    m1, m2, length, inertia, g = sp.symbols("m_1 m_2 l I_zz g", positive=True)
    vertical, along = length * sp.cos(phi), x - length * sp.sin(phi)
    velocity = [sp.diff(r, x) * dx + sp.diff(r, phi) * dphi for r in (vertical, along)]
    kinetic = m1 * dx**2 / 2 + m2 * (velocity[0] ** 2 + velocity[1] ** 2) / 2 + inertia * dphi**2 / 2
    return euler_lagrange(kinetic, m2 * g * vertical, (x, phi), (dx, dphi))


def cart_pendulum_by_package() -> LectureModel:
    """Return the bundled ``cart_pendulum``, recorded, in the notation of the lecture."""
    hand = cart_pendulum_by_hand()
    model = Robot.load("cart_pendulum").symbolic(
        inertial=True, inertial_as="DYN", gravity=[0, 0, 1], dh=[0, 0, 0, 0, 1, 0, 0, 0]
    )
    m1, m2, length, inertia, g = sp.symbols("m_1 m_2 l I_zz g", positive=True)
    letters = {"m1": m1, "m2": m2, "c_x2": length - sp.Symbol("a2", real=True), "c_y2": 0, "Ic_zz2": inertia, "g_z": -g}
    return _in_letters(model, letters, hand)


def printed_cart_pendulum_gravity() -> Any:
    """Return G as printed in lecture 26, with the cosine (errata N-1)."""
    hand = cart_pendulum_by_hand()
    m2, length, g = sp.symbols("m_2 l g", positive=True)
    return sp.Matrix([0, -m2 * length * g * sp.cos(hand.q[1])])


def pendulum_frame(lecture: int) -> Any:
    """Return R_2^0 of the pendulum as printed in lecture 26 or 27; the first is a reflection (errata N-1)."""
    phi = cart_pendulum_by_hand().q[1]
    c, s = sp.cos(phi), sp.sin(phi)
    return sp.Matrix([[c, -s, 0], [0, 0, 1], [s, c, 0] if lecture == 26 else [-s, -c, 0]])


def planar_arm_by_hand() -> LectureModel:
    """Return the model of lecture 27: planar arm, two revolute joints, centers of mass l_c1, l_c2 from the joints."""
    q, dq = sp.symbols("q_1 q_2", real=True), sp.symbols("qdot_1 qdot_2", real=True)
    m, inertia = sp.symbols("m_1 m_2", positive=True), sp.symbols("I_z1 I_z2", positive=True)
    l1, g = sp.symbols("l_1 g", positive=True)
    center = sp.symbols("l_c1 l_c2", positive=True)
    first = sp.Matrix([sp.cos(q[0]), sp.sin(q[0])])
    second = sp.Matrix([sp.cos(q[0] + q[1]), sp.sin(q[0] + q[1])])
    positions = (center[0] * first, l1 * first + center[1] * second)
    rates = (dq[0], dq[0] + dq[1])
    kinetic = sum(
        m[i] * (r.jacobian(sp.Matrix(q)) * sp.Matrix(dq)).dot(r.jacobian(sp.Matrix(q)) * sp.Matrix(dq)) / 2
        + inertia[i] * rates[i] ** 2 / 2
        for i, r in enumerate(positions)
    )
    potential = sum(m[i] * g * r[1] for i, r in enumerate(positions))
    return euler_lagrange(kinetic, potential, q, dq)


def planar_arm_by_package() -> LectureModel:
    """Return the bundled ``elbow``, recorded, in the notation of the lecture."""
    model = Robot.load("elbow").symbolic(inertial=True, inertial_as="DYN", gravity=[0, 1, 0], dh=[1, 0, 0, 0] * 2)
    m, inertia = sp.symbols("m_1 m_2", positive=True), sp.symbols("I_z1 I_z2", positive=True)
    center, (l1, g) = sp.symbols("l_c1 l_c2", positive=True), sp.symbols("l_1 g", positive=True)
    a = sp.symbols("a1 a2", real=True)
    letters = {"g_y": -g, "a1": l1}
    for i in range(2):
        # frames are at the far ends of the links, centers of mass are measured from the near ends
        letters |= {f"m{i + 1}": m[i], f"c_x{i + 1}": center[i] - a[i], f"c_y{i + 1}": 0, f"Ic_zz{i + 1}": inertia[i]}
    return _in_letters(model, letters, planar_arm_by_hand())


def _in_letters(model: Any, letters: Mapping[str, Any], hand: LectureModel) -> LectureModel:
    """Replace names in the package's three matrices, those of the centers first, because these introduce lengths."""
    joints = {f"q{i + 1}": q for i, q in enumerate(hand.q)} | {f"dq{i + 1}": v for i, v in enumerate(hand.dq)}
    parts = []
    for expression in (model.mass_matrix(), model.coriolis_matrix(), model.gravity_vector()):
        matrix = sp.Matrix(model.to_sympy(expression))
        for names in ({k: v for k, v in letters.items() if k != "a1"}, letters, joints):
            named = {symbol: names[symbol.name] for symbol in matrix.free_symbols if symbol.name in names}
            matrix = matrix.subs(named)
        parts.append(matrix.applyfunc(_short))
    D, C, G = parts
    return LectureModel(D, C, G, hand.q, hand.dq)


def difference(one: LectureModel, other: LectureModel) -> dict[str, Any]:
    """Return the simplified differences of D, C and G, zero where the models agree."""
    return {name: (getattr(one, name) - getattr(other, name)).applyfunc(_short) for name in ("D", "C", "G")}


def kinetic_energy_matrix(robot: Robot, q: Any, *, printed: bool = False) -> Any:
    """Return the mass matrix ``sum_i m_i J_v' J_v + J_w' R I R' J_w`` from Jacobians of centers of mass (lecture 25).

    Parameters
    ----------
    robot : Robot
        Any robot.
    q : (n,) array_like
        Joint positions.
    printed : bool
        If True, with J_w' as the last factor, as printed in lecture 25 and its summary (errata N-2).

    Raises
    ------
    ValueError
        If `printed`, except for three joints: the shapes of the factors differ.
    """
    from ...model.inertia import dyn_from_reg

    q = np.asarray(q, dtype=np.float64)
    D = np.zeros((robot.n, robot.n))
    for link, (m, *rest) in enumerate(dyn_from_reg(robot.inertial), 1):
        T, J = robot.forward_kinematics(q, link), robot.jacobian(q, link)
        R, lever = T[:3, :3], T[:3, :3] @ np.array(rest[:3])
        J_w = J[3:]
        J_v = J[:3] + np.cross(J_w.T, lever).T
        about_center = np.empty((3, 3))
        about_center[np.triu_indices(3)] = rest[3:]
        about_center.T[np.triu_indices(3)] = rest[3:]
        D += m * J_v.T @ J_v + J_w.T @ R @ about_center @ R.T @ (J_w.T if printed else J_w)
    return D
