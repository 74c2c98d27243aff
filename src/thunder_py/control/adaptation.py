"""Adaptation laws, which any adaptive controller takes as ``law=``."""

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
    "Gradient",
    "LawLike",
    "Natural",
    "cutoff_frequency",
    "link_gains",
    "prediction_arguments",
    "prediction_weight",
    "resolve_unknown",
]


class LawLike(Protocol):
    """What `Gradient` and `Natural` are to a controller."""

    def build(self, unknown: UnknownParameters) -> _core.AdaptationLaw:
        """Return the law for these unknown parameters."""


def _per_joint(dead_zone: npt.ArrayLike, n: int) -> Array | None:
    width = _gains(dead_zone, n, "dead_zone")
    if (width < 0.0).any():
        raise ValueError(f"dead_zone must not be negative, got {width.tolist()}")
    return width if width.any() else None


@dataclass(frozen=True, eq=False)
class Gradient:
    """The gradient law ``pihat' = Gamma^-1 Y_u' s`` (Thunder article, eq. 34), with bounds and a dead zone.

    ``Gamma=10.0`` of a controller is short for ``law=Gradient(10.0)``.

    Parameters
    ----------
    Gamma : float, (u,) or (u, u) array_like
        For the u unknown parameters; large adapts slowly. `link_gains` makes one from a gain for every link,
        `Gradient.proportional` from the size of the parameters.
    lower, upper : float or (u,) array_like, optional
        Bounds that the estimate is projected on; they need a diagonal Gamma. The true parameters must be within.
    dead_zone : float or (n,) array_like
        Velocity errors s [rad/s or m/s] within plus and minus this do not adapt: keep noise from moving the estimate.

    Notes
    -----
    Projection keeps the Lyapunov function of the law from rising. A dead zone does so for a single joint (Slotine and
    Coetsee 1986); of an arm, whose joints couple, it can rise while some s are within theirs.
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
    ) -> Gradient:
        """Return a law whose gains follow the size of the parameters: ``Gamma_i = eta / max(|pi_i|, floor)``.

        D4.2, section 3.2.3: every entry moves in proportion to its magnitude.

        Parameters
        ----------
        robot : Robot
            Whose parameters give the size.
        eta : float
            Large adapts slowly.
        unknown : see `Robot.unknown`
            The same as the controller's.
        floor : float
            Size of entries that are small or zero (SI units).
        dead_zone : float or (n,) array_like
            See the class.
        """
        if not float(array(eta, (), "eta")) > 0.0 or not float(array(floor, (), "floor")) > 0.0:
            raise ValueError(f"eta and floor must be positive, got {eta!r} and {floor!r}")
        values = robot.unknown(unknown.mask if isinstance(unknown, UnknownParameters) else unknown).values
        return cls(eta / np.maximum(np.abs(values), floor), dead_zone=dead_zone)

    def build(self, unknown: UnknownParameters) -> _core.AdaptationLaw:
        """Return the law for these unknown parameters; what does not fit is a ValueError."""
        size = unknown.values.size
        lower = upper = None
        if self.lower is not None or self.upper is not None:
            lower, upper = _bound(self.lower, -np.inf, size, "lower"), _bound(self.upper, np.inf, size, "upper")
        return _core.GradientLaw(self.Gamma, size, lower, upper, _per_joint(self.dead_zone, unknown.robot.n))


@dataclass(frozen=True, eq=False)
class Natural:
    """The natural law: every link's estimate stays a body that can exist (Lee, Kwon, Park 2018).

    A link's ten parameters are its pseudo-inertia P, positive definite for every body. With ``tr(B P) = (Y_i' s)' pi``
    the law is ``P' = P B P / gamma``, integrated along geodesics, so that P stays positive definite at any gain. Whole
    links must be unknown.

    Parameters
    ----------
    gamma : float or (k,) array_like
        One gain for each of the k unknown links; large adapts slowly.
    rest : float or (r,) array_like, optional
        Gains of the r unknown parameters that belong to no link, of friction and motors: these follow the gradient law
        and do not fall below zero. Needed where there are any.
    dead_zone : float or (n,) array_like
        See `Gradient`.

    Notes
    -----
    In continuous time ``V = 1/2 s' M s + sum gamma_i D(P_i || Phat_i)`` with the Bregman divergence of -log det falls
    as ``-s' K_d s``. The estimate must start at bodies that can exist: `Robot.inertial_is_physical`.
    """

    gamma: npt.ArrayLike
    rest: npt.ArrayLike | None = None
    dead_zone: npt.ArrayLike = 0.0

    def build(self, unknown: UnknownParameters) -> _core.AdaptationLaw:
        """Return the law for these unknown parameters; what does not fit is a ValueError."""
        robot = unknown.robot
        links = unknown.mask[: 10 * robot.n].reshape(robot.n, 10)
        partial = [robot.link_names[i] for i in np.flatnonzero(links.any(axis=1) & ~links.all(axis=1))]
        if partial:
            raise ValueError(f"the natural law takes all ten parameters of a link; only some are unknown of: {partial}")
        whole = np.flatnonzero(links.all(axis=1))
        if not whole.size:
            raise ValueError("the natural law needs at least one link whose parameters are unknown")
        unphysical = [robot.link_names[i] for i in whole if not robot.inertial_is_physical()[i]]
        if unphysical:
            raise ModelError(
                f"the natural law starts at bodies that can exist; pseudo-inertia not positive definite: {unphysical}"
            )
        others = int(unknown.mask[10 * robot.n :].sum())
        if others and self.rest is None:
            raise ValueError(
                f"rest is needed: {others} unknown parameters belong to no link, such as {unknown.names[-1]}"
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
    """Return the diagonal of a Gamma for all parameters from one gain for every link.

    Parameters
    ----------
    robot : Robot
        Its parameters.
    gains : (n,) or (n, 10) array_like
        For the parameters of each link; large adapts slowly.
    rest : float, optional
        For all other parameters; needed where there are any.

    Returns
    -------
    (p,) array
    """
    require_robot(robot)
    if np.ndim(gains) == 2:
        per_link = array(gains, (robot.n, 10), "gains")
    else:
        per_link = array(gains, (robot.n,), "gains")[:, None]
    others = robot.p - 10 * robot.n
    if others and rest is None:
        raise ValueError(f"rest is needed: {others} parameters belong to no link")
    return np.concatenate([np.broadcast_to(per_link, (robot.n, 10)).ravel(), np.full(others, rest or 1.0)])


def resolve_unknown(
    robot: Robot,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None,
    Gamma: npt.ArrayLike | None,
    adaptive: bool,
    law: LawLike | None = None,
) -> tuple[UnknownParameters, _core.AdaptationLaw | None]:
    """Return the unknown parameters, and how they move, None where nothing adapts."""
    if not isinstance(robot, Robot):
        raise ValueError(f"robot must be a Robot, got {type(robot).__name__}")
    chosen = robot.unknown(unknown.mask if isinstance(unknown, UnknownParameters) else unknown)
    if not chosen.mask.any():
        raise ValueError("unknown must select at least one parameter")
    if not adaptive:
        return chosen, None
    if law is not None and Gamma is not None:
        raise ValueError("give Gamma or law, not both: Gamma is short for law=Gradient(Gamma)")
    if law is None and Gamma is None:
        raise ValueError("Gamma or law is needed where the controller adapts; adaptive=False keeps parameters fixed")
    if law is not None and not callable(getattr(law, "build", None)):
        raise ValueError(f"law must be a Gradient or Natural, got {type(law).__name__}")
    return chosen, (Gradient(Gamma) if law is None else law).build(chosen)  # type: ignore[arg-type]


ROUTES = ("regressor", "acceleration")


def cutoff_frequency(route: str, cutoff: float) -> float:
    """Return the cutoff [rad/s] from one in Hz, after a look at the route."""
    if route not in ROUTES:
        raise ValueError(f"route must be one of {ROUTES}, got {route!r}")
    frequency = float(array(cutoff, (), "cutoff"))
    if frequency <= 0.0:
        raise ValueError(f"cutoff must be positive, got {frequency:g}")
    return 2.0 * math.pi * frequency


def prediction_arguments(
    route: str, cutoff: float, gamma: float, R_t: npt.ArrayLike, adaptive: bool
) -> tuple[str, float, float, npt.ArrayLike]:
    """Return what the core makes a prediction error of."""
    weight = float(array(gamma, (), "gamma"))
    if weight < 0.0:
        raise ValueError(f"gamma must not be negative, got {weight:g}")
    return route, cutoff_frequency(route, cutoff), weight if adaptive else 0.0, R_t


def prediction_weight(arguments: tuple[str, float, float, npt.ArrayLike]) -> Array | None:
    """Return gamma R_t as it was given, a number, a vector or a matrix, or None without prediction error."""
    _, _, gamma, R_t = arguments
    return gamma * np.asarray(R_t, dtype=np.float64) if gamma > 0.0 else None
