"""Thunder article, Figures 6-10, Tables 6 and 7: effect of K_d, Gamma and adaptation on a Panda along a curve."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...control import Backstepping
from ...reference import Lissajous
from ...robot import Robot
from ...robot.joint_data import Friction
from ..draws import Draws
from ..lissajous.run import (
    AMPLITUDE,
    DRAWN,
    FREQUENCY,
    K_P,
    LAMBDA,
    START,
    Run,
    draw_last_link,
    follow_lissajous,
    link_7_adaptation,
)
from ..parallel import map_seeds
from ..tables import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CASES", "ArticleGains", "Case", "controller_of", "curve", "panda_with_friction", "run", "run_article_gains"]


class Case(NamedTuple):
    """Setting of the article.

    Attributes
    ----------
    K_d : tuple of float
        Damping gains [N m s/rad].
    r_7 : float
        Scale of Gamma.
    steady_state, rise_time : float
        Norm of e and rise time [s] printed in Tables 6 and 7.
    """

    K_d: tuple[float, ...]
    r_7: float
    steady_state: float
    rise_time: float


_K_D_2 = (10.0, 10.0, 10.0, 10.0, 5.0, 5.0, 2.0)
#: Tables 6 and 7; their middle columns are the same experiment
CASES: dict[str, Case] = {
    "K_d1": Case((5.0, 5.0, 5.0, 5.0, 3.0, 3.0, 1.0), 10.0, 0.0258, 15.102),
    "K_d2": Case(_K_D_2, 10.0, 0.0219, 19.612),
    "K_d3": Case((30.0, 30.0, 30.0, 30.0, 15.0, 15.0, 5.0), 10.0, 0.0226, 15.961),
    "r_7 = 1": Case(_K_D_2, 1.0, 0.0136, 3.668),
    "r_7 = 10": Case(_K_D_2, 10.0, 0.0219, 19.612),
    "r_7 = 100": Case(_K_D_2, 100.0, 0.1204, 23.572),
}
TABLES = {"Table 6": ("K_d1", "K_d2", "K_d3"), "Table 7": ("r_7 = 1", "r_7 = 10", "r_7 = 100")}

#: not printed in the article; fitted to its Tables 6 and 7, once for all six settings
FRICTION = 0.5  # Coulomb friction of each joint [N m]
SLOWER = 4.0  # Gamma as a multiple of that of `run_lissajous_panda`
#: factor on the task gain K_p for Figure 10, with which the error without adaptation is as large as in the article
SOFT = 0.3
DURATION = 40.0  # [s]


def panda_with_friction(coulomb: float = FRICTION) -> Robot:
    """Return the bundled Panda with Coulomb friction in every joint, unknown to the controllers."""
    robot = Robot.load("panda")
    friction = Friction(terms=("coulomb",), coefficients=np.full((robot.n, 1), coulomb))
    return Robot(dataclasses.replace(robot.description, friction=friction))


def curve(robot: Robot) -> Lissajous:
    """Return the article's curve (eq. 37, Figure 5), starting at the flange of a Panda at rest."""
    return Lissajous.starting_at(robot.forward_kinematics(START), AMPLITUDE, FREQUENCY)


def controller_of(
    nominal: Robot,
    K_d: npt.ArrayLike = _K_D_2,
    r_7: float = 10.0,
    *,
    K_p: npt.ArrayLike = K_P,
    Lambda: npt.ArrayLike = LAMBDA,
    slower: float = SLOWER,
    adaptive: bool = True,
) -> Backstepping:
    """Return the article's controller for a Panda with unknown link 7."""
    law = link_7_adaptation(slower * r_7) if adaptive else None
    return Backstepping(nominal, Lambda, K_p, K_d, adaptation=law, posture=None)


