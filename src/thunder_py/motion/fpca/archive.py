"""Files of fitted functional components, and checks of what they contain, since planners solve with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ...checks import all_nonnegative, all_positive, array, numbers, within
from ...errors import ThunderError
from ..alignment import PathFrames
from ..estimator_file import read_estimator, scalar, texts, write_estimator
from .splines import SplineBasis

_Kind = TypeVar("_Kind", bound=Any)


def _shapes(K: int, d: int, n: int, R: int, joint: bool) -> dict[str, tuple[int, ...]]:
    """Return the shapes of results by name: K functions, d coordinates, n components, R motions."""
    each = (n,) if joint else (n, d)
    return {
        "mean_coefficients_": (K, d),
        "component_coefficients_": (n, K, d),
        "explained_variance_": each,
        "total_variance_": each[1:],
        "offset_mean_": (d,),
        "offset_covariance_": (d, d),
        "smoothing_": (d,),
        "residual_": (d,),
        "scores_": (R, *each),
        "offsets_": (R, d),
        "durations_": (R,),
    }


def save_fpca(fpca: Any, path: str | Path) -> None:
    """Write fitted components atomically."""
    names = [*_shapes(0, 0, 0, 0, joint=True), "dofs", "units", "alignment_", "shrinkage_", "support_"]
    frames = {} if fpca.frames_ is None else vars(fpca.frames_)
    frames = {f"frames.{name}": value for name, value in frames.items()}
    write_estimator(path, fpca, *names, basis=fpca.basis_.knots, **frames)


def load_fpca(path: str | Path, kind: type[_Kind]) -> _Kind:
    """Read a file written by `save_fpca`; `kind` is the estimator's class."""
    with read_estimator(path, kind, basis=_basis) as (fpca, arrays):
        fpca.basis_ = fpca._checked()[0]
        fpca.basis = None if fpca.basis == SplineBasis() else fpca.basis
        fpca._dofs, fpca._units = texts(arrays, "dofs"), texts(arrays, "units")
        _restore(fpca, arrays)
    return fpca


def _basis(knots: Any) -> SplineBasis:
    return SplineBasis(degree=int((numbers(knots, "basis") == 0.0).sum()) - 1, knots=knots)


def _restore(fpca: Any, arrays: Mapping[str, Any]) -> None:
    """Set the results of a fit, or raise `ThunderError` for what no fit returns."""
    d, (n, R) = len(fpca.dofs), (len(np.atleast_1d(arrays[name])) for name in ("component_coefficients_", "offsets_"))
    if len(set(fpca.dofs)) != d or len(fpca.units) != d or not d:
        raise ThunderError(f"dofs and units must name the same coordinates, got {fpca.dofs} and {fpca.units}")
    durations = numbers(arrays["durations_"], "durations_")  # NaN where unknown
    known = {**arrays, "durations_": np.where(np.isnan(durations), 1.0, durations)}
    for name, shape in _shapes(fpca.basis_.n_functions, d, n, R, fpca.joint).items():
        setattr(fpca, name, array(known[name], shape, name))
    for name in ("explained_variance_", "total_variance_", "smoothing_", "residual_"):
        all_nonnegative(getattr(fpca, name), name)
    all_positive(fpca.durations_, "durations_")
    C = fpca.offset_covariance_
    if not np.allclose(C, C.T, rtol=1e-9, atol=0.0) or (np.diag(C) < 0.0).any():
        raise ThunderError("offset_covariance_ must be symmetric, and not negative on its diagonal")
    fpca.durations_, fpca.shrinkage_ = durations, within(scalar(arrays, "shrinkage_"), "shrinkage_", 0.0, 1.0)
    fpca.support_, fpca.alignment_ = arrays["support_"], str(arrays["alignment_"])
    if fpca.support_.dtype.kind != "b" or fpca.support_.ndim != 1 or fpca.support_.sum() != R:
        raise ThunderError(f"support_ must be True for {R} motions, got {fpca.support_!r}")
    if fpca.alignment_ not in ("path", "none") or fpca.alignment not in ("auto", fpca.alignment_):
        raise ThunderError(f'alignment_ must be "path" or "none", as alignment, got {fpca.alignment_!r}')
    fpca.frames_ = _frames(arrays, R) if fpca.alignment_ == "path" else None


def _frames(arrays: Mapping[str, Any], R: int) -> PathFrames:
    shapes = {"frames.start": (R, 3), "frames.scale": (R,), "frames.rotation": (R, 3, 3)}
    frames = PathFrames(*(array(arrays[name], shape, name) for name, shape in shapes.items()))
    turned = np.swapaxes(frames.rotation, 1, 2) @ frames.rotation
    if np.abs(turned - np.eye(3)).max(initial=0.0) > 1e-9 or (frames.scale <= 0.0).any():
        raise ThunderError("frames must have rotations and positive scales")
    return frames
