import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.signal import lfilter

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import ContactDetector, EnergyObserver, MomentumObserver, Status, contact_thresholds
from thunder_py.kinematics import estimate_wrench, joint_torque
from thunder_py.model.description import Elastic, Friction
from thunder_py.simulation import ExternalTorque

DT = 1e-3
Q = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])


def gantry() -> th.Robot:
    """Three orthogonal prismatic joints: M and G are constant and C is zero, so the trapezoidal rule is exact."""
    half = 0.5 * np.pi
    dh = [[0, 0, 0, 0], [0, half, 0, half], [0, half, 0, 0]]
    inertial = [[m, 0, 0, 0, 0.1, 0, 0, 0.1, 0, 0.1] for m in (3.0, 2.0, 1.0)]
    return th.Robot.from_dh(dh, joint_types="PPP", inertial=inertial)


def moving(robot: th.Robot, **options):
    """A run on a sinusoid with an observer."""
    n = robot.n
    center = Q if n == 7 else np.full(n, 0.3)
    law = th.ComputedTorque(robot, 100.0, 20.0)
    motion = th.reference.Sinusoid(np.full(n, 0.4), np.linspace(0.3, 0.8, n), center=center)
    return th.simulate(robot, law, motion, options.pop("duration", 0.5), options.pop("dt", DT), **options)


def second_order(t, w, zeta):
    """Unit step response of w^2 / (s^2 + 2 zeta w s + w^2), from its matrix exponential."""
    A = np.array([[0.0, 1.0], [-w * w, -2.0 * zeta * w]])
    return 1.0 - np.array([expm(A * x)[0, 0] for x in t])


@pytest.mark.parametrize(("order", "zeta"), [(1, None), (2, None), (2, 0.5), (2, 2.0)])
def test_constant_push_gives_the_exact_step_response(order, zeta):
    robot, push = gantry(), np.array([3.0, -2.0, 5.0])
    observer = MomentumObserver(robot, [20.0, 50.0, 300.0], order=order, damping_ratio=zeta)
    run = moving(robot, external=ExternalTorque(push), observers=observer, duration=0.1)
    for i, w in enumerate((20.0, 50.0, 300.0)):
        response = 1.0 - np.exp(-w * run.t) if order == 1 else second_order(run.t, w, zeta or 1.0)
        np.testing.assert_allclose(run.external_estimate[:, i], push[i] * response, rtol=0.0, atol=1e-9)


def test_push_on_a_moving_arm_with_friction_rotors_and_armature():
    """The error is that of the trapezoidal rule, of second order in the period."""
    robot = th.Robot.load("panda")
    friction = Friction(terms=("viscous", "coulomb"), coefficients=np.tile([0.5, 0.2], (7, 1)), delta=0.5)
    robot = robot.replace(friction=friction, armature=np.full(7, 0.05))
    push = np.array([5.0, -8.0, 3.0, 4.0, 1.0, -1.0, 0.5])

    def error(dt):
        observer = MomentumObserver(robot, 40.0)
        run = moving(robot, external=ExternalTorque(push), observers=observer, dt=dt, duration=0.3)
        return np.abs(run.external_estimate - np.outer(1.0 - np.exp(-40.0 * run.t), push)).max()

    coarse, fine = error(4e-3), error(2e-3)
    assert fine < 3e-3
    assert 1.7 < math.log2(coarse / fine) < 2.3


def test_energy_observer_estimates_the_power():
    robot, push = gantry(), np.array([3.0, -2.0, 5.0])
    observer = EnergyObserver(robot, 80.0, order=2)
    run = moving(robot, external=ExternalTorque(push), observers=observer)
    power = run.dq @ push
    mean = np.concatenate([[0.0], 0.5 * (power[1:] + power[:-1])])
    A = np.array([[0.0, 1.0], [-6400.0, -160.0]])
    Phi, x, expected = expm(A * DT), np.zeros(2), []
    for value in mean:
        x = Phi @ (x - [value, 0.0]) + [value, 0.0]
        expected.append(x[0])
    np.testing.assert_allclose(run.signals["external_power"][:, 0], expected, atol=1e-8)


