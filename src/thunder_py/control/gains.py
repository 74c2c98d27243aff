"""Gains as arguments of controllers; docs/conventions.md lists their letters and units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError

__all__ = ["argument_names", "either_pair", "gain"]


def gain(value: npt.ArrayLike, size: int) -> Array:
    """Return a gain, already checked by the core, as a matrix."""
    matrix = np.asarray(value, dtype=np.float64)
    return matrix if matrix.ndim == 2 else np.diag(np.broadcast_to(matrix, (size,)))


def either_pair(
    K_0: npt.ArrayLike | None, K_1: npt.ArrayLike | None, K_p: npt.ArrayLike | None, K_d: npt.ArrayLike | None
) -> tuple[npt.ArrayLike, npt.ArrayLike, dict[str, str]]:
    """Return the gains of position and velocity error that are given, and their names by those of the core."""
    if K_0 is not None and K_1 is not None and K_p is None and K_d is None:
        return K_0, K_1, {"K_p": "K_0", "K_v": "K_1"}
    if K_p is not None and K_d is not None and K_0 is None and K_1 is None:
        return K_p, K_d, {"K_v": "K_d"}
    given = [name for name, value in {"K_0": K_0, "K_1": K_1, "K_p": K_p, "K_d": K_d}.items() if value is not None]
    raise ThunderError(f"gains must be K_0 and K_1, or K_p and K_d, got {' and '.join(given) or 'none'}")


@contextmanager
def argument_names(**names: str) -> Iterator[None]:
    """Replace the core's names of arguments, the keys, by Python's in messages of errors."""
    try:
        yield
    except ValueError as error:
        error.args = (re.sub(rf"\b({'|'.join(names)})\b", lambda match: names[match[0]], str(error)),)
        raise
