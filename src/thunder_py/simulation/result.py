"""Results of simulations: arrays over time, metrics, energy, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._core import Status
from ..checks import Array, array
from ..errors import FileFormatError, ThunderError
from ..files import parsing, read_archive, write_archive
from ..io import parse_description
from ..io.yaml_native import write_native
from ..kinematics.task_rows import ROW_NAMES
from ..model.description import RobotDescription
from ..robot import Robot
from ..table import Table, Tabular, html_text
from ..values import Value, frozen, set_fields
from .metrics import IN_ERROR_UNITS, Metrics

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

    from ..io.meshes import Meshes
    from ..robot.payload import Payload

_ROUNDING = 1e-9  # of times that are multiples of a step, as in the core


class Phase(NamedTuple):
    """Robot with its payloads during the logged instants of `rows`."""

    robot: Robot
    rows: slice


def plant_of(result: SimulationResult, what: str) -> Robot:
    """Return the plant; refuse a run whose plant is not a `Robot`."""
    plant = result.plant
    if plant is None:
        raise ThunderError(f"{what} needs a run whose plant is a Robot")
    return plant


def plant_phases(result: SimulationResult, what: str) -> list[Phase]:
    """Return the phases that have logged instants, in the order of time."""
    robot = plant_of(result, what)
    phases, first = [], 0
    for payload in sorted(result.payloads, key=lambda p: p.time):
        last = int(np.searchsorted(result.t + _ROUNDING, payload.time))
        phases.append(Phase(robot, slice(first, last)))
        robot, first = payload.added_to(robot), last
    phases.append(Phase(robot, slice(first, len(result.t))))
    return [phase for phase in phases if phase.rows.start < phase.rows.stop]


class ConditionNumbers(NamedTuple):
    """Condition numbers along a run: largest over smallest singular value.

    Attributes
    ----------
    M : (k,) array
        Condition numbers of the mass matrix, payloads included.
    J : (k,) array
        Condition numbers of the Jacobian, meters and radians together; infinite at a singularity.
    M_estimate : (k,) array or None
        Condition numbers of the mass matrix under the controller's estimate, where ``parameters`` were logged.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, rest = th.Robot.load("elbow"), th.reference.SetPoint([0.3, 0.2])
    >>> run = th.simulate(robot, th.PDGravity(robot, 80.0, 20.0), rest, 0.5, q0=[0.0, 0.5])
    >>> round(float(run.condition_numbers().M[0]), 2)
    28.15
    """

    M: Array
    J: Array
    M_estimate: Array | None


_ROWS = 1000  # regressors in memory at a time


def mass_matrices(robot: Robot, q: Array, parameters: Array) -> Array:
    """Return M(q) at each instant under the parameters of that instant, (k, n, n).

    Column j is Y(q, 0, e_j) pi without gravity.
    """
    floating = robot.replace(gravity=np.zeros(3))
    M = np.zeros((len(q), robot.n, robot.n))
    for first in range(0, len(q), _ROWS):
        rows = slice(first, first + _ROWS)
        still = np.zeros_like(q[rows])
        for j, unit in enumerate(np.eye(robot.n)):
            M[rows, :, j] = np.einsum("knp,kp->kn", floating.regressor(q[rows], still, still + unit), parameters[rows])
    return M


@dataclass(frozen=True, eq=False)
class EnergyBalance(Value):
    """Energy balance of a run [J]; work, dissipation and payload energy are sums since the start of the run.

    Attributes
    ----------
    t : (k,) array
        Time [s].
    kinetic, potential : (k,) array
        Energies of links, rotors and payloads, and of the motors and springs of elastic joints.
    work : (k,) array
        Work of the torques.
    dissipated : (k,) array
        Energy dissipated by friction, and by the dampers of elastic joints.
    external : (k,) array
        Work of external wrenches and torques.
    payload : (k,) array
        Energy that payloads add when they are picked up, with the velocity and height of their link.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, rest = th.Robot.load("elbow"), th.reference.SetPoint([0.3, 0.2])
    >>> energy = th.simulate(robot, th.PDGravity(robot, 80.0, 20.0), rest, 0.5, q0=[0.0, 0.5]).energy()
    >>> bool(abs(energy.residual).max() < 1e-6)
    True
    """

    t: Array
    kinetic: Array
    potential: Array
    work: Array
    dissipated: Array
    external: Array
    payload: Array

    @property
    def total(self) -> Array:
        """Kinetic and potential energy."""
        return self.kinetic + self.potential

    @property
    def residual(self) -> Array:
        """Residual of the balance: errors of the integrator, and of sums over logged instants.

        ``total - total[0] - work + dissipated - external - payload``. It converges to zero with the step, at second
        order in the time between logged instants where nothing switches between them.
        """
        return np.asarray(self.total - self.total[0] - self.work + self.dissipated - self.external - self.payload)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot all energies over time.

        Parameters
        ----------
        ax : Axes, optional
            Default a new figure.

        Returns
        -------
        Axes
            The panel drawn.
        """
        from .figure import plot_energy

        return plot_energy(self, ax=ax)


