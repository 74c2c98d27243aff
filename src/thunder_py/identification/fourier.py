"""Finite Fourier series as motions: linear in their coefficients, at rest where a period starts and ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..checks import Array

if TYPE_CHECKING:
    from ..trajectory import FourierSeries

__all__ = ["FourierBasis"]


@dataclass(frozen=True)
class FourierBasis:
    """Series that start and end at rest, at `samples` instants of one period.

    With coefficients c, (m, n) with m = 2 H - 2, the motion is ``q = q0 + S[0] c``, ``dq = S[1] c``, ``ddq = S[2] c``.

    Attributes
    ----------
    period : float
        [s].
    harmonics : int
        H, at least 2.
    samples : int
        Instants, evenly spaced.
    """

    period: float
    harmonics: int
    samples: int

    @cached_property
    def frequencies(self) -> Array:
        """``w k``, (H,) [rad/s]."""
        return np.asarray(2.0 * np.pi / self.period * np.arange(1.0, self.harmonics + 1.0))

    @cached_property
    def t(self) -> Array:
        """Instants [s], without the end, which is the start again."""
        return np.asarray(np.arange(self.samples) * (self.period / self.samples))

    @cached_property
    def _at_rest(self) -> Array:
        """Orthonormal columns of amplitudes (sines above cosines) with velocity and acceleration zero at t = 0."""
        from scipy.linalg import null_space

        w, zero = self.frequencies, np.zeros(self.harmonics)
        basis: Array = null_space(np.block([[w, zero], [zero, w**2]]))
        return basis

    @cached_property
    def S(self) -> tuple[Array, Array, Array]:
        """Shapes of position, velocity and acceleration, each (samples, m)."""
        w = self.frequencies
        phase = np.outer(self.t, w)
        sine, cosine = np.sin(phase), np.cos(phase)
        shapes = ((sine, -cosine), (cosine * w, sine * w), (-sine * w**2, cosine * w**2))
        first, second, third = (np.hstack(pair) @ self._at_rest for pair in shapes)
        return first, second, third

    @property
    def size(self) -> int:
        """Coefficients of a joint, m."""
        return 2 * self.harmonics - 2

    def states(self, q0: Array, c: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at the instants, each (samples, n)."""
        S = self.S
        return q0 + S[0] @ c, S[1] @ c, S[2] @ c

    def pull_back(self, gradients: Sequence[Array]) -> tuple[Array, Array]:
        """Gradients by q0, (n,), and c, (m, n), of what has these by the states."""
        c = sum((shape.T @ g for shape, g in zip(self.S, gradients, strict=True)), np.zeros(()))
        return gradients[0].sum(axis=0), np.asarray(c)

    def series(self, q0: Array, c: Array) -> FourierSeries:
        """Return the reference with these coefficients."""
        from ..trajectory import FourierSeries

        amplitudes = self._at_rest @ c
        sine, cosine = amplitudes[: self.harmonics], amplitudes[self.harmonics :]
        w = self.frequencies[:, None]
        return FourierSeries((sine * w).T, (cosine * w).T, q0, 1.0 / self.period)
