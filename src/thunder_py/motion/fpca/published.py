"""Components that others published: samples to splines, and files that hold them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, numbers
from ...errors import FileFormatError, ThunderError, ThunderWarning, UnknownNameError, nearest_hint, outer_level
from ...files import as_file, read_archive
from ...tabular.mat_file import read_mat
from .curves import Curves, array_curves
from .splines import Smoothed, SplineBasis, smooth

#: bases tried by default: those of the paper's authors and of this package
_BASES = (SplineBasis(15, degree=4), SplineBasis(15, degree=5))
#: size of a function, relative to the largest one, below which it counts as zero
_NOTHING = 1e-12


def fit_samples(
    functions: Array, tau: npt.ArrayLike | None, dofs: Sequence[str] | None, basis: SplineBasis | None, tolerance: float
) -> tuple[Curves, SplineBasis, Smoothed]:
    """Fit splines to functions (1 + n, T, d) by least squares, and warn of differences above a share of a function."""
    grid = np.linspace(0.0, 1.0, functions.shape[1]) if tau is None else numbers(tau, "tau")
    ends = grid.shape == functions.shape[1:2] and abs(grid[0]) + abs(grid[-1] - 1.0) <= 1e-9
    if not ends or (np.diff(grid) <= 0.0).any():
        raise ThunderError(f"tau must be {functions.shape[1]} increasing numbers from 0 to 1, got {tau!r}")
    sizes = np.sqrt((functions[1:] ** 2).mean(axis=(1, 2)))
    empty = np.flatnonzero(sizes <= _NOTHING * sizes.max(initial=0.0))
    if len(empty):
        raise ThunderError(f"components must not be zero, got zeros in all samples of component {empty[0] + 1}")
    names = ["the mean", *(f"component {i + 1}" for i in range(len(functions) - 1))]
    curves = replace(array_curves(functions, dofs, grid), names=names)
    fits = {one: smooth(curves, one, None) for one in (_BASES if basis is None else (basis,))}
    shares = {one: _share(functions, one.evaluate(grid) @ fit.coefficients) for one, fit in fits.items()}
    best = min(shares, key=lambda one: shares[one])
    if shares[best] > tolerance:
        warnings.warn(
            f"splines of {best} differ from the samples of the components by {shares[best]:.2g} of their size "
            f"(RMS), more than {tolerance:.2g}: plans may differ by far more. Pass the basis that the components were "
            "published with, or one with more functions",
            ThunderWarning,
            stacklevel=outer_level(),
        )
    return curves, best, fits[best]


def _share(functions: Array, fitted: Array) -> float:
    """Return the largest RMS difference of a function in a coordinate, relative to its RMS value."""
    size = np.sqrt((functions**2).mean(axis=1))
    counts = size > _NOTHING * size.max(initial=0.0)
    left = np.sqrt(((functions - fitted) ** 2).mean(axis=1))
    return float((left[counts] / size[counts]).max(initial=0.0))


def read_samples(
    path: str | Path,
    axes: str,
    components: str | Sequence[str],
    mean: str | Sequence[str] | None,
    variances: str | Sequence[str] | None,
) -> tuple[Array, Array | None, Array | None]:
    """Read components (n, T, d), mean (T, d) and variances (n, d); see `FPCA.read_components`.

    Files are MATLAB (``.mat``, up to version 7) or NumPy (``.npz``).
    """
    if sorted(axes) != ["d", "n", "t"]:
        raise ThunderError(f'axes must be the letters "t", "n" and "d" in some order, got {axes!r}')
    file = as_file(path)
    known = dict(_leaves(read_mat(path) if file.suffix.lower() == ".mat" else read_archive(path, "numpy.savez")))
    S0, variance = (
        None if names is None else _stacked(file, known, names, axes, order)
        for names, order in ((mean, "td"), (variances, "nd"))
    )
    return _stacked(file, known, components, axes, "ntd"), S0, variance


def _leaves(variables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield arrays by name; fields of structures as ``structure.field``."""
    for name, value in variables.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _stacked(file: Path, known: Mapping[str, Any], names: str | Sequence[str], axes: str, order: str) -> Array:
    """Return a variable, or one for each coordinate, with those axes that `order` names, in that order."""
    axes = "".join(letter for letter in axes if letter in order)
    values = [_numbers(file, known, name) for name in ([names] if isinstance(names, str) else names)]
    if not isinstance(names, str):
        value, axes = np.stack(values, axis=-1), axes.replace("d", "") + "d"
    elif (value := values[0]).ndim == len(axes) - 1:  # one coordinate, whose axis MATLAB drops; joint variances
        axes = axes.replace("d", "")
    if value.ndim != len(axes):
        text = f"must have {len(axes)} axes ({', '.join(axes)}), got shape {value.shape}"
        raise FileFormatError(text, path=file, key=str(names))
    value = value.transpose([axes.index(letter) for letter in order if letter in axes])
    return np.ascontiguousarray(value if "d" in axes or order == "nd" else value[..., None])


def _numbers(file: Path, known: Mapping[str, Any], name: str) -> Array:
    """Return a variable; MATLAB's have two axes or more, also of length 1."""
    if name not in known:
        names, hint = ", ".join(known) or "none", nearest_hint(name, known)
        raise UnknownNameError(f"{file}: must hold {name!r}, has {names}{hint}")
    try:
        value = numbers(known[name], name)
    except ThunderError as error:
        raise FileFormatError(str(error), path=file, key=name) from None
    return np.squeeze(value) if file.suffix.lower() == ".mat" else value
