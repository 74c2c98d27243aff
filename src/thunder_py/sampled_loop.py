"""Stability of linear feedback that is sampled, delayed, filtered, and applied through drives with a lag."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .checks import Array, nonnegative, positive

#: growth that is not counted: it takes minutes, and rounding causes some [1/s]
_SLOWEST = 0.02
#: most periods of a delay; a longer one is sampled less often
_MOST_PERIODS = 12
#: ratios of consecutive gains of the search down to a share, and below; its bisections and least gain
_RATIO, _FINE, _COARSE, _BISECTIONS, _LEAST = 0.8, 1e-2, 0.25, 20, 1e-15
#: norm and terms of a Taylor series
_NORM, _TERMS = 0.25, 12

#: state of a sampled loop one period later (m, m), for shares of its position and its velocity gains
Transition = Callable[[float, float], Array]


def stable_rate(period: float, delay: float = 0.0) -> float:
    """Return the ratio of damping to inertia [1/s] beyond which a sampled loop oscillates with growing amplitude.

    Parameters
    ----------
    period : float
        Control period, over which the torque is constant [s].
    delay : float
        Further delay of the loop [s].

    Raises
    ------
    ValueError
        If `period` is not positive, or `delay` is negative.

    Notes
    -----
    2 sin(pi / (4 N + 2)) / period for a delay of N periods, derived in docs/theory/adaptive_control.md.

    Examples
    --------
    >>> from thunder_py.control import stable_rate
    >>> round(stable_rate(1e-3)), round(stable_rate(1e-3, delay=1e-3)), round(stable_rate(1e-3, delay=4e-3))
    (2000, 1000, 347)
    """
    T, late = positive(period, "period"), nonnegative(delay, "delay")
    return 2.0 * math.sin(math.pi / (4.0 * late / T + 2.0)) / T


@dataclass(frozen=True, eq=False)
class Channel:
    """What lies between the state of an arm and the torque that answers it.

    Attributes
    ----------
    period : float
        Period, over which a command is constant [s].
    delay : float
        Delay of sensors, communication and drives together, any share of a period [s].
    lag : float or (n,) array
        Time constants of the drives, ``lag tau' = u - tau`` [s]; 0 for none.
    damping : float or (n,) array
        Damping by the drives' back EMF [N m s/rad].
    compensated : bool
        Whether commands compensate this damping with the velocities that they see.
    filter : (array, array) or None
        Estimate of velocities from positions, ``v_k = sum_i b_i q_(k-i) - sum_i a_i v_(k-i)`` with b from i = 0 and
        a from i = 1; None for measured ones.
    """

    period: float
    delay: float = 0.0
    lag: npt.ArrayLike = 0.0
    damping: npt.ArrayLike = 0.0
    compensated: bool = False
    filter: tuple[Array, Array] | None = None

    def __str__(self) -> str:
        """Return its parts in words."""
        text = f"a control period of {self.period:g} s and a delay of {self.delay:g} s"
        if np.any(self.lag):
            text += f", a lag of {np.max(self.lag):.3g} s"
        return text if self.filter is None else text + ", a filter of velocities"


def growth(transition: Array, period: float) -> float:
    """Return the largest rate with which states grow [1/s]; negative if all decay."""
    radius = float(np.abs(np.linalg.eigvals(transition)).max()) if np.isfinite(transition).all() else math.inf
    return math.log(max(radius, 1e-300)) / period


class Excess(NamedTuple):
    """What makes a sampled loop unstable.

    Attributes
    ----------
    gain : {"velocity", "position", "neither"}
        Feedback that is too high; neither where the loop is unstable with less of both: what is compensated, such as
        gravity, is late.
    share : float
        Factor of the gain with which the loop is at its limit; 0 for none.
    """

    gain: Literal["velocity", "position", "neither"]
    share: float


def excess(transition: Transition, period: float, ideal: float = 0.0) -> Excess | None:
    """Return what makes a sampled loop unstable, None for a stable one.

    Parameters
    ----------
    transition : callable
        State one period later (m, m), for shares of the gains of positions and velocities.
    period : float
        Period of `transition` [s].
    ideal : float
        Growth of the loop without sampling, delay and lag [1/s]; up to twice that is not due to these.
    """

    def stable(position: float, velocity: float) -> bool:
        return growth(transition(position, velocity), period) <= allowed(ideal)

    if stable(1.0, 1.0):
        return None
    if stable(0.0, 1.0):
        return Excess("position", _largest(lambda share: stable(share, 1.0)))
    together = _largest(lambda share: stable(1.0, share))
    share = together if together > 0.0 else _largest(lambda share: stable(0.0, share))
    return Excess("velocity" if share > 0.0 else "neither", share)


def allowed(ideal: float) -> float:
    """Return the growth that is not due to sampling, delay and lag, with that of the loop without them [1/s]."""
    return 2.0 * max(ideal, 0.0) + _SLOWEST


def _largest(stable: Callable[[float], bool]) -> float:
    """Return the largest share below 1 that is stable; 0 for none."""
    high, share = 1.0, _RATIO
    while not stable(share):
        high, share = share, share * (_RATIO if share > _FINE else _COARSE)
        if share < _LEAST:
            return 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (share + high)
        share, high = (middle, high) if stable(middle) else (share, middle)
    return share


class Arm(NamedTuple):
    """An arm and its feedback near a position of rest: ``M q'' + F q' + G q = tau``, ``tau = G q - K q - D q'``.

    Attributes
    ----------
    M, G : (n, n) array
        Inertia, and derivative of the gravity torques.
    K, D : (n, n) array
        Feedback of positions, besides the compensation of gravity, and of velocities.
    F : (n,) array or float
        Viscous friction of the joints that the feedback does not compensate.
    """

    M: Array
    G: Array
    K: Array
    D: Array
    F: npt.ArrayLike = 0.0

    def growth(self) -> float:
        """Return the growth [1/s] without sampling, delay and lag."""
        n = len(self.M)
        rates = np.linalg.solve(self.M, np.hstack([-self.K, -self.D - np.diag(np.broadcast_to(self.F, (n,)))]))
        A = np.vstack([np.eye(n, 2 * n, n), rates])
        return float(np.linalg.eigvals(A).real.max())


def sampled_loop(arm: Arm, channel: Channel) -> tuple[Transition, float]:
    """Return the transition of an arm whose torques go through a channel, and its period.

    Parameters
    ----------
    arm : Arm
        Linear arm and feedback.
    channel : Channel
        Sampling, delay, lag and filter.

    Notes
    -----
    The state holds q, q', the torques of drives with a lag, the commands under way and the memory of the filter.
    Between samples it is integrated exactly. Delays of many periods are sampled less often, with the same mean delay.
    """
    T, late = channel.period, channel.delay
    if channel.filter is None and late > _MOST_PERIODS * T:
        coarse = late / _MOST_PERIODS
        T, late = coarse, late - 0.5 * (coarse - T)
    plant, into = _plant(arm, channel)
    n, size = len(arm.M), len(plant)
    periods = math.ceil(late / T - 1e-9)
    first = late - (periods - 1) * T if periods else T  # of the period with the oldest command
    step, begin = _held(plant, into, min(first, T))
    rest, end = _held(plant, into, T - min(first, T))
    held, memory = rest @ step, _memory(channel, n)
    oldest, newest = (rest @ begin, end) if periods else (rest @ begin + end, np.zeros_like(end))
    emf = np.diag(np.broadcast_to(channel.damping, (n,))) if channel.compensated else np.zeros((n, n))
    total = size + n * periods + len(memory.advance)

    def transition(position: float, velocity: float) -> Array:
        measured = np.zeros((2 * n, total))
        measured[:n, :n] = np.eye(n)
        measured[n:, : 2 * n] = memory.direct
        measured[n:, size + n * periods :] = memory.kept
        command = np.hstack([arm.G - position * arm.K, emf - velocity * arm.D]) @ measured
        A = np.zeros((total, total))
        A[:size, :size] = held
        line = np.vstack([np.eye(total)[size : size + n * periods], command])  # oldest command first
        A[:size] += oldest @ line[:n] + (newest @ line[n : 2 * n] if periods else 0.0)
        A[size : size + n * periods] = line[n:]
        A[size + n * periods :, : 2 * n] = memory.enter
        A[size + n * periods :, size + n * periods :] = memory.advance
        return A

    return transition, T


def _plant(arm: Arm, channel: Channel) -> tuple[Array, Array]:
    """Return the rates of q, q' and lagging torques, by these and by commands."""
    n, inverse = len(arm.M), np.linalg.inv(arm.M)
    T, d = (np.broadcast_to(np.asarray(value, dtype=np.float64), (n,)) for value in (channel.lag, channel.damping))
    late = np.flatnonzero(T > 0.0)
    size, prompt = 2 * n + len(late), np.where(T > 0.0, 0.0, 1.0)
    A, B = np.zeros((size, size)), np.zeros((size, n))
    A[:n, n : 2 * n] = np.eye(n)
    A[n : 2 * n, :n] = -inverse @ arm.G
    A[n : 2 * n, n : 2 * n] = -inverse * (prompt * d + np.broadcast_to(arm.F, (n,)))
    A[n : 2 * n, 2 * n :] = inverse[:, late]
    A[2 * n :, n : 2 * n] = -np.diag(d / np.maximum(T, 1e-300))[late]
    A[2 * n :, 2 * n :] = -np.diag(1.0 / T[late])
    B[n : 2 * n] = inverse * prompt
    B[2 * n :] = np.diag(1.0 / np.maximum(T, 1e-300))[late]
    return A, B


