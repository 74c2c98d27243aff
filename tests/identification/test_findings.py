"""Wrong signals are found where they show, and nothing is proposed for right ones; rates: ``pytest -m release -s``."""

from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import ThunderWarning
from thunder_py.identification import Correction, Log, LogFile, find_correction, identify
from thunder_py.identification.findings import _Trials

LOGS = Path(__file__).parents[2].parent / "shared" / "data" / "logs"
UR10E = ("ur10e/ur10e.urdf", {"columns": {"t": 0, "q": "1:7", "tau": "25:31"}}, 100.0)
XMATE = ("xmate7p/XM7p.urdf", {"rate": 50.0, "columns": {"q": "0:7", "tau": "21:28"}}, None)
#: arm, options of the reader, frequency
PUBLIC = {
    "panda_gaz": ("panda", {}, 1000.0),
    "ur10e/load.csv": UR10E,
    "ur10e/ur-20_02_12-40sec_12harm.csv": UR10E,
    "xmate7p/xm1.csv": XMATE,
    "xmate7p/xm2.csv": XMATE,
    "ur10_bag/ur10.db3": ("ur10_bag/ur10.urdf", {}, 125.0),
}


def inverse(text, n):
    maps = Correction.parse(text, n)
    Q = np.linalg.inv(maps.q)
    return Correction(Q, np.linalg.inv(maps.tau), -Q @ maps.zero)


def recorded(name, seed=0):
    """Return an arm and a log of its motion with friction and noise of 1 % of the torque."""
    rng, robot = np.random.default_rng(seed), th.Robot.load(name)
    n, t = robot.n, np.linspace(0.0, 20.0, 1001)
    waves = th.reference.Sinusoid(rng.uniform(0.4, 0.8, n), rng.uniform(0.1, 0.5, n), phase=rng.uniform(0.0, 6.0, n))(t)
    tau = robot.inverse_dynamics(*waves)
    scale = np.sqrt(np.mean(tau**2, axis=0))
    tau += scale * (0.2 * np.tanh(waves.dq / 0.05) + 0.2 * waves.dq + 0.01 * rng.normal(size=tau.shape))
    return robot, Log(t=t, q=waves.q, dq=waves.dq, ddq=waves.ddq, tau=tau)


def prior(robot, kind):
    if kind == "none":
        return robot.replace(inertial=np.zeros_like(robot.inertial))
    factors = np.random.default_rng(1).normal(1.0, 0.3, (robot.n, 1)) if kind == "wrong" else 1.0
    return robot.replace(inertial=factors * robot.inertial)


@pytest.mark.parametrize("arm", ["panda", "ur5e"])
@pytest.mark.parametrize("kind", ["none", "wrong"])
def test_right_signals_stay(arm, kind):
    robot, log = recorded(arm)
    assert find_correction(prior(robot, kind), log) is None


@pytest.mark.parametrize(
    ("arm", "kind", "fault"),
    [
        ("panda", "none", "tau4=-tau4"),
        ("panda", "wrong", "q2=-q2, q4=-q4, tau2=-tau2, tau4=-tau4"),
        ("ur5e", "none", "q2=q3, q3=q2, tau2=tau3, tau3=tau2"),
        ("ur5e", "wrong", "q2=q2-pi/2"),
        ("ur5e", "wrong", "q5=q5-q4, tau4=tau4+tau5"),
    ],
)
def test_wrong_signals_are_found(arm, kind, fault):
    robot, log = recorded(arm)
    wrong = log.corrected(inverse(fault, robot.n))
    found = find_correction(prior(robot, kind), wrong)
    np.testing.assert_allclose(wrong.corrected(str(found)).q, log.q, atol=1e-5)
    np.testing.assert_allclose(wrong.corrected(found).tau, log.tau, atol=1e-5)


@pytest.mark.release
def test_a_coupling_with_any_numbers_explains_the_torques():
    robot, log = recorded("ur5e")
    wrong = log.corrected(inverse("q3=q3-0.7*q2, tau2=tau2+0.7*tau3", 6))
    right, found = (value(robot, each) for each in (log, wrong.corrected(find_correction(robot, wrong))))
    assert found < right + 0.5


def value(robot, log):
    """Return the sum of the logarithms of the residuals of a fit."""
    chosen = np.linspace(0, len(log) - 1, 250).astype(int)
    motion = np.stack([log.q, log.dq, log.ddq])[:, chosen]
    return _Trials(robot, motion, log.tau[chosen]).fit(Correction.none(robot.n)).value


