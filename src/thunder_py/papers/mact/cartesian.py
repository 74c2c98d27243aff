"""D4.2, Figures 16 to 18 and 21 to 23, Tables 8 and 9: adaptive control of the Panda's hand in task space."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...checks import Array
from ...parallel import Workers
from ...reference import TaskReference
from ...robot import Robot
from ...simulation import Payload, RunSpec, SimulationResult, simulate_many
from ..results import Varied, drawing, spread, titled
from ..softhand.setup import DRAWN as HAND_DRAWN
from ..softhand.setup import HAND_MASS, draw_com
from . import setup
from .sweeps import judge_task


@dataclass(frozen=True, kw_only=True, eq=False)
class D42Cartesian(Varied):
    """Results of the experiment.

    Attributes
    ----------
    robot : Robot
        Model for the poses of the results.
    references : dict of str to reference
        By curve.
    results : dict of (str, str, str, float) to list of SimulationResult
        Runs over the draws of the parameter error or of the hand's mounting, by plant, curve, controller and eta; CT,
        which does not adapt, for every eta.
    """

    robot: Robot
    references: dict[str, setup.Curve]
    results: dict[tuple[setup.Plant, str, str, float], list[SimulationResult]]

    @property
    def etas(self) -> tuple[float, ...]:
        """Adaptive gains, Gamma = eta / |pi|; 1 is fast."""
        return tuple(dict.fromkeys(key[3] for key in self.results))

    def position(self, run: SimulationResult) -> Array:
        """Return the positions of the hand, (k, 3) [m]."""
        return self.robot.forward_kinematics(run.q)[:, :3, 3]

    def errors(self, curve: str, run: SimulationResult) -> tuple[Array, Array]:
        """Return the norms of the errors of position [m] and orientation [rad] over time, (k,) each."""
        desired: TaskReference = self.references[curve](run.t)
        T = self.robot.forward_kinematics(run.q)
        rotation = np.einsum("kij,klj->kil", desired.R, T[:, :3, :3])
        cosine = np.clip(0.5 * (np.trace(rotation, axis1=1, axis2=2) - 1.0), -1.0, 1.0)
        return np.linalg.norm(desired.p - T[:, :3, 3], axis=1), np.arccos(cosine)

    def rmse(self, plant: setup.Plant, curve: str, name: str, eta: float) -> tuple[Array, Array]:
        """Return the RMSE of position [m] and orientation [rad] for every draw."""
        runs = self.results[plant, curve, name, eta]
        both = [np.sqrt(np.mean(np.square(self.errors(curve, run)), axis=1)) for run in runs]
        return np.array([x[0] for x in both]), np.array([x[1] for x in both])

    def table(self) -> str:
        """Return Tables 8 and 9 with the report's numbers and ours, as Markdown."""
        duration = next(iter(self.results.values()))[0].t[-1]
        columns = ["", "", "report [m]", *(f"eta = {eta:g} [m]" for eta in self.etas), "orientation [rad]"]
        parts = []
        for plant, table, title in setup.TABLES:
            rows: list[list[object]] = []
            for curve, name in ((curve, name) for curve, printed in table.items() for name in printed):
                errors = [self.rmse(plant, curve, name, eta) for eta in self.etas]
                orientation = float(np.median(errors[len(errors) // 2][1]))
                rows.append(
                    [curve, name, table[curve][name], *(spread(position) for position, _ in errors), orientation]
                )
            parts.append(titled(f"{title}: RMSE over {duration:g} s, median (least to most)", columns, rows))
        return self.join(*parts)

    def to_dict(self) -> dict[str, Any]:
        """Return Tables 8 and 9, and the RMSE of every draw by plant, curve, controller and eta."""
        rows = []
        for plant, curve, name, eta in self.results:
            position, orientation = self.rmse(plant, curve, name, eta)
            row = {"plant": plant, "curve": curve, "controller": name, "eta": eta}
            rows.append(row | {"position_m": position, "orientation_rad": orientation})
        drawn = {"simulation": "parameter error of 15 %", "hand": HAND_DRAWN}
        tables = {"table_8_position_m": setup.TABLE_8, "table_9_position_m": setup.TABLE_9}
        return {"drawn": drawn, **tables, "rmse": rows, **self.variations()}

    plot = drawing("plot_cartesian")
    plot_paths = drawing("plot_paths")
    plot_orientation = drawing("plot_orientation")


def run_d42_cartesian(
    seeds: int = 3,
    duration: float = 40.0,
    etas: tuple[float, ...] = setup.ETAS,
    *,
    workers: Workers | None = None,
    progress: bool = False,
) -> D42Cartesian:
    """Follow curves with the hand, with errors in all parameters or with a SoftHand unknown to the controller.

    Parameters
    ----------
    seeds : int
        Number of draws of the 15 % parameter error, and of the hand's mounting; see `papers.softhand.setup.draw_com`.
    duration : float
        Duration of every run [s].
    etas : tuple of float
        Adaptive gains, which the report does not print.
    workers : Workers, optional
        Where the runs are made, see `simulate_many`; default one thread for each core.
    progress : bool
        Show a progress bar.
    """
    robot = setup.panda()
    references = setup.curves(robot, duration)
    solver = setup.inverse_kinematics(robot)
    joints = {name: solver.joint_reference(curve, setup.START, duration) for name, curve in references.items()}

    def make(plant: setup.Plant, curve: str, name: str, eta: float, seed: int) -> RunSpec:
        simulated = plant == "simulation"
        model = setup.wrong_panda(robot, seed) if simulated else robot
        unknown = None if simulated else "link7"
        controller: Any = setup.task_controllers(model, setup.stiffness(plant, curve), eta, unknown)[name]
        reference: Any = joints[curve] if name == "AIRC" else references[curve]
        payloads = () if simulated else (Payload(HAND_MASS, draw_com(seed)),)
        return RunSpec(robot, controller, reference, duration, q0=setup.START, payloads=payloads, log_every=10)

    keys = [(p, c, n, eta) for p, table, _ in setup.TABLES for c, row in table.items() for n in row for eta in etas]
    cases = [key for key in keys if key[2] != "CT" or key[3] == etas[0]]
    sets = [
        {"plant": p, "curve": c, "name": n, "eta": eta, "seed": seed} for p, c, n, eta in cases for seed in range(seeds)
    ]
    runs = iter(simulate_many(make, sets, workers=workers, progress=progress))
    results = {key: [next(runs) for _ in range(seeds)] for key in cases}
    results |= {(p, c, n, eta): results[p, c, n, etas[0]] for p, c, n, eta in keys if (p, c, n, eta) not in results}
    return D42Cartesian(robot=robot, references=references, results=results)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> D42Cartesian:
    """Run the experiment of the registry: 40 s each, or 10 s; `seeds` draws of parameter errors and mountings."""
    duration, count = (10.0, 1) if quick else (40.0, 3)
    found = run_d42_cartesian(count if seeds is None else seeds, duration, workers=workers, progress=not quick)
    return replace(found, judgment=judge_task(quick, workers))
