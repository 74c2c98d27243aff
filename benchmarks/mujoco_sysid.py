"""Measure identification beside `mujoco.sysid` (pip install "mujoco[sysid]") and, where installed, FIGAROH.

The same logs and unknown parameters. FIGAROH (pip install figaroh) finds base parameters of all links, viscous and
Coulomb friction and armature by least squares; errors of prediction are those on another log.

python benchmarks/mujoco_sysid.py                                   the tables
python benchmarks/mujoco_sysid.py --quick                           the first row
python benchmarks/mujoco_sysid.py --markdown docs/identification_workflow.md
   also renews the generated part of the page
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from functools import cache
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any, NamedTuple

import mujoco
import numpy as np
from _table_text import renew, table
from mujoco import sysid
from mujoco.sysid.tests.test_integration import ARM_XML

import thunder_py as th
from thunder_py.identification import identify

#: coefficients that are unknown, and the inertial parameters of the last link, which a tool changes
ARMATURE = ("armature",)
EVERYTHING = ("armature", "friction", "link5.m", "link5.mcx", "link5.mcy", "link5.mcz")
#: initial coefficients relative to the true ones; the same of the mass; shift of its center [m]
START, HEAVIER, SHIFT = 0.5, 1.5, 0.02
CUTOFF = 40.0


class Case(NamedTuple):
    """Unknown parameters, noise of the measured positions [rad], length of the log [s], kind of actuators."""

    name: str
    unknown: tuple[str, ...]
    noise: float
    seconds: float
    feedback: bool


CASES = (
    Case("armature (the example of sysid's tests), exact log", ARMATURE, 0.0, 2.0, False),
    Case("armature, damping, tool; exact log", EVERYTHING, 0.0, 4.0, True),
    Case("armature, damping, tool; encoders with noise of 1e-4 rad", EVERYTHING, 1e-4, 4.0, True),
)


class Log(NamedTuple):
    """Measured motion and torque, controls, and MuJoCo's first state."""

    t: np.ndarray
    q: np.ndarray
    dq: np.ndarray
    tau: np.ndarray
    control: np.ndarray
    state: np.ndarray


def results(quick: bool) -> list[dict[str, Any]]:
    """Time both on each case, and compare their estimates with the truth."""
    return [_row(case) for case in (CASES[:1] if quick else CASES)]


def _row(case: Case) -> dict[str, Any]:
    log = record(case)
    truth = true_values(case.unknown)
    ours, our_seconds = _timed(lambda: by_identify(case, log), repeat=5)
    theirs, their_seconds = _timed(lambda: by_sysid(case, log), repeat=1)
    return {
        "case": case.name,
        "parameters": len(truth),
        "thunder_seconds": our_seconds,
        "sysid_seconds": their_seconds,
        "thunder_error": float(_error(ours, truth)),
        "sysid_error": float(_error(theirs, truth)),
        "difference": float(_error(ours, theirs)),
    }


def _timed(function: Any, repeat: int) -> tuple[dict[str, float], float]:
    """Return the result and the shortest time; imports and compilers run before."""
    times = []
    for _ in range(repeat):
        start = perf_counter()
        found = function()
        times.append(perf_counter() - start)
    return found, min(times)


def _error(found: dict[str, float], truth: dict[str, float]) -> float:
    """Return the largest relative error; that of coordinates of the center is relative to the length of the link."""
    length = {name: 0.06 for name in truth if ".c" in name}
    return max(abs(found[name] - value) / length.get(name, abs(value)) for name, value in truth.items())


@cache
def robot() -> th.Robot:
    """Return the arm, whose file has damping, armature and inertias."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arm.xml")
        path.write_text(ARM_XML)
        return th.Robot.load(path)


def values(arm: th.Robot, unknown: tuple[str, ...]) -> dict[str, float]:
    """Return what both methods estimate: coefficients, and mass and center of the last link."""
    chosen = arm.unknown(list(unknown))
    found = dict(zip(chosen.names, map(float, chosen.values), strict=True))
    if "link5.m" in found:
        mass = found["link5.m"]
        for axis in "xyz":
            found[f"link5.c{axis}"] = found.pop(f"link5.mc{axis}") / mass
    return found


def true_values(unknown: tuple[str, ...]) -> dict[str, float]:
    """Return the values of the file."""
    return values(robot(), unknown)


def model_of(case: Case) -> Any:
    """Return MuJoCo's arm, with motors, or with feedback whose gains are known, which keeps it away from its stops."""
    spec = mujoco.MjSpec.from_string(ARM_XML)
    if case.feedback:
        spec.option.integrator = (
            mujoco.mjtIntegrator.mjINT_EULER
        )  # the implicit one applies another torque than it reports
        for actuator in spec.actuators:
            actuator.set_to_position(kp=40.0, kv=4.0)
    return spec


