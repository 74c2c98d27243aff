"""Adaptive passivity-based control of elastic joints."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, of_kind, positive, positives
from ..errors import ThunderError, outer_level
from ..robot import Robot
from .adaptation import AdaptationLike
from .elastic_gains import critical_damping
from .lyapunov_functions import AdaptiveLyapunov, LoggedRun, gain, half_form

#: largest eigenvalue of M^-1 K_d over the filter's bandwidth, of a fixed and of an adaptive model: found on the Panda
#: with springs of 500 to 20000 N m/rad at 1 kHz
_LARGEST_SHARE, _LARGEST_ADAPTIVE_SHARE = 1.0 / 5.0, 1.0 / 10.0


class ElasticSlotineLi(AdaptiveLyapunov, _core.ElasticSlotineLi):
    """Adaptive passivity-based control of elastic joints; follows a `JointReference`.

    ::

        dq_r = dq_d + Lambda e      ddq_r = ddq_d + Lambda de      s = dq_r - dq      e = q_d - q
        u    = Y_r(q, dq, dq_r, ddq_r) pihat + K_d s                      the torque that the links need
        h'' + 2 w h' + w^2 h = w^2 c / K (u - D h')                       the deflection of the springs, w: bandwidth
        x_f  = q_d + h      e_x = x_f - x      s_x = de_x + Lambda e_x
        tau  = Mm (ddx_f + Lambda de_x) + Dm(dx) + k K h + D h' + K_x s_x
        pihat' = Gamma^-1 Y_u' s      c' = (u - D h')' s / Gamma_K      k' = K h s_x / Gamma_K

    Rigid joints have the torque u. The numbers c and k, between 0.1 and 10, correct the nominal stiffness K.

    Parameters
    ----------
    robot : Robot
        The nominal model, with elastic joints whose springs and dampers are linear.
    Lambda : float or (n,) array_like
        [1/s].
    K_d : float, (n,) or (n, n) array_like
        Damping of the links [N m s/rad].
    K_x : float, (e,) or (e, e) array_like, optional
        Damping of the motors [N m s/rad]; default ``2 sqrt(K Mm)``, which damps each motor critically on its spring.
    adaptation : GradientAdaptation, NaturalAdaptation, float or array_like, or None
        Adaptation of the links' parameters, as in `SlotineLi`.
    bandwidth : float
        Bandwidth of the filter of the springs' deflection [rad/s]; up to about twice the sampling rate a higher one
        leaves less error.
    Gamma_K : float, optional
        Adaptation of the stiffness [J]; a larger one adapts more slowly. None for a known stiffness.

    Attributes
    ----------
    adaptation : GradientAdaptation, NaturalAdaptation or None
        Adaptation law; None for a fixed estimate.
    unknown : UnknownParameters
        Parameters of the links to adapt.

    Raises
    ------
    ValueError
        If a gain is not positive definite, the springs are not linear, or another argument is invalid.

    Notes
    -----
    The structure is that of Lozano and Brogliato (1992). With ``delta = e_x - e`` and the parameters' part of
    `SlotineLi`, ``V = 1/2 s' M s + 1/2 s_x' Mm s_x + 1/2 delta' (K + Lambda D) delta + ...`` has the derivative
    ``-s' K_d s - s_x' K_x s_x - delta' K Lambda delta - delta_dot' D delta_dot + s' K lag``. All terms but the last,
    that of the filter's lag, are not positive. The lag leaves an error; docs/elastic_joints.md has the derivation and
    the error over `bandwidth`; simulations warn of a K_d that is too high for it. Adaptation that is faster than the
    filter would oscillate: where ``Y_u Gamma^-1 Y_u'`` exceeds a tenth of `bandwidth` times the damping, pihat' is
    multiplied by ``pace`` < 1, and V_dot is not that.

    Signals: ``error`` (q_d - q), ``s``, ``x_f``, ``dx_f``, ``lag`` (of the filter [rad or m]), ``compliance`` (c),
    ``stiffness`` (k), ``pace``, ``parameters``.

    Examples
    --------
    >>> import thunder_py as th
    >>> drives = [th.robot.Elastic(joint=j, K=(400.0,), Mm=0.1) for j in (1, 2)]
    >>> robot = th.Robot.load("elbow").replace(elastic=drives)
    >>> guess = robot.with_parameters(0.5 * robot.parameters)
    >>> law = th.control.ElasticSlotineLi(guess, Lambda=5.0, K_d=[8.0, 1.0], adaptation=0.5)
    >>> motion = th.reference.Sinusoid([0.5, 0.5], 0.5)
    >>> errors = th.simulate(robot, law, motion, 6.0, dq0=motion(0.0).dq).error_norm()
    >>> bool(errors[-1000:].max() < 0.5 * errors[:1000].max())
    True
    """

    _counts_motors = True

    def __init__(
        self,
        robot: Robot,
        Lambda: npt.ArrayLike,
        K_d: npt.ArrayLike,
        K_x: npt.ArrayLike | None = None,
        *,
        adaptation: AdaptationLike,
        bandwidth: float = 2000.0,
        Gamma_K: float | None = None,
    ) -> None:
        of_kind(robot, Robot, "robot")
        rate = 0.0 if Gamma_K is None else 1.0 / positive(Gamma_K, "Gamma_K")
        self._rates: Array = positives(Lambda, robot.n, "Lambda")
        self.Lambda = self._rates
        self.K_d, self.Gamma_K = K_d, Gamma_K
        self.K_x: npt.ArrayLike = critical_damping(robot) if K_x is None else K_x
        self.bandwidth = positive(bandwidth, "bandwidth")
        law, unknown = self._adapt(robot, adaptation)
        self._robot = robot
        super().__init__(robot, self.Lambda, K_d, self.K_x, self.bandwidth, rate, law, unknown)

    def _warn_at(self, q: Array) -> None:
        """Warn if K_d over the links' inertia at q is beyond what the filter's lag allows."""
        share = _LARGEST_SHARE if self.adaptation is None else _LARGEST_ADAPTIVE_SHARE
        D = gain(self.K_d, self._robot.n)
        rate = float(np.linalg.eigvals(np.linalg.solve(self._robot.mass_matrix(q), D)).real.max())
        if rate > share * self.bandwidth:
            warnings.warn(
                f"K_d of ElasticSlotineLi is too high for a filter of {self.bandwidth:g} rad/s: it damps "
                f"the links with {rate:.3g} 1/s, and {share * self.bandwidth:.3g} is stable; multiply K_d by "
                f"{share * self.bandwidth / rate:.2g} or raise bandwidth",
                RuntimeWarning,
                stacklevel=outer_level(),
            )

    def lyapunov(self, robot: Robot, result: LoggedRun) -> Array:
        """Return V at each logged instant, (k,); see `SlotineLi.lyapunov`.

        Parameters
        ----------
        robot : Robot
            The plant, payload included, with linear springs.
        result : SimulationResult
            A run of this controller.

        Raises
        ------
        ThunderError
            If the plant has other parameters or elastic joints than the estimate.
        """
        V = super().lyapunov(robot, result)
        K, D, Mm = _linear_drives(robot, self._robot)
        s_x, delta, _ = self._motor_errors(robot, result)
        V += half_form(s_x, np.diag(Mm)) + half_form(delta, np.diag(K + self._motor_rates(robot) * D))
        if self.Gamma_K is not None:
            ratio = K / _linear_drives(self._robot, self._robot)[0]
            wrong_c, wrong_k = 1.0 / ratio - result.signals["compliance"], ratio - result.signals["stiffness"]
            V += half_form(wrong_c, np.diag(ratio * self.Gamma_K)) + half_form(wrong_k, self.Gamma_K * np.eye(len(K)))
        return V

    def lyapunov_dot(self, robot: Robot, result: LoggedRun) -> Array | None:
        """Return V_dot at each logged instant, (k,), the filter's lag included; None as in `SlotineLi.lyapunov_dot`.

        Parameters
        ----------
        robot, result
            See `lyapunov`.
        """
        groups = ("D", "Dm", "Mm") if self.Gamma_K is not None else ("K", "D", "Dm", "Mm")
        mine, true = self._robot.elastic_parameters, robot.elastic_parameters
        known = all(np.array_equal(mine[group], true[group]) for group in groups)
        known = known and bool((result.signals["pace"] == 1.0).all())
        V_dot = super().lyapunov_dot(robot, result)
        if V_dot is None or not known:
            return None
        K, D, _ = _linear_drives(robot, self._robot)
        s_x, delta, delta_dot = self._motor_errors(robot, result)
        joints = list(robot.motor_joints)
        V_dot -= 2.0 * half_form(s_x, gain(self.K_x, len(K)))
        V_dot -= 2.0 * half_form(delta, np.diag(K * self._motor_rates(robot))) + 2.0 * half_form(delta_dot, np.diag(D))
        power: Array = np.einsum("ki,i,ki->k", result.s[:, joints], K, result.signals["lag"])
        return V_dot + power

    def _motor_rates(self, robot: Robot) -> Array:
        return self._rates[list(robot.motor_joints)]

    def _motor_errors(self, robot: Robot, result: LoggedRun) -> tuple[Array, Array, Array]:
        """Return s_x, delta and its derivative, (k, e)."""
        joints = list(robot.motor_joints)
        rate = self._motor_rates(robot)
        e_x, de_x = result.signals["x_f"] - result.x, result.signals["dx_f"] - result.dx
        e = result.error[:, joints]
        de = result.s[:, joints] - rate * e
        return de_x + rate * e_x, e_x - e, de_x - de


def _linear_drives(robot: Robot, nominal: Robot) -> tuple[Array, Array, Array]:
    """Return K, D and Mm of linear springs, (e,) each."""
    if [drive.joint for drive in robot.elastic] != [drive.joint for drive in nominal.elastic]:
        raise ThunderError("the plant must have the elastic joints of the controller for a Lyapunov function")
    if any(len(drive.K) > 1 or len(drive.D) > 1 for drive in robot.elastic):
        raise ThunderError("the plant must have linear springs and dampers for a Lyapunov function")
    columns = [(drive.K[0], drive.D[0] if drive.D else 0.0, drive.Mm) for drive in robot.elastic]
    K, D, Mm = np.array(columns).T
    return K, D, Mm
