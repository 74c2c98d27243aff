"""Verdict on a grasp from the pictures that were taken after its plan was final."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...checks import Array
from .outcome import InterceptionReason

if TYPE_CHECKING:
    from ..._core import BezierPath
    from .filter import ConstantVelocityFilter

#: bound of the probability of a false alarm
ERROR = 1e-3
#: quantiles for it: chi-square with three degrees of freedom (outliers), and one-sided normal (distance)
_GATE, _NORMAL = 16.266, 3.090
_SAME_TIME = 1e-9  # of pictures that are one picture [s]


class Sighting(NamedTuple):
    """A measurement as the interceptor got it.

    Attributes
    ----------
    available, taken : float
        Time at which it was passed, and time of its picture [s].
    position : (3,) array
        Measured position [m].
    """

    available: float
    taken: float
    position: Array


class GraspLimits(NamedTuple):
    """Limits of a grasp, as in `InterceptionOptions`.

    Attributes
    ----------
    tolerance : float
        Distance over which the hand can close [m].
    least_speed, greatest_speed : float
        Speeds of an object along the belt [m/s].
    longest_silence : float
        Time without a picture after which an object may have vanished [s].
    """

    tolerance: float
    least_speed: float
    greatest_speed: float
    longest_silence: float


class PlannedGrasp(NamedTuple):
    """The last plan of an interception.

    Attributes
    ----------
    frozen : float
        Time from which on the plan did not change [s].
    arrival, closed : float
        t_f, and the time at which the hand has closed [s].
    position : (3,) array
        Position of the measured point of the object in the closed hand, at the time `closed` [m].
    path : BezierPath
        Path of the hand from then on.
    direction : (3,) array
        Direction of the belt.
    """

    frozen: float
    arrival: float
    closed: float
    position: Array
    path: BezierPath
    direction: Array


@dataclass
class _Track:
    """A Kalman filter with the state (p, v), and -2 log of the likelihood of its pictures."""

    filter: ConstantVelocityFilter
    time: float
    x: Array
    P: Array
    cost: float = 0.0

    def to(self, t: float, change: Array | None = None) -> _Track:
        """Return the prediction at time t, with the covariance (3, 3) of a change of velocity at an instant before."""
        h = t - self.time
        F = np.eye(6)
        F[:3, 3:] = h * np.eye(3)
        Q = self.filter.process_covariance(h, self.x[3:])
        if change is not None:  # the instant has a uniform distribution
            Q += np.kron([[h * h / 3.0, h / 2.0], [h / 2.0, 1.0]], change)
        return _Track(self.filter, t, F @ self.x, F @ self.P @ F.T + Q, self.cost)

    def after(self, seen: Sighting, change: Array | None = None) -> _Track:
        """Return the state after a picture, which counts as an outlier where that is more likely."""
        made = self.to(seen.taken, change)
        R = self.filter.measurement_covariance
        S = made.P[:3, :3] + R
        innovation = seen.position - made.x[:3]
        cost = float(innovation @ np.linalg.solve(S, innovation))
        cost += float(np.linalg.slogdet(S)[1] - np.linalg.slogdet(R)[1])
        if cost > _GATE and change is None:  # a change is dated by a good picture
            return replace(self, cost=self.cost + _GATE)
        L = np.linalg.solve(S, made.P[:3]).T
        J = np.eye(6)
        J[:, :3] -= L
        return _Track(self.filter, made.time, made.x + L @ innovation, J @ made.P @ J.T + L @ R @ L.T, self.cost + cost)

    def through(self, pictures: Sequence[Sighting]) -> _Track:
        track = self
        for seen in pictures:
            track = track.after(seen)
        return track


def grasp_verdict(
    sightings: Sequence[Sighting],
    estimator: ConstantVelocityFilter,
    plan: PlannedGrasp,
    options: GraspLimits,
    until: float,
) -> InterceptionReason:
    """Decide whether later pictures contradict a grasp.

    Parameters
    ----------
    sightings : sequence of Sighting
        All measurements.
    estimator : ConstantVelocityFilter
        The filter before the first of them.
    plan : PlannedGrasp
        The grasp.
    options : GraspLimits
        Limits.
    until : float
        Present time [s]. Later measurements are not used.

    Returns
    -------
    InterceptionReason
        ``none`` without a contradiction.

    Notes
    -----
    The state and covariance of the filter when the plan became final predict the later pictures. Three hypotheses
    explain these: the motion goes on; it does until the hand has closed, and then the object moves with the hand; or
    the velocity changed before that, at an instant between two pictures, along the belt or in any direction, with a
    standard deviation of `greatest_speed`. In each, a picture is a good one, with the density of its innovation, or an
    outlier, with the density of a good one at the 0.999 quantile of the chi-square distribution. A single wrong picture
    costs all of them the same; several that agree are explained by a change alone. The most likely one of the m changes
    is accepted if its likelihood ratio to the better one of the other hypotheses exceeds 1000 m. The mean of a
    likelihood ratio under the other hypothesis is 1. So a change is found wrongly with a probability of at most 0.001
    (Markov's inequality, summed over m), whatever the rate of the pictures.

    The grasp is contradicted if the object was beyond `tolerance` from the hand when this had closed, by more than 3.09
    standard deviations of the estimate of the accepted hypothesis.

    Without any picture since the arrival, for longer than `longest_silence`, the object has vanished if that many
    missing pictures have a probability of less than 0.001, given the median interval and the fraction missing before.
    """
    known = [seen for seen in sightings if seen.available <= until]
    used = _replayed([seen for seen in known if seen.available <= plan.frozen], estimator)
    if not used.started:
        return InterceptionReason.none
    later = _pictures([seen for seen in known if seen.taken > used.time + _SAME_TIME])
    track = _likely(_Track(estimator, used.time, *used.estimate()), later, plan, options)
    if _beyond(track.to(plan.closed), plan, options.tolerance):
        return _reason(track.x[3:], plan, options)
    silent = _vanished(_pictures(known), plan, options, until)
    return InterceptionReason.silent if silent else InterceptionReason.none


def _replayed(sightings: Sequence[Sighting], estimator: ConstantVelocityFilter) -> ConstantVelocityFilter:
    import copy

    used = copy.copy(estimator)
    for seen in sightings:
        used.update(seen.taken, seen.position)
    return used


def _pictures(sightings: Sequence[Sighting]) -> list[Sighting]:
    """Return measured positions by the time of their pictures, without repetitions: frozen sources see nothing."""
    kept: list[Sighting] = []
    for seen in sorted(sightings, key=lambda seen: seen.taken):
        if not np.isfinite(seen.position).all():
            continue
        if kept and (seen.taken - kept[-1].taken < _SAME_TIME or np.array_equal(seen.position, kept[-1].position)):
            continue
        kept.append(seen)
    return kept


def _likely(start: _Track, pictures: Sequence[Sighting], plan: PlannedGrasp, options: GraspLimits) -> _Track:
    """Return the track of the accepted hypothesis; without a change, at the last picture before the hand has closed."""
    during = [seen for seen in pictures if seen.taken <= plan.closed]
    after = pictures[len(during) :]
    steady = [start]
    for seen in during:
        steady.append(steady[-1].after(seen))
    last = steady[-1]
    least = min(last.through(after).cost, _carried(last, after, plan, options.tolerance).cost)
    instants = range(min(len(during) + 1, len(pictures)))
    change = options.greatest_speed**2 * np.eye(3)
    changes = change @ np.outer(plan.direction, plan.direction), change
    changed = [steady[k].after(pictures[k], c).through(pictures[k + 1 :]) for k in instants for c in changes]
    best = min(changed, key=lambda track: track.cost, default=last)
    return best if least - best.cost > 2.0 * np.log(max(len(changed), 1) / ERROR) else last


def _carried(track: _Track, after: Sequence[Sighting], plan: PlannedGrasp, slip: float) -> _Track:
    """Return the track, seen from the hand, of an object that moves with it after a slip of two standard deviations."""
    held = track.to(plan.closed)
    held.x[3:] = held.P[3:] = held.P[:, 3:] = 0.0
    held.P[:3, :3] += (0.5 * slip) ** 2 * np.eye(3)
    if after:
        way = plan.path.sample([seen.taken for seen in after])[:, :3] - plan.path.sample(plan.closed)[:3]
        for seen, shift in zip(after, way, strict=True):
            held = held.after(Sighting(seen.available, plan.closed, seen.position - shift))
    return held


def _beyond(track: _Track, plan: PlannedGrasp, tolerance: float) -> bool:
    """Return whether the object is out of the closed hand."""
    gap = track.x[:3] - plan.position
    distance = float(np.linalg.norm(gap))
    deviation = float(np.sqrt(gap @ track.P[:3, :3] @ gap)) / max(distance, 1e-12)
    return distance - tolerance > _NORMAL * deviation


def _reason(v: Array, plan: PlannedGrasp, options: GraspLimits) -> InterceptionReason:
    along = float(plan.direction @ v)
    if abs(along) < options.least_speed:
        return InterceptionReason.stopped
    if along < 0.0:
        return InterceptionReason.reversed
    return InterceptionReason.too_fast if np.linalg.norm(v) > options.greatest_speed else InterceptionReason.elsewhere


def _vanished(pictures: Sequence[Sighting], plan: PlannedGrasp, options: GraspLimits, until: float) -> bool:
    taken = np.array([seen.taken for seen in pictures])
    if len(taken) < 3 or taken[-1] >= plan.arrival:
        return False
    latency = float(np.median([seen.available - seen.taken for seen in pictures]))
    silence, interval = until - latency - taken[-1], float(np.median(np.diff(taken)))
    slots = round(float(taken[-1] - taken[0]) / interval)
    missing = (slots + 1 - len(taken) + 1) / (slots + 3)  # fraction, by the rule of succession
    return silence > options.longest_silence and missing ** int(silence / interval) < ERROR