def record(case: Case) -> Log:
    """Let MuJoCo move the arm by the torques of sysid's test, or along their sines by feedback."""
    model = model_of(case).compile()
    data, h = mujoco.MjData(model), model.opt.timestep
    t = np.arange(round(case.seconds / h)) * h
    amplitude, frequency = np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.array([0.5, 0.7, 0.4, 0.9, 0.6])
    control = np.sin(2.0 * np.pi * frequency * t[:, None] + 0.5 * np.arange(5))
    control *= 1.0 if case.feedback else amplitude
    state = sysid.create_initial_state(model, data.qpos, data.qvel, data.act)
    q, dq, tau = np.zeros((3, t.size, 5))
    for k in range(t.size):
        q[k], dq[k] = data.qpos, data.qvel
        data.ctrl[:] = control[k]
        mujoco.mj_step(model, data)
        tau[k] = data.qfrc_actuator
    rng = np.random.default_rng(0)
    q += case.noise * rng.normal(size=q.shape)
    dq += 10.0 * case.noise * rng.normal(size=q.shape)
    return Log(t, q, dq, tau, control, state)


def by_identify(case: Case, log: Log) -> dict[str, float]:
    """Identify with this package from positions and torques, from the same start as `by_sysid`."""
    arm = robot()
    found = identify(_started(arm, case.unknown), log.t, log.q, tau=log.tau, unknown=list(case.unknown), cutoff=CUTOFF)
    return values(found.robot, case.unknown)


def _started(arm: th.Robot, unknown: tuple[str, ...]) -> th.Robot:
    """Return the arm with the initial values of the unknown parameters."""
    theta, chosen = arm.parameters.copy(), arm.unknown(list(unknown))
    theta[chosen.indices] *= START
    inertial = arm.inertial.copy()
    if "link5.m" in unknown:
        inertial[4, 0] *= HEAVIER
        inertial[4, 1:4] = HEAVIER * (arm.inertial[4, 1:4] + arm.inertial[4, 0] * SHIFT)
    theta[: 10 * arm.n] = inertial.ravel()
    return arm.with_parameters(theta)


def by_sysid(case: Case, log: Log) -> dict[str, float]:
    """Identify with `mujoco.sysid` from positions, velocities and torques by rollouts."""
    spec, arm = model_of(case), robot()
    parameters = sysid.ParameterDict()
    for name, true_value in values(arm, case.unknown).items():
        if not name.startswith("link5."):
            _add_coefficient(parameters, name, true_value)
    if "link5.m" in case.unknown:
        _add_tool(parameters, spec)
    model = spec.compile()
    # sysid's rollouts, and the data of its tests, give the sensors of an instant the time of the next one
    measured = sysid.TimeSeries.from_names(log.t + model.opt.timestep, np.hstack([log.q, log.dq]), model)
    sequences = sysid.ModelSequences("arm", spec, "log", log.state, sysid.TimeSeries(log.t, log.control), measured)
    residual = sysid.build_residual_fn(models_sequences=[sequences])
    with contextlib.redirect_stdout(io.StringIO()):  # of the optimizer, whatever `verbose` is
        found, _ = sysid.optimize(initial_params=parameters, residual_fn=residual, verbose=False)
    estimates = {}
    for name, parameter in found.items():
        value = parameter.value
        if name == "tool":
            estimates |= dict(zip(("link5.m", "link5.cx", "link5.cy", "link5.cz"), map(float, value), strict=True))
        else:
            estimates[name] = float(value[0])
    return estimates


def _add_coefficient(parameters: Any, name: str, true_value: float) -> None:
    """Add an armature or a damping, with the bounds of sysid's test."""
    joint, _, kind = name.rpartition(".")
    attribute = {"armature": "armature", "viscous": "damping"}[kind]

    def modify(spec: Any, parameter: Any) -> None:
        value = parameter.value[0]
        setattr(spec.joint(joint), attribute, np.array([value, 0.0, 0.0]) if attribute == "damping" else value)

    parameters.add(sysid.Parameter(name, nominal=true_value, min_value=1e-3, max_value=2.0, modifier=modify))
    parameters[name].value[:] = START * true_value


def _add_tool(parameters: Any, spec: Any) -> None:
    """Add mass and center of the last link; its moments of inertia about the center are known."""
    body = spec.body("link5")
    mass, center = float(body.mass), np.array(body.ipos, dtype=float)
    true_value = np.concatenate([[mass], center])

    def modify(spec: Any, parameter: Any) -> None:
        sysid.model_modifier.apply_body_mass_ipos(spec, "link5", parameter.value[0], parameter.value[1:4])

    low, high = [0.1 * mass, *(center - 0.1)], [4.0 * mass, *(center + 0.1)]
    parameters.add(sysid.Parameter("tool", true_value, low, high, modifier=modify))
    parameters["tool"].value[:] = [HEAVIER * mass, *(center + SHIFT)]


