"""Lyapunov functions of adaptive laws along a run, for `thunder_py.SimulationResult.lyapunov`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._core import Status
from ..checks import Array
from ..errors import ThunderError
from ..kinematics.task_rows import GEOMETRIC
from ..model.inertia import is_physical, pseudo_inertia
from ..robot import Robot
from .adaptation import AdaptiveController, GradientAdaptation, NaturalAdaptation


class LoggedRun(Protocol):
    """Signals of a run at k instants, as `thunder_py.SimulationResult` has them."""

    @property
    def q(self) -> Array: ...  # noqa: D102
    @property
    def x(self) -> Array: ...  # noqa: D102
    @property
    def dx(self) -> Array: ...  # noqa: D102
    @property
    def s(self) -> Array: ...  # noqa: D102
    @property
    def error(self) -> Array: ...  # noqa: D102
    @property
    def parameters(self) -> Array: ...  # noqa: D102
    @property
    def signals(self) -> Mapping[str, Array]: ...  # noqa: D102
    @property
    def status(self) -> npt.NDArray[Any]: ...  # noqa: D102


def gain(value: npt.ArrayLike, size: int) -> Array:
    """Return a gain, already checked by the core, as a matrix."""
    matrix = np.asarray(value, dtype=np.float64)
    return matrix if matrix.ndim == 2 else np.diag(np.broadcast_to(matrix, (size,)))


def half_form(x: Array, A: Array) -> Array:
    """Return x' A x / 2 for each row of x."""
    return np.asarray(0.5 * np.einsum("ki,ij,kj->k", x, A, x))


class AdaptiveLyapunov(AdaptiveController):
    """Mixin for adaptive controllers with s: V and V_dot along a run.

    V = 1/2 s' M s + D(pi, pihat) [+ U], where D is ``1/2 pitilde' Gamma pitilde`` for the gradient law and
    ``sum gamma_i D(P_i || Phat_i)`` for the natural one (Slotine and Li 1987; Thunder article, section 4; Lee, Kwon and
    Park 2018). U is ``1/2 e' K_p e``, for the geometric errors of the orientation the potential of K_p.
    V_dot = -s' K_d s [- e' K_p Lambda e] [- gamma eps' R_t eps], eps the prediction error (D4.2, eq. 67).
    """

    Lambda: npt.ArrayLike = 0.0
    K_d: npt.ArrayLike
    K_p: npt.ArrayLike | None = None  # gain of the position error, for laws with e in V
    _counts_motors = False  # V has the energy of springs and motors
    _orientation = "axis_angle"

    def lyapunov(self, robot: Robot, result: LoggedRun) -> Array:
        """Return V at each logged instant, (k,).

        Parameters
        ----------
        robot : Robot
            The plant, payload included.
        result : SimulationResult
            A run of this controller with the signals ``s``, ``parameters`` and ``error``.

        Raises
        ------
        ThunderError
            If the estimate has other parameters than the plant.
        """
        s = result.s
        V: Array = 0.5 * np.einsum("ki,kij,kj->k", s, robot.mass_matrix(result.q), s)
        if self.K_p is not None:
            V += self._potential(result.error)
        if self.adaptation is None:
            return V
        check_parameters(robot, result)
        return V + estimate_distance(self.adaptation, self.unknown.mask, robot, result.parameters)

    def _potential(self, e: Array) -> Array:
        """Return the energy of K_p (k,) at errors e (k, m), whose orientation may have no Jacobian of its own."""
        K_p = gain(self.K_p, e.shape[1])  # type: ignore[arg-type]
        V, kind = half_form(e, K_p), self._orientation
        if kind not in GEOMETRIC or e.shape[1] <= 3:
            return V
        stiffness = K_p[-1, -1]
        if e.shape[1] < 6 or np.any(K_p[3:, 3:] != stiffness * np.eye(3)) or np.any(K_p[:3, 3:]):
            raise ThunderError(
                f"K_p must be one number for all three rows of the orientation {kind!r} for a Lyapunov function, "
                f"got {np.asarray(self.K_p).tolist()}"
            )
        if kind == "axis_angle_plain":
            raise ThunderError(
                f"orientation must not be {kind!r} for a Lyapunov function: beyond 90 degrees the angle does not "
                "follow from the error; rotation_vector and quaternion have one"
            )
        if kind == "quaternion":
            square = np.minimum((e[:, 3:] ** 2).sum(axis=1), 1.0)  # sin(theta / 2)^2
            V += stiffness * (2.0 * (1.0 - np.sqrt(1.0 - square)) - 0.5 * square)
        return V

    def lyapunov_dot(self, robot: Robot, result: LoggedRun) -> Array | None:
        """Return V_dot at each logged instant, (k,), or None if the law's expression does not hold.

        It holds in continuous time without saturation, sensor and actuator models, external wrenches, projection, dead
        zone and elastic joints, and with exact values of all parameters that do not adapt.

        Parameters
        ----------
        robot, result
            See `lyapunov`.
        """
        if not self._undisturbed(result) or not self._fixed_are_known(robot, result):
            return None
        if self.prediction_weight is not None and self.route != "regressor":
            return None
        V_dot = -2.0 * half_form(result.s, gain(self.K_d, result.s.shape[1]))
        if self.K_p is not None:
            m = result.error.shape[1]
            V_dot -= 2.0 * half_form(result.error, gain(self.K_p, m) @ gain(self.Lambda, m))
        if self.prediction_weight is not None:
            wrong = result.signals["prediction_error"]
            V_dot -= 2.0 * half_form(wrong, gain(self.prediction_weight, wrong.shape[1]))
        return V_dot

    def _undisturbed(self, result: LoggedRun) -> bool:
        between = {"q_measured", "tau_commanded", "external"} & set(result.signals)
        law = self.adaptation
        bounded = isinstance(law, GradientAdaptation) and (law.lower is not None or law.upper is not None)
        bounded = bounded or (isinstance(law, NaturalAdaptation) and law.rest is not None)  # bounded below by zero
        bounded = bounded or (law is not None and bool(np.any(np.asarray(law.dead_zone) != 0.0)))
        elastic = result.x.shape[1] > 0 and not self._counts_motors
        return not between and not bounded and not elastic and bool(np.all(result.status == int(Status.ok)))

    def _fixed_are_known(self, robot: Robot, result: LoggedRun) -> bool:
        check_parameters(robot, result)
        fixed = np.ones(robot.p, dtype=bool) if self.adaptation is None else ~self.unknown.mask
        return np.allclose(result.parameters[0, fixed], robot.parameters[fixed], rtol=1e-9, atol=1e-12)


