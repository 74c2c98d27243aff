"""What following a reference with a CLIK leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .._core import Status
from ..checks import Array
from ..values import Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CLIKResult"]


@dataclass(frozen=True, kw_only=True, eq=False)
class CLIKResult(Value):
    """A CLIK's motion along a reference, one row for each of k instants.

    Attributes
    ----------
    t : (k,) array
        [s].
    q, dq, ddq : (k, n) array
        Joint motion. For order 1, ddq is the numeric derivative of dq; for order 2 it is what the law gave.
    error : (k, m) array
        Task error, desired minus actual, in the rows of the task.
    manipulability : (k,) array
        sqrt(det(J J')) of the rows of the task.
    status : (k,) int array
        `Status` of each step.
    rows, joint_names : tuple of str
        Names of the columns.
    """

    t: Array
    q: Array
    dq: Array
    ddq: Array
    error: Array
    manipulability: Array
    status: npt.NDArray[np.int64]
    rows: tuple[str, ...]
    joint_names: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every step had an answer: none was singular or invalid."""
        return bool((self.status <= Status.saturated).all())

    def error_norm(self) -> Array:
        """Return the Euclidean norm of the error over time, (k,)."""
        norm: Array = np.linalg.norm(self.error, axis=1)
        return norm

    def plot(self, *, axes: Sequence[Axes] | None = None) -> npt.NDArray[np.object_]:
        """Draw joint positions and velocities, the error and the manipulability; see `plotting.plot_clik`."""
        from ..plotting.clik import plot_clik

        return plot_clik(self, axes=axes)

    def __repr__(self) -> str:
        """Length, size and how it ended."""
        last = Status(int(self.status[-1])).name
        return (
            f"<CLIKResult: {self.t[-1]:g} s, {len(self.t)} instants, {self.q.shape[1]} joints, "
            f"error {self.error_norm()[-1]:.3g}, last status {last}>"
        )
