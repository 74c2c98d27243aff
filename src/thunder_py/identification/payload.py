"""Identification of a payload from logs with it, by a known robot or by logs without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, nonnegative, positive
from ..errors import ThunderError
from ..model import inertia
from ..model.parameters import BaseParameters, UnknownParameters
from ..robot import Robot
from ..robot.payload import Payload
from ..table import Table
from .equations import all_names, all_parameters, extended, selection
from .intervals import student_intervals, uncertainty
from .layout import RegressorColumns
from .least_squares import ConsistentProblem, Data, Fit, fit, fit_reweighted, given_noise, joined, solve_consistent
from .log_file import Recorded, as_sources
from .problem import Problem
from .sums import Linearization
from .windows import Filtering

#: density of the sphere that is the default prior [kg/m^3]
_DENSITY = 1000.0
#: parameters of a body in DYN order, with units
_NAMES = ("m", "cx", "cy", "cz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
#: relative step of differences
_STEP = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class PayloadIdentification:
    """Result of `identify_payload`.

    Attributes
    ----------
    parameters : (10,) array
        REG parameters of the payload in the frame of its link.
    covariance : (10, 10) array
        Their covariance by plain least squares, zero in directions that the logs do not determine.
    freedom : (10,) array
        Degrees of freedom of their variances.
    sources : tuple of str
        What these rest on, as for `Identification`.
    determined : (10,) bool array
        Whether the logs determine each parameter.
    link : int
        Number of the link that carries the payload, from 1.
    noise : (r,) array
        Standard deviations that weighted the rows [N m or N].
    condition : float
        Condition number of the weighted columns, scaled to unit length.
    consistent : bool
        Whether the fit was restricted to bodies that can exist.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.identification import Log, identify_payload
    >>> robot, t = th.Robot.load("elbow"), np.arange(0.0, 10.0, 5e-3)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = th.Payload(1.0, com=(0.2, 0.0, 0.0)).added_to(robot).inverse_dynamics(q, dq, ddq)
    >>> tau += np.random.default_rng(0).normal(scale=0.05, size=tau.shape)
    >>> found = identify_payload(robot, Log(t=t, q=q, dq=dq, ddq=ddq, tau=tau))
    >>> dict(zip(found.names[:3], found.estimates[:3].round(2).tolist(), strict=True))
    {'m': 1.0, 'cx': 0.2, 'cy': 0.0}
    >>> found.determined.tolist()  # a planar arm
    [True, True, True, False, False, False, False, False, False, True]
    """

    parameters: Array
    covariance: Array = field(repr=False)
    freedom: Array = field(repr=False)
    sources: tuple[str, ...]
    determined: npt.NDArray[np.bool_]
    link: int
    noise: Array
    condition: float
    consistent: bool

    #: names of `estimates`: mass [kg], center of mass [m], inertia about it [kg m^2] in axes of the link
    names = _NAMES

    @property
    def payload(self) -> Payload:
        """Payload for `simulate`; raises if the parameters, found without ``consistent=True``, are not physical."""
        mass, com, about_com = self.estimates[0], self.estimates[1:4], np.zeros((3, 3))
        about_com[np.triu_indices(3)] = self.estimates[4:]
        return Payload(mass, com, about_com + np.triu(about_com, 1).T, link=self.link)

    @property
    def estimates(self) -> Array:
        """Mass, center of mass and inertia about it, in the order of `names`, (10,)."""
        return inertia.dyn_from_reg(self.parameters)

    @property
    def standard_deviations(self) -> Array:
        """Standard deviations of `estimates` to first order, (10,), infinite where not determined."""
        slopes = self._slopes()
        deviations = np.sqrt(np.maximum(np.einsum("ia,ab,ib->i", slopes, self.covariance, slopes), 0.0))
        hidden = (np.abs(slopes[:, ~self.determined]) > _STEP).any(axis=1)
        return np.where(hidden, np.inf, deviations)

    def _slopes(self) -> Array:
        """Return the derivatives of `estimates` by `parameters`, (10, 10)."""
        steps = _STEP * np.maximum(np.abs(self.parameters), abs(self.parameters[0]))
        shifts = np.diag(steps)
        ahead, behind = (inertia.dyn_from_reg(self.parameters + sign * shifts) for sign in (1.0, -1.0))
        return np.asarray(((ahead - behind) / (2.0 * steps[:, None])).T)

    def intervals(self, level: float = 0.95) -> Array:
        """Return confidence intervals of `estimates`, (10, 2), see `Identification.intervals`."""
        parts = self._slopes() ** 2 * np.diag(self.covariance)
        few = np.sum(parts**2 / self.freedom, axis=1)
        freedom = np.divide(parts.sum(axis=1) ** 2, few, out=np.full(10, np.inf), where=few > 0.0)
        return student_intervals(self.estimates, self.standard_deviations, freedom, level)

    def table(self) -> Table:
        """Return a table of mass, center of mass and inertia: name, value, standard deviation."""
        header = ["parameter", "value", "standard deviation"]
        return Table(header, zip(self.names, self.estimates, self.standard_deviations, strict=True))


def identify_payload(
    robot: Robot,
    loaded: Recorded | Sequence[Recorded],
    unloaded: Recorded | Sequence[Recorded] | None = None,
    *,
    link: int | str | None = None,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    prior: Payload | None = None,
    consistent: bool = True,
    regularization: float = 0.03,
    weights: Literal["auto"] | npt.ArrayLike = "auto",
    cutoff: float | None = None,
    hold: float = 0.0,
    resample: float | None = None,
    threads: int = 0,
) -> PayloadIdentification:
    """Identify mass, center of mass and inertia of a body fixed to a link.

    Parameters
    ----------
    robot : Robot
        Robot without the payload.
    loaded : SimulationResult, Log, path, LogFile, or sequence of these
        Logs with the payload, of any length.
    unloaded : SimulationResult, Log, path, LogFile, or sequence of these, optional
        Logs without it. The parameters `unknown` of the robot are then identified in the same problem, and what the
        robot's parameters are wrong by does not enter the payload. Default: the parameters of `robot` are trusted.
    link : int or str, optional
        Number or name of the link that carries the payload; default the last.
    unknown
        As in `identify`; only with `unloaded`.
    prior : Payload, optional
        Body from which the consistent fit measures its divergence; default a ball of water with the mass and center
        found by least squares.
    consistent : bool
        Restrict the fit to bodies that can exist: a positive definite pseudo-inertia.
    regularization : float
        Weight of the divergence from the prior; see `identify`. The default suits a ball, whose moments of inertia may
        be several times too small; a larger one shifts what torques show too.
    weights, cutoff, hold, resample, threads
        As in `identify`.

    Returns
    -------
    PayloadIdentification
        Payload and its uncertainty.

    Raises
    ------
    ThunderError
        If an argument is invalid, or the consistent fit has no prior because least squares finds no positive mass.

    Notes
    -----
    The payload adds the columns of its link to the regressor: ``tau = Y pi + Y_link pi_payload``. The consistent fit
    eliminates the robot's parameters from the normal equations, which is exact, and minimizes the remaining squares
    plus the entropic divergence of the payload's pseudo-inertia from the prior.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.identification import Log, identify_payload
    >>> robot, t = th.Robot.load("panda"), np.arange(0.0, 10.0, 5e-3)
    >>> motion = th.reference.Sinusoid([0.5] * 7, np.arange(3, 10) / 10.0, center=[0, 0, 0, -1.5, 0, 1.8, 0])
    >>> q, dq, ddq = motion(t)
    >>> box = th.Payload(2.0, com=(0.02, 0.0, 0.1), inertia=0.01 * np.eye(3))
    >>> tau = box.added_to(robot).inverse_dynamics(q, dq, ddq)
    >>> tau += np.random.default_rng(0).normal(scale=0.05, size=tau.shape)
    >>> found = identify_payload(robot, Log(t=t, q=q, dq=dq, ddq=ddq, tau=tau))
    >>> round(found.payload.mass, 2), found.payload.com.round(3).tolist()
    (2.0, [0.02, 0.0, 0.1])
    >>> bool(found.standard_deviations[0] < 0.01)
    True
    """
    index = Payload(0.0, link=link).link_index(robot)
    if unloaded is None and unknown is not None:
        raise ThunderError("unknown must be None without unloaded logs: the robot's parameters are trusted")
    noise = given_noise(weights, robot.n)
    body = 10 * (index - 1) + np.arange(10)
    others = np.zeros(0, dtype=np.intp) if unloaded is None else _base(robot, unknown)
    problem = Problem(
        robot=robot,
        logs=as_sources(robot, loaded),
        theta0=all_parameters(robot),
        mask=np.ones(all_parameters(robot).size, dtype=bool),
        base=BaseParameters(np.concatenate([others, body]), np.zeros((0, 0)), 1.0, ()),
        columns=(),
        noise=None,
        gamma=None,
        offsets=False,
        filtering=Filtering(cutoff, nonnegative(hold, "hold"), resample),
        threads=threads,
    )
    plan = problem.layout()
    parts = [_sums(problem, plan)]
    if unloaded is not None:
        empty = dataclasses.replace(problem, logs=as_sources(robot, unloaded))
        parts.append(_without_payload(*_sums(empty, plan)))
    data, gain = _merged(parts)
    found = fit_reweighted(data) if noise is None else fit(data, np.sqrt(gain) * noise[plan.joints])
    parameters = found.deviation[others.size :]
    own, (covariance, freedom, sources) = slice(others.size, None), uncertainty(data, found, 1.0 / gain)
    if consistent:
        squares = _squares(data, found, others.size, gain, prior)
        parameters = solve_consistent(squares, positive(regularization, "regularization"))
    return PayloadIdentification(
        parameters=parameters,
        covariance=covariance[own, own],
        freedom=freedom[own],
        sources=sources,
        determined=found.determined[own],
        link=index,
        noise=found.noise,
        condition=found.condition,
        consistent=consistent,
    )


def _base(
    robot: Robot, unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None
) -> npt.NDArray[np.intp]:
    """Return the independent columns of the robot's unknown parameters."""
    chosen, elastic = selection(robot, unknown)
    return extended(chosen.base_parameters(), elastic, all_names(robot)).independent


