"""Thunder article, Figures 6-10, Tables 6 and 7: effect of K_d, Gamma and adaptation on a Panda along a curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...model.joint_data import Friction
from ...parallel import Workers, map_seeds
from ...reference import Lissajous
from ...robot import Robot
from ...simulation import RunSpec, Sensors, SimulationResult, simulate_many
from ..judgment.judge import FreeParameter, chosen, declared
from ..lissajous import run as article
from ..results import Draws, Varied, drawing
from ..tables import markdown


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

#: Coulomb friction of a Panda's joints [N m]: half of the steps that Gaz et al. identified, phi_1 = 0.54615, 0.87224,
#: 0.64068, 1.2794, 0.83904, 0.30301, 0.56489 ("Dynamic identification of the Franka Emika Panda robot", RA-L 2019)
FRICTION = (0.273, 0.436, 0.320, 0.640, 0.420, 0.152, 0.282)
DURATION = 40.0  # [s]
#: factors on our K_p, Lambda and Gamma in the published code, the backstepping controller of the authors' repository
#: CentroEPiaggio/panda_mact_controller: no gain before the task error, Lambda = (5, 5, 5, 2, 2, 2) 1/s, and Gamma = 1
#: for the mass, 10 for first moments at r_7 = 10
PUBLISHED: dict[str, Any] = {"K_p": 0.01, "Lambda": 5.0 / 3.0, "Gamma": 10.0}


def panda_with_friction(scale: float = 1.0) -> Robot:
    """Return the bundled Panda with `scale` times `FRICTION`, unknown to the controllers."""
    coefficients = scale * np.array(FRICTION)[:, None]
    return Robot.load("panda").replace(friction=Friction(terms=("coulomb",), coefficients=coefficients))


@dataclass(frozen=True, kw_only=True, eq=False)
class ArticleGains(Varied):
    """Runs for every setting of Tables 6 and 7, and without adaptation.

    Attributes
    ----------
    truth : Robot
        The Panda.
    reference : Lissajous
        Reference of all runs.
    ideal, friction : dict of str to Run
        By `CASES`, and ``"fixed"`` without adaptation: on a plant that differs from the controller's model in link 7
        only, and on one with the identified `FRICTION`.
    published : dict of str to Run
        The same with friction and the gains of the published code, `PUBLISHED`.
    """

    truth: Robot
    reference: Lissajous
    ideal: Mapping[str, article.Run]
    friction: Mapping[str, article.Run]
    published: Mapping[str, article.Run]

    def table(self) -> str:
        """Return Tables 6 and 7 and the errors of Figure 10 with the article's numbers and ours, as Markdown."""
        parts = [f"{name}\n\n{self.settings(name)}" for name in TABLES]
        return self.join(*parts, f"Figure 10\n\n{self.adaptation()}", title="With friction, ")

    def to_dict(self) -> dict[str, Any]:
        """Return the printed values and the figures of merit of all runs, by plant and setting."""
        plants = {"with_friction": self.friction, "without_friction": self.ideal, "published_code": self.published}
        return {
            "article": {name: {"steady_state_norm": case.steady_state, "rise_time_s": case.rise_time}
                        for name, case in CASES.items()},
            **{plant: {name: run.to_dict() for name, run in runs.items()} for plant, runs in plants.items()},
            **self.variations(),
        }  # fmt: skip

    def settings(self, name: str) -> str:
        """Return ``"Table 6"`` or ``"Table 7"`` as Markdown; "published code" are its gains, with friction."""
        ours = ["without friction", "with", "published code"]
        header = ["", "steady state: article", *ours, "rise time [s]: article", *ours]
        rows = []
        for case in TABLES[name]:
            runs = (self.ideal[case], self.friction[case], self.published[case])
            states, rises = ([run.steady_state.norm for run in runs], [_rise(run) for run in runs])
            rows.append([case, CASES[case].steady_state, *states, CASES[case].rise_time, *rises])
        return markdown(header, rows)

    def adaptation(self) -> str:
        """Return the steady states of Figure 10 as Markdown; the article has 0.9 and an order of magnitude less."""
        rows: list[list[object]] = []
        for label, key, printed in (("adaptive", "K_d2", "0.02 to 0.09"), ("not adaptive", "fixed", "about 0.9")):
            states = [runs[key].steady_state.norm for runs in (self.ideal, self.friction, self.published)]
            rows.append([label, printed, *states])
        return markdown(["norm of e", "article", "without friction", "with", "published code"], rows)

    plot = drawing("plot_gains")
    plot_curve = drawing("plot_curve")
    plot_errors = drawing("plot_errors")
    plot_estimates = drawing("plot_estimates")
    plot_adaptation = drawing("plot_adaptation")


