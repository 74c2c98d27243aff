"""Measures of excitation, and motions that excite the base parameters."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, one_of, positive, whole
from ..errors import ThunderError
from ..model.parameters import UnknownParameters
from ..parallel import Workers, map_items
from ..progress import percentage, reporting
from ..robot import Robot
from ..trajectory import FourierSeries, MotionLimits
from .signals import instants

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: instants whose regressors are in memory at a time
_CHUNK = 512


class PersistentExcitation(NamedTuple):
    """Bounds of the integral of Y'Y over a moving window, from `persistent_excitation`.

    Attributes
    ----------
    t : (m,) array
        Starts of the windows [s].
    lower, upper : (m,) array
        Smallest and largest eigenvalue of the integral, the best l1 and l2 of each window.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> excitation = th.identification.persistent_excitation(robot, q, dq, ddq, t, window=5.0)
    >>> bool(excitation.l1 > 0.0), bool(excitation.l2 == excitation.upper.max())
    (True, True)
    """

    t: Array
    lower: Array
    upper: Array

    @property
    def l1(self) -> float:
        """Minimum of `lower`; if positive, the motion is persistently exciting over the given instants."""
        return float(self.lower.min())

    @property
    def l2(self) -> float:
        """Maximum of `upper`."""
        return float(self.upper.max())


class Conditioning(NamedTuple):
    """Condition numbers of a stacked base regressor.

    Attributes
    ----------
    unscaled : float
        Condition number of the unscaled columns; it depends on the units of the parameters.
    scaled : float
        Condition number of the columns scaled to unit length.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> condition = th.identification.base_regressor_condition(robot, q, dq, ddq)
    >>> round(condition.unscaled, 1), round(condition.scaled, 1)
    (191.4, 92.9)
    """

    unscaled: float
    scaled: float


def persistent_excitation(
    robot: Robot,
    q: npt.ArrayLike,
    dq: npt.ArrayLike,
    ddq: npt.ArrayLike,
    t: npt.ArrayLike,
    window: float,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    *,
    windows: int = 200,
) -> PersistentExcitation:
    """Compute bounds of persistent excitation: ``l1 I <= integral of Y'Y from t to t + window <= l2 I``.

    Parameters
    ----------
    robot : Robot
        Robot; its parameters have no effect.
    q, dq, ddq : (k, n) array_like
        Motion [rad or m] and its time derivatives.
    t : (k,) array_like
        Instants [s], increasing.
    window : float
        Length l0 of the window [s], at least a sampling period.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters whose columns of Y are used, see `Robot.unknown`; default the base parameters. `lower` is zero for
        linearly dependent columns.
    windows : int
        Largest number of windows, spread over the motion.

    Returns
    -------
    PersistentExcitation
        Eigenvalues, accurate to about 1e-15 of the largest one of the whole motion; smaller ones are rounding.

    Notes
    -----
    D4.2, section 3.2.3; Thunder article, eq. 36, both for all t >= 0 (docs/errata.md, T-9). Integrals by the
    trapezoidal rule.

    Examples
    --------
    An arm at rest excites only the parameters of gravity.

    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> rest = np.zeros((501, 2))
    >>> pe = th.identification.persistent_excitation(robot, rest, rest, rest, t, window=5.0)
    >>> bool(pe.l1 <= 1e-12 * pe.l2)
    True
    """
    times = instants(t)
    motion = [array(x, (times.size, robot.n), name) for x, name in ((q, "q"), (dq, "dq"), (ddq, "ddq"))]
    window = float(array(window, (), "window"))
    if not 0.0 < window <= (times[-1] - times[0]) * (1.0 + 1e-9):
        raise ThunderError(
            f"window must be more than 0 and at most the duration, {times[-1] - times[0]:g} s, got {window:g}"
        )
    if (longest := float(np.diff(times).max())) * (1.0 - 1e-9) > window:
        raise ThunderError(f"window must be no shorter than a sample, {longest:g} s, got {window:g}")
    whole(windows, "windows", 1)
    columns = robot.base_parameters().independent if unknown is None else robot.unknown(unknown).indices
    last = max(int(np.searchsorted(times, times[-1] - window * (1.0 - 1e-9), side="right")) - 1, 0)
    starts = np.unique(np.linspace(0, last, min(int(windows), last + 1)).round().astype(int))
    ends = np.minimum(np.searchsorted(times, times[starts] + window * (1.0 - 1e-9)), times.size - 1)
    marks = np.unique(np.concatenate([starts, ends]))
    sums, total = np.zeros((marks.size, columns.size, columns.size)), np.zeros((columns.size, columns.size))
    for first, stop in itertools.pairwise(np.union1d(marks, np.arange(0, marks[-1], _CHUNK))):
        part = slice(first, stop + 1)
        step = np.diff(times[part])
        weight = 0.5 * (np.append(step, 0.0) + np.append(0.0, step))  # of the trapezoidal rule
        Y = robot.regressor(*(x[part] for x in motion))[..., columns]
        W = (np.sqrt(weight)[:, None, None] * Y).reshape(-1, columns.size)
        total = total + W.T @ W
        sums[np.searchsorted(marks, stop)] = total  # that of a mark overwrites those before it
    inside = sums[np.searchsorted(marks, ends)] - sums[np.searchsorted(marks, starts)]
    values = np.maximum(np.linalg.eigvalsh(inside), 0.0)
    return PersistentExcitation(times[starts], values[:, 0], values[:, -1])


def base_regressor_condition(
    robot: Robot,
    q: npt.ArrayLike,
    dq: npt.ArrayLike,
    ddq: npt.ArrayLike,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
) -> Conditioning:
    """Compute the condition numbers of the base regressor stacked over a motion.

    Parameters
    ----------
    robot : Robot
        Robot; its parameters have no effect.
    q, dq, ddq : (k, n) array_like
        Motion [rad or m] and its time derivatives.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters whose base parameters are used, the others being known; default all.

    Returns
    -------
    Conditioning
        Condition numbers, infinite if the motion does not excite a base parameter.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> round(th.identification.base_regressor_condition(robot, q, dq, ddq, unknown="link2").scaled, 1)
    10.6
    """
    motion = [array(x, (None, robot.n), name) for x, name in ((q, "q"), (dq, "dq"), (ddq, "ddq"))]
    keep = robot.unknown(unknown).base_parameters().independent
    W = robot.regressor(*motion)[..., keep].reshape(-1, keep.size)
    return condition_numbers(W)


def condition_numbers(W: Array) -> Conditioning:
    """Return the condition numbers of a matrix, unscaled and with columns scaled to unit length."""
    if W.shape[0] < W.shape[1]:
        return Conditioning(np.inf, np.inf)
    R = np.asarray(np.linalg.qr(W, mode="r"))  # has the singular values of W and is small
    lengths = np.linalg.norm(R, axis=0)
    if not lengths.all():
        return Conditioning(np.inf, np.inf)
    return Conditioning(_condition(R), _condition(R / lengths))


def _condition(R: Array) -> float:
    s = np.linalg.svd(R, compute_uv=False)
    return float(s[0] / s[-1]) if s[-1] > np.finfo(np.float64).eps * s[0] else np.inf


#: instants per period of the highest harmonic, in the optimization and for the verification of limits
_SAMPLES, _FINE = 20, 200

#: step of central differences in q, dq and ddq: regressors are smooth and of size one
_STEP = 1e-5


def _spectrum(W: Array) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors of W'W, with half of the digits of an SVD of W and quicker."""
    # a sum of small products, which BLAS does not split over threads
    values, vectors = np.linalg.eigh(np.sum(np.swapaxes(W, 1, 2) @ W, axis=0))
    return np.maximum(values, np.finfo(np.float64).eps * values[-1]), vectors