def drive_positions(result: SimulationResult) -> Array:
    """Return the positions driven by the torques, (k, n): of joints, or of motors at elastic joints."""
    positions = result.q.copy()
    for k, drive in enumerate(() if result.plant is None else result.plant.elastic):
        positions[:, drive.joint - 1] = result.x[:, k]
    return positions


def _sum(steps: Array) -> Array:
    return np.concatenate([[0.0], np.cumsum(steps)])


def _work(result: SimulationResult, tau: Array, positions: Array, held: bool) -> Array:
    mean = tau[:-1] if held else 0.5 * (tau[:-1] + tau[1:])
    return _sum(np.sum(mean * np.diff(positions, axis=0), axis=1))


def _energies(robot: Robot, result: SimulationResult, rows: slice) -> tuple[Array, Array]:
    """Return kinetic and potential energy at the instants `rows`."""
    kinetic = robot.kinetic_energy(result.q[rows], result.dq[rows])
    potential = robot.potential_energy(result.q[rows])
    for k, drive in enumerate(robot.elastic):
        deflection = result.x[rows, k] - result.q[rows, drive.joint - 1]
        kinetic = kinetic + 0.5 * drive.Mm * result.dx[rows, k] ** 2
        for order, stiffness in enumerate(drive.K):
            potential = potential + stiffness * deflection ** (2 * order + 2) / (2 * order + 2)
    return kinetic, potential


def _dissipation(robot: Robot, result: SimulationResult, rows: slice) -> npt.NDArray[np.float64]:
    """Return the power dissipated by friction and dampers at the instants `rows`."""
    dq, dx = result.dq[rows], result.dx[rows]
    friction = robot.friction_torque(dq)
    if "friction" in result.signals:
        friction = friction + result.signals["friction"][rows]
    power: Array = np.sum(friction * dq, axis=1)
    if robot.elastic:
        slip = dx - dq[:, list(robot.motor_joints)]
        power = power + np.sum(robot.elastic_damping_torque(dq, dx) * slip, axis=1)
        power = power + np.sum(robot.motor_damping_torque(dx) * dx, axis=1)
    return power


