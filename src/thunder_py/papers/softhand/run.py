"""Thunder article, Figures 12 and 13, Table 8: a Panda with a hand unknown to the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array
from ...model import inertia
from ...parallel import Workers
from ...plotting.panels import new_panels
from ...plotting.style import BLUE, LAW_COLORS, LINE, draw_truth, label_time, outside_legend
from ...robot import Robot
from ...simulation import Payload, Sensors
from ..gains.run import DURATION, ESTIMATES, body_of, draw_error, panda_with_friction
from ..judgment.judge import FreeParameter, chosen, declared
from ..lissajous.run import PERIOD, Run, controller_of, curve, follow_lissajous
from ..results import Varied, over_draws
from ..tables import markdown
from .setup import DRAWN, HAND_COM, HAND_MASS, TABLE_8, draw_com, hand_of_table_8, merged

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PLANTS = ("friction", "ideal")
_LINK_7 = slice(60, 70)
#: of a body, by which an estimate differs from the truth
_PARTS = ("mass [kg]", "m c_x, m c_y [kg m]", "m c [kg m]", "inertia [kg m2]")
_SETTLED = 10.0  # time from which the error is stable in the article [s]


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftHand(Varied):
    """Results of the experiment.

    Attributes
    ----------
    robot : Robot
        The Panda without hand, initial model of the controllers.
    truth : (10,) array
        REG of link 7 with the hand.
    adaptive, fixed : dict of str to Run
        With and without adaptation, by plant: ``"ideal"``, ``"friction"``.
    """

    robot: Robot
    truth: Array
    adaptive: Mapping[str, Run]
    fixed: Mapping[str, Run]

    def estimate(self, plant: str) -> Array:
        """Return the controller's final estimate of link 7, REG, (10,)."""
        return np.asarray(self.adaptive[plant].result.parameters[-1, _LINK_7])

    def table(self) -> str:
        """Return the errors, Table 8 and the distances of estimates from the truth, as Markdown."""
        parts = (self.tracking(), f"Table 8\n\n{self.bodies()}", self.distances())
        return self.join(*parts, title="With friction, ")

    def to_dict(self) -> dict[str, Any]:
        """Return Table 8 (mass [kg], center of mass [m]), REG of link 7, and the figures of merit of all runs."""
        bodies = {"truth_REG": self.truth, "estimate_REG": {plant: self.estimate(plant) for plant in self.adaptive}}
        laws = {"adaptive": self.adaptive, "fixed": self.fixed}
        runs = {law: {plant: run.to_dict() for plant, run in each.items()} for law, each in laws.items()}
        return {"article": {"table_8_kg_m": TABLE_8}, **bodies, **runs, **self.variations()}

    def figures(self, plant: str = "friction") -> dict[str, float | None]:
        """Return steady states on a plant, and distances of the estimate from the truth."""
        mass, _, moments, inertia_error = _distance(self.estimate(plant), self.truth)
        return {
            "norm of e, adaptive": self.adaptive[plant].steady_state.norm,
            "norm of e, not adaptive": self.fixed[plant].steady_state.norm,
            "estimate: mass [kg]": mass,
            "estimate: first moments [kg m]": moments,
            "estimate: inertia [kg m2]": inertia_error,
        }

    def tracking(self) -> str:
        """Return norms of the error, before the estimate settles and at the end, as Markdown."""
        rows: list[list[object]] = []
        for label, runs in (("adaptive", self.adaptive), ("not adaptive", self.fixed)):
            for plant, run in runs.items():
                norm, t = run.result.error_norm(), run.result.t
                worst = float(norm[t <= min(_SETTLED, t[-1])].max())
                rows.append([f"{label}, {plant}", worst, run.steady_state.norm, 1e3 * run.steady_state.position])
        return markdown(["", f"worst until {_SETTLED:g} s", "steady state", "position [mm]"], rows)

    def bodies(self) -> str:
        """Return Table 8 with the article's numbers and ours, as Markdown."""
        bodies = {
            "true, ours: hand's base at the flange": self.truth,
            "initial, ours": self.robot.inertial[6],
            "estimate, ours, with friction": self.estimate("friction"),
            "estimate, ours, without": self.estimate("ideal"),
        }
        every = {f"{name}, article": values for name, values in TABLE_8.items()}
        every |= {name: tuple(inertia.dyn_from_reg(reg)[:4]) for name, reg in bodies.items()}
        rows = [[name, *(f"{x:.4f}" for x in values)] for name, values in every.items()]
        return markdown(["", "mass [kg]", "c_x [m]", "c_y [m]", "c_z [m]"], rows)

    def distances(self) -> str:
        """Return the distances of estimates from the truth in mass, first moments and inertia, as Markdown."""
        article = {name: _moments(body) for name, body in TABLE_8.items()}
        ours = {"initial": self.robot.inertial[6]}
        ours |= {f"estimate, {plant}": self.estimate(plant) for plant in self.adaptive}
        rows: list[list[object]] = [
            [f"article, {name}", *_distance(article[name], article["true"]), None] for name in ("initial", "estimate")
        ]
        rows += [[f"ours, {name}", *_distance(reg, self.truth)] for name, reg in ours.items()]
        return markdown(["distance from the truth", *_PARTS], rows)

    def plot(self) -> Figure:
        """Draw errors with and without adaptation, and the estimates with our truth and the article's estimate."""
        title = "Thunder article, Figures 12 and 13: hand unknown to the controller"
        figure, panels = new_panels([["error", "error", "0", "1"], ["error", "error", "2", "3"]], (12, 6), title)
        colors, ours = LAW_COLORS, "backstepping"
        draw_error(panels["error"], self.fixed["friction"], "not adaptive", color=colors["not adaptive"])
        for plant, name, dashes in (("friction", ours, "-"), ("ideal", f"{ours}, no friction", ":")):
            draw_error(panels["error"], self.adaptive[plant], name, "Figure 12", color=colors[ours], linestyle=dashes)
            run = self.adaptive[plant].result
            for k in range(4):
                panels[str(k)].plot(run.t, body_of(run.parameters)[k], dashes, color=colors[ours], linewidth=LINE)
        panels["error"].set_ylim(1e-4, 1.0)
        truth, end = self.truth[:4] / np.array([1.0, *[self.truth[0]] * 3]), float(run.t[-1])
        for k, words in enumerate(ESTIMATES):
            draw_truth(panels[str(k)], float(truth[k]))
            printed: dict[str, Any] = {"color": BLUE, "clip_on": False, "label": "article's final estimate"}
            panels[str(k)].plot([end], [TABLE_8["estimate"][k]], "<", **printed)
            label_time(panels[str(k)], run.t, *words)
        panels["0"].set_title("Figure 13: mass of link 7", fontsize="medium")
        return outside_legend(figure, *panels.values())


