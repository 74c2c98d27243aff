"""Common part of the dynamic movement primitives: a learned core that moves a step at a time."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, one_of, positive
from ...errors import NotFittedError, ThunderError, ThunderWarning, outer_level
from ...values import Estimator, Stateful
from .bases import FITS, PhaseBasis
from .dynamic_potential import DynamicPotential, spheres_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: largest number of coordinates of the core
_MOST = 16
#: longest inner step of a rollout, in parts of its duration or period
_INNER = 2e-3
#: largest growth of a motion without warning; it is 1 for demonstrations that end farthest from their start, and 2 for
#: those that end at half their extent, which `FPCA` and ``rotodilatation="auto"`` take as the limit
_MOST_GROWTH = 2.0

_Core = TypeVar("_Core", _core.Dmp, _core.QuaternionDmp)


class DMPState(NamedTuple):
    """State of a primitive after a step: `x`, `dx`, `ddx`, each (d,)."""

    x: Array
    dx: Array
    ddx: Array


class SteppedPrimitive(Estimator, Stateful, Generic[_Core]):
    """Movement primitive with a core that is learned, then started, then stepped."""

    K: float
    D: float | None
    _method: str
    _core: _Core | None = None
    _running: bool = False
    #: `fit` is a method
    _stored_as: ClassVar[Mapping[str, str]] = MappingProxyType({"fit": "_method"})

    def _damping(self) -> float:
        """Return D, by default the critical one, after checks of the arguments of all primitives."""
        one_of(self._method, FITS, "fit")
        K = positive(self.K, "K")
        return 2.0 * math.sqrt(K) if self.D is None else positive(self.D, "D")

    def _learned_core(self) -> _Core:
        if self._core is None:
            raise NotFittedError(f"{type(self).__name__} must be fitted before it moves: call fit first")
        return self._core

    def _started(self) -> _Core:
        if not self._running:
            raise ThunderError(f"{type(self).__name__} must be started before it steps: call reset first")
        return self._learned_core()

    @property
    def phase(self) -> float:
        """Phase x, decreasing from 1 to 0."""
        return self._started().phase

    @property
    def tau(self) -> float:
        """Time scale [s]: the duration, of a rhythmic primitive the period divided by 2 pi.

        It may be set between steps; phase, position and velocity are continuous.
        """
        return self._started().tau

    @tau.setter
    def tau(self, value: float) -> None:
        self._started().set_tau(positive(value, "tau"))


class PositionPrimitive(SteppedPrimitive[_core.Dmp]):
    """Movement primitive of up to 16 coordinates, among obstacles."""

    basis_: PhaseBasis
    weights_: Array

    def step(self, dt: float) -> DMPState:
        """Advance the motion by dt [s], and return its state."""
        self._started().step(positive(dt, "dt"))
        return self.state

    @property
    def state(self) -> DMPState:
        """State of the motion."""
        core = self._started()
        return DMPState(core.x, core.dx, core.ddx)

    @property
    def goal(self) -> Array:
        """Current goal, (d,); may be set between steps."""
        return self._started().goal

    @goal.setter
    def goal(self, value: npt.ArrayLike) -> None:
        core = self._started()
        core.set_goal(array(value, (core.dimension,), "goal"))

    def forcing(self, x: npt.ArrayLike) -> Array:
        """Return the learned f(x), (k, d), at phases x (k,)."""
        return self.basis_.forcing(self.weights_, x)

    def plot_basis(self, *, ax: Axes | None = None) -> Axes:
        """Draw the normalized basis functions over a duration or period.

        Parameters
        ----------
        ax : Axes, optional
            Default a new figure.

        Returns
        -------
        Axes
            The panel drawn.
        """
        from .plot import plot_dmp_basis

        return plot_dmp_basis(self._basis(), ax=ax)

    def _basis(self) -> PhaseBasis:
        """Return the basis of the arguments of the constructor."""
        raise NotImplementedError

    def _filter(self, time_constant: float) -> None:
        """Set the filter of new goals of the motion that begins."""
        if time_constant != 0.0:
            positive(time_constant, "goal_filter")
        self._learned_core().set_goal_filter(float(time_constant))


def check_coordinates(count: int, what: str) -> None:
    """Refuse a number of coordinates that the core does not have."""
    if not 1 <= count <= _MOST:
        raise ThunderError(f"{what} must have 1 to {_MOST} coordinates, got {count}")


def warn_growth(way: Array, shown: Array, extent: Array) -> None:
    """Warn of forcing terms that are scaled up from a small displacement.

    A coordinate whose forcing is scaled by ``way / shown`` moves ``extent way / shown``. That is compared with the
    larger one of the demonstrated extent and of the new displacement.

    Parameters
    ----------
    way, shown : (k,) array
        Absolute displacements of the motion and of the demonstration.
    extent : (k,) array
        Extents of the demonstration.
    """
    reach = np.minimum(way, extent)
    far = reach > _MOST_GROWTH * shown
    if far.any():
        worst = int(np.argmax(np.where(far, reach / np.maximum(shown, np.finfo(float).tiny), 0.0)))
        warnings.warn(
            f"the motion is longer and faster than {_MOST_GROWTH:g} times the demonstration, scaled to its goal, since "
            f"the demonstration ends {shown[worst]:.3g} from its start, of an extent of {extent[worst]:.3g}: use "
            "scaling='hoffmann' with rotodilatation=False, or demonstrations like the motion",
            ThunderWarning,
            stacklevel=outer_level(),
        )


def place(core: _core.Dmp, obstacles: Any, potential: DynamicPotential | None) -> None:
    """Put obstacles in the space of the first three coordinates."""
    m = min(3, core.dimension)
    field = DynamicPotential() if potential is None else potential
    if not isinstance(field, DynamicPotential):
        raise ThunderError(f"potential must be a DynamicPotential, got {type(field).__name__}")
    core.set_obstacles(field.in_dimension(m), spheres_of(obstacles, m))


def sample(core: _core.Dmp, end: float, steps: int, scale: float) -> tuple[Array, ...]:
    """Integrate from the state of the core until a time.

    Parameters
    ----------
    core : Dmp
        After its reset; it moves.
    end : float
        End [s].
    steps : int
        Number of samples after the first.
    scale : float
        Duration or period [s], of which integration steps are a small part.

    Returns
    -------
    tuple of arrays
        Times (k,), position and its three derivatives (k, d).
    """
    step = end / steps
    values = core._rollout(steps, step, max(1, math.ceil(step / (_INNER * scale) - 1e-9)))
    return np.linspace(0.0, end, steps + 1), *values
