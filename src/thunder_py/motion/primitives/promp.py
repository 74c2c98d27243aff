"""Probabilistic movement primitives: a normal distribution of the weights of a basis, and its conditionals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, nonnegative, seed_of, whole
from ...errors import ThunderError
from ...recordings.trial import POSITION, ROTATION, require_no_gaps
from ...trajectory.hermite import duration_of, minimum_jerk
from ...values import Estimator
from ..constraint import KINDS, Constraint, rows_of
from ..estimator_file import read_estimator, scalar, texts, write_estimator
from ..fpca.curves import read_curves
from ..fpca.fit import unit_groups
from ..travel import travel, warn_missed
from .bases import GaussianBasis
from .sampled_motion import BasisMotion
from .stepping import COMPARED, warn_travel

if TYPE_CHECKING:
    from ..fpca.fpca import Motions

#: tolerance of constraints without noise, relative to the largest value among them
_MET = 1e-6


@dataclass(eq=False, repr=False)
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

    n_basis: int = 15
    _: KW_ONLY
    overlap: float = 0.7
    regularization: float = 1e-9
    variance_floor: float = 1e-6
    mean_weights_: Array = field(init=False)
    covariance_: Array = field(init=False)
    duration_: float = field(init=False)
    _dofs = ()  # type: tuple[str, ...]

    @classmethod
    def from_weights(
        cls, mean: npt.ArrayLike, covariance: npt.ArrayLike, *, overlap: float = 0.7, dofs: Iterable[str] = ()
    ) -> ProMP:
        """Return a primitive with mean weights (n_basis, d) and their covariance (d n_basis, d n_basis)."""
        weights = array(mean, (None, None), "mean")
        return cls(len(weights), overlap=overlap)._learned(weights, covariance, 1.0, dofs)

    def _learned(self, mean: Array, covariance: npt.ArrayLike, duration: float, dofs: Iterable[str]) -> ProMP:
        size, names = mean.size, tuple(dofs)
        covariance = array(covariance, (size, size), "covariance")
        if not np.allclose(covariance, covariance.T, rtol=1e-9, atol=0.0) or np.diag(
            covariance
        ).min() < -1e-12 * np.ptp(covariance):
            raise ThunderError("covariance must be symmetric, and not negative on its diagonal")
        if names and len(names) != mean.shape[1]:
            raise ThunderError(f"dofs must name {mean.shape[1]} coordinates, got {names}")
        self.mean_weights_, self.covariance_ = mean, covariance
        self.duration_, self._dofs = duration_of(duration), names
        self._demonstrated = mean, self.covariance_
        return self

    @property
    def basis(self) -> GaussianBasis:
        """Basis functions of the phase, n_basis of them."""
        return GaussianBasis(self.n_basis, self.overlap)

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the coordinates of the demonstrations; empty for arrays."""
        return self._dofs

    def fit(self, motions: Motions, y: object = None) -> ProMP:
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
        ThunderWarning
            For demonstrations that the functions miss.

        Raises
        ------
        ThunderError
            For arguments of the constructor out of range, no demonstration, gaps, or trials with different dofs.
        """
        nonnegative(self.variance_floor, "variance_floor")
        curves = read_curves(motions)
        values = [require_no_gaps(trial, "a demonstration") for trial in curves.trials]
        phases = [(trial.t - trial.t[0]) / trial.duration for trial in curves.trials]
        stacked = np.stack([self.weights(tau, x) for tau, x in zip(phases, values, strict=True)])
        dofs, duration = (curves.dofs, float(curves.durations.mean())) if curves.timed else ((), 1.0)
        rows = np.swapaxes(stacked, 1, 2).reshape(len(stacked), -1)
        centered = rows - rows.mean(axis=0)
        covariance = centered.T @ centered / max(len(rows) - 1, 1)
        scale = float(np.mean(np.var(stacked, axis=1)) + np.trace(covariance) / len(covariance))
        covariance += self.variance_floor * scale * np.eye(len(covariance))
        self._learned(stacked.mean(axis=0), covariance, duration, dofs)
        away = [x - self.basis.evaluate(tau) @ w for tau, x, w in zip(phases, values, stacked, strict=True)]
        missed = np.mean([np.square(each).mean(axis=0) for each in away], axis=0)
        fitted = self.basis.evaluate(np.linspace(0.0, 1.0, COMPARED + 1)) @ stacked
        for part in self._groups().values():
            named = [str(dofs[k]) if dofs else f"coordinate {k}" for k in part]
            warn_missed(float(missed[part].sum()), fitted[:, :, part], self.n_basis, named, "n_basis=")
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

    def mean(self, tau: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return the mean (..., d) of x, or of a derivative with respect to tau, at phases tau (...)."""
        return np.asarray(self.basis.evaluate(tau, derivative) @ self.mean_weights_, dtype=np.float64)

    def covariance(self, tau: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return the covariance (..., d, d) of x, or of a derivative with respect to tau, at phases tau (...)."""
        d = self.mean_weights_.shape[1]
        blocks = self.covariance_.reshape(d, self.n_basis, d, self.n_basis)
        b = self.basis.evaluate(tau, derivative)
        return np.asarray(np.einsum("...k,ikjl,...l->...ij", b, blocks, b), dtype=np.float64)

    def condition(self, constraints: Iterable[Constraint], duration: float = 1.0) -> ProMP:
        """Return the primitive conditioned on constraints.

        Parameters
        ----------
        constraints : iterable of Constraint
            Positions and derivatives at any times from 0 to the duration. Coordinates of arrays are x1, x2, ...
        duration : float
            Duration T [s] of the motion.

        Returns
        -------
        ProMP
            Primitive with mean w + G (y - A w) and covariance (1 - G A) S, G = S A' (A S A' + R)^+.

        Raises
        ------
        ThunderError
            For constraints without noise that cannot be met, because the demonstrations (and `variance_floor`) do not
            vary in that direction or the constraints contradict each other.
        """
        T = duration_of(duration)
        A, y, R, scale = self._rows(constraints, T)
        S, mu = self.covariance_, self.mean_weights_.T.ravel()
        # rows with unit prior deviation, since positions and accelerations differ by orders of magnitude
        unit = 1.0 / np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", A, S, A) + R, np.finfo(float).tiny))
        A, y, R = unit[:, None] * A, unit * y, unit**2 * R
        gain = np.linalg.lstsq(A @ S @ A.T + np.diag(R), A @ S, rcond=1e-13)[0].T
        new = mu + gain @ (y - A @ mu)
        missed = np.abs(A @ new - y) / unit
        if (missed[R == 0.0] > _MET * scale[R == 0.0]).any():
            raise ThunderError(
                f"constraints without noise must be possible, got a residual of {missed[R == 0.0].max():.3g}: either "
                "demonstrations do not vary in this direction (use more of them, a larger variance_floor or noise), or "
                "constraints contradict each other"
            )
        rest = np.eye(len(S)) - gain @ A
        covariance = rest @ S @ rest.T + (gain * R) @ gain.T  # stays symmetric and not negative
        covariance = 0.5 * (covariance + covariance.T)
        result = type(self)(**self.get_params())
        result._learned(new.reshape(-1, self.n_basis).T, covariance, self.duration_, self.dofs)
        result._demonstrated = self._demonstrated
        return result

    def _rows(self, constraints: Iterable[Constraint], T: float) -> tuple[Array, Array, Array, Array]:
        """Return A (m, d n), y, variances R and the scale of y, each (m,), for derivatives with respect to phase."""
        d, n = self.mean_weights_.shape[1], self.n_basis
        rows = rows_of(constraints, self.dofs or [f"x{k + 1}" for k in range(d)], 0.0, T)
        tau, order, column, value, noise = rows.T
        factor = np.array([T ** int(k) for k in order])
        A, y = np.zeros((len(rows), d, n)), factor * value
        A[np.arange(len(rows)), column.astype(int)] = [
            self.basis.evaluate(t, int(k)) for t, k in zip(tau, order, strict=True)
        ]
        largest = max(float(np.abs(self.mean_weights_).max()), 1e-3)
        scale = np.array([np.abs(y[(tau == t) & (order == k)]).max() for t, k in zip(tau, order, strict=True)])
        return A.reshape(len(rows), -1), y, (factor * noise) ** 2, np.maximum(scale, largest)

    def rollout(self, duration: float | None = None) -> BasisMotion:
        """Return the mean motion.

        Parameters
        ----------
        duration : float, optional
            Duration [s], by default the demonstrations' mean.

        Returns
        -------
        BasisMotion
            The mean.

        Warns
        -----
        ThunderWarning
            If path length, peak speed or peak acceleration are above 2, 2.5 or 10 times both those of the
            demonstrations (RMS, before conditions) over this duration and those of minimum jerk between the same
            positions and velocities: of positions, of rotation vectors, and of any other coordinate.
        """
        motion = self._motion(self.mean_weights_, duration)
        T, groups, (mean, covariance) = motion.duration, self._groups(), self._demonstrated
        n, d = mean.shape
        tau, variances = np.linspace(0.0, 1.0, COMPARED + 1), covariance.reshape(d, n, d, n)
        sizes = []
        for order in (1, 2):
            b = self.basis.evaluate(tau, order) / T**order
            spread = np.einsum("tk,ikil,tl->ti", b, variances, b, optimize=True)
            sizes.append((b @ self.mean_weights_, np.sqrt((b @ mean) ** 2 + np.maximum(spread, 0.0))))
        size, shown = (travel(dx, ddx, T, list(groups.values())) for dx, ddx in zip(*sizes, strict=True))
        (x0, v0), (x1, v1) = ((motion.position(t), motion.position(t, 1)) for t in (0.0, T))
        least = minimum_jerk(x0, x1, T, start_velocity=v0, goal_velocity=v1)
        reason = "since it extrapolates the demonstrations: use some that are nearer to this motion"
        warn_travel(size, shown, shown, least, list(groups.values()), list(groups), [reason] * len(groups))
        return motion

    def _groups(self) -> dict[str, list[int]]:
        """Return coordinates that are compared together, by unit."""
        known = dict.fromkeys(POSITION, "m") | dict.fromkeys(ROTATION, "rad")
        units = [known.get(dof, f"units of {dof}") for dof in self.dofs] or ["units"] * self.mean_weights_.shape[1]
        return dict(zip(dict.fromkeys(units), unit_groups(units), strict=True))

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
        T, d = duration_of(duration), self.mean_weights_.shape[1]
        ends = (start, goal, start_velocity, goal_velocity, start_acceleration, goal_acceleration)
        known = [
            Constraint((k % 2) * T, KINDS[k // 2], np.zeros(d) if value is None else value)
            for k, value in enumerate(ends)
        ]
        return self.condition(known, T).rollout(T)

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
            return promp._learned(weights, arrays["covariance_"], scalar(arrays, "duration_"), texts(arrays, "dofs"))

    def _motion(self, weights: Array, duration: float | None) -> BasisMotion:
        return BasisMotion(
            self.basis, weights, duration_of(self.duration_ if duration is None else duration), self.dofs
        )
