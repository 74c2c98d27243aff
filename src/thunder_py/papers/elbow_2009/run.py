"""Gabiccini et al. (2009), section 5: regressor of the planar elbow, comparison of printed and recorded entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array
from ...model.model import RobotModel
from ...optional import LazyModule
from ...parallel import Workers, map_seeds
from ...plotting.panels import new_panels
from ...plotting.space import draw_sticks
from ...plotting.style import BLUE, GREEN, LINE, SKY, TRUTH, VERMILION, label, label_time, outside_legend
from ...robot import Robot
from ...robot.frames import arm_frames
from ...symbolic import SymbolicModel
from ...symbolic import jacobian as derivative
from ..results import spread, titled
from ..tables import markdown
from .printed import SYMBOLS, printed_symbols, printed_terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


sympy: Any = LazyModule("sympy", "symbolic")
#: columns of each block in the ten parameters of a link
_BLOCKS = (slice(0, 1), slice(1, 4), slice(4, 10))
_PARAMETERS = ("m", "m c_x", "m c_y", "m c_z", "I_xx", "I_xy", "I_xz", "I_yy", "I_yz", "I_zz")


def elbow_model() -> SymbolicModel:
    """Return the planar elbow with its lengths, its gravity along y and its inertial parameters as symbols."""
    return Robot.load("elbow").symbolic(inertial=True, dh=[1, 0, 0, 0] * 2, gravity=[0, 1, 0])


def recorded_terms(model: SymbolicModel) -> dict[tuple[str, int, int], Any]:
    """Return the paper's terms X, W, Z from the recorded blocks of mass, Coriolis and gravity terms.

    W is half of dq_r' (dB/dq_h) dq (eq. 42), B being each of the blocks that parameters multiply; X is B ddq_r + C dq_r
    + W, with C by Christoffel symbols (eq. 41); Z is the block of gravity.

    Returns
    -------
    dict of (letter, j, link) to array of Expression
        (2, 1), (2, 3) or (2, 6), as in `printed_terms`.
    """
    B, C, Z = model.mass_blocks(), model.coriolis_blocks(), model.gravity_blocks()
    W = 0.5 * np.einsum("lkjih,j,i->lkh", derivative(B, model.q), model.dq_r, model.dq)
    parts = {"X": B @ model.ddq_r + C @ model.dq_r + W, "W": W, "Z": Z}
    return {
        (letter, j, link): x[link - 1, columns].T
        for link in (1, 2)
        for j, columns in enumerate(_BLOCKS)
        for letter, x in parts.items()
        if letter != "Z" or j < 2
    }


@dataclass(frozen=True)
class Entry:
    """Entry of a term that is nonzero in the recording or in print.

    Attributes
    ----------
    name, parameter : str
        Names of the term, such as ``X_0^(2)``, and of the parameter that the column multiplies.
    row : int
        Row, from 1.
    recorded, printed, corrected : sympy.Expr
        Entry as recorded by the package, as printed, and as corrected by the errata.
    """

    name: str
    parameter: str
    row: int
    recorded: Any
    printed: Any
    corrected: Any

    def is_right(self, which: str) -> bool:
        """Return True if an entry, ``"printed"`` or ``"corrected"``, equals the recorded one."""
        difference = sympy.expand(sympy.expand_trig(self.recorded - getattr(self, which)))
        return bool(difference == 0 or sympy.simplify(difference) == 0)


@dataclass(frozen=True)
class Elbow2009:
    """The elbow of section 5: symbols, entries, numbers.

    Attributes
    ----------
    model : SymbolicModel
        Result of `elbow_model`.
    terms : dict of (letter, j, link) to array of Expression
        Result of `recorded_terms`.
    differences : dict of str to (seeds, 2) array, optional
        Largest differences of regressors from the numeric kernel in sets of random states, see `equality`: of Y_r and
        of the torque [N m].
    """

    model: SymbolicModel
    terms: Mapping[tuple[str, int, int], Any]
    differences: Mapping[str, Array] | None = None

    @cached_property
    def entries(self) -> list[Entry]:
        """Every entry that is nonzero in the recording or in print."""
        g_y = printed_symbols()[-1]
        printed, corrected = printed_terms(False), printed_terms(True)
        entries = []
        for key, recorded in self.terms.items():
            letter, j, link = key
            ours = self.model.to_sympy(recorded, simplify=True).subs(g_y, -g_y)  # positive downwards in the paper
            for row, column in np.ndindex(ours.shape):
                values = [matrix[row, column] for matrix in (ours, printed[key], corrected[key])]
                if any(value != 0 for value in values):
                    parameter = f"{_PARAMETERS[_BLOCKS[j].start + column]} of link {link}"
                    entries.append(Entry(f"{letter}_{j}^({link})", parameter, row + 1, *values))
        return entries

    def table(self) -> str:
        """Return the number of correct printed entries, the wrong ones, and the operation counts, as Markdown."""
        right = sum(entry.is_right("printed") for entry in self.entries)
        head = f"{len(self.entries)} entries are nonzero; {right} are printed as recorded. The others:"
        return "\n\n".join([head, self.wrong_entries(), self.equality(), self.operations()])

    def to_dict(self) -> dict[str, Any]:
        """Return all entries as expressions, the differences of the regressors, and the operation counts."""
        kinds = ("recorded", "printed", "corrected")
        entries = [
            {"term": e.name, "row": e.row, "parameter": e.parameter}
            | {kind: str(getattr(e, kind)) for kind in kinds}
            | {f"{kind}_is_right": e.is_right(kind) for kind in kinds[1:]}
            for e in self.entries
        ]
        found = {name: {"Y_r": x[:, 0], "torque_Nm": x[:, 1]} for name, x in (self.differences or {}).items()}
        return {"entries": entries, "largest_differences": found, "operations": self.operation_counts()}

    def wrong_entries(self) -> str:
        """Return the differences between printed and recorded entries, as Markdown."""
        rows = []
        for entry in (entry for entry in self.entries if not entry.is_right("printed")):
            fixed = "yes" if entry.is_right("corrected") else "no"
            rows.append([entry.name, entry.row, entry.parameter, sympy.factor(entry.printed - entry.corrected), fixed])
        return markdown(["term", "row", "column of", "printed minus recorded", "errata repair it"], rows)

    def latex(self, letter: str, j: int, link: int) -> str:
        """Return a recorded term in LaTeX, such as ``latex("X", 0, 2)``; g_y is positive upwards."""
        return self.model.latex(self.terms[letter, j, link])

    def printed_regressor(self, corrected: bool) -> Any:
        """Return Y_r of eqs. 55 to 59, (2, 20), from the printed terms, as a function of q, dq, dq_r, ddq_r."""
        terms, blocks = printed_terms(corrected), []
        for link in (1, 2):
            for j in range(3):
                gravity = terms.get(("Z", j, link), sympy.zeros(*terms["X", j, link].shape))
                blocks.append(terms["X", j, link] - terms["W", j, link] + gravity)
        d = self.model.robot.description
        assert d.dh is not None
        numbers = {"a1": d.dh[0, 0], "a2": d.dh[1, 0], "g_y": -d.gravity[1]}
        symbols = dict(zip(SYMBOLS, printed_symbols(), strict=True))
        Y = sympy.Matrix.hstack(*blocks).subs({symbols[name]: value for name, value in numbers.items()})
        f = sympy.lambdify(printed_symbols()[:8], Y, "numpy")
        return lambda q, dq, dq_r, ddq_r: np.asarray(f(*q, *dq, *dq_r, *ddq_r), dtype=np.float64)

    def difference(self, seed: int, states: int = 200) -> dict[str, tuple[float, float]]:
        """Return largest differences from the numeric kernel at random states: of Y_r and of the torque [N m]."""
        robot, rng = self.model.robot, np.random.default_rng(2009 + seed)
        x = rng.uniform(-2.0, 2.0, (states, 4, 2))
        kernel = np.array([robot.slotine_li_regressor(*state) for state in x])
        recorded = self.model.function("Y_r", self.model.slotine_li_regressor())
        numbers = {"par_DHtable": robot.description.dh, "par_gravity": robot.description.gravity}
        constants = [np.ravel(np.asarray(numbers[name])) for name in recorded.argument_names[4:]]
        regressors = {
            "recorded": lambda *state: recorded(*state, *constants),
            "printed, with G-1 and G-2": self.printed_regressor(True),
            "printed": self.printed_regressor(False),
        }
        off = {name: np.array([Y(*state) for state in x]) - kernel for name, Y in regressors.items()}
        return {name: (float(np.abs(d).max()), float(np.abs(d @ robot.parameters).max())) for name, d in off.items()}

    def equality(self) -> str:
        """Return the largest differences between regressors at random states, and of their torques, as Markdown."""
        found = _collected([self.difference(0)]) if self.differences is None else self.differences
        n = len(next(iter(found.values())))
        title = f"Largest difference from the numeric kernel in 200 random states: median (least to most) of {n} sets"
        rows = ([name, *map(spread, x.T)] for name, x in found.items())
        return titled(title, ["regressor", "of Y_r", "of the torque [N m]"], rows)

    def operations(self) -> str:
        """Return numbers of scalar operations, as Markdown."""
        return markdown(["regressor of the elbow", "operations"], self.operation_counts().items())

    def operation_counts(self) -> dict[str, int]:
        """Return numbers of scalar operations, by regressor."""
        shared, entries = sympy.cse(list(sympy.Matrix.hstack(*printed_terms(True).values())))
        printed = sympy.count_ops([value for _, value in shared] + list(entries))
        baked = SymbolicModel(self.model.robot, inertial=True)
        return {
            "the paper's X, W and Z, equal operations shared": int(printed),
            "recorded, a and g as arguments": _count(self.model, self.model.slotine_li_regressor()),
            "recorded, a and g as numbers": _count(baked, baked.slotine_li_regressor()),
            "recorded, times the 20 parameters": _count(baked, baked.slotine_li_regressor() @ baked.par_REG),
            "recorded, inverse dynamics (no regressor)": _count(baked, baked.inverse_dynamics()),
        }

    def torques(self, times: Array) -> dict[str, Array]:
        """Return torques Y_r pi along `motion`: by the kernel, corrected, as printed; (k, 2) each."""
        robot, states = self.model.robot, list(zip(*motion(times), strict=True))
        regressors = {
            "kernel": robot.slotine_li_regressor,
            "corrected": self.printed_regressor(True),
            "printed": self.printed_regressor(False),
        }
        return {name: np.array([Y(*state) @ robot.parameters for state in states]) for name, Y in regressors.items()}

    def plot(self) -> Figure:
        """Draw the arm along a motion on the left, torques of both joints on the right."""
        title = "Gabiccini et al. (2009), section 5: the planar elbow"
        figure, panels = new_panels([["arm", "0"], ["arm", "1"]], (12, 5.5), title, width_ratios=(1.0, 1.4))
        _draw_arm(panels["arm"], self.model.robot, motion(np.linspace(0.05, 1.6, 7))[0])
        t = np.linspace(0.0, 2.0 * np.pi, 400)
        torques = self.torques(t)
        for joint in range(2):
            axes = panels[str(joint)]
            axes.plot(t, torques["printed"][:, joint], color=VERMILION, label="as printed", linewidth=LINE)
            axes.plot(t, torques["kernel"][:, joint], color=SKY, linewidth=4.0, alpha=0.6, label="this package")
            corrected = "as printed, errata G-1 and G-2 corrected"
            axes.plot(t, torques["corrected"][:, joint], "--", color=TRUTH, linewidth=1.0, label=corrected)
            label_time(axes, t, f"$Y_r \\pi$ along a motion, joint {joint + 1}", "torque [N m]")
        return outside_legend(figure, panels["0"])


def _count(model: SymbolicModel, expression: Any) -> int:
    return int(model.function("counted", expression).operation_count)


def motion(times: Array, Lambda: float = 5.0) -> tuple[Array, Array, Array, Array]:
    """Return q, dq and the reference dq_r, ddq_r of Slotine and Li for an elbow that lags behind its target.

    Parameters
    ----------
    times : (k,) array
        Times [s].
    Lambda : float
        Gain of the position error [1/s].

    Returns
    -------
    q, dq, dq_r, ddq_r : (k, 2) array
    """
    t, w = np.asarray(times)[:, None], np.array([2.0, 3.0])

    def wave(t: Array) -> tuple[Array, Array, Array]:
        return 0.9 * np.sin(w * t), 0.9 * w * np.cos(w * t), -0.9 * w**2 * np.sin(w * t)

    center = np.array([0.7, 0.9])
    (q_d, dq_d, ddq_d), (q, dq, _) = wave(t), wave(t - 0.05)
    return center + q, dq, dq_d + Lambda * (q_d - q), ddq_d + Lambda * (dq_d - dq)


def _collected(rows: list[dict[str, tuple[float, float]]]) -> dict[str, Array]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _difference_of_seed(seed: int) -> dict[str, tuple[float, float]]:
    return Elbow2009(elbow_model(), {}).difference(seed)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> Elbow2009:
    """Run the experiment of the registry; `seeds` sets of random states, by default 5, or 2 if `quick`."""
    model, count = elbow_model(), (2 if quick else 5) if seeds is None else seeds
    rows = map_seeds(_difference_of_seed, count, workers=workers, description="elbow")
    return Elbow2009(model, recorded_terms(model), _collected(rows))


def _draw_arm(axes: Axes, robot: RobotModel, configurations: Array) -> None:
    """Draw the arm in several postures; that with the elbow bent most is dark, with centers of mass and names."""
    frames = arm_frames(robot, configurations)[:, :3]
    shown = int(np.argmax(configurations[:, 1]))
    for k, origins in enumerate(frames[..., :2, 3]):
        for link, color in enumerate((BLUE, GREEN)):
            look: dict[str, Any] = {"linewidth": 6.0, "marker": "", "solid_capstyle": "round"}
            draw_sticks(axes, origins[None, link : link + 2], color, (1.0 if k == shown else 0.15,), **look)
        if k == shown:
            bodies = zip(frames[k, 1:], robot.inertial, strict=True)
            centers = np.array([T @ np.append(body[1:4] / body[0], 1.0) for T, body in bodies])[:, :2]
            axes.plot(*origins[:2].T, "o", color="white", markeredgecolor=TRUTH, markersize=9)
            axes.plot(*centers.T, "x", color=TRUTH, markersize=8, markeredgewidth=2)
            _annotate(axes, configurations[k], origins, centers)
    label(axes, "Figure 2, with a motion; frames at the links' ends", "x [m]", "y [m]", aspect="equal")


def _annotate(axes: Axes, q: Array, origins: Array, centers: Array) -> None:
    from matplotlib.patches import Arc

    angles = np.concatenate([[0.0], np.cumsum(q)])
    for joint in range(2):
        start, end = sorted(angles[joint : joint + 2])
        pair = np.array([angles[joint], 0.5 * (start + end)])
        axis, middle = np.stack([np.cos(pair), np.sin(pair)], axis=1)
        axes.plot(*np.transpose([origins[joint], origins[joint] + 0.26 * axis]), ":", color=TRUTH, linewidth=1.0)
        arc = Arc(tuple(origins[joint]), 0.36, 0.36, theta1=np.degrees(start), theta2=np.degrees(end), color=TRUTH)
        axes.add_patch(arc)
        x, y = origins[joint] + 0.24 * middle
        axes.text(x, y, f"$q_{joint + 1}$", ha="center", va="center")
        for name, at, beside in (
            ("G", centers[joint], ((8, -12), (-4, -20))),
            ("O", origins[joint + 1], ((8, 4), (-6, -18))),
        ):
            axes.annotate(f"${name}_{joint + 1}$", at, xytext=beside[joint], textcoords="offset points")
    axes.annotate(
        "g", (0.05, 0.72), (0.05, 0.9), xycoords="axes fraction", arrowprops={"arrowstyle": "->"}, ha="center"
    )
