"""Pose sources: their measurements and protocol, and a simulated source."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from ..checks import (
    Array,
    all_nonnegative,
    finite,
    is_pose,
    nonnegative,
    numbers,
    of_kind,
    one_of,
    one_or_each,
    positive,
    whole,
    within,
)
from ..checks import pose as checked_pose
from ..errors import ThunderError
from ..spatial.single import make_pose
from ..values import Stateful, Value, set_fields

#: largest number of pictures in one poll; more indicates a wrong time
_MOST_PICTURES = 100_000


def next_time(t: Any, last: float) -> float:
    """Return a finite time that is not before the last one, or raise."""
    now = finite(t, "t")
    if now < last:
        raise ThunderError(f"t must not be before the last time, {last:g} s, got {now:g} s; reset() starts again")
    return now


def function(value: Any, what: str) -> Callable[..., Any]:
    """Return a function, or raise."""
    if not callable(value):
        raise ThunderError(f"{what} must be callable, got {value!r}")
    return cast("Callable[..., Any]", value)


@dataclass(frozen=True, eq=False)
class PoseMeasurement(Value):
    """A measured pose, or the record that nothing was seen.

    Attributes
    ----------
    time : float
        Time of the picture [s].
    available : float
        Time from which the result can be used [s], not before `time`.
    pose : (4, 4) array or None
        Pose of the target in the source's frame; None where nothing was seen. Values of a broken source are kept as
        they are, including NaN; see `usable`.
    quality : float
        Measure of confidence, 0 or more, defined by the source.

    Raises
    ------
    ThunderError
        If `available` is before `time`, or `pose` has another shape.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import PoseMeasurement
    >>> PoseMeasurement(time=0.10, available=0.18, pose=np.eye(4)).usable
    True
    >>> PoseMeasurement(time=0.13, available=0.21, pose=None, quality=0.0).usable
    False
    """

    time: float
    available: float
    pose: Array | None
    quality: float = 1.0

    def __post_init__(self) -> None:
        """Check times and shape, and keep a read-only copy of the pose."""
        time, available = finite(self.time, "time"), finite(self.available, "available")
        if available < time:
            raise ThunderError(f"available must not be before time, {time:g} s, got {available:g}")
        set_fields(self, time=time, available=available, quality=nonnegative(self.quality, "quality"))
        if self.pose is not None:
            pose = numbers(self.pose, "pose", 2)
            if pose.shape != (4, 4):
                raise ThunderError(f"pose must have shape (4, 4), got {pose.shape}")
            pose.setflags(write=False)
            set_fields(self, pose=pose)

    @property
    def usable(self) -> bool:
        """True if there is a pose and it is a rigid transform of finite numbers."""
        return self.pose is not None and is_pose(self.pose)


@runtime_checkable
class PoseSource(Protocol):
    """Protocol of pose sources. A control loop polls a source in each of its periods and never waits for it.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import PoseMeasurement, PoseSource
    >>> class ConstantPose:
    ...     def poll(self, t):
    ...         return [PoseMeasurement(t, t, np.eye(4))]
    ...     def reset(self):
    ...         pass
    >>> isinstance(ConstantPose(), PoseSource)
    True
    """

    def poll(self, t: float) -> list[PoseMeasurement]:
        """Return measurements that became available since the last poll, up to time `t` [s], in that order.

        Times of pictures may be out of order, and there may be several measurements or none. `t` must not decrease,
        except after `reset`.
        """

    def reset(self) -> None:
        """Start again."""


_KINDS = ("freeze", "jump", "nan")


@dataclass(frozen=True, eq=False)
class PoseFault(Value):
    """A fault of a pose source in an interval of time.

    Attributes
    ----------
    kind : {"freeze", "jump", "nan"}
        Repeat the last pose before the fault with new times; displace the pose; send NaN.
    start, stop : float
        Pictures with ``start <= time < stop`` are affected [s]; no end by default.
    offset : (4, 4) array
        Transform that multiplies the true pose from the left, for ``"jump"``.

    Raises
    ------
    ThunderError
        If kind, interval or offset is invalid.

    Examples
    --------
    >>> from thunder_py.perception import PoseFault
    >>> fault = PoseFault("freeze", start=0.5, stop=0.8)
    >>> fault.concerns(0.6), fault.concerns(0.8)
    (True, False)
    """

    kind: Literal["freeze", "jump", "nan"]
    start: float
    stop: float = np.inf
    offset: npt.ArrayLike = ((1.0, 0.0, 0.0, 0.5), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        """Check kind, interval and offset."""
        one_of(self.kind, _KINDS, "kind of a fault")
        set_fields(self, offset=checked_pose(self.offset, "offset of a fault"))
        _interval((self.start, self.stop), "a fault")

    def concerns(self, time: float) -> bool:
        """Return whether the fault affects a picture of this time [s]."""
        return self.start <= time < self.stop


class SampledPoseSource(Stateful):
    """Base of pose sources with a camera's rate, latency and drop-outs; a subclass implements `_see`.

    Parameters
    ----------
    grab : callable
        Returns the picture of a time [s], or None. It is called at the first poll at or after that time.
    rate : float
        Pictures per second [Hz].
    latency, jitter : float
        Delay of every measurement, and the largest additional one, uniform [s]; see `measurement_times`.
    dropout : float
        Probability that a picture has no result at all, 0 to 1; nothing is looked for in it.
    start : float
        Time of the first picture [s].
    seed : int
        Seed of delays and drop-outs.

    Raises
    ------
    ThunderError
        If an argument is invalid.
    """

    def __init__(
        self,
        grab: Callable[[float], Any],
        *,
        rate: float = 30.0,
        latency: float = 0.0,
        jitter: float = 0.0,
        dropout: float = 0.0,
        start: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._grab = function(grab, "grab")
        self._rate = positive(rate, "rate", "Hz")
        self._latency, self._jitter = nonnegative(latency, "latency", "s"), nonnegative(jitter, "jitter", "s")
        self._dropout = within(dropout, "dropout", 0.0, 1.0)
        self._start, self._seed = finite(start, "start"), whole(seed, "seed", 0)
        self.reset()

    def reset(self) -> None:
        """Start again, with the same noise."""
        self._rng = np.random.default_rng(self._seed)
        self._taken = 0
        self._now = -np.inf
        self._waiting: list[tuple[float, int, PoseMeasurement]] = []

    def poll(self, t: float) -> list[PoseMeasurement]:
        """Return measurements that became available since the last poll, up to time `t` [s], in that order.

        Raises
        ------
        ThunderError
            If `t` decreases, is not finite, or is more than 100000 pictures later; or a picture does not fit the
            camera.
        """
        now, taken = next_time(t, self._now), self._start + self._taken / self._rate
        if (now - taken) * self._rate > _MOST_PICTURES:
            raise ThunderError(
                f"t must not be more than {_MOST_PICTURES} pictures after the last one at {taken:g} s, got {now:g} s; "
                "clocks that do not begin near 0 need start="
            )
        self._now = now
        while (taken := self._start + self._taken / self._rate) <= now:
            delay, chance = self._rng.random(2)
            picture = self._grab(taken)  # of a dropped one too, so that its noise does not depend on the drop-outs
            if chance >= self._dropout:
                measured, quality = (None, 0.0) if picture is None else self._see(picture, taken)
                available = taken + self._latency + self._jitter * delay
                measurement = PoseMeasurement(taken, available, measured, quality)
                # the number of the picture orders measurements that become available together
                heapq.heappush(self._waiting, (available, self._taken, measurement))
            self._taken += 1
        ready = []
        while self._waiting and self._waiting[0][0] <= now:
            ready.append(heapq.heappop(self._waiting)[2])
        return ready

    def _see(self, picture: Any, taken: float) -> tuple[Array | None, float]:
        """Return pose and quality from the picture of this time."""
        raise NotImplementedError


class SimulatedPoseSource(SampledPoseSource):
    """Simulated pose source with a camera's rate, latency, noise and gaps.

    The noise is drawn in the order of the pictures, so measurements depend on the seed and not on the times of polls,
    and drop-outs and occlusions do not change the other measurements.

    Parameters
    ----------
    true_pose : callable
        Pose (4, 4) of the target at a time [s]. It is called at the first poll at or after that time, so it may read
        the state of a running simulation.
    position_noise : float or (3,) array_like
        Standard deviation along the axes of the frame of `true_pose` [m].
    rotation_noise : float or (3,) array_like
        Standard deviation about the target's own axes [rad].
    occlusions : sequence of (start, stop)
        Intervals [s] in which nothing is seen: measurements have the pose None.
    faults : sequence of PoseFault
        Faults; the last one that affects a picture counts.
    **timing
        Rate, latency, jitter, dropout, start and seed, see `SampledPoseSource`.

    Raises
    ------
    ThunderError
        If an argument is invalid.

    Examples
    --------
    >>> from thunder_py.perception import SimulatedPoseSource
    >>> from thunder_py.spatial import pose_from_rpy
    >>> source = SimulatedPoseSource(
    ...     lambda t: pose_from_rpy((0.5, 0.26 * t, 0.05)), rate=10.0, latency=0.08, occlusions=[(0.15, 0.25)])
    >>> for m in source.poll(0.4):
    ...     print(f"{m.time:.1f} {m.available:.2f}", m.usable and round(float(m.pose[1, 3]), 3))
    0.0 0.08 0.0
    0.1 0.18 0.026
    0.2 0.28 False
    0.3 0.38 0.078
    """

    def __init__(
        self,
        true_pose: Callable[[float], npt.ArrayLike],
        *,
        position_noise: npt.ArrayLike = 0.0,
        rotation_noise: npt.ArrayLike = 0.0,
        occlusions: Sequence[tuple[float, float]] = (),
        faults: Sequence[PoseFault] = (),
        **timing: Any,
    ) -> None:
        self._true_pose = function(true_pose, "true_pose")
        self._position_noise = all_nonnegative(one_or_each(position_noise, 3, "position_noise"), "position_noise")
        self._rotation_noise = all_nonnegative(one_or_each(rotation_noise, 3, "rotation_noise"), "rotation_noise")
        self._occlusions = tuple(_interval(pair, "an occlusion") for pair in _sequence(occlusions, "occlusions"))
        self._faults = tuple(of_kind(fault, PoseFault, "every fault") for fault in _sequence(faults, "faults"))
        super().__init__(self._measured, **timing)

    def reset(self) -> None:
        """Start again, with the same noise."""
        super().reset()
        self._frozen: Array | None = None

    def _see(self, picture: Any, taken: float) -> tuple[Array | None, float]:
        return picture, 1.0

    def _measured(self, taken: float) -> Array | None:
        shift, turn = self._rng.normal(size=(2, 3))
        fault = next((fault for fault in reversed(self._faults) if fault.concerns(taken)), None)
        T: Array | None
        if fault is not None and fault.kind == "nan":
            T = np.full((4, 4), np.nan)
        elif fault is not None and fault.kind == "freeze":
            T = self._frozen
        else:
            true = checked_pose(self._true_pose(taken), "true_pose(t)")
            moved = np.array(true) if fault is None else np.asarray(fault.offset) @ true
            R = moved[:3, :3] @ Rotation.from_rotvec(self._rotation_noise * turn).as_matrix()
            T = self._frozen = make_pose(R, moved[:3, 3] + self._position_noise * shift)
        hidden = any(start <= taken < stop for start, stop in self._occlusions)
        return None if hidden else T


def _interval(value: Any, what: str) -> tuple[float, float]:
    try:
        start, stop = map(float, value)
    except (TypeError, ValueError) as error:
        raise ThunderError(f"{what} must be an interval (start, stop) [s], got {value!r}") from error
    if not (np.isfinite(start) and start < stop):
        raise ThunderError(f"{what} must start at a finite time before its end, got {start:g} s and {stop:g} s")
    return start, stop


def _sequence(value: Any, what: str) -> tuple[Any, ...]:
    if not isinstance(value, Iterable):
        raise ThunderError(f"{what} must be a sequence, got {value!r}")
    return tuple(value)


def measurement_times(
    duration: float,
    rate: float,
    *,
    latency: float = 0.0,
    jitter: float = 0.0,
    dropout: float = 0.0,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Draw the times of a camera's measurements.

    Pictures are taken at 0, 1 / rate, 2 / rate, ... up to the duration. The result of each can be used after the
    latency and a further delay, uniform from 0 to the jitter; where the jitter is longer than a period, results
    overtake each other.

    Parameters
    ----------
    duration : float
        Duration [s], 0 for the picture at time 0 alone.
    rate : float
        Pictures per second [Hz].
    latency, jitter : float
        Delay of every result, and the largest additional one [s].
    dropout : float
        Probability, from 0 to 1, that a picture has no result.
    rng : numpy.random.Generator
        Two numbers are drawn for each picture, so delays do not depend on the drop-out probability.

    Returns
    -------
    taken : (K,) array
        Times of the pictures [s], ascending; without those that were dropped.
    available : (K,) array
        Times from which their results can be used [s], in the order of `taken`.

    Raises
    ------
    ThunderError
        If a number is out of range.
    """
    of_kind(rng, np.random.Generator, "rng")
    last = np.floor(nonnegative(duration, "duration", "s") * positive(rate, "rate", "Hz") * (1.0 + 1e-12))
    taken = np.arange(int(last) + 1) / rate
    delay, chance = rng.random((len(taken), 2)).T
    available = taken + nonnegative(latency, "latency", "s") + nonnegative(jitter, "jitter", "s") * delay
    kept = chance >= within(dropout, "dropout", 0.0, 1.0)
    return taken[kept], available[kept]