def test_steps_by_hand_equal_the_run_and_the_log():
    robot = th.Robot.load("panda").replace(limits=None)
    observer = MomentumObserver(robot, 40.0, order=2, detector=ContactDetector(1.0))
    run = moving(robot, external=ExternalTorque(np.full(7, 2.0), start=0.1), observers=observer, duration=0.2)
    np.testing.assert_array_equal(observer.estimate, run.external_estimate[-1])
    np.testing.assert_array_equal(observer.apply(run.t, run.q, run.dq, run.tau), run.external_estimate)
    np.testing.assert_array_equal(observer.detector.apply(run.external_estimate), run.contact)
    observer.reset()
    assert not observer.contact.any()
    assert not observer.estimate.any()
    for k, t in enumerate(run.t):
        np.testing.assert_array_equal(
            observer.step(t, run.q[k], run.dq[k], run.tau[max(k - 1, 0)]), run.external_estimate[k]
        )
        np.testing.assert_array_equal(observer.contact, run.contact[k])
    assert observer.status == Status.ok
    assert run.names["external_estimate"] == robot.joint_names


def log():
    robot = gantry()
    return robot, moving(robot, external=ExternalTorque([3.0, -2.0, 5.0]), duration=0.06)


def feed(observer, run, first, last, **replaced):
    for k in range(first, last):
        values = {"q": run.q[k], "dq": run.dq[k], "tau": run.tau[max(k - 1, 0)], **replaced}
        observer.step(run.t[k], values["q"], values["dq"], values["tau"])


def test_missing_states_are_bridged():
    robot, run = log()
    observer = MomentumObserver(robot, 40.0)
    feed(observer, run, 0, 20)
    before = observer.estimate
    feed(observer, run, 20, 30, q=np.full(3, np.nan))
    assert observer.status == Status.invalid_input
    np.testing.assert_array_equal(observer.estimate, before)
    feed(observer, run, 30, 31)
    assert observer.status == Status.ok
    np.testing.assert_allclose(
        observer.estimate, np.array([3.0, -2.0, 5.0]) * (1.0 - np.exp(-40.0 * run.t[30])), atol=1e-9
    )


@pytest.mark.parametrize("fault", ["tau", "t", "huge"])
def test_invalid_input_keeps_the_estimate(fault):
    robot, run = log()
    observer = MomentumObserver(robot, 40.0)
    feed(observer, run, 0, 20)
    before, nan = observer.estimate, np.full(3, np.nan)
    state = {"t": run.t[20], "q": run.q[20], "dq": run.dq[20], "tau": run.tau[19]}
    state |= {"dq": np.full(3, 1e308)} if fault == "huge" else {fault: nan[0] if fault == "t" else nan}
    np.testing.assert_array_equal(observer.step(**state), before)
    assert observer.status == Status.invalid_input
    feed(observer, run, 21, 23)
    assert observer.status == Status.ok
    assert np.abs(observer.estimate).max() > np.abs(before).max()
    periods = {"tau": 21, "t": 20, "huge": 22}[fault]  # a period without a torque, or a time, is left out
    left = np.exp(-40.0 * DT * periods)
    np.testing.assert_allclose(observer.estimate, np.array([3.0, -2.0, 5.0]) * (1.0 - left), atol=1e-9)


@pytest.mark.parametrize("shift", [0.5, -0.01])
def test_pauses_and_time_that_runs_backwards_hold_the_estimate(shift):
    robot, run = log()
    observer = MomentumObserver(robot, 40.0)
    feed(observer, run, 0, 20)
    before = observer.estimate
    after = observer.step(run.t[20] + shift, run.q[30], -run.dq[30], run.tau[29])
    np.testing.assert_array_equal(after, before)
    assert observer.status == Status.ok


