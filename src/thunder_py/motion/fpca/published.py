"""Components that others published: samples to splines, and files that hold them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, numbers
from ...errors import FileFormatError, ThunderError, ThunderWarning, UnknownNameError, nearest_hint, outer_level
from ...files import as_file, read_archive
from ...recordings.mat_file import read_mat
from .curves import Curves
from .splines import SplineBasis, smooth

#: bases tried by default: those of the paper's authors and of this package
_BASES = (SplineBasis(15, degree=4), SplineBasis(15, degree=5))
#: size of a function, relative to the largest one, below which it counts as zero
_NOTHING = 1e-12


class SampledComponents(NamedTuple):
    """Mean and components as samples over normalized time.

    Attributes
    ----------
    components : array (n, T, d)
        S_i.
    mean : array (T, d) or None
        S_0; None is zero.
    variances : array (n, d), joint (n,), or None
        Variances of the scores; None is one.
    """

    components: Array
    mean: Array | None
    variances: Array | None


class FittedSplines(NamedTuple):
    """Splines through samples.

    Attributes
    ----------
    basis : SplineBasis
        Basis of K functions.
    coefficients : array (1 + n, K, d)
        Coefficients of the mean and the components.
    residual : array (d,)
        RMS difference to the samples over all functions.
    share : float
        Largest RMS difference of a function in a coordinate, relative to its RMS value.
    """

    basis: SplineBasis
    coefficients: Array
    residual: Array
    share: float


def fit_samples(
    functions: Array, tau: npt.ArrayLike | None, dofs: Sequence[str], basis: SplineBasis | None, tolerance: float
) -> FittedSplines:
    """Fit splines to functions (1 + n, T, d) by least squares, and warn of differences above a share of a function."""
    grid = np.linspace(0.0, 1.0, functions.shape[1]) if tau is None else numbers(tau, "tau")
    ends = grid.shape == functions.shape[1:2] and abs(grid[0]) + abs(grid[-1] - 1.0) <= 1e-9
    if not ends or (np.diff(grid) <= 0.0).any():
        raise ThunderError(f"tau must be {functions.shape[1]} increasing numbers from 0 to 1, got {tau!r}")
    if basis is not None and not isinstance(basis, SplineBasis):
        raise ThunderError(f"basis must be a SplineBasis, got {basis!r}")
    sizes = np.sqrt((functions[1:] ** 2).mean(axis=(1, 2)))
    empty = np.flatnonzero(sizes <= _NOTHING * sizes.max())
    if len(empty):
        raise ThunderError(f"components must not be zero, got zeros in all samples of component {empty[0] + 1}")
    names = ["the mean", *(f"component {i + 1}" for i in range(len(functions) - 1))]
    durations = np.full(len(functions), np.nan)
    curves = Curves([grid] * len(functions), list(functions), durations, tuple(dofs), ("",) * len(dofs), names)
    fits = [_fit(curves, functions, one) for one in (_BASES if basis is None else (basis,))]
    best = min(fits, key=lambda fit: fit.share)
    if best.share > tolerance:
        warnings.warn(
            f"splines of {best.basis} differ from the samples of the components by {best.share:.2g} of their size "
            f"(RMS), more than {tolerance:.2g}: plans may differ by far more. Pass the basis that the components were "
            "published with, or one with more functions",
            ThunderWarning,
            stacklevel=outer_level(),
        )
    return best


def _fit(curves: Curves, functions: Array, basis: SplineBasis) -> FittedSplines:
    smoothed = smooth(curves, basis, None, penalty=min(3, basis.degree))
    left = functions - basis.evaluate(curves.taus[0]) @ smoothed.coefficients
    size = np.sqrt((functions**2).mean(axis=1))
    counts = size > _NOTHING * size.max(initial=0.0)
    share = float((np.sqrt((left**2).mean(axis=1))[counts] / size[counts]).max(initial=0.0))
    return FittedSplines(basis, smoothed.coefficients, smoothed.residual, share)


def read_samples(
    path: str | Path,
    components: str | Sequence[str],
    mean: str | Sequence[str] | None,
    variances: str | Sequence[str] | None,
    axes: str,
) -> SampledComponents:
    """Read samples from a MATLAB (``.mat``, up to version 7) or NumPy (``.npz``) file; see `FPCA.read_components`."""
    if sorted(axes) != ["d", "n", "t"]:
        raise ThunderError(f'axes must be the letters "t", "n" and "d" in some order, got {axes!r}')
    file = as_file(path)
    variables = _variables(file)
    known = dict(_leaves(variables))
    read = _Variables(file, known)
    return SampledComponents(
        read.stacked(components, axes, "ntd"),
        None if mean is None else read.stacked(mean, axes.replace("n", ""), "td"),
        None if variances is None else read.stacked(variances, axes.replace("t", ""), "nd"),
    )


def _variables(path: Path) -> Mapping[str, Any]:
    if path.suffix.lower() != ".mat":
        return read_archive(path, "numpy.savez")
    return {name: _squeezed(value) for name, value in read_mat(path).items()}


def _squeezed(value: Any) -> Any:
    """Return arrays without axes of length 1, also in structures: MATLAB has two axes or more."""
    if isinstance(value, Mapping):
        return {name: _squeezed(entry) for name, entry in value.items()}
    return np.squeeze(value) if isinstance(value, np.ndarray) else value


def _leaves(variables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield arrays by name; fields of structures as ``structure.field``."""
    for name, value in variables.items():
        if name.startswith("__"):
            continue
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


class _Variables:
    """Variables of a file by name."""

    def __init__(self, path: Path, known: Mapping[str, Any]) -> None:
        self._path, self._known = path, known

    def stacked(self, names: str | Sequence[str], axes: str, order: str) -> Array:
        """Return a variable, or one for each coordinate, with its axes in another order."""
        if isinstance(names, str):
            value = self._numbers(names)
            if value.ndim == len(axes) - 1:  # one coordinate, whose axis MATLAB drops; joint variances have none
                axes = axes.replace("d", "")
        else:
            value = np.stack([self._numbers(name) for name in names], axis=-1)
            axes = axes.replace("d", "") + "d"
        if value.ndim != len(axes):
            raise FileFormatError(
                f"must have {len(axes)} axes ({', '.join(axes)}), got shape {value.shape}",
                path=self._path,
                key=str(names),
            )
        value = value.transpose([axes.index(letter) for letter in order if letter in axes])
        return np.ascontiguousarray(value if "d" in axes or order == "nd" else value[..., None])

    def _numbers(self, name: str) -> Array:
        if name not in self._known:
            known = ", ".join(self._known) or "none"
            hint = nearest_hint(name, self._known)
            raise UnknownNameError(f"{self._path}: must hold {name!r}, has {known}{hint}")
        try:
            return numbers(self._known[name], name)
        except ThunderError as error:
            raise FileFormatError(str(error), path=self._path, key=name) from None
