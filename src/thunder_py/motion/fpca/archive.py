"""Files of fitted functional components, and checks of what they contain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...checks import numbers
from ...errors import ThunderError
from ..alignment import PathFrames
from ..estimator_file import archived, flag, parameter, scalar, texts, write_arrays
from .splines import SplineBasis

_ARRAYS = (
    "mean_coefficients_",
    "component_coefficients_",
    "variances_",
    "total_variance_",
    "offset_mean_",
    "offset_covariance_",
    "scores_",
    "offsets_",
    "durations_",
    "smoothing_",
    "residual_",
)
_FRAMES = ("start", "scale", "rotation")
_FLAGS = ("joint", "demean")


def save_fpca(fpca: Any, path: str | Path) -> None:
    """Write fitted components atomically."""
    arrays: dict[str, Any] = {name: getattr(fpca, name) for name in _ARRAYS}
    arrays |= {"knots": fpca.basis_.knots, "degree": np.array(fpca.basis_.degree)}
    arrays |= {name: np.array(getattr(fpca, name), dtype=np.str_) for name in ("dofs", "units")}
    arrays |= {name: np.array(bool(getattr(fpca, name))) for name in _FLAGS}
    # parameters of several types are stored as text
    _, count, smoothing, shrinkage = fpca._checked()
    values = {"n_components": count, "smoothing": smoothing, "shrinkage": shrinkage}
    values |= {"alignment": fpca.alignment, "alignment_": fpca.alignment_}
    arrays |= {name: np.array(repr(value)) for name, value in values.items()}
    arrays["support_"] = fpca.support_
    arrays["shrinkage_"] = np.array(fpca.shrinkage_)
    if fpca.frames_ is not None:
        arrays |= {f"frames.{name}": getattr(fpca.frames_, name) for name in _FRAMES}
    write_arrays(path, type(fpca), arrays)


def load_fpca(path: str | Path, kind: type[Any]) -> Any:
    """Read a file written by `save_fpca`; `kind` is the estimator's class."""
    with archived(path, kind) as arrays:
        return _restored(arrays, kind)


def _restored(arrays: dict[str, Any], kind: type[Any]) -> Any:
    basis = SplineBasis(degree=int(numbers(arrays["degree"], "degree", 0)), knots=arrays["knots"])
    given = {name: parameter(arrays, name) for name in ("n_components", "smoothing", "alignment", "shrinkage")}
    given |= {name: flag(arrays, name) for name in _FLAGS}
    fpca = kind(basis=None if basis == SplineBasis() else basis, **given)
    fpca.basis_ = fpca._checked()[0]
    for name in _ARRAYS:
        setattr(fpca, name, numbers(arrays[name], name))
    fpca._dofs, fpca._units = texts(arrays, "dofs"), texts(arrays, "units")
    fpca.alignment_ = parameter(arrays, "alignment_")
    if fpca.alignment_ not in ("path", "none") or fpca.alignment not in ("auto", fpca.alignment_):
        raise ThunderError(f'alignment_ must be "path" or "none", as alignment, got {fpca.alignment_!r}')
    aligned = fpca.alignment_ == "path"
    frames = (numbers(arrays[f"frames.{name}"], f"frames.{name}") for name in _FRAMES) if aligned else ()
    fpca.frames_ = PathFrames(*frames) if aligned else None
    fpca.shrinkage_ = scalar(arrays, "shrinkage_")
    fpca.support_ = arrays["support_"]
    check_fitted(fpca)
    fpca.offset_variance_ = np.diag(fpca.offset_covariance_).copy()
    return fpca


def check_fitted(fpca: Any) -> None:
    """Raise `ThunderError` for results of a fit that no fit returns, since planners solve with them."""
    _check_shapes(fpca)
    _check_values(fpca)


def _check_shapes(fpca: Any) -> None:
    K, d = fpca.basis_.n_functions, len(fpca.dofs)
    n, R = (len(a) if a.ndim else -1 for a in (fpca.component_coefficients_, fpca.offsets_))
    if len(set(fpca.dofs)) != d or len(fpca.units) != d or not d:
        raise ThunderError(f"dofs and units must name the same coordinates, got {fpca.dofs} and {fpca.units}")
    support = fpca.support_
    if support.dtype.kind != "b" or support.ndim != 1 or support.sum() != R:
        raise ThunderError(f"support_ must be True for {R} motions, got {support!r}")
    expected = {
        "mean_coefficients_": (K, d),
        "component_coefficients_": (n, K, d),
        "variances_": (n,) if fpca.joint else (n, d),
        "offset_mean_": (d,),
        "offset_covariance_": (d, d),
        "smoothing_": (d,),
        "residual_": (d,),
        "total_variance_": () if fpca.joint else (d,),
        "scores_": (R, n) if fpca.joint else (R, n, d),
        "offsets_": (R, d),
        "durations_": (R,),
    }
    for name, shape in expected.items():
        if (actual := getattr(fpca, name).shape) != shape:
            raise ThunderError(f"{name} must have shape {shape}, got {actual}")
    for name, shape in {"start": (R, 3), "scale": (R,), "rotation": (R, 3, 3)}.items():
        if fpca.frames_ is not None and (actual := getattr(fpca.frames_, name).shape) != shape:
            raise ThunderError(f"frames.{name} must have shape {shape}, got {actual}")


def _check_values(fpca: Any) -> None:
    values = {name: getattr(fpca, name) for name in _ARRAYS if name != "durations_"}
    if fpca.frames_ is not None:
        values |= {f"frames.{name}": getattr(fpca.frames_, name) for name in _FRAMES}
    for name, array in values.items():
        if not np.isfinite(array).all():
            raise ThunderError(f"{name} must be finite")
    for name in ("variances_", "total_variance_", "smoothing_", "residual_"):
        if (getattr(fpca, name) < 0.0).any():
            raise ThunderError(f"{name} must not be negative")
    if not ((fpca.durations_ > 0.0) | np.isnan(fpca.durations_)).all():
        raise ThunderError("durations_ must be positive, or NaN")
    C = fpca.offset_covariance_
    if not np.allclose(C, C.T, rtol=1e-9, atol=0.0) or (np.diag(C) < 0.0).any():
        raise ThunderError("offset_covariance_ must be symmetric, and not negative on its diagonal")
    if not 0.0 <= fpca.shrinkage_ <= 1.0:
        raise ThunderError(f"shrinkage_ must lie in [0, 1], got {fpca.shrinkage_:g}")
    if fpca.frames_ is not None:
        R = fpca.frames_.rotation
        if np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max(initial=0.0) > 1e-9 or (fpca.frames_.scale <= 0.0).any():
            raise ThunderError("frames must have rotations and positive scales")