def _sums(problem: Problem, plan: RegressorColumns) -> tuple[Data, float]:
    """Return the sums over the logs, and the noise gain of their filter."""
    e = problem.robot.e
    sums, gain = problem.sums(plan, Linearization(np.zeros(e), problem.robot))
    return problem.data(plan, sums, np.ones(e), np.ones(plan.joints.size))[0], gain


def _without_payload(data: Data, gain: float) -> tuple[Data, float]:
    """Take the columns of the payload, the last ten, out of the sums."""
    present = np.ones(data.pull.shape[-1])
    present[-10:] = 0.0
    errors = data.errors * present * present[:, None]
    blocks, kept = data.blocks, np.append(present, 1.0)
    assert blocks is not None
    blocks = blocks._replace(factors=blocks.factors * kept, logs=-1 - blocks.logs)
    return Data(data.factors * kept, data.count, data.scale, errors, data.pull * present, blocks), gain


def _merged(parts: Sequence[tuple[Data, float]]) -> tuple[Data, float]:
    """Return the sums of all logs, and their mean noise gain."""
    counts, blocks = np.array([data.count for data, _ in parts]), [data.blocks for data, _ in parts if data.blocks]
    data = Data(
        factors=np.concatenate([data.factors for data, _ in parts], axis=1),
        count=float(counts.sum()),
        scale=np.sqrt(counts @ np.array([data.scale**2 for data, _ in parts]) / counts.sum()),
        errors=np.sum([data.errors for data, _ in parts], axis=0),
        pull=np.sum([data.pull for data, _ in parts], axis=0),
        blocks=joined(blocks),
    )
    return data, float(counts @ [gain for _, gain in parts] / counts.sum())


