"""The estimate of adaptive controllers without their feedback: adaptation to measured motion and torque."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, of_kind
from ..errors import ThunderError
from ..robot import Robot
from .adaptation import AdaptationLike, AdaptiveController
from .lyapunov_functions import estimate_distance, gain


class ParameterEstimator(AdaptiveController, _core.ParameterEstimator):
    """Adaptation of the parameters to measured motion and torque, whatever commanded them.

    ::

        y = W pi                                          low-passed torque and its regressor, without accelerations
        pihat' = Gamma^-1 (gamma W_u' R_t (y - W pihat) + Y_u' s)
        s = v - dq,    Mhat v' + Chat v + Ghat + friction = tau - K_d s

    The prediction error y - W pihat is that of `MACT`. With `K_d` the tracking error of `SlotineLi` joins it, relative
    to the reference velocity v for which that law would have commanded the measured torque: composite adaptation.

    Parameters
    ----------
    robot : Robot
        The nominal model; the estimate starts at its parameters.
    adaptation : GradientAdaptation, NaturalAdaptation, float or array_like, or None
        Adaptation law and unknown parameters, as for controllers; None keeps the estimate.
    gamma : float
        Weight of the prediction error; 0 leaves only the tracking error.
    R_t : float, (n,) or (n, n) array_like, optional
        Weight of the joints in the prediction error, such as the inverse variances of their torques. Default K_d^-1, or
        1 without `K_d`.
    K_d : float, (n,) or (n, n) array_like, optional
        Damping of the tracking error [N m s/rad]; default None, without one.
    route : {"regressor", "acceleration"}
        Computation of W, see `MACT`.
    cutoff : float
        Cutoff of the low-pass filter of torque and regressor [Hz].

    Attributes
    ----------
    adaptation : GradientAdaptation, NaturalAdaptation or None
        Adaptation law; None for a fixed estimate.
    unknown : UnknownParameters
        Parameters to adapt; all for a fixed estimate.
    R_t : (n, n) array
        Weight of the joints.

    Raises
    ------
    ValueError
        If a gain is not positive definite, the robot has elastic joints, or another argument is invalid.

    Notes
    -----
    These are the compiled parts of the controllers. With exact measurements ``V = 1/2 s' M s + D(pi, pihat)``, D as in
    `distance`, has the derivative ``-s' K_d s - gamma (W pitilde)' R_t (W pitilde)``, because M s' + (C + K_d) s =
    Y(q, dq, v, v') pitilde. The estimate is integrated by Euler's rule: where a step is too long for the gains, it is
    shortened, and `excess` tells how much. v' takes the inverse of the estimated mass matrix: where it is not positive
    definite, the status is ``diverged``. `NaturalAdaptation` keeps it positive definite.

    Torques must act on the links: of elastic joints, give the measured torques of the springs to an estimator of
    ``robot.replace(elastic=())``.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, motion = th.Robot.load("elbow"), th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    >>> guess = robot.with_parameters(0.7 * robot.parameters)
    >>> estimator = th.control.ParameterEstimator(guess, adaptation=40.0)
    >>> for t in np.arange(0.0, 20.0, 0.01):
    ...     q, dq, _ = motion(t)
    ...     status = estimator.step(t, q, dq, robot.inverse_dynamics(*motion(t)))
    >>> status.name, bool(np.abs(estimator.prediction_error).max() < 0.1)
    ('ok', True)
    """

    def __init__(
        self,
        robot: Robot,
        *,
        adaptation: AdaptationLike,
        gamma: float = 1.0,
        R_t: npt.ArrayLike | None = None,
        K_d: npt.ArrayLike | None = None,
        route: Literal["regressor", "acceleration"] = "regressor",
        cutoff: float = 5.0,
    ) -> None:
        if of_kind(robot, Robot, "robot").e:
            raise ThunderError(
                "robot must have no elastic joints, whose torques drive motors: use robot.replace(elastic=()) with the "
                "measured torques of the springs"
            )
        law, mask = self._adapt(robot, adaptation)
        prediction = self._prediction(route, cutoff, gamma, R_t, 1.0 if K_d is None else K_d)
        super().__init__(robot, law, mask, prediction, K_d)
        self.R_t = gain(prediction[-1], robot.n)
        self.robot = robot

    def distance(self, robot: Robot, parameters: npt.ArrayLike) -> Array:
        """Return the distance D of estimates from a robot's parameters, which adaptation to exact signals shortens.

        Parameters
        ----------
        robot : Robot
            Robot with the true parameters.
        parameters : (k, p) array_like
            Estimates.

        Returns
        -------
        (k,) array
            ``1/2 pitilde' Gamma pitilde`` for the gradient law, ``sum gamma_i D(P_i || Phat_i)`` for the natural one.
        """
        estimates = array(parameters, (None, robot.p), "parameters")
        if self.adaptation is None:
            return np.zeros(len(estimates))
        return estimate_distance(self.adaptation, self.unknown.mask, robot, estimates)
