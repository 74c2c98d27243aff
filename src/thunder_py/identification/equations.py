"""Equations of motion as rows linear in all parameters, over logs of any length in windows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, nonnegative, one_of, positive
from ..errors import FileFormatError, ThunderError, ThunderWarning, UnknownNameError, outer_level
from ..model.description import Friction
from ..model.joint_data import Elastic
from ..model.parameters import BaseParameters, UnknownParameters, unknown_parameter
from ..robot import Robot
from ..simulation.friction import FrictionModel
from .log import Log, LogSource, Resampled, checked_chunks, without_spikes
from .samples import Filter, Samples, SensorCalibration, corrected
from .signals import checked_cutoff, instants, sampling_period

#: instants whose regressors of friction are in memory at a time
_ROWS = 1024


@runtime_checkable
class Columns(Protocol):
    """Further columns of the equations, linear in unknowns without a prior.

    Attributes
    ----------
    names : sequence of str
        Name of each unknown, (c,).

    Examples
    --------
    A constant torque at each joint:

    >>> import numpy as np
    >>> import thunder_py as th
    >>> class Bias:
    ...     names = ("joint1.bias", "joint2.bias")
    ...
    ...     def evaluate(self, samples):
    ...         return np.broadcast_to(np.eye(2), (len(samples), 2, 2))
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = robot.inverse_dynamics(q, dq, ddq) + [0.2, -0.1]
    >>> estimate = th.identification.identify(robot, t, q, dq, ddq, tau, columns=[Bias()])
    >>> estimate.extra_names, estimate.extra.round(3).tolist()
    (('joint1.bias', 'joint2.bias'), [0.2, -0.1])
    """

    @property
    def names(self) -> Sequence[str]:
        """Name of each unknown, (c,)."""

    def evaluate(self, samples: Samples) -> Array:
        """Return the torques that one unit of each unknown adds to the rows, (k, r, c).

        Rows are those of n joints, then with measured joint torques those of e springs, then those of e motors. Samples
        have a margin on either side of those that are used, so that differences over their instants may be taken.
        Several threads call this.
        """


@dataclass(frozen=True)
class Equations:
    """Rows ``W theta = y`` at each instant.

    theta are the parameters of the links, those of elastic joints, and those of further columns.

    Attributes
    ----------
    samples : Samples
        Signals of these instants.
    W : (k, r, P + c) array
        Regressor.
    y : (k, r) array
        Measured torques.
    part : slice or None
        Their indices in a window.
    """

    samples: Samples
    W: Array
    y: Array
    part: slice | None = None


def formed_columns(robot: Robot, samples: Samples, offsets: Array) -> dict[str, Array]:
    """Form columns of signals behind a wider filter, filtered like the torques; x - q is less by the `offsets`, (e,).

    The filter of a sign or a power is not the sign or the power of the filtered signal.

    Returns
    -------
    dict of str to array
        ``friction``, (k, f), each in the row of its joint, where velocities are filtered; ``spring``, springs and
        dampers, and ``motor``, (k, e, c), with elastic joints.
    """
    found = {}
    if samples.source is not None and _friction_joints(robot).size:
        found["friction"] = samples.filtered(_friction(robot, samples.wide[0].dq))
    if samples.motors is not None:
        (q, dq, _), motors = samples.wide
        assert motors is not None
        K, D = robot.elastic_regressor(q, motors.q - offsets), robot.elastic_damping_regressor(dq, motors.dq)
        damping = samples.filtered(robot.motor_damping_regressor(motors.dq))
        found["spring"] = samples.filtered(np.concatenate([K, D], axis=-1))
        found["motor"] = np.concatenate([damping, robot.motor_inertia_regressor(samples.motors.ddq)], axis=-1)
    return found


def _friction_joints(robot: Robot) -> npt.NDArray[np.intp]:
    """Return the joint of each parameter of friction, (f,); these follow those of the links."""
    friction = robot.description.friction
    return np.repeat(np.arange(robot.n), 0 if friction is None else len(friction.terms))


def _friction(robot: Robot, dq: Array) -> Array:
    """Return the columns of friction, each of its joint alone, (k, f)."""
    own = robot.description.friction
    assert own is not None
    return np.column_stack([friction_column(name, v, own.delta) for v in dq.T for name in own.terms])


def equations(
    robot: Robot,
    samples: Samples,
    formed: Mapping[str, Array],
    further: Sequence[Array] = (),
    part: slice | None = None,
) -> Equations:
    """Return the rows of all equations, from the `formed_columns` and further columns at the same instants.

    The equations of an elastic joint are Y pi = tau_el and Mm ddx + Dm dx + tau_el = tau. Their sum, without x - q,
    replaces the first: it has a measured torque on the right, and keeps the noise of x - q away from pi. With measured
    joint torques the right sides are these: Y pi = tau_J, tau_el = tau_J and Mm ddx + Dm dx = tau - tau_J.
    """
    Y, y = robot.regressor(*samples.motion), samples.torque
    if "friction" in formed:
        of_friction = _friction_joints(robot)
        Y[:, of_friction, 10 * robot.n + np.arange(of_friction.size)] = formed["friction"]
    if "spring" in formed:
        Y, y = _with_drives(robot, samples, Y, formed["spring"], formed["motor"])
    for columns in further:
        if columns.ndim != 3 or columns.shape[:2] != y.shape:
            raise ThunderError(f"columns must have shape {y.shape} and one more dimension, got {columns.shape}")
    return Equations(samples, np.concatenate([Y, *further], axis=-1) if further else Y, y, part)


def _with_drives(robot: Robot, samples: Samples, Y: Array, spring: Array, motor: Array) -> tuple[Array, Array]:
    n, e, p = robot.n, robot.e, robot.p
    elastic = list(robot.motor_joints)
    sensed, driven = samples.joint_torque, samples.torque[:, elastic]
    springs, motors = slice(p, p + spring.shape[-1]), slice(p + spring.shape[-1], None)
    W = np.zeros((len(Y), n + (1 if sensed is None else 2) * e, p + spring.shape[-1] + motor.shape[-1]))
    W[:, :n, :p] = Y
    W[:, n : n + e, springs] = spring
    W[:, -e:, motors] = motor
    if sensed is None:
        W[:, elastic, motors] = motor
        return W, np.hstack([samples.torque, driven])
    y = np.hstack([samples.torque, sensed, driven - sensed])
    y[:, elastic] = sensed
    return W, y


def all_parameters(robot: Robot) -> Array:
    """Return the parameters of the links, then K, D, Dm and Mm of the elastic joints, (P,)."""
    return np.concatenate([robot.parameters, *(robot.elastic_parameters[group] for group in Elastic.GROUPS)])


def all_names(robot: Robot) -> tuple[str, ...]:
    """Return the names of `all_parameters`."""
    elastic = robot.elastic_parameter_names
    return (*robot.parameter_names, *(name for group in Elastic.GROUPS for name in elastic[group]))


def with_all_parameters(robot: Robot, theta: Array) -> Robot:
    """Return the robot with these parameters in the order of `all_parameters`."""
    changed = robot.with_parameters(theta[: robot.p])
    if not robot.e:
        return changed
    ends = np.cumsum([robot.p, *(robot.elastic_parameters[group].size for group in Elastic.GROUPS)])
    parts = {group: theta[a:b] for group, a, b in zip(Elastic.GROUPS, ends[:-1], ends[1:], strict=True)}
    return changed.with_elastic_parameters(**parts)


def selection(
    robot: Robot, unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None
) -> tuple[UnknownParameters, npt.NDArray[np.bool_]]:
    """Return the unknown parameters of the links, and a mask of those of elastic joints."""
    names = all_names(robot)[robot.p :]
    if unknown is None:
        return robot.unknown(), np.ones(len(names), dtype=bool)
    mask = np.zeros(len(names), dtype=bool)
    if isinstance(unknown, UnknownParameters):
        return robot.unknown(unknown.mask), mask
    listed = [unknown] if isinstance(unknown, str) else unknown
    if isinstance(listed, (list, tuple)) and list(listed) in ([], ["none"]):
        return robot.unknown(np.zeros(robot.p, dtype=bool)), mask
    if not (isinstance(listed, (list, tuple)) and listed and all(isinstance(name, str) for name in listed)):
        return robot.unknown(unknown), mask
    links = np.zeros(robot.p, dtype=bool)
    for name in map(str, listed):
        here = np.array([name in _aliases(full) for full in names], dtype=bool)
        mask |= here
        try:
            links |= robot.unknown(name).mask
        except UnknownNameError:
            if not here.any():
                raise unknown_parameter(robot, name, (alias for full in names for alias in _aliases(full))) from None
    return robot.unknown(links), mask


def _aliases(name: str) -> tuple[str, ...]:
    """Return what selects an elastic parameter: its name, its joint, its group, and ``"elastic"``."""
    joint, _, coefficient = name.rpartition(".")
    return name, joint, coefficient.rstrip("0123456789"), "elastic"


def extended(base: BaseParameters, elastic: npt.NDArray[np.bool_], names: Sequence[str]) -> BaseParameters:
    """Return base parameters of links and, after them, the chosen ones of elastic joints: torques depend on each."""
    p, chosen = base.mapping.shape[1], np.flatnonzero(elastic)
    mapping = np.zeros((base.count + chosen.size, p + elastic.size))
    mapping[: base.count, :p] = base.mapping
    mapping[base.count + np.arange(chosen.size), p + chosen] = 1.0
    return replace(
        base,
        independent=np.concatenate([base.independent, p + chosen]),
        mapping=mapping,
        names=(*base.names, *(names[p + k] for k in chosen)),
    )


#: kinds of friction, and the names of their coefficients, in which torque is linear
KINDS: dict[str, tuple[str, ...]] = {
    "none": (),
    "viscous": ("viscous",),
    "coulomb": ("viscous", "coulomb"),
    "asymmetric": ("viscous_negative", "viscous_positive", "coulomb_negative", "coulomb_positive"),
    "stribeck": ("viscous", "coulomb", "stribeck"),
}


def kind_terms(kind: str) -> tuple[str, ...]:
    """Return the names of the coefficients of a kind, or of terms such as ``viscous+quadratic``."""
    return KINDS[kind] if kind in KINDS else tuple(kind.split("+"))


def friction_kinds(friction: str | Sequence[str], n: int) -> tuple[str, ...]:
    """Return the kind of friction of each joint, or raise."""
    kinds = (friction,) * n if isinstance(friction, str) else tuple(friction)
    for kind in kinds:
        if not (isinstance(kind, str) and set(kind.split("+")) <= set(Friction.TERMS)):
            one_of(kind, KINDS, "friction")
    if len(kinds) != n:
        raise ThunderError(f"friction must be one kind or one for each of {n} joints, got {len(kinds)}")
    return kinds


def friction_column(name: str, v: Array, delta: float, velocity: float | Array = 1.0) -> Array:
    """Return the torques of one unit of a coefficient, named in `KINDS` or `Friction.TERMS`, at the velocities v."""
    term, _, side = name.partition("_")
    if term in ("coulomb", "stribeck"):
        column = v / (np.abs(v) + delta)
        column = column * np.exp(-((v / velocity) ** 2)) if term == "stribeck" else column
    else:  # viscous, quadratic, cubic
        column = v * np.abs(v) ** max(Friction.TERMS.index(term) - 1, 0)
    return np.where(v > 0.0 if side == "positive" else v < 0.0, column, 0.0) if side else np.asarray(column)


@dataclass(frozen=True)
class FrictionColumns:
    """Friction as further columns of `identify`, with coefficients in any direction and known Stribeck velocities.

    The columns are formed of velocities behind a wider filter and then filtered like the torques, because the filter of
    a sign is not the sign of the filtered velocity.

    Attributes
    ----------
    kinds : tuple of str
        Kind of friction of each joint; see `identify`.
    joint_names : tuple of str
        Names of the joints.
    delta : float
        Width of the smooth sign [rad/s or m/s].
    velocity : (n,) array, optional
        Stribeck velocities [rad/s or m/s].

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.identification import FrictionColumns, identify
    >>> from thunder_py.simulation import FrictionModel
    >>> robot, t = th.Robot.load("elbow"), np.arange(0.0, 10.0, 2e-3)
    >>> truth = FrictionModel(viscous=[[0.5], [0.3]], coulomb=[[1.0, 1.2], [0.5, 0.6]])
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = robot.inverse_dynamics(q, dq, ddq) + truth.torque(dq)
    >>> columns = FrictionColumns(("asymmetric", "asymmetric"), robot.joint_names)
    >>> found = identify(robot, t, q, tau=tau, cutoff=20.0, columns=[columns])
    >>> np.abs(columns.model(found.extra).coulomb - truth.coulomb).max() < 0.01
    np.True_
    """

    kinds: tuple[str, ...]
    joint_names: tuple[str, ...]
    delta: float = 1e-2
    velocity: npt.ArrayLike | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, such as ``joint1.coulomb_positive``."""
        return tuple(f"{self.joint_names[j]}.{name}" for j, name in self._terms)

    @property
    def _terms(self) -> list[tuple[int, str]]:
        """Joint and name of each coefficient."""
        return [(j, name) for j, kind in enumerate(self.kinds) for name in kind_terms(kind)]

    def evaluate(self, samples: Samples) -> Array:
        """Return the columns in the rows of the links, (k, r, c)."""
        links, motors = samples.wide
        drives = 0 if motors is None else motors.q.shape[1] * (1 if samples.joint_torque is None else 2)
        found = np.zeros((len(samples), len(self.kinds) + drives, len(self._terms)))
        for k, (j, name) in enumerate(self._terms):
            found[:, j, k] = friction_column(name, links.dq[:, j], self.delta, self.velocities[j])
        return samples.filtered(found)

    @property
    def joints(self) -> list[int]:
        """Joint of each coefficient."""
        return [j for j, _ in self._terms]

    @property
    def stribeck(self) -> npt.NDArray[np.intp]:
        """Joints with a Stribeck velocity."""
        return np.array([j for j, kind in enumerate(self.kinds) if "stribeck" in kind_terms(kind)], dtype=np.intp)

    def stribeck_terms(self, samples: Samples, velocity: Array, *, slopes: bool = False) -> Array:
        """Return the columns of the Stribeck effect, (k, v), or their slopes by the logarithms of these velocities."""
        dq, velocity = samples.wide[0].dq[:, self.stribeck], velocity[self.stribeck]
        columns = friction_column("stribeck", dq, self.delta, velocity)
        return samples.filtered(2.0 * (dq / velocity) ** 2 * columns if slopes else columns)

    def model(self, coefficients: npt.ArrayLike) -> FrictionModel:
        """Return the friction with these coefficients, (c,)."""
        values, n = array(coefficients, (len(self.names),), "coefficients"), len(self.kinds)
        found = {"viscous": np.zeros((n, 2)), "coulomb": np.zeros((n, 2)), "stribeck": np.zeros((n, 1))}
        for (j, name), value in zip(self._terms, values, strict=True):
            term, _, side = name.partition("_")
            if term not in found:
                raise ThunderError(f"kinds must hold terms of FrictionModel, {', '.join(found)}, got {name}")
            found[term][j, {"negative": 0, "positive": 1}.get(side, slice(None))] = value
        return FrictionModel(
            viscous=found["viscous"],
            coulomb=found["coulomb"],
            stribeck=found["stribeck"][:, 0],
            velocity=self.velocities,
            delta=self.delta,
        )

    @property
    def velocities(self) -> Array:
        """Stribeck velocities, (n,); one where none are given."""
        return np.ones(len(self.kinds)) if self.velocity is None else np.asarray(self.velocity, dtype=np.float64)


