"""Identification of five real arms from public logs, beside ordinary least squares and published numbers.

python benchmarks/real_arms.py                     the tables, with logs that are downloaded
python benchmarks/real_arms.py --folder LOGS       with files that are there
python benchmarks/real_arms.py --folder LOGS --write
   also renews the generated part of docs/real_arms.md and its figures
"""

from __future__ import annotations

import argparse
import dataclasses
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _table_text import renew, table

import thunder_py as th
from thunder_py.checks import Array
from thunder_py.cli import identify as command
from thunder_py.cli.data_sets import DATA_SETS, loaded, take
from thunder_py.identification import (
    Identification,
    Log,
    LogFile,
    Prediction,
    cross_validate,
    identify,
)
from thunder_py.identification.equations import Filtering, windows
from thunder_py.identification.report import draw_torques
from thunder_py.plotting.panels import new_panels

DOCS = Path(__file__).parents[1] / "docs"
#: arms whose logs docs/replay.md shows
REPLAYED = ("panda-gaz", "ur10e")
TITLES = {"panda-gaz": "Franka Emika Panda", "ur10e": "UR10e", "xmate7p": "Rokae xMate7p", "ur10": "UR10"}
#: mass in the UR10e's gripper, as its authors state it [kg]; names of gains that are compared, and these [N m/A]
MASS = 2.805
GAINS = {"of the UR10e's own target currents": None, "of a UR10": (14.87, 13.26, 11.13, 10.62, 11.03, 11.47)}
#: stiffness and damping of the simulated control [1/s^2, 1/s]
CONTROL = (1e4, 200.0)
#: share of a single log that the fit sees; the rest validates
TRAINING = 0.75
#: published drive gains [N m/A] and friction currents [A] of the UR10, `ur10_inverse_dynamics_solver` of unisa-acg
UR10_GAINS = np.array([13.5841, 14.2959, 11.3716, 11.2408, 11.7681, 11.7682])
UR10_VISCOUS = np.array([1.0640435, 0.9944064, 0.6795784, 0.3159218, 0.2243949, 0.2358393])
UR10_COULOMB = 0.5 * np.array([2.0506272, 2.4017444, 1.6478424, 0.4687775, 0.4759755, 0.5979504])
#: published amplitudes of the Panda's sigmoids of friction [N m], `get_FrictionTorque.m` of its repository
PANDA_SIGMOID = np.array([0.54615, 0.87224, 0.64068, 1.2794, 0.83904, 0.30301, 0.56489])
#: published friction of the xMate7p, `tmp/solutions/params.txt` of its repository
XMATE_VISCOUS = np.array([7.25e-9, 0.21224, 0.28769, 0.097518, 0.026522, 0.10232, 0.060663])
XMATE_COULOMB = np.array([0.95215, 0.63505, 0.72899, 0.90457, 0.51078, 0.23505, 0.36326])


@dataclass(frozen=True)
class Arm:
    """A data set: robot, logs, options of `identify`, and the command that reads it."""

    name: str
    robot: th.Robot
    logs: list[LogFile]
    options: dict[str, Any]
    command: str
    loaded: list[LogFile]


@dataclass(frozen=True)
class Result:
    """What was found: the fit of all logs, and errors of the fits and on held-out motion, (n,) each."""

    found: Identification
    seconds: float
    torque: Array
    residual: Array
    held_out: Array
    ols: Array
    ols_residual: Array
    ols_held_out: Array
    figure: Any
    simulation: str
    picture: Any