def log_condition(W: Array) -> tuple[float, Array]:
    """Return the log condition number of stacked regressors, (k, n, b), and its gradient with respect to them."""
    values, V = _spectrum(W)
    low, high = V[:, 0], V[:, -1]
    gradient = (W @ high)[..., None] * (high / values[-1]) - (W @ low)[..., None] * (low / values[0])
    return float(0.5 * np.log(values[-1] / values[0])), gradient


def d_optimality(W: Array) -> tuple[float, Array]:
    """Return -log det(W'W) per column and its gradient; small values mean small confidence ellipsoids."""
    values, V = _spectrum(W)
    return float(-np.log(values).mean()), W @ ((V / values) @ V.T * (-2.0 / values.size))


CRITERIA: dict[str, Callable[[Array], tuple[float, Array]]] = {"condition": log_condition, "d_optimal": d_optimality}


def _central_differences(function: Callable[..., Array], states: npt.ArrayLike) -> Array:
    """Differentiate a batched function by the entries of q, dq and ddq: (3, ..., n) for values (...)."""
    states = np.asarray(states)
    n = states.shape[2]
    steps = _STEP * np.eye(3 * n).reshape(3 * n, 3, 1, n)
    found = np.array([function(*(states + step)) - function(*(states - step)) for step in steps]) / (2.0 * _STEP)
    return np.moveaxis(found.reshape(3, n, *found.shape[1:]), 1, -1)


