"""Friction and sensors beside the links: found again, told apart or said not to be, equal to another solver."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy.optimize import approx_fprime, least_squares

import thunder_py as th
from tests.control.arms import elbow, panda
from tests.dynamics.random_chains import random_robot
from tests.identification.test_identify import motion as two_tones
from tests.refusals import assert_refused
from thunder_py.errors import ThunderWarning
from thunder_py.identification import FrictionColumns, Log, SensorCalibration, identify
from thunder_py.identification.equations import KINDS, Filtering, friction_column, windows
from thunder_py.identification.sums import Guess, Nonlinear, Slopes
from thunder_py.reference import Sinusoid
from thunder_py.simulation import FrictionModel

TIMES = np.arange(0.0, 6.0, 4e-3)
CUTOFF = 12.0


@cache
def motion(n, seed=0):
    return two_tones(n, seed, TIMES)


def friction_of(kind, n):
    """A friction of this kind, a little different in each joint."""
    step = np.linspace(1.0, 1.3, n)
    found = {"viscous": 0.5 * step[:, None], "coulomb": np.zeros((n, 1))}
    if kind in ("coulomb", "stribeck"):
        found["coulomb"] = 0.8 * step[:, None]
    if kind == "asymmetric":
        found = {"viscous": np.outer(step, [0.5, 0.8]), "coulomb": np.outer(step, [1.0, 0.6])}
    if kind == "stribeck":
        found |= {"stribeck": 0.4 * step, "velocity": 0.15 * step}
    return FrictionModel(**found)


def log_of(robot, *, friction=None, sensors=None, noise=0.0, seed=0, exact=False):
    q, dq, ddq = motion(robot.n)
    tau = robot.inverse_dynamics(q, dq, ddq)
    if friction is not None:
        tau = tau + friction.torque(dq)
    t, q, tau = (SensorCalibration(robot.n) if sensors is None else sensors).read(TIMES, q, tau)
    tau = tau + noise * np.random.default_rng(seed).normal(size=tau.shape)
    return Log(t=t, q=q, tau=tau, **({"dq": dq, "ddq": ddq} if exact else {}))


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_friction(kind):
    v = np.array([-1.3, -0.2, -0.02, 0.004, 0.03, 0.7])
    coefficients, velocity, delta = np.arange(1.0, len(KINDS[kind]) + 1.0), 0.2, 0.01
    model = FrictionColumns((kind,), ("joint1",), delta, [velocity]).model(coefficients)
    found = np.array([friction_column(name, v, delta, velocity) for name in KINDS[kind]]).reshape(-1, v.size).T
    np.testing.assert_allclose(found @ coefficients, model.torque(v[:, None])[:, 0], atol=1e-15)


def test_a_model_of_friction_holds_all_terms_or_refuses():
    columns = FrictionColumns(("viscous+quadratic",), ("joint1",))
    assert_refused((lambda: columns.model([1.0, 2.0]), "kinds must hold terms of FrictionModel, ..., got quadratic"))


def test_derivatives_by_parameters_of_sensors_and_friction():
    """Those of the modelled readings: with torques of zero the residual is minus the model.

    A delay of torques has their slope over time.
    """
    values = {name: 0.01 * (k + np.arange(2.0)) for k, name in enumerate(SensorCalibration.QUANTITIES)}
    values |= {"torque_gain": [1.2, 0.9], "position_gain": [1.05, 0.97]}
    log = log_of(elbow())[:500]
    log = Log(t=log.t, q=log.q, tau=np.zeros_like(log.tau))
    columns = FrictionColumns(("stribeck", "asymmetric"), elbow().joint_names, velocity=[0.2, 1.0])
    unknown = Nonlinear(np.arange(12), np.array([0]))
    start = Guess(
        known=elbow(), offsets=np.zeros(0), sensors=SensorCalibration(2, **values), columns=(columns,),
        extra=np.random.default_rng(0).normal(size=7), payload=np.zeros(10), slopes=True, tried=np.zeros((0, 2)),
    )  # fmt: skip
    (window,) = windows(elbow(), log, Filtering(CUTOFF, longest=0.06))

    def rows_at(theta):
        guess = start.at(unknown, theta)
        samples = window.samples(guess.sensors)
        (rows,) = window.equations(guess.offsets, guess.columns, samples)
        return guess, samples, rows, rows.W @ np.append(elbow().parameters, guess.extra)

    def readings(theta):
        guess, _, rows, torque = rows_at(theta)
        return (guess.sensors.torque_gain * (torque - rows.y))[50]

    theta = start.theta(unknown)
    guess, samples, rows, torque = rows_at(theta)
    slopes = Slopes(elbow(), unknown, guess, samples, np.arange(2), np.ones(2, dtype=bool)).at(rows, torque)[50]
    slopes *= guess.sensors.torque_gain[:, None]
    numeric = approx_fprime(theta, readings, 1e-7)
    np.testing.assert_allclose(slopes[:, 2:], numeric[:, 2:], rtol=1e-5, atol=1e-5 * np.abs(numeric).max())
    rate = np.gradient(torque[45:56], log.t[1], axis=0)[5] * guess.sensors.torque_gain
    np.testing.assert_allclose(slopes[:, :2], -np.diag(rate), rtol=0.01, atol=0.01 * np.abs(rate).max())


def test_reading_and_correcting_are_inverse():
    sensors = SensorCalibration(
        2, torque_delay=[0.01, -0.003], torque_gain=1.1, position_delay=0.002, position_bias=0.1
    )
    q, _, _ = motion(2)
    t, read_q, read_tau = sensors.read(TIMES, q, q**2)
    t, back, torque = sensors.correct(t, read_q, read_tau)
    inside = np.isin(TIMES, t)
    np.testing.assert_allclose(back, q[inside], atol=1e-8)
    np.testing.assert_allclose(torque, (q**2)[inside], atol=1e-7)


# --- both together ----------------------------------------------------------------------------------------------------

CHAINS = [elbow(), random_robot(3, 3, joints="R"), random_robot(5, 4, "modified")]


@pytest.mark.parametrize(
    ("chain", "kind"), [(0, "stribeck"), (1, "coulomb"), pytest.param(2, "asymmetric", marks=pytest.mark.release)]
)
def test_friction_and_sensors_come_back_without_noise(chain, kind):
    robot = CHAINS[chain]
    n = robot.n
    truth, gains = friction_of(kind, n), np.linspace(1.0, 1.2, n)
    sensors = SensorCalibration(n, torque_delay=np.linspace(0.004, 0.0101, n), torque_gain=gains)
    log = log_of(robot, friction=truth, sensors=sensors, noise=1e-6)
    others = [f"{joint}.torque_gain" for joint in robot.joint_names[1:]]
    found = identify(robot, log, friction=kind, sensors=["torque_delay", *others], cutoff=CUTOFF)
    assert not found.invisible
    dq = np.linspace(-1.5, 1.5, 31)[:, None] * np.ones(n)
    assert np.abs(found.friction.torque(dq) - truth.torque(dq)).max() < 0.02
    np.testing.assert_allclose(found.sensors.torque_delay, sensors.torque_delay, atol=2e-4)
    np.testing.assert_allclose(found.sensors.torque_gain, gains, rtol=5e-3)
    states = motion(n)
    error = found.torque(*states) - robot.inverse_dynamics(*states) - truth.torque(states[1])
    assert np.sqrt(np.mean(error**2)) < 5e-3 * np.sqrt(np.mean(robot.inverse_dynamics(*states) ** 2))


def test_the_same_as_scipy_on_the_full_problem():
    """All parameters at once, by differences, from another formula of the readings."""
    truth = friction_of("stribeck", 2)
    sensors = SensorCalibration(2, torque_gain=[1.0, 1.1], torque_bias=[0.3, -0.2], position_bias=[0.02, 0.0])
    log = log_of(elbow(), friction=truth, sensors=sensors, noise=0.05, exact=True)
    log = log[::5]
    asked = ["joint2.torque_gain", "torque_bias", "joint1.position_bias"]
    found = identify(elbow(), log, friction="stribeck", sensors=asked, weights=[20.0, 20.0])
    base = elbow().base_parameters()

    def residuals(x):
        pi, v, c, s, speed, gain, b, shift = np.split(x, [6, 8, 10, 12, 14, 15, 17])
        Y = elbow().regressor(log.q - np.append(shift, 0.0), log.dq, log.ddq)[..., base.independent]
        sign = log.dq / (np.abs(log.dq) + 0.01)
        friction = v * log.dq + (c + s * np.exp(-((log.dq / speed) ** 2))) * sign
        return 20.0 * ((Y @ pi + friction) * np.append(1.0, gain) + b - log.tau).ravel()

    pi = base.mapping @ elbow().parameters
    start = np.concatenate([pi, [0.5, 0.5, 1, 1, 0.3, 0.3, 0.1, 0.1, 1, 0, 0, 0]])
    other = least_squares(residuals, start, x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14)
    order = ["viscous", "coulomb", "stribeck", "stribeck_velocity"]
    names = [f"joint{j}.{name}" for name in order for j in (1, 2)]
    names += ["joint2.torque_gain", "joint1.torque_bias", "joint2.torque_bias", "joint1.position_bias"]
    places = [found.names.index(name) for name in names]
    deviations = np.sqrt(np.diag(np.linalg.inv(other.jac.T @ other.jac)))
    assert (np.abs(found.estimates[places] - other.x[6:]) < 2e-3 * deviations[6:]).all()
    ratio = np.append(found.deviations[places], found.standard_deviations)
    assert np.sqrt(np.mean((ratio / np.roll(deviations, 12)) ** 2)) == pytest.approx(1.0, abs=0.2)
    np.testing.assert_allclose(found.base_parameters, other.x[:6], atol=2e-3)


@pytest.mark.parametrize(
    ("sensors", "expected"),
    [
        ("torque_gain", {"joint1.torque_gain", "joint2.torque_gain", "link2.mcx"}),
        (
            ("torque_delay", "position_delay"),
            {f"joint{j}.{kind}_delay" for j in (1, 2) for kind in ("torque", "position")},
        ),
        ("joint2.position_bias", {"joint2.position_bias", "link2.mcx"}),
    ],
)
def test_what_torques_do_not_distinguish_is_told(sensors, expected):
    log = log_of(elbow(), noise=0.01)
    with pytest.warns(ThunderWarning, match=r"^the logs do not distinguish joint\d\."):
        found = identify(elbow(), log, sensors=sensors, cutoff=CUTOFF)
    (group,) = found.invisible
    assert expected <= set(group)
    places = [found.names.index(name) for name in group]
    assert np.isinf(found.deviations[places]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chosen = [name for name in found.extra_names if name != group[0]]
        if chosen:
            assert not identify(elbow(), log, sensors=chosen, cutoff=CUTOFF).invisible


def test_a_velocity_far_from_the_start_and_a_late_torque_are_found_together():
    """Slopes of dry friction between samples, and long steps of a velocity, once led this fit astray."""
    rng, t = np.random.default_rng(0), np.arange(0.0, 20.0, 4e-3)
    tones = [
        Sinusoid(rng.uniform(0.1, 0.3, 2), rng.uniform(0.05, 0.6, 2), phase=rng.uniform(0.0, 6.28, 2))(t)
        for _ in range(5)
    ]
    q, dq, ddq = (sum(parts) for parts in zip(*tones, strict=True))
    q = q + np.array([0.0, 0.5])
    truth = FrictionModel(viscous=[[2.0]] * 2, coulomb=[[4.0]] * 2, stribeck=[2.0] * 2, velocity=[0.15] * 2)
    sensors = SensorCalibration(2, torque_delay=0.005, torque_bias=0.5, torque_gain=[1.0, 1.2])
    t, q, tau = sensors.read(t, q, elbow().inverse_dynamics(q, dq, ddq) + truth.torque(dq))
    log = Log(t=t, q=q, tau=tau + 0.2 * np.random.default_rng(0).normal(size=tau.shape))
    asked = ["torque_delay", "torque_bias", "joint2.torque_gain"]
    found = identify(elbow(), log, friction="stribeck", sensors=asked, cutoff=8.0)
    np.testing.assert_allclose(found.sensors.torque_delay, 0.005, atol=3e-4)
    np.testing.assert_allclose(found.friction.velocity, truth.velocity, rtol=0.15)


def test_without_a_stribeck_effect_its_velocity_is_not_determined():
    """Not only at its bounds: a standard deviation of the value itself and more is infinite."""
    for seed in range(4):
        log = log_of(elbow(), friction=friction_of("coulomb", 2), noise=0.5, seed=seed)
        with pytest.warns(ThunderWarning, match="hardly determine"):
            found = identify(elbow(), log, friction="stribeck", cutoff=CUTOFF)
        places = [found.extra_names.index(f"joint{j}.stribeck_velocity") for j in (1, 2)]
        deviations, values = found.extra_deviations[places], found.extra[places]
        assert (np.isinf(deviations) | (deviations < values)).all()


def test_a_known_link_tells_the_gain_of_all_torques():
    robot = elbow()
    log = log_of(robot, sensors=SensorCalibration(2, torque_gain=[1.1, 0.8]), noise=0.01)
    found = identify(robot, log, sensors="torque_gain", unknown="link2", cutoff=CUTOFF)
    assert not found.invisible
    np.testing.assert_allclose(found.sensors.torque_gain, [1.1, 0.8], atol=0.01)
    assert (np.abs(found.sensors.torque_gain - [1.1, 0.8]) < 4.0 * found.extra_deviations).all()


def test_a_simulated_run_with_a_held_torque():
    """A sampled controller's torque is half a period ahead of its mean time; filtered friction columns show it."""
    robot, reference = elbow().replace(friction=friction_of("coulomb", 2).in_robot), Sinusoid([0.8, 0.6], [0.5, 0.8])
    law = th.SlotineLi(elbow(), Lambda=5.0, K_d=10.0, adaptation=1.0)
    run = th.simulate(robot, law, reference, 2.5, dq0=reference(0.0).dq)
    found = identify(robot, run, friction="coulomb", sensors="torque_delay", cutoff=40.0)
    np.testing.assert_allclose(found.sensors.torque_delay, -5e-4, atol=5e-5)
    np.testing.assert_allclose(found.robot.parameters[20:], robot.parameters[20:], rtol=0.01)
    held = identify(robot, run, friction="coulomb", sensors="torque_delay", cutoff=40.0, hold=1e-3)
    np.testing.assert_allclose(held.sensors.torque_delay, found.sensors.torque_delay + 5e-4, atol=1e-6)