def _rise(run: article.Run) -> float | str:
    rise = run.rise_time
    return f"> {run.result.t[-1] - run.window:g}" if rise is None else rise


def run_article_gains(duration: float = DURATION, *, seeds: int = 0, workers: Workers = 1) -> ArticleGains:
    """Simulate every setting of Tables 6 and 7 and the law without adaptation, for three plants and gains.

    Parameters
    ----------
    duration : float
        Duration of every run [s].
    seeds : int
        Number of initial models of link 7 for which the settings are compared with friction; the first is the
        article's. 0 leaves the comparison out.
    workers : Workers
        Where the runs are made, see `run_tasks`.

    Notes
    -----
    The article prints K_d and r_7, but neither Lambda and K_p, nor r_m, r_c and r_I, nor the friction of its plant.
    Ours are those of `run_lissajous_panda`; `judge_tables` varies them. Nothing is fitted to the article's numbers.
    """
    truth, plant = Robot.load("panda"), panda_with_friction()
    friction = _cases(plant, duration)
    draws = None
    if seeds:
        rows = map_seeds(partial(_figures_of_seed, duration), range(1, seeds), workers=workers, description="gains")
        draws = Draws.of(article.DRAWN, [_figures(friction), *rows])
    return ArticleGains(
        truth=truth,
        reference=article.curve(truth),
        ideal=_cases(truth, duration),
        friction=friction,
        published=_cases(plant, duration, **PUBLISHED),
        draws=draws,
    )


def _figures(runs: Mapping[str, article.Run]) -> dict[str, float | None]:
    states: dict[str, float | None] = {f"{name}: norm of e": runs[name].steady_state.norm for name in CASES}
    return states | {f"{name}: rise time [s]": runs[name].rise_time for name in CASES}


def _figures_of_seed(duration: float, seed: int) -> dict[str, float | None]:
    return _figures(_cases(panda_with_friction(), duration, seed=seed))


def _follow(plant: Robot, duration: float, seed: int = 0, **options: Any) -> article.Run:
    model = Robot.load("panda")
    law = article.controller_of(article.draw_last_link(model, seed), **options)
    return article.follow_lissajous(plant, law, article.curve(model), duration)


def _cases(plant: Robot, duration: float, *, seed: int = 0, **gains: Any) -> dict[str, article.Run]:
    same = {"r_7 = 10": "K_d2"}
    others = {name: case for name, case in CASES.items() if name not in same}
    runs = {name: _follow(plant, duration, seed, K_d=c.K_d, r_7=c.r_7, **gains) for name, c in others.items()}
    runs |= {name: runs[other] for name, other in same.items()}
    return runs if seed else runs | {"fixed": _follow(plant, duration, adaptive=False, **gains)}


