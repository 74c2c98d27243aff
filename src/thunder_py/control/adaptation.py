"""Adaptation laws, the ``law=`` of adaptive controllers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array
from ..errors import ModelError
from ..robot import Robot, require_robot
from ..robot.robot import UnknownParameters

__all__ = [
    "ROUTES",
    "GradientAdaptation",
    "LawLike",
    "NaturalAdaptation",
    "cutoff_frequency",
    "link_gains",
    "prediction_arguments",
    "prediction_weight",
    "resolve_unknown",
]


class LawLike(Protocol):
    """Interface of `GradientAdaptation` and `NaturalAdaptation` to a controller."""

    def build(self, unknown: UnknownParameters) -> _core.AdaptationLaw:
        """Return the law for these unknown parameters."""


def _per_joint(dead_zone: npt.ArrayLike, n: int) -> Array | None:
    width = _gains(dead_zone, n, "dead_zone")
    if (width < 0.0).any():
        raise ValueError(f"dead_zone must not be negative, got {width.tolist()}")
    return width if width.any() else None


@dataclass(frozen=True, eq=False)
class GradientAdaptation:
    """Gradient adaptation law ``pihat' = Gamma^-1 Y_u' s``, with optional bounds and dead zone.

    The argument ``Gamma=10.0`` of a controller is short for ``law=GradientAdaptation(10.0)``.

    Parameters
    ----------
    Gamma : float, (u,) or (u, u) array_like
        Adaptation gain of the u unknown parameters; a larger one adapts more slowly. `link_gains` computes it from one
        gain per link, `GradientAdaptation.proportional` from the size of the parameters.
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
    >>> law = th.control.GradientAdaptation(5.0, lower=0.0, upper=10.0, dead_zone=0.01)
    >>> controller = th.SlotineLi(robot, Lambda=5.0, K_d=8.0, law=law, unknown=["link1.m", "link2.m"])
    >>> controller.unknown.names
    ('link1.m', 'link2.m')
    >>> slow = th.control.GradientAdaptation.proportional(robot, eta=10.0, unknown=["link1.m", "link2.m"])
    >>> slow.Gamma.round(3).tolist()
    [3.333, 5.0]
    """

    Gamma: npt.ArrayLike
    lower: npt.ArrayLike | None = None
    upper: npt.ArrayLike | None = None
    dead_zone: npt.ArrayLike = 0.0

    @classmethod
    def proportional(
        cls,
        robot: Robot,
        eta: float,
        *,
        unknown: str | npt.ArrayLike | UnknownParameters | None = None,
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
        unknown : see `Robot.unknown`
            Parameters to adapt, as for the controller.
        floor : float
            Least size of an entry (SI units).
        dead_zone : float or (n,) array_like
            See the class.

        Raises
        ------
        ValueError
            If `eta` or `floor` is not positive.
        """
        if not float(array(eta, (), "eta")) > 0.0 or not float(array(floor, (), "floor")) > 0.0:
            raise ValueError(f"eta and floor must be positive, got {eta!r} and {floor!r}")
        values = robot.unknown(unknown.mask if isinstance(unknown, UnknownParameters) else unknown).values
        return cls(eta / np.maximum(np.abs(values), floor), dead_zone=dead_zone)

    def build(self, unknown: UnknownParameters) -> _core.AdaptationLaw:
        """Return the law for these unknown parameters; raise ValueError if sizes or values do not fit them."""
        size = unknown.values.size
        lower = upper = None
        if self.lower is not None or self.upper is not None:
            lower, upper = _bound(self.lower, -np.inf, size, "lower"), _bound(self.upper, np.inf, size, "upper")
        return _core.GradientLaw(self.Gamma, size, lower, upper, _per_joint(self.dead_zone, unknown.robot.n))