def criterion_by_states(
    robot: Robot, columns: npt.NDArray[np.intp], criterion: str, states: npt.ArrayLike
) -> tuple[float, Array]:
    """Return the criterion of the stacked columns of Y, and its gradients by q, dq and ddq, (3, k, n)."""
    Y = robot.regressor(*np.asarray(states))
    scale = np.sqrt(len(Y))
    value, by_W = CRITERIA[criterion](Y[..., columns] / scale)
    weights = np.zeros_like(Y)
    weights[..., columns] = by_W / scale
    return value, _central_differences(lambda *at: np.einsum("kij,kij->k", weights, robot.regressor(*at)), states)


def torques_by_states(robot: Robot, states: npt.ArrayLike) -> tuple[Array, Array]:
    """Return torques (k, n), and their derivatives by q, dq and ddq, (3, k, n, n) with the state's joint last."""
    return robot.inverse_dynamics(*np.asarray(states)), _central_differences(robot.inverse_dynamics, states)


def soft_maximum(x: Array, power: int = 32) -> tuple[Array, Array]:
    """Return a smooth upper bound of the absolute values of each column, and its gradient.

    Parameters
    ----------
    x : (k, n) array
        Signals.
    power : int
        Even exponent p: the p-norm exceeds the maximum by at most a factor k^(1/p), and by little if x peaks rarely.

    Returns
    -------
    value : (n,) array
        p-norms.
    gradient : (k, n) array
        Gradient with respect to the entries of x.
    """
    largest = np.abs(x).max(axis=0)
    relative = np.abs(x) / np.where(largest > 0.0, largest, 1.0)
    relative[:, largest == 0.0] = 1.0
    total = np.sum(relative**power, axis=0)
    gradient: Array = np.sign(x) * relative ** (power - 1) * total ** (1.0 / power - 1.0)
    return largest * total ** (1.0 / power), gradient


@dataclass(frozen=True)
class FourierBasis:
    """Fourier series that start and end at rest, sampled at `samples` instants of one period.

    With coefficients c, (m, n) with m = 2 H - 2, the motion is ``q = q0 + S[0] c``, ``dq = S[1] c``, ``ddq = S[2] c``.

    Attributes
    ----------
    period : float
        Period [s].
    harmonics : int
        Number of harmonics H, at least 2.
    samples : int
        Number of instants, evenly spaced, without the end of the period.
    """

    period: float
    harmonics: int
    samples: int

    @cached_property
    def frequencies(self) -> Array:
        """``w k``, (H,) [rad/s]."""
        return np.asarray(2.0 * np.pi / self.period * np.arange(1.0, self.harmonics + 1.0))

    @cached_property
    def _at_rest(self) -> Array:
        """Orthonormal columns of amplitudes (sines above cosines) with velocity and acceleration zero at t = 0."""
        from scipy.linalg import null_space

        w, zero = self.frequencies, np.zeros(self.harmonics)
        return np.asarray(null_space(np.block([[w, zero], [zero, w**2]])))

    @cached_property
    def S(self) -> Array:
        """Shapes of position, velocity and acceleration, (3, samples, m)."""
        w = self.frequencies
        phase = np.outer(np.arange(self.samples) * (self.period / self.samples), w)
        sine, cosine = np.sin(phase), np.cos(phase)
        shapes = [[sine, -cosine], [cosine * w, sine * w], [-sine * w**2, cosine * w**2]]
        return np.array([np.hstack(pair) for pair in shapes]) @ self._at_rest

    def states(self, q0: Array, c: Array) -> Array:
        """Return position, velocity and acceleration at the instants, (3, samples, n)."""
        states = self.S @ c
        states[0] += q0
        return np.asarray(states)

    def series(self, q0: Array, c: Array) -> FourierSeries:
        """Return the reference with these coefficients."""
        sine, cosine = np.split(self._at_rest @ c, 2)
        w = self.frequencies[:, None]
        return FourierSeries((sine * w).T, (cosine * w).T, q0, 1.0 / self.period)