def load(name: str, folder: Path | None) -> Arm:
    """Return a data set as ``thunder identify --data`` reads it."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    arguments = parser.parse_args(["--data", name, *([] if folder is None else ["--folder", str(folder)])])
    take(arguments, parser)
    text = f"thunder identify --data {name}"
    with_load = command._logs([str(path) for path in loaded(arguments)], arguments)
    robot = command.load_robot(arguments.robot, arguments)
    logs, options = command._logs(arguments.logs, arguments), command._options(robot, arguments)
    if options.pop("friction") != "coulomb":
        raise SystemExit(f"{name}: ordinary least squares needs linear friction")
    terms = ("viscous", "coulomb")
    robot = robot.replace(friction=th.robot.Friction(terms=terms, coefficients=np.zeros((robot.n, len(terms)))))
    return Arm(name, robot, logs, options, text, with_load)


def rows(arm: Arm, robot: th.Robot, logs: Sequence[LogFile | Log]) -> tuple[Array, Array]:
    """Return base regressor (k, n, b) and torque (k, n) of the filtered samples that `identify` uses."""
    filtering = Filtering(arm.options["cutoff"], 0.0, arm.options.get("resample"), False, True)
    independent = robot.unknown().base_parameters().independent
    Y, y = [], []
    for log in logs:
        for window in windows(robot, log, filtering):
            samples = window.samples()[window.used]
            Y.append(robot.regressor(*samples.motion)[..., independent])
            y.append(samples.torque)
    return np.concatenate(Y), np.concatenate(y)


def ordinary(Y: Array, y: Array) -> Array:
    """Return the base parameters of ordinary least squares with equal weights."""
    return np.linalg.lstsq(Y.reshape(-1, Y.shape[-1]), y.ravel(), rcond=None)[0]


def rms(values: Array) -> Array:
    return np.sqrt(np.mean(values**2, axis=0))


def measure(arm: Arm) -> Result:
    """Fit all logs, and validate on logs, or on the last part of the only one."""
    start = time.process_time()
    found = identify(arm.robot, arm.logs, **arm.options)
    seconds = time.process_time() - start
    Y, y = rows(arm, arm.robot, arm.logs)
    ols = ordinary(Y, y)
    if len(arm.logs) > 1:
        validation = cross_validate(arm.robot, arm.logs, **arm.options)
        held_out = validation.error
        parts = [rows(arm, arm.robot, [log]) for log in arm.logs]
        squares, count = np.zeros(arm.robot.n), 0
        for k, (Y_k, y_k) in enumerate(parts):
            others = [
                np.concatenate(each) for each in zip(*(part for j, part in enumerate(parts) if j != k), strict=True)
            ]
            left = y_k - Y_k @ ordinary(*others)
            squares, count = squares + np.sum(left**2, axis=0), count + len(left)
        ols_held_out = np.sqrt(squares / count)
        figure = draw_torques(validation.predict(0))
    else:
        whole = arm.logs[0].load(arm.robot)
        cut = round(TRAINING * len(whole))
        fit = identify(arm.robot, whole[:cut], **arm.options)
        held_out = fit.errors(whole[cut:]).rms
        Y_k, y_k = rows(arm, arm.robot, [whole[cut:]])
        ols_held_out = rms(y_k - Y_k @ ordinary(*rows(arm, arm.robot, [whole[:cut]])))
        figure = draw_torques(fit.predict(whole[cut:]))
    recorded, tau = simulated(arm)
    left = ", ".join(f"{value:.3g}" for value in rms(recorded.measured - tau))
    simulation = (
        f"The identified arm, with physically consistent parameters and its friction, under control along the recorded "
        f"motion of the first log: its torques differ from the recorded ones by {left} N m."
    )
    return Result(
        found,
        seconds,
        rms(y),
        found.residual_rms,
        held_out,
        ols,
        rms(y - Y @ ols),
        ols_held_out,
        figure,
        simulation,
        draw(arm, recorded, tau),
    )


def simulated(arm: Arm) -> tuple[Prediction, Array]:
    """Return the recorded torques of the first log, and those of the identified arm that is controlled along it."""
    fit = identify(arm.robot, arm.logs, **arm.options | {"consistent": True})
    recorded = fit.predict(arm.logs[0])
    t = recorded.t - recorded.t[0]
    motion = th.trajectory.spline(t, recorded.q, "not-a-knot")
    start = motion(0.0)
    run = th.simulate(
        fit.robot, th.ComputedTorque(fit.robot, *CONTROL), motion, motion.duration, q0=start.q, dq0=start.dq
    )
    return recorded, np.column_stack([np.interp(t, run.t, column) for column in run.tau.T])


def draw(arm: Arm, recorded: Prediction, found: Array) -> Any:
    """Draw recorded and simulated torques."""
    figure, panels = new_panels([[name] for name in arm.robot.joint_names], (9.0, 1.3 * arm.robot.n))
    for name, measured, tau in zip(arm.robot.joint_names, recorded.measured.T, found.T, strict=True):
        panels[name].plot(recorded.t - recorded.t[0], measured, color="#222222", linewidth=1.2, label="recorded")
        panels[name].plot(recorded.t - recorded.t[0], tau, color="#D55E00", linewidth=0.9, label="simulated")
        panels[name].set_ylabel(f"{name} [N m]", fontsize="x-small")
    panels[arm.robot.joint_names[0]].legend(fontsize="small", loc="upper right")
    panels[arm.robot.joint_names[-1]].set_xlabel("time [s]")
    return figure


def payload(arm: Arm) -> str:
    """Return a table of the payload, from each log without it and from all, with two sets of gains."""
    body, names = [], [files[0].file for files in DATA_SETS[arm.name].logs]
    for name, gain in GAINS.items():
        given = {} if gain is None else {"gain": gain}
        logs, heavy = ([dataclasses.replace(log, **given) for log in each] for each in (arm.logs, arm.loaded))
        for called, unloaded in [*zip(names, ([log] for log in logs), strict=True), ("all of them", logs)]:
            found = identify(arm.robot, unloaded, loaded=heavy, **arm.options | {"consistent": "payload"})
            place = found.names.index("payload.m")
            (low, high), mass = found.intervals()[place], found.estimates[place]
            body.append([name, called, f"{mass:.3f}", f"{low:.3f} to {high:.3f}", f"{100 * (mass / MASS - 1):+.1f}"])
    return table(["gains", "logs without payload", "mass [kg]", "95 % interval", f"minus {MASS} kg [%]"], body, 2)


def published(arm: Arm, found: Identification) -> dict[str, float]:
    """Return published base parameters by their names."""
    n, joints = arm.robot.n, arm.robot.joint_names
    if arm.name == "panda-gaz":
        known = th.Robot.load("panda")
        values = found.base.mapping[:, : known.p] @ known.parameters
        links = {name: value for name, value in zip(found.base.names, values, strict=True) if name.startswith("link")}
        return links | {f"{joints[j]}.coulomb": 0.5 * PANDA_SIGMOID[j] for j in range(n)}
    viscous, coulomb = {
        "ur10": (UR10_GAINS * UR10_VISCOUS, UR10_GAINS * UR10_COULOMB),
        "xmate7p": (XMATE_VISCOUS, XMATE_COULOMB),
    }.get(arm.name, (np.zeros(0), np.zeros(0)))
    values = zip((*viscous, *coulomb), (f"{j}.{kind}" for kind in ("viscous", "coulomb") for j in joints), strict=False)
    return {name: value for value, name in values}


def section(arm: Arm, result: Result) -> str:
    """Return the part of the page about an arm."""
    chosen, found = DATA_SETS[arm.name], result.found
    held = "whole logs in turn" if len(arm.logs) > 1 else f"the last {100 * (1 - TRAINING):.0f} % of the log"
    lines = [
        f"## {TITLES[arm.name]}\n",
        f"{chosen.source}; terms: {chosen.license}.\n",
        f"```bash\n{arm.command}\n```\n",
        f"sets `{chosen.options}`. {found.count} samples of {len(arm.logs)} log{'s' * (len(arm.logs) > 1)} in "
        f"{result.seconds:.1f} s of processor time; {found.rank} of {found.base.count} base parameters, condition "
        f"number {found.condition:.0f}. Held out: {held}.\n",
    ]
    header = ["joint", "torque", "residual", "OLS", "held out", "OLS held out", "held out [%]"]
    columns = zip(
        arm.robot.joint_names,
        result.torque,
        result.residual,
        result.ols_residual,
        result.held_out,
        result.ols_held_out,
        100.0 * result.held_out / result.torque,
        strict=True,
    )
    lines.append(table(header, [[name, *(f"{value:.3g}" for value in values)] for name, *values in columns]) + "\n")
    lines.append(f"![Measured and predicted torques](images/real_arms_{arm.name}.png)\n")
    lines.append(result.simulation + "\n")
    lines.append(f"![Recorded and simulated torques](images/real_arms_{arm.name}_simulated.png)\n")
    if arm.name in REPLAYED:
        lines.append("Adaptation laws on the same log: [replay](replay.md).\n")
    if arm.loaded:
        lines.append(f"A payload of {MASS} kg:\n\n{payload(arm)}\n")
    known = published(arm, found)
    header = ["base parameter", "value", "95 % interval", "OLS", *(["published"] if known else [])]
    body = []
    for name, value, (low, high), other in zip(
        found.base.names, found.base_parameters, found.intervals(), result.ols, strict=True
    ):
        row = [name, f"{value:.4g}", f"{low:.4g} to {high:.4g}", f"{other:.4g}"]
        body.append([*row, *([f"{known[name]:.4g}" if name in known else ""] if known else [])])
    lines.append(
        f"<details><summary>{found.base.count} base parameters</summary>\n\n{table(header, body)}\n\n</details>\n"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where the files are or go")
    parser.add_argument("--only", choices=tuple(TITLES), help="one arm")
    parser.add_argument("--write", action="store_true", help="renew the page and its figures")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    text = []
    for name in [arguments.only] if arguments.only else TITLES:
        arm = load(name, arguments.folder)
        result = measure(arm)
        text.append(section(arm, result))
        print(text[-1], flush=True)
        if arguments.write:
            result.figure.savefig(DOCS / "images" / f"real_arms_{name}.png", dpi=80)
            result.picture.savefig(DOCS / "images" / f"real_arms_{name}_simulated.png", dpi=80)
    if arguments.write and not arguments.only:
        renew(DOCS / "real_arms.md", "benchmarks/real_arms.py", "\n".join(text))


if __name__ == "__main__":
    main()
