"""Functional components in ``.npz`` files, without pickles."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileFormatError, ThunderError
from .alignment import PathFrames
from .basis import SplineBasis
from .fpca import FPCA

__all__ = ["load_fpca", "save_fpca"]

_VERSION = 1
_KEY = "thunder_fpca"
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
)
_FRAMES = ("start", "scale", "rotation")


def save_fpca(fpca: FPCA, path: str | Path) -> None:
    """Write fitted components: complete or not at all."""
    target = Path(path)
    if target.suffix != ".npz":
        raise ThunderError(f"path must end in .npz, got {str(path)!r}")
    arrays: dict[str, Any] = {name: getattr(fpca, name) for name in _ARRAYS}
    arrays |= {_KEY: np.array(_VERSION), "knots": fpca.basis.knots, "degree": np.array(fpca.basis.degree)}
    arrays |= {"dofs": np.array(fpca.dofs, dtype=np.str_), "units": np.array(fpca.units, dtype=np.str_)}
    arrays |= {"joint": np.array(fpca.joint), "demean": np.array(fpca.demean), "shrinkage_": np.array(fpca.shrinkage_)}
    # parameters that may be text, a number or nothing go as text
    for name in ("n_components", "smoothing", "shrinkage", "alignment"):
        arrays[name] = np.array(repr(getattr(fpca, name)))
    if fpca.frames_ is not None:
        arrays |= {f"frames.{name}": getattr(fpca.frames_, name) for name in _FRAMES}
    temporary = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def load_fpca(path: str | Path) -> FPCA:
    """Read a file that `save_fpca` wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise
    except (AttributeError, TypeError, ValueError):  # numpy's texts tell of pickles, which these files never are
        raise FileFormatError("not a file of FPCA.save: no archive of plain arrays", path=path) from None
    except Exception as error:
        raise FileFormatError(f"not a file of FPCA.save: {error}", path=path) from error
    if _KEY not in arrays:
        raise FileFormatError(f"not a file of FPCA.save: {_KEY} missing", path=path)
    version = int(arrays[_KEY])
    if version != _VERSION:
        raise FileFormatError(f"version {version} of FPCA.save, this package reads {_VERSION}", path=path, key=_KEY)
    try:
        return _restored(arrays)
    except KeyError as error:
        raise FileFormatError(f"not a file of FPCA.save: {error.args[0]} missing", path=path) from None
    except (ThunderError, TypeError, ValueError) as error:
        raise FileFormatError(f"not a file of FPCA.save: {error}", path=path) from error


def _restored(arrays: dict[str, Any]) -> FPCA:
    fpca = FPCA(
        _parameter(arrays, "n_components"),
        basis=SplineBasis(degree=int(arrays["degree"]), knots=arrays["knots"]),
        smoothing=_parameter(arrays, "smoothing"),
        joint=bool(arrays["joint"]),
        alignment=_parameter(arrays, "alignment"),
        shrinkage=_parameter(arrays, "shrinkage"),
        demean=bool(arrays["demean"]),
    )
    for name in _ARRAYS:
        setattr(fpca, name, np.asarray(arrays[name], dtype=np.float64))
    fpca.dofs, fpca.units = tuple(map(str, arrays["dofs"])), tuple(map(str, arrays["units"]))
    fpca.offset_variance_ = np.diag(fpca.offset_covariance_).copy()
    fpca.shrinkage_ = float(arrays["shrinkage_"])
    aligned = fpca.alignment == "path"
    fpca.frames_ = PathFrames(*(arrays[f"frames.{name}"] for name in _FRAMES)) if aligned else None
    _check_shapes(fpca)
    return fpca


def _parameter(arrays: dict[str, Any], name: str) -> Any:
    """Read text in quotes, a number, or None."""
    text = str(arrays[name])
    if text == "None":
        return None
    if text[:1] == text[-1:] == "'":
        return text[1:-1]
    return int(text) if text.isdigit() else float(text)


def _check_shapes(fpca: FPCA) -> None:
    K, d = fpca.basis.n_functions, len(fpca.dofs)
    n = len(fpca.component_coefficients_)
    expected = {
        "mean_coefficients_": (K, d),
        "component_coefficients_": (n, K, d),
        "variances_": (n,) if fpca.joint else (n, d),
        "offset_mean_": (d,),
        "offset_covariance_": (d, d),
        "smoothing_": (d,),
    }
    for name, shape in expected.items():
        if (came := getattr(fpca, name).shape) != shape:
            raise ThunderError(f"{name} must have shape {shape}, got {came}")
