"""Functional principal components of motions (D4.2, section 5.1.1)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, all_nonnegative, array, is_number, is_whole, numbers
from ...errors import ThunderError, ThunderWarning, outer_level
from ...parallel import Workers
from ...table import Tabular
from ...values import Estimator
from ..alignment import WINDING, PathFrames, aligned, from_canonical, has_path, odd_motions, path_columns
from ..travel import warn_missed
from . import plot as plots
from .archive import load_fpca, save_fpca
from .curves import Curves, read_curves
from .fit import Components, Setting, SplineSpace, fit_components, project, unit_groups
from .published import fit_samples, read_samples
from .splines import SplineBasis, smooth

if TYPE_CHECKING:
    from ...recordings.motion_set import MotionSet
    from ...recordings.trial import Trial

    Motions = MotionSet | Trial | Iterable[Trial] | npt.ArrayLike
    Mask = npt.NDArray[np.bool_]

#: largest weight of the penalty: above it only the null space remains, and products overflow
_HEAVIEST = 1e100
#: motions that a warning names
_MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class Projection(Tabular):
    """Scores, offsets and frames of motions projected on components.

    Attributes
    ----------
    scores : array (R, n, d), joint (R, n)
        alpha.
    offsets : array (R, d)
        x_bar; zero with ``demean=False``.
    frames : PathFrames or None
        Frames of the motions before alignment.
    dofs : tuple of str
        Names of the d coordinates.
    """

    scores: Array
    offsets: Array
    frames: PathFrames | None
    dofs: tuple[str, ...]

    def to_columns(self) -> dict[str, Any]:
        """Return the scores (R,) by `FPCA.get_feature_names_out`, and x_bar as ``offset.COORDINATE``.

        Examples
        --------
        >>> from thunder_py.motion import FPCA
        >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
        >>> motions = minimum_jerk_reaches(6, seed=0)
        >>> list(FPCA(n_components=1).fit(motions).project(motions).to_columns())
        ['score.1.x', 'score.1.y', 'score.1.z', 'offset.x', 'offset.y', 'offset.z']
        """
        names = [*_score_names(self.scores.shape[1:], self.dofs), *(f"offset.{dof}" for dof in self.dofs)]
        columns = np.hstack([self.scores.reshape(len(self.scores), -1), self.offsets]).T
        return dict(zip(names, columns, strict=True))


def _score_names(shape: tuple[int, ...], dofs: Sequence[str]) -> list[str]:
    """Return the names of scores (n, d), or joint (n,)."""
    return [".".join(["score", str(i + 1), *(dofs[k] for k in rest)]) for i, *rest in np.ndindex(shape)]


@dataclass(eq=False, repr=False)
class FPCA(Estimator):
    """Functional principal components of motions over normalized time.

    Parameters
    ----------
    n_components : int or float, optional
        Number of components, or, between 0 and 1, the part of the variance they must explain in every coordinate. By
        default as many as the basis has, at most one less than motions unless `shrinkage` is used.
    basis : SplineBasis, optional
        Default: 15 functions of degree 5.
    smoothing : "gcv", float or None
        Weight of the integrated squared third derivative in the fit of splines: by generalized cross-validation, a
        number, or none.
    joint : bool
        Compute components of all coordinates together, with one score each, instead of coordinate by coordinate.
    alignment : "auto", "path" or "none"
        "path" first moves every motion to the frame along its start -> goal, one unit long. "auto" does so for
        coordinates x, y, z(, rx, ry, rz), unless half of the motions or more return (they end nearer to their start
        than half their extent), wind (a path of 3.2 times the displacement) or hardly move. Fewer of these are left
        out of the fit, with a warning; see `support_`.
    shrinkage : float or "auto"
        Share in [0, 1] of minimum jerk in the covariance and, for aligned motions, in the mean. "auto": the share that
        predicts left-out motions from their ends best.
    demean : bool
        Subtract x_bar, as the paper does. Otherwise x_bar is 0 and positions are part of the components.

    Attributes
    ----------
    dofs, units : tuple of str
        Names and units of the d coordinates.
    basis_ : SplineBasis
        Basis used, of K functions.
    mean_coefficients_ : array (K, d)
        Spline coefficients of S_0.
    component_coefficients_ : array (n, K, d)
        Spline coefficients of S_i. Joint: orthonormal in the sum over coordinates; otherwise in each coordinate.
    explained_variance_ : array (n, d), joint (n,)
        Variances of the scores, in descending order.
    total_variance_ : array (d,), joint ()
        Variance of all components available.
    offset_mean_, offset_variance_ : array (d,)
        Mean and variance of x_bar.
    offset_covariance_ : array (d, d)
        Covariance of the coordinates of x_bar.
    support_ : array of bool
        True for the R motions used, False for those left out.
    scores_ : array (R, n, d), joint (R, n)
        Scores of the fitted motions.
    offsets_ : array (R, d)
        x_bar of the fitted motions.
    durations_ : array (R,)
        Durations [s]; NaN for motions given as an array.
    smoothing_ : array (d,)
        Weight of the penalty used.
    residual_ : array (d,)
        RMS difference of the splines to the samples, in the coordinate's unit; for `from_components` over mean and
        components.
    alignment_ : str
        "path" or "none", as used.
    shrinkage_ : float
        Share of minimum jerk used.
    frames_ : PathFrames or None
        Frames of the motions before alignment.

    Notes
    -----
    The model is x(tau) = x_bar + S_0(tau) + sum_i alpha_i S_i(tau), tau in [0, 1], eq. (95) of D4.2. Every motion
    becomes a spline; x_bar is its own mean over tau, S_0 the mean of all motions without their x_bar, S_i the
    orthonormal functions (in L2) along which the rest varies most, alpha_i the scores. Eqs. (96) to (100) do not
    subtract S_0; here variances are about S_0, with R - 1 in the denominator for R motions.

    The class follows scikit-learn's conventions for estimators (`get_params`, `set_params`, results with a trailing
    underscore), so that `sklearn.base.clone`, `Pipeline` and `GridSearchCV` apply. It does not need scikit-learn.

    Examples
    --------
    >>> from thunder_py.motion import FPCA
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> motions = minimum_jerk_reaches(20, seed=1)
    >>> fpca = FPCA(n_components=2).fit(motions)
    >>> fpca.scores_.shape  # motions, components, coordinates
    (20, 2, 3)
    >>> part = fpca.project(motions)
    >>> fpca.inverse_transform(part.scores, part.offsets, tau=[0.0, 0.5, 1.0]).shape
    (20, 3, 3)
    """

    n_components: int | float | None = None
    _: KW_ONLY
    basis: SplineBasis | None = None
    smoothing: float | str | None = "gcv"
    joint: bool = False
    alignment: str = "auto"
    shrinkage: float | str = "auto"
    demean: bool = True
    _dofs: tuple[str, ...] = field(init=False)
    _units: tuple[str, ...] = field(init=False)
    basis_: SplineBasis = field(init=False)
    mean_coefficients_: Array = field(init=False)
    component_coefficients_: Array = field(init=False)
    explained_variance_: Array = field(init=False)
    total_variance_: Array = field(init=False)
    offset_mean_: Array = field(init=False)
    offset_covariance_: Array = field(init=False)
    support_: Mask = field(init=False)
    scores_: Array = field(init=False)
    offsets_: Array = field(init=False)
    durations_: Array = field(init=False)
    smoothing_: Array = field(init=False)
    residual_: Array = field(init=False)
    alignment_: str = field(init=False)
    shrinkage_: float = field(init=False)
    frames_: PathFrames | None = field(init=False)

    @classmethod
    def paper(cls, motions: Motions, n_components: int | None = None) -> FPCA:
        """Fit with the settings of the paper's authors.

        Components coordinate by coordinate, 15 splines of order 5, least squares, x_bar subtracted.
        """
        basis = SplineBasis(15, degree=4)
        return cls(n_components, basis=basis, smoothing=None, alignment="none", shrinkage=0.0).fit(motions)

    @classmethod
    def from_components(
        cls,
        components: npt.ArrayLike,
        mean: npt.ArrayLike | None = None,
        *,
        variances: npt.ArrayLike | None = None,
        tau: npt.ArrayLike | None = None,
        dofs: Sequence[str] | None = None,
        basis: SplineBasis | None = None,
        joint: bool = False,
        alignment: str = "none",
        tolerance: float = 1e-6,
    ) -> FPCA:
        """Return fitted components from samples of a mean and of components, such as a published basis.

        Parameters
        ----------
        components : array_like (n, T, d)
            Samples of S_1 to S_n.
        mean : array_like (T, d), optional
            Samples of S_0; default zero.
        variances : array_like (n, d) or (n,), optional
            Variances of the scores. Default one; then only the modes ``"paper"`` and ``"exact"`` of the planner, which
            do not use variances, are meaningful.
        tau : array_like (T,), optional
            Normalized times from 0 to 1; default uniform.
        dofs : sequence of str, optional
            Names of the coordinates; x, y, z(, rx, ry, rz) by default.
        basis : SplineBasis, optional
            Splines of the components. Default: 15 functions of degree 4 or 5, whichever fit better.
        joint, alignment
            As in the constructor.
        tolerance : float
            Largest RMS difference of the splines to the samples of a function, as a share of its RMS value, without
            warning.

        Returns
        -------
        FPCA
            Fitted estimator without motions: `scores_` and `offsets_` are empty, `residual_` is that of the splines.

        Raises
        ------
        ThunderError
            For arrays of the wrong shape, values that are not finite, components that are zero, negative variances, and
            too few samples.

        Warns
        -----
        ThunderWarning
            If splines differ from the samples by more than `tolerance`. A difference of 4e-5 can move a plan by 10 mm.

        Examples
        --------
        >>> import numpy as np
        >>> from thunder_py.motion import FPCA, HumanLikePlanner
        >>> tau = np.linspace(0.0, 1.0, 101)
        >>> S = np.polynomial.legendre.legvander(2.0 * tau - 1.0, 5)[:, 1:].T  # (5, 101): quintics
        >>> fpca = FPCA.from_components(np.repeat(S[..., None], 3, axis=2))
        >>> float(fpca.residual_.max()) < 1e-12
        True
        >>> plan = HumanLikePlanner(fpca, "exact").plan([0.0, 0.0, 0.0], [0.3, 0.0, 0.1], duration=1.0)
        >>> plan.position(0.5).round(6).tolist()  # minimum jerk
        [0.15, 0.0, 0.05]
        """
        S = array(components, (None, None, None), "components")
        S0 = np.zeros(S.shape[1:]) if mean is None else array(mean, S.shape[1:], "mean")
        fpca = cls(len(S), basis=basis, smoothing=None, joint=joint, alignment=alignment, shrinkage=0.0)
        fpca._checked()
        if alignment == "auto":
            raise ThunderError(f'alignment must be "none" or "path", got {alignment!r}')
        curves, fpca.basis, fit = fit_samples(np.concatenate([S0[None], S]), tau, dofs, basis, tolerance)
        c, residual = fit.coefficients, fit.residual
        n, d = len(S), len(curves.dofs)
        shape = (n,) if joint else (n, d)
        given = np.ones(n) if variances is None else numbers(variances, "variances")
        given = np.repeat(given[:, None], d, axis=1) if given.shape == (n,) and not joint else given
        zeros, none = np.zeros(d), np.zeros(0)
        variance = all_nonnegative(array(given, shape, "variances"), "variances")
        no_motions = np.zeros((0, *shape)), np.zeros((0, d))
        total = variance.sum(axis=0)
        fpca._keep(curves, Components(c[0], c[1:], variance, total, zeros, np.diag(zeros), 0.0, *no_motions))
        fpca.basis_, fpca.smoothing_, fpca.residual_ = fpca.basis, zeros, residual
        fpca.alignment_, fpca.support_, fpca.durations_ = alignment, none.astype(bool), none
        fpca.frames_ = PathFrames(np.zeros((0, 3)), none, np.zeros((0, 3, 3))) if alignment == "path" else None
        return fpca

    @classmethod
    def read_components(
        cls,
        path: str | Path,
        components: str | Sequence[str],
        mean: str | Sequence[str] | None = None,
        variances: str | Sequence[str] | None = None,
        *,
        axes: str = "ntd",
        **options: Any,
    ) -> FPCA:
        """Read components that others published as samples in a MATLAB or NumPy file.

        Parameters
        ----------
        path : path-like
            ``.mat`` up to version 7, or ``.npz``.
        components, mean, variances : str or sequence of str
            Names of variables; ``"structure.field"`` for fields. A sequence has one name for each coordinate, whose
            variables lack the axis of coordinates.
        axes : str
            Order of the axes of components: ``"n"``, ``"t"`` for time, ``"d"`` for the coordinate. Mean and variances
            have the same order without ``"n"`` and ``"t"``.
        **options
            Further arguments of `from_components`.

        Returns
        -------
        FPCA
            As from `from_components`.

        Raises
        ------
        FileFormatError
            For files of other formats, and variables of the wrong shape.
        UnknownNameError
            For unknown variables; the message lists those of the file.
        ThunderError, ThunderWarning
            As from `from_components`.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from thunder_py.motion import FPCA
        >>> tau = np.linspace(0.0, 1.0, 101)
        >>> S = np.polynomial.legendre.legvander(2.0 * tau - 1.0, 5)[:, 1:]  # (101, 5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(Path(folder, "basis.npz"), px=S, py=S, pz=S)
        ...     fpca = FPCA.read_components(Path(folder, "basis.npz"), ["px", "py", "pz"], axes="tnd")
        >>> fpca.component_coefficients_.shape, fpca.basis_
        ((5, 15, 3), SplineBasis(15, degree=5))
        """
        S, S0, variance = read_samples(path, axes, components, mean, variances)
        return cls.from_components(S, S0, variances=variance, **options)

    # --- fit --------------------------------------------------------------------------------------------------------

    def fit(
        self, motions: Motions, y: object = None, *, dofs: Sequence[str] | None = None, workers: Workers = 1
    ) -> FPCA:
        """Estimate mean and components.

        Parameters
        ----------
        motions : MotionSet, sequence of Trials, or array (R, T, d)
            Motions may differ in length and sampling, and have gaps (NaN). An array is sampled uniformly.
        y : object
            Ignored; scikit-learn passes it.
        dofs : sequence of str, optional
            Names of the coordinates of an array; x, y, z(, rx, ry, rz) by default. Trials have their own.
        workers : Workers
            Where the cross-validation of ``shrinkage="auto"`` is made, see `run_tasks`. The result does not depend on
            it.

        Returns
        -------
        FPCA
            The fitted estimator itself.

        Warns
        -----
        RecordingWarning
            For units, times and gaps that can hardly be right, see `recordings.check_plausible`.
        ThunderWarning
            For motions that return toward their start, out and back or in loops, wind through several reaches, or
            hardly move, unless ``alignment="none"``; with their names, what happens to them, and a remedy. And for
            motions that splines represent badly.

        Raises
        ------
        ThunderError
            For arguments of the constructor out of range; for motions without duration, with too few samples or of
            different coordinates; for one motion without shrinkage; with ``alignment="path"``, for a motion that ends
            where it starts. Messages name the motion.
        """
        basis, count, smoothing, shrinkage = self._checked()
        curves = read_curves(motions, dofs)
        each, units = [[k] for k in range(len(curves.dofs))], unit_groups(curves.units)
        path = has_path(curves.dofs)
        # one smoothing for coordinates that rotations mix
        shared = units if self.joint or self.alignment == "path" or (self.alignment == "auto" and path) else each
        smoothed = smooth(curves, basis, smoothing, shared)
        x = basis.evaluate(np.linspace(0.0, 1.0, 101)) @ smoothed.coefficients
        kinds = odd_motions(x[:, :, path_columns(curves.dofs)[0]]) if path else {}
        odd = np.any([np.zeros(len(x), dtype=bool), *kinds.values()], axis=0)
        alignment = self.alignment
        if alignment == "auto":  # the majority decides
            alignment = "path" if path and 2 * odd.sum() < len(odd) else "none"
        support, names = ~odd | (alignment == "none") | (self.alignment == "path"), curves.names
        if not support.all():
            curves = curves.select(support)
            smoothed = smooth(curves, basis, smoothing, shared)
        coefficients, frames = aligned(smoothed.coefficients, curves.dofs, curves.names, alignment)
        setting = Setting(basis, SplineSpace(basis, bool(self.demean)), bool(self.joint), alignment == "path", units)
        self._keep(curves, fit_components(setting, coefficients, count, shrinkage, workers))
        self.basis_, self.smoothing_, self.residual_ = basis, smoothed.smoothing, smoothed.residual
        self.alignment_, self.support_, self.frames_ = alignment, support, frames
        if odd.any() and self.alignment != "none":
            self._warn_odd(kinds, names)
        for group in units:
            missed, named = float((self.residual_[group] ** 2).sum()), [self.dofs[k] for k in group]
            warn_missed(missed, x[support][:, :, group], basis.n_functions, named, "basis=SplineBasis(n)")
        return self

    def _keep(self, curves: Curves, components: Components) -> None:
        self._dofs, self._units, self.durations_ = curves.dofs, curves.units, curves.durations
        vars(self).update({f"{name}_": value for name, value in components._asdict().items()})

    def _checked(self) -> tuple[SplineBasis, int | float | None, float | str | None, float | str]:
        """Basis, number of components, smoothing and shrinkage from the arguments of the constructor."""
        if not isinstance(self.basis, SplineBasis | None):
            raise ThunderError(f"basis must be a SplineBasis, got {self.basis!r}")
        if self.alignment not in ("auto", "path", "none"):
            raise ThunderError(f'alignment must be "auto", "path" or "none", got {self.alignment!r}')
        smoothing = f"smoothing must be 'gcv', a number from 0 to {_HEAVIEST:g}, or None"
        return (
            SplineBasis() if self.basis is None else self.basis,
            _components(self.n_components),
            _number_or(self.smoothing, ("gcv", None), _HEAVIEST, smoothing),
            _number_or(self.shrinkage, ("auto",), 1.0, 'shrinkage must lie in [0, 1] or be "auto"'),
        )

    def _warn_odd(self, kinds: dict[str, Mask], names: Sequence[str]) -> None:
        """Warn of odd motions: left out, unaligned, or enlarged, unless the model is of minimum jerk alone."""
        if self.alignment == "path":
            kinds = {kind: which for kind, which in kinds.items() if kind != WINDING}  # clear ways, not enlarged
            if self.shrinkage_ >= 1.0 or not any(map(np.any, kinds.values())):
                return
            effect, otherwise = 'enlarged by alignment="path"', 'use alignment="auto"'
        elif self.alignment_ == "path":
            effect, otherwise = "left out of the aligned components of the others", 'fit all with alignment="none"'
        else:
            effect, otherwise = "at least half of all, so that none is aligned", 'confirm with alignment="none"'
        found = "; ".join(f"{kind}: {_listed(names, which)}" for kind, which in kinds.items() if which.any())
        if any(which.any() for kind, which in kinds.items() if kind not in ("loops", "hardly moving")):
            otherwise = f"split those that hold several reaches (recordings.split_reaches), or {otherwise}"
        warnings.warn(
            f"{sum(map(np.sum, kinds.values()))} of {len(names)} motions return toward their start, wind or hardly "
            f"move ({found}) and are {effect}: {otherwise}",
            ThunderWarning,
            stacklevel=outer_level(),
        )

    # --- results ----------------------------------------------------------------------------------------------------

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the d coordinates."""
        return self._dofs

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the d coordinates."""
        return self._units

    @property
    def n_features_in_(self) -> int:
        """Number d of coordinates."""
        return len(self.dofs)

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """Names of the d coordinates, as scikit-learn has them."""
        return np.array(self.dofs, dtype=object)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> npt.NDArray[np.object_]:
        """Return the names of the scores of a motion, `transform(motions)[r].ravel()`, also those of data frames.

        Parameters
        ----------
        input_features : sequence of str, optional
            `dofs`; others are refused.

        Returns
        -------
        array of str
            ``score.COMPONENT.COORDINATE``, joint ``score.COMPONENT``, components counted from 1.
        """
        if input_features is not None and tuple(input_features) != self.dofs:
            raise ThunderError(f"input_features must be {', '.join(self.dofs)}, got {list(input_features)}")
        return np.array(_score_names(self.explained_variance_.shape, self.dofs), dtype=object)

    @property
    def n_components_(self) -> int:
        """Number n of components."""
        return len(self.component_coefficients_)

    @property
    def offset_variance_(self) -> Array:
        """Variance of x_bar, (d,)."""
        return np.diag(self.offset_covariance_).copy()

    @property
    def explained_variance_ratio_(self) -> Array:
        """Part of the variance along each component, (n, d), joint (n,); 0 for coordinates without variance."""
        total = np.where(self.total_variance_ > 0.0, self.total_variance_, 1.0)
        return np.asarray(self.explained_variance_ / total)

    def mean(self, tau: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return S_0 or a derivative of it with respect to tau at tau (T,): (T, d)."""
        return self.basis_.evaluate(tau, derivative) @ self.mean_coefficients_

    def components(self, tau: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return S_1 to S_n or derivatives of them with respect to tau at tau (T,): (n, T, d)."""
        return np.asarray(self.basis_.evaluate(tau, derivative) @ self.component_coefficients_)

    def transform(self, motions: Motions) -> Array:
        """Return the scores of motions, (R, n, d), joint (R, n)."""
        return self.project(motions).scores

    def fit_transform(self, motions: Motions, y: object = None) -> Array:
        """Fit, and return the scores of the same motions, also of those left out; `y` is ignored."""
        self.fit(motions)
        return self.scores_ if self.support_.all() else self.transform(motions)

    def project(self, motions: Motions) -> Projection:
        """Return scores, x_bar and, for aligned motions, frames: the arguments of `inverse_transform`.

        Raises
        ------
        ThunderError
            As `fit`, and for coordinates other than the fitted ones.
        """
        curves = read_curves(motions, self.dofs if isinstance(motions, np.ndarray) else None)
        if curves.dofs != self.dofs:
            raise ThunderError(f"motions must have the dofs {', '.join(self.dofs)}, got {', '.join(curves.dofs)}")
        smoothed = smooth(curves, self.basis_, self.smoothing_)
        coefficients, frames = aligned(smoothed.coefficients, self.dofs, curves.names, self.alignment_)
        fitted = self.mean_coefficients_, self.component_coefficients_
        projected = project(SplineSpace(self.basis_, bool(self.demean)), *fitted, coefficients, self.joint)
        return Projection(*projected, frames, self.dofs)

    def inverse_transform(
        self,
        scores: npt.ArrayLike,
        offsets: npt.ArrayLike | None = None,
        *,
        frames: PathFrames | None = None,
        tau: npt.ArrayLike | None = None,
        derivative: int = 0,
    ) -> Array:
        """Return motions with given scores, (R, T, d).

        Parameters
        ----------
        scores : array_like (R, n, d), joint (R, n)
            alpha.
        offsets : array_like (R, d) or (d,), optional
            x_bar; the mean of the fitted motions by default.
        frames : PathFrames, optional
            Frames of aligned motions; without them, motions stay in the canonical frame.
        tau : array_like (T,), optional
            Normalized times; 101 from 0 to 1 by default.
        derivative : int
            Order of the derivative with respect to tau.

        Raises
        ------
        ThunderError
            For arrays of the wrong shape.
        """
        alpha = numbers(scores, "scores")
        if alpha.shape[1:] != self.explained_variance_.shape:
            expected = ", ".join(map(str, self.explained_variance_.shape))
            raise ThunderError(f"scores must have shape (R, {expected}), got {alpha.shape}")
        x_bar = self.offset_mean_ if offsets is None else numbers(offsets, "offsets")
        d = len(self.dofs)
        if x_bar.shape not in ((d,), (len(alpha), d)):
            raise ThunderError(f"offsets must have shape ({d},) or ({len(alpha)}, {d}), got {x_bar.shape}")
        coefficients = self.mean_coefficients_ + np.einsum("rn...,nk...->rk...", alpha, self.component_coefficients_)
        coefficients = coefficients + x_bar[..., None, :]
        values = self.basis_.evaluate(np.linspace(0.0, 1.0, 101) if tau is None else tau, derivative) @ coefficients
        if frames is None:
            return np.asarray(values)
        if self.alignment_ != "path" or not isinstance(frames, PathFrames) or len(frames) != len(alpha):
            raise ThunderError(f'frames must be PathFrames of {len(alpha)} motions, and alignment "path"')
        return from_canonical(np.asarray(values), self.dofs, frames, derivative)

    # --- files and figures ------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the fitted components to a ``.npz`` file of plain arrays."""
        save_fpca(self, path)

    @classmethod
    def load(cls, path: str | Path) -> FPCA:
        """Read a file written by `save`.

        Raises
        ------
        FileFormatError
            For any other file, and for a file of a newer version.
        """
        return load_fpca(path, cls)

    plot = plots.plot
    plot_components = plots.plot_components
    plot_variance = plots.plot_variance


def _listed(names: Sequence[str], chosen: Mask) -> str:
    found = list(compress(names, chosen))
    more = len(found) - _MOST_NAMED
    return ", ".join(found[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _components(value: Any) -> int | float | None:
    if value is None or (is_whole(value) and value >= 0):
        return None if value is None else int(value)
    if isinstance(value, float) and 0.0 < value < 1.0:
        return float(value)
    raise ThunderError(f"n_components must be a whole number, a number between 0 and 1, or None, got {value!r}")


def _number_or(value: Any, words: tuple[str | None, ...], most: float, what: str) -> Any:
    if is_number(value) and 0.0 <= value <= most:
        return float(value)
    if not isinstance(value, str | None) or value not in words:
        raise ThunderError(f"{what}, got {value!r}")
    return value