def _held(A: Array, B: Array, time: float) -> tuple[Array, Array]:
    """Return the transition over a time with a constant input."""
    n, m = B.shape
    A = time * np.block([[A, B], [np.zeros((m, n + m))]])
    squarings = max(0, math.ceil(math.log2(max(np.abs(A).sum(axis=0).max(), 1e-300) / _NORM)))
    A /= 2.0**squarings
    whole = term = np.eye(n + m)
    for k in range(1, _TERMS):
        term = term @ A / k
        whole = whole + term
    for _ in range(squarings):
        whole = whole @ whole
    return whole[:n, :n], whole[:n, n:]


class _Memory(NamedTuple):
    """A filter of velocities: v = direct (q, q') + kept memory, and the memory's next value."""

    direct: Array
    kept: Array
    enter: Array
    advance: Array


def _memory(channel: Channel, n: int) -> _Memory:
    unit, none = np.eye(n), np.zeros((n, n))
    if channel.filter is None:
        return _Memory(np.hstack([none, unit]), np.zeros((n, 0)), np.zeros((0, 2 * n)), np.zeros((0, 0)))
    b, a = channel.filter  # memory: sum of what of the past will be added, i samples later (transposed direct form)
    order = max(len(b) - 1, len(a))
    b, a = (np.pad(part, (0, count - len(part))) for part, count in ((b, order + 1), (a, order)))
    advance = np.diag(np.ones(order - 1), 1) if order else np.zeros((0, 0))
    advance[:, 0] -= a
    enter = b[1:] - a * b[0]
    enters: Array = np.asarray(np.kron(enter[:, None], np.hstack([unit, none])), dtype=np.float64)
    advances: Array = np.asarray(np.kron(advance, unit), dtype=np.float64)
    return _Memory(np.hstack([b[0] * unit, none]), np.eye(n, n * order), enters, advances)
