"""Gains of adaptation laws from a time constant and the information of a motion."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from ..robot.inertia import pseudo_inertia, reg_from_pseudo_inertia
from ..robot.robot import UnknownParameters
from .adaptation import GradientAdaptation, NaturalAdaptation

__all__ = ["gradient_adaptation", "gradient_gain", "natural_adaptation"]

#: least information of a parameter, as a share of that of typical states
_LEAST_SHARE = 0.1
#: rate of adaptation as a share of the bandwidth: beyond a quarter it oscillates
_LARGEST_SHARE = 0.25


def _information(along: Array, typical: Array) -> Array:
    """Return the mean squares (u,) of the columns; weakly excited parameters get a share of those of typical states."""
    squares = [(Z**2).sum(axis=1).mean(axis=0) for Z in (along, typical)]
    information: Array = np.maximum(squares[0], _LEAST_SHARE * squares[1])
    return np.where(information > 0.0, information, 1.0)  # of no effect on any torque


def _slowing(metric: Array, along: Array, time_constant: float, bandwidth: float) -> float:
    """Return the factor of gains whose inverse is `metric`.

    The fastest combination then has the time constant on average, and no instant is faster than the feedback allows.
    """
    mean = np.einsum("kia,kib->ab", along, along) / len(along)
    average = np.linalg.eigvals(metric @ mean).real.max()
    fastest = np.linalg.eigvalsh(along @ metric @ along.transpose(0, 2, 1)).max()
    return float(max(time_constant * average, fastest / (_LARGEST_SHARE * bandwidth)))


def gradient_gain(along: Array, typical: Array, time_constant: float, bandwidth: float) -> Array:
    """Return the diagonal (u,) of Gamma; arguments as of `gradient_adaptation`."""
    information = _information(along, typical)
    Gamma: Array = information * _slowing(np.diag(1.0 / information), along, time_constant, bandwidth)
    return Gamma


def gradient_adaptation(
    unknown: UnknownParameters, along: Array, typical: Array, time_constant: float, bandwidth: float
) -> GradientAdaptation:
    """Return the gradient law with a diagonal Gamma.

    Parameters
    ----------
    unknown : UnknownParameters
        The u unknown parameters.
    along, typical : (k, n, u) array
        Z along the reference and in typical states: the error of the estimate decays as Gamma^-1 Z' Z.
    time_constant : float
        Of the fastest combination of parameters [s].
    bandwidth : float
        Of the feedback [rad/s].
    """
    return GradientAdaptation(gradient_gain(along, typical, time_constant, bandwidth), unknown=unknown.names)


def _natural_metric(pi: Array) -> Array:
    """Return G (10, 10) with pihat' = G g / gamma for the gradient g: the parameters of P B(g) P."""
    P, units = pseudo_inertia(pi), pseudo_inertia(np.eye(10))
    dual = np.einsum("ik,iab->kab", np.linalg.inv(np.einsum("iab,jab->ij", units, units)), units)
    G: Array = reg_from_pseudo_inertia(P @ dual @ P).T
    return G


def natural_adaptation(
    unknown: UnknownParameters, along: Array, typical: Array, time_constant: float, bandwidth: float
) -> NaturalAdaptation:
    """Return the natural law; arguments as of `gradient_adaptation`, with whole links unknown.

    Its rate depends on the estimate: the gains hold at twice the nominal links.
    """
    robot, information = unknown.robot, _information(along, typical)
    links = np.flatnonzero(unknown.mask[: 10 * robot.n].reshape(robot.n, 10).all(axis=1))
    count = 10 * len(links)
    gamma, metric = np.empty(len(links)), np.diag(1.0 / information)
    for k, link in enumerate(links):
        G, Z = _natural_metric(2.0 * robot.inertial[link]), along[:, :, 10 * k : 10 * k + 10]
        gamma[k] = np.linalg.eigvals(G @ (np.einsum("kia,kib->ab", Z, Z) / len(Z))).real.max()
        metric[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = G / gamma[k]
    rest = information[count:]
    slowing = _slowing(metric, along, time_constant, bandwidth)
    return NaturalAdaptation(gamma * slowing, rest=rest * slowing if rest.size else None, unknown=unknown.names)