@dataclass(frozen=True)
class ExcitationProblem:
    """Optimization problem in x: q0 and coefficients, both as fractions of the half range of each joint."""

    robot: Robot
    columns: npt.NDArray[np.intp]
    criterion: str
    limits: MotionLimits
    basis: FourierBasis
    fine: FourierBasis

    def unpack(self, x: Array) -> tuple[Array, Array]:
        """Return q0 and the coefficients of x."""
        table = x.reshape(-1, self.robot.n) * self.limits.half_range
        return self.limits.center + table[0], table[1:]

    def pack_gradient(self, gradients: Array) -> Array:
        """Return the gradient by x of a function with these gradients by the states, (3, k, n)."""
        c = np.tensordot(self.basis.S, gradients, ([0, 1], [0, 1]))
        return np.asarray((np.concatenate([gradients[:1].sum(axis=1), c]) * self.limits.half_range).ravel())

    def start(self, rng: np.random.Generator) -> Array:
        """Draw a random motion, well within the limits of position, velocity and acceleration."""
        table = rng.normal(size=(self.basis.S.shape[2] + 1, self.robot.n))
        table[0] = rng.uniform(-0.3, 0.3, self.robot.n)
        limits = self.limits
        shares = (0.6 * limits.half_range, 0.9 * limits.velocity, 0.9 * limits.acceleration)
        motion = zip(self.basis.S @ (table[1:] * limits.half_range), shares, strict=True)
        table[1:] /= np.max([soft_maximum(state / share)[0] for state, share in motion], axis=0)
        return table.ravel()

    def objective(self, x: Array) -> tuple[float, Array]:
        """Return the criterion and its gradient."""
        states = self.basis.states(*self.unpack(x))
        value, gradients = criterion_by_states(self.robot, self.columns, self.criterion, states)
        return value, self.pack_gradient(gradients)

    def _relative(self, states: Array) -> list[Array]:
        """Return position, velocity and acceleration relative to their limits."""
        q, dq, ddq = states
        limits = self.limits
        return [(q - limits.center) / limits.half_range, dq / limits.velocity, ddq / limits.acceleration]

    def _gradients(self, states: Array) -> Iterator[tuple[float, Array]]:
        """Yield the soft maximum of each limited signal over its limit, and its gradients by the states."""
        limits, none = self.limits, np.zeros_like(states)
        for which, size in enumerate((limits.half_range, limits.velocity, limits.acceleration)):
            value, gradient = soft_maximum(self._relative(states)[which])
            for joint in np.flatnonzero(np.isfinite(size)):
                parts = none.copy()
                parts[which, :, joint] = gradient[:, joint] / size[joint]
                yield value[joint], parts
        limited = np.flatnonzero(np.isfinite(limits.effort))
        if limited.size:
            tau, by_states = torques_by_states(self.robot, states)
            value, gradient = soft_maximum(tau / limits.effort)
            for joint in limited:
                pull = gradient[:, joint, None] / limits.effort[joint]
                yield value[joint], pull * by_states[:, :, joint]

    def constraints(self, x: Array) -> tuple[Array, Array]:
        """Return one minus the soft maximum of each signal over its limit, and the derivatives by x."""
        values, gradients = zip(*self._gradients(self.basis.states(*self.unpack(x))), strict=True)
        return 1.0 - np.array(values), -np.array([self.pack_gradient(each) for each in gradients])

    def search(
        self, iterations: int, x: Array, report: Callable[[float], object] = lambda _: None
    ) -> tuple[Array, Array]:
        """Minimize from x; return a solution within the limits if possible, and the history of the criterion."""
        from scipy.optimize import minimize

        values, history = [0.0], [self.objective(x)[0]]

        def objective(at: Array) -> tuple[float, Array]:
            values[0], gradient = self.objective(at)
            return values[0], gradient

        def callback(_: Array) -> None:
            history.append(values[0])
            report(len(history) / (iterations + 1))

        slsqp: Any = minimize  # its stubs do not allow constraints together with jac=True
        value, jacobian = (lambda at, k=k: self.constraints(at)[k] for k in range(2))
        solution = slsqp(
            objective,
            x,
            jac=True,
            method="SLSQP",
            constraints={"type": "ineq", "fun": value, "jac": jacobian},
            options={"maxiter": int(iterations), "ftol": 1e-6},
            callback=callback,
        )
        report(1.0)
        found = np.array(history)
        return self.shrunk(solution.x), np.exp(found) if self.criterion == "condition" else found

    def margins(self, x: Array) -> dict[str, Array]:
        """Return the margins to each limit on the fine grid, relative to the limit."""
        states = self.fine.states(*self.unpack(x))
        signals = [*self._relative(states), self.robot.inverse_dynamics(*states) / self.limits.effort]
        names = ("position", "velocity", "acceleration", "effort")
        return {name: 1.0 - np.abs(values).max(axis=0) for name, values in zip(names, signals, strict=True)}

    def fine_margin(self, x: Array) -> float:
        """Return the smallest of all margins."""
        return float(min(values.min() for values in self.margins(x).values()))

    def shrunk(self, x: Array) -> Array:
        """Scale the motion down until it keeps its limits, which the optimizer may slightly violate."""
        table = x.reshape(-1, self.robot.n).copy()
        table[0] = np.clip(table[0], -0.95, 0.95)
        for _ in range(20):
            margin = self.fine_margin(table.ravel())
            if margin >= 0.0:
                break
            table[1:] *= max(1.0 + 1.1 * margin, 0.5)
        return table.ravel()