#: quantities that section 5.1 does not print. "Published code" are settings of the authors' repository, `PUBLISHED`;
#: those of the runs in the article may differ
QUANTITIES = (
    FreeParameter("K_p", 1.0, (0.01, 0.1, 0.3, 3.0), "K_p / ours", "0.01 (1 N/m) in the published code"),
    FreeParameter("Lambda", 1.0, (0.3, 5.0 / 3.0, 3.0), "Lambda / ours", "1.7 in the published code"),
    FreeParameter("Gamma", 1.0, (0.3, 3.0, 10.0, 30.0), "Gamma / ours", "r_m, r_c, r_I; 10 in the published code"),
    FreeParameter("friction", 0.0, (0.5, 1.0, 2.0), "Coulomb friction / identified",
                  "Gazebo's model has none, an arm has"),
    FreeParameter("noise", 0.0, (1e-3, 1e-2), "noise of the velocity [rad/s]", "not mentioned"),
    FreeParameter("start", "on the curve", ("on the curve", "at its center"), "start of the arm",
                  "as printed, the curve "
              "begins 0.15 m from its center (T-15)"),
    FreeParameter("duration", DURATION, (30.0, 60.0), "length of a run [s]", "60 s in the published code"),
    FreeParameter("fraction", 0.1, (0.02, 0.05, 0.37), "rise time: remaining share", "rise time is not defined"),
)  # fmt: skip
_FIXED = "not adaptive"
_DIFFERENT = {name: case for name, case in CASES.items() if name != "r_7 = 10"}  # K_d2, too


def table_errors(*, scale: float = 1.0, workers: Workers = 1, **given: Any) -> dict[str, float]:
    """Return steady state and rise time [s] of every setting, and the steady state without adaptation.

    Parameters
    ----------
    K_p, Lambda, Gamma, friction, noise, start, duration, fraction
        See `QUANTITIES`.
    scale : float
        Factor on the duration, for short tests.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    """
    s = chosen(QUANTITIES, given)
    robot, plant, end = Robot.load("panda"), panda_with_friction(s.friction), scale * s.duration
    reference = article.curve(robot, centered=s.start != "on the curve")
    settings: dict[str, dict[str, Any]] = {name: {"K_d": c.K_d, "r_7": c.r_7} for name, c in _DIFFERENT.items()}
    settings[_FIXED] = {"adaptive": False}
    specs = []
    for options in settings.values():
        law = article.controller_of(
            article.wrong_last_link(robot), K_p=s.K_p, Lambda=s.Lambda, Gamma=s.Gamma, **options
        )
        specs.append(RunSpec(plant, law, reference, end, q0=article.START, torque_limits=robot.limits.effort,
                             sensors=Sensors(velocity_noise=s.noise) if s.noise else None, log=("error",),
                             log_every=article.LOG_EVERY))  # fmt: skip
    runs = simulate_many(specs, workers=workers)
    window = min(article.PERIOD / end, 0.5)
    found: dict[str, float] = {}
    for k, name in enumerate(settings):
        run: SimulationResult | None = None if k in runs.failures else runs[k]
        found[f"{name}: norm of e"] = np.inf if run is None else run.steady_state_error(window)
        if name != _FIXED:
            found[f"{name}: rise time [s]"] = np.inf if run is None else run.rise_time(s.fraction, window)
    return found


_PRINTED = {f"{_FIXED}: norm of e": 0.9}
for _name, _case in _DIFFERENT.items():
    _PRINTED |= {f"{_name}: norm of e": _case.steady_state, f"{_name}: rise time [s]": _case.rise_time}
_ORDERS = [[f"{name}: {what}" for name in names] for what in ("norm of e", "rise time [s]")
           for names in (("K_d1", "K_d2", "K_d3"), ("r_7 = 1", "K_d2", "r_7 = 100"))]  # fmt: skip
#: all numbers of Tables 6 and 7 and Figure 10 with one choice of `QUANTITIES`
judge_tables = declared(
    "Thunder article, Tables 6 and 7, Figure 10",
    table_errors,
    QUANTITIES,
    _PRINTED,
    orders=[*_ORDERS, [f"{_FIXED}: norm of e", "K_d2: norm of e"]],
    budget=150,
    scale=0.1,
)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> ArticleGains:
    """Run the experiment of the registry: 40 s each, or 15 s; `seeds` initial models of link 7."""
    duration, count = (15.0, 2) if quick else (DURATION, 5)
    found = run_article_gains(duration, seeds=count if seeds is None else seeds, workers=workers)
    return replace(found, judgment=judge_tables(quick, workers))