def test_detector_waits_and_releases_with_hysteresis():
    detector = ContactDetector([1.0, 10.0], samples=3, release=0.5)
    r = np.zeros((14, 2))
    r[:, 0] = [0, 2, 2, 0, -2, 2, -2, 0.7, 0.7, 0.7, 0.7, 0.4, 0.4, 0.4]
    assert detector.apply(r)[:, 0].astype(int).tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0]
    assert not detector.apply(r)[:, 1].any()


@pytest.mark.parametrize("samples", [1, 5])
def test_thresholds_have_the_rate_of_false_alarms_on_other_noise(samples):
    """Low-passed Gaussian noise as of an observer; thresholds from 100 s, counted over other 1000 s."""
    rng, a, rate = np.random.default_rng(5), math.exp(-30.0 * 2e-3), 0.1

    def noise(seconds):
        white = rng.normal(size=(round(500 * seconds), 2)) * [1.0, 0.2]
        return lfilter([1.0 - a], [1.0, -a], white, axis=0)

    thresholds = contact_thresholds(noise(100.0), 2e-3, rate, samples=samples)
    contact = ContactDetector(thresholds, samples=samples).apply(noise(1000.0))
    alarms = int(np.sum(contact[1:] & ~contact[:-1]))
    assert 0.3 < alarms / (rate * 1000.0) < 2.0


def test_wrench_of_singular_postures_is_nan():
    robot = th.Robot.load("elbow")
    q = np.array([[0.3, 0.8], [0.3, 0.0]])
    force = [4.0, -3.0, 0.0, 0.0, 0.0, 0.0]
    estimate = estimate_wrench(robot, q, joint_torque(robot, q, force), rows=[0, 1])
    np.testing.assert_allclose(estimate.wrench[0], force, atol=1e-12)
    np.testing.assert_allclose(estimate.unexplained[0], 0.0, atol=1e-12)
    assert np.isnan(estimate.wrench[1, :2]).all()
    assert np.isnan(estimate.unexplained[1]).all()
    assert estimate.condition[1] > 1e10


@pytest.mark.parametrize(("name", "frame"), [("panda", 0), ("panda", 1), ("ur5e", 1), ("scara", 1), ("iiwa14", 2)])
def test_frames_near_the_base_are_undetermined(name, frame):
    """The Jacobian has fewer columns than rows that are not zero; LAPACK may return a least singular value of -0.0."""
    robot = th.Robot.load(name)
    rng = np.random.default_rng(frame)
    rows = ["x", "y", "z"] if robot.n < 6 else None
    q = rng.normal(size=(20, robot.n))
    estimate = estimate_wrench(robot, q, rng.normal(size=robot.n), frame, rows=rows)
    assert (estimate.condition > 1e6).all()
    assert np.isnan(estimate.unexplained).all()


def test_runs_refuse_bad_observers():
    robot = gantry()
    one = MomentumObserver(robot, 10.0)
    assert_refused(
        ((3.0,), "observers must be an ExternalObserver..."),
        (({"a": one, "b": one},), "observers must be different objects..."),
        (({"tau": one},), "observers must not use the names tau..."),
        (({"error": one},), "...a signal 'error' is logged already..."),
        ((MomentumObserver(th.Robot.load("elbow"), 10.0),), "observers must have the plant's 3 joints, got 2"),
        call=lambda observers: moving(robot, observers=observers),
    )
    with pytest.raises(ValueError, match=r"control_period must be less than 0\.1 s for observers, got 0\.2"):
        moving(robot, observers=one, dt=0.2)
    soft, law = robot.replace(elastic=(Elastic(joint=1, K=(1e3,), D=(9.0,), Mm=0.1),)), th.PDGravity(robot, 1.0, 0.1)
    for plant, model, message in ((soft, robot, "1, got 0"), (robot, soft, "0, got 1")):
        with pytest.raises(ValueError, match=f"observers must have the plant's elastic joints, .* motors: {message}$"):
            th.simulate(plant, law, th.reference.SetPoint(np.zeros(3)), 0.1, observers=MomentumObserver(model, 10.0))
    runs = [
        th.RunSpec(robot, th.PDGravity(robot, 9.0, 9.0), th.reference.SetPoint(np.zeros(3)), 0.1, observers=one)
    ] * 2
    with pytest.raises(ValueError, match="share a"):
        th.simulate_many(runs)


