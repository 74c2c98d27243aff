"""Thunder article, section 5: adaptive and fixed control of a Panda with a wrong model of its last link."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...control import Backstepping, GradientAdaptation, Status
from ...errors import ThunderError
from ...model import inertia
from ...parallel import Workers
from ...plotting.panels import new_panels
from ...plotting.style import LAW_COLORS, draw_lines, draw_truth, figure_of
from ...progress import percentage, reporting
from ...reference import Lissajous
from ...robot import Robot
from ...simulation import SimulationResult, simulate
from ..results import Varied, over_draws
from ..tables import markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: the franka "ready" configuration: far from singularities and limits, the flange points down
START = np.array([0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4])
AMPLITUDE = (0.10, 0.15, 0.10)  # A, B, C [m]
FREQUENCY = (0.2, 0.1, 0.4)  # a, b, c [Hz]
PERIOD = 10.0  # period of the curve [s]
CONTROL_PERIOD = 1e-3  # control period and integration step of the plant [s]
LOG_EVERY = 10  # control periods between logged instants

#: initial DYN row of the controller: m [kg], center of mass [m], inertia about it [kg m^2]
WRONG_LINK_7 = (2.5, 0.20, 0.20, 0.20, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
#: initial models of link 7 as drawn by `draw_last_link`
DRAWN = "initial model of link 7: first the article's, then 0.3 to 3 kg with its center of mass within a 0.4 m cube"

LAMBDA = (3.0, 3.0, 3.0, 2.0, 2.0, 2.0)  # [1/s]
K_P = (100.0, 100.0, 100.0, 20.0, 20.0, 20.0)  # [N/m, N m]
K_D = (10.0, 10.0, 10.0, 10.0, 5.0, 5.0, 2.0)  # the article's second set [N m s/rad]
R_7 = 10.0  # the article's middle value
R_M, R_C, R_I = 0.1, 1.0, 10.0  # for mass, first moments, inertia: they scale as 1, 1/l^2, 1/l^4 with l = 0.32 m

#: names of the entries of `LissajousPanda.link_7`
LINK_7_NAMES = ("m", "c_x", "c_y", "c_z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")

_POSITION, _ORIENTATION = slice(0, 3), slice(3, 6)
_TIMED_STEPS = 2000


class SteadyState(NamedTuple):
    """Steady-state errors, or ratios of two of them.

    Attributes
    ----------
    position : float
        Distance to the reference [m].
    orientation : float
        Angle to the reference [rad].
    norm : float
        Norm of e, as in the article.
    """

    position: float
    orientation: float
    norm: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """Closed-loop run and its figures of merit.

    Attributes
    ----------
    result : SimulationResult
        Simulation, logged at 100 Hz.
    window : float
        Length of the steady state, at the end of the run [s].
    steps_per_second : float
        Simulated control steps per second of computing time, with control, plant and logging.

    Examples
    --------
    >>> from thunder_py.papers import run_lissajous_panda
    >>> run = run_lissajous_panda(1.0).adaptive
    >>> run.position_error.shape, run.window, run.statuses
    ((101,), 0.5, ['ok'])
    """

    result: SimulationResult
    window: float
    steps_per_second: float

    @property
    def position_error(self) -> Array:
        """Distance to the reference over time, (k,) [m]."""
        return self.result.error_norm(_POSITION)

    @property
    def orientation_error(self) -> Array:
        """Angle to the reference over time, (k,) [rad]; below 90 degrees, where the law is defined."""
        return np.arcsin(np.minimum(self.result.error_norm(_ORIENTATION), 1.0))

    @property
    def steady_state(self) -> SteadyState:
        """Mean errors over the last `window` of the run."""
        last = self.result.t >= self.result.t[-1] - self.window
        errors = (self.position_error, self.orientation_error, self.result.error_norm())
        return SteadyState(*(float(np.mean(values[last])) for values in errors))

    @property
    def rise_time(self) -> float | None:
        """Time from which the norm of e stays at its steady state [s]; see `SimulationResult.rise_time`.

        None if the error has not settled before the window of the steady state.
        """
        t = self.result.t
        rise = self.result.rise_time(window=min(self.window / (t[-1] - t[0]), 1.0))
        return rise if rise <= t[-1] - self.window else None

    @property
    def statuses(self) -> list[str]:
        """Names of all logged statuses of the controller."""
        return [Status(int(status)).name for status in np.unique(self.result.status)]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of merit."""
        position, orientation, norm = self.steady_state
        return {
            "steady_state": {"position_m": position, "orientation_rad": orientation, "norm": norm},
            "rise_time_s": self.rise_time,
            "steps_per_second": self.steps_per_second,
            "statuses": self.statuses,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class LissajousPanda(Varied):
    """Results of the experiment.

    Attributes
    ----------
    robot, nominal : Robot
        The plant, and the initial model of both controllers.
    reference : Lissajous
        Reference of both runs.
    adaptive, fixed : Run
        Runs with and without adaptation, all else equal.
    step_times : (k,) array
        Durations of single ``controller.step`` calls from Python, at states of the adaptive run [s].

    Examples
    --------
    >>> from thunder_py.papers import run_lissajous_panda
    >>> experiment = run_lissajous_panda(1.0)
    >>> experiment.link_7["estimate"].shape, round(float(experiment.link_7["initial"][0]), 3)
    ((101, 10), 2.5)
    >>> experiment.to_result().names["fixed_error"] == experiment.fixed.result.names["error"]
    True
    """

    robot: Robot
    nominal: Robot
    reference: Lissajous
    adaptive: Run
    fixed: Run
    step_times: Array

    @property
    def link_7(self) -> dict[str, Array]:
        """Link 7 by `LINK_7_NAMES`, inertia about its frame: ``initial`` and ``truth`` (10,), ``estimate`` (k, 10)."""
        parameters = {
            "initial": self.nominal.parameters,
            "estimate": self.adaptive.result.parameters,
            "truth": self.robot.parameters,
        }
        return {name: _with_center_of_mass(pi[..., 60:70]) for name, pi in parameters.items()}

    @property
    def improvement(self) -> SteadyState:
        """Steady-state errors without adaptation as multiples of those with it."""
        return SteadyState(*np.divide(self.fixed.steady_state, self.adaptive.steady_state).tolist())

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain numbers, strings, lists and dicts."""
        median, p99 = np.percentile(self.step_times, [50, 99])
        link_7 = self.link_7
        return {
            "experiment": "lissajous_panda",
            "duration_s": float(self.adaptive.result.t[-1]),
            "control_period_s": CONTROL_PERIOD,
            "steady_state_window_s": self.adaptive.window,
            "adaptive": self.adaptive.to_dict(),
            "fixed": self.fixed.to_dict(),
            "improvement": self.improvement._asdict(),
            "control_step_s": {"median": float(median), "p99": float(p99)},
            "link7": {
                "names": list(LINK_7_NAMES),
                "initial": link_7["initial"].tolist(),
                "final": link_7["estimate"][-1].tolist(),
                "truth": link_7["truth"].tolist(),
            },
            **self.variations(),
        }

    def table(self) -> str:
        """Return steady states and rise times with adaptation and without, as Markdown."""
        runs = (self.adaptive, self.fixed)
        scales = {"position error [mm]": 1e3, "orientation error [deg]": np.degrees(1.0), "norm of e": 1.0}
        rows: list[list[object]] = [
            [name, *(scale * run.steady_state[k] for run in runs)] for k, (name, scale) in enumerate(scales.items())
        ]
        rows.append(["rise time [s]", *(run.rise_time or "does not settle" for run in runs)])
        return self.join(markdown(["steady state", "adaptive", "not adaptive"], rows))

    def plot(self, axes: Mapping[str, Axes] | None = None) -> Figure:
        """Draw tracking errors with and without adaptation, and the estimates of link 7 with the true values.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Axes to draw on, named as in `LISSAJOUS_PANELS`; default a new figure of pyplot.
        """
        ours = "$\\Lambda$, $K_p$, $r_m$, $r_c$ and $r_I$ are ours"
        title = f"Thunder article, Figures 7 and 10: Panda with a wrong link 7; {ours}"
        panels = new_panels(LISSAJOUS_PANELS, (12.0, 6.0), title)[1] if axes is None else axes
        runs, t = {"not adaptive": self.fixed, "backstepping": self.adaptive}, self.adaptive.result.t
        for name, degrees in (("position", False), ("orientation", True)):
            errors = {
                law: np.degrees(x.orientation_error) if degrees else 1e3 * x.position_error for law, x in runs.items()
            }
            # the initial error is zero, which has no logarithm
            draw_lines(panels[name], t[1:], {law: error[1:] for law, error in errors.items()}, *_LABELS[name], log=True)
            panels[name].set_xlim(t[0], t[-1])
        for name in list(_LABELS)[2:]:
            k = self.robot.parameter_names.index(f"link7.{name}")
            estimate = {"estimate": self.adaptive.result.parameters[:, k]}
            draw_lines(panels[name], t, estimate, *_LABELS[name], colors=[LAW_COLORS["backstepping"]])
            draw_truth(panels[name], self.robot.parameters[k])
        panels["m"].legend(loc="upper right", fontsize="small")
        panels["position"].legend(loc="center right", fontsize="small")
        return figure_of(panels["position"])

    def to_result(self) -> SimulationResult:
        """Return both runs as one result: the adaptive run, and the other's arrays as signals named ``fixed_...``."""
        mine, other = self.adaptive.result, self.fixed.result
        if not np.array_equal(mine.t, other.t):
            raise ThunderError(f"both runs must end at the same time, got {mine.t[-1]:g} s and {other.t[-1]:g} s")
        arrays = other.to_dict()
        names = arrays.pop("names")
        del arrays["t"]
        return replace(
            mine,
            signals={**mine.signals, **{f"fixed_{name}": values for name, values in arrays.items()}},
            names={**mine.names, **{f"fixed_{name}": labels for name, labels in names.items()}},
        )

    def save(self, path: str | Path) -> None:
        """Write both runs to one ``.npz`` file, from which `SimulationResult.load` reads the result of `to_result`."""
        self.to_result().save(path)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> LissajousPanda:
    """Run the experiment of the registry: 40 s, or 10 s; `seeds` initial models of link 7."""
    duration, count = (10.0, 2) if quick else (40.0, 10)
    first = run_lissajous_panda(duration)
    figures, count = _figures(first.adaptive, first.fixed), count if seeds is None else seeds
    return replace(first, draws=over_draws(DRAWN, figures, partial(_figures_of_seed, duration), count, workers))


def _figures(adaptive: Run, fixed: Run) -> dict[str, float | None]:
    return {
        "position, adaptive [mm]": 1e3 * adaptive.steady_state.position,
        "position, not adaptive [mm]": 1e3 * fixed.steady_state.position,
        "norm of e, adaptive": adaptive.steady_state.norm,
        "norm of e, not adaptive": fixed.steady_state.norm,
        "rise time, adaptive [s]": adaptive.rise_time,
    }


def _figures_of_seed(duration: float, seed: int) -> dict[str, float | None]:
    robot = Robot.load("panda")
    laws = (controller_of(draw_last_link(robot, seed), adaptive=adaptive) for adaptive in (True, False))
    return _figures(*(follow_lissajous(robot, law, curve(robot), duration) for law in laws))


def _with_center_of_mass(reg: Array) -> Array:
    m, mc, rest = np.split(reg, [1, 4], axis=-1)
    return np.concatenate([m, mc / m, rest], axis=-1)


def wrong_last_link(robot: Robot) -> Robot:
    """Return the initial model of the article's controllers: link 7 a point mass of 2.5 kg at (20, 20, 20) cm."""
    pi = robot.parameters.copy()
    pi[60:70] = inertia.reg_from_dyn(np.array(WRONG_LINK_7))
    return robot.with_parameters(pi)


def link_7_adaptation(r_7: float = R_7) -> GradientAdaptation:
    """Return the article's law for an unknown link 7, ``Gamma = r_7 diag(r_m, r_c x 3, r_I x 6)``."""
    return GradientAdaptation(r_7 * np.repeat([R_M, R_C, R_I], [1, 3, 6]), unknown="link7")


def draw_last_link(robot: Robot, seed: int) -> Robot:
    """Return an initial model: that of `wrong_last_link` for seed 0, a random point mass as link 7 for others."""
    if seed == 0:
        return wrong_last_link(robot)
    rng = np.random.default_rng(seed)
    body = [rng.uniform(0.3, 3.0), *rng.uniform(-0.2, 0.2, 3), *np.zeros(6)]
    return robot.with_parameters(np.concatenate([robot.parameters[:60], inertia.reg_from_dyn(np.array(body)),
                                                 robot.parameters[70:]]))  # fmt: skip


def curve(robot: Robot, *, centered: bool = False) -> Lissajous:
    """Return the article's curve (eq. 37, Figure 5).

    Parameters
    ----------
    robot : Robot
        The arm.
    centered : bool
        If False, the curve starts at the flange of the arm at rest; otherwise the flange is its center, as in the
        printed formula, and the initial error is B = 0.15 m along y (T-15).
    """
    T = robot.forward_kinematics(START)
    if centered:
        T[1, 3] += AMPLITUDE[1]
    return Lissajous.starting_at(T, AMPLITUDE, FREQUENCY)


def controller_of(
    nominal: Robot,
    K_d: npt.ArrayLike = K_D,
    r_7: float = R_7,
    *,
    K_p: float = 1.0,
    Lambda: float = 1.0,
    Gamma: float = 1.0,
    adaptive: bool = True,
) -> Backstepping:
    """Return the article's controller for a Panda with unknown link 7; K_p, Lambda and Gamma are factors on ours."""
    law = link_7_adaptation(Gamma * r_7) if adaptive else None
    return Backstepping(nominal, Lambda * np.array(LAMBDA), K_p * np.array(K_P), K_d, adaptation=law, posture=None)


def run_lissajous_panda(
    duration: float = 40.0, *, K_d: npt.ArrayLike = K_D, r_7: float = R_7, progress: bool = False
) -> LissajousPanda:
    """Follow the article's Lissajous curve at constant orientation, with adaptation of link 7 and without.

    The plant is the bundled Panda: fourth-order Runge-Kutta at 1 kHz, torque limits of the data sheet, control at
    1 kHz. It starts at rest at the start of the reference. Only link 7 is unknown, with the wrong initial values
    m = 2.5 kg, center of mass (0.20, 0.20, 0.20) m, zero inertia about it.

    Parameters
    ----------
    duration : float
        Duration of both runs [s]. Beyond 50 s the null space of the arm without adaptation drifts through a joint
        limit, which the plant does not model.
    K_d : (7,) array_like
        Damping gains [N m s/rad]; default the article's second set.
    r_7 : float
        Scale of Gamma, ``Gamma = r_7 diag(r_m, r_c x 3, r_I x 6)``; a large value adapts slowly.
    progress : bool
        Show two progress bars on the standard error stream.

    Returns
    -------
    LissajousPanda
        Both runs. The steady state is the last 10 s, one period of the curve, but at most half of the run.

    Raises
    ------
    ValueError
        If `duration` is below 0.02 s.

    Notes
    -----
    The article prints K_d and r_7; Lambda, K_p, r_m, r_c and r_I are chosen here, the latter such that a length of
    0.32 m makes kg, kg m and kg m^2 comparable. With r_I = 10 the inertia changes little, as in the article. The
    component c_z is along gravity at all times: the torques hardly depend on it, and it need not converge.

    Examples
    --------
    >>> from thunder_py.papers import run_lissajous_panda
    >>> experiment = run_lissajous_panda(2.0)
    >>> experiment.improvement.position > 2.0  # adaptation reduces the error
    True
    """
    duration = float(array(duration, (), "duration"))
    if duration < 2 * LOG_EVERY * CONTROL_PERIOD:
        raise ThunderError(f"duration must be at least {2 * LOG_EVERY * CONTROL_PERIOD:g} s, got {duration:g}")
    robot = Robot.load("panda")
    nominal = wrong_last_link(robot)
    reference = curve(robot)

    def follow(adaptive: bool, label: str) -> Run:
        bar = percentage(desc=label, bar_format="{desc} {percentage:3.0f}% |{bar:40}| {elapsed}")
        with reporting(progress, bar) as report:
            return follow_lissajous(
                robot, controller_of(nominal, K_d, r_7, adaptive=adaptive), reference, duration, report
            )

    adaptive = follow(True, "with adaptation   ")
    fixed = follow(False, "without adaptation")
    step_times = _time_steps(controller_of(nominal, K_d, r_7), reference, adaptive.result)
    return LissajousPanda(
        robot=robot, nominal=nominal, reference=reference, adaptive=adaptive, fixed=fixed, step_times=step_times
    )


def how_it_runs(robot: Robot) -> dict[str, Any]:
    """Return arguments of `simulate` and `RunSpec`: control period, start, torque limits, logged periods."""
    limits = robot.limits.effort
    return {"dt": CONTROL_PERIOD, "q0": START, "torque_limits": limits, "log_every": LOG_EVERY}


def follow_lissajous(
    robot: Robot,
    controller: Backstepping,
    reference: Lissajous,
    duration: float,
    progress: Callable[[float], object] | bool = False,
    **options: Any,
) -> Run:
    """Simulate a Panda from `START` along the curve as `run_lissajous_panda` does, with other options of `simulate`."""
    given = {"log": ("error", "parameters"), "progress": progress, **how_it_runs(robot), **options}
    start = time.perf_counter()
    result = simulate(robot, controller, reference, duration, **given)
    elapsed = time.perf_counter() - start
    steps = result.t[-1] / CONTROL_PERIOD
    return Run(result=result, window=min(PERIOD, duration / 2), steps_per_second=steps / elapsed)


def _time_steps(controller: Backstepping, reference: Lissajous, result: SimulationResult) -> Array:
    rows = np.linspace(0, len(result.t) - 1, _TIMED_STEPS).astype(int)
    times = np.empty(_TIMED_STEPS)
    for k, row in enumerate(rows):
        t, q, dq = k * CONTROL_PERIOD, result.q[row], result.dq[row]
        target = reference(float(result.t[row]))
        start = time.perf_counter()
        controller.step(t, q, dq, target)
        times[k] = time.perf_counter() - start
    return times


#: for `matplotlib.figure.Figure.subplot_mosaic`
#: panels of the figure, for `matplotlib.figure.Figure.subplot_mosaic`
LISSAJOUS_PANELS: list[Any] = [["position", "position", "m", "mcx"], ["orientation", "orientation", "mcy", "mcz"]]


#: title and label of the y axis
_LABELS = {
    "position": ("Figure 10: position", "position error [mm]"),
    "orientation": ("orientation", "orientation error [deg]"),
    "m": ("Figure 7: estimated mass of link 7", "$m$ [kg]"),
    "mcx": ("first moment, x", "$m c_x$ [kg m]"),
    "mcy": ("first moment, y", "$m c_y$ [kg m]"),
    "mcz": ("first moment, along gravity", "$m c_z$ [kg m]"),
}
