"""From logs in CSV files to a URDF with identified parameters: ``python examples/identification_workflow.py [FOLDER]``.

An arm with friction carries a tool that its data sheet does not know. Its controller moves it through several motions
and logs noisy positions and torques. The logs identify the arm; logs that were held out judge the result.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import thunder_py as th
from thunder_py.identification import compare_models, cross_validate, identify, write_report

TOOL = th.Payload(1.5, com=(0.02, 0.0, 0.08), inertia=np.diag([4e-3, 4e-3, 2e-3]))
FRICTION = np.array([[8.0, 3.0], [8.0, 3.0], [5.0, 2.0], [1.0, 0.3], [1.0, 0.3], [0.5, 0.1]])  # [N m s/rad], [N m]
PERIOD = 2e-3  # of the controller [s]
CUTOFF = 20.0  # [Hz]
CENTER = np.array([0.0, -1.2, 1.2, -1.0, -1.5, 0.0])


def robots() -> tuple[th.Robot, th.Robot]:
    """Return the arm of the data sheet, with unknown friction, and the real one."""
    sheet = th.Robot.load("ur5e")
    terms = ("viscous", "coulomb")
    nominal = sheet.replace(friction=th.robot.Friction(terms=terms, coefficients=np.zeros((6, 2))))
    real = sheet.replace(friction=th.robot.Friction(terms=terms, coefficients=FRICTION))
    return nominal, TOOL.added_to(real)


def record(folder: Path, nominal: th.Robot, real: th.Robot, seed: int, seconds: float) -> Path:
    """Move the real arm by a controller that knows the data sheet, and write a log as a CSV file."""
    rng = np.random.default_rng(seed)
    frequency, phase = rng.uniform(0.1, 0.5, 6), rng.uniform(0.0, 2.0 * np.pi, 6)
    motion = th.reference.Sinusoid(rng.uniform(0.5, 0.9, 6), frequency, center=CENTER, phase=phase)
    start = motion(0.0)
    law = th.PassivityBased(nominal, 8.0, [40.0, 40.0, 30.0, 5.0, 5.0, 0.8])
    options = {"control_period": PERIOD, "q0": start.q, "dq0": start.dq}
    run = th.simulate(real, law, motion, seconds, PERIOD / 8, **options)
    q = run.q + 2e-5 * rng.normal(size=run.q.shape)  # encoders of about 17 bits
    tau = run.tau + 0.2 * rng.normal(size=run.q.shape)
    path = folder / f"motion{seed}.csv"
    header = ",".join(["t", *(f"q{j}" for j in range(1, 7)), *(f"tau{j}" for j in range(1, 7))])
    rows = np.column_stack([run.t, q, tau])[:-1]
    np.savetxt(path, rows, fmt="%.7g", delimiter=",", header=header, comments="")
    return path


def main(folder: str | Path, motions: int = 5, seconds: float = 15.0) -> None:
    """Record, identify, validate, compare, report, save."""
    folder = Path(folder)
    nominal, real = robots()
    *logs, check = (record(folder, nominal, real, seed, seconds) for seed in range(motions + 1))

    options = {"cutoff": CUTOFF, "hold": PERIOD}
    found = identify(nominal, logs, consistent=True, **options)
    print(f"{found.base.count} base parameters from {len(logs)} logs, condition number {found.condition:.0f}")
    low, high = identify(nominal, logs, **options).intervals().T
    truth = found.base.mapping @ real.parameters
    inside = np.mean((low <= truth) & (truth <= high))
    print(f"truth within the 95 % intervals of least squares: {100 * inside:.0f} % of the base parameters")

    validation = cross_validate(nominal, logs, consistent=True, **options)
    print(f"\ncross-validation over {len(logs)} logs\n{validation.table()}")

    viscous = th.robot.Friction(terms=("viscous",), coefficients=np.zeros((6, 1)))
    models = {
        "links, viscous and Coulomb friction": {},
        "links, viscous friction": {"robot": nominal.replace(friction=viscous)},
        "tool, viscous and Coulomb friction": {"unknown": ["wrist_3_link", "friction"]},
    }
    comparison = compare_models(nominal, logs, models, consistent=True, **options)
    print(f"\nmodels by their error on held-out logs\n{comparison.table()}")

    before = nominal_error(nominal, check)
    after = found.errors(check)
    print(f"\na new motion: error {100 * before:.1f} % of the torque by the data sheet, ", end="")
    print(f"{100 * float(np.sqrt(np.mean(after.relative**2))):.1f} % identified")

    write_report(found, folder / "report.html", logs=[check], validation=validation, comparison=comparison)
    found.save(folder / "identified.urdf")
    again = th.Robot.load(folder / "identified.urdf")
    same = np.allclose(again.gravity_vector(CENTER), found.robot.gravity_vector(CENTER))
    print(f"\nreport.html and identified.urdf in {folder}; the URDF has the identified torques: {same}")


def nominal_error(nominal: th.Robot, log: Path) -> float:
    """Return the error of the data sheet's torques relative to the measured ones."""
    columns = np.loadtxt(log, delimiter=",", skiprows=1)
    motion = th.identification.differentiate(columns[:, 0], columns[:, 1:7], CUTOFF)
    tau = th.identification.lowpass(columns[:, 0], columns[:, 7:], CUTOFF)
    error = tau - nominal.inverse_dynamics(motion.q, motion.dq, motion.ddq)
    return float(np.sqrt(np.mean(np.mean(error**2, axis=0) / np.mean(tau**2, axis=0))))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
