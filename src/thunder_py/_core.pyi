"""Types of the compute core; made by tools/make_stubs.py."""

from __future__ import annotations

import collections.abc
import enum
import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "ACT",
    "MACT",
    "AdaptationLaw",
    "AdaptiveJacobianBackstepping",
    "Backstepping",
    "BasisKind",
    "BezierPath",
    "Box",
    "Capsule",
    "CartesianComputedTorque",
    "CartesianMACT",
    "Clik",
    "CompositeControl",
    "ComputedTorque",
    "ConditionedMotion",
    "ConstantVelocityFilter",
    "ControlLoop",
    "Controller",
    "DerivativeEstimator",
    "Dmp",
    "DmpBasis",
    "DmpScaling",
    "Drive",
    "DynamicPotential",
    "ElasticFeedbackLinearization",
    "ElasticSlotineLi",
    "EnergyObserver",
    "Expression",
    "ExternalObserver",
    "FourierSeries",
    "Function",
    "FunctionalPlanner",
    "GradientLaw",
    "Graph",
    "HalfSpace",
    "Impedance",
    "IndependentJoint",
    "Interceptor",
    "InverseKinematics",
    "JointBezierPath",
    "JointController",
    "JointLimitObjective",
    "JointReferenceSource",
    "JointTrajectory",
    "LengthModel",
    "Lissajous",
    "ManipulabilityObjective",
    "Model",
    "MomentumObserver",
    "MotorPD",
    "NaturalLaw",
    "NullObjective",
    "Obstacle",
    "ObstacleSet",
    "OperationalSpace",
    "PDGravity",
    "ParameterEstimator",
    "PassivityBased",
    "PiecewisePolynomial",
    "PostureObjective",
    "PotentialField",
    "Quantiles",
    "QuaternionDmp",
    "RealtimeLoop",
    "RobustUnitVector",
    "RotationVectorPath",
    "SafeTorque",
    "Safety",
    "SampledJointReference",
    "ScheduledInterception",
    "SetPoint",
    "SetPose",
    "SimulatedRobot",
    "Sinusoid",
    "SlotineLi",
    "Sphere",
    "SphericalWrist",
    "Status",
    "SymbolicChain",
    "TaskController",
    "TaskPath",
    "TaskReferenceSource",
    "ViaSearch",
    "braking_rate",
    "build_config",
    "butterworth",
    "detect_contacts",
    "elastic_damping",
    "emit_c",
    "jacobian",
    "quantities",
    "select",
    "simulate",
    "stopping_distances",
    "use_instruction_set",
    "zero_phase",
]

