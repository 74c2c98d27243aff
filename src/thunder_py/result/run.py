"""What a simulation leaves behind: arrays over time, figures of merit, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._core import Status
from ..checks import Array
from ..description import RobotDescription
from ..errors import ThunderError
from ..robot import Robot
from ..values import frozen, set_fields
from .condition import ConditionNumbers, condition_numbers
from .energy import EnergyBalance, energy_balance
from .files import load_run, save_run
from .lyapunov import Lyapunov, lyapunov_function
from .metrics import Metrics
from .names import ALWAYS_LOGGED, MOTORS_LOGGED

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

    from ..plotting.meshes import Meshes
    from ..simulation.payload import Payload

__all__ = ["Result"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Result(Metrics):
    """A closed-loop run: k logged instants of a robot with n joints, e of them elastic.

    Attributes
    ----------
    t : (k,) array
        Time [s]; evenly spaced but for the last instant, which is always logged.
    q, dq : (k, n) array
        Joint positions and velocities.
    tau : (k, n) array
        Torque as applied, after any limit, held until the next control period.
    status : (k,) int array
        `thunder_py.control.Status` of each step.
    signals : mapping of str to (k, w) array
        What the controller logged; `error`, `s` and `parameters` are attributes too.
    names : mapping of str to tuple of str
        Of the ``joints``, of the joints whose ``motors`` are in `x`, and of the entries of each signal.
    x, dx : (k, e) array
        Positions and velocities of the motors of elastic joints; without such joints they have no columns.
    description : RobotDescription or None
        Of the plant as it was before it picked up anything, if it was a `Robot`.
    payloads : tuple of Payload
        What it picked up.
    held : bool
        Whether each torque was constant until the next logged instant.
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
        """Check that the arrays belong together and make everything read-only."""
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
        """Names of what is always there, the motors' only if there are any."""
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
    def s(self) -> Array:
        """Velocity error dq_r - dq, (k, n)."""
        return self._signal("s")

    @property
    def parameters(self) -> Array:
        """Estimate of all parameters, (k, p), named by ``names["parameters"]``."""
        return self._signal("parameters")

    @cached_property
    def plant(self) -> Robot | None:
        """The robot that was simulated, before it picked up anything; None for a plant written in Python."""
        return None if self.description is None else Robot(self.description)

    def energy(self) -> EnergyBalance:
        """Return kinetic and potential energy, and where they come from and go; see `EnergyBalance`."""
        return energy_balance(self)

    def condition_numbers(self, frame: int | str | None = None) -> ConditionNumbers:
        """Return the condition numbers of M(q), of its estimate and of the Jacobian of a frame over time, (k,) each.

        Parameters
        ----------
        frame : int or str, optional
            Default the end effector.
        """
        return condition_numbers(self, frame)

    def lyapunov(self, controller: object) -> Lyapunov:
        """Return the Lyapunov function of a controller along this run, and its derivative, (k,) each.

        Parameters
        ----------
        controller : object
            With a method ``lyapunov(robot, result)`` that returns V, (k,); gains as they were in the run. Where it has
            ``lyapunov_dot(robot, result)`` too, and that returns V_dot and not None, this is the derivative, otherwise
            differences of V are. ``robot`` is the plant with what it carries.
        """
        return lyapunov_function(self, controller)

    def plot(self, *, axes: Sequence[Axes] | None = None) -> npt.NDArray[np.object_]:
        """Draw error norm, torques and, if any moved, estimates; see `thunder_py.plotting.plot_result`."""
        from ..plotting.result import plot_result

        return plot_result(self, axes=axes)

    def animate(
        self,
        path: str | Path | None = None,
        *,
        robot: Robot | None = None,
        reference: Callable[[float], Any] | None = None,
        meshes: Meshes | None = None,
        seconds_per_second: float = 1.0,
        fps: float = 20.0,
        dpi: int = 72,
    ) -> FuncAnimation:
        """Show the run as a film: the arm moves, and its end effector leaves a trace.

        Parameters
        ----------
        path : str or path, optional
            Write it there: ``.gif``, or ``.mp4``, for which the program ffmpeg is needed.
        robot : Robot, optional
            What to draw; default the plant.
        reference : callable, optional
            What the controller followed, of joints or of poses: its path is drawn as well.
        meshes : Meshes, optional
            What links look like, of the URDF that `robot` was loaded from.
        seconds_per_second : float
            Seconds of the run in each second of the film.
        fps : float
            Pictures per second of the film.
        dpi : int
            Dots per inch in the file.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            As of `thunder_py.plotting.animate`; show it in a notebook with ``to_jshtml``.

        Raises
        ------
        ThunderError
            The plant was no `Robot` and `robot` is not given, another argument is wrong, or there is no ffmpeg.
        """
        from ..plotting.result_film import animate_result

        return animate_result(
            self,
            path,
            robot=robot,
            reference=reference,
            meshes=meshes,
            seconds_per_second=seconds_per_second,
            fps=fps,
            dpi=dpi,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a flat dict of arrays, signals under their names, and ``names``."""
        fields = {name: getattr(self, name) for name in self._columns()}
        return {**fields, **self.signals, "names": {key: tuple(value) for key, value in self.names.items()}}

    def save(self, path: str | Path) -> None:
        """Write to an ``.npz`` file: complete or not at all, and without pickles.

        Parameters
        ----------
        path : str or path
            Ends in ``.npz``.
        """
        save_run(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read a file that `save` wrote.

        Raises
        ------
        FileFormatError
            For any other file.
        """
        return load_run(cls, path)

    def __repr__(self) -> str:
        """Length, size and how it ended."""
        last = Status(int(self.status[-1])).name
        return f"<Result: {self.t[-1]:g} s, {len(self.t)} instants, {self.q.shape[1]} joints, last status {last}>"
