"""Gains of adaptation laws from a time constant and the information of a motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..model.inertia import pseudo_inertia, reg_from_pseudo_inertia
from ..model.parameters import UnknownParameters
from .adaptation import GradientAdaptation, NaturalAdaptation

#: least information of a parameter, and of the fastest combination, as shares of that of typical states
_LEAST_SHARE, _LEAST_RATE = 0.1, 1e-3
#: rate of adaptation as a share of the bandwidth: beyond a quarter it oscillates
_LARGEST_SHARE = 0.25
#: share of postures for which the least gain is enough
_QUANTILE = 0.95


class Drive(NamedTuple):
    """What moves u estimates: their errors decay as Gamma^-1 Z' Z.

    Attributes
    ----------
    along, typical : (k, n, u) array
        Z along the reference and in typical states, where some column is not zero.
    corrected : (u,) bool array
        Estimates that corrections of errors move: no torque depends on them, nor on others of their link, at rest.
    """

    along: Array
    typical: Array
    corrected: npt.NDArray[np.bool_]

    def of(self, block: slice) -> Drive:
        """Return the part of some estimates."""
        return Drive(self.along[..., block], self.typical[..., block], self.corrected[block])


def _information(drive: Drive) -> Array:
    """Return the mean squares (u,) of the columns; weakly excited parameters get a share of those of typical states."""
    squares = [(Z**2).sum(axis=1).mean(axis=0) for Z in (drive.along, drive.typical)]
    return _slowest_if_none(np.maximum(squares[0], np.where(drive.corrected, 1.0, _LEAST_SHARE) * squares[1]))


def _slowest_if_none(information: Array) -> Array:
    """Return the information, where it is 0 the largest one: no torque drives these estimates, any gain keeps them."""
    return np.where(information > 0.0, information, information.max(initial=0.0))


def _rate(metric: Array, drive: Drive) -> float:
    """Return the largest eigenvalue of metric Z' Z, averaged along, at least a share of that in typical states."""
    states = (drive.along, drive.typical * np.where(drive.corrected, 1.0, _LEAST_RATE**0.5))
    means = [np.einsum("kia,kib->ab", Z, Z) / len(Z) for Z in states]
    return float(max(np.linalg.eigvals(metric @ mean).real.max() for mean in means))


def _slowing(metric: Array, drive: Drive, time_constant: float, bandwidth: float) -> float:
    """Return the factor of gains whose inverse is `metric`.

    The fastest combination then has the time constant on average, and no instant is faster than the feedback allows.
    """
    average = _rate(metric, drive)
    Z = np.concatenate([drive.along, drive.typical * drive.corrected])
    fastest = np.linalg.eigvalsh(Z @ metric @ Z.transpose(0, 2, 1)).max()
    return float(max(time_constant * average, fastest / (_LARGEST_SHARE * bandwidth)))


def gradient_gain(drive: Drive, time_constant: float, bandwidth: float) -> Array:
    """Return the diagonal (u,) of Gamma; arguments as of `gradient_adaptation`."""
    information = _information(drive)
    return np.asarray(information * _slowing(np.diag(1.0 / information), drive, time_constant, bandwidth))


def least_gain(unknown: UnknownParameters, q: Array, damping: Array, bandwidth: Array, error: float) -> Array:
    """Return the diagonal (u,) of Gamma with which no correction of an error makes the damping of a joint negative.

    While an error decays, pitilde' Gamma pitilde stays below twice V of its start, s' M s with s = w error. An entry
    may change w M + K_d by at most itself in 95 % of the postures.

    Parameters
    ----------
    unknown : UnknownParameters
        The u unknown parameters.
    q : (k, n) array
        Postures.
    damping : (n, n) array
        K_d [N m s/rad].
    bandwidth : (n,) array
        w [rad/s].
    error : float
        Error of every joint [rad or m].
    """
    robot, still = unknown.robot, np.zeros_like(q)
    M, at_rest = robot.mass_matrix(q), robot.slotine_li_regressor(q, still, still, still)
    units = (robot.slotine_li_regressor(q, still, still, still + unit) - at_rest for unit in np.eye(robot.n))
    parts = np.stack([columns[..., unknown.mask] for columns in units], axis=-1)  # dM / dpi (k, n, u, n)
    w = np.sqrt(bandwidth)
    root = np.linalg.inv(np.linalg.cholesky(w[:, None] * M * w + damping)) * w
    relative = np.linalg.eigvalsh(np.einsum("kab,kbuc,kdc->kuad", root, parts, root))
    s = error * bandwidth
    energy = np.einsum("kab,a,b->k", np.abs(M), s, s).mean()  # with any signs of the errors
    return np.asarray(energy * np.quantile(np.abs(relative).max(axis=-1), _QUANTILE, axis=0) ** 2)


def gradient_adaptation(
    unknown: UnknownParameters,
    drive: Drive,
    time_constant: float,
    bandwidth: float,
    least: Array | float = 0.0,
) -> GradientAdaptation:
    """Return the gradient law with a diagonal Gamma.

    Parameters
    ----------
    unknown : UnknownParameters
        The u unknown parameters.
    drive : Drive
        What moves the estimates.
    time_constant : float
        Of the fastest combination of parameters [s].
    bandwidth : float
        Of the feedback [rad/s].
    least : float or (u,) array
        Least diagonal of Gamma.
    """
    Gamma = np.maximum(gradient_gain(drive, time_constant, bandwidth), least)
    return GradientAdaptation(Gamma, unknown=unknown.names)


def _natural_metric(pi: Array) -> Array:
    """Return G (10, 10) with pihat' = G g / gamma for the gradient g: the parameters of P B(g) P."""
    P, units = pseudo_inertia(pi), pseudo_inertia(np.eye(10))
    dual = np.einsum("ik,iab->kab", np.linalg.inv(np.einsum("iab,jab->ij", units, units)), units)
    return np.asarray(reg_from_pseudo_inertia(P @ dual @ P).T)


def natural_adaptation(
    unknown: UnknownParameters,
    drive: Drive,
    time_constant: float,
    bandwidth: float,
    least: Array | float = 0.0,
) -> NaturalAdaptation:
    """Return the natural law; arguments as of `gradient_adaptation`, with whole links unknown.

    Its rate depends on the estimate: the gains hold at twice the nominal links, which need no least gain.
    """
    robot, information = unknown.robot, _information(drive)
    links = np.flatnonzero(unknown.mask[: 10 * robot.n].reshape(robot.n, 10).all(axis=1))
    blocks = [slice(10 * k, 10 * k + 10) for k in range(len(links))]
    metrics = [_natural_metric(2.0 * robot.inertial[link]) for link in links]
    gamma = _slowest_if_none(np.array([_rate(G, drive.of(b)) for G, b in zip(metrics, blocks, strict=True)]))
    metric = np.diag(1.0 / information)
    for b, G, weight in zip(blocks, metrics, gamma, strict=True):
        metric[b, b] = G / weight
    slowing = _slowing(metric, drive, time_constant, bandwidth)
    rest = np.maximum(slowing * information, least)[10 * len(links) :]
    return NaturalAdaptation(gamma * slowing, rest=rest if rest.size else None, unknown=unknown.names)
