"""Rhythmic dynamic movement primitives (Ijspeert et al. 2013)."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, finite, per_joint, positive
from ...errors import ThunderError, ThunderWarning, outer_level
from ...trajectory.hermite import duration_of
from .bases import PERIODIC, DMPBasis, fit_weights
from .demonstrations import Demonstration, read_demonstrations
from .dynamic_potential import DynamicPotential
from .rhythm import find_phase
from .sampled_motion import SampledMotion
from .stepping import DMPState, PositionPrimitive, place, sample, span_of

#: a demonstration lasts at least this part of a given period
_WHOLE = 1.0 - 1e-9
#: largest RMS residual of the learned cycle without warning, relative to the amplitude; at 0.2, cycles of different
#: phase are learned 2 % too small
_RESIDUAL = 0.2
#: coordinates with less than this part of the largest amplitude are not judged
_SMALL = 0.1
#: harmonics of the limit cycle that are smaller than this, relative to the largest, are left out
_NEGLIGIBLE = 1e-17


@dataclass(eq=False, repr=False)
class RhythmicDMP(PositionPrimitive):
    """Rhythmic dynamic movement primitive: spring and damper towards a baseline, with a periodic forcing term.

    Parameters
    ----------
    n_basis : int
        Number of von Mises functions, see `DMPBasis`.
    overlap : float
        Overlap of the functions.
    K, D : float
        Stiffness and damping in time t / tau, where tau is the period divided by 2 pi: sqrt(K) is the ratio of the
        natural frequency to that of the motion. D is 2 sqrt(K) by default.
    regression : str
        ``"ls"`` for least squares of all weights, ``"lwr"`` for locally weighted regression of each.

    Attributes
    ----------
    weights_ : (n_basis, d) array
        Weights of the basis functions.
    goal_ : (d,) array
        Baseline: the mean of the motion over a period, the default of rollouts.
    period_ : float
        Mean period of the first demonstration, the default of rollouts [s].
    residuals_ : (d,) array
        RMS distances of the demonstrations from the learned cycle; NaN without demonstrations.
    condition_ : float
        Condition number of the least squares; NaN for ``"lwr"``.
    basis_ : DMPBasis
        Basis functions.
    D_ : float
        Damping used.

    Notes
    -----
    With the phase ``tau x' = 1``, an angle, and ``tau y' = z``, ``tau z' = K (g - y) - D z + K r f(x)``, where g is the
    baseline, r the amplitude relative to the demonstration, and ``f = sum w_i Phi_i / sum Phi_i`` with von Mises
    functions Phi_i. f has zero mean. Goal, amplitude and frequency may change between steps: position and velocity are
    continuous, and the motion converges to the new limit cycle, on which y - g is r times that of the demonstration.
    Phase and linear part are integrated exactly, forcing and obstacles to fourth order.

    References
    ----------
    A. J. Ijspeert, J. Nakanishi, H. Hoffmann, P. Pastor, S. Schaal, "Dynamical movement primitives: learning attractor
    models for motor behaviors", Neural Computation 25, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.motion import RhythmicDMP
    >>> t = np.linspace(0.0, 6.0, 601)
    >>> dmp = RhythmicDMP().fit((t, np.column_stack([0.2 * np.sin(4.0 * t), 0.1 * np.sin(8.0 * t)])))
    >>> round(dmp.period_ / (0.5 * np.pi), 6)
    1.0
    >>> dmp.rollout(amplitude=2.0, frequency=1.0, duration=3.0).x.shape
    (1501, 2)
    >>> state = dmp.reset()
    >>> dmp.amplitude = 0.5
    >>> dmp.step(0.01).x.shape
    (2,)
    """

    n_basis: int = 25
    goal_: Array = field(init=False)
    period_: float = field(init=False)
    residuals_: Array = field(init=False)
    _stored = ("weights_", "goal_", "period_")
    _results = ("condition_", "residuals_")

    # -- learning ------------------------------------------------------------------------------------------------------

    def fit(
        self,
        demonstrations: Any,
        y: object = None,
        *,
        period: float | None = None,
        cutoff: float = math.inf,
        samples: int = 1001,
    ) -> RhythmicDMP:
        """Learn baseline and forcing term.

        Parameters
        ----------
        demonstrations
            One or several, as for `DMP.fit`; all begin at the same phase, which is phase 0. Demonstrations have equal
            weights.
        y : object
            Ignored; scikit-learn passes it.
        period : float, optional
            Period [s], which is then constant. By default that of each demonstration is found, and followed where it
            drifts, which takes two cycles or more, see `primitives.rhythm.find_phase`.
        cutoff, samples
            As for `DMP.fit`.

        Returns
        -------
        RhythmicDMP
            The fitted primitive itself.

        Warns
        -----
        ThunderWarning
            If a coordinate of the demonstrations is farther from the learned cycle than a fifth of its amplitude (RMS):
            cycles differ in shape or size, other movements precede or follow them, or their period drifts beyond what
            can be followed.
        RecordingWarning
            For units, times and gaps that can hardly be right, see `recordings.check_plausible`.

        Raises
        ------
        ThunderError
            For arguments of the constructor out of range; NaN; fewer samples than basis functions; a demonstration
            shorter than a period, or without one.
        """
        basis, D = self._checked()
        demos = read_demonstrations(demonstrations, cutoff, samples)
        found = [_phase(demo, period, f"demonstration {k}") for k, demo in enumerate(demos)]
        phases = [phase for _, phase in found]
        x, share = np.concatenate([phase[0] for phase in phases]), np.concatenate([demo.share for demo in demos])
        rate, change = (np.concatenate([phase[k] for phase in phases])[:, None] for k in (1, 2))
        y, dy, ddy = (np.concatenate([getattr(demo, name) for demo in demos]) for name in ("x", "dx", "ddx"))
        slope = dy / rate
        target = ((ddy - change * slope) / rate**2 + D * slope) / self.K + y
        weights, condition = fit_weights(basis, x, share, target, np.ones_like(target), self.regression)
        # functions sum to one, so that a constant part of f is that of the weights
        mean = basis.forcing(weights, _angles(basis)).mean(axis=0)
        self.with_weights(weights - mean, mean, found[0][0])
        self.condition_ = condition
        self._judge(y, x, share / len(demos))
        return self

    def with_weights(self, weights: npt.ArrayLike, goal: npt.ArrayLike, period: float) -> RhythmicDMP:
        """Set weights (n_basis, d) learned elsewhere, with baseline (d,) and period [s] of their demonstration."""
        w = self._read_weights(weights)
        g, T = array(goal, (w.shape[1],), "goal"), duration_of(period)
        self._learn(_core.Dmp, w, _core.DmpScaling.rhythmic, False, w, 0.0 * g)
        self.goal_, self.period_, self.residuals_ = g, T, np.full(len(g), np.nan)
        return self

    def _basis(self) -> DMPBasis:
        return DMPBasis(self.n_basis, PERIODIC, overlap=self.overlap)

    def _judge(self, x: Array, phase: Array, share: Array) -> None:
        """Store the residuals of demonstrations (k, d), and warn of large ones."""
        away = x - self.goal_
        self.residuals_ = np.sqrt(share @ np.square(away - self.cycle(phase)))
        amplitude = np.sqrt(share @ np.square(away))
        part = self.residuals_ / np.maximum(amplitude, max(_SMALL * amplitude.max(), np.finfo(np.float64).tiny))
        k = int(np.argmax(part))
        if part[k] > _RESIDUAL:
            warnings.warn(
                f"coordinate {k} of the demonstrations has an RMS distance of {self.residuals_[k]:.3g} from the "
                f"learned cycle, {part[k]:.0%} of its amplitude (limit {_RESIDUAL:.0%}): cut off what does not repeat "
                "(Trial.slice), filter noise (cutoff), show cycles that are alike, or use more functions and "
                "regression='ls', since 'lwr' smooths",
                ThunderWarning,
                stacklevel=outer_level(),
            )

    # -- whole motions -------------------------------------------------------------------------------------------------

    def cycle(self, x: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return the limit cycle of amplitude 1 about zero, or a derivative of it with respect to the phase.

        Parameters
        ----------
        x : (k,) array_like
            Phases [rad].
        derivative : int
            Order of the derivative.

        Returns
        -------
        (k, d) array
            The periodic solution of the equation, from the harmonics of f.
        """
        f = self.forcing(_angles(self.basis_))
        k = np.arange(len(f) // 2 + 1)
        harmonics = self.K * np.fft.rfft(f, axis=0) / (self.K - k**2 + 1j * self.D_ * k)[:, None] / len(f)
        harmonics[1:] *= 2.0
        size = np.abs(harmonics).max(axis=1)
        kept = size > _NEGLIGIBLE * size.max()
        waves = np.exp(1j * np.outer(array(x, (None,), "x"), k[kept]))
        return np.asarray(np.real(waves @ ((1j * k[kept, None]) ** derivative * harmonics[kept])))

    def rollout(
        self,
        start: npt.ArrayLike | None = None,
        goal: npt.ArrayLike | None = None,
        amplitude: npt.ArrayLike = 1.0,
        frequency: float | None = None,
        duration: float | None = None,
        dt: float | None = None,
        *,
        phase: float = 0.0,
        start_velocity: npt.ArrayLike | None = None,
        obstacles: Any = (),
        potential: DynamicPotential | None = None,
    ) -> SampledMotion:
        """Integrate a motion.

        Parameters
        ----------
        start, start_velocity : (d,) array_like, optional
            Position and velocity at the start, by default those of the limit cycle at `phase`.
        goal : (d,) array_like, optional
            Baseline g; by default that of the demonstration.
        amplitude : float or (d,) array_like
            Amplitude r, relative to the demonstration.
        frequency : float, optional
            Periods per second [Hz]; by default that of the demonstration.
        duration : float, optional
            Duration [s]; by default a period.
        dt : float, optional
            Time between samples [s], default a five-hundredth of the period. It is shortened to divide the duration;
            integration steps may be shorter.
        phase : float
            Phase at the start [rad].
        obstacles, potential
            As for `DMP.rollout`.

        Returns
        -------
        SampledMotion
            Samples.
        """
        core = self._copy()
        period = self._reset(core, start, goal, amplitude, frequency, phase, start_velocity)
        place(core, obstacles, potential)
        return SampledMotion(*sample(core, *span_of(duration, dt, period, "duration"), period))

    # -- a step at a time ----------------------------------------------------------------------------------------------

    def reset(
        self,
        start: npt.ArrayLike | None = None,
        goal: npt.ArrayLike | None = None,
        amplitude: npt.ArrayLike = 1.0,
        frequency: float | None = None,
        *,
        phase: float = 0.0,
        start_velocity: npt.ArrayLike | None = None,
        goal_filter: float = 0.0,
        obstacles: Any = (),
        potential: DynamicPotential | None = None,
    ) -> DMPState:
        """Start a motion for `step`, with the parameters of `rollout`.

        Parameters
        ----------
        goal_filter : float
            Time constant of a low-pass filter of `goal` and `amplitude` [s]; 0 is no filter, with a jump of
            acceleration at new values.
        """
        core = self._copy()
        self._reset(core, start, goal, amplitude, frequency, phase, start_velocity)
        return self._start(core, goal_filter, obstacles, potential)

    @property
    def phase(self) -> float:
        """Phase, an angle from 0 to 2 pi [rad]."""
        return self._started().phase % (2.0 * math.pi)

    @property
    def amplitude(self) -> Array:
        """Current amplitude, (d,); a number or (d,) may be set between steps."""
        return self._started().amplitude

    @amplitude.setter
    def amplitude(self, value: npt.ArrayLike) -> None:
        core = self._started()
        core.set_amplitude(per_joint(value, core.dimension, "amplitude"))

    @property
    def frequency(self) -> float:
        """Periods per second [Hz]; may be set between steps, with continuous phase, position and velocity."""
        return 1.0 / (2.0 * math.pi * self._started().tau)

    @frequency.setter
    def frequency(self, value: float) -> None:
        self._started().set_tau(1.0 / (2.0 * math.pi * positive(value, "frequency")))

    def _reset(
        self, core: _core.Dmp, start: Any, goal: Any, amplitude: Any, frequency: Any, phase: Any, velocity: Any
    ) -> float:
        """Reset a core, and return the period [s]."""
        shape = (core.dimension,)
        period = self.period_ if frequency is None else 1.0 / positive(frequency, "frequency")
        tau, angle = duration_of(period) / (2.0 * math.pi), finite(phase, "phase") % (2.0 * math.pi)
        g = self.goal_ if goal is None else array(goal, shape, "goal")
        r = per_joint(amplitude, core.dimension, "amplitude")
        y0 = g + r * self.cycle([angle])[0] if start is None else array(start, shape, "start")
        v0 = r * self.cycle([angle], 1)[0] / tau if velocity is None else array(velocity, shape, "start_velocity")
        core.reset(y0, g, tau, v0, r, angle)
        return period


def _angles(basis: DMPBasis) -> Array:
    """Return even angles, dense enough for means and harmonics of f to rounding."""
    return np.linspace(0.0, 2.0 * math.pi, max(1024, 64 * basis.n_basis), endpoint=False)


def _phase(demo: Demonstration, period: float | None, name: str) -> tuple[float, Array]:
    """Return period [s], and phase with two derivatives, (3, k)."""
    if period is None:
        return find_phase(demo.t, demo.x, name)
    if demo.duration < _WHOLE * duration_of(period):
        raise ThunderError(f"{name} must last at least a period of {period:g} s, got {demo.duration:g} s")
    rate = np.full(len(demo.t), 2.0 * math.pi / period)
    return float(period), np.array([rate * demo.t, rate, 0.0 * rate])