def _moments(body: tuple[float, ...]) -> Array:
    m, *c = body
    return np.array([m, *(m * x for x in c)])


def _distance(reg: Array, truth: Array) -> list[float]:
    """Return norms of the differences of mass, horizontal first moments, all first moments and, if given, inertia."""
    parts = (slice(0, 1), slice(1, 3), slice(1, 4), slice(4, 10))
    return [float(np.linalg.norm((reg - truth)[part])) for part in parts[: 4 if len(reg) == 10 else 3]]


def run_softhand(
    duration: float = DURATION, *, com: tuple[float, float, float] = HAND_COM, plants: Sequence[str] = PLANTS
) -> SoftHand:
    """Follow the article's curve with the hand at the flange of the bundled Panda, adapting link 7 alone.

    Parameters
    ----------
    duration : float
        Duration of every run [s].
    com : tuple of float
        Center of mass of the hand in the frame of link 7 [m]; default with the hand's base at the flange, because the
        papers do not specify the mounting.
    plants : sequence of str
        Names from `PLANTS`.

    Notes
    -----
    The papers use a real arm, this is a simulation. The hand's inertia about its center of mass is not printed and is
    assumed to be zero. Gains are those of the middle columns of Tables 6 and 7; see `run_article_gains`.
    """
    robot = Robot.load("panda")
    hand = Payload(mass=HAND_MASS, com=com, link="link7")
    arms = {name: panda_with_friction() if name == "friction" else robot for name in plants}
    adaptive, fixed = (
        {
            name: follow_lissajous(arm, controller_of(robot, adaptive=adapts), curve(robot), duration, payloads=[hand])
            for name, arm in arms.items()
        }
        for adapts in (True, False)
    )
    return SoftHand(robot=robot, truth=merged(robot, hand), adaptive=adaptive, fixed=fixed)


def _figures_of_seed(duration: float, seed: int) -> dict[str, float | None]:
    return run_softhand(duration, com=draw_com(seed), plants=PLANTS[:1]).figures()