@dataclass(frozen=True, kw_only=True, eq=False)
class ArticleGains:
    """Runs for every setting of Tables 6 and 7, and without adaptation.

    Attributes
    ----------
    truth : Robot
        The Panda.
    reference : Lissajous
        Reference of all runs.
    ideal, friction : dict of str to Run
        By `CASES`, and ``"fixed"`` without adaptation, ``"fixed, soft"`` also with `SOFT` K_p; on a plant that differs
        from the controller's model in link 7 only, and on one with `FRICTION`.
    untuned : dict of str to Run
        By `CASES`, without the fitted values: no friction, and Gamma as in `run_lissajous_panda` instead of `SLOWER`.
    draws : Draws, optional
        Steady states and rise times with friction over several initial models of link 7.
    """

    truth: Robot
    reference: Lissajous
    ideal: Mapping[str, Run]
    friction: Mapping[str, Run]
    untuned: Mapping[str, Run]
    draws: Draws | None = None

    def table(self) -> str:
        """Return Tables 6 and 7 and the errors of Figure 10 with the article's numbers and ours, as Markdown."""
        parts = [f"{name}\n\n{self.settings(name)}" for name in TABLES]
        parts.append(f"Figure 10\n\n{self.adaptation()}")
        if self.draws is not None:
            parts.append(f"With friction, {self.draws.table()}")
        return "\n\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the printed values and the figures of merit of all runs, by plant and setting."""
        plants = {"with_friction": self.friction, "without_friction": self.ideal, "untuned": self.untuned}
        return {
            "article": {name: {"steady_state_norm": case.steady_state, "rise_time_s": case.rise_time}
                        for name, case in CASES.items()},
            **{plant: {name: run.to_dict() for name, run in runs.items()} for plant, runs in plants.items()},
            "draws": None if self.draws is None else self.draws.to_dict(),
        }  # fmt: skip

    def settings(self, name: str) -> str:
        """Return ``"Table 6"`` or ``"Table 7"`` as Markdown; "with friction" is fitted, "untuned" is not."""
        ours = ["with friction", "without", "untuned"]
        header = ["", "steady state: article", *ours, "rise time [s]: article", *ours]
        rows = []
        for case in TABLES[name]:
            runs = (self.friction[case], self.ideal[case], self.untuned[case])
            states, rises = ([run.steady_state.norm for run in runs], [_rise(run) for run in runs])
            rows.append([case, CASES[case].steady_state, *states, CASES[case].rise_time, *rises])
        return markdown(header, rows)

    def adaptation(self) -> str:
        """Return the steady states of Figure 10 as Markdown; the article has 0.9 and an order of magnitude less."""
        rows: list[list[object]] = []
        settings = {
            "adaptive": ("K_d2", "0.02 to 0.09"),
            "not adaptive": ("fixed", "about 0.9"),
            f"not adaptive, {SOFT:g} K_p": ("fixed, soft", "about 0.9"),
        }
        for label, (key, printed) in settings.items():
            rows.append([label, printed, self.friction[key].steady_state.norm, self.ideal[key].steady_state.norm])
        return markdown(["norm of e", "article", "with friction", "without"], rows)

    def plot(self) -> Figure:
        """Draw errors and estimates on the plant with friction."""
        from .figure import plot_gains

        return plot_gains(self)

    def plot_curve(self) -> Figure:
        """Draw Figure 5, the curve, and the motion of the flange in the last period."""
        from .figure import plot_curve

        return plot_curve(self)

    def plot_errors(self, table: str) -> Figure:
        """Draw Figure 6 (``"Table 6"``) or 8 (``"Table 7"``) for both plants."""
        from .figure import plot_errors

        return plot_errors(self, table)

    def plot_estimates(self, table: str) -> Figure:
        """Draw Figure 7 (``"Table 6"``) or 9 (``"Table 7"``) for the plant with friction."""
        from .figure import plot_estimates

        return plot_estimates(self, table)

    def plot_adaptation(self) -> Figure:
        """Draw Figure 10 for the plant with friction."""
        from .figure import plot_adaptation

        return plot_adaptation(self)


def _rise(run: Run) -> float | str:
    rise = run.rise_time
    return f"> {run.result.t[-1] - run.window:g}" if rise is None else rise


def run_article_gains(duration: float = DURATION, *, seeds: int = 0, jobs: int = 1) -> ArticleGains:
    """Simulate every setting of Tables 6 and 7 with friction, without and untuned, and runs without adaptation.

    Parameters
    ----------
    duration : float
        Duration of every run [s].
    seeds : int
        Number of initial models of link 7 for which the settings are compared with friction; the first is the
        article's. 0 leaves the comparison out.
    jobs : int
        Number of processes for it.

    Notes
    -----
    The article prints K_d and r_7, but neither Lambda and K_p, nor r_m, r_c and r_I, nor the friction in its simulator.
    Lambda and K_p are those of `run_lissajous_panda`. `FRICTION` and `SLOWER` are two numbers for all runs, fitted to
    the printed steady states and rise times. `ArticleGains.untuned` has neither.
    """
    truth, plant = Robot.load("panda"), panda_with_friction()
    friction = _cases(plant, duration)
    draws = None
    if seeds:
        rows = map_seeds(partial(_figures_of_seed, duration), range(1, seeds), jobs=jobs, description="gains")
        draws = Draws.of(DRAWN, [_figures(friction), *rows])
    return ArticleGains(
        truth=truth,
        reference=curve(truth),
        ideal=_cases(truth, duration) | _fixed(truth, duration),
        friction=friction | _fixed(plant, duration),
        untuned=_cases(truth, duration, slower=1.0),
        draws=draws,
    )


def _figures(runs: Mapping[str, Run]) -> dict[str, float | None]:
    states: dict[str, float | None] = {f"{name}: norm of e": runs[name].steady_state.norm for name in CASES}
    return states | {f"{name}: rise time [s]": runs[name].rise_time for name in CASES}


def _figures_of_seed(duration: float, seed: int) -> dict[str, float | None]:
    return _figures(_cases(panda_with_friction(), duration, seed=seed))


def _follow(plant: Robot, duration: float, seed: int = 0, **options: Any) -> Run:
    model = Robot.load("panda")
    return follow_lissajous(plant, controller_of(draw_last_link(model, seed), **options), curve(model), duration)


def _cases(plant: Robot, duration: float, slower: float = SLOWER, seed: int = 0) -> dict[str, Run]:
    same = {"r_7 = 10": "K_d2"}
    others = {name: case for name, case in CASES.items() if name not in same}
    runs = {name: _follow(plant, duration, seed, K_d=c.K_d, r_7=c.r_7, slower=slower) for name, c in others.items()}
    return runs | {name: runs[other] for name, other in same.items()}


def _fixed(plant: Robot, duration: float) -> dict[str, Run]:
    return {
        "fixed": _follow(plant, duration, adaptive=False),
        "fixed, soft": _follow(plant, duration, K_p=SOFT * np.array(K_P), adaptive=False),
    }


def run(quick: bool = False, *, seeds: int | None = None, jobs: int = 1) -> ArticleGains:
    """Run the experiment of the registry: 40 s each, or 15 s; `seeds` initial models of link 7."""
    duration, count = (15.0, 2) if quick else (DURATION, 5)
    return run_article_gains(duration, seeds=count if seeds is None else seeds, jobs=jobs)
