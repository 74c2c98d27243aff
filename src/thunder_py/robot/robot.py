"""Class `Robot`: kinematics, dynamics and regressors of a serial arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..checks import Array, whole
from ..errors import ThunderError
from ..model import elastic, inertia
from ..model.description import Limits, RobotDescription, check_physical_input, describe_dh
from ..model.dh_frames import in_dh_frames
from ..model.model import RobotModel
from ..model.parameters import (
    BaseParameters,
    UnknownParameters,
    find_base_parameters,
    parameter_changes,
    select_parameters,
)
from ..table import Table, html_text
from .workspace import Workspace, sampling_range

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

    from ..geometry import Obstacle
    from ..io.meshes import Meshes
    from ..symbolic import SymbolicModel


def _load_meshes(meshes: Any) -> Meshes | None:
    if meshes is None:
        return None
    from ..io.meshes import Meshes

    if isinstance(meshes, Meshes):
        return meshes
    if not isinstance(meshes, (str, Path)):
        raise ThunderError(f"meshes must be Meshes or the path of a URDF, got {meshes!r}")
    return Meshes.load(meshes)


class Ellipsoid(NamedTuple):
    """Store the principal axes of a manipulability ellipsoid, longest first.

    Attributes
    ----------
    axes : (..., m, m) array
        Unit axes in columns.
    lengths : (..., m) array
        Half lengths along the axes.

    Examples
    --------
    >>> import thunder_py as th
    >>> axes, lengths = th.Robot.load("panda").velocity_ellipsoid([0, 0.3, 0, -1.8, 0, 2.1, 0])
    >>> axes.shape, lengths.round(3).tolist()
    ((3, 3), [0.867, 0.796, 0.232])
    """

    axes: Array
    lengths: Array


class NearestPhysical(NamedTuple):
    """A physically consistent robot and its distance from the given one; see `Robot.nearest_physical`.

    Attributes
    ----------
    robot : Robot
        The consistent robot.
    distance : (n,) array
        Frobenius norm of the change of each link's pseudo-inertia (4x4, lengths in meters); 0 only for links that were
        consistent.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> nearest = robot.nearest_physical()
    >>> nearest.robot.parameters.tolist() == robot.parameters.tolist(), nearest.distance.max().item()
    (True, 0.0)
    """

    robot: Robot
    distance: Array


class _Body(Protocol):
    def added_to(self, robot: Robot) -> Robot: ...


class Robot(RobotModel):
    """Compute kinematics, dynamics and regressors of a serial arm, for one state or batches of states.

    Create a robot with `load`, `from_dh` or from a `RobotDescription`. Robots are immutable; `with_parameters` and
    `replace` return new ones. Every quantity accepts lists or arrays of shape ``(..., n)``, with leading batch axes
    that broadcast as in NumPy, and ``out=`` to fill an array of the caller.

    Parameters
    ----------
    description : RobotDescription
        Data of the arm.

    Notes
    -----
    Quantities are computed by C++ kernels in ``cpp/include/thunder/dynamics``, one header per quantity or algorithm:
    `slotine_li_regressor` and the other regressors in ``regressor.hpp``, `mass_matrix` in ``mass_matrix.hpp``,
    `coriolis_matrix` in ``coriolis.hpp``, `inverse_dynamics` in ``inverse_dynamics.hpp``. All quantities are listed in
    ``cpp/include/thunder/kernels/quantity_list.inc``. The theory is in ``docs/theory/regressors.md`` and
    ``docs/theory/dynamics.md``.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> q, dq, dq_r, ddq_r = np.full((4, 7), 0.5)
    >>> robot.mass_matrix(q).shape, robot.jacobian(np.zeros((100, 7))).shape
    ((7, 7), (100, 6, 7))
    >>> Y_r = robot.slotine_li_regressor(q, dq, dq_r, ddq_r)
    >>> torque = robot.mass_matrix(q) @ ddq_r + robot.coriolis_matrix(q, dq) @ dq_r + robot.gravity_vector(q)
    >>> np.allclose(Y_r @ robot.parameters, torque)
    True
    """

    @classmethod
    def load(
        cls,
        source: str | Path,
        *,
        name: str | None = None,
        base_link: str | None = None,
        tip_link: str | None = None,
        missing_inertia: Literal["error", "zero"] | None = None,
        fix_joints: Mapping[str, float] | None = None,
        gravity: npt.ArrayLike | None = None,
        xacro: Mapping[str, object] | None = None,
    ) -> Robot:
        """Load a bundled robot by name, or a robot from a ``.yaml``, ``.urdf`` or MJCF (``.xml``, ``.mjcf``) file.

        Parameters
        ----------
        source : str or path
            Name of a bundled robot (``thunder_py.robots.names()``) or path of a file.
        name : str, optional
            Name of the robot; default the name in the file.
        base_link, tip_link : str, optional
            URDF and MJCF: links between which the arm is; default those of the only arm, see `thunder_py.io.arms`.
        missing_inertia : {"error", "zero"}, optional
            URDF and MJCF: refuse a moving body without inertia, or treat it as massless; default massless with a
            warning.
        fix_joints : mapping of str to float, optional
            URDF and MJCF: joints to lock, with their positions [rad or m].
        gravity : (3,) array_like, optional
            URDF: acceleration of gravity in the world [m/s^2]; default (0, 0, -9.81).
        xacro : mapping, optional
            Arguments of a ``.xacro`` file.

        Raises
        ------
        UnknownNameError
            If there is no such bundled robot; the nearest name is suggested.
        FileFormatError
            If the file is not a robot; the message has path, line and key.

        Examples
        --------
        >>> import thunder_py as th
        >>> th.Robot.load("panda")
        <Robot 'panda': 7 joints (RRRRRRR), 70 parameters>
        """
        from ..io import load_description

        return cls(
            load_description(
                source,
                name=name,
                base_link=base_link,
                tip_link=tip_link,
                missing_inertia=missing_inertia,
                fix_joints=fix_joints,
                gravity=gravity,
                xacro=xacro,
            )
        )

    @classmethod
    def from_dh(
        cls,
        dh: npt.ArrayLike,
        *,
        convention: str = "modified",
        joint_types: str | None = None,
        inertial: npt.ArrayLike | None = None,
        gravity: npt.ArrayLike = (0.0, 0.0, -9.81),
        base: npt.ArrayLike | None = None,
        tool: npt.ArrayLike | None = None,
        name: str = "robot",
        **fields: Any,
    ) -> Robot:
        """Create a robot from a Denavit-Hartenberg table.

        Parameters
        ----------
        dh : (n, 4) array_like
            Rows ``[a, alpha, d, theta]`` [m, rad, m, rad]; q adds to theta (R) or d (P).
        convention : {"modified", "standard"}
            Craig: Tr_x(a) Rot_x(alpha) Tr_z(d) Rot_z(theta), or distal: Rot_z Tr_z Tr_x Rot_x.
        joint_types : str, optional
            One letter for each joint, ``R`` or ``P``; default all revolute.
        inertial : (n, 10) array_like, optional
            DYN rows ``[m, cx, cy, cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]``, inertia about the center of mass in link
            axes; default massless (kinematics only).
        gravity : (3,) array_like
            Acceleration of gravity in the world [m/s^2].
        base, tool : (4, 4) array_like, optional
            Pose of the base in the world and of the end effector in the last link; default identity.
        name : str
            An identifier.
        **fields
            Further fields of `RobotDescription`: ``limits``, ``friction``, ``rotors``, ``armature``, ``elastic``,
            names, ...

        Raises
        ------
        ThunderError
            If a shape or number is invalid, or the robot is physically impossible.

        Examples
        --------
        >>> import thunder_py as th
        >>> links = [[3.0, 0.24, 0, 0, 0, 0, 0, 0, 0, 0.09], [2.0, 0.17, 0, 0, 0, 0, 0, 0, 0, 0.04]]
        >>> arm = th.Robot.from_dh([[0, 0, 0, 0], [0.5, 0, 0, 0]], inertial=links, gravity=(0, -9.81, 0), name="planar")
        >>> arm
        <Robot 'planar': 2 joints (RR), 20 parameters>
        >>> arm.gravity_vector([0.0, 0.0]).round(3).tolist()
        [20.209, 3.335]
        """
        optional = {"base": base, "tool": tool, "joint_types": joint_types, "inertial": inertial}
        fields.update({key: value for key, value in optional.items() if value is not None})
        description = describe_dh(dh, convention=convention, name=name, gravity=gravity, **fields)
        return cls(check_physical_input(description))

    def to_dh(self, convention: str = "modified") -> Robot:
        """Return the same arm with Denavit-Hartenberg frames (lecture 7): x axes along the common normals of the axes.

        Base and tool take up what a table cannot hold. Joint positions, the end effector's pose and the dynamics stay;
        link frames, and with them the inertial parameters, are others. Thunder's ``masks`` are dropped.

        Parameters
        ----------
        convention : {"modified", "standard"}
            See `from_dh`. A robot that has a table of this convention is returned as it is.

        Returns
        -------
        Robot
            ``to_dh().description.dh`` is the table, rows ``[a, alpha, d, theta]`` [m, rad].

        Raises
        ------
        UnknownNameError
            If the convention is unknown.

        Warns
        -----
        ThunderWarning
            If poses differ by more than 1e-12 or torques by more than 1e-11 of the largest entry, or of 1 if that is
            larger: two axes are nearly parallel, and their common normal is far away. It comes from rounded angles in a
            file, such as 1.5708 for a right angle.

        Examples
        --------
        >>> import thunder_py as th
        >>> arm = th.Robot.load("panda").to_dh("standard")
        >>> arm.description.dh[:, 0].round(4).tolist()
        [0.0, 0.0, 0.0825, 0.0825, 0.0, 0.088, 0.0]
        """
        return Robot(in_dh_frames(self._description, convention))

    def nearest_physical(self) -> NearestPhysical:
        """Return the nearest robot whose links are physically consistent, and how far it is.

        Mass and center of mass of a link stay where the mass is positive, and its second moments about the center of
        mass change least in the Frobenius norm: eigenvalues below a small positive bound are set to it. A link whose
        mass is not positive becomes massless, as does one without mass that has other parameters.

        Returns
        -------
        NearestPhysical
            ``robot`` and ``distance`` (n,), for each link the Frobenius norm of the change of its pseudo-inertia, the
            4x4 matrix of `thunder_py.model.inertia.pseudo_inertia`, with lengths in meters.

        See Also
        --------
        inertial_is_physical

        Examples
        --------
        >>> import thunder_py as th
        >>> robot = th.Robot.load("elbow")
        >>> reg = robot.inertial.copy()
        >>> reg[0, 9] = 3.0 * reg[0, 7]  # Izz > Ixx + Iyy
        >>> wrong = robot.replace(inertial=reg)
        >>> repaired, distance = wrong.nearest_physical()
        >>> wrong.inertial_is_physical().tolist(), repaired.inertial_is_physical().tolist(), bool(distance[0] > 0)
        ([False, True], [True, True], True)
        """
        reg = inertia.nearest_physical(self.inertial)
        change = inertia.pseudo_inertia(reg) - inertia.pseudo_inertia(self.inertial)
        return NearestPhysical(self.replace(inertial=reg), np.linalg.norm(change, axis=(1, 2)))

    def with_elastic_parameters(self, **groups: npt.ArrayLike) -> Robot:
        """Return a robot with other elastic parameters; unphysical values are accepted.

        Parameters
        ----------
        **groups
            Vectors ``K``, ``D``, ``Dm``, ``Mm`` as in `elastic_parameters`; other groups stay.

        Returns
        -------
        Robot

        Raises
        ------
        UnknownNameError
            If a group is unknown.
        ThunderError
            If a vector has the wrong length.
        """
        return self.replace(elastic=elastic.with_parameters(self.elastic, groups))

    def rigid(self) -> Robot:
        """Return the robot with rigid joints in the place of springs.

        The inertias of the motors are added to the armature of their joints, their damping Dm to the friction.

        Returns
        -------
        Robot
            With the same links, and without elastic joints.

        Examples
        --------
        >>> import thunder_py as th
        >>> drives = [th.robot.Elastic(joint=j, K=(400.0,), Dm=(0.5,), Mm=0.1) for j in (1, 2)]
        >>> rigid = th.Robot.load("elbow").replace(elastic=drives).rigid()
        >>> rigid.e, rigid.description.armature.tolist(), rigid.friction_torque([1.0, 0.0]).tolist()
        (0, [0.1, 0.1], [0.5, 0.0])
        """
        return self.replace(**elastic.rigid(self.description)) if self.elastic else self

    def save(self, path: str | Path, *, lossy: bool = False, thunder: Literal["0.8", "1.0"] = "0.8") -> None:
        """Write the robot to a file: ``.yaml`` (`load` reads it back exactly), ``.urdf``, ``.xml`` or ``.mjcf``.

        Parameters
        ----------
        path : path-like
            The suffix selects the format, ``_conf.yaml``, ``_par_REG.yaml`` and ``_par_DYN.yaml`` those of Thunder
            Dynamics; an existing file is replaced in one step.
        lossy : bool
            Write the robot even if URDF or MJCF cannot represent all of its behavior; comments in the file name what
            is missing.
        thunder : {"0.8", "1.0"}
            Version of Thunder's formats.

        Raises
        ------
        FileFormatError
            If the suffix is unknown.
        ThunderError
            If the format cannot represent the robot and `lossy` is False; the message names the losses.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     robot.save(Path(folder, "arm.yaml"))
        ...     again = th.Robot.load(Path(folder, "arm.yaml"))
        >>> again.description == robot.description
        True
        """
        from ..io import save_description

        save_description(self._description, path, lossy=lossy, thunder=thunder)

    def replace(self, **changes: Any) -> Robot:
        """Return a robot with some fields of its description changed.

        Parameters
        ----------
        **changes
            Fields of `RobotDescription`.

        Returns
        -------
        Robot

        Raises
        ------
        UnknownNameError
            If a field is unknown.
        ThunderError
            If a value is invalid.

        Examples
        --------
        >>> import thunder_py as th
        >>> weightless = th.Robot.load("elbow").replace(gravity=(0, 0, 0))
        >>> abs(weightless.gravity_vector([0.1, 0.2])).tolist()
        [0.0, 0.0]
        """
        return Robot(self._description.replace(**changes))

    def symbolic(
        self, *, inertial_as: str | None = None, outline: bool | Literal["uniform"] = False, **arguments: Any
    ) -> SymbolicModel:
        """Return the symbolic model, which has every quantity as an array of expressions.

        Parameters
        ----------
        inertial_as : {"REG", "DYN"}, optional
            Form of run-time inertial parameters; default REG, or DYN where the robot's file masks single entries.
        outline : bool or "uniform"
            Record code that repeats from joint to joint as functions, for long arms; with ``"uniform"`` only code that
            is the same function for all joints.
        **arguments
            For each parameter group (``inertial``, ``dh``, ``friction``, ``gravity``, ``base``, ``tool``, ...): True
            for run-time arguments, False for constants, or a mask; see `thunder_py.symbolic.SymbolicModel`.

        Returns
        -------
        SymbolicModel

        Examples
        --------
        >>> import thunder_py as th
        >>> model = th.Robot.load("elbow").symbolic(inertial=True)
        >>> model
        <SymbolicModel of elbow, 2 joints; run-time parameters: par_REG>
        >>> model.function("M", model.mass_matrix()).argument_names
        ('q', 'par_REG')
        """
        from ..symbolic import SymbolicModel

        return SymbolicModel(self, inertial_as=inertial_as, outline=outline, **arguments)

    def with_parameters(self, parameters: npt.ArrayLike) -> Robot:
        """Return a robot with another parameter vector; unphysical estimates are accepted.

        Parameters
        ----------
        parameters : (p,) array_like
            Parameters in the order of `parameter_names`.

        Returns
        -------
        Robot

        Raises
        ------
        ThunderError
            If the shape is wrong or a number is not finite.

        Examples
        --------
        >>> import thunder_py as th
        >>> robot = th.Robot.load("elbow")
        >>> lighter = robot.with_parameters(0.5 * robot.parameters)
        >>> (lighter.mass_matrix([0.0, 0.5]) / robot.mass_matrix([0.0, 0.5])).round(6).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
        """
        return self.replace(**parameter_changes(self._description, parameters))

    def with_payload(self, payload: _Body) -> Robot:
        """Return a robot that carries a `Payload` from the start; see `Payload.added_to`.

        Parameters
        ----------
        payload : Payload
            Its time does not matter.

        Examples
        --------
        >>> import thunder_py as th
        >>> robot = th.Robot.load("elbow")
        >>> round(robot.with_payload(th.Payload(0.5)).total_mass - robot.total_mass, 6)
        0.5
        """
        if not hasattr(payload, "added_to"):
            raise ThunderError(f"payload must be a Payload, got {payload!r}")
        return payload.added_to(self)

    def unknown(
        self, which: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None
    ) -> UnknownParameters:
        """Select the unknown parameters (Thunder article, Remark 2).

        Parameters
        ----------
        which : str, sequence of str, (p,) bool array or UnknownParameters, optional
            Link or joint names (``"link7"``), parameter names (``"link7.m"``), groups (``"inertial"``, ``"friction"``,
            ``"rotor"``, ``"armature"``), a mask, or a selection of another robot; default all parameters.

        Returns
        -------
        UnknownParameters

        Raises
        ------
        UnknownNameError
            If a name is unknown; the nearest one is suggested.
        """
        return select_parameters(self, which)

    def base_parameters(self, *, samples: int = 64, tolerance: float = 1e-5) -> BaseParameters:
        """Find the base parameters: the parameter combinations that are identifiable from joint torques.

        Parameters
        ----------
        samples : int
            Number of states; their regressors are stacked. They are the same at every call.
        tolerance : float
            Singular values below this share of the largest one are zero. The default drops what only the rounding of
            angles in a robot file makes identifiable, and tells such drops by a finite `gap`.

        Returns
        -------
        BaseParameters

        Warns
        -----
        ThunderWarning
            If the gap is below 1000, so that the number of base parameters depends on the tolerance.

        Notes
        -----
        Their number is the rank of the stacked regressor, by singular values after columns were divided by the longest
        one of the same unit. The columns are chosen by QR with pivoting (Gautier and Khalil 1990, numerically).
        Axes that are parallel but for an angle of e rad have singular values of e / 2; public robot files have, apart
        from these, none below 0.02.
        """
        return find_base_parameters(self, samples=samples, tolerance=tolerance)

    def velocity_ellipsoid(
        self, q: npt.ArrayLike, frame: int | str | None = None, *, rows: Sequence[int] = (0, 1, 2)
    ) -> Ellipsoid:
        """Compute the velocity manipulability ellipsoid of unit joint velocities, v' (J J')^-1 v = 1.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions.
        frame : int or str, optional
            Default the end effector.
        rows : sequence of int
            Rows of the Jacobian, default the linear ones.
        """
        self.manipulability(q, frame, rows=rows)  # it checks the rows
        J = self.jacobian(q, frame)[..., list(rows), :]
        axes, singular, _ = np.linalg.svd(J)  # of J, because J J' loses half the digits near singularities
        lengths = np.zeros(J.shape[:-1])
        lengths[..., : singular.shape[-1]] = singular
        return Ellipsoid(axes, lengths)

    def force_ellipsoid(
        self, q: npt.ArrayLike, frame: int | str | None = None, *, rows: Sequence[int] = (0, 1, 2)
    ) -> Ellipsoid:
        """Compute the force ellipsoid of unit joint torques, f' (J J') f = 1, with the inverse half lengths.

        Parameters
        ----------
        q : (..., n) array_like
            Joint positions.
        frame : int or str, optional
            Default the end effector.
        rows : sequence of int
            Rows of the Jacobian, default the linear ones.
        """
        axes, lengths = self.velocity_ellipsoid(q, frame, rows=rows)
        with np.errstate(divide="ignore"):
            return Ellipsoid(axes[..., ::-1], 1.0 / lengths[..., ::-1])

    def sample_workspace(
        self,
        samples: int = 100_000,
        *,
        seed: int = 0,
        frame: int | str | None = None,
        limits: Limits | None = None,
    ) -> Workspace:
        """Sample postures uniformly within joint limits.

        Parameters
        ----------
        samples : int
            Number of postures.
        seed : int
            Seed of the random numbers.
        frame : int or str, optional
            Frame whose origin is computed; default the end effector.
        limits : Limits, optional
            Default the robot's. Revolute joints without limits make one turn.

        Returns
        -------
        Workspace
            Postures, positions and manipulability.

        Raises
        ------
        ThunderError
            If a prismatic joint has no limits, or an argument is invalid.

        Notes
        -----
        Samples are uniform in the joints, not in space. Manipulability is Yoshikawa's, of the linear velocity; it is
        zero for an arm that cannot move along three directions.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> space = th.Robot.load("elbow").sample_workspace(1000, seed=1)
        >>> bool(np.linalg.norm(space.points, axis=1).max() <= 0.9)  # links of 0.5 m and 0.4 m
        True
        """
        count = whole(samples, "samples", 1)
        lower, upper = sampling_range(self.joint_names, self.joint_types, self.limits if limits is None else limits)
        q = np.random.default_rng(seed).uniform(lower, upper, (count, self.n))
        points = self.forward_kinematics(q, frame)[..., :3, 3]
        return Workspace(q, points, self.manipulability(q, frame, rows=(0, 1, 2)))

    def plot(
        self,
        q: npt.ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        frames: bool | Literal["all"] = True,
        ellipsoid: Literal["velocity", "force"] | None = None,
        color: str | None = None,
        meshes: Meshes | str | Path | None = None,
    ) -> Axes:
        """Draw the arm with matplotlib: cylinders are revolute joints, boxes prismatic ones.

        Parameters
        ----------
        q : (n,) or (k, n) array_like, optional
            Joint positions [rad or m] of one or several postures; later ones are darker. At most twelve, evenly spaced,
            are drawn. Default the middle of the limits, zero for joints without limits.
        ax : Axes3D, optional
            Axes to draw on, with unchanged limits; default a new figure that fits the arm.
        frames : bool or "all"
            Draw axes x (red), y (green), z (blue) of base and end effector in the last posture, or of all links too.
        ellipsoid : {"velocity", "force"}, optional
            Manipulability ellipsoid to draw at the end effector in the last posture; its longest half axis is a quarter
            of the arm's length.
        color : str, optional
            Color of the arm.
        meshes : Meshes or path-like, optional
            Meshes of the links, from the URDF that the robot was loaded from; see `thunder_py.io.Meshes`.

        Returns
        -------
        Axes3D
            The panel drawn.

        Raises
        ------
        ThunderError
            If an argument is wrong, meshes belong to another robot, or a force ellipsoid has an infinite axis.
        ModuleNotFoundError
            If there are mesh files and the extra ``visual`` is not installed.

        Examples
        --------
        >>> import thunder_py as th
        >>> ax = th.Robot.load("elbow").plot([0.3, 0.5])
        >>> type(ax).__name__
        'Axes3D'
        """
        from .plot import plot_arm

        bodies = _load_meshes(meshes)
        return plot_arm(self, q, ax=ax, frames=frames, ellipsoid=ellipsoid, color=color, meshes=bodies)

    def plot_workspace(
        self,
        samples: int = 100_000,
        *,
        seed: int = 0,
        frame: int | str | None = None,
        limits: Limits | None = None,
        through: npt.ArrayLike | None = None,
        axes: Mapping[str, Axes] | None = None,
    ) -> dict[str, Axes]:
        """Draw the workspace in space, and in two slices the largest sampled manipulability of each cell.

        Parameters
        ----------
        samples, seed, frame, limits
            See `sample_workspace`.
        through : (3,) array_like, optional
            Point in both slices [m]; default the origin of the first link's frame.
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"space"`` (three-dimensional), ``"side"`` (a slice across y) and ``"above"`` (a slice
            across z); default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.

        Raises
        ------
        ThunderError
            If a prismatic joint has no limits, a slice is empty, or an argument is wrong.

        Examples
        --------
        >>> import thunder_py as th
        >>> axes = th.Robot.load("panda").plot_workspace(2000)
        >>> sorted(axes)
        ['above', 'side', 'space']
        """
        from .plot import plot_workspace

        space = self.sample_workspace(samples, seed=seed, frame=frame, limits=limits)
        return plot_workspace(self, space, through=through, axes=axes)

    def animate(
        self,
        t: npt.ArrayLike,
        q: npt.ArrayLike,
        path: str | Path | None = None,
        *,
        reference: npt.ArrayLike | None = None,
        points: Mapping[str, npt.ArrayLike] | None = None,
        obstacles: Sequence[Obstacle] = (),
        meshes: Meshes | str | Path | None = None,
        playback_speed: float = 1.0,
        fps: float = 20.0,
        dpi: float = 72,
    ) -> FuncAnimation:
        """Animate a motion of the arm with a trace of the end effector.

        Parameters
        ----------
        t : (T,) array_like
            Ascending times [s], at least two; frames between them are interpolated.
        q : (T, n) array_like
            Joint positions [rad or m].
        path : path-like, optional
            File to write: ``.gif``, ``.mp4``, which needs the program ffmpeg, or ``.html``, a page with controls that
            contains all frames.
        reference : (K, 3) array_like, optional
            Static line, such as the planned path [m]; NaN interrupts it.
        points : mapping of str to (T, 3) array_like, optional
            Moving points, such as an object, by their names in the legend [m]; NaN hides a point.
        obstacles : sequence of Obstacle
            Obstacles, see `thunder_py.geometry`.
        meshes : Meshes or path-like, optional
            Meshes of the links, from the URDF that the robot was loaded from.
        playback_speed : float
            Seconds of the motion in each second of the film: 0.5 is half the speed.
        fps : float
            Frames per second of the film.
        dpi : float
            Dots per inch in the file.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            Animation on a new figure of pyplot, which is closed if `path` is given. Show it in a notebook with
            ``to_jshtml``.

        Raises
        ------
        ThunderError
            If shapes do not match, times do not ascend, the film has more than 5000 frames, or the file cannot be
            written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import thunder_py as th
        >>> robot = th.Robot.load("scara")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "scara.gif")
        ...     film = robot.animate([0.0, 1.0], [[0, 0, 0, 0], [1.0, 0.5, 0.1, 0]], file, fps=2, dpi=30)
        ...     file.exists()
        True
        """
        from .plot import animate_arm

        return animate_arm(
            self,
            t,
            q,
            path,
            reference=reference,
            points=points,
            obstacles=obstacles,
            meshes=_load_meshes(meshes),
            playback_speed=playback_speed,
            fps=fps,
            dpi=dpi,
        )

    def animate_workspace(
        self,
        path: str | Path | None = None,
        samples: int = 4000,
        *,
        seed: int = 0,
        frame: int | str | None = None,
        limits: Limits | None = None,
        duration: float = 8.0,
        fps: float = 10.0,
        dpi: float = 72,
    ) -> FuncAnimation:
        """Animate one turn of the view of the workspace about the vertical.

        Parameters
        ----------
        path : path-like, optional
            File to write, ``.gif``, ``.mp4`` or ``.html``.
        samples, seed, frame, limits
            See `sample_workspace`; at most 4000 samples are drawn.
        duration : float
            Time of the turn [s].
        fps : float
            Frames per second.
        dpi : float
            Dots per inch in the file.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            See `animate`.

        Raises
        ------
        ThunderError
            If a prismatic joint has no limits, an argument is wrong, or the file cannot be written.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> import thunder_py as th
        >>> film = th.Robot.load("ur5e").animate_workspace(samples=500, duration=1.0, fps=2)
        >>> "<script" in film.to_jshtml()
        True
        >>> plt.close()
        """
        from .plot import animate_workspace

        space = self.sample_workspace(samples, seed=seed, frame=frame, limits=limits)
        return animate_workspace(self, space, path, duration=duration, fps=fps, dpi=dpi)

    def _repr_html_(self) -> str:
        limits = self.limits
        columns = (self.joint_names, self.joint_types, limits.lower, limits.upper, limits.velocity, limits.effort)
        rows = zip(*columns, self.inertial[:, 0], strict=True)
        return html_text(self, Table(["joint", "type", "lower", "upper", "velocity", "effort", "mass [kg]"], rows))

    def __repr__(self) -> str:
        elastic = f", {self.e} elastic" if self.e else ""
        return f"<Robot {self.name!r}: {self.n} joints ({self.joint_types}{elastic}), {self.p} parameters>"

    def __copy__(self) -> Robot:
        """Return the robot itself; robots are immutable."""
        return self

    def __deepcopy__(self, memo: object) -> Robot:
        """Return the robot itself; robots are immutable."""
        return self

    def __reduce__(self) -> tuple[type[Robot], tuple[RobotDescription]]:
        return Robot, (self._description,)