def test_bad_models_are_refused():
    log = log_of(elbow(), sensors=SensorCalibration(2, torque_delay=0.01))

    def given(**changes):
        return identify(elbow(), log, **{"cutoff": CUTOFF, **changes})

    assert_refused(
        (lambda: given(friction="stribek"), "friction must be one of none, viscous, ..., got 'stribek'; did you ..."),
        (lambda: given(friction=["viscous"]), "friction must be one kind or one for each of 2 joints, got 1"),
        (lambda: given(sensors="torque_gian"), "sensors must be names of sensor parameters, got 'torque_gian'; ..."),
        (lambda: given(cutoff=None), "cutoff must be given without ddq..."),
        (lambda: given(calibration=SensorCalibration(3)), "calibration must have 2 joints, got 3"),
        (lambda: given(prior=panda()), "prior must have the parameters of..."),
        (lambda: given(sensors="torque_delay", longest_delay=1e-3), "longest_delay must be larger: ..."),
        (lambda: given(sensors="torque_delay", longest_delay=6.0), "t must span more than 12.4 s ..."),
        (lambda: given(unknown="link1.m"), "unknown must hold a parameter that torques depend on"),
    )


def test_a_log_of_mujoco_with_its_own_friction(tmp_path):
    """Damping and frictionloss of another engine, read by a torque sensor with a delay, a gain and a bias."""
    mujoco = pytest.importorskip("mujoco")
    elbow().save(tmp_path / "arm.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    model.dof_damping[:], model.dof_frictionloss[:] = [0.8, 0.5], [1.5, 0.7]
    model.dof_solref[:], model.dof_solimp[:, :2] = [2.0 * model.opt.timestep, 1.0], 0.9999  # a hard constraint
    data, period, delay = mujoco.MjData(model), model.opt.timestep, 8
    reference = Sinusoid([0.8, 0.6], [0.5, 0.8])(np.arange(0.0, 5.0, period))
    data.qpos[:], data.qvel[:] = reference.q[0], reference.dq[0]
    q, tau = [], []
    for goal_q, goal_dq, forward in zip(*reference[:2], elbow().inverse_dynamics(*reference), strict=True):
        torque = forward + [40.0, 20.0] * (goal_q - data.qpos) + [8.0, 4.0] * (goal_dq - data.qvel)
        q.append(data.qpos.copy())
        tau.append(torque)
        data.qfrc_applied[:] = torque
        mujoco.mj_step(model, data)
    q, tau = np.array(q)[delay:], (np.array(tau) * [1.0, 1.2] + [0.4, -0.3])[:-delay]
    log = Log(t=period * np.arange(len(q)), q=q, tau=tau)
    asked = ["torque_delay", "torque_bias", "joint2.torque_gain"]
    found = identify(elbow(), log, friction="coulomb", sensors=asked, delta=1e-3, cutoff=20.0, hold=period)
    np.testing.assert_allclose(found.sensors.torque_delay, delay * period, atol=1.2e-3)  # joints rest as they reverse
    np.testing.assert_allclose(found.sensors.torque_bias, [0.4, -0.3], atol=0.02)
    np.testing.assert_allclose(found.sensors.torque_gain, [1.0, 1.2], atol=5e-3)
    np.testing.assert_allclose(found.friction.viscous[:, 0], [0.8, 0.5], rtol=0.03)
    np.testing.assert_allclose(found.friction.coulomb[:, 0], [1.5, 0.7], rtol=0.03)
    base = elbow().base_parameters()
    np.testing.assert_allclose(found.base_parameters[:6], base.mapping @ elbow().parameters, atol=0.03)


@pytest.mark.release
def test_several_logs_and_the_options_of_the_last_pass(tmp_path):
    """A log in memory and one in a file, with outliers, and links that stay physically consistent."""
    truth, sensors = friction_of("asymmetric", 2), SensorCalibration(2, torque_bias=[0.5, -0.3])
    log = log_of(elbow(), friction=truth, sensors=sensors, noise=0.05)
    tau = log.tau.copy()
    tau[50::300] += 10.0
    np.savez(tmp_path / "second.npz", t=log.t[700:], q=log.q[700:], tau=tau[700:])
    logs = [Log(t=log.t[:800], q=log.q[:800], tau=tau[:800]), tmp_path / "second.npz"]
    options = {"friction": "asymmetric", "sensors": "torque_bias", "cutoff": 15.0}
    found = identify(elbow(), logs, **options, consistent=True, robust=True)
    plain = identify(elbow(), logs, **options)
    assert found.physical.all()
    assert found.logs[1] == "second.npz"
    bias = [found.names.index(f"joint{j}.torque_bias") for j in (1, 2)]
    spread = [each.deviations[bias] for each in (found, plain)]
    assert (np.abs(found.estimates[bias] - [0.5, -0.3]) < 3.0 * spread[0]).all()
    assert (spread[0] < 0.3 * spread[1]).all()


def test_known_dry_friction_does_not_bias_a_delay():
    friction, sensors = friction_of("coulomb", 2), SensorCalibration(2, torque_delay=0.005)
    robot = elbow().replace(friction=friction.in_robot)
    log = log_of(elbow(), friction=friction, sensors=sensors, noise=0.01)
    for options in ({}, {"unknown": "inertial"}, {"unknown": "friction"}):
        found = identify(robot, log, sensors="torque_delay", cutoff=CUTOFF, **options)
        assert (np.abs(found.extra - 0.005) < 4.0 * found.extra_deviations).all()
        assert found.extra_names == ("joint1.torque_delay", "joint2.torque_delay")


@pytest.mark.parametrize("joints", ["R", "RP"])
def test_friction_of_the_robot_has_its_deviations_at_its_place(joints):
    """Of a robot with armature, whose parameters follow those of friction."""
    truth = friction_of("coulomb", 3)
    plain = random_robot(3, 3, joints=joints, armature=True)
    log = log_of(plain, friction=truth, noise=0.01)[::2]
    new = identify(plain, log, friction=["coulomb", "viscous", "coulomb"], cutoff=CUTOFF)
    assert not new.extra_names
    assert tuple(name for name in new.names if "joint" in name and "armature" not in name) == (
        "joint1.viscous",
        "joint1.coulomb",
        "joint2.viscous",
        "joint3.viscous",
        "joint3.coulomb",
    )
    dq = np.linspace(-1.0, 1.0, 9)[:, None] * np.ones(3)
    np.testing.assert_allclose(new.robot.friction_torque(dq), new.friction.torque(dq))
