"""Splines through recorded motions: penalised least squares, the weight of the penalty by cross-validation.

A coordinate y, sampled at tau_i, becomes the spline with coefficients c that minimises

    sum_i (y_i - b(tau_i)' c)^2 + lambda * integral of (d^m/dtau^m of the spline)^2

(Ramsay and Silverman, Functional Data Analysis, ch. 5). Samples that are NaN are left out of the sum. lambda is one
number for all motions, that which minimises the generalised cross-validation N RSS / (N - trace of the hat matrix)^2
(Craven and Wahba, 1979) summed over all of them; noise that is not white, as after a filter, makes it too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from .basis import SplineBasis
from .curves import Curves
from .penalised import Group, cross_validated, solve_groups
from .scalars import whole

__all__ = ["Smoothed", "smooth"]

#: part of the duration that may be missing at either end: beyond it splines would be guesses
_LONGEST_END_GAP = 0.1


@dataclass(frozen=True)
class Smoothed:
    """Motions as splines.

    Attributes
    ----------
    coefficients : array (R, K, d)
        Of each motion and coordinate.
    smoothing : array (d,)
        lambda of each coordinate, in tau; 0 without penalty.
    degrees_of_freedom : array (d,)
        Mean trace of the hat matrix: how many free parameters a motion has left, between `penalty` and K.
    residual : array (d,)
        Root of the mean squared difference to the samples, in the coordinate's unit.
    """

    coefficients: Array
    smoothing: Array
    degrees_of_freedom: Array
    residual: Array


def smooth(
    curves: Curves,
    basis: SplineBasis,
    smoothing: str | float | Array | None = "gcv",
    *,
    penalty: int = 3,
    shared: Sequence[Sequence[int]] | None = None,
) -> Smoothed:
    """Splines through motions.

    Parameters
    ----------
    curves : Curves
        What `read_curves` makes of motions.
    basis : SplineBasis
        K functions.
    smoothing : "gcv", float, array (d,) or None
        lambda, not negative; one for all coordinates or one for each. None is 0: plain least squares.
    penalty : int
        Order m of the derivative whose square is penalised.
    shared : sequence of index lists, optional
        Coordinates that get one common lambda by cross-validation; each its own by default. A fit in which coordinates
        are to turn into each other needs a common one.

    Raises
    ------
    ThunderError
        Too few samples are left in a motion, named in the message; `smoothing` or `penalty` are out of range.
    """
    whole(penalty, "penalty, the order of a derivative,", 1, basis.degree)
    d = len(curves.dofs)
    weights = _given(smoothing, d)
    groups = _grouped(curves, basis, weights is not None and not weights.all())
    solve_groups(groups, basis, penalty)
    chosen = [[k] for k in range(d)] if shared is None else [list(part) for part in shared]
    if weights is None:
        weights = np.empty(d)
        for part in chosen:
            weights[part] = cross_validated(groups, part)
    return _evaluate(groups, weights, len(curves), basis.n_functions)


def _given(smoothing: Any, d: int) -> Array | None:
    """Return lambda per coordinate, None where it is to be found."""
    if isinstance(smoothing, str):
        if smoothing != "gcv":
            raise ThunderError(f"smoothing must be 'gcv', a number or None, got {smoothing!r}")
        return None
    if isinstance(smoothing, bool):
        raise ThunderError(f"smoothing must be 'gcv', a number or None, got {smoothing!r}")
    try:
        values = np.asarray(0.0 if smoothing is None else smoothing, dtype=np.float64)
    except (TypeError, ValueError):
        raise ThunderError(f"smoothing must be 'gcv', a number or None, got {smoothing!r}") from None
    if values.shape not in ((), (d,)) or not np.isfinite(values).all() or (values < 0.0).any():
        raise ThunderError(f"smoothing must be finite, not negative, one number or {d}, got {smoothing!r}")
    return np.broadcast_to(values, (d,)).copy()


def _grouped(curves: Curves, basis: SplineBasis, unpenalised: bool) -> list[Group]:
    """Columns (motion, coordinate) that have samples at the same tau, which share all matrices."""
    groups: dict[bytes, Group] = {}
    for r, (tau, x) in enumerate(zip(curves.taus, curves.values, strict=True)):
        grid = tau.round(12).tobytes()
        missing = np.isnan(x)
        if not missing.any():
            parts = [(np.ones(len(tau), dtype=bool), np.arange(x.shape[1]))]
        else:
            patterns, which = np.unique(missing, axis=1, return_inverse=True)
            parts = [(~patterns[:, i], np.flatnonzero(which.ravel() == i)) for i in range(patterns.shape[1])]
        for valid, dofs in parts:
            key = grid + b"|" + valid.tobytes()
            if key not in groups:
                _check_samples(tau[valid], basis, unpenalised, curves.names[r])
                groups[key] = Group(tau[valid], curves.names[r])
            groups[key].add(r, dofs, x[np.ix_(valid, dofs)])
    return list(groups.values())


def _check_samples(tau: Array, basis: SplineBasis, unpenalised: bool, name: str) -> None:
    least = basis.n_functions if unpenalised else basis.degree + 1
    if len(tau) < least:
        way = "without smoothing" if unpenalised else "with smoothing"
        raise ThunderError(
            f"motions must have at least {least} samples ({basis.n_functions} functions of degree {basis.degree}, "
            f"{way}), got {len(tau)} in {name}"
        )
    if tau[0] > _LONGEST_END_GAP or tau[-1] < 1.0 - _LONGEST_END_GAP:
        raise ThunderError(
            f"gaps at the ends of a motion must be shorter than {_LONGEST_END_GAP:.0%} of it; {name} has samples from "
            f"tau = {tau[0]:.2f} to {tau[-1]:.2f}. Cut it there, or fill the gap"
        )


def _evaluate(groups: list[Group], weights: Array, count: int, n_functions: int) -> Smoothed:
    d = len(weights)
    coefficients = np.empty((count, n_functions, d))
    freedom, squares, samples = np.zeros(d), np.zeros(d), np.zeros(d)
    for group in groups:
        penalty = weights[group.dofs]
        coefficients[group.trials, :, group.dofs] = group.coefficients(penalty).T
        np.add.at(freedom, group.dofs, group.traces(penalty))
        np.add.at(squares, group.dofs, group.residuals(penalty))
        np.add.at(samples, group.dofs, len(group.tau))
    return Smoothed(coefficients, weights, freedom / count, np.sqrt(squares / samples))