def faults(n, rng):
    j, k = rng.choice(n, 2, replace=False) + 1
    i = int(rng.integers(1, n))
    return (
        f"tau{j}=-tau{j}",
        f"q{j}=-q{j}, tau{j}=-tau{j}",
        f"q{j}=-q{j}",
        f"q{j}=q{k}, q{k}=q{j}, tau{j}=tau{k}, tau{k}=tau{j}",
        f"tau{j}=tau{k}, tau{k}=tau{j}",
        f"q{i + 1}=q{i + 1}-q{i}, tau{i}=tau{i}+tau{i + 1}",
        f"q{j}=q{j}{rng.choice(['+pi/2', '-pi/2', '+pi'])}",
        f"q{j}=-q{j}, tau{j}=-tau{j}, q{k}=-q{k}, tau{k}=-tau{k}",
    )


@pytest.mark.release
@pytest.mark.filterwarnings("ignore::thunder_py.errors.ThunderWarning")
@pytest.mark.skipif(not LOGS.is_dir(), reason="needs ../shared/data/logs")
@pytest.mark.parametrize("name", PUBLIC)
def test_public_logs(name):
    """Nothing is proposed for them, and what is wrong is found where the torques show it."""
    arm, reading, frequency = PUBLIC[name]
    robot = th.Robot.load(LOGS / arm if "/" in arm else arm)
    fit = identify(robot, LogFile(LOGS / name, **reading), cutoff=5.0, resample=frequency)
    shown = fit.predict(LogFile(LOGS / name, **reading))
    t, n = shown.t, robot.n
    ddq = np.gradient(shown.dq, t, axis=0)
    log = Log(t=t, q=shown.q, dq=shown.dq, ddq=ddq, tau=shown.measured)
    assert find_correction(robot, log) is None
    right, rates = value(robot, log), {"found": 0, "invisible": 0, "missed": 0}
    for fault in faults(n, np.random.default_rng(1))[[*PUBLIC].index(name) % 2 :: 2]:  # half of them with each log
        wrong = log.corrected(inverse(fault, n))
        found = find_correction(robot, wrong)
        left = value(robot, wrong if found is None else wrong.corrected(found)) - right
        rates["missed" if left > 0.3 else "found" if found else "invisible"] += 1
        print(f"  {fault}: {found}")
    print(name, rates)
    assert rates["missed"] == 0


def test_equations_in_words():
    assert_refused(
        (lambda: Correction.parse("q1", 2), "correct must hold equations such as q2=-q2 or tau4=tau5, got 'q1'"),
        (lambda: Correction.parse("q1=q1q2", 2), "correct must hold equations such as ..., got 'q1=q1q2'"),
        (lambda: Correction.parse("q3=q1", 2), "joints of correct must be 1 to 2, got 3"),
        (lambda: Correction.parse("q1=tau1", 2), "correct must make q of q and numbers, and tau of tau, got ..."),
        (lambda: Correction.parse("tau1=tau1+2", 2), "correct must make q of q and numbers, and tau of tau, got ..."),
        (lambda: Correction.parse("q1=q2", 2), "correct must use each joint, so that nothing is lost, got 'q1=q2'"),
    )


def test_nothing_is_proposed_for_a_log_too_short():
    robot, log = recorded("elbow")
    with pytest.warns(ThunderWarning, match="too short") as caught:
        identify(robot, Log(t=log.t[:20], q=log.q[:20], tau=log.tau[:20]), cutoff=10.0)
    assert not any("correct=" in str(each.message) for each in caught)


def test_proposals_keep_to_the_prior():
    robot, rng = th.Robot.load("ur5e"), np.random.default_rng(0)
    t, tool = np.linspace(0.0, 20.0, 1001), th.Payload(2.0, com=(0.05, 0.02, 0.05), inertia=0.01 * np.eye(3))
    waves = th.reference.Sinusoid(rng.uniform(0.2, 0.7, 6), rng.uniform(0.1, 0.5, 6), phase=rng.uniform(0.0, 6.0, 6))(t)
    tau = tool.added_to(robot).inverse_dynamics(*waves)
    tau += [4.0, 4.0, 4.0, 1.0, 1.0, 1.0] * (np.tanh(waves.dq / 0.05) + 0.5 * waves.dq) + 0.05 * rng.normal(
        size=tau.shape
    )
    log = Log(t=t, q=waves.q, tau=tau).corrected("q6=-q6, tau6=-tau6")
    with pytest.warns(ThunderWarning, match="correct='q6=-q6, tau6=-tau6' of LogFile"):  # not another zero of joint 6
        identify(robot, log, cutoff=5.0, friction="coulomb")