@dataclass(frozen=True, eq=False)
class NaturalAdaptation:
    """Natural adaptation law: the estimate of every link stays physically consistent.

    A link's ten parameters form its pseudo-inertia P, which is positive definite for every physical body. With
    ``tr(B P) = (Y_i' s)' pi`` the law is ``P' = P B P / gamma``. It is integrated along geodesics: P stays positive
    definite at any gain. `unknown` must select whole links.

    Parameters
    ----------
    gamma : float or (k,) array_like
        One gain for each of the k unknown links; a larger one adapts more slowly.
    rest : float or (r,) array_like, optional
        Gains of the r unknown parameters of friction and motors. These follow the gradient law and stay nonnegative.
        Required if there are any.
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
    >>> controller = th.SlotineLi(guess, 5.0, 8.0, law=th.control.NaturalAdaptation(gamma=0.5), unknown="link2")
    >>> motion = th.reference.Sinusoid([0.5, 0.5], 0.5)
    >>> result = th.simulate(robot, controller, motion, 2.0, dq0=motion(0.0).dq)
    >>> robot.with_parameters(controller.parameters).inertial_is_physical().tolist()
    [True, True]
    """

    gamma: npt.ArrayLike
    rest: npt.ArrayLike | None = None
    dead_zone: npt.ArrayLike = 0.0

    def build(self, unknown: UnknownParameters) -> _core.AdaptationLaw:
        """Return the law for these unknown parameters; raise ValueError if sizes or values do not fit them."""
        robot = unknown.robot
        links = unknown.mask[: 10 * robot.n].reshape(robot.n, 10)
        partial = [robot.link_names[i] for i in np.flatnonzero(links.any(axis=1) & ~links.all(axis=1))]
        if partial:
            raise ValueError(f"unknown must select whole links for the natural law, got parts of {partial}")
        whole = np.flatnonzero(links.all(axis=1))
        if not whole.size:
            raise ValueError("unknown must select at least one link for the natural law, got none")
        unphysical = [robot.link_names[i] for i in whole if not robot.inertial_is_physical()[i]]
        if unphysical:
            raise ModelError(
                "robot must have physically consistent links for the natural law, got a pseudo-inertia that is not "
                f"positive definite for {unphysical}"
            )
        others = int(unknown.mask[10 * robot.n :].sum())
        if others and self.rest is None:
            raise ValueError(
                f"rest must be given: {others} unknown parameters belong to no link, such as {unknown.names[-1]}"
            )
        rest = np.zeros(0) if self.rest is None else _gains(self.rest, others, "rest")
        gamma = _gains(self.gamma, len(whole), "gamma")
        return _core.NaturalLaw(gamma, rest, _per_joint(self.dead_zone, robot.n))


def _bound(value: npt.ArrayLike | None, absent: float, size: int, name: str) -> Array:
    if value is None:
        return np.full(size, absent)
    bound = array(value, () if np.ndim(value) == 0 else (size,), name, finite=False)
    if np.isnan(bound).any():
        raise ValueError(f"{name} must not be NaN")
    return np.full(size, bound) if bound.ndim == 0 else bound


def _gains(value: npt.ArrayLike, count: int, name: str) -> Array:
    if np.ndim(value) == 0:
        return np.full(count, array(value, (), name))
    return array(value, (count,), name)


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
    require_robot(robot)
    if np.ndim(gains) == 2:
        per_link = array(gains, (robot.n, 10), "gains")
    else:
        per_link = array(gains, (robot.n,), "gains")[:, None]
    others = robot.p - 10 * robot.n
    if others and rest is None:
        raise ValueError(f"rest must be given: {others} parameters belong to no link")
    return np.concatenate([np.broadcast_to(per_link, (robot.n, 10)).ravel(), np.full(others, rest or 1.0)])


def resolve_unknown(
    robot: Robot,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None,
    Gamma: npt.ArrayLike | None,
    adaptive: bool,
    law: LawLike | None = None,
) -> tuple[UnknownParameters, _core.AdaptationLaw | None]:
    """Return the unknown parameters and the adaptation law, None without adaptation."""
    if not isinstance(robot, Robot):
        raise ValueError(f"robot must be a Robot, got {type(robot).__name__}")
    chosen = robot.unknown(unknown.mask if isinstance(unknown, UnknownParameters) else unknown)
    if not chosen.mask.any():
        raise ValueError("unknown must select at least one parameter")
    if not adaptive:
        return chosen, None
    if law is not None and Gamma is not None:
        raise ValueError("Gamma and law must not both be given: Gamma is short for law=GradientAdaptation(Gamma)")
    if law is None and Gamma is None:
        raise ValueError("Gamma or law must be given; without adaptation, set adaptive=False")
    if law is not None and not callable(getattr(law, "build", None)):
        raise ValueError(f"law must be a GradientAdaptation or NaturalAdaptation, got {type(law).__name__}")
    return chosen, (GradientAdaptation(Gamma) if law is None else law).build(chosen)  # type: ignore[arg-type]


ROUTES = ("regressor", "acceleration")


def cutoff_frequency(route: str, cutoff: float) -> float:
    """Check `route` and return the cutoff in rad/s from one in Hz."""
    if route not in ROUTES:
        raise ValueError(f"route must be one of {ROUTES}, got {route!r}")
    frequency = float(array(cutoff, (), "cutoff"))
    if frequency <= 0.0:
        raise ValueError(f"cutoff must be positive, got {frequency:g}")
    return 2.0 * math.pi * frequency


def prediction_arguments(
    route: str, cutoff: float, gamma: float, R_t: npt.ArrayLike, adaptive: bool
) -> tuple[str, float, float, npt.ArrayLike]:
    """Return the core's arguments of a prediction error: route, cutoff [rad/s], gamma and R_t."""
    weight = float(array(gamma, (), "gamma"))
    if weight < 0.0:
        raise ValueError(f"gamma must not be negative, got {weight:g}")
    return route, cutoff_frequency(route, cutoff), weight if adaptive else 0.0, R_t


def prediction_weight(arguments: tuple[str, float, float, npt.ArrayLike]) -> Array | None:
    """Return gamma R_t (number, vector or matrix), None without prediction error."""
    _, _, gamma, R_t = arguments
    return gamma * np.asarray(R_t, dtype=np.float64) if gamma > 0.0 else None