@dataclass(frozen=True, kw_only=True, eq=False)
class Excitation:
    """Exciting motion, from `optimize_excitation`.

    Attributes
    ----------
    robot : Robot
        Robot whose parameters the motion excites.
    reference : FourierSeries
        Periodic motion, at rest at the start and end of a period.
    duration : float
        Length of one period [s].
    criterion : str
        Minimized criterion.
    history : tuple of (i,) array
        Criterion after each iteration of each restart: the condition number, or minus the logarithm of det(W'W) per
        base parameter.
    condition : Conditioning
        Condition numbers of the stacked base regressor.
    limits : MotionLimits
        Limits of the motion.
    margins : dict of str to (n,) array
        Remaining fraction of each limit, by ``position``, ``velocity``, ``acceleration`` and ``effort``.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.identification import optimize_excitation
    >>> from thunder_py.trajectory import MotionLimits
    >>> limits = MotionLimits(lower=[-1.0, -1.0], upper=[1.0, 1.0], velocity=3.0)
    >>> excitation = optimize_excitation(th.Robot.load("elbow"), 5.0, 2, limits=limits, restarts=1, iterations=20)
    >>> sorted(excitation.margins), bool(abs(excitation.reference(0.0).dq).max() < 1e-9)
    (['acceleration', 'effort', 'position', 'velocity'], True)
    """

    robot: Robot
    reference: FourierSeries
    duration: float
    criterion: str
    history: tuple[Array, ...]
    condition: Conditioning
    limits: MotionLimits
    margins: dict[str, Array]

    @property
    def margin(self) -> float:
        """Smallest of all margins; negative if a limit is violated."""
        return float(min(values.min() for values in self.margins.values()))

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Plot positions and velocities relative to their limits, and the history of the criterion.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"position"``, ``"velocity"`` and ``"criterion"``; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_excitation

        return plot_excitation(self, axes=axes)

    def plot_path(self, *, ax: Axes | None = None) -> Axes:
        """Plot the path of the end effector in 3-D.

        Parameters
        ----------
        ax : Axes3D, optional
            Default a new figure.

        Returns
        -------
        Axes3D
            The panel drawn.
        """
        from .plot import plot_excitation_path

        return plot_excitation_path(self, ax=ax)

    def __repr__(self) -> str:
        """Robot, duration, harmonics, condition number and margin."""
        return (
            f"<Excitation of {self.robot.name!r}: {self.duration:g} s, {self.reference.a.shape[1]} harmonics, "
            f"condition {self.condition.unscaled:.3g}, least margin {self.margin:.2g}>"
        )


