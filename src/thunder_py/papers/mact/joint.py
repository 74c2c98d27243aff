"""D4.2, Figures 14 and 15, Table 7: computed torque with and without adaptation on a Panda with 15 % model error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...checks import Array
from ...parallel import Workers
from ...robot import Robot
from ...simulation import RunSpec, SimulationResult, simulate_many
from ..results import Varied, drawing, spread, titled
from .setup import ETAS, GAMMA, K_V, LAMBDA, TABLE_7, joint_controllers, joint_curve, panda, wrong_panda
from .sweeps import judge_joint


def equivalent_gains(robot: Robot, q: Array, dq: Array) -> tuple[Array, Array]:
    """Return K_p and K_v for which eq. 53 is the torque of AIRC at a state (eq. 60), (7, 7) each."""
    C_k_d = robot.coriolis_matrix(q, dq) + np.diag(K_V)
    return C_k_d @ np.diag(LAMBDA), robot.mass_matrix(q) @ np.diag(LAMBDA) + C_k_d


@dataclass(frozen=True, kw_only=True, eq=False)
class D42Joint(Varied):
    """Results of the experiment.

    Attributes
    ----------
    robot : Robot
        The Panda with its true parameters.
    results : dict of (str, float) to list of SimulationResult
        For every controller of Table 7 and every eta, one run for each seed of the parameter error.
    """

    robot: Robot
    results: dict[tuple[str, float], list[SimulationResult]]

    @property
    def etas(self) -> tuple[float, ...]:
        """Adaptive gains, Gamma = eta / |pi|; 1 is fast."""
        return tuple(dict.fromkeys(eta for _, eta in self.results))

    def rmse(self, name: str, eta: float) -> Array:
        """Return the RMSE of a controller for every seed [rad]; infinite for a run that diverged."""
        return np.array([run.rmse() for run in self.results[name, eta]])

    def condition(self, name: str, eta: float, samples: int = 200, seed: int = 0) -> tuple[Array, Array]:
        """Return times and the condition number of the estimated mass matrix (Figure 15b), (k,) each."""
        rows = self._sampled(name, eta, samples, seed)
        return np.array([t for t, *_ in rows]), np.linalg.cond([model.mass_matrix(q) for _, model, q, _ in rows])

    def equivalent_gains(self, eta: float, samples: int = 200, seed: int = 0) -> tuple[Array, Array, Array]:
        """Return times and the diagonals of AIRC's stiffness and damping (eq. 60, Figure 15a), (k, 7) each."""
        rows = self._sampled("AIRC", eta, samples, seed)
        gains = [equivalent_gains(model, q, dq) for _, model, q, dq in rows]
        stiffness, damping = np.diagonal(np.array(gains), axis1=2, axis2=3).transpose(1, 0, 2)
        return np.array([t for t, *_ in rows]), stiffness, damping

    def _sampled(self, name: str, eta: float, samples: int, seed: int) -> list[tuple[float, Robot, Array, Array]]:
        """Return time, estimated model, positions and velocities at some instants of a run."""
        run = self.results[name, eta][seed]
        rows = np.unique(np.linspace(0, len(run.t) - 1, samples).astype(np.intp))
        return [(run.t[k], self.robot.with_parameters(run.parameters[k]), run.q[k], run.dq[k]) for k in rows]

    def table(self) -> str:
        """Return Table 7 with the report's numbers and ours, as Markdown."""
        seeds = len(next(iter(self.results.values())))
        columns = ["RMSE [rad]", "report", *(f"eta = {eta:g}" for eta in self.etas)]
        rows = (
            [name, printed, *(spread(self.rmse(name, eta)) for eta in self.etas)] for name, printed in TABLE_7.items()
        )
        title = f"Table 7: median (least to most) of {seeds} draws of the parameter error; CT does not adapt"
        return self.join(titled(title, columns, rows))

    def to_dict(self) -> dict[str, Any]:
        """Return Table 7 and the RMSE of every draw by controller and eta; null for a run that diverged."""
        rmse: dict[str, dict[str, Array]] = {name: {} for name in TABLE_7}
        for name, eta in self.results:
            rmse[name][f"eta = {eta:g}"] = self.rmse(name, eta)
        return {"drawn": "parameter error of 15 %", "table_7_rmse_rad": TABLE_7, "rmse_rad": rmse, **self.variations()}

    plot = drawing("plot_joint")


def run_d42_joint(
    seeds: int = 5,
    duration: float = 60.0,
    etas: tuple[float, ...] = ETAS,
    *,
    laws: Sequence[str] = tuple(TABLE_7),
    gamma: float = GAMMA,
    at_rest: bool = True,
    workers: Workers | None = None,
    progress: bool = False,
) -> D42Joint:
    """Follow a joint-space Lissajous curve with the controllers of Table 7.

    Parameters
    ----------
    seeds : int
        Number of draws of the 15 % parameter error.
    duration : float
        Duration of every run [s].
    etas : tuple of float
        Adaptive gains, which the report does not print.
    laws : sequence of str
        Controllers.
    gamma : float
        Weight of MACT's prediction error, which the report does not print.
    at_rest : bool
        If True, the arm starts at rest at the start of the curve, otherwise with the velocity of the curve.
    workers : Workers, optional
        Where the runs are made, see `simulate_many`; default one thread for each core.
    progress : bool
        Show a progress bar.
    """
    robot, curve = panda(), joint_curve()
    models = [wrong_panda(robot, seed) for seed in range(seeds)]
    keys = [(name, eta) for eta in etas for name in laws]
    sets = [{"name": name, "eta": eta, "seed": seed} for name, eta in keys for seed in range(seeds)]
    start = curve(0.0)

    def make(name: str, eta: float, seed: int) -> RunSpec:
        controller: Any = joint_controllers(models[seed], eta, gamma=gamma)[name]
        return RunSpec(robot, controller, curve, duration, q0=start.q, dq0=None if at_rest else start.dq, log_every=10)

    runs = iter(simulate_many(make, sets, workers=workers, progress=progress))
    return D42Joint(robot=robot, results={key: [next(runs) for _ in range(seeds)] for key in keys})


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> D42Joint:
    """Run the experiment of the registry: 60 s each, or 15 s and two gains; `seeds` draws of the parameter error."""
    duration, etas, count = (15.0, (1.0, 10.0), 2) if quick else (60.0, ETAS, 5)
    found = run_d42_joint(count if seeds is None else seeds, duration, etas, workers=workers, progress=not quick)
    return replace(found, judgment=judge_joint(quick, workers))