class Model:
    """Serial arm of the compute core; use `thunder_py.Robot`."""

    def __init__(
        self,
        *,
        name: str,
        prismatic: collections.abc.Sequence[bool],
        placements: typing.Any,
        axes: typing.Any,
        offsets: typing.Any,
        inertial: typing.Any,
        gravity: typing.Any,
        base: typing.Any,
        tool: typing.Any,
        friction_terms: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        friction: typing.Any,
        friction_delta: typing.SupportsFloat | typing.SupportsIndex,
        armature: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        lower: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        upper: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        rotors: list[tuple[typing.Any, ...]],
        elastic: tuple[typing.Any, ...],
        joint_names: collections.abc.Sequence[str],
        link_names: collections.abc.Sequence[str],
        frames: list[tuple[typing.Any, ...]],
    ) -> None: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def christoffel_symbols(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Christoffel symbols of the first kind, C_ij = sum_k Gamma[i, j, k] dq_k.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Thunder article, eq. 8.

        Kernel: ``cpp/include/thunder/dynamics/coriolis.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.christoffel_symbols(q).shape
        (10, 7, 7, 7)"""

    def coriolis_blocks(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Blocks C_0, C_1(Q_h), C_2(E_k) of every link, eq. 11 applied to each mass block.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, 10, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Thunder article, eq. 17; links only.

        Kernel: ``cpp/include/thunder/dynamics/matrix_algebra.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.coriolis_blocks(q, dq).shape
        (10, 7, 10, 7, 7)"""

    def coriolis_matrix(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Coriolis matrix C(q, dq) of Christoffel symbols.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        M_dot - 2 C is skew-symmetric and C dq is the Coriolis torque. Composite form of the factorization of Echeandia and Wensing (2021).

        Kernel: ``cpp/include/thunder/dynamics/coriolis.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.coriolis_matrix(q, dq).shape
        (10, 7, 7)"""

    def coriolis_matrix_algebra(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Coriolis matrix by matrix algebra, C = 1/2 ([B_q dq] + Q B_q - B_q' Q').

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Thunder article, eq. 11. For study: `coriolis_matrix` is the fast one and equals it.

        Kernel: ``cpp/include/thunder/dynamics/matrix_algebra.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.coriolis_matrix_algebra(q, dq).shape
        (10, 7, 7)"""

    def coriolis_matrix_christoffel(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Coriolis matrix by the classical Christoffel sums, entry by entry.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Thunder article, eq. 8. For study: `coriolis_matrix` is the fast one and equals it.

        Kernel: ``cpp/include/thunder/dynamics/matrix_algebra.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.coriolis_matrix_christoffel(q, dq).shape
        (10, 7, 7)"""

    def coriolis_matrix_ddot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        d3q: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Second time derivative of the Coriolis matrix along (dq, ddq, d3q), by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        d3q : (..., n) array_like
            Joint jerks [rad/s^3 or m/s^3].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/derivatives.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq, d3q = np.full((4, 10, 7), 0.5)  # 10 states
        >>> robot.coriolis_matrix_ddot(q, dq, ddq, d3q).shape
        (10, 7, 7)"""

    def coriolis_matrix_derivative(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Partial derivatives of the Coriolis matrix, dC[i, j] / dq[k], by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        By dq they are the `christoffel_symbols`.

        Kernel: ``cpp/include/thunder/dynamics/partial_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.coriolis_matrix_derivative(q, dq).shape
        (10, 7, 7, 7)"""

    def coriolis_matrix_dot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Time derivative of the Coriolis matrix along (dq, ddq), by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/derivatives.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.coriolis_matrix_dot(q, dq, ddq).shape
        (10, 7, 7)"""

    def coriolis_regressor(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        dq_r: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Part of the Slotine-Li regressor that gives C(q, dq) dq_r.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        dq_r : (..., n) array_like
            Reference velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, p) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/regressor.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, dq_r = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.coriolis_regressor(q, dq, dq_r).shape
        (10, 7, 70)"""

    def elastic_damping_regressor(
        self,
        dq: numpy.typing.ArrayLike,
        dx: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Regressor of the dampers: times ``elastic_parameters['D']`` it is `elastic_damping_torque`.

        Parameters
        ----------
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        dx : (..., e) array_like
            Motor velocities of the elastic joints [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., e, e k) array, k coefficients per joint

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite; for a robot without elastic joints.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/elastic.hpp``; theory: ``docs/theory/dynamics.md``."""

    def elastic_damping_torque(
        self,
        dq: numpy.typing.ArrayLike,
        dx: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Torque of the dampers, parallel to the springs, on the links, sum_k D[k] v |v|^k, v = dx - dq.

        Parameters
        ----------
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        dx : (..., e) array_like
            Motor velocities of the elastic joints [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., e) array [N m or N]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite; for a robot without elastic joints.

        Notes
        -----
        The opposite torque acts on the motors.

        Kernel: ``cpp/include/thunder/dynamics/elastic.hpp``; theory: ``docs/theory/dynamics.md``."""

    def elastic_forward_dynamics(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        x: numpy.typing.ArrayLike,
        dx: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Accelerations of links and motors: ddq (n), then ddx (e).

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        x : (..., e) array_like
            Motor positions of the elastic joints, seen at the joint [rad or m].
        dx : (..., e) array_like
            Motor velocities of the elastic joints [rad/s or m/s].
        tau : (..., n) array_like
            Joint torques or forces [N m or N].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n + e) array [rad/s^2 or m/s^2]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite; for a robot without elastic joints.

        Notes
        -----
        tau acts on the link at rigid joints and on the motor at elastic ones: M ddq + C dq + G + friction = tau_el and Mm ddx + damping + tau_el = tau, tau_el of spring and damper (the model of Spong, 1987).

        Kernel: ``cpp/include/thunder/dynamics/elastic.hpp``; theory: ``docs/theory/dynamics.md``."""

    def elastic_regressor(
        self,
        q: numpy.typing.ArrayLike,
        x: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Regressor of the springs: times ``elastic_parameters['K']`` it is `elastic_torque`.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        x : (..., e) array_like
            Motor positions of the elastic joints, seen at the joint [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., e, e k) array, k coefficients per joint

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite; for a robot without elastic joints.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/elastic.hpp``; theory: ``docs/theory/dynamics.md``."""

    def elastic_torque(
        self,
        q: numpy.typing.ArrayLike,
        x: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Torque of the springs on the links, sum_k K[k] (x - q)^(2k+1).

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        x : (..., e) array_like
            Motor positions of the elastic joints, seen at the joint [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., e) array [N m or N]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite; for a robot without elastic joints.

        Notes
        -----
        The opposite torque acts on the motors.

        Kernel: ``cpp/include/thunder/dynamics/elastic.hpp``; theory: ``docs/theory/dynamics.md``."""

    def forward_dynamics(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Joint acceleration under torque tau.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        tau : (..., n) array_like
            Joint torques or forces [N m or N].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array [rad/s^2 or m/s^2]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Articulated-body algorithm; with rotors, Cholesky factorization of M. Where M is singular (no mass behind a joint, or only a point mass on its axis) the quotients are rounded zeros: the result is meaningless, and may be NaN, huge, or inconspicuous where tau is near equilibrium. A condition number of `mass_matrix` above 1e15 shows it.

        Kernel: ``cpp/include/thunder/dynamics/forward_dynamics.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, tau = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.forward_dynamics(q, dq, tau).shape
        (10, 7)"""

    def forward_dynamics_derivatives(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Partial derivatives of the forward dynamics by q, by dq and by tau, which is M^-1.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        tau : (..., n) array_like
            Joint torques or forces [N m or N].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 3, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        -M^-1 times the derivatives of the inverse dynamics at the acceleration of this state.

        Kernel: ``cpp/include/thunder/dynamics/forward_dynamics_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, tau = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.forward_dynamics_derivatives(q, dq, tau).shape
        (10, 3, 7, 7)"""

    def forward_dynamics_second_derivatives(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Second partial derivatives of the forward dynamics: by q q, by dq q, by tau q (dM^-1/dq), by dq dq.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        tau : (..., n) array_like
            Joint torques or forces [N m or N].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 4, n, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Dual numbers over the analytic first ones. The last index is that of the second variable.

        Kernel: ``cpp/include/thunder/dynamics/partial_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, tau = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.forward_dynamics_second_derivatives(q, dq, tau).shape
        (10, 4, 7, 7, 7)"""

    def forward_kinematics(
        self,
        q: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Pose of a frame in the world.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        frame : int or str, optional
            Link index (0 is the base), frame name; default the end effector.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 4, 4) array [m]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/forward_kinematics.hpp``; theory: ``docs/theory/kinematics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.forward_kinematics(q).shape
        (10, 4, 4)"""

    def friction_regressor(
        self, dq: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Part of the regressors that gives the friction torque.

        Parameters
        ----------
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, p) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/regressor.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> dq = np.full((10, 7), 0.5)  # 10 states
        >>> robot.friction_regressor(dq).shape
        (10, 7, 70)"""

    def friction_torque(
        self, dq: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Friction torque, opposing motion where coefficients are positive.

        Parameters
        ----------
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array [N m or N]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Coulomb friction has the smooth sign dq / (abs(dq) + delta) (D4.2, eq. 62).

        Kernel: ``cpp/include/thunder/model/friction.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> dq = np.full((10, 7), 0.5)  # 10 states
        >>> robot.friction_torque(dq).shape
        (10, 7)"""

    def generalized_momentum(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Generalized momentum p = M dq, rotors and armature included.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array [kg m^2/s or kg m/s]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/momentum.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.generalized_momentum(q, dq).shape
        (10, 7)"""

    def gravity_blocks(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Blocks Z_0 and the three columns of Z_1 of every link: G = sum blocks[i, k] pi[i, k], k < 4.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, 4, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Thunder article, eq. 21.

        Kernel: ``cpp/include/thunder/dynamics/matrix_algebra.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.gravity_blocks(q).shape
        (10, 7, 4, 7)"""

    def gravity_regressor(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Part of the Slotine-Li regressor that gives G(q).

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, p) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/regressor.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.gravity_regressor(q).shape
        (10, 7, 70)"""

    def gravity_vector(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Gravity torque G(q) = dU/dq.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array [N m or N]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/gravity.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.gravity_vector(q).shape
        (10, 7)"""

    def gravity_vector_ddot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Second time derivative of the gravity torque along (dq, ddq), by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/derivatives.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.gravity_vector_ddot(q, dq, ddq).shape
        (10, 7)"""

    def gravity_vector_dot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Time derivative of the gravity torque along dq, by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/derivatives.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.gravity_vector_dot(q, dq).shape
        (10, 7)"""

    def inverse_dynamics(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Joint torque M ddq + C dq + G + friction.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array [N m or N]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Recursive Newton-Euler; equals ``regressor(q, dq, ddq) @ parameters``.

        Kernel: ``cpp/include/thunder/dynamics/inverse_dynamics.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.inverse_dynamics(q, dq, ddq).shape
        (10, 7)"""

    def inverse_dynamics_ddot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        d3q: numpy.typing.ArrayLike,
        d4q: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Second time derivative of the joint torque along (dq, ddq, d3q, d4q), by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        d3q : (..., n) array_like
            Joint jerks [rad/s^3 or m/s^3].
        d4q : (..., n) array_like
            Derivatives of the joint jerks [rad/s^4 or m/s^4].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array [N m/s^2 or N/s^2]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Linear in d4q, with the mass matrix; laws of elastic joints invert it.

        Kernel: ``cpp/include/thunder/dynamics/derivatives.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq, d3q, d4q = np.full((5, 10, 7), 0.5)  # 10 states
        >>> robot.inverse_dynamics_ddot(q, dq, ddq, d3q, d4q).shape
        (10, 7)"""

    def inverse_dynamics_derivatives(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Partial derivatives of the inverse dynamics by q, by dq and by ddq, which is M.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 3, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Analytic recursion (Singh, Russell and Wensing, 2022), with friction, rotors and armature.

        Kernel: ``cpp/include/thunder/dynamics/inverse_dynamics_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.inverse_dynamics_derivatives(q, dq, ddq).shape
        (10, 3, 7, 7)"""

    def inverse_dynamics_dot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        d3q: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Time derivative of the joint torque along (dq, ddq, d3q), by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        d3q : (..., n) array_like
            Joint jerks [rad/s^3 or m/s^3].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array [N m/s or N/s]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/derivatives.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq, d3q = np.full((4, 10, 7), 0.5)  # 10 states
        >>> robot.inverse_dynamics_dot(q, dq, ddq, d3q).shape
        (10, 7)"""

    def inverse_dynamics_second_derivatives(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Second partial derivatives of the inverse dynamics: by q q, by dq q, by ddq q (dM/dq), by dq dq.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 4, n, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Dual numbers over the analytic first ones. The last index is that of the second variable.

        Kernel: ``cpp/include/thunder/dynamics/partial_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.inverse_dynamics_second_derivatives(q, dq, ddq).shape
        (10, 4, 7, 7, 7)"""

    def jacobian(
        self,
        q: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Geometric Jacobian of a frame: world axes, linear rows 0-2, angular rows 3-5.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        frame : int or str, optional
            Link index (0 is the base), frame name; default the end effector.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 6, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        xi = J(q) dq (Thunder article, eq. 3).

        Kernel: ``cpp/include/thunder/dynamics/jacobian.hpp``; theory: ``docs/theory/kinematics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.jacobian(q).shape
        (10, 6, 7)"""

    def jacobian_ddot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Second time derivative of the geometric Jacobian along (dq, ddq), by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        frame : int or str, optional
            Link index (0 is the base), frame name; default the end effector.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 6, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/derivatives.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.jacobian_ddot(q, dq, ddq).shape
        (10, 6, 7)"""

    def jacobian_derivative(
        self,
        q: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Partial derivatives of the geometric Jacobian, dJ[r, j] / dq[k] (the Hessian of the frame's pose).

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        frame : int or str, optional
            Link index (0 is the base), frame name; default the end effector.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 6, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Its product with dq is `jacobian_dot`.

        Kernel: ``cpp/include/thunder/dynamics/jacobian.hpp``; theory: ``docs/theory/kinematics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.jacobian_derivative(q).shape
        (10, 6, 7, 7)"""

    def jacobian_dot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Time derivative of the geometric Jacobian along dq.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        frame : int or str, optional
            Link index (0 is the base), frame name; default the end effector.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 6, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/jacobian.hpp``; theory: ``docs/theory/kinematics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.jacobian_dot(q, dq).shape
        (10, 6, 7)"""

    def kinetic_energy(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> typing.Any:
        """Kinetic energy, 1/2 dq' M dq.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        float or (...) array [J]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/energy.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.kinetic_energy(q, dq).shape
        (10,)"""

    def kinetic_energy_regressor(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Regressor of the kinetic energy.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., p) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/energy_regressors.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.kinetic_energy_regressor(q, dq).shape
        (10, 70)"""

    def manipulability(
        self,
        q: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        rows: collections.abc.Sequence[int] | None = None,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> typing.Any:
        """Yoshikawa's measure sqrt(det(J J')) of the chosen rows.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        frame : int or str, optional
            Link index (0 is the base), frame name; default the end effector.
        rows : sequence of int, optional
            Rows of the Jacobian in the task, 0-5; default all six.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        float or (...) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/manipulability.hpp``; theory: ``docs/theory/kinematics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.manipulability(q).shape
        (10,)"""

    def mass_and_coriolis(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Mass matrix M, Coriolis matrix C and M_dot = C + C', in one pass.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 3, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        For one state, ``M, C, M_dot = robot.mass_and_coriolis(q, dq)``.

        Kernel: ``cpp/include/thunder/dynamics/coriolis.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.mass_and_coriolis(q, dq).shape
        (10, 3, 7, 7)"""

    def mass_blocks(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Blocks B_0, B_1(Q_1..Q_3), B_2(E_1..E_6) of every link: M = sum blocks[i, k] pi[i, k].

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, 10, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Thunder article, eqs. 14-16; links only, without rotors and armature.

        Kernel: ``cpp/include/thunder/dynamics/matrix_algebra.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.mass_blocks(q).shape
        (10, 7, 10, 7, 7)"""

    def mass_matrix(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Mass matrix M(q), rotors and armature included.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n) array [kg m^2, kg m, kg]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/mass_matrix.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.mass_matrix(q).shape
        (10, 7, 7)"""

    def mass_matrix_ddot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Second time derivative of the mass matrix along (dq, ddq), by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/derivatives.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.mass_matrix_ddot(q, dq, ddq).shape
        (10, 7, 7)"""

    def mass_matrix_derivative(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Partial derivatives of the mass matrix, dM[i, j] / dq[k], by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Thunder article, section 3.2. The Coriolis kernel does not need it.

        Kernel: ``cpp/include/thunder/dynamics/partial_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.mass_matrix_derivative(q).shape
        (10, 7, 7, 7)"""

    def mass_matrix_dot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Time derivative of the mass matrix along dq: C + C'.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/coriolis.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.mass_matrix_dot(q, dq).shape
        (10, 7, 7)"""

    def mass_regressor(
        self,
        q: numpy.typing.ArrayLike,
        ddq_r: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Part of the Slotine-Li regressor that gives M ddq_r.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        ddq_r : (..., n) array_like
            Reference accelerations [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, p) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/regressor.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, ddq_r = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.mass_regressor(q, ddq_r).shape
        (10, 7, 70)"""

    def momentum_drift(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """C(q, dq)' dq, the gradient of the kinetic energy by q.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array [N m or N]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        The momentum's derivative is tau + C' dq - G - friction (De Luca and Mattone, 2003).

        Kernel: ``cpp/include/thunder/dynamics/momentum.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.momentum_drift(q, dq).shape
        (10, 7)"""

    def momentum_regressor(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Regressor of the generalized momentum.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, p) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Equals ``mass_regressor(q, dq)``.

        Kernel: ``cpp/include/thunder/dynamics/regressor.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq = np.full((2, 10, 7), 0.5)  # 10 states
        >>> robot.momentum_regressor(q, dq).shape
        (10, 7, 70)"""

    def motor_damping_regressor(
        self, dx: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Regressor of the motors' damping: times ``elastic_parameters['Dm']`` it is `motor_damping_torque`.

        Parameters
        ----------
        dx : (..., e) array_like
            Motor velocities of the elastic joints [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., e, e k) array, k coefficients per joint

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite; for a robot without elastic joints.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/elastic.hpp``; theory: ``docs/theory/dynamics.md``."""

    def motor_damping_torque(
        self, dx: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Damping of the motors, sum_k Dm[k] dx |dx|^k, on the left of their equation.

        Parameters
        ----------
        dx : (..., e) array_like
            Motor velocities of the elastic joints [rad/s or m/s].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., e) array [N m or N]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite; for a robot without elastic joints.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/elastic.hpp``; theory: ``docs/theory/dynamics.md``."""

    def motor_inertia_regressor(
        self, ddx: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Regressor of the motors' inertia: times ``elastic_parameters['Mm']`` it is `motor_inertia_torque`.

        Parameters
        ----------
        ddx : (..., e) array_like
            Motor accelerations of the elastic joints [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., e, e) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite; for a robot without elastic joints.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/elastic.hpp``; theory: ``docs/theory/dynamics.md``."""

    def motor_inertia_torque(
        self, ddx: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Torque that accelerates the motors, Mm ddx.

        Parameters
        ----------
        ddx : (..., e) array_like
            Motor accelerations of the elastic joints [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., e) array [N m or N]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite; for a robot without elastic joints.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/elastic.hpp``; theory: ``docs/theory/dynamics.md``."""

    def operational_space_inertia(
        self,
        q: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        rows: collections.abc.Sequence[int] | None = None,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Operational-space inertia (J M^-1 J')^-1 of the chosen rows.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        frame : int or str, optional
            Link index (0 is the base), frame name; default the end effector.
        rows : sequence of int, optional
            Rows of the Jacobian in the task, 0-5; default all six.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., m, m) array, m chosen rows

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Raises ValueError where the chosen rows are singular.

        Kernel: ``cpp/include/thunder/dynamics/operational_space.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.operational_space_inertia(q).shape
        (10, 6, 6)"""

    def operational_space_inertia_derivative(
        self,
        q: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        rows: collections.abc.Sequence[int] | None = None,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Partial derivatives of the operational-space inertia, dLambda[i, j] / dq[k], by dual numbers.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        frame : int or str, optional
            Link index (0 is the base), frame name; default the end effector.
        rows : sequence of int, optional
            Rows of the Jacobian in the task, 0-5; default all six.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., m, m, n) array, m chosen rows

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Raises ValueError where the chosen rows are singular.

        Kernel: ``cpp/include/thunder/dynamics/partial_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.operational_space_inertia_derivative(q).shape
        (10, 6, 6, 7)"""

    def potential_energy(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> typing.Any:
        """Potential energy, zero for all mass at the world origin.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        float or (...) array [J]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/energy.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.potential_energy(q).shape
        (10,)"""

    def potential_energy_regressor(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Regressor of the potential energy.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., p) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Kernel: ``cpp/include/thunder/dynamics/energy_regressors.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q = np.full((10, 7), 0.5)  # 10 states
        >>> robot.potential_energy_regressor(q).shape
        (10, 70)"""

    def regressor(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Regressor Y with Y parameters = inverse dynamics.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, p) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Thunder article, eq. 5; columns are named by ``parameter_names``.

        Kernel: ``cpp/include/thunder/dynamics/regressor.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.regressor(q, dq, ddq).shape
        (10, 7, 70)"""

    def regressor_product_derivatives(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        pi: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Partial derivatives of Y(q, dq, ddq) pi by q, by dq and by ddq, for any vector pi of parameters.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        pi : (..., p) array_like
            Parameters, in the order of ``parameter_names``.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 3, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Those of the inverse dynamics of the arm with the parameters pi; Y is not formed.

        Kernel: ``cpp/include/thunder/dynamics/regressor_products.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 10, 7), 0.5)  # 10 states
        >>> robot.regressor_product_derivatives(q, dq, ddq, robot.parameters).shape
        (10, 3, 7, 7)"""

    def slotine_li_product_derivatives(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        dq_r: numpy.typing.ArrayLike,
        ddq_r: numpy.typing.ArrayLike,
        pi: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Partial derivatives of Y_r(q, dq, dq_r, ddq_r) pi by q, by dq, by dq_r and by ddq_r, for any vector pi of parameters.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        dq_r : (..., n) array_like
            Reference velocities [rad/s or m/s].
        ddq_r : (..., n) array_like
            Reference accelerations [rad/s^2 or m/s^2].
        pi : (..., p) array_like
            Parameters, in the order of ``parameter_names``.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 4, n, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        By dq_r and ddq_r they are C and M of the arm with the parameters pi; Y_r is not formed.

        Kernel: ``cpp/include/thunder/dynamics/regressor_products.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, dq_r, ddq_r = np.full((4, 10, 7), 0.5)  # 10 states
        >>> robot.slotine_li_product_derivatives(q, dq, dq_r, ddq_r, robot.parameters).shape
        (10, 4, 7, 7)"""

    def slotine_li_regressor(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        dq_r: numpy.typing.ArrayLike,
        ddq_r: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Slotine-Li regressor: Y_r parameters = M ddq_r + C(q, dq) dq_r + G + friction(dq).

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        dq_r : (..., n) array_like
            Reference velocities [rad/s or m/s].
        ddq_r : (..., n) array_like
            Reference accelerations [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n, p) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Thunder article, eq. 6, with the Christoffel C; friction acts on the actual velocity. Columns are named by ``parameter_names``.

        Kernel: ``cpp/include/thunder/dynamics/regressor.hpp``; theory: ``docs/theory/regressors.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, dq_r, ddq_r = np.full((4, 10, 7), 0.5)  # 10 states
        >>> robot.slotine_li_regressor(q, dq, dq_r, ddq_r).shape
        (10, 7, 70)"""

    def slotine_li_torque(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        dq_r: numpy.typing.ArrayLike,
        ddq_r: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Joint torque M ddq_r + C(q, dq) dq_r + G + friction(dq), without its regressor.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        dq_r : (..., n) array_like
            Reference velocities [rad/s or m/s].
        ddq_r : (..., n) array_like
            Reference accelerations [rad/s^2 or m/s^2].
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., n) array [N m or N]

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Newton-Euler recursion of the Christoffel C; equals ``slotine_li_regressor(q, dq, dq_r, ddq_r) @ parameters``.

        Kernel: ``cpp/include/thunder/dynamics/slotine_li_torque.hpp``; theory: ``docs/theory/dynamics.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, dq_r, ddq_r = np.full((4, 10, 7), 0.5)  # 10 states
        >>> robot.slotine_li_torque(q, dq, dq_r, ddq_r).shape
        (10, 7)"""

    def transposed_regressor_derivatives(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        s: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Partial derivatives of Y(q, dq, ddq)' s by q, by dq and by ddq, for any joint vector s.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        ddq : (..., n) array_like
            Joint accelerations [rad/s^2 or m/s^2].
        s : (..., n) array_like
            Joint vector that multiplies the transposed regressor.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 3, p, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Dual numbers over a recursion that does not form Y. By s the derivative is Y' itself.

        Kernel: ``cpp/include/thunder/dynamics/regressor_products.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq, s = np.full((4, 10, 7), 0.5)  # 10 states
        >>> robot.transposed_regressor_derivatives(q, dq, ddq, s).shape
        (10, 3, 70, 7)"""

    def transposed_slotine_li_derivatives(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        dq_r: numpy.typing.ArrayLike,
        ddq_r: numpy.typing.ArrayLike,
        s: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Partial derivatives of Y_r(q, dq, dq_r, ddq_r)' s by q, by dq, by dq_r and by ddq_r, for any joint vector s.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions [rad or m].
        dq : (..., n) array_like
            Joint velocities [rad/s or m/s].
        dq_r : (..., n) array_like
            Reference velocities [rad/s or m/s].
        ddq_r : (..., n) array_like
            Reference accelerations [rad/s^2 or m/s^2].
        s : (..., n) array_like
            Joint vector that multiplies the transposed regressor.
        out : ndarray, optional
            Result array to fill: float64, C-contiguous, of the exact shape.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        (..., 4, p, n) array

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Dual numbers over a recursion that does not form Y_r. By s the derivative is Y_r' itself.

        Kernel: ``cpp/include/thunder/dynamics/regressor_products.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, dq_r, ddq_r, s = np.full((5, 10, 7), 0.5)  # 10 states
        >>> robot.transposed_slotine_li_derivatives(q, dq, dq_r, ddq_r, s).shape
        (10, 4, 70, 7)"""

    @property
    def e(self) -> int:
        """Number of elastic joints."""

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the frames: ``base``, the links, ``tool`` (the end effector), then the named ones."""

    @property
    def n(self) -> int:
        """Number of joints."""

    @property
    def name(self) -> str:
        """Name, an identifier."""

    @property
    def p(self) -> int:
        """Number of parameters, the columns of the regressors."""

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters, such as ``link3.mcx`` or ``joint2.viscous``."""

    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]:
        """(p,) array, read-only: REG inertial parameters of the links, then friction, rotor and armature parameters."""

class Status(enum.IntEnum):
    diverged = ...
    invalid_input = ...
    ok = ...
    saturated = ...
    singular = ...

class JointReferenceSource:
    """A joint-space reference over time."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def at(self, t: typing.SupportsFloat | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.float64], ...]:
        """Reference at time t [s], as a tuple of arrays."""

    def sample(self, times: numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], ...]:
        """Reference at times (k,) [s], as a tuple of arrays."""

    def sample_smooth(self, times: numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], ...]:
        """Reference at times (k,) [s] with four derivatives, as a tuple of arrays."""

class TaskReferenceSource:
    """A task-space reference over time."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def at(self, t: typing.SupportsFloat | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.float64], ...]:
        """Reference at time t [s], as a tuple of arrays."""

    def sample(self, times: numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], ...]:
        """Reference at times (k,) [s], as a tuple of arrays."""

class SetPoint(JointReferenceSource):
    """Constant joint positions."""

    def __init__(self, q: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class Sinusoid(JointReferenceSource):
    """A sinusoid in every joint."""

    def __init__(
        self,
        amplitude: numpy.typing.ArrayLike,
        frequency: numpy.typing.ArrayLike,
        center: numpy.typing.ArrayLike,
        phase: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class SetPose(TaskReferenceSource):
    """Constant pose."""

    def __init__(self, p: numpy.typing.ArrayLike, R: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class Lissajous(TaskReferenceSource):
    """A Lissajous curve at constant orientation."""

    def __init__(
        self,
        amplitude: numpy.typing.ArrayLike,
        frequency: numpy.typing.ArrayLike,
        center: numpy.typing.ArrayLike,
        orientation: numpy.typing.ArrayLike,
        t0: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class AdaptationLaw:
    """Adaptation law of the unknown parameters."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    @property
    def size(self) -> int:
        """Number of parameters that adapt."""

class GradientLaw(AdaptationLaw):
    """Gradient adaptation law."""

    def __init__(
        self,
        Gamma: numpy.typing.ArrayLike,
        size: typing.SupportsInt | typing.SupportsIndex,
        lower: numpy.typing.ArrayLike | None,
        upper: numpy.typing.ArrayLike | None,
        dead_zone: numpy.typing.ArrayLike | None,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class NaturalLaw(AdaptationLaw):
    """Natural adaptation law."""

    def __init__(
        self, gamma: numpy.typing.ArrayLike, rest: numpy.typing.ArrayLike, dead_zone: numpy.typing.ArrayLike | None
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class ParameterEstimator:
    """The estimate of an adaptive controller."""

    def __init__(
        self,
        model: Model,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
        prediction: tuple[
            str, typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex, typing.Any
        ],
        K_d: numpy.typing.ArrayLike | None,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _run(
        self,
        t: numpy.typing.ArrayLike,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        hold: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def reset(self) -> None:
        """Return to the state after construction."""

    def step(
        self,
        t: typing.SupportsFloat | typing.SupportsIndex,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        hold: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    ) -> Status:
        """Take the state and the torque (n,) at time t [s]; the torque is held for `hold` seconds from then on, and changes
        evenly to the next one.

        Return ``ok``; ``invalid_input`` for what is not finite, and ``diverged`` until `reset`. These, a pause of 0.1 s
        and time that does not advance restart the filters; the estimate stays."""

    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]:
        """Boolean mask (p,) of the parameters that adapt; initially all unknown ones, or none without an adaptation
        law. The others keep their estimate. `reset` does not change the mask. With the natural law all parameters
        of a link adapt, or none."""

    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
    @property
    def excess(self) -> float:
        """How many times too long the last step was for its gains; 1 if it was not."""

    @property
    def n(self) -> int:
        """Number of joints."""

    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]:
        """Current estimate (p,) of all parameters, in the order of the robot's ``parameter_names``.
        Assigning it also sets the estimate that `reset` restores."""

    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...
    @property
    def prediction_error(self) -> numpy.typing.NDArray[numpy.float64]:
        """y - W pihat (n,) of the last step, before its adaptation."""

    @property
    def s(self) -> numpy.typing.NDArray[numpy.float64]:
        """v - dq (n,) of the last step; zero without K_d."""

class PiecewisePolynomial:
    """Piecewise polynomial of a vector."""

    def __init__(self, breaks: numpy.typing.ArrayLike, coefficients: numpy.typing.ArrayLike) -> None:
        """Breaks (m + 1,) and coefficients (order, m, d), highest power first, of powers of t - breaks[k]."""

    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def at(
        self, t: typing.SupportsFloat | typing.SupportsIndex
    ) -> tuple[
        numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]
    ]:
        """Value and first two derivatives at time t, each (d,)."""

class FourierSeries(JointReferenceSource):
    """A finite Fourier series in every joint."""

    def __init__(
        self,
        a: numpy.typing.ArrayLike,
        b: numpy.typing.ArrayLike,
        q0: numpy.typing.ArrayLike,
        fundamental: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class JointTrajectory(JointReferenceSource):
    """Joint-space reference along piecewise polynomials."""

    def __init__(self, breaks: numpy.typing.ArrayLike, coefficients: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class TaskPath(TaskReferenceSource):
    """Task-space path of portions and turns, each with its timing law."""

    def __init__(
        self,
        p: numpy.typing.ArrayLike,
        R: numpy.typing.ArrayLike,
        laws: collections.abc.Sequence[PiecewisePolynomial],
        portions: numpy.typing.ArrayLike,
        turn_laws: collections.abc.Sequence[PiecewisePolynomial],
        turns: numpy.typing.ArrayLike,
    ) -> None:
        """Rows of `portions`: chord, u, w, angle; rows of `turns`: axis, angle."""

    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class Obstacle:
    """Convex obstacle."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def nearest(
        self, points: numpy.typing.ArrayLike
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
        """Signed distances (k,) [m] of points (k, 3), negative inside, and their gradients (k, 3)."""

class Sphere(Obstacle):
    """A ball."""

    def __init__(self, center: numpy.typing.ArrayLike, radius: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class Box(Obstacle):
    """A box in any orientation."""

    def __init__(
        self, center: numpy.typing.ArrayLike, R: numpy.typing.ArrayLike, half: numpy.typing.ArrayLike
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class Capsule(Obstacle):
    """Capsule: all points within a radius of a segment."""

    def __init__(
        self, a: numpy.typing.ArrayLike, b: numpy.typing.ArrayLike, radius: typing.SupportsFloat | typing.SupportsIndex
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class HalfSpace(Obstacle):
    """Half-space behind a plane."""

    def __init__(self, point: numpy.typing.ArrayLike, normal: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class PotentialField:
    """Potential of an arm among convex obstacles."""

    def __init__(
        self,
        model: Model,
        obstacles: collections.abc.Sequence[Obstacle],
        goal: numpy.typing.ArrayLike,
        links: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        offsets: numpy.typing.ArrayLike,
        attraction: typing.SupportsFloat | typing.SupportsIndex,
        conic_distance: typing.SupportsFloat | typing.SupportsIndex,
        repulsion: typing.SupportsFloat | typing.SupportsIndex,
        influence: typing.SupportsFloat | typing.SupportsIndex,
        posture: typing.SupportsFloat | typing.SupportsIndex,
        radius: typing.SupportsFloat | typing.SupportsIndex,
        interior: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _clearance(self, q: numpy.typing.ArrayLike) -> float: ...
    def _free(
        self,
        q0: numpy.typing.ArrayLike,
        q1: numpy.typing.ArrayLike,
        margin: typing.SupportsFloat | typing.SupportsIndex,
    ) -> bool: ...
    def _plan(
        self,
        q0: numpy.typing.ArrayLike,
        lower: numpy.typing.ArrayLike,
        upper: numpy.typing.ArrayLike,
        step: typing.SupportsFloat | typing.SupportsIndex,
        tolerance: typing.SupportsFloat | typing.SupportsIndex,
        margin: typing.SupportsFloat | typing.SupportsIndex,
        max_iterations: typing.SupportsInt | typing.SupportsIndex,
        walk_steps: typing.SupportsInt | typing.SupportsIndex,
        max_walks: typing.SupportsInt | typing.SupportsIndex,
        seed: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[str, numpy.typing.NDArray[numpy.float64], int, int]: ...
    def _potential(self, q: numpy.typing.ArrayLike) -> tuple[float, numpy.typing.NDArray[numpy.float64]]: ...

class BezierPath:
    """A piecewise polynomial in Bernstein form."""

    def __getstate__(self) -> tuple[typing.Any, ...]: ...
    def __init__(self, breaks: numpy.typing.ArrayLike, points: numpy.typing.ArrayLike) -> None:
        """Breaks (m + 1,) [s] and control points (m, degree + 1, d)."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, arg0: tuple[typing.Any, ...]) -> None: ...
    def sample(
        self, t: numpy.typing.ArrayLike, derivative: typing.SupportsInt | typing.SupportsIndex = 0
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Sample a derivative at times (...) [s]; returns (..., d)."""

    @property
    def breaks(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def degree(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def end(self) -> float: ...
    @property
    def points(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def start(self) -> float: ...

class RotationVectorPath(TaskReferenceSource):
    """Path of position and rotation vector about a reference orientation."""

    def __init__(self, path: BezierPath, R: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    @property
    def path(self) -> BezierPath: ...
    @property
    def reference_rotation(self) -> numpy.typing.NDArray[numpy.float64]: ...

class JointBezierPath(JointReferenceSource):
    """Joint-space reference along a path."""

    def __init__(self, path: BezierPath) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    @property
    def path(self) -> BezierPath: ...

class ConditionedMotion:
    """Normal distribution of the motions that meet constraints."""

    def __init__(
        self,
        planner: FunctionalPlanner,
        start: numpy.typing.ArrayLike,
        goal: numpy.typing.ArrayLike,
        duration: typing.SupportsFloat | typing.SupportsIndex,
        constraints: numpy.typing.ArrayLike,
    ) -> None:
        """Rows of `constraints`: tau, derivative, degree of freedom, value, noise."""

    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def path(
        self, start_time: typing.SupportsFloat | typing.SupportsIndex = 0.0, along: typing.Any = None
    ) -> BezierPath: ...
    def tube(
        self, tau: numpy.typing.ArrayLike, derivative: typing.SupportsInt | typing.SupportsIndex = 0
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
        """Mean (k, d) and covariance (k, d, d)."""

    @property
    def condition(self) -> float: ...
    @property
    def spread(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def unknowns(self) -> numpy.typing.NDArray[numpy.float64]: ...

class FunctionalPlanner:
    """Closed-form planner with functional components."""

    def __init__(
        self,
        breaks: numpy.typing.ArrayLike,
        mean: numpy.typing.ArrayLike,
        functions: numpy.typing.ArrayLike,
        variances: numpy.typing.ArrayLike,
        joint: bool,
        aligned: bool,
        exact: bool,
        order: typing.SupportsInt | typing.SupportsIndex,
    ) -> None:
        """mean (m, degree + 1, d) and functions (n, m, degree + 1, d): control points on pieces between breaks (m + 1,)."""

    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def compare_travel(
        self, path: BezierPath, minimum_jerk: BezierPath | None = None
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], bool] | None:
        """Path length, peak speed and peak acceleration (3, G) of a path and of minimum jerk, by default the quintic between
        its end states, and whether the limits hold for speed and acceleration relative to minimum jerk of the same
        length; None within the limits."""

    def jerk_cost(
        self,
        start: numpy.typing.ArrayLike,
        goal: numpy.typing.ArrayLike,
        duration: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
        """H and (g, c) of the integral of squared jerk over velocities and accelerations at both ends."""

    def limit_travel(
        self,
        groups: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        floors: numpy.typing.ArrayLike,
        ratios: numpy.typing.ArrayLike,
        most: numpy.typing.ArrayLike,
    ) -> None:
        """Set limits of groups of coordinates: lengths (G,) added to the displacement, ratios (3,) of path length, peak
        speed and peak acceleration to minimum jerk, and their absolute limits (3, G)."""

    def plan(
        self,
        start: typing.Any,
        goal: typing.Any,
        duration: typing.SupportsFloat | typing.SupportsIndex,
        start_time: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        start_velocity: typing.Any = None,
        goal_velocity: typing.Any = None,
        start_acceleration: typing.Any = None,
        goal_acceleration: typing.Any = None,
    ) -> tuple[BezierPath, float, bool]:
        """Return the path, the Mahalanobis distance of its scores, and whether it exceeds the limits of travel."""

    def plan_many(
        self,
        starts: numpy.typing.ArrayLike,
        goals: numpy.typing.ArrayLike,
        durations: numpy.typing.ArrayLike,
        start_velocities: numpy.typing.ArrayLike,
        goal_velocities: numpy.typing.ArrayLike,
        start_accelerations: numpy.typing.ArrayLike,
        goal_accelerations: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        derivative: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[
        numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.bool]
    ]:
        """Plan N problems; returns samples (N, k, d) at k normalized times, Mahalanobis distances (N,) of the
        scores, and which exceed the limits of travel (N,)."""

    def resume(
        self,
        path: BezierPath,
        t: typing.SupportsFloat | typing.SupportsIndex,
        end: typing.SupportsFloat | typing.SupportsIndex,
        tau: typing.SupportsFloat | typing.SupportsIndex,
        frame: typing.Any,
        goal: numpy.typing.ArrayLike,
        goal_velocity: typing.Any,
        goal_acceleration: typing.Any,
        order: typing.SupportsInt | typing.SupportsIndex,
        condition_limit: typing.SupportsFloat | typing.SupportsIndex,
        deviation_limit: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[BezierPath, float, bool, numpy.typing.NDArray[numpy.float64]]:
        """Continue a path from time t [s], normalized time tau; returns path, condition, a flag for Hermite's polynomial as
        correction, and otherwise the correction's unknowns. An aligned model needs a frame (2, d): start and goal."""

    def score_distance(self, path: BezierPath, times: numpy.typing.ArrayLike) -> float:
        """Largest Mahalanobis distance of the scores of a path's segments between via points at these times."""

    def travel(self, path: BezierPath, bound: bool = False) -> numpy.typing.NDArray[numpy.float64]:
        """Path length, peak speed and peak acceleration (3, G) of a path, or upper bounds of them."""

    @property
    def condition(self) -> float: ...
    @property
    def dimension(self) -> int: ...

class ObstacleSet:
    """Set of obstacles, at rest or at constant velocity."""

    def __init__(
        self, obstacles: collections.abc.Sequence[Obstacle], velocities: numpy.typing.ArrayLike | None = None
    ) -> None:
        """List of obstacles and, if some move, their velocities (k, 3) [m/s]."""

    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def clearance(
        self, path: BezierPath, tolerance: typing.SupportsFloat | typing.SupportsIndex = 1e-09
    ) -> tuple[float, float, float, int]:
        """Least distance [m], its proved lower bound [m], time [s] and index of the obstacle (-1: none)."""

    def distance(
        self,
        k: typing.SupportsInt | typing.SupportsIndex,
        p: numpy.typing.ArrayLike,
        t: typing.SupportsFloat | typing.SupportsIndex,
    ) -> float:
        """Signed distance [m] of a point (3,) to obstacle k at time t [s]."""

    def free(self, path: BezierPath, margin: typing.SupportsFloat | typing.SupportsIndex) -> bool:
        """True if the path is proved to keep the margin [m]."""

    def nearer(
        self,
        p: numpy.typing.ArrayLike,
        t: typing.SupportsFloat | typing.SupportsIndex,
        margin: typing.SupportsFloat | typing.SupportsIndex,
    ) -> int:
        """Index of the first obstacle nearer than the margin [m], or -1."""

class ViaSearch:
    """Search for via points around obstacles."""

    def __init__(
        self,
        planner: FunctionalPlanner,
        method: str,
        count: typing.SupportsInt | typing.SupportsIndex,
        seed: typing.SupportsInt | typing.SupportsIndex,
        half_width: typing.SupportsFloat | typing.SupportsIndex,
        state: str,
        most: typing.SupportsInt | typing.SupportsIndex,
        straight_first: bool,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def candidates(
        self, start: numpy.typing.ArrayLike, goal: numpy.typing.ArrayLike
    ) -> numpy.typing.NDArray[numpy.float64]:
        """All candidates (count, 3) in the order of polyline length."""

    def plan(
        self,
        start: typing.Any,
        goal: typing.Any,
        duration: typing.SupportsFloat | typing.SupportsIndex,
        obstacles: ObstacleSet,
        margin: typing.SupportsFloat | typing.SupportsIndex,
        start_time: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        start_velocity: typing.Any = None,
        goal_velocity: typing.Any = None,
        start_acceleration: typing.Any = None,
        goal_acceleration: typing.Any = None,
    ) -> tuple[
        str,
        BezierPath,
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        tuple[typing.Any, ...],
        int,
        int,
    ]:
        """Plan a path; returns status ('direct', 'via', 'none', 'start_blocked', 'goal_blocked'), path, times (k,) [s] and
        states (k, 3, d) of via points, clearance (as `ObstacleSet.clearance`), number of evaluated candidates, and
        index of the blocking obstacle or -1."""

    def plan_many(
        self,
        start: numpy.typing.ArrayLike,
        goal: numpy.typing.ArrayLike,
        start_time: numpy.typing.ArrayLike,
        duration: numpy.typing.ArrayLike,
        obstacles: collections.abc.Sequence[ObstacleSet],
        margin: typing.SupportsFloat | typing.SupportsIndex,
        threads: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> list[
        tuple[
            str,
            BezierPath,
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            tuple[typing.Any, ...],
            int,
            int,
        ]
    ]:
        """Plan n problems with states (n, 3, d) of position, velocity and acceleration, times (n,) [s], and one or n sets
        of obstacles; returns a list of the results of `plan`."""

    def through(
        self,
        start: typing.Any,
        goal: typing.Any,
        duration: typing.SupportsFloat | typing.SupportsIndex,
        points: numpy.typing.ArrayLike,
        start_time: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        start_velocity: typing.Any = None,
        goal_velocity: typing.Any = None,
        start_acceleration: typing.Any = None,
        goal_acceleration: typing.Any = None,
    ) -> (
        tuple[
            str,
            BezierPath,
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            tuple[typing.Any, ...],
            int,
            int,
        ]
        | None
    ):
        """Plan through given points (k, 3), ignoring obstacles; None if two points are too close."""

class BasisKind(enum.Enum):
    gaussian = ...
    mollifier = ...
    von_mises = ...
    wendland_c2 = ...
    wendland_c4 = ...

class DmpBasis:
    """Basis functions of the phase."""

    def __init__(
        self,
        kind: BasisKind,
        count: typing.SupportsInt | typing.SupportsIndex,
        alpha: typing.SupportsFloat | typing.SupportsIndex,
        overlap: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def evaluate(self, x: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
        """Values (k, count) of the functions at phases (k,)."""

    def forcing(
        self, weights: numpy.typing.ArrayLike, x: numpy.typing.ArrayLike
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Forcing term (k, d) of weights (count, d) at phases (k,)."""

    @property
    def centers(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def widths(self) -> numpy.typing.NDArray[numpy.float64]: ...

class DynamicPotential:
    """Obstacle potential that acts on approaching motion only."""

    def __init__(
        self,
        gain: typing.SupportsFloat | typing.SupportsIndex,
        beta: typing.SupportsFloat | typing.SupportsIndex,
        least_distance: typing.SupportsFloat | typing.SupportsIndex,
        tie_break: typing.SupportsFloat | typing.SupportsIndex,
        side: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _at(
        self,
        y: numpy.typing.ArrayLike,
        z: numpy.typing.ArrayLike,
        spheres: numpy.typing.ArrayLike,
        t: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...

class DmpScaling(enum.Enum):
    hoffmann = ...
    paper = ...
    rhythmic = ...

class Dmp:
    """Discrete or rhythmic movement primitive."""

    def __init__(
        self,
        basis: DmpBasis,
        K: typing.SupportsFloat | typing.SupportsIndex,
        D: typing.SupportsFloat | typing.SupportsIndex,
        scaling: DmpScaling,
        rotodilatation: bool,
        weights: numpy.typing.ArrayLike,
        displacement: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _rollout(
        self,
        steps: typing.SupportsInt | typing.SupportsIndex,
        dt: typing.SupportsFloat | typing.SupportsIndex,
        pieces: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def reset(
        self,
        start: numpy.typing.ArrayLike,
        goal: numpy.typing.ArrayLike,
        tau: typing.SupportsFloat | typing.SupportsIndex,
        start_velocity: numpy.typing.ArrayLike,
        amplitude: numpy.typing.ArrayLike | None = None,
        angle: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    ) -> None: ...
    def set_amplitude(self, amplitude: numpy.typing.ArrayLike) -> None: ...
    def set_goal(self, goal: numpy.typing.ArrayLike) -> None: ...
    def set_goal_filter(self, time_constant: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def set_obstacles(self, field: DynamicPotential, spheres: numpy.typing.ArrayLike) -> None: ...
    def set_tau(self, tau: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def step(self, dt: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def amplitude(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def dddx(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def ddx(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def dimension(self) -> int: ...
    @property
    def dx(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def goal(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def phase(self) -> float: ...
    @property
    def tau(self) -> float: ...
    @property
    def time(self) -> float: ...
    @property
    def x(self) -> numpy.typing.NDArray[numpy.float64]: ...

class QuaternionDmp:
    """Movement primitive of orientation."""

    def __init__(
        self,
        basis: DmpBasis,
        K: typing.SupportsFloat | typing.SupportsIndex,
        D: typing.SupportsFloat | typing.SupportsIndex,
        paper: bool,
        weights: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _rollout(
        self, steps: typing.SupportsInt | typing.SupportsIndex, dt: typing.SupportsFloat | typing.SupportsIndex
    ) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def reset(
        self,
        start: numpy.typing.ArrayLike,
        goal: numpy.typing.ArrayLike,
        tau: typing.SupportsFloat | typing.SupportsIndex,
        start_velocity: numpy.typing.ArrayLike,
    ) -> None: ...
    def set_goal(self, goal: numpy.typing.ArrayLike) -> None: ...
    def set_tau(self, tau: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def step(self, dt: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def R(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def dw(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def goal(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def phase(self) -> float: ...
    @property
    def tau(self) -> float: ...
    @property
    def time(self) -> float: ...
    @property
    def w(self) -> numpy.typing.NDArray[numpy.float64]: ...

class ConstantVelocityFilter:
    """Kalman filter for motion at constant velocity."""

    def __init__(
        self,
        process: str,
        intensity: typing.SupportsFloat | typing.SupportsIndex,
        R: numpy.typing.ArrayLike,
        velocity_deviation: typing.SupportsFloat | typing.SupportsIndex,
        gate: typing.SupportsFloat | typing.SupportsIndex,
        reinitialize_after: typing.SupportsInt | typing.SupportsIndex,
        frozen_after: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def estimate(
        self, t: typing.Any = None
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
        """State (6,), position [m] and velocity [m/s], and covariance (6, 6) at time t [s], by default of the newest measurement."""

    def reset(self) -> None:
        """Discard all measurements."""

    def update(self, t: typing.SupportsFloat | typing.SupportsIndex, position: numpy.typing.ArrayLike) -> str:
        """Update with a position (3,) [m] from an image taken at t [s]; returns the outcome."""

    @property
    def distance(self) -> float:
        """Squared Mahalanobis distance of the last innovation."""

    @property
    def started(self) -> bool:
        """True once there is an estimate."""

    @property
    def time(self) -> float:
        """Time of the newest accepted image [s]."""

    @property
    def updates(self) -> int:
        """Number of measurements accepted since the last initialization."""

class Interceptor:
    """One grasp of a moving object, from waiting to lifting."""

    def __init__(
        self,
        planner: FunctionalPlanner,
        filter: ConstantVelocityFilter,
        settings: dict[str, typing.Any],
        start: numpy.typing.ArrayLike,
        R: numpy.typing.ArrayLike,
        goal_rotation: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def advance(self, now: typing.SupportsFloat | typing.SupportsIndex) -> None:
        """Advance to time `now` [s]; call once in every control period."""

    def at(self, t: typing.SupportsFloat | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.float64], ...]:
        """Reference (p, R, xi, xi_dot) at a time t [s] not before the last `advance`."""

    def measure(
        self,
        now: typing.SupportsFloat | typing.SupportsIndex,
        taken: typing.SupportsFloat | typing.SupportsIndex,
        position: numpy.typing.ArrayLike,
    ) -> str:
        """Update at time `now` with a position (3,) [m] from an image taken at `taken` [s]: filter, decide and replan where the current plan would miss. Returns the outcome of the filter."""

    def reset(self) -> None:
        """Return to waiting and discard all measurements."""

    @property
    def _plans(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def arrival(self) -> float: ...
    @property
    def filter(self) -> ConstantVelocityFilter:
        """Copy of the current filter."""

    @property
    def goal(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def goal_velocity(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def path(self) -> BezierPath: ...
    @property
    def phase(self) -> str: ...
    @property
    def reason(self) -> str: ...

class ScheduledInterception(TaskReferenceSource):
    """Interceptor with a schedule of future measurements."""

    def __init__(
        self,
        interceptor: Interceptor,
        taken: numpy.typing.ArrayLike,
        available: numpy.typing.ArrayLike,
        positions: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    @property
    def interceptor(self) -> Interceptor: ...

class Controller:
    """A control law with its state."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __repr__(self) -> str: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _hold_rate(self, period: typing.SupportsFloat | typing.SupportsIndex, q: numpy.typing.ArrayLike) -> float:
        """Return the rate of a hold for a period [1/s]."""

    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def _unmodeled_gravity(self, q: numpy.typing.ArrayLike, known: Model) -> numpy.typing.NDArray[numpy.float64]:
        """Return the gravity (n,) that the estimate knows beyond another model of the robot."""

    def reset(self) -> None:
        """Return to the state after construction."""

    @property
    def n(self) -> int:
        """Number of joints."""

    @property
    def sees_motors(self) -> bool:
        """Whether `step` needs the state of the motors of elastic joints."""

    @property
    def signals(self) -> dict[str, numpy.typing.NDArray[numpy.float64]]:
        """Copies of the signals of the last step, by name."""

    @property
    def status(self) -> Status:
        """Status of the last step."""

    @property
    def torque_limits(self) -> numpy.typing.NDArray[numpy.float64] | None:
        """Symmetric torque limits [N m or N]: a number, (n,) or None (no limits, the default). The status is
        ``saturated`` where they clip the torque. The robot's effort limits are ``robot.limits.effort``."""

    @torque_limits.setter
    def torque_limits(self, arg1: numpy.typing.ArrayLike | None) -> None: ...

class JointController(Controller):
    """A controller that follows joint-space references."""

    def step(
        self,
        t: typing.SupportsFloat | typing.SupportsIndex,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        reference: typing.Any,
        x: numpy.typing.ArrayLike | None = None,
        dx: numpy.typing.ArrayLike | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Compute the torque (n,) [N m or N] at time t [s] and set `status`.

        Controllers with `sees_motors` need the positions x and velocities dx (e,) of the motors of elastic joints;
        all others do not look at them.

        A NaN in the input does not raise: the status is ``invalid_input``. With an invalid reference the arm is
        held; without a measurement the torque is gravity compensation minus ``K_d dq``."""

class TaskController(Controller):
    """A controller that follows task-space references."""

    def step(
        self,
        t: typing.SupportsFloat | typing.SupportsIndex,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        reference: typing.Any,
        x: numpy.typing.ArrayLike | None = None,
        dx: numpy.typing.ArrayLike | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Compute the torque (n,) [N m or N] at time t [s] and set `status`.

        Controllers with `sees_motors` need the positions x and velocities dx (e,) of the motors of elastic joints;
        all others do not look at them.

        A NaN in the input does not raise: the status is ``invalid_input``. With an invalid reference the arm is
        held; without a measurement the torque is gravity compensation minus ``K_d dq``."""

class IndependentJoint(JointController):
    """Independent joint control."""

    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        inertia: numpy.typing.ArrayLike,
        damping: numpy.typing.ArrayLike,
        K_i: typing.Any,
        integral_limit: typing.Any,
        model_feedforward: bool,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class PDGravity(JointController):
    """PD control with gravity compensation."""

    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        K_i: typing.Any,
        integral_limit: typing.Any,
        desired_gravity: bool,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class ComputedTorque(JointController):
    """Computed torque control."""

    def __init__(
        self, model: Model, position: numpy.typing.ArrayLike, velocity: numpy.typing.ArrayLike, impedance: bool
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class PassivityBased(JointController):
    """Passivity-based control."""

    def __init__(self, model: Model, Lambda: numpy.typing.ArrayLike, K_d: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class RobustUnitVector(JointController):
    """Robust unit-vector control."""

    def __init__(
        self,
        model: Model,
        K_0: numpy.typing.ArrayLike,
        K_1: numpy.typing.ArrayLike,
        rho: typing.SupportsFloat,
        epsilon: typing.SupportsFloat,
        Q: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    @property
    def lyapunov_matrix(self) -> numpy.typing.NDArray[numpy.float64]:
        """Solution P (2n, 2n) of ``H' P + P H = -Q`` with ``H = [0 1; -K_0 -K_1]``."""

class SlotineLi(JointController):
    """Slotine-Li adaptive control."""

    def __init__(
        self,
        model: Model,
        Lambda: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]:
        """Boolean mask (p,) of the parameters that adapt; initially all unknown ones, or none without an adaptation
        law. The others keep their estimate. `reset` does not change the mask. With the natural law all parameters
        of a link adapt, or none."""

    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]:
        """Current estimate (p,) of all parameters, in the order of the robot's ``parameter_names``.
        Assigning it also sets the estimate that `reset` restores."""

    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class ACT(JointController):
    """Adaptive computed torque."""

    def __init__(
        self,
        model: Model,
        position: numpy.typing.ArrayLike,
        velocity: numpy.typing.ArrayLike,
        Q: numpy.typing.ArrayLike,
        damping: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
        craig: bool,
        route: str,
        cutoff: typing.SupportsFloat,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]:
        """Boolean mask (p,) of the parameters that adapt; initially all unknown ones, or none without an adaptation
        law. The others keep their estimate. `reset` does not change the mask. With the natural law all parameters
        of a link adapt, or none."""

    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]:
        """Current estimate (p,) of all parameters, in the order of the robot's ``parameter_names``.
        Assigning it also sets the estimate that `reset` restores."""

    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class MACT(JointController):
    """Modified adaptive computed torque."""

    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
        prediction: tuple[str, float, float, typing.Any],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]:
        """Boolean mask (p,) of the parameters that adapt; initially all unknown ones, or none without an adaptation
        law. The others keep their estimate. `reset` does not change the mask. With the natural law all parameters
        of a link adapt, or none."""

    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]:
        """Current estimate (p,) of all parameters, in the order of the robot's ``parameter_names``.
        Assigning it also sets the estimate that `reset` restores."""

    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class OperationalSpace(TaskController):
    """Inverse dynamics in task space with integral action."""

    def __init__(
        self,
        model: Model,
        K_0: numpy.typing.ArrayLike,
        K_1: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        K_integral: typing.Any,
        integral_limit: typing.Any,
        rows: collections.abc.Sequence[int],
        frame: typing.Any,
        orientation: int,
        null_space: tuple[typing.Any, collections.abc.Sequence[bool], typing.Any],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class CartesianComputedTorque(TaskController):
    """Computed torque in task space with a secondary task."""

    def __init__(
        self,
        model: Model,
        K_0: numpy.typing.ArrayLike,
        K_1: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        rows: collections.abc.Sequence[int],
        frame: typing.Any,
        orientation: int,
        null_space: tuple[typing.Any, collections.abc.Sequence[bool], typing.Any],
        points: typing.Any,
        gain: typing.SupportsFloat,
        influence: typing.SupportsFloat,
        largest_force: typing.SupportsFloat,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    @property
    def _obstacles(self) -> numpy.typing.NDArray[numpy.float64]:
        """Spheres, rows of (x, y, z, radius)."""

    @_obstacles.setter
    def _obstacles(self, arg1: numpy.typing.ArrayLike) -> None: ...

class Impedance(TaskController):
    """Impedance control in task space."""

    def __init__(
        self,
        model: Model,
        K: numpy.typing.ArrayLike,
        D: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        inertia: typing.Any,
        rows: collections.abc.Sequence[int],
        frame: typing.Any,
        orientation: int,
        null_space: tuple[typing.Any, collections.abc.Sequence[bool], typing.Any],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    @property
    def wrench(self) -> numpy.typing.NDArray[numpy.float64]:
        """Measured wrench (6,) [N, N m] of the environment on the controlled frame: force and moment about its
        origin, world axes. Set it before each step; initially zero."""

    @wrench.setter
    def wrench(self, arg1: numpy.typing.ArrayLike) -> None: ...

class CartesianMACT(TaskController):
    """Modified adaptive computed torque in task space."""

    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
        prediction: tuple[str, float, float, typing.Any],
        rows: collections.abc.Sequence[int],
        frame: typing.Any,
        orientation: int,
        null_space: tuple[typing.Any, collections.abc.Sequence[bool], typing.Any],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]:
        """Boolean mask (p,) of the parameters that adapt; initially all unknown ones, or none without an adaptation
        law. The others keep their estimate. `reset` does not change the mask. With the natural law all parameters
        of a link adapt, or none."""

    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]:
        """Current estimate (p,) of all parameters, in the order of the robot's ``parameter_names``.
        Assigning it also sets the estimate that `reset` restores."""

    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class Backstepping(TaskController):
    """Adaptive backstepping in task space."""

    def __init__(
        self,
        model: Model,
        Lambda: numpy.typing.ArrayLike,
        K_p: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
        position_only: bool,
        frame: typing.Any,
        orientation: int,
        null_space: tuple[typing.Any, collections.abc.Sequence[bool], typing.Any],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _evaluate(
        self, q: numpy.typing.ArrayLike, dq: numpy.typing.ArrayLike, reference: typing.Any
    ) -> dict[str, numpy.typing.NDArray[numpy.float64]]:
        """Evaluate the terms of the law at one state under the current estimate, as a dict of arrays: e, e_dot, L, L_dot, dq_r,
        ddq_r, s, tau. Neither the estimate nor the signals change.

        Raises ValueError where the law is singular."""

    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]:
        """Boolean mask (p,) of the parameters that adapt; initially all unknown ones, or none without an adaptation
        law. The others keep their estimate. `reset` does not change the mask. With the natural law all parameters
        of a link adapt, or none."""

    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]:
        """Current estimate (p,) of all parameters, in the order of the robot's ``parameter_names``.
        Assigning it also sets the estimate that `reset` restores."""

    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class MotorPD(JointController):
    """PD control of motors with gravity compensation."""

    def __init__(
        self, model: Model, K_p: numpy.typing.ArrayLike, K_d: numpy.typing.ArrayLike, online: bool
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class ElasticFeedbackLinearization(JointController):
    """Feedback linearization of elastic joints."""

    def __init__(
        self,
        model: Model,
        K_0: numpy.typing.ArrayLike,
        K_1: numpy.typing.ArrayLike,
        K_2: numpy.typing.ArrayLike,
        K_3: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class ElasticSlotineLi(JointController):
    """Adaptive passivity-based control of elastic joints."""

    def __init__(
        self,
        model: Model,
        Lambda: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        K_x: numpy.typing.ArrayLike,
        bandwidth: typing.SupportsFloat,
        stiffness_rate: typing.SupportsFloat,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]:
        """Boolean mask (p,) of the parameters that adapt; initially all unknown ones, or none without an adaptation
        law. The others keep their estimate. `reset` does not change the mask. With the natural law all parameters
        of a link adapt, or none."""

    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]:
        """Current estimate (p,) of all parameters, in the order of the robot's ``parameter_names``.
        Assigning it also sets the estimate that `reset` restores."""

    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class CompositeControl(JointController):
    """A law of rigid joints with damping of the springs."""

    def __init__(
        self, model: Model, slow: typing.Any, K_v: numpy.typing.ArrayLike, K_d: numpy.typing.ArrayLike
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class LengthModel:
    """Kinematics and torques of an arm as functions of its unknown lengths."""

    def __init__(
        self,
        names: collections.abc.Sequence[str],
        nominal: numpy.typing.ArrayLike,
        scale: numpy.typing.ArrayLike,
        affine: collections.abc.Sequence[Model],
        nodes: collections.abc.Sequence[Model],
        factors: collections.abc.Sequence[collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]],
        weights: numpy.typing.ArrayLike,
        unknown: collections.abc.Sequence[bool],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def kinematics(
        self, q: numpy.typing.ArrayLike, dq: numpy.typing.ArrayLike, lengths: numpy.typing.ArrayLike
    ) -> dict[str, numpy.typing.NDArray[numpy.float64]]:
        """Kinematics of the end effector with these lengths (k,), as a dict: p and its derivative P (3, k), J, J_dot with
        constant lengths, and the derivative dJ (k, 6, n) of J."""

    def products(
        self, lengths: numpy.typing.ArrayLike, parameters: numpy.typing.ArrayLike
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Products (a, 1 + u) of the monomials of the lengths and 1 and the unknown ones of all parameters."""

    def regressor(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        dq_r: numpy.typing.ArrayLike,
        ddq_r: numpy.typing.ArrayLike,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Regressor (n, a, 1 + u) of the products."""

class AdaptiveJacobianBackstepping(TaskController):
    """Adaptive backstepping in task space with unknown lengths."""

    def __init__(
        self,
        model: Model,
        Lambda: numpy.typing.ArrayLike,
        K_p: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        lengths: typing.Any,
        Gamma: typing.Any,
        gamma: typing.SupportsFloat,
        Gamma_torque: typing.SupportsFloat,
        measure: typing.Any,
        position_only: bool,
        orientation: int,
        null_space: tuple[typing.Any, collections.abc.Sequence[bool], typing.Any],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _evaluate(
        self, q: numpy.typing.ArrayLike, dq: numpy.typing.ArrayLike, reference: typing.Any
    ) -> dict[str, numpy.typing.NDArray[numpy.float64]]:
        """Evaluate the terms of the law at one state under the current estimates, as a dict of arrays; they do not change.

        Raises ValueError where the law is singular."""

    @property
    def lengths(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimate of the unknown lengths [m], (k,). Assigning it also sets the estimates that `reset` restores."""

    @lengths.setter
    def lengths(self, arg1: numpy.typing.ArrayLike) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimate of all inertial parameters, (p,)."""

class ExternalObserver:
    """An observer of what acts on an arm from outside."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def apply(
        self,
        t: numpy.typing.ArrayLike,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        x: numpy.typing.ArrayLike | None = None,
        dx: numpy.typing.ArrayLike | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Return the estimates for a log, (k, n) or (k, 1), without changing the state of `step`.

        `t` is (k,); `q`, `dq` and `tau` are (k, n); `x` and `dx`, of the motors of elastic joints, (k, e).
        ``tau[i]`` is held from ``t[i]`` to ``t[i + 1]``, as in a `SimulationResult`. A pause of 0.1 s or more restarts
        the measurement, so rows must be closer."""

    def reset(self) -> None:
        """Return to the state after construction."""

    def step(
        self,
        t: typing.SupportsFloat | typing.SupportsIndex,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        x: numpy.typing.ArrayLike | None = None,
        dx: numpy.typing.ArrayLike | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Return the estimate after the state at time t [s], and set `status` and `contact`.

        `tau` (n,) is the torque held since the previous step; in the first step it is ignored. Models with elastic
        joints need the positions x and velocities dx (e,) of their motors, for the torque of the springs and dampers,
        which takes the place of `tau` there; all others do not look at them. NaN does not raise:
        the status is ``invalid_input`` and the estimate is kept. A missing state is bridged by the next one. A
        missing torque or time, a pause of 0.1 s and time that does not advance restart the measurement at the
        present state."""

    @property
    def contact(self) -> numpy.typing.NDArray[numpy.bool]:
        """Boolean mask of the entries in contact, (n,) or (1,); False without a detector."""

    @property
    def estimate(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimate of the last step, (n,) or (1,)."""

    @property
    def n(self) -> int:
        """Number of joints."""

    @property
    def status(self) -> Status:
        """Status of the last step: ``ok`` or ``invalid_input``."""

class MomentumObserver(ExternalObserver):
    """External torque from the generalized momentum."""

    def __init__(
        self,
        model: Model,
        bandwidth: numpy.typing.ArrayLike,
        order: typing.SupportsInt | typing.SupportsIndex,
        damping_ratio: typing.SupportsFloat | typing.SupportsIndex,
        thresholds: numpy.typing.ArrayLike | None = None,
        samples: typing.SupportsInt | typing.SupportsIndex = 1,
        release: typing.SupportsFloat | typing.SupportsIndex = 1.0,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class EnergyObserver(ExternalObserver):
    """Power of the external torque from the energy."""

    def __init__(
        self,
        model: Model,
        bandwidth: numpy.typing.ArrayLike,
        order: typing.SupportsInt | typing.SupportsIndex,
        damping_ratio: typing.SupportsFloat | typing.SupportsIndex,
        thresholds: numpy.typing.ArrayLike | None = None,
        samples: typing.SupportsInt | typing.SupportsIndex = 1,
        release: typing.SupportsFloat | typing.SupportsIndex = 1.0,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class DerivativeEstimator:
    """Velocity and acceleration from sampled positions."""

    def __init__(
        self,
        kind: str,
        *,
        cutoff: typing.SupportsFloat | typing.SupportsIndex = 1.0,
        window: typing.SupportsInt | typing.SupportsIndex = 2,
        order: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _apply(
        self, dt: typing.SupportsFloat | typing.SupportsIndex, q: numpy.typing.ArrayLike
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def _step(
        self, dt: typing.SupportsFloat | typing.SupportsIndex, q: numpy.typing.ArrayLike
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    def reset(self) -> None:
        """Discard all samples; the next one is the first."""

class NullObjective:
    """Secondary objective: joint velocities in the null space of a task."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def velocity(self, q: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
        """Joint velocities (n,) [rad/s or m/s]."""

class ManipulabilityObjective(NullObjective):
    """Objective that increases the manipulability."""

    def __init__(
        self,
        model: Model,
        frame: typing.Any,
        mask: typing.SupportsInt | typing.SupportsIndex,
        gain: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class JointLimitObjective(NullObjective):
    """Objective that attracts joints to the middle of their ranges."""

    def __init__(
        self,
        model: Model,
        lower: numpy.typing.ArrayLike,
        upper: numpy.typing.ArrayLike,
        gain: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class PostureObjective(NullObjective):
    """Objective that attracts the joints to a posture."""

    def __init__(
        self, model: Model, posture: numpy.typing.ArrayLike, gain: typing.SupportsFloat | typing.SupportsIndex
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class Clik:
    """Closed-loop inverse kinematics."""

    def __init__(
        self,
        model: Model,
        frame: typing.Any,
        mask: typing.SupportsInt | typing.SupportsIndex,
        orientation: typing.SupportsInt | typing.SupportsIndex,
        settings: dict[str, typing.Any],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _follow(
        self,
        reference: typing.Any,
        null_velocity: typing.Any,
        q0: numpy.typing.ArrayLike,
        dq0: numpy.typing.ArrayLike,
        dt: typing.SupportsFloat | typing.SupportsIndex,
        steps: typing.SupportsInt | typing.SupportsIndex,
        runge_kutta: bool,
    ) -> dict[str, typing.Any]:
        """See CLIK.follow."""

    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def _set_tool(self, tool: numpy.typing.ArrayLike) -> None:
        """See CLIK.set_tool."""

    def _step(
        self, q: numpy.typing.ArrayLike, dq: typing.Any, reference: typing.Any, dq_0: typing.Any
    ) -> numpy.typing.NDArray[numpy.float64]:
        """See CLIK.step."""

    @property
    def error(self) -> numpy.typing.NDArray[numpy.float64]:
        """Task error of the last step, (m,)."""

    @property
    def n(self) -> int:
        """Number of joints."""

    @property
    def order(self) -> int:
        """1 for joint velocities, 2 for accelerations."""

    @property
    def status(self) -> Status:
        """Status of the last step."""

class SampledJointReference(JointReferenceSource):
    """A joint-space reference through samples."""

    def __init__(
        self, dt: typing.SupportsFloat | typing.SupportsIndex, q: numpy.typing.ArrayLike, dq: numpy.typing.ArrayLike
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

class InverseKinematics:
    """Numeric inverse kinematics."""

    def __init__(
        self,
        model: Model,
        frame: typing.Any,
        mask: typing.SupportsInt | typing.SupportsIndex,
        newton: bool,
        tolerance: typing.SupportsFloat | typing.SupportsIndex,
        max_iterations: typing.SupportsInt | typing.SupportsIndex,
        learning_rate: typing.SupportsFloat | typing.SupportsIndex,
        lower: numpy.typing.ArrayLike,
        upper: numpy.typing.ArrayLike,
        starts: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _solve(
        self, T: numpy.typing.ArrayLike, q0: typing.Any, threads: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]:
        """See InverseKinematics.solve."""

    @property
    def n(self) -> int:
        """Number of joints."""

class SphericalWrist:
    """Analytic inverse kinematics of elbow arms."""

    def __init__(
        self,
        axes: numpy.typing.ArrayLike,
        points: numpy.typing.ArrayLike,
        wrist: numpy.typing.ArrayLike,
        T: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _solve(self, T: numpy.typing.ArrayLike, near: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
        """See SphericalWristIK.solve."""

class Safety:
    """Checks states and limits commands of an arm."""

    def __init__(
        self,
        model: Model,
        lower: numpy.typing.ArrayLike,
        upper: numpy.typing.ArrayLike,
        velocity: numpy.typing.ArrayLike,
        torque: numpy.typing.ArrayLike,
        torque_rate: numpy.typing.ArrayLike,
        torque_step: numpy.typing.ArrayLike,
        obstacles: collections.abc.Sequence[Obstacle],
        clearance: typing.SupportsFloat | typing.SupportsIndex,
        lookahead: typing.SupportsFloat | typing.SupportsIndex,
        patience: typing.SupportsFloat | typing.SupportsIndex,
        period: typing.SupportsFloat | typing.SupportsIndex,
        observer: ExternalObserver | None,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _check(
        self, t: typing.SupportsFloat | typing.SupportsIndex, q: numpy.typing.ArrayLike, dq: numpy.typing.ArrayLike
    ) -> int: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _limit(
        self,
        t: typing.SupportsFloat | typing.SupportsIndex,
        tau: typing.Any,
        gravity: typing.Any,
        together: bool = False,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def reset(self) -> None:
        """Forget the violation; the last command is zero."""

    @property
    def _reason(self) -> int: ...
    @_reason.setter
    def _reason(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...

class Quantiles:
    """Quantiles of durations in constant memory."""

    def __getstate__(self) -> typing.Any: ...
    def __init__(self) -> None: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, arg0: typing.Any) -> None: ...
    def add(self, seconds: typing.SupportsFloat | typing.SupportsIndex) -> None:
        """Count a duration [s]; NaN is ignored, negative ones count as zero."""

    def quantile(self, part: typing.SupportsFloat | typing.SupportsIndex) -> float:
        """Return a quantile of the durations, at most 4.5 % too large [s].

        Parameters
        ----------
        part : float
            Probability, 0 to 1."""

    def summary(self) -> dict[str, float]:
        """Return count, mean, median, p99 and worst; times in seconds."""

    @property
    def count(self) -> int:
        """Number of durations."""

    @property
    def mean(self) -> float:
        """Mean [s]; 0 without any."""

    @property
    def worst(self) -> float:
        """The longest one [s]; 0 without any."""

class SafeTorque:
    """Brakes an arm, then holds its position."""

    def __init__(
        self,
        model: Model,
        rate: typing.SupportsFloat | typing.SupportsIndex,
        torque_limits: numpy.typing.ArrayLike,
        torque_rate: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def leave(self) -> None:
        """Discard the held position."""

    def step(
        self,
        t: typing.SupportsFloat | typing.SupportsIndex,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        x: numpy.typing.ArrayLike | None = None,
        dx: numpy.typing.ArrayLike | None = None,
        load: numpy.typing.ArrayLike | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """Return the safe torque (n,); x and dx (e,) are those of the motors of elastic joints, if measured, and load (n,) is added to the gravity of the model."""

class ControlLoop:
    """The loop of `thunder_py.realtime.ControlLoop`, without names and messages."""

    def __init__(
        self,
        safety: Safety,
        brake: SafeTorque,
        law: Controller | None,
        observer: ExternalObserver | None = None,
        known: Controller | None = None,
        **kwargs: typing.Any,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def begin(
        self,
        stamp: typing.Any,
        places: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        count: typing.SupportsInt | typing.SupportsIndex,
        q: typing.Any,
        dq: typing.Any,
        gravity: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
    ) -> tuple[typing.Any, ...] | None:
        """Take a state of a run; whether a torque is wanted, time, q and dq, or None if the loop does not answer it."""

    def cancel(self) -> None:
        """Give the reference up: the arm is held."""

    def finish(
        self,
        tau: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        status: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]:
        """Return demand, command, and the number of the reason for a stop."""

    def follow(
        self,
        start: typing.SupportsFloat | typing.SupportsIndex,
        end: typing.SupportsFloat | typing.SupportsIndex,
        source: JointReferenceSource | None,
        first: tuple[typing.Any, ...],
        last: tuple[typing.Any, ...],
    ) -> None:
        """Follow a motion from the next state on: a source from start to end [s], then at rest; None for a single point."""

    def request(self, reason: typing.SupportsInt | typing.SupportsIndex) -> None:
        """Ask for a stop of a run."""

    def reset(self) -> None:
        """Reset the state, but not the law."""

    def state(
        self,
        stamp: typing.Any,
        now: typing.Any,
        places: typing.Any,
        count: typing.SupportsInt | typing.SupportsIndex,
        q: typing.Any,
        dq: typing.Any,
    ) -> tuple[typing.Any, ...] | None:
        """Answer a message of `count` names, whose robot's joints, and motors, are at `places`; None if it is dropped."""

    def stop(self, reason: typing.SupportsInt | typing.SupportsIndex, at_once: bool = False) -> None:
        """Stop a run."""

    def take_pose(
        self,
        t: typing.SupportsFloat | typing.SupportsIndex,
        position: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"
        ],
        quaternion: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(4)"
        ],
    ) -> int:
        """Take a pose; 0, or the number of a refusal."""

    def take_twist(
        self,
        t: typing.SupportsFloat | typing.SupportsIndex,
        linear: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"],
        angular: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"
        ],
    ) -> int:
        """Take a twist; 0, or the number of a refusal."""

    def time_of(self, stamp: typing.Any) -> float:
        """Stamp on the loop's clock [s]."""

    def watch(self, now: typing.Any) -> tuple[typing.Any, ...] | None:
        """Return a command if states are late."""

    @property
    def computing(self) -> Quantiles:
        """Copy of the statistics."""

    @property
    def contact(self) -> bool:
        """Whether the observer's detector reports a contact."""

    @property
    def dq(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocities of the last state."""

    @property
    def dropped(self) -> list[int]:
        """Numbers of dropped states by reason."""

    @property
    def ended(self) -> bool:
        """Whether the drive is to be stopped."""

    @property
    def latency(self) -> Quantiles:
        """Copy of the statistics."""

    @property
    def mode(self) -> int:
        """Number of the mode."""

    @property
    def motions_refused(self) -> int:
        """Number of motions that could not be joined within the limits."""

    @property
    def origin(self) -> int | None:
        """Stamp of time 0 of the loop's clock [ns]; None without a state."""

    @property
    def period(self) -> Quantiles:
        """Copy of the statistics."""

    @property
    def q(self) -> numpy.typing.NDArray[numpy.float64]:
        """Positions of the last state, zero before the first one."""

    @property
    def reason(self) -> int:
        """Number of the reason."""

    @property
    def reference(self) -> tuple[numpy.typing.NDArray[numpy.float64], ...] | None:
        """What the law followed at the last state; None unless it tracked."""

    @property
    def report(self) -> dict[str, typing.Any]:
        """Outcome of a run so far."""

    @property
    def stamp(self) -> int:
        """Stamp of the last state [ns]; 0 before the first one."""

    @property
    def t(self) -> float:
        """Time of the last state [s]."""

    @property
    def taken(self) -> int:
        """Number of accepted states."""

    @property
    def task(self) -> bool:
        """Whether the law follows poses."""

class Drive:
    """Drive of an arm, for loops in C++."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

class SimulatedRobot(Drive):
    """An arm that is simulated behind a drive."""

    def __init__(
        self,
        plant: typing.Any,
        state: numpy.typing.ArrayLike,
        known: Model,
        period: typing.SupportsFloat | typing.SupportsIndex,
        cycle: typing.SupportsFloat | typing.SupportsIndex,
        watchdog: typing.SupportsFloat | typing.SupportsIndex,
        torque_limits: numpy.typing.ArrayLike,
        torque_rate: numpy.typing.ArrayLike,
        payloads: collections.abc.Sequence[
            tuple[
                typing.SupportsFloat | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                numpy.typing.ArrayLike,
            ]
        ],
        external: collections.abc.Sequence[
            tuple[
                typing.SupportsFloat | typing.SupportsIndex,
                typing.SupportsFloat | typing.SupportsIndex,
                typing.Any,
                numpy.typing.ArrayLike,
            ]
        ],
        compensates_gravity: bool,
        real_time: bool,
        parts: typing.SupportsInt | typing.SupportsIndex,
        integrator: str,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _advance(self, now: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def _command(
        self,
        stamp: typing.SupportsInt | typing.SupportsIndex,
        now: typing.SupportsInt | typing.SupportsIndex,
        places: typing.Any,
        count: typing.SupportsInt | typing.SupportsIndex,
        tau: typing.Any,
    ) -> int | None: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Estimates, filters and other memory of the object, as numbers."""

    def _inject(
        self, fault: typing.SupportsInt | typing.SupportsIndex, time: typing.SupportsFloat | typing.SupportsIndex
    ) -> None: ...
    def _read(self) -> tuple[typing.Any, ...] | None: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None:
        """Restore the state of an object with the same constructor arguments."""

    def _start(self) -> bool: ...
    def _write(self, tau: numpy.typing.ArrayLike) -> bool: ...
    def stop(self) -> None:
        """Stop at once by mechanical brakes; commands are valid no more."""

    @property
    def _age(self) -> Quantiles: ...
    @property
    def _refused(self) -> list[int]: ...
    @property
    def _state(
        self,
    ) -> tuple[
        int,
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        bool,
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ]: ...
    @property
    def clipped(self) -> int:
        """Number of commands that were clipped to the torque limits."""

    @property
    def dq(self) -> numpy.typing.NDArray[numpy.float64]:
        """Present velocities (n,) [rad/s or m/s]."""

    @property
    def failed(self) -> bool:
        """Whether it reported a fault, or the plant ran away."""

    @property
    def largest_step(self) -> float:
        """Largest step between two commands of a loop, as a part of the torque rate's."""

    @property
    def q(self) -> numpy.typing.NDArray[numpy.float64]:
        """Present positions (n,) [rad or m]."""

    @property
    def running(self) -> bool:
        """Whether it was started and not stopped."""

    @property
    def safe(self) -> bool:
        """Whether the safe torque acts, for lack of a valid command."""

    @property
    def slipped(self) -> float:
        """Time that was skipped, because the computer was blocked [s]."""

    @property
    def taken(self) -> int:
        """Number of accepted commands."""

class RealtimeLoop:
    """A control loop in a thread of its own."""

    def __init__(
        self,
        drive: Drive,
        loop: ControlLoop,
        priority: typing.SupportsInt | typing.SupportsIndex,
        core: typing.SupportsInt | typing.SupportsIndex,
        lock_memory: bool,
        signals: collections.abc.Sequence[str],
        log_rows: typing.SupportsInt | typing.SupportsIndex,
        log_every: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def _follow_joints(self, reference: JointReferenceSource) -> None: ...
    def _follow_task(self, reference: TaskReferenceSource) -> None: ...
    def adapt(self, moving: collections.abc.Sequence[bool]) -> None:
        """Choose the parameters that adapt, of all."""

    def drain(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rows of the log since the last call, (k, width)."""

    def exchange(self, law: Controller) -> None:
        """Exchange the controller; the estimate goes on."""

    def request(self, reason: typing.SupportsInt | typing.SupportsIndex) -> None:
        """Ask for a stop."""

    def start(self) -> None:
        """Start the thread."""

    def statistics(self) -> dict[str, typing.Any]:
        """What the loop has measured, by name."""

    def wait(self, seconds: typing.SupportsFloat | typing.SupportsIndex) -> bool:
        """Wait for the end, at most for a time; true once it has come."""

    @property
    def here(self) -> bool:
        """Whether the thread is one of this process."""

    @property
    def logged(self) -> list[tuple[str, int]]:
        """Names and sizes of the logged signals."""

    @property
    def running(self) -> bool:
        """Whether the thread was started and has not ended."""

class Graph:
    """Recorded operations, each distinct one once."""

    def __getstate__(self) -> tuple[typing.Any, ...]: ...
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, arg0: tuple[typing.Any, ...]) -> None: ...
    def symbol(self, name: str) -> Expression:
        """Create a symbol; symbols of equal name are distinct."""

    @property
    def outlining(self) -> bool:
        """Record repeated pieces of kernels as separate functions: smaller code for long arms, no derivatives."""

    @outlining.setter
    def outlining(self, arg0: bool) -> None: ...
    @property
    def uniform(self) -> bool:
        """The same for pieces that are one function for every joint."""

    @uniform.setter
    def uniform(self, arg0: bool) -> None: ...

class Expression:
    """Recorded scalar: a symbol, a number or an operation."""

    __array_priority__: typing.ClassVar[float] = -1.0

    def __abs__(self) -> Expression: ...
    def __add__(self, other: typing.Any) -> typing.Any: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: typing.Any) -> bool:
        """True if both are the same node or the same number."""

    def __float__(self) -> float: ...
    def __ge__(self, other: typing.Any) -> typing.Any: ...
    def __getstate__(self) -> tuple[typing.Any, ...]: ...
    def __gt__(self, other: typing.Any) -> typing.Any: ...
    def __hash__(self) -> int: ...
    def __le__(self, other: typing.Any) -> typing.Any: ...
    def __lt__(self, other: typing.Any) -> typing.Any: ...
    def __mul__(self, other: typing.Any) -> typing.Any: ...
    def __neg__(self) -> Expression: ...
    def __pos__(self) -> Expression: ...
    def __pow__(self, other: typing.Any) -> typing.Any: ...
    def __radd__(self, other: typing.Any) -> typing.Any: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __repr__(self) -> str: ...
    def __rmul__(self, other: typing.Any) -> typing.Any: ...
    def __rpow__(self, other: typing.Any) -> typing.Any: ...
    def __rsub__(self, other: typing.Any) -> typing.Any: ...
    def __rtruediv__(self, other: typing.Any) -> typing.Any: ...
    def __setstate__(self, arg0: tuple[typing.Any, ...]) -> None: ...
    def __str__(self) -> str: ...
    def __sub__(self, other: typing.Any) -> typing.Any: ...
    def __truediv__(self, other: typing.Any) -> typing.Any: ...
    def _arctan2_of(self, other: typing.Any) -> typing.Any: ...
    def arccos(self) -> Expression: ...
    def arcsin(self) -> Expression: ...
    def arctan2(self, other: typing.Any) -> typing.Any: ...
    def conjugate(self) -> Expression:
        """The expression itself; all expressions are real."""

    def cos(self) -> Expression: ...
    def exp(self) -> Expression: ...
    def log(self) -> Expression: ...
    def sign(self) -> Expression: ...
    def sin(self) -> Expression: ...
    def sqrt(self) -> Expression: ...
    def tan(self) -> Expression: ...
    def tanh(self) -> Expression: ...
    @property
    def graph(self) -> Graph:
        """Recording of the expression, None for a constant."""

    @property
    def is_constant(self) -> bool:
        """True for a number."""

    @property
    def name(self) -> str | None:
        """Name of a symbol, else None."""

    @property
    def operands(self) -> tuple[typing.Any, ...]:
        """Operands of the operation."""

    @property
    def operation(self) -> str:
        """Name of the outermost operation: constant, symbol, add, sin, ..."""

class Function:
    """A recorded function; use `thunder_py.symbolic.Function`."""

    def __call__(
        self, *arguments: numpy.typing.ArrayLike, out: numpy.typing.NDArray[numpy.float64] | None = None
    ) -> typing.Any:
        """Evaluate on arrays of shape (..., *shape) with broadcast batch axes; returns one array or a tuple of arrays."""

    def __init__(
        self, name: str, arguments: collections.abc.Iterable[typing.Any], results: collections.abc.Iterable[typing.Any]
    ) -> None:
        """Record the function from `arguments` to `results`, each a list of (name, shape, entries)."""

    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def apply(self, entries: collections.abc.Iterable[typing.Any]) -> list[typing.Any]:
        """Apply to expressions, entry by entry: the function becomes part of their recording."""

    def attach(self, path: str, symbol: str) -> None:
        """Evaluate with the function `symbol` of a shared library."""

    def dependence(self) -> numpy.ndarray:
        """Boolean matrix of structural dependence, entries of the results by entries of the arguments."""

    @property
    def argument_names(self) -> tuple[typing.Any, ...]:
        """Names of the arguments."""

    @property
    def argument_shapes(self) -> tuple[typing.Any, ...]:
        """Shapes of the arguments."""

    @property
    def call_count(self) -> int:
        """Number of calls of outlined pieces."""

    @property
    def compiled(self) -> bool:
        """True if native code evaluates the function."""

    @property
    def constants(self) -> list[float]:
        """Constants of the recording: values after the arguments' entries."""

    @property
    def depth(self) -> int:
        """Longest chain of operations from an argument to a result."""

    @property
    def name(self) -> str:
        """Name of the function."""

    @property
    def operation_count(self) -> int:
        """Number of operations, counting an outlined piece once."""

    @property
    def operations(self) -> list[typing.Any]:
        """List of (operation, indices of operands): values after the constants."""

    @property
    def result_names(self) -> tuple[typing.Any, ...]:
        """Names of the results."""

    @property
    def result_shapes(self) -> tuple[typing.Any, ...]:
        """Shapes of the results."""

    @property
    def result_values(self) -> list[int]:
        """Value index of each entry of the results."""

class SymbolicChain:
    """Chain with expressions as parameters."""

    def __init__(
        self, model: Model, graph: Graph, groups: dict[str, typing.Any], modified: bool, dyn: bool
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Pickle by the arguments of the constructor."""

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]:
        """Pickle by protocol 2 at least."""

    def __setstate__(self, pickled: typing.Any) -> None:
        """Initialize from the result of `__reduce__`."""

    def evaluate(
        self,
        quantity: str,
        inputs: collections.abc.Iterable[typing.Any],
        frame: typing.SupportsInt | typing.SupportsIndex,
        rows: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    ) -> list[typing.Any]:
        """Evaluate the entries of a quantity for lists of expressions."""

def _arrival_time(
    settings: dict[str, typing.Any],
    time: typing.SupportsFloat | typing.SupportsIndex,
    position: numpy.typing.ArrayLike,
    velocity: numpy.typing.ArrayLike,
) -> float: ...
def _misses(
    settings: dict[str, typing.Any],
    time: typing.SupportsFloat | typing.SupportsIndex,
    position: numpy.typing.ArrayLike,
    velocity: numpy.typing.ArrayLike,
    goal: numpy.typing.ArrayLike,
    arrival: typing.SupportsFloat | typing.SupportsIndex,
) -> bool: ...
def _new_arrival(
    settings: dict[str, typing.Any],
    time: typing.SupportsFloat | typing.SupportsIndex,
    position: numpy.typing.ArrayLike,
    velocity: numpy.typing.ArrayLike,
    arrival: typing.SupportsFloat | typing.SupportsIndex,
    remaining: typing.SupportsFloat | typing.SupportsIndex,
    hand: numpy.typing.ArrayLike,
    frequency: typing.SupportsFloat | typing.SupportsIndex,
    old_frequency: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def _pose_state(
    pose: numpy.typing.ArrayLike, twist: typing.Any, rate: typing.Any, R: numpy.typing.ArrayLike, name: str
) -> numpy.typing.NDArray[numpy.float64]:
    """Rows x, v, a (3, 6) of a pose, twist and its derivative, with the rotation vector about R."""

def braking_rate(period: typing.SupportsFloat | typing.SupportsIndex) -> float:
    """Return the rate of braking [1/s] for a period [s]."""

def build_config() -> dict[str, typing.Any]:
    """Build configuration of this extension, as a dict."""

def butterworth(
    order: typing.SupportsInt | typing.SupportsIndex, cutoff: typing.SupportsFloat | typing.SupportsIndex
) -> numpy.typing.NDArray[numpy.float64]:
    """Second-order sections (k, 6) of a low-pass; `cutoff` in samples^-1."""

def detect_contacts(
    residuals: numpy.typing.ArrayLike,
    thresholds: numpy.typing.ArrayLike,
    samples: typing.SupportsInt | typing.SupportsIndex,
    release: typing.SupportsFloat | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.bool]:
    """Contacts (k, m) along residuals (k, m)."""

def elastic_damping(model: Model, q: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
    """See `thunder_py.control.stability.elastic_damping`."""

def emit_c(
    functions: collections.abc.Sequence[Function],
    *,
    header_name: str,
    comment: str = "",
    scalar: str = "double",
    batch: bool = False,
    packed: bool = False,
) -> tuple[str, str]:
    """Generate header and source of recorded functions in C99, ``void NAME(const double q[7], ..., double M[49])``.

    Arguments come first, then results, every one an array stored row by row (a scalar: of one entry), and results must not
    overlap arguments. `header_name` is the header's file name for the source to include; when empty, the source carries
    its declarations itself. `scalar` is "double" or "float". `batch` adds ``NAME_batch(size_t count, ...)`` for samples one after
    the other, `packed` adds ``NAME_packed(in, out)`` for loaders. ValueError for names that are invalid in C."""

def jacobian(
    outputs: collections.abc.Iterable[typing.Any], inputs: collections.abc.Iterable[typing.Any], mode: str = "cheaper"
) -> list[typing.Any]:
    """Derivatives of every output with respect to every input, row by row."""

def quantities(model: Model, rows: typing.SupportsInt | typing.SupportsIndex = 6) -> dict[str, typing.Any]:
    """Name -> (inputs, shape, takes a frame, takes rows) of every quantity of a model."""

def select(condition: typing.Any, a: typing.Any, b: typing.Any) -> Expression:
    """The expression `a` where the condition is not zero, else `b`."""

def simulate(
    plant: typing.Any,
    controller: typing.Any,
    reference: typing.Any,
    *,
    n: typing.SupportsInt | typing.SupportsIndex,
    x0: numpy.typing.ArrayLike,
    dt: typing.SupportsFloat | typing.SupportsIndex,
    steps_per_period: typing.SupportsInt | typing.SupportsIndex,
    periods: typing.SupportsInt | typing.SupportsIndex,
    log_every: typing.SupportsInt | typing.SupportsIndex,
    torque_limits: numpy.typing.ArrayLike,
    payloads: collections.abc.Sequence[
        tuple[
            typing.SupportsFloat | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            numpy.typing.ArrayLike,
        ]
    ],
    external: collections.abc.Sequence[
        tuple[
            typing.SupportsFloat | typing.SupportsIndex,
            typing.SupportsFloat | typing.SupportsIndex,
            typing.Any,
            numpy.typing.ArrayLike,
        ]
    ],
    sensors: dict[str, typing.Any] | None,
    actuators: dict[str, typing.Any] | None,
    friction: dict[str, typing.Any] | None,
    observers: collections.abc.Sequence[tuple[str, str, ExternalObserver]],
    integrator: typing.Any,
    log: collections.abc.Sequence[str] | None,
    progress: typing.Any,
    native_plant: bool,
    native_control: bool,
) -> dict[str, typing.Any]:
    """Reset the controller and simulate a closed loop; `thunder_py.simulation.simulate` checks the arguments."""

def stopping_distances(
    model: Model,
    torque: numpy.typing.ArrayLike,
    torque_rate: numpy.typing.ArrayLike,
    torque_step: numpy.typing.ArrayLike,
    period: typing.SupportsFloat | typing.SupportsIndex,
    q: numpy.typing.ArrayLike,
    dq: numpy.typing.ArrayLike,
    tau: numpy.typing.ArrayLike,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """Distances of the joints (k, n) and of the end effector (k,) until k stops."""

def use_instruction_set(name: str) -> None:
    """Choose the kernels by name, or 'best', for tests and benchmarks; users set ``THUNDER_ISA``."""

def zero_phase(
    x: numpy.typing.ArrayLike, sections: numpy.typing.ArrayLike, padding: typing.SupportsInt | typing.SupportsIndex
) -> numpy.typing.NDArray[numpy.float64]:
    """Filter signals (k, n) forwards and backwards, without shift."""

__version__: str = "0.2.0"