def base_parameters(samples: int = 10_000) -> list[list[str]]:
    """Return rows of name, base parameters, seconds and error of prediction, of both packages that find all of them."""
    arm, h = robot(), 2e-3
    logs = []
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        motion = th.trajectory.FourierSeries(*rng.normal(scale=0.3, size=(2, 5, 5)), np.zeros(5), 0.2)
        t = h * np.arange(samples)
        q, dq, ddq = motion(t)
        tau = arm.inverse_dynamics(q, dq, ddq)
        noisy = q + 1e-5 * rng.normal(size=q.shape), tau + 0.02 * rng.normal(size=q.shape)
        logs.append((th.identification.Log(t=t, q=noisy[0], tau=noisy[1]), (q, dq, ddq, tau)))
    (log, _), (_, (q, dq, ddq, tau)) = logs

    def of_ours() -> tuple[int, np.ndarray]:
        # friction of all joints and armature are unknown as well
        found = identify(arm, log, friction="coulomb", cutoff=CUTOFF)
        plant = found.robot
        return found.base.count + len(found.extra), plant.inverse_dynamics(q, dq, ddq)

    def of_theirs() -> tuple[int, np.ndarray]:
        return _by_figaroh(log, (q, dq, ddq))

    rows = []
    for name, function, repeat in (("thunder_py", of_ours, 5), ("FIGAROH", of_theirs, 2)):
        try:
            times = []
            for _ in range(repeat):
                start = perf_counter()
                count, predicted = function()
                times.append(perf_counter() - start)
        except ImportError as error:
            rows.append([name, "", f"not installed: {error}", ""])
            continue
        missed = np.sqrt(np.mean((predicted - tau) ** 2) / np.mean(tau**2))
        rows.append([name, str(count), f"{min(times):.2g}", f"{100.0 * missed:.2g} %"])
    return rows


def _by_figaroh(log: Any, motion: tuple[np.ndarray, ...]) -> tuple[int, np.ndarray]:
    """Filter, differentiate, find base parameters and least squares by FIGAROH's functions, and predict torques."""
    import pinocchio
    from figaroh.identification import identification_tools as tools
    from figaroh.tools.qrdecomposition import QRDecomposer
    from figaroh.tools.regressor import RegressorBuilder, RegressorConfig

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arm.xml")
        path.write_text(ARM_XML)
        model = pinocchio.buildModelFromMJCF(str(path))
    n, options = model.nv, {"ts": 2e-3, "cut_off_frequency_butterworth": CUTOFF, "act_idxv": list(range(model.nv))}
    options["cut_off_frequency_butterworth"] *= 2.0  # it divides by the sampling frequency where SciPy has half of it
    builder = RegressorBuilder(
        SimpleNamespace(model=model, data=model.createData()),
        RegressorConfig(has_friction=True, has_actuator_inertia=True, additional_columns=3),
    )
    positions = tools.low_pass_filter_data(log.q, options)
    torques = tools.low_pass_filter_data(log.tau, options)[:-2]
    moved = tools.calculate_first_second_order_differentiation(model, positions, options)
    W = builder.build_basic_regressor(*moved, identif_config=options)
    kept = np.flatnonzero(np.linalg.norm(W, axis=0) > 1e-3)
    solver = QRDecomposer()
    _, _, names, values = solver.double_decomposition(torques.T.ravel(), W[:, kept], [f"p{k}" for k in kept])[:4]
    other = builder.build_basic_regressor(*motion, identif_config=options)[:, kept][:, solver.get_base_indices()]
    return len(names), (other @ values).reshape(n, -1).T


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the table of the documentation."""
    header = [
        "case",
        "parameters",
        "thunder_py [ms]",
        "mujoco.sysid [s]",
        "ratio",
        "error",
        "error of sysid",
        "between both",
    ]
    lines = []
    for row in rows:
        ours, theirs = row["thunder_seconds"], row["sysid_seconds"]
        errors = [f"{100.0 * row[name]:.2g} %" for name in ("thunder_error", "sysid_error", "difference")]
        lines.append(
            [row["case"], str(row["parameters"]), f"{1e3 * ours:.0f}", f"{theirs:.2g}", f"{theirs / ours:.0f}", *errors]
        )
    return table(header, lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the first case only")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="renew the generated part of this file")
    arguments = parser.parse_args()
    text = markdown(results(arguments.quick))
    if not arguments.quick:
        header = ["all base parameters, 10 000 samples", "found", "time [s]", "error of predicted torques"]
        text += "\n" + table(header, base_parameters()) + "\n"
    if arguments.markdown:
        renew(arguments.markdown, "benchmarks/mujoco_sysid.py", text)
    print(text)


if __name__ == "__main__":
    main()
