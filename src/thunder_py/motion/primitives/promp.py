"""Probabilistic movement primitives: a normal distribution of the weights of a basis, and its conditionals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, is_number, nonnegative, numbers, seed_of, whole
from ...errors import ThunderError
from ...recordings.motion_set import MotionSet
from ...recordings.plausibility import Samples, check_plausible
from ...recordings.processing.over_sets import require_no_gaps
from ...recordings.trial import Trial
from ...trajectory.hermite import duration_of
from ...values import Estimator
from ..estimator_file import read_estimator, scalar, texts, write_estimator
from .bases import BasisMotion, GaussianBasis

#: tolerance of observations without noise, relative to the largest value among them
_MET = 1e-6


@dataclass(frozen=True)
class Observation:
    """Observation of a motion at one phase.

    Attributes
    ----------
    tau : float
        Phase, 0 to 1.
    value : array_like, shape (d,)
        Position, or a time derivative of it; NaN leaves a degree of freedom open.
    derivative : int
        0 position, 1 velocity, 2 acceleration, 3 jerk, per s with the duration of `ProMP.condition`.
    noise : float
        Standard deviation of `value`, in its unit; 0 means exact.
    """

    tau: float
    value: npt.ArrayLike
    derivative: int = 0
    noise: float = 0.0


class ProMP(Estimator):
    """Probabilistic movement primitive (Paraschos, Daniel, Peters and Neumann 2013, 2018).

    Parameters
    ----------
    n_basis : int
        Number of basis functions for each degree of freedom.
    overlap : float
        Overlap of neighboring functions, see `GaussianBasis`.
    regularization : float
        Ridge parameter of the regression of a demonstration's weights, which minimize
        |x - Phi w|^2 + regularization |w|^2 over its samples.
    variance_floor : float
        Variance added to every weight, relative to the mean variance of weights over demonstrations and basis
        functions. It permits conditioning on directions in which few demonstrations do not vary.

    Attributes
    ----------
    basis : GaussianBasis
        Basis functions of the phase.
    dofs : tuple of str
        Names of the coordinates of the demonstrations; empty for an array.
    mean_weights_ : ndarray, shape (n_basis, d)
        Mean weights, in the unit of x.
    covariance_ : ndarray, shape (d n_basis, d n_basis)
        Covariance of the weights, all of the first degree of freedom before those of the second.
    duration_ : float
        Mean duration of the demonstrations [s]; 1 for an array.

    Notes
    -----
    x(tau) = Phi(tau) w with w normally distributed and normalized Gaussians Phi of the phase tau = t / T. Weights of
    all degrees of freedom are correlated. Parameters and results follow scikit-learn's conventions.

    Examples
    --------
    >>> from thunder_py.motion import ProMP
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> promp = ProMP(n_basis=10).fit(minimum_jerk_reaches(20, seed=1))
    >>> promp.mean(0.5).shape, promp.covariance(0.5).shape
    ((3,), (3, 3))
    >>> motion = promp.plan([0.1, 0.2, 0.3], [0.4, 0.2, 0.1], duration=1.0)
    >>> motion.position(1.0).round(3).tolist()
    [0.4, 0.2, 0.1]
    """

    mean_weights_: Array
    covariance_: Array
    duration_: float
    _dofs: tuple[str, ...] = ()

    def __init__(
        self,
        n_basis: int = 15,
        *,
        overlap: float = 0.7,
        regularization: float = 1e-9,
        variance_floor: float = 1e-6,
    ) -> None:
        self.n_basis = n_basis
        self.overlap = overlap
        self.regularization = regularization
        self.variance_floor = variance_floor

    @classmethod
    def from_weights(
        cls, mean: npt.ArrayLike, covariance: npt.ArrayLike, *, overlap: float = 0.7, dofs: Iterable[str] = ()
    ) -> ProMP:
        """Return a primitive with mean weights (n_basis, d) and their covariance (d n_basis, d n_basis)."""
        weights = array(mean, (None, None), "mean")
        size = weights.size
        result = cls(len(weights), overlap=overlap)
        result._dofs, result.duration_ = tuple(dofs), 1.0
        result.mean_weights_, result.covariance_ = weights, array(covariance, (size, size), "covariance")
        return result

    @property
    def basis(self) -> GaussianBasis:
        """Basis functions of the phase, n_basis of them."""
        return GaussianBasis(self.n_basis, self.overlap)

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the coordinates of the demonstrations; empty for arrays."""
        return self._dofs

    def fit(self, motions: MotionSet | Iterable[Trial] | npt.ArrayLike, y: object = None) -> ProMP:
        """Estimate the distribution of weights from demonstrations.

        Parameters
        ----------
        motions : MotionSet, trials, or array_like, shape (R, T, d)
            Trials may differ in duration and sampling; each has its own phase. Samples of an array are equally spaced
            in the phase.
        y : object
            Ignored; scikit-learn passes it.

        Returns
        -------
        ProMP
            The fitted primitive itself.

        Warns
        -----
        RecordingWarning
            For units, times and gaps that can hardly be right, see `recordings.check_plausible`.

        Raises
        ------
        ThunderError
            For arguments of the constructor out of range, no demonstration, gaps, or trials with different dofs.
        """
        nonnegative(self.variance_floor, "variance_floor")
        if isinstance(motions, (MotionSet, Trial)) or _are_trials(motions):
            trials = MotionSet([motions] if isinstance(motions, Trial) else motions)  # type: ignore[arg-type]
            if not len(trials):
                raise ThunderError("motions must hold at least one demonstration, got none")
            dofs, duration = trials.dofs, float(trials.durations.mean())
            weights = [
                self.weights((trial.t - trial.t[0]) / trial.duration, require_no_gaps(trial, "a demonstration"))
                for trial in trials
            ]
            check_plausible(trials)
        else:
            x = array(motions, (None, None, None), "motions")
            if 0 in x.shape or x.shape[1] < 2:
                raise ThunderError(f"motions must hold at least one demonstration of two samples, got shape {x.shape}")
            dofs, duration = (), 1.0
            check_plausible([Samples(demonstration) for demonstration in x])
            tau = np.linspace(0.0, 1.0, x.shape[1])
            weights = [self.weights(tau, demonstration) for demonstration in x]
        self._estimate(np.stack(weights))
        self._dofs, self.duration_ = dofs, duration
        return self

    def weights(self, tau: npt.ArrayLike, x: npt.ArrayLike) -> Array:
        """Return the weights (n_basis, d) of one motion x (T, d) at phases tau (T,), by ridge regression."""
        ridge = nonnegative(self.regularization, "regularization")
        Phi = self.basis.evaluate(array(tau, (None,), "tau"))
        values = array(x, (len(Phi), None), "x")
        # stacked, since normal equations square the condition number
        A = np.vstack([Phi, np.sqrt(ridge) * np.eye(self.n_basis)])
        b = np.vstack([values, np.zeros((self.n_basis, values.shape[1]))])
        return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0], dtype=np.float64)

    def _estimate(self, weights: Array) -> None:
        rows = np.swapaxes(weights, 1, 2).reshape(len(weights), -1)
        self.mean_weights_ = weights.mean(axis=0)
        centered = rows - rows.mean(axis=0)
        covariance = centered.T @ centered / max(len(rows) - 1, 1)
        scale = float(np.mean(np.var(weights, axis=1)) + np.trace(covariance) / len(covariance))
        self.covariance_ = covariance + self.variance_floor * scale * np.eye(len(covariance))

    def mean(self, tau: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return the mean (..., d) of x, or of a derivative with respect to tau, at phases tau (...)."""
        return np.asarray(self.basis.evaluate(tau, derivative) @ self.mean_weights_, dtype=np.float64)

    def covariance(self, tau: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return the covariance (..., d, d) of x, or of a derivative with respect to tau, at phases tau (...)."""
        d = self.mean_weights_.shape[1]
        blocks = self.covariance_.reshape(d, self.n_basis, d, self.n_basis)
        b = self.basis.evaluate(tau, derivative)
        return np.asarray(np.einsum("...k,ikjl,...l->...ij", b, blocks, b), dtype=np.float64)

    def condition(self, observations: Iterable[Observation], duration: float = 1.0) -> ProMP:
        """Return the primitive conditioned on observations.

        Parameters
        ----------
        observations : iterable of Observation
            Positions and derivatives at any phases.
        duration : float
            Duration T [s] that scales derivatives with respect to time to the phase.

        Returns
        -------
        ProMP
            Primitive with mean w + G (y - A w) and covariance (1 - G A) S, G = S A' (A S A' + R)^+.

        Raises
        ------
        ThunderError
            For observations without noise that cannot be met, because the demonstrations (and `variance_floor`) do not
            vary in that direction or the observations contradict each other.
        """
        T = duration_of(duration)
        A, y, R, scale = self._rows(list(observations), T)
        S, mu = self.covariance_, self.mean_weights_.T.ravel()
        # rows with unit prior deviation, since positions and accelerations differ by orders of magnitude
        unit = 1.0 / np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", A, S, A) + R, np.finfo(float).tiny))
        A, y, R = unit[:, None] * A, unit * y, unit**2 * R
        gain = np.linalg.lstsq(A @ S @ A.T + np.diag(R), A @ S, rcond=1e-13)[0].T
        new = mu + gain @ (y - A @ mu)
        missed = np.abs(A @ new - y) / unit
        if (missed[R == 0.0] > _MET * scale[R == 0.0]).any():
            raise ThunderError(
                f"observations without noise must be possible, got a residual of {missed[R == 0.0].max():.3g}: either "
                "demonstrations do not vary in this direction (use more of them, a larger variance_floor or noise), or "
                "observations contradict each other"
            )
        rest = np.eye(len(S)) - gain @ A
        covariance = rest @ S @ rest.T + (gain * R) @ gain.T  # stays symmetric and not negative
        result = self.from_weights(new.reshape(-1, self.n_basis).T, covariance, overlap=self.overlap, dofs=self.dofs)
        result.set_params(regularization=self.regularization, variance_floor=self.variance_floor)
        result.duration_ = self.duration_
        return result

    def _rows(self, observations: list[Observation], T: float) -> tuple[Array, Array, Array, Array]:
        """Return A (m, d n), y, variances R and the scale of y, each (m,), for derivatives with respect to phase."""
        (n, d), basis = self.mean_weights_.shape, self.basis
        A, y, R, scale = [], [], [], []
        largest = float(np.abs(self.mean_weights_).max())
        for k, seen in enumerate(observations):
            if not isinstance(seen, Observation):
                raise ThunderError(f"observation {k} must be an Observation, got {type(seen).__name__}")
            value = numbers(seen.value, f"value of observation {k}")
            if value.shape != (d,) or np.isinf(value).any():
                raise ThunderError(
                    f"value of observation {k} must be ({d},) numbers, NaN where open, got {seen.value!r}"
                )
            known = is_number(seen.tau) and is_number(seen.noise)
            if not known or not 0.0 <= seen.tau <= 1.0 or not 0.0 <= seen.noise < np.inf:
                raise ThunderError(f"observation {k} must have 0 <= tau <= 1 and noise >= 0, got {seen!r}")
            b, factor = basis.evaluate(seen.tau, seen.derivative), T**seen.derivative
            size = max(largest, float(np.nanmax(np.abs(factor * value), initial=0.0)), 1e-3)
            for dof in np.flatnonzero(~np.isnan(value)):
                row = np.zeros(d * n)
                row[dof * n : (dof + 1) * n] = b
                A.append(row)
                y.append(factor * value[dof])
                R.append((factor * seen.noise) ** 2)
                scale.append(size)
        if not A:
            raise ThunderError("observations must hold at least one observation, got none")
        return np.array(A), np.array(y), np.array(R), np.array(scale)

    def rollout(self, duration: float | None = None) -> BasisMotion:
        """Return the mean motion, of a duration [s] that is by default the demonstrations' mean."""
        return self._motion(self.mean_weights_, duration)

    def sample(self, n: int, seed: int = 0, duration: float | None = None) -> list[BasisMotion]:
        """Draw n motions from the distribution; equal seeds give equal motions."""
        values, vectors = np.linalg.eigh(self.covariance_)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        z = np.random.default_rng(seed_of(seed)).normal(size=(whole(n, "n", 0), len(values)))
        mean, shape = self.mean_weights_, self.mean_weights_.T.shape
        return [self._motion(mean + (root @ draw).reshape(shape).T, duration) for draw in z]

    def plan(
        self,
        start: npt.ArrayLike,
        goal: npt.ArrayLike,
        duration: float,
        *,
        start_velocity: npt.ArrayLike | None = None,
        goal_velocity: npt.ArrayLike | None = None,
        start_acceleration: npt.ArrayLike | None = None,
        goal_acceleration: npt.ArrayLike | None = None,
    ) -> BasisMotion:
        """Return the most likely motion between two states, met exactly; rates default to zero."""
        x0 = array(start, (self.mean_weights_.shape[1],), "start")
        rest = np.zeros_like(x0)
        ends: list[tuple[float, Any, int]] = [
            (0.0, x0, 0),
            (1.0, goal, 0),
            (0.0, start_velocity, 1),
            (1.0, goal_velocity, 1),
            (0.0, start_acceleration, 2),
            (1.0, goal_acceleration, 2),
        ]
        known = [Observation(tau, rest if value is None else value, order) for tau, value, order in ends]
        return self.condition(known, duration).rollout(duration)

    def save(self, path: str | Path) -> None:
        """Write the fitted primitive to a ``.npz`` file of plain arrays.

        Examples
        --------
        >>> import tempfile
        >>> from thunder_py.motion import ProMP
        >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
        >>> promp = ProMP(n_basis=10).fit(minimum_jerk_reaches(20, seed=1))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     promp.save(f"{folder}/reaches.npz")
        ...     ProMP.load(f"{folder}/reaches.npz").dofs
        ('x', 'y', 'z')
        """
        write_estimator(path, self, "mean_weights_", "covariance_", "duration_", "dofs")

    @classmethod
    def load(cls, path: str | Path) -> ProMP:
        """Read a file written by `save`.

        Raises
        ------
        FileFormatError
            For any other file, and for a file of a newer version.
        """
        with read_estimator(path, cls) as (promp, arrays):
            weights = array(arrays["mean_weights_"], (promp.basis.n, None), "mean_weights_")
            covariance = array(arrays["covariance_"], (weights.size, weights.size), "covariance_")
            if not np.allclose(covariance, covariance.T, rtol=1e-9, atol=0.0) or (np.diag(covariance) < 0.0).any():
                raise ThunderError("covariance_ must be symmetric, and not negative on its diagonal")
            promp.mean_weights_, promp.covariance_ = weights, covariance
            promp.duration_, promp._dofs = duration_of(scalar(arrays, "duration_")), texts(arrays, "dofs")
            if promp.dofs and len(promp.dofs) != weights.shape[1]:
                raise ThunderError(f"dofs must name {weights.shape[1]} coordinates, got {promp.dofs}")
            return promp

    def _motion(self, weights: Array, duration: float | None) -> BasisMotion:
        return BasisMotion(
            self.basis, weights, duration_of(self.duration_ if duration is None else duration), self.dofs
        )


def _are_trials(motions: Any) -> bool:
    return isinstance(motions, (list, tuple)) and len(motions) > 0 and all(isinstance(m, Trial) for m in motions)
