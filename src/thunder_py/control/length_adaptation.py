"""Unknown lengths of an arm: their adaptation law, and the kinematics and torques as functions of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, all_positive, known_name, nonnegative, one_or_each, positive
from ..errors import ThunderError
from ..robot import Robot
from ..robot.lengths import length_names, lengths_of, with_lengths
from .lyapunov_functions import gain


@dataclass(frozen=True, eq=False)
class LengthAdaptation:
    """Adaptation of unknown lengths: ``lhat' = Gamma^-1 (-W' K_p e + gamma P' (p - phat))``.

    W is the derivative of J dq by the unknown lengths l, P that of the position p of the end effector.

    Parameters
    ----------
    Gamma : float, (k,) or (k, k) array_like
        Adaptation gain of the k unknown lengths [N/m]; a larger one adapts more slowly.
    unknown : str or sequence of str
        Unknown lengths, without repetition: ``"a_4"``, ``"d_5"`` of the Denavit-Hartenberg table, ``"tool_x"``,
        ``"tool_y"``, ``"tool_z"`` of the end effector in the last link.
    gamma : float
        Weight [N/(m s)] of the difference between the measured position and the one computed with the estimate. With
        the default 0 only the tracking error drives the estimate.
    Gamma_torque : float, optional
        Gain [J] of the effect of the lengths on the torques of the known inertial parameters; required if a length of
        the table is unknown.
    scale : float or (k,) array_like
        Expected size of the errors of the lengths [m]. Torques depend on products of inertial parameters and powers of
        ``(l - l_0) / scale``, which are estimated: with a larger scale they adapt faster.

    Notes
    -----
    docs/theory/adaptive_control.md. The gains of the tracking error and of the prediction are those of a composite
    adaptation (Slotine and Li 1989).

    Examples
    --------
    >>> import thunder_py as th
    >>> law = th.control.LengthAdaptation(200.0, unknown=["tool_x", "tool_z"], gamma=100.0)
    >>> law.unknown
    ['tool_x', 'tool_z']
    """

    Gamma: npt.ArrayLike
    _: KW_ONLY
    unknown: str | Sequence[str]
    gamma: float = 0.0
    Gamma_torque: float | None = None
    scale: npt.ArrayLike = 0.05

    def names(self, robot: Robot) -> list[str]:
        """Return the unknown lengths; raise ValueError if `robot` lacks one or one is named twice."""
        known = length_names(robot.n)
        names = [self.unknown] if isinstance(self.unknown, str) else list(self.unknown)
        for name in names:
            known_name(name, known, f"no length of {robot.name} is called")
        if not names or len(set(names)) < len(names):
            raise ThunderError(f"unknown must name at least one length, each once, got {names}")
        return names


class LengthKinematics(NamedTuple):
    """Kinematics of the end effector under estimated lengths, and their derivatives by the k unknown ones."""

    p: Array  # (3,)
    P: Array  # (3, k), of p
    J: Array  # (6, n)
    J_dot: Array  # (6, n), with constant lengths
    dJ: Array  # (k, 6, n), of J


class LengthModel:
    """Kinematics and regressors of an arm as functions of its unknown lengths.

    Position and Jacobian are affine in the lengths, torques are polynomials of the second degree. Their coefficients
    follow from robots with the lengths displaced by `scale`, without truncation error.
    """

    def __init__(self, robot: Robot, adaptation: LengthAdaptation | None, unknown: npt.NDArray[np.bool_]) -> None:
        self.names = [] if adaptation is None else adaptation.names(robot)
        k = len(self.names)
        index = [length_names(robot.n).index(name) for name in self.names]
        self.nominal = lengths_of(robot)[index] if k else np.zeros(0)
        self.indices, self.unknown = index, unknown
        self.gamma, self.Gamma, self.scale = 0.0, np.zeros((0, 0)), np.zeros(0)
        self.Gamma_torque = 1.0
        if adaptation is not None:
            _core.GradientLaw(adaptation.Gamma, k, None, None, None)  # checks the gain
            self.Gamma = gain(adaptation.Gamma, k)
            self.gamma = nonnegative(adaptation.gamma, "gamma")
            self.scale = all_positive(one_or_each(adaptation.scale, k, "scale"), "scale")
        self.Gamma_inverse = np.linalg.inv(self.Gamma)
        #: position in `names` of lengths that torques depend on: the tool is massless
        self.in_torques = [j for j, name in enumerate(self.names) if not name.startswith("tool")]
        if adaptation is not None and self.in_torques:
            if adaptation.Gamma_torque is None:
                raise ThunderError(f"Gamma_torque must be given: torques depend on {self.names[self.in_torques[0]]}")
            self.Gamma_torque = positive(adaptation.Gamma_torque, "Gamma_torque")
        self._affine = [self._displaced(robot, step) for step in np.vstack([np.zeros(k), np.eye(k)])]
        nodes = self._nodes()
        self._models = [self._displaced(robot, node).unknown(unknown) for node in nodes]
        self._weights = np.linalg.inv(np.array([self.monomials(node) for node in nodes]))

    @property
    def k(self) -> int:
        """Number of unknown lengths."""
        return len(self.names)

    def monomials(self, x: Array) -> Array:
        """Return 1, x_i, x_i x_j of the scaled displacements x, (k,), of the lengths that torques depend on."""
        z = x[self.in_torques]
        return np.array([1.0, *z, *(z[i] * z[j] for i, j in combinations_with_replacement(range(len(z)), 2))])

    def _nodes(self) -> Array:
        """Return displacements that determine the coefficients of all monomials, (a, k)."""
        units = np.eye(self.k)[self.in_torques]
        pairs = [a + b if i != j else -a for (i, a), (j, b) in combinations_with_replacement(list(enumerate(units)), 2)]
        return np.array([np.zeros(self.k), *units, *pairs])

    def _displaced(self, robot: Robot, x: Array) -> Robot:
        values = dict(zip(self.names, (self.nominal + self.scale * x).tolist(), strict=True))
        return with_lengths(robot, values) if values and x.any() else robot

    def positions(self, q: Array) -> tuple[Array, Array]:
        """Return p under the nominal lengths, (..., 3), and its derivative by the unknown ones, (..., 3, k)."""
        p = np.stack([robot.forward_kinematics(q)[..., :3, 3] for robot in self._affine], axis=-1)
        return p[..., 0], (p[..., 1:] - p[..., :1]) / self.scale

    def kinematics(self, q: Array, dq: Array, lengths: Array) -> LengthKinematics:
        """Return the kinematics for these lengths, (k,)."""
        change = lengths - self.nominal
        p, P = self.positions(q)
        J = np.stack([robot.jacobian(q) for robot in self._affine])
        J_dot = np.stack([robot.jacobian_dot(q, dq) for robot in self._affine])
        dJ, dJ_dot = ((A[1:] - A[0]) / self.scale[:, None, None] for A in (J, J_dot))
        return LengthKinematics(
            p + P @ change, P, J[0] + np.tensordot(change, dJ, 1), J_dot[0] + np.tensordot(change, dJ_dot, 1), dJ
        )

    def regressor(self, q: Array, dq: Array, dq_r: Array, ddq_r: Array) -> Array:
        """Return the regressor of the products of `monomials` and ``[1, pi_unknown]``, (n, a, 1 + u)."""
        Y = np.stack([model.slotine_li_regressor(q, dq, dq_r, ddq_r) for model in self._models])
        return np.asarray(np.einsum("ak,kin->ian", self._weights, Y))

    def products(self, lengths: Array, parameters: Array) -> Array:
        """Return these products for lengths, (k,), and all parameters, (p,), as (a, 1 + u)."""
        x = (lengths - self.nominal) / self.scale
        return np.outer(self.monomials(x), np.concatenate([[1.0], parameters[self.unknown]]))