def optimize_excitation(
    robot: Robot,
    duration: float = 10.0,
    harmonics: int = 5,
    *,
    limits: MotionLimits | None = None,
    criterion: Literal["condition", "d_optimal"] = "condition",
    unknown: Any = None,
    seed: int = 0,
    restarts: int = 3,
    iterations: int = 150,
    workers: Workers = 1,
    progress: bool | Callable[[float], object] = False,
) -> Excitation:
    """Optimize a Fourier series for the excitation of the base parameters.

    Parameters
    ----------
    robot : Robot
        Robot; its parameters have an effect only with torque limits.
    duration : float
        Length of one period [s].
    harmonics : int
        Number of harmonics, 2 to 50.
    limits : MotionLimits, optional
        Default ``MotionLimits.of(robot)``: positions and velocities.
    criterion : {"condition", "d_optimal"}
        Condition number of the base regressor W with unscaled columns; or minus log det(W'W), which also rewards large
        torques.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters whose base parameters are excited; default all.
    seed : int
        Seed of the random starts.
    restarts : int
        Number of local searches from random starts; the best result is returned.
    iterations : int
        Largest number of iterations of each search.
    workers : Workers
        Where the searches are made, see `run_tasks`. The result does not depend on it.
    progress : bool or callable
        True shows a bar on terminals and in notebooks; a callable gets the completed fraction, 0 to 1.

    Returns
    -------
    Excitation
        Motion verified on a fine grid to keep its limits.

    Raises
    ------
    ThunderError
        If no motion within the limits was found.

    Notes
    -----
    Sequential quadratic programming (SciPy's SLSQP) over the linear space of coefficients with start and end at rest.
    Each limit of each joint is one smooth constraint on a p-norm over the period, which is never below the maximum.
    Gradients use singular vectors of W and central differences of the batched regressor by the state.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.identification import optimize_excitation
    >>> from thunder_py.trajectory import MotionLimits
    >>> limits = MotionLimits(lower=[-1.0, -1.0], upper=[1.0, 1.0], velocity=3.0)
    >>> excitation = optimize_excitation(th.Robot.load("elbow"), 5.0, 2, limits=limits, restarts=1, iterations=20)
    >>> excitation.margin >= 0.0, len(excitation.history)
    (True, 1)
    """
    one_of(criterion, CRITERIA, "criterion")
    duration, harmonics = positive(duration, "duration"), whole(harmonics, "harmonics", 2, 50)
    limits = MotionLimits.of(robot) if limits is None else limits
    if limits.lower.size != robot.n:
        raise ThunderError(f"limits must be of {robot.n} joints, got {limits.lower.size}")
    columns = robot.unknown(unknown).base_parameters().independent
    if columns.size == 0:
        raise ThunderError("unknown must hold a parameter that torques depend on")
    grids = (FourierBasis(duration, harmonics, density * harmonics) for density in (_SAMPLES, _FINE))
    problem = ExcitationProblem(robot, columns, criterion, limits, *grids)
    for name, value in (("restarts", restarts), ("iterations", iterations)):
        whole(value, name, 1)
    rng = np.random.default_rng(seed)
    starts = [problem.start(rng) for _ in range(restarts)]
    with reporting(progress, percentage()) as report:
        if workers == 1:  # with reports from within the searches
            inside = [lambda done, k=k: report((k + done) / restarts) for k in range(restarts)]
            found = [problem.search(iterations, x, told) for x, told in zip(starts, inside, strict=True)]
        else:
            found = map_items(partial(problem.search, iterations), starts, workers=workers, progress=report)
    admitted = [(problem.objective(x)[0], k) for k, (x, _) in enumerate(found) if problem.fine_margin(x) >= 0.0]
    if not admitted:
        raise ThunderError("limits must admit a motion, and none was found: widen the limits, or try more restarts")
    best = found[min(admitted)[1]][0]
    q0, c = problem.unpack(best)
    W = robot.regressor(*problem.basis.states(q0, c))[..., columns]
    return Excitation(
        robot=robot,
        reference=problem.basis.series(q0, c),
        duration=duration,
        criterion=criterion,
        history=tuple(history for _, history in found),
        condition=condition_numbers(W.reshape(-1, columns.size)),
        limits=limits,
        margins=problem.margins(best),
    )
