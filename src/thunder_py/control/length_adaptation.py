"""Unknown lengths of an arm: their adaptation law, and the kinematics and torques as functions of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import combinations_with_replacement

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


class LengthModel(_core.LengthModel):
    """Kinematics and torques of an arm as functions of its unknown lengths, and the gains of their adaptation.

    Position and Jacobian are affine in the lengths, torques are polynomials of the second degree. Their coefficients
    follow from robots with the lengths displaced by `scale`, without truncation error.
    """

    def __init__(self, robot: Robot, adaptation: LengthAdaptation | None, unknown: npt.NDArray[np.bool_]) -> None:
        self.names = names = [] if adaptation is None else adaptation.names(robot)
        self.k, self.robot = len(names), robot
        self.indices = [length_names(robot.n).index(name) for name in names]
        self.nominal, self.scale = lengths_of(robot)[self.indices] if names else np.zeros(0), np.zeros(0)
        self.gamma, self.Gamma_torque, self.Gamma = 0.0, 1.0, np.zeros((0, 0))
        #: lengths that torques depend on: the tool is massless
        self.in_torques = in_torques = [j for j, name in enumerate(names) if not name.startswith("tool")]
        if adaptation is not None:
            _core.GradientLaw(adaptation.Gamma, self.k, None, None, None)  # checks the gain
            self.Gamma = gain(adaptation.Gamma, self.k)
            self.gamma = nonnegative(adaptation.gamma, "gamma")
            self.scale = all_positive(one_or_each(adaptation.scale, self.k, "scale"), "scale")
            if in_torques and adaptation.Gamma_torque is None:
                raise ThunderError(f"Gamma_torque must be given: torques depend on {names[in_torques[0]]}")
            if in_torques:
                self.Gamma_torque = positive(adaptation.Gamma_torque, "Gamma_torque")
        # monomials 1, x_i, x_i x_j of the scaled displacements x, and displacements that determine their coefficients
        pairs = list(combinations_with_replacement(in_torques, 2))
        factors = [(), *((i,) for i in in_torques), *pairs]
        units = np.eye(self.k)
        nodes = [
            np.zeros(self.k),
            *units[in_torques],
            *(units[i] + units[j] if i != j else -units[i] for i, j in pairs),
        ]
        values = np.array([[node[list(each)].prod() for each in factors] for node in nodes])
        self._affine = [self._displaced(names, step) for step in [np.zeros(self.k), *units]]
        models = [self._displaced(names, node) for node in nodes]
        super().__init__(
            names, self.nominal, self.scale, self._affine, models, factors, np.linalg.inv(values), unknown.tolist()
        )

    def _displaced(self, names: list[str], x: Array) -> Robot:
        values = dict(zip(names, (self.nominal + self.scale * x).tolist(), strict=True))
        return with_lengths(self.robot, values) if x.any() else self.robot

    def offsets(self, q: Array, change: Array) -> Array:
        """Return how much these changes (..., k) of the lengths move the end effector at q (..., n), (..., 3)."""
        p = np.stack([robot.forward_kinematics(q)[..., :3, 3] for robot in self._affine], axis=-1)
        return np.asarray(np.einsum("...ij,...j->...i", (p[..., 1:] - p[..., :1]) / self.scale, change))