def friction_model(robot: Robot, columns: FrictionColumns | None, coefficients: Array) -> FrictionModel | None:
    """Return the friction of columns, or without these that of a robot, None if this has more than Coulomb friction."""
    if columns is not None:
        return columns.model(coefficients)
    try:
        return FrictionModel.of(robot)
    except ThunderError:
        return None


#: instants of a window without its margins, in units of the margin and at least, and instants of equations in memory
_WINDOW, _LEAST = 8, 16384
#: instants of a log over which the covariances of noise are averaged, which change slowly
_INSTANTS = 500


class Filtering(NamedTuple):
    """Conversion of logs to samples, as for `identify`.

    Attributes
    ----------
    cutoff : float or None
        Cutoff frequency [Hz]; None trusts the accelerations of the logs.
    hold : float
        Time that a torque is held from its instant on [s].
    resample : float or None
        Frequency [Hz] to which logs are interpolated before.
    robust : bool
        Whether spikes are replaced by interpolation before the filter.
    quiet : bool
        Whether warnings are left out, which an earlier pass over the same logs gave.
    longest : float
        Longest delay of sensors [s].
    """

    cutoff: float | None = None
    hold: float = 0.0
    resample: float | None = None
    robust: bool = False
    quiet: bool = False
    longest: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Window:
    """Part of a log with the margins that its filter needs.

    Attributes
    ----------
    robot : Robot
        The robot.
    log : Log
        Measured signals, with margins.
    filter : Filter
        Conversion to samples.
    first : int
        Index of the first instant, with margins, in the whole log.
    own : slice
        Instants of the log in this window alone.
    used : slice
        Those of them that are not near the ends of the whole log.
    stride : int
        Instants between those that stand for the whole log, where some hundreds suffice.
    """

    robot: Robot = field(repr=False)
    log: Log
    filter: Filter
    first: int
    own: slice
    used: slice
    stride: int

    def samples(self, sensors: SensorCalibration | None = None) -> Samples:
        """Return the filtered signals, with margins, corrected for sensors that are not exact."""
        if sensors is None or sensors.exact:
            return self.filter(self.log)
        return self.filter(corrected(self.log, sensors, self.filter.period))

    def every(self, step: int) -> slice:
        """Return the instants that are used, `step` apart in the whole log."""
        first = -(-(self.first + self.used.start) // step) * step - self.first
        return slice(first, max(self.used.stop, first), step)

    def spread(self, here: slice, step: int = 1) -> list[slice]:
        """Return parts of about a thousand of the instants of `every`, each spread over them and like the others."""
        first, size = self.every(step).start, -(-(here.stop - here.start) // _ROWS)
        stop = min(first + here.stop * step, self.used.stop)
        return [slice(first + (here.start + k) * step, stop, size * step) for k in range(size)]

    def rows(self, offsets: Array, columns: Sequence[Columns], samples: Samples) -> Callable[[slice], Equations]:
        """Return what forms the rows at some instants of `samples`, with known offsets of x - q, (e,)."""
        formed = formed_columns(self.robot, samples, offsets)
        further = [np.asarray(each.evaluate(samples), dtype=np.float64) for each in columns]

        def at(part: slice) -> Equations:
            here = {name: each[part] for name, each in formed.items()}
            return equations(self.robot, samples[part], here, [each[part] for each in further], part)

        return at

    def equations(self, offsets: Array, columns: Sequence[Columns], samples: Samples) -> Iterator[Equations]:
        """Yield the `rows` of all instants that are used, about a thousand instants at a time."""
        rows = self.rows(offsets, columns, samples)
        for start in range(self.used.start, self.used.stop, _ROWS):
            yield rows(slice(start, min(start + _ROWS, self.used.stop)))


def windows(robot: Robot, log: LogSource, filtering: Filtering) -> Iterator[Window]:
    """Yield the windows of a log, in order.

    Raises
    ------
    ThunderError
        If signals are missing, not finite or of the wrong shape, or instants do not increase or, for a filter, are not
        evenly spaced.
    """
    if filtering.resample is not None:  # an error of this argument is not one of the log
        positive(filtering.resample, "resample")
    reader = _Reader(robot, log, filtering)
    try:
        yield from _windows(robot, reader, filtering)
    except FileFormatError:
        raise
    except ThunderError as error:
        if not log.name:
            raise
        raise type(error)(f"{log.name}: {error}") from error


def read_chunks(robot: Robot, log: LogSource, filtering: Filtering, size: int) -> Iterator[Log]:
    """Yield the checked parts of a log, resampled, and without velocities and accelerations where these are filtered.

    Warns
    -----
    ThunderWarning
        If accelerations are left out.
    """
    if filtering.resample is not None:
        log = Resampled(log, positive(filtering.resample, "resample"), filtering.cutoff, filtering.quiet)
    told = filtering.quiet
    for part in checked_chunks(robot, log, size):
        if filtering.cutoff is None:
            yield part
            continue
        if part.ddq is not None and not told:
            told, where = True, f"{log.name}: " if log.name else ""
            message = "velocities and accelerations of the log are not used, because cutoff filters its positions"
            warnings.warn(where + message, ThunderWarning, stacklevel=outer_level())
        yield Log(t=part.t, q=part.q, tau=part.tau, x=part.x, joint_torque=part.joint_torque, name=part.name)


def _windows(robot: Robot, reader: _Reader, filtering: Filtering) -> Iterator[Window]:
    reader.read(_LEAST + _LEAST // 2)
    conversion = filter_of(reader.log, filtering)
    margin = conversion.margin
    length, stride = max(_LEAST, _WINDOW * margin), max(reader.source.rows() // _INSTANTS, 1)
    start = 0
    while True:
        reader.read(start + length + max(margin, length // 2) + 1)
        rest = reader.stop - start - length
        ends = reader.exhausted and rest <= length // 2
        stop = reader.stop if ends else start + length
        first = max(start - margin, 0)
        log = reader.log[first - reader.start : min(stop + margin, reader.stop) - reader.start]
        if conversion.cutoff is not None:
            sampling_period(log.t, conversion.period)
            if ends and conversion.cutoff * conversion.period * reader.stop < 1.0:
                raise ThunderError(
                    f"cutoff must be at least {1.0 / (conversion.period * reader.stop):.2g} Hz, one period in the log, "
                    f"got {conversion.cutoff:g}"
                )
            log = without_spikes(log) if filtering.robust else log
        edge = conversion.edge(reader.stop)
        low, high = max(start, edge), max(reader.stop - edge if ends else stop, edge)
        yield Window(
            robot=robot,
            log=log,
            filter=conversion,
            first=first,
            own=slice(start - first, stop - first),
            used=slice(low - first, max(low, high) - first),
            stride=stride,
        )
        if ends:
            return
        start = stop
        reader.drop(start - margin)


def filter_of(log: Log, filtering: Filtering) -> Filter:
    """Return the filter of a log from one of its `read_chunks`, or raise."""
    hold = nonnegative(filtering.hold, "hold")
    if log.ddq is not None:
        if hold:
            raise ThunderError("hold must be 0 for measured accelerations: give cutoff, or leave ddq out")
        if filtering.longest:
            raise ThunderError("ddq must be None for sensors with delays: give cutoff, or leave ddq out")
        return Filter(float(np.mean(np.diff(instants(log.t)))))
    if filtering.cutoff is None:
        raise ThunderError(
            "cutoff must be given without ddq, because accelerations are computed from filtered positions"
        )
    period = sampling_period(log.t)
    return Filter(period, checked_cutoff(filtering.cutoff, period), hold, filtering.longest)


class _Reader:
    """A log that is read as far as it is needed; `log` is what is in memory, from the instant `start` on."""

    def __init__(self, robot: Robot, source: LogSource, filtering: Filtering) -> None:
        self.source, self.start, self.exhausted = source, 0, False
        self._chunks = read_chunks(robot, source, filtering, _LEAST)
        self._parts: list[Log] = []

    @property
    def stop(self) -> int:
        return self.start + sum(map(len, self._parts))

    @property
    def log(self) -> Log:
        if len(self._parts) != 1:
            self._parts = [Log.joined(self._parts)]
        return self._parts[0]

    def read(self, stop: int) -> None:
        """Read to the instant `stop`, or to the end."""
        while self.stop < stop and not self.exhausted:
            chunk = next(self._chunks, None)
            if chunk is None:
                self.exhausted = True
            else:
                self._parts.append(chunk)
        if not self._parts:
            raise ThunderError("t must hold at least 5 instants, got 0")

    def drop(self, start: int) -> None:
        """Forget what is before the instant `start`."""
        if start > self.start:
            self._parts, self.start = [self.log[start - self.start :]], start
