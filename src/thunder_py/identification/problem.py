"""An identification problem, and the sums over its logs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..model.parameters import BaseParameters
from ..parallel import available_threads, one_blas_thread
from ..robot import Robot
from .equations import Columns
from .intervals import MOST_LOGS, block_length
from .least_squares import SMALLEST_NOISE, Data, scale_of
from .log import LogSource
from .nonlinear import Guess, Nonlinear
from .offsets import Offsets, without_offsets
from .samples import Filter
from .sensors import SensorCalibration
from .sums import Layout, Sums, close_log, layout, sums_of_window, total
from .triangle import r_factor
from .windows import Filtering, Window, windows

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Logs, prior, and what is unknown.

    Attributes
    ----------
    robot : Robot
        The robot.
    logs : tuple of LogSource
        Its logs.
    loaded : int
        Number of logs with a payload, the last ones.
    theta0 : (P,) array
        Prior of all parameters.
    mask : (P,) bool array
        True for those that are unknown.
    base : BaseParameters
        Base parameters of these.
    columns : tuple of Columns
        Further columns; those of friction come first.
    body : (10,) int array
        Parameters of the link that carries a payload.
    payload : (10,) array or None
        Known REG parameters of the payload, zero without one; None for an unknown one.
    sensors : SensorCalibration
        Known values of sensors, and initial ones of unknown values.
    unknown : Nonlinear
        Nonlinear parameters.
    noise : (n,) array or None
        Standard deviations of torques before the filter; None where these are estimated.
    consistent : bool or "payload"
        Whether all parameters, or those of the payload, are restricted to physically consistent ones.
    gamma : float
        Weight of the divergence from the prior.
    ball : (10,) array or None
        Prior of an unknown payload; None for a ball of water.
    offsets : bool
        Whether offsets of springs are estimated.
    filtering : Filtering
        Conversion of logs to samples.
    threads : int
        Threads; 0 is one per core.
    """

    robot: Robot
    logs: tuple[LogSource, ...]
    loaded: int
    theta0: Array
    mask: npt.NDArray[np.bool_]
    base: BaseParameters
    columns: tuple[Columns, ...]
    body: npt.NDArray[np.intp]
    payload: Array | None
    sensors: SensorCalibration
    unknown: Nonlinear
    noise: Array | None
    consistent: bool | Literal["payload"]
    gamma: float
    ball: Array | None
    offsets: bool
    filtering: Filtering
    threads: int

    def layout(self, guess: Guess) -> Layout:
        """Return the columns and rows of the equations of a pass."""
        first = next(self.logs[0].chunks(self.robot, 1), None)
        return layout(
            robot=self.robot,
            theta0=self.theta0,
            base=self.base.independent,
            sensed=first is not None and first.joint_torque is not None,
            further=guess.columns,
            body=self.body,
            payload=self.payload,
            unknown=self.unknown,
            slopes=guess.slopes,
            tried=len(guess.tried),
            offsets=self.offsets,
        )

    def sums(self, plan: Layout, guess: Guess) -> tuple[Sums, float]:
        """Return the sums over all logs, and the variance of white noise after the filter relative to that before.

        The filter leaves different numbers of independent samples in logs with different periods. Their instants count
        in proportion to that number.
        """
        found: dict[float, Sums] = {}
        L = len(self.logs)
        # windows have threads; those of linear algebra would wait for each other at every small factor
        with one_blas_thread():
            instants = 2**62 if guess.thinned else sum(log.rows() for log in self.logs)
            length = block_length(instants, plan.joints.size, plan.columns.size + 1)
            for k, log in enumerate(self.logs):
                number = k * min(MOST_LOGS, L) // L
                sums, conversion = self._of_log(log, plan, guess, k >= L - self.loaded, number, length)
                gain = conversion.gains[0]
                found[gain] = found[gain] + sums if gain in found else sums
        counts = {gain: float(sums.totals["count"]) for gain, sums in found.items()}
        mean = sum(gain * count for gain, count in counts.items()) / sum(counts.values())
        return total(sums.scaled(gain / mean) if gain != mean else sums for gain, sums in found.items()), mean

    def data(self, plan: Layout, sums: Sums, slopes: Array, weight: Array) -> tuple[Data, Offsets | None]:
        """Return the least-squares data of sums, with offsets as in `without_offsets`, or raise."""
        totals, count = sums.totals, float(sums.totals["count"])
        if count < 1.0:
            raise ThunderError("t must hold instants further than two periods of the cutoff from the ends of a log")
        blocks, offsets = without_offsets(plan, sums.blocks, slopes, weight)
        factors = np.stack([r_factor(row.reshape(-1, row.shape[-1])) for row in blocks.factors])
        measured, prior = (np.sqrt(totals[name] / count) for name in ("torque", "expected"))
        dead = (measured == 0.0) & (prior > SMALLEST_NOISE * prior.max())
        if dead.any():
            j = int(np.argmax(dead))
            raise ThunderError(
                f"tau must not be zero throughout at {self.robot.joint_names[j]}, where the prior's torque has a root "
                f"mean square of {prior[j]:.3g}: was it measured?"
            )
        errors = totals["errors"]
        scale, errors, pull = scale_of(measured)[plan.joints], errors[:, :-1, :-1], errors[:, :-1, -1]
        return Data(factors, count, scale, errors, pull, blocks), offsets

    def _of_log(
        self, log: LogSource, plan: Layout, guess: Guess, loaded: bool, number: int, length: float
    ) -> tuple[Sums, Filter]:
        parts: list[tuple[Sums, Filter]] = []

        def one(window: Window) -> tuple[Sums, Filter]:
            if (window.log.joint_torque is None) == (plan.joints.size > self.robot.n + self.robot.e):
                raise ThunderError("joint_torque must be in all logs or in none")
            return sums_of_window(plan, window, guess, loaded, number, length), window.filter

        source = windows(self.robot, log, self.filtering)
        for sums, conversion in in_order(one, source, self.threads or available_threads()):
            parts = [(parts[0][0] + sums if parts else sums, conversion)]
        sums, conversion = parts[0]
        return close_log(plan, sums, conversion, guess, loaded), conversion


def in_order(function: Callable[[_Item], _Result], items: Iterable[_Item], threads: int) -> Iterator[_Result]:
    """Apply a function to each item in threads, with a few items in memory, and yield the results in order."""
    iterator = iter(items)
    first = next(iterator, None)
    if first is None:
        return
    second = next(iterator, None) if threads > 1 else None
    if second is None:
        yield function(first)
        yield from map(function, iterator)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[_Result]] = deque([pool.submit(function, first), pool.submit(function, second)])
        for item in iterator:
            if len(waiting) > threads:
                yield waiting.popleft().result()
            waiting.append(pool.submit(function, item))
        while waiting:
            yield waiting.popleft().result()