def check_parameters(robot: Robot, result: LoggedRun) -> None:
    """Raise ThunderError unless the estimate has the plant's parameters."""
    if result.parameters.shape[1] != robot.p:
        raise ThunderError(
            f"the estimate must have the plant's {robot.p} parameters for a Lyapunov function, "
            f"got {result.parameters.shape[1]}"
        )


def estimate_distance(
    law: GradientAdaptation | NaturalAdaptation, mask: npt.NDArray[np.bool_], robot: Robot, estimates: Array
) -> Array:
    """Return the part D(pi, pihat) of V for estimates (k, p) of a robot's parameters."""
    if isinstance(law, NaturalAdaptation):
        return _natural_distance(law, mask, robot, estimates)
    wrong = (robot.parameters - estimates)[:, mask]
    return half_form(wrong, gain(law.Gamma, wrong.shape[1]))


def _natural_distance(law: NaturalAdaptation, mask: npt.NDArray[np.bool_], robot: Robot, estimates: Array) -> Array:
    """Return the sum of gamma D(P || Phat), D the divergence of -log det, plus the terms of the other parameters."""
    links = np.flatnonzero(mask[: 10 * robot.n].reshape(robot.n, 10).all(axis=1))
    unphysical = [robot.link_names[i] for i in links if not is_physical(robot.inertial)[i]]
    if unphysical:
        raise ThunderError(f"the plant's links must be physically consistent for the natural law's V, got {unphysical}")
    distance = np.zeros(len(estimates))
    gamma = np.broadcast_to(np.asarray(law.gamma, dtype=np.float64), (len(links),))
    for weight, i in zip(gamma, links, strict=True):
        P, guess = pseudo_inertia(robot.inertial[i]), pseudo_inertia(estimates[:, 10 * i : 10 * i + 10])
        trace = np.trace(np.linalg.solve(guess, np.broadcast_to(P, guess.shape)), axis1=1, axis2=2)
        distance += weight * (np.linalg.slogdet(guess)[1] - np.linalg.slogdet(P)[1] + trace - 4.0)
    others = mask.copy()
    others[: 10 * robot.n] = False
    if law.rest is not None and others.any():
        wrong = (robot.parameters - estimates)[:, others]
        distance += half_form(wrong, gain(law.rest, wrong.shape[1]))
    return distance