def _squares(data: Data, found: Fit, count: int, gain: float, prior: Payload | None) -> ConsistentProblem:
    """Return the squares of the payload's parameters with the first `count` ones eliminated, and their prior."""
    R, z = _remaining(data, found, count)
    return ConsistentProblem(
        R=R * gain**0.5,
        z=z * gain**0.5,
        prior=_ball(found.deviation[count:], found.determined[count]) if prior is None else prior.parameters,
        unknown=np.arange(10),
        links=np.zeros(1, dtype=np.intp),
        positive=np.zeros(0, dtype=np.intp),
        names=tuple(f"payload.{name}" for name in _NAMES),
    )


def _remaining(data: Data, found: Fit, count: int) -> tuple[Array, Array]:
    """Return R and z of the squares |R x - z|^2 of the payload's parameters, the first `count` ones eliminated."""
    weighted = data.factors / found.noise[:, None, None]
    lengths = np.linalg.norm(weighted.reshape(-1, weighted.shape[-1])[:, :-1], axis=0)
    lengths[lengths == 0.0] = 1.0
    rows = np.linalg.pinv(lengths[:, None] * found.basis * found.gains) * lengths
    z = rows @ found.deviation
    U, s, _ = np.linalg.svd(rows[:, :count] / lengths[:count], full_matrices=False)
    U = U[:, s > 1e-9 * s[0]] if s.size else U[:, :0]
    left = np.column_stack([rows[:, count:], z])
    R = np.asarray(np.linalg.qr(left - U @ (U.T @ left), mode="r"))[:10]
    return R[:, :-1], R[:, -1]


def _ball(parameters: Array, determined: np.bool_) -> Array:
    """Return the parameters of a ball of water with the mass and center of these."""
    mass = float(parameters[0])
    if not determined or mass <= 0.0:
        found = f"found {mass:.3g} kg" if determined else "do not determine it"
        raise ThunderError(
            f"prior must be given, because the logs must show a positive mass of the payload, and {found}"
        )
    radius = (3.0 * mass / (4.0 * np.pi * _DENSITY)) ** (1.0 / 3.0)
    ball = Payload(mass, parameters[1:4] / mass, 0.4 * mass * radius**2 * np.eye(3))
    return ball.parameters