#: turn about the flange [deg] and shift [m] of the hand's base; the last gives the true center of mass of Table 8
_MOUNTINGS: dict[str, tuple[float, Array]] = {
    "at the flange": (0.0, np.zeros(3)),
    "turned 3 deg": (3.0, np.zeros(3)),
    "10 mm plate": (0.0, np.array([0.0, 0.0, 0.01])),
    "as in Table 8": (0.0, hand_of_table_8() - np.array(HAND_COM)),
}
#: quantities that section 5.2 does not print
QUANTITIES = (
    FreeParameter("mounting", "at the flange", tuple(_MOUNTINGS), "mounting of the hand", "no paper prints it (T-7)"),
    FreeParameter("friction", 1.0, (0.0, 0.5, 2.0), "Coulomb friction / identified",
                  "a real arm; what is compensated?"),
    FreeParameter("Gamma", 1.0, (0.3, 3.0, 10.0, 30.0), "Gamma / ours", "r_m, r_c, r_I; 10 in the published code"),
    FreeParameter("K_p", 1.0, (0.01, 0.1, 0.3, 3.0), "K_p / ours", "0.01 (1 N/m) in the published code"),
    FreeParameter("Lambda", 1.0, (0.3, 5.0 / 3.0, 3.0), "Lambda / ours", "1.7 in the published code"),
    FreeParameter("noise", 0.0, (1e-3, 1e-2), "noise of the velocity [rad/s]", "a real arm"),
    FreeParameter("inertia", 0.0, (1e-3, 3e-3), "inertia of the hand [kg m2]", "about its center of mass"),
    FreeParameter("duration", DURATION, (20.0, 60.0), "length of the run [s]", "unprinted"),
)  # fmt: skip


def _center(mounting: str) -> Array:
    """Return the center of mass of the hand in the frame of link 7, (3,) [m]."""
    turn, shift = _MOUNTINGS[mounting]
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    return np.asarray(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ np.array(HAND_COM) + shift)


def hand_estimate(*, scale: float = 1.0, **given: Any) -> dict[str, float]:
    """Return the estimate of link 7 with the hand at the end, its distances from the truth, and the settling time.

    Parameters
    ----------
    mounting, friction, Gamma, K_p, Lambda, noise, inertia, duration
        See `QUANTITIES`.
    scale : float
        Factor on the duration, for short tests.
    """
    s = chosen(QUANTITIES, given)
    robot = Robot.load("panda")
    hand = Payload(HAND_MASS, _center(s.mounting), s.inertia * np.eye(3), link="link7")
    law = controller_of(robot, K_p=s.K_p, Lambda=s.Lambda, Gamma=s.Gamma)
    sensors = Sensors(velocity_noise=s.noise) if s.noise else None
    run = follow_lissajous(
        panda_with_friction(s.friction), law, curve(robot), scale * s.duration, payloads=[hand], sensors=sensors
    ).result
    window = min(PERIOD / (scale * s.duration), 0.5)
    truth = merged(robot, hand)
    found = dict(zip(_DISTANCES, _distance(run.parameters[-1, _LINK_7], truth), strict=True))
    return found | {_MASS: float(run.parameters[-1, 60]), _SETTLES: run.rise_time(window=window)}


_DISTANCES = tuple(f"estimate, distance: {part}" for part in _PARTS)
_MASS, _SETTLES = "estimate: mass [kg]", "error settles after [s]"
_PRINTED = {
    **dict(zip(_DISTANCES, _distance(*(_moments(TABLE_8[name]) for name in ("estimate", "true"))), strict=False)),
    _MASS: TABLE_8["estimate"][0],
    _SETTLES: _SETTLED,
}
#: Table 8 with one choice of `QUANTITIES`
judge_hand = declared(
    "Thunder article, Table 8: link 7 with the hand, distances from the truth",
    hand_estimate,
    QUANTITIES,
    _PRINTED,
    orders=[_DISTANCES[1:3]],
    budget=200,
    scale=0.1,
)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> SoftHand:
    """Run the experiment of the registry: 40 s each, or 15 s; `seeds` mountings of the hand."""
    duration, count = (15.0, 2) if quick else (DURATION, 10)
    first, count = run_softhand(duration), count if seeds is None else seeds
    draws = over_draws(DRAWN, first.figures(), partial(_figures_of_seed, duration), count, workers)
    return replace(first, draws=draws, judgment=judge_hand(quick, workers))