def test_refusals():
    assert_refused(
        (lambda r: MomentumObserver(r, 0.0), "bandwidth must be positive..."),
        (lambda r: MomentumObserver(r, [1.0, 2.0, 3.0]), "bandwidth must be a number or 2 numbers..."),
        (lambda r: MomentumObserver(r, 10.0, order=3), "order must be 1 or 2, got 3"),
        (lambda r: MomentumObserver(r, 10.0, damping_ratio=1.0), "damping_ratio must be None for order 1, got 1.0"),
        (lambda r: MomentumObserver(r, 10.0, detector=3.0), "detector must be a ContactDetector..."),
        (lambda r: MomentumObserver(r, 10.0, detector=ContactDetector([1.0] * 3)), "thresholds must be a number or..."),
        (lambda r: MomentumObserver("elbow", 10.0), "robot must be a Robot..."),
        (lambda r: EnergyObserver(r, -1.0), "bandwidth must be positive..."),
        (lambda r: MomentumObserver(r, 1.0).step(0.0, [0.0], [0.0] * 2, [0.0] * 2), "q must have shape (2,)..."),
        (
            lambda r: MomentumObserver(r, 1.0).apply([0.0], [[0.0] * 2] * 2, [[0.0] * 2], [[0.0] * 2]),
            "q must have shape...",
        ),
        (lambda r: MomentumObserver(r, 1.0).apply([0.0, 0.1], *np.zeros((3, 2, 2))), "t must increase by less than..."),
        (lambda r: ContactDetector(-1.0), "thresholds must be positive..."),
        (lambda r: ContactDetector(1.0, samples=0), "samples must be a whole number..."),
        (lambda r: ContactDetector(1.0, release=2.0), "release must be a number in..."),
        (lambda r: contact_thresholds(np.ones((5000, 2)), 1e-3, 0.1), "residuals must have at least 10 blocks..."),
        (lambda r: contact_thresholds([np.ones((9, 2)), np.ones((9, 3))], 1e-3, 0.1), "...same number of columns..."),
        (
            lambda r: contact_thresholds(np.random.default_rng(0).normal(size=(20_000, 2)), 1e-3, 1e300),
            "...must be lower...",
        ),
        (lambda r: estimate_wrench(r, [0.0] * 2, [0.0] * 2), "rows must be at most the arm's 2 joints, got 6"),
        (lambda r: estimate_wrench(r, [0.0] * 2, [0.0] * 3, rows=[0]), "torque must have shape..."),
        call=lambda call: call(th.Robot.load("elbow")),
    )


def test_thresholds_pool_runs():
    rng = np.random.default_rng(0)
    runs = [rng.normal(size=(6000, 2)) for _ in range(3)]
    whole = contact_thresholds(np.concatenate(runs), 1e-3, 0.01)
    np.testing.assert_allclose(contact_thresholds(runs, 1e-3, 0.01), whole)
    assert (contact_thresholds(runs, 1e-3, 1e-4) > whole).all()


def test_panel_of_a_run_has_the_estimate_and_the_truth():
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    robot = gantry()
    run = moving(
        robot, external=ExternalTorque([3.0, -2.0, 5.0]), observers=MomentumObserver(robot, 40.0), duration=0.05
    )
    axes = run.plot()
    assert list(axes) == ["error", "tau", "external_estimate"]
    lines = [line.get_ydata() for line in axes["external_estimate"].get_lines()]
    np.testing.assert_array_equal(np.transpose(lines), np.hstack([run.external_estimate, run.signals["external"]]))
    plt.close("all")
