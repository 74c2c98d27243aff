"""Does an installed package work? ``python tests/smoke.py``, with nothing but the package and its requirements.

Quantities of a Panda are compared with 50-digit results that share no code with the package; then the commands are run.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import thunder_py as th

TRUTH = Path(__file__).parent / "data" / "truth" / "panda.json"


def check_place():
    """What is imported must be what was installed, with all it consists of."""
    package = Path(th.__file__).parent
    assert "site-packages" in package.parts, f"{package} is no installed package"
    assert th.__version__ == importlib.metadata.version("thunder_py")
    for part in ("py.typed", "_core.pyi", "robots/panda.yaml"):
        assert (package / part).is_file(), f"no {part} in {package}"


def check_truth():
    """Dynamics, derivatives and regressors of the Panda's chain, to 1e-10."""
    truth = json.loads(TRUTH.read_text())
    dh = [[row[key] for key in ("a", "alpha", "d", "theta")] for row in truth["dh"]]
    poses = {"base": truth["T_base"], "tool": truth["T_ee"]}
    robot = th.Robot.from_dh(dh, convention=truth["convention"], gravity=truth["gravity"], **poses)
    robot = robot.with_parameters(np.ravel(truth["pi"]))
    for state in truth["states"]:
        q, dq, ddq, dq_r, ddq_r = (np.array(state[key]) for key in ("q", "qd", "qdd", "qdr", "qddr"))
        for name, actual in {
            "T_0_ee": robot.forward_kinematics(q),
            "J": robot.jacobian(q),
            "M": robot.mass_matrix(q),
            "C": robot.coriolis_matrix(q, dq),
            "Mdot": robot.mass_matrix_dot(q, dq),
            "tau_ID_qdd": robot.inverse_dynamics(q, dq, ddq),
            "tau": robot.slotine_li_regressor(q, dq, dq_r, ddq_r) @ robot.parameters,
        }.items():
            expected = np.array(state[name])
            np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10 * max(1, np.abs(expected).max()))


def check_batch():
    """A batch, which runs other machine code than one state does, gives the same."""
    robot = th.Robot.load("panda")
    q, dq, ddq = np.random.default_rng(0).uniform(-1, 1, (3, 103, robot.n))
    one_by_one = [robot.inverse_dynamics(*state) for state in zip(q, dq, ddq, strict=True)]
    np.testing.assert_allclose(robot.inverse_dynamics(q, dq, ddq, threads=2), one_by_one, rtol=1e-10, atol=1e-10)


def command(*words: str, cwd: str) -> str:
    """Run `thunder` as a process of its own, away from any checkout."""
    done = subprocess.run([sys.executable, "-m", "thunder_py", *words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"thunder {' '.join(words)}: {done.stderr}"
    return done.stdout


def check_instruction_sets():
    """The widest instruction set of this processor is used."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    widest = next((isa for isa, flag in (("avx512", "avx512dq"), ("avx2", "avx2")) if flag in flags), "baseline")
    done = subprocess.run(
        [sys.executable, "-c", "import thunder_py.robot"],
        env={**os.environ, "THUNDER_ISA": widest},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()


def check_commands():
    """The version, the demo's errors, and a generated library."""
    with tempfile.TemporaryDirectory() as folder:
        assert th.__version__ in command("--version", cwd=folder)
        assert "panda" in command("info", cwd=folder)
        demo = json.loads(command("demo", "--json", "--no-plot", "--duration", "10", cwd=folder))
        assert demo, "the demo prints no figures"
        command("gen", "elbow", "-o", folder, cwd=folder)
        assert (Path(folder) / "elbow_generatedFiles" / "elbow_gen.cpp").is_file(), "no source was generated"


if __name__ == "__main__":
    for check in (check_place, check_truth, check_batch, check_instruction_sets, check_commands):
        check()
    print(f"thunder_py {th.__version__} in {Path(th.__file__).parent} works")