@dataclass(frozen=True, eq=False)
class Lyapunov(Value):
    """Lyapunov function and its derivative along a run.

    Attributes
    ----------
    t : (k,) array
        Time [s].
    V, V_dot : (k,) array
        Function and derivative.
    analytic : bool
        Whether V_dot is the analytic expression of the controller; otherwise it is the central difference of V.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, rest = th.Robot.load("elbow"), th.reference.SetPoint([0.3, 0.2])
    >>> law = th.SlotineLi(robot, Lambda=5.0, K_d=8.0, adaptation=None)
    >>> lyapunov = th.simulate(robot, law, rest, 0.5, q0=[0.0, 0.5]).lyapunov(law)
    >>> lyapunov.analytic, bool((lyapunov.V_dot <= 0.0).all())
    (True, True)
    """

    t: Array
    V: Array
    V_dot: Array
    analytic: bool

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot V on a logarithmic axis, and V_dot on a second axis.

        Parameters
        ----------
        ax : Axes, optional
            Default a new figure.

        Returns
        -------
        Axes
            The panel drawn.
        """
        from .figure import plot_lyapunov

        return plot_lyapunov(self, ax=ax)


ALWAYS_LOGGED = ("t", "q", "dq", "tau", "status")
#: logged for elastic joints: positions and velocities of the motors
MOTORS_LOGGED = ("x", "dx")
#: signals of sensors, actuators, external forces and friction, logged where these are used
PARTS_LOGGED = ("q_measured", "dq_measured", "tau_commanded", "external", "friction")
#: signals of sensors of the motors of elastic joints
MOTORS_MEASURED = ("x_measured", "dx_measured")
#: all signals that the run logs itself
LOGGED = (*ALWAYS_LOGGED, *MOTORS_LOGGED, *PARTS_LOGGED, *MOTORS_MEASURED)


#: prefixes of the names of signals and labels in a file
_SIGNAL, _LABELS = "signal:", "labels:"
_ROBOT, _PAYLOADS, _HELD = "robot", "payloads", "held"
#: columns of payloads: time, link, mass, center of mass, inertia about it
_PAYLOAD_COLUMNS = 15


def _payload_row(payload: Payload) -> np.ndarray[Any, np.dtype[np.float64]]:
    link = np.asarray(payload.link, dtype=np.float64)
    return np.concatenate([[payload.time, link, payload.mass], np.ravel(payload.com), np.ravel(payload.inertia)])  # type: ignore[arg-type]


def _plant(arrays: dict[str, Any], path: str | Path) -> dict[str, Any]:
    """Return description, payloads and held where the file has them; files of older versions do not."""
    fields: dict[str, Any] = {}
    if _HELD in arrays:
        fields["held"] = bool(np.all(arrays[_HELD]))
    if _ROBOT in arrays:
        fields["description"] = parse_description(str(arrays[_ROBOT]), path)
    if _PAYLOADS in arrays:
        from ..robot.payload import Payload

        rows = arrays[_PAYLOADS]
        if rows.ndim != 2 or rows.shape[1] != _PAYLOAD_COLUMNS or rows.dtype.kind != "f":
            raise ThunderError(f"payloads must have shape (n, {_PAYLOAD_COLUMNS}), got {rows.shape}")
        fields["payloads"] = tuple(
            Payload(row[2], row[3:6], row[6:].reshape(3, 3), int(row[1]), row[0]) for row in rows
        )
    return fields


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulationResult(Metrics, Tabular):
    """Closed-loop run: k logged instants of a robot with n joints, e of them elastic.

    Attributes
    ----------
    t : (k,) array
        Time [s]; evenly spaced except for the last instant, which is always logged.
    q, dq : (k, n) array
        Joint positions [rad or m] and velocities.
    tau : (k, n) array
        Applied torque [N m or N], after any limit, held until the next control period.
    status : (k,) int array
        `thunder_py.control.Status` of each step.
    signals : mapping of str to (k, w) array
        Logged signals of the controller; `error`, `s` and `parameters` are attributes too.
    names : mapping of str to tuple of str
        Names of the ``joints``, of the joints whose ``motors`` are in `x`, and of the entries of each signal.
    x, dx : (k, e) array
        Positions and velocities of the motors of elastic joints; without such joints they have no columns.
    description : RobotDescription or None
        Description of the plant without payloads; None for a plant written in Python.
    payloads : tuple of Payload
        Payloads that the plant picked up.
    held : bool
        Whether each torque was constant until the next logged instant.

    Examples
    --------
    >>> import tempfile
    >>> import thunder_py as th
    >>> robot, motion = th.Robot.load("elbow"), th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    >>> run = th.simulate(robot, th.SlotineLi(robot, 5.0, 8.0, adaptation=None), motion, 5.0)
    >>> round(run.rmse(), 3), round(run.settling_time(0.05), 2), run.diverged
    (0.062, 0.76, False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run.save(f"{folder}/run.npz")
    ...     th.SimulationResult.load(f"{folder}/run.npz") == run
    True
    """

    t: Array
    q: Array
    dq: Array
    tau: Array
    status: npt.NDArray[np.int64]
    signals: Mapping[str, Array] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    x: Array = field(default_factory=lambda: np.zeros((0, 0)))
    dx: Array = field(default_factory=lambda: np.zeros((0, 0)))
    description: RobotDescription | None = None
    payloads: tuple[Payload, ...] = ()
    held: bool = True

    def __post_init__(self) -> None:
        """Check shapes and types, and make the arrays read-only."""
        for name in MOTORS_LOGGED:
            if np.size(getattr(self, name)) == 0:
                set_fields(self, **{name: np.zeros((np.size(self.t), 0))})
        self._check()
        set_fields(self, signals=frozen(dict(self.signals)), names=frozen(dict(self.names)))
        for values in (self.t, self.q, self.dq, self.tau, self.status, self.x, self.dx, *self.signals.values()):
            values.setflags(write=False)

    def _check(self) -> None:
        rows, n = np.size(self.t), np.shape(self.q)[-1:]
        for name in (*ALWAYS_LOGGED, *MOTORS_LOGGED, *self.signals):
            values = np.asarray(self.signals[name] if name in self.signals else getattr(self, name))
            if values.dtype.kind not in "iuf" or values.shape[:1] != (rows,) or rows == 0:
                raise ThunderError(f"{name} must be numbers, one row for each of {rows} instants, got {values.shape}")
            if name in ("q", "dq", "tau") and values.shape != (rows, *n):
                raise ThunderError(f"{name} must have shape {(rows, *n)}, got {values.shape}")
        x, dx = np.shape(self.x), np.shape(self.dx)
        if len(x) != 2 or x != dx or x[1] > n[0]:
            raise ThunderError(f"x and dx must have one shape, ({rows}, e) with e <= {n[0]}, got {x} and {dx}")
        unknown = set(np.unique(self.status).tolist()) - {int(status) for status in Status.__members__.values()}
        if unknown:
            raise ThunderError(f"status must be values of Status, got {sorted(unknown)}")

    def _columns(self) -> tuple[str, ...]:
        """Names of the columns that every run has, those of motors only for elastic joints."""
        return (*ALWAYS_LOGGED, *MOTORS_LOGGED) if self.x.shape[1] else ALWAYS_LOGGED

    def _signal(self, name: str) -> Array:
        try:
            return self.signals[name]
        except KeyError:
            logged = ", ".join(self.signals) or "none"
            raise AttributeError(f"signal {name!r} was not logged (logged: {logged}); see simulate(log=...)") from None

    @property
    def error(self) -> Array:
        """Tracking error as the controller defines it, (k, m): q_d - q, or the task error e."""
        return self._signal("error")

    @property
    def error_unit(self) -> str | None:
        """Unit of the error: ``rad`` or ``rad or m`` of joints, ``m, rad``, ``m`` or ``rad of a pose`` of a task.

        None where the error was not logged.
        """
        if "error" not in self.signals:
            return None
        labels = tuple(self.names.get("error", ()))
        if labels != tuple(self.names.get("joints", ())) and labels and set(labels) <= {*ROW_NAMES}:
            rows = [ROW_NAMES.index(label) < 3 for label in labels]
            return "m" if all(rows) else "m, rad" if any(rows) else "rad of a pose"
        joints = "" if self.description is None else self.description.joint_types
        return "rad" if set(joints) == {"R"} else "rad or m"

    @property
    def s(self) -> Array:
        """Velocity error dq_r - dq, (k, n)."""
        return self._signal("s")

    @property
    def parameters(self) -> Array:
        """Estimate of all parameters, (k, p), named by ``names["parameters"]``."""
        return self._signal("parameters")

    @property
    def external_estimate(self) -> Array:
        """Estimate of the external torque by the run's `MomentumObserver`, (k, n); the true one is ``external``."""
        return self._signal("external_estimate")

    @property
    def contact(self) -> npt.NDArray[np.bool_]:
        """Contacts that the run's observer detected, (k, n)."""
        contact: npt.NDArray[np.bool_] = self._signal("contact") != 0.0
        return contact

    @cached_property
    def plant(self) -> Robot | None:
        """Simulated robot without payloads; None for a plant written in Python."""
        return None if self.description is None else Robot(self.description)

    def energy(self) -> EnergyBalance:
        """Return the energy balance of the run; its plant must be a `Robot`.

        The work of held torques is exact; other sums use the trapezoidal rule over the logged instants, so log often.
        """
        kinetic, potential, brought, power = np.zeros((4, len(self.t)))
        before: Robot | None = None
        for robot, now in plant_phases(self, "energy"):
            kinetic[now], potential[now] = _energies(robot, self, now)
            power[now] = _dissipation(robot, self, now)
            if before is not None:
                first, then = now.start, slice(now.start, now.start + 1)
                brought[first:] += kinetic[first] + potential[first] - np.sum(_energies(before, self, then))
            before = robot
        external = self.signals.get("external")
        return EnergyBalance(
            t=self.t,
            kinetic=kinetic,
            potential=potential,
            work=_work(self, self.tau, drive_positions(self), self.held),
            dissipated=_sum(0.5 * (power[1:] + power[:-1]) * np.diff(self.t)),
            external=0.0 * self.t if external is None else _work(self, external, self.q, held=False),
            payload=brought,
        )

    def condition_numbers(self, frame: int | str | None = None) -> ConditionNumbers:
        """Return the condition numbers of M(q), of its estimate and of the Jacobian of a frame over time, (k,) each.

        Parameters
        ----------
        frame : int or str, optional
            Frame of the Jacobian; default the end effector.
        """
        M = np.zeros(len(self.t))
        for robot, rows in plant_phases(self, "condition_numbers"):
            M[rows] = np.linalg.cond(robot.mass_matrix(self.q[rows]))
        plant, estimates = plant_of(self, "condition_numbers"), self.signals.get("parameters")
        # LAPACK may return a least singular value of -0.0, and the quotient -inf
        J = np.abs(np.linalg.cond(plant.jacobian(self.q, frame)))
        if estimates is None or estimates.shape[1] != plant.p:
            return ConditionNumbers(M, J, None)
        return ConditionNumbers(M, J, np.linalg.cond(mass_matrices(plant, self.q, estimates)))

    def parameter_error(self) -> Array:
        """Return the distance of the controller's estimate from the base parameters of the plant over time, (k,)."""
        plant = plant_of(self, "parameter_error")
        wrong = array(self.parameters, (None, plant.p), "parameters of the estimate") - plant.parameters
        return np.asarray(np.linalg.norm(wrong @ plant.base_parameters().mapping.T, axis=1))

    def lyapunov(self, controller: object) -> Lyapunov:
        """Return the Lyapunov function of a controller along this run, and its derivative, (k,) each.

        Parameters
        ----------
        controller : object
            Controller with the gains of the run and a method ``lyapunov(robot, result)`` that returns V, (k,). V_dot is
            the result of its method ``lyapunov_dot(robot, result)``, or differences of V where that does not exist or
            returns None. ``robot`` is the plant with its payloads.
        """
        function, derivative = getattr(controller, "lyapunov", None), getattr(controller, "lyapunov_dot", None)
        if not callable(function):
            raise ThunderError(
                f"controller must have a method lyapunov(robot, result), got {type(controller).__name__}"
            )
        rows = len(self.t)
        V, V_dot, analytic = np.zeros(rows), np.zeros(rows), True
        for robot, now in plant_phases(self, "lyapunov"):
            V[now] = array(function(robot, self), (rows,), "result of controller.lyapunov")[now]
            rates = derivative(robot, self) if callable(derivative) else None
            if rates is not None:
                V_dot[now] = array(rates, (rows,), "result of controller.lyapunov_dot")[now]
            else:
                analytic = False
                V_dot[now] = np.gradient(V[now], self.t[now]) if now.stop - now.start > 1 else 0.0
        return Lyapunov(self.t, V, V_dot, analytic)

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Plot the error norm, torques, external torques, spring deflections and changes of estimates over time.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"error"`` if it was logged, ``"tau"``, ``"external_estimate"`` of an observer with the
            true external torque dotted, ``"deflection"`` (x - q) for elastic joints and ``"parameters"`` if estimates
            changed; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .figure import plot_result

        return plot_result(self, axes=axes)

    def animate(
        self,
        path: str | Path | None = None,
        *,
        robot: Robot | None = None,
        reference: Callable[[float], Any] | None = None,
        meshes: Meshes | str | Path | None = None,
        playback_speed: float = 1.0,
        fps: float = 20.0,
        dpi: float = 72,
    ) -> FuncAnimation:
        """Animate the run in 3-D with a trace of the end effector.

        Parameters
        ----------
        path : str or path, optional
            File to write: ``.gif``, ``.mp4``, which needs the program ffmpeg, or ``.html``, a page with controls that
            contains all frames.
        robot : Robot, optional
            Robot to draw; default the plant.
        reference : callable, optional
            Reference of joints or poses whose path is drawn as well.
        meshes : Meshes or path-like, optional
            Meshes of the links, from the URDF that `robot` was loaded from.
        playback_speed : float
            Seconds of the run in each second of the film.
        fps : float
            Frames per second of the film.
        dpi : float
            Dots per inch in the file.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            See `Robot.animate`; show it in a notebook with ``to_jshtml``.

        Raises
        ------
        ThunderError
            If the plant is not a `Robot` and `robot` is not given, another argument is invalid, or the file cannot
            be written.
        """
        from .figure import reference_path, robot_of

        arm = robot_of(self, robot)
        line = None if reference is None else reference_path(arm, reference, self.t)
        options: dict[str, Any] = {"meshes": meshes, "playback_speed": playback_speed, "fps": fps, "dpi": dpi}
        return arm.animate(self.t, self.q, path, reference=line, **options)

    def to_columns(self) -> dict[str, Any]:
        """Return the time, the text of the status and a column for each entry of the others, such as ``q.joint1``.

        Examples
        --------
        >>> import thunder_py as th
        >>> robot, rest = th.Robot.load("elbow"), th.reference.SetPoint([0.3, 0.2])
        >>> run = th.simulate(robot, th.PDGravity(robot, 80.0, 20.0), rest, 0.1)
        >>> list(run.to_columns())[:4]
        ['t', 'q.joint1', 'q.joint2', 'dq.joint1']
        """
        logged = {name: getattr(self, name) for name in self._columns()} | dict(self.signals)
        status = [Status(code).name for code in logged.pop("status").tolist()]
        names = dict.fromkeys(("q", "dq", "tau"), self.names.get("joints"))
        names |= dict.fromkeys(MOTORS_LOGGED, self.names.get("motors"))
        columns: dict[str, Any] = {}
        for name, values in logged.items():
            rows = values.reshape(len(self.t), -1)
            width = rows.shape[1]
            labels = names.get(name) or self.names.get(name) or [str(k) for k in range(1, width + 1)]
            keys = [name] if width == 1 and name not in names else [f"{name}.{label}" for label in labels]
            columns |= zip(keys, rows.T, strict=True)
        return {**columns, "status": status}

    def _repr_html_(self) -> str:
        rows = [["torque_rms", self.torque_rms()]]
        if self.error_unit is not None:
            rows += [[f"{name} [{self.error_unit}]", getattr(self, name)()] for name in IN_ERROR_UNITS[:3]]
        return html_text(self, Table(["metric", "value"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a flat dict of arrays, signals under their names, and ``names``."""
        fields = {name: getattr(self, name) for name in self._columns()}
        return {**fields, **self.signals, "names": {key: tuple(value) for key, value in self.names.items()}}

    def save(self, path: str | Path) -> None:
        """Write the run to an ``.npz`` file, atomically and without pickles.

        Parameters
        ----------
        path : str or path
            File name that ends in ``.npz``.
        """
        arrays: dict[str, Any] = {name: getattr(self, name) for name in self._columns()}
        arrays |= {_SIGNAL + name: values for name, values in self.signals.items()}
        arrays |= {_LABELS + name: np.array(list(labels), dtype=np.str_) for name, labels in self.names.items()}
        arrays[_HELD] = np.array(self.held)
        if self.description is not None:
            arrays[_ROBOT] = np.array(write_native(self.description))
        if self.payloads:
            arrays[_PAYLOADS] = np.array([_payload_row(payload) for payload in self.payloads])
        write_archive(path, arrays)

    @classmethod
    def load(cls, path: str | Path) -> SimulationResult:
        """Read a file that `save` wrote.

        Raises
        ------
        FileFormatError
            If the file is not one of `save`.
        """
        arrays = read_archive(path, "SimulationResult.save")
        missing = [name for name in ALWAYS_LOGGED if name not in arrays]
        if missing:
            raise FileFormatError(f"not a file of SimulationResult.save: {', '.join(missing)} missing", path=path)
        signals = {k.removeprefix(_SIGNAL): v for k, v in arrays.items() if k.startswith(_SIGNAL)}
        with parsing(path, "a file of SimulationResult.save"):
            names = {k.removeprefix(_LABELS): tuple(map(str, v)) for k, v in arrays.items() if k.startswith(_LABELS)}
            columns = {name: arrays[name] for name in (*ALWAYS_LOGGED, *MOTORS_LOGGED) if name in arrays}
            try:
                return cls(**columns, signals=signals, names=names, **_plant(arrays, path))
            except ThunderError as error:
                raise FileFormatError(f"not a file of SimulationResult.save: {error}", path=path) from error

    def __repr__(self) -> str:
        """Duration, sizes and last status."""
        last = Status(int(self.status[-1])).name
        size = f"{len(self.t)} instants, {self.q.shape[1]} joints"
        return f"<SimulationResult: {self.t[-1]:g} s, {size}, last status {last}>"
