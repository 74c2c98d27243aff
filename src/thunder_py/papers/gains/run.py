"""Thunder article, Figures 6-10, Tables 6 and 7: effect of K_d, Gamma and adaptation on a Panda along a curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...checks import Array
from ...model.joint_data import Friction
from ...parallel import Workers
from ...plotting.panels import new_panels
from ...plotting.style import COLORS, LAW_COLORS, LINE, TRUTH, draw_truth, label, label_time, outside_legend
from ...reference import Lissajous
from ...robot import Robot
from ...simulation import RunSpec, Sensors, SimulationResult, simulate_many
from ..judgment.judge import FreeParameter, chosen, declared
from ..lissajous import run as article
from ..lissajous.run import Run
from ..results import Varied, over_draws
from ..tables import markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        printed = {
            x: {"steady_state_norm": case.steady_state, "rise_time_s": case.rise_time} for x, case in CASES.items()
        }
        ours = {plant: {name: run.to_dict() for name, run in runs.items()} for plant, runs in plants.items()}
        return {"article": printed, **ours, **self.variations()}

    def settings(self, name: str) -> str:
        """Return ``"Table 6"`` or ``"Table 7"`` as Markdown; "published code" are its gains, with friction."""
        ours, rows = ["without friction", "with", "published code"], []
        for case in TABLES[name]:
            runs = (self.ideal[case], self.friction[case], self.published[case])
            states, rises = ([run.steady_state.norm for run in runs], [_rise(run) for run in runs])
            rows.append([case, CASES[case].steady_state, *states, CASES[case].rise_time, *rises])
        return markdown(["", "steady state: article", *ours, "rise time [s]: article", *ours], rows)

    def adaptation(self) -> str:
        """Return the steady states of Figure 10 as Markdown; the article has 0.9 and an order of magnitude less."""
        rows = [
            [name, printed, *(runs[key].steady_state.norm for runs in (self.ideal, self.friction, self.published))]
            for name, key, printed in (("adaptive", "K_d2", "0.02 to 0.09"), ("not adaptive", "fixed", "about 0.9"))
        ]
        return markdown(["norm of e", "article", "without friction", "with", "published code"], rows)

    def plot(self) -> Figure:
        """Draw Figures 5, 6, 8 and 10, and the masses of Figures 7 and 9, on the plant with friction."""
        title = f"Thunder article, Figures 5 to 10; {_FRICTION}, unprinted gains are ours"
        figure, panels = new_panels([["5", "6", "8"], ["10", "7", "9"]], title=title)
        _draw_plane(panels["5"], self)
        _draw_adaptation(panels["10"], self)
        for table, (errors, estimates) in _FIGURES.items():
            _draw_errors(panels[str(errors)], self.friction, table, f"Figure {errors}: tracking error")
            _draw_estimate(panels[str(estimates)], self, table, 0, f"Figure {estimates} (dashed: truth): ")
        return figure

    def plot_curve(self) -> Figure:
        """Draw Figure 5, the curve, and the motion of the flange in the last period, with adaptation and without."""
        from matplotlib.ticker import MaxNLocator

        figure, panels = new_panels([["space", "plane"]], (12, 5), "Thunder article, Figure 5", spatial=["space"])
        space: Any = panels["space"]
        desired = self.reference(np.linspace(0.0, 10.0, 501)).p
        space.plot(*desired.T, color=TRUTH)
        space.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
        space.set_title("the article's curve", fontsize="medium")
        space.set_box_aspect(np.ptp(desired, axis=0), zoom=1.05)
        for axis in (space.xaxis, space.yaxis, space.zaxis):
            axis.set_major_locator(MaxNLocator(4))
            axis.labelpad = 8.0
        _draw_plane(panels["plane"], self)
        return outside_legend(figure, panels["plane"])

    def plot_errors(self, table: str) -> Figure:
        """Draw Figure 6 (``"Table 6"``) or 8 (``"Table 7"``), one panel for each plant."""
        title = f"Thunder article, Figure {_FIGURES[table][0]}: tracking error"
        figure, panels = new_panels([["ideal", "friction"]], (11, 4), title, sharey=True)
        _draw_errors(panels["ideal"], self.ideal, table, "plant without friction")
        _draw_errors(panels["friction"], self.friction, table, _FRICTION)
        return figure

    def plot_estimates(self, table: str) -> Figure:
        """Draw Figure 7 (``"Table 6"``) or 9 (``"Table 7"``): mass and center of mass of link 7."""
        title = f"Thunder article, Figure {_FIGURES[table][1]}: estimates, {_FRICTION}"
        figure, panels = new_panels([["0", "1"], ["2", "3"]], (11, 5.5), title)
        for k in range(4):
            _draw_estimate(panels[str(k)], self, table, k)
        return outside_legend(figure, panels["0"])

    def plot_adaptation(self) -> Figure:
        """Draw Figure 10: the same controller with adaptation and without."""
        figure, panels = new_panels([["error"]], (8, 4), f"Thunder article: adaptation, {_FRICTION}")
        _draw_adaptation(panels["error"], self)
        return figure


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
    draws = over_draws(article.DRAWN, _figures(friction), partial(_figures_of_seed, duration), seeds, workers)
    return ArticleGains(
        truth=truth,
        reference=article.curve(truth),
        ideal=_cases(truth, duration),
        friction=friction,
        published=_cases(plant, duration, **PUBLISHED),
        draws=draws if seeds else None,
    )


def _figures(runs: Mapping[str, article.Run]) -> dict[str, float | None]:
    states: dict[str, float | None] = {f"{name}: norm of e": runs[name].steady_state.norm for name in CASES}
    return states | {f"{name}: rise time [s]": runs[name].rise_time for name in CASES}


def _figures_of_seed(duration: float, seed: int) -> dict[str, float | None]:
    return _figures(_cases(panda_with_friction(), duration, seed=seed))


def _cases(plant: Robot, duration: float, *, seed: int = 0, **gains: Any) -> dict[str, article.Run]:
    model = Robot.load("panda")
    nominal, reference = article.draw_last_link(model, seed), article.curve(model)

    def follow(**options: Any) -> article.Run:
        return article.follow_lissajous(plant, article.controller_of(nominal, **options), reference, duration)

    runs = {name: follow(K_d=c.K_d, r_7=c.r_7, **gains) for name, c in _DIFFERENT.items()}
    runs["r_7 = 10"] = runs["K_d2"]
    return runs if seed else runs | {"fixed": follow(adaptive=False, **gains)}


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
    reference, nominal = article.curve(robot, centered=s.start != "on the curve"), article.wrong_last_link(robot)
    sensors = Sensors(velocity_noise=s.noise) if s.noise else None
    settings: dict[str, dict[str, Any]] = {name: {"K_d": c.K_d, "r_7": c.r_7} for name, c in _DIFFERENT.items()}
    specs = []
    for options in (*settings.values(), {"adaptive": False}):
        law = article.controller_of(nominal, K_p=s.K_p, Lambda=s.Lambda, Gamma=s.Gamma, **options)
        specs.append(RunSpec(plant, law, reference, end, sensors=sensors, log=("error",), **article.how_it_runs(robot)))
    runs = simulate_many(specs, workers=workers)
    window = min(article.PERIOD / end, 0.5)
    found: dict[str, float] = {}
    for k, name in enumerate((*settings, _FIXED)):
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


#: rows of `body_of`: title, label of the y axis
ESTIMATES = (("mass of link 7", "$m$ [kg]"), ("center of mass, x", "$c_x$ [m]"), ("center of mass, y", "$c_y$ [m]"),
             ("center of mass, along gravity", "$c_z$ [m]"))  # fmt: skip


_FRICTION = "plant with friction"


def body_of(reg: Array) -> Array:
    """Return mass and center of mass of link 7, (4, ...), from all parameters, (..., 70)."""
    m, mc = reg[..., 60], np.moveaxis(reg[..., 61:64], -1, 0)
    return np.concatenate([m[None], mc / m])


def draw_error(axes: Axes, run: Run, name: str, title: str = "", **style: Any) -> None:
    """Draw the norm of e over time on a logarithmic axis."""
    t = run.result.t[1:]  # the initial error is zero, which has no logarithm
    axes.semilogy(t, run.result.error_norm()[1:], label=name, **{"linewidth": LINE, **style})
    label_time(axes, run.result.t, title, "norm of $e$ [m, rad]")


def _formula(case: str) -> str:
    name, equals, value = case.partition(" = ")
    base, _, index = name.partition("_")
    return f"${base}_{{{index}}}${equals}{value}"


def _draw_errors(axes: Axes, runs: Mapping[str, Run], table: str, title: str) -> None:
    for color, case in zip(COLORS, TABLES[table], strict=False):
        draw_error(axes, runs[case], _formula(case), title, color=color)
    axes.set_ylim(3e-5, 1.0)
    axes.legend(loc="lower left", ncols=3, fontsize="small")


def _draw_estimate(axes: Axes, gains: ArticleGains, table: str, k: int, title: str = "") -> None:
    for color, case in zip(COLORS, TABLES[table], strict=False):
        run = gains.friction[case].result
        axes.plot(run.t, body_of(run.parameters)[k], color=color, label=_formula(case), linewidth=LINE)
    draw_truth(axes, float(body_of(gains.truth.parameters)[k]))
    label_time(axes, run.t, title + ESTIMATES[k][0], ESTIMATES[k][1])


def _draw_plane(axes: Axes, gains: ArticleGains) -> None:
    """Draw the last period seen along x."""
    times = gains.friction["K_d2"].result.t
    last = times >= times[-1] - gains.friction["K_d2"].window
    for name, law in (("fixed", "not adaptive"), ("K_d2", "backstepping")):
        actual = gains.truth.forward_kinematics(gains.friction[name].result.q[last])[:, :3, 3]
        axes.plot(actual[:, 1], actual[:, 2], color=LAW_COLORS[law], label=law, linewidth=LINE)
    desired = gains.reference(times[last]).p
    axes.plot(desired[:, 1], desired[:, 2], "--", color=TRUTH, label="desired", linewidth=1.0)
    label(axes, "Figure 5: last period along x; dashed: desired", "y [m]", "z [m]", aspect="equal")


def _draw_adaptation(axes: Axes, gains: ArticleGains) -> None:
    for runs, what, style in ((gains.published, ", gains of the published code", ":"), (gains.friction, "", "-")):
        for key, law in (("fixed", "not adaptive"), ("K_d2", "backstepping")):
            draw_error(axes, runs[key], law + what, "Figure 10: tracking error", color=LAW_COLORS[law], linestyle=style)
    axes.set_ylim(1e-4, 2.0)
    axes.legend(loc="lower left", fontsize="small")


#: table -> figures of errors and of estimates
_FIGURES = {"Table 6": (6, 7), "Table 7": (8, 9)}
