"""Adaptation laws, and the argument ``adaptation`` of adaptive controllers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import (
    Array,
    all_nonnegative,
    argument_names,
    array,
    nonnegative,
    of_kind,
    one_of,
    one_or_each,
    per_joint,
    positive,
    real,
)
from ..errors import ThunderError
from ..model.parameters import UnknownParameters
from ..robot import Robot

#: unknown parameters, see `Robot.unknown`
Unknown: TypeAlias = "str | Sequence[str] | npt.ArrayLike | UnknownParameters | None"


def select(robot: Robot, unknown: Unknown) -> UnknownParameters:
    """Return the selected parameters, see `Robot.unknown`; raise ValueError if there are none."""
    chosen = robot.unknown(unknown)
    if not chosen.mask.any():
        raise ThunderError("unknown must select at least one parameter")
    return chosen


@dataclass(frozen=True, eq=False)
class _Adaptation:
    """Arguments common to the adaptation laws: the parameters that adapt, and the dead zone."""

    _: KW_ONLY
    unknown: Unknown = None
    dead_zone: npt.ArrayLike = 0.0

    def build(self, unknown: UnknownParameters) -> _core.AdaptationLaw:
        """Return the law for these unknown parameters; raise ValueError if sizes or values do not fit them."""
        raise NotImplementedError

    def _widths(self, n: int) -> Array | None:
        widths = all_nonnegative(per_joint(self.dead_zone, n, "dead_zone"), "dead_zone")
        return widths if widths.any() else None


@dataclass(frozen=True, eq=False)
class GradientAdaptation(_Adaptation):
    """Gradient adaptation law ``pihat' = Gamma^-1 Y_u' s``, with optional bounds and dead zone.

    ``adaptation=10.0`` of a controller is short for ``adaptation=GradientAdaptation(10.0)``.

    Parameters
    ----------
    Gamma : float, (u,) or (u, u) array_like
        Adaptation gain of the u unknown parameters; a larger one adapts more slowly. `link_gains` computes it from one
        gain per link, `GradientAdaptation.proportional` from the size of the parameters.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters to adapt, see `Robot.unknown`; default all.
    lower, upper : float or (u,) array_like, optional
        Bounds on the estimate, enforced by projection; require a diagonal `Gamma`. They must contain the true
        parameters.
    dead_zone : float or (n,) array_like
        Half-width of the band of s [rad/s or m/s] without adaptation; it rejects measurement noise.

    Notes
    -----
    Thunder article, eq. (34). With projection the Lyapunov function of the law still does not increase. With a dead
    zone this is proved for a single joint (Slotine and Coetsee 1986); for an arm, whose joints are coupled, it can
    increase while some entries of s are inside the dead zone.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> masses = ["link1.m", "link2.m"]
    >>> law = th.control.GradientAdaptation(5.0, unknown=masses, lower=0.0, upper=10.0, dead_zone=0.01)
    >>> controller = th.SlotineLi(robot, Lambda=5.0, K_d=8.0, adaptation=law)
    >>> controller.unknown.names
    ('link1.m', 'link2.m')
    >>> slow = th.control.GradientAdaptation.proportional(robot, eta=10.0, unknown=masses)
    >>> slow.Gamma.round(3).tolist()
    [3.333, 5.0]
    """

    Gamma: npt.ArrayLike
    _: KW_ONLY
    lower: npt.ArrayLike | None = None
    upper: npt.ArrayLike | None = None

    @classmethod
    def proportional(
        cls,
        robot: Robot,
        eta: float,
        *,
        unknown: Unknown = None,
        floor: float = 1e-3,
        dead_zone: npt.ArrayLike = 0.0,
    ) -> GradientAdaptation:
        """Return a law with gains scaled by the parameters: ``Gamma_i = eta / max(|pi_i|, floor)``.

        Each estimate then adapts in proportion to its magnitude (D4.2, section 3.2.3).

        Parameters
        ----------
        robot : Robot
            Robot with parameters of the expected size.
        eta : float
            Common gain; a larger one adapts more slowly.
        unknown, dead_zone
            See the class.
        floor : float
            Least size of an entry (SI units).

        Raises
        ------
        ValueError
            If `eta` or `floor` is not positive.
        """
        sizes = np.maximum(np.abs(select(robot, unknown).values), positive(floor, "floor"))
        return cls(positive(eta, "eta") / sizes, unknown=unknown, dead_zone=dead_zone)

    def build(self, unknown: UnknownParameters) -> _core.AdaptationLaw:
        """Return the law for these unknown parameters; raise ValueError if sizes or values do not fit them."""
        size = unknown.values.size
        lower = upper = None
        if self.lower is not None or self.upper is not None:
            lower = one_or_each(-np.inf if self.lower is None else self.lower, size, "lower", finite=False)
            upper = one_or_each(np.inf if self.upper is None else self.upper, size, "upper", finite=False)
        return _core.GradientLaw(self.Gamma, size, lower, upper, self._widths(unknown.robot.n))


@dataclass(frozen=True, eq=False)
class NaturalAdaptation(_Adaptation):
    """Natural adaptation law: the estimate of every link stays physically consistent.

    A link's ten parameters form its pseudo-inertia P, which is positive definite for every physical body. With
    ``tr(B P) = (Y_i' s)' pi`` the law is ``P' = P B P / gamma``. It is integrated along geodesics: P stays positive
    definite at any gain.

    Parameters
    ----------
    gamma : float or (k,) array_like
        One gain for each of the k unknown links; a larger one adapts more slowly.
    rest : float or (r,) array_like, optional
        Gains of the r unknown parameters of friction and motors. These follow the gradient law and stay nonnegative.
        Required if there are any.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters to adapt, see `Robot.unknown`, in whole links; default all.
    dead_zone : float or (n,) array_like
        See `GradientAdaptation`.

    Notes
    -----
    Lee, Kwon and Park (2018). With D the Bregman divergence of -log det, ``V = 1/2 s' M s + sum gamma_i D(P_i ||
    Phat_i)`` has the derivative ``-s' K_d s`` in continuous time. The initial estimate must be physically consistent,
    see `Robot.inertial_is_physical`.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> guess = robot.with_parameters(0.5 * robot.parameters)
    >>> law = th.control.NaturalAdaptation(gamma=0.5, unknown="link2")
    >>> controller = th.SlotineLi(guess, 5.0, 8.0, adaptation=law)
    >>> motion = th.reference.Sinusoid([0.5, 0.5], 0.5)
    >>> result = th.simulate(robot, controller, motion, 2.0, dq0=motion(0.0).dq)
    >>> robot.with_parameters(controller.parameters).inertial_is_physical().tolist()
    [True, True]
    """

    gamma: npt.ArrayLike
    rest: npt.ArrayLike | None = None

    def build(self, unknown: UnknownParameters) -> _core.AdaptationLaw:
        """Return the law for these unknown parameters; raise ValueError if sizes or values do not fit them."""
        robot = unknown.robot
        links = unknown.mask[: 10 * robot.n].reshape(robot.n, 10)
        partial = [robot.link_names[i] for i in np.flatnonzero(links.any(axis=1) & ~links.all(axis=1))]
        if partial:
            raise ThunderError(f"unknown must select whole links for the natural law, got parts of {partial}")
        whole = np.flatnonzero(links.all(axis=1))
        if not whole.size:
            raise ThunderError("unknown must select at least one link for the natural law, got none")
        unphysical = [robot.link_names[i] for i in whole if not robot.inertial_is_physical()[i]]
        if unphysical:
            raise ThunderError(
                "robot must have physically consistent links for the natural law, got a pseudo-inertia that is not "
                f"positive definite for {unphysical}; the gradient law adapts them"
            )
        others = int(unknown.mask[10 * robot.n :].sum())
        if others and self.rest is None:
            raise ThunderError(
                f"rest must be given: {others} unknown parameters belong to no link, such as {unknown.names[-1]}"
            )
        rest = np.zeros(0) if self.rest is None else one_or_each(self.rest, others, "rest")
        return _core.NaturalLaw(one_or_each(self.gamma, len(whole), "gamma"), rest, self._widths(robot.n))


def link_gains(robot: Robot, gains: npt.ArrayLike, rest: float | None = None) -> Array:
    """Return the diagonal of `Gamma` for all parameters from one gain per link.

    Parameters
    ----------
    robot : Robot
        The nominal model.
    gains : (n,) or (n, 10) array_like
        Gains of the links, or of each of their parameters; a larger one adapts more slowly.
    rest : float, optional
        Gain of all other parameters; required if there are any.

    Returns
    -------
    (p,) array

    Raises
    ------
    ValueError
        If `gains` has another shape, or `rest` is missing.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> Gamma = th.control.link_gains(robot, [2.0, 5.0])
    >>> Gamma.shape, Gamma[[0, 10]].tolist()
    ((20,), [2.0, 5.0])
    """
    of_kind(robot, Robot, "robot")
    if np.ndim(gains) == 2:
        per_link = array(gains, (robot.n, 10), "gains")
    else:
        per_link = array(gains, (robot.n,), "gains")[:, None]
    others = robot.p - 10 * robot.n
    if others and rest is None:
        raise ThunderError(f"rest must be given: {others} parameters belong to no link")
    other_gains = np.full(others, 1.0 if rest is None else positive(rest, "rest"))
    return np.concatenate([np.broadcast_to(per_link, (robot.n, 10)).ravel(), other_gains])


#: adaptation of a controller; a number or array is the Gamma of a `GradientAdaptation`, None a fixed estimate
AdaptationLike: TypeAlias = "GradientAdaptation | NaturalAdaptation | npt.ArrayLike | None"


def _law(adaptation: AdaptationLike) -> GradientAdaptation | NaturalAdaptation | None:
    if adaptation is None or isinstance(adaptation, (GradientAdaptation, NaturalAdaptation)):
        return adaptation
    expected = "a GradientAdaptation, a NaturalAdaptation, a number, an array of numbers or None"
    if isinstance(adaptation, bool):
        raise ThunderError(f"adaptation must be {expected}, got {adaptation}")
    return GradientAdaptation(real(adaptation, "adaptation", expected=expected))


def _inverse_gain(K: npt.ArrayLike) -> Array:
    """Return the inverse of a gain, and 1 of one that the core refuses."""
    values = real(K, "K_d")
    positive = values.diagonal() if values.ndim == 2 and len(set(values.shape)) == 1 else values
    if not (positive > 0.0).all():
        return np.ones(())
    return np.asarray(np.linalg.inv(values) if values.ndim == 2 else 1.0 / values, dtype=np.float64)


class AdaptiveController:
    """Mixin for controllers with an estimate: their arguments ``adaptation`` and those of a prediction error.

    Attributes
    ----------
    adaptation : GradientAdaptation, NaturalAdaptation or None
        Adaptation law; None for a fixed estimate.
    unknown : UnknownParameters
        Parameters to adapt; all for a fixed estimate.
    """

    adaptation: GradientAdaptation | NaturalAdaptation | None
    unknown: UnknownParameters
    prediction_weight: Array | None = None  # gamma R_t, for laws with a prediction error
    route: str = "regressor"  # computation of the filtered regressor

    def _adapt(self, robot: Robot, adaptation: AdaptationLike) -> tuple[_core.AdaptationLaw | None, list[bool]]:
        """Set `adaptation` and `unknown`; return the law and the mask for the core."""
        of_kind(robot, Robot, "robot")
        self.adaptation = law = _law(adaptation)
        self.unknown = select(robot, None if law is None else law.unknown)
        short_form = law is not adaptation  # the user wrote a number or an array
        with argument_names(Gamma="adaptation") if short_form else nullcontext():
            return None if law is None else law.build(self.unknown), self.unknown.mask.tolist()

    def _filtered(self, route: str, cutoff: float) -> tuple[str, float]:
        """Set `route`; return it and the cutoff [rad/s] for the core."""
        self.route = one_of(route, ("regressor", "acceleration"), "route")
        return self.route, 2.0 * math.pi * positive(cutoff, "cutoff")

    def _prediction(
        self, route: str, cutoff: float, gamma: float, R_t: npt.ArrayLike | None, K_d: npt.ArrayLike
    ) -> tuple[str, float, float, npt.ArrayLike]:
        """Set `prediction_weight`; return route, cutoff [rad/s], gamma and R_t for the core, after `_adapt`."""
        R_t = _inverse_gain(K_d) if R_t is None else R_t
        weight = nonnegative(gamma, "gamma")
        if self.adaptation is None:
            weight = 0.0
        if weight > 0.0:
            self.prediction_weight = weight * real(R_t, "R_t")
        return *self._filtered(route, cutoff), weight, R_t
