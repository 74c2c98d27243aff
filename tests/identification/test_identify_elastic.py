"""Springs, dampers and motors of elastic joints from logs: exact without noise, unbiased with it, against MuJoCo."""

from functools import cache

import numpy as np
import pytest

import thunder_py as th
from tests.control.arms import elbow, panda
from tests.refusals import assert_refused
from thunder_py.errors import ThunderWarning
from thunder_py.identification import differentiate, identify
from thunder_py.identification.equations import all_parameters
from thunder_py.identification.signals import lowpass, noise_gain, sampling_period
from thunder_py.model.description import Elastic

T = np.linspace(0.0, 4.0, 401)


@cache
def soft_elbow():
    springs = [
        Elastic(joint=1, K=(500.0, 2000.0), D=(1.0,), Dm=(0.3,), Mm=0.12),
        Elastic(joint=2, K=(200.0, 500.0), D=(0.5,), Dm=(0.2,), Mm=0.08),
    ]
    return elbow().replace(elastic=springs)


@cache
def half_soft_panda():
    """Joints 2 and 6 are elastic, the others rigid."""
    return panda().replace(elastic=[Elastic(joint=j, K=(900.0,), D=(1.0,), Dm=(0.5,), Mm=0.3) for j in (2, 6)])


def wrong(robot):
    """Links 20 % too heavy, springs half as stiff, motors twice as heavy."""
    groups = {
        name: factor * robot.elastic_parameters[name]
        for name, factor in zip(("K", "D", "Dm", "Mm"), (0.5, 0.4, 2, 2), strict=True)
    }
    return robot.replace(inertial=1.2 * robot.inertial).with_elastic_parameters(**groups)


def states(robot, seed=0):
    """Unrelated states, with the accelerations that they cause, as arguments of `identify`."""
    rng = np.random.default_rng(seed)
    q, dq, tau = rng.uniform(-1.0, 1.0, (3, T.size, robot.n)) * np.array([1.0, 1.0, 20.0])[:, None, None]
    joints = [drive.joint - 1 for drive in robot.elastic]
    x = q[:, joints] + rng.uniform(-0.2, 0.2, (T.size, robot.e))
    dx = dq[:, joints] + rng.uniform(-1.0, 1.0, (T.size, robot.e))
    both = robot.elastic_forward_dynamics(q, dq, x, dx, tau)
    ddq, ddx = both[:, : robot.n], both[:, robot.n :]
    return {"q": q, "dq": dq, "ddq": ddq, "tau": tau, "x": x, "dx": dx, "ddx": ddx}


def spring_torque(robot, data):
    return robot.elastic_torque(data["q"], data["x"]) + robot.elastic_damping_torque(data["dq"], data["dx"])


def truth(found, robot):
    return found.base.mapping @ all_parameters(robot)


@pytest.mark.parametrize("sensed", [False, True], ids=["motor torque", "joint torque too"])
@pytest.mark.parametrize(
    ("robot", "consistent"), [(soft_elbow(), False), (soft_elbow(), True), (half_soft_panda(), False)]
)
def test_without_noise_links_and_drives_come_back(robot, sensed, consistent):
    data = states(robot)
    if sensed:
        data["joint_torque"] = spring_torque(robot, data)
    found = identify(wrong(robot), T, **data, consistent=consistent)
    np.testing.assert_allclose(found.base_parameters, truth(found, robot), rtol=1e-6, atol=1e-7)
    assert (
        found.rank
        == found.base.count
        == robot.base_parameters().count + sum(map(len, robot.elastic_parameters.values()))
    )
    for name, values in robot.elastic_parameters.items():
        np.testing.assert_allclose(found.robot.elastic_parameters[name], values, rtol=1e-6)
    assert found.residual_rms.shape == found.noise.shape == (robot.n + robot.e * (1 + sensed),)
    assert found.residual_rms.max() < 1e-6
    assert f"joint{robot.elastic[-1].joint}.K0" in str(found.table())


def test_standard_deviations_are_those_of_the_errors():
    """Of torque noise, whose effect on the two rows of a joint is the same."""
    robot, data = soft_elbow(), states(soft_elbow())
    tau, errors = data.pop("tau"), []
    for seed in range(12):
        noise = [0.3, 0.1] * np.random.default_rng(seed).normal(size=tau.shape)
        found = identify(robot, T, **data, tau=tau + noise)
        errors.append((found.base_parameters - truth(found, robot)) / found.standard_deviations)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(1.0, abs=0.15)
    # counted as independent, the rows would tell twice as much of the motors
    of_motors = np.array(errors)[:, -2:]
    assert np.sqrt(np.mean(np.square(of_motors))) == pytest.approx(1.0, abs=0.25)


@cache
def run():
    """A slow motion of the soft elbow, at 1 kHz."""
    law = th.PassivityBased(elbow(), 4.0, [2.0, 1.0])
    return th.simulate(
        soft_elbow(), law, th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8]), 5.0, dt=5e-4, control_period=1e-3
    )


def noisy(log, seed, encoder, torque):
    rng = np.random.default_rng(seed)
    q, x, tau = (s * rng.normal(size=y.shape) + y for s, y in ((encoder, log.q), (encoder, log.x), (torque, log.tau)))
    return {"t": log.t, "q": q, "tau": tau, "x": x}


def test_a_simulated_run_is_enough():
    found = identify(wrong(soft_elbow()), run(), cutoff=40.0, hold=1e-3)
    expected = truth(found, soft_elbow())
    cubic = np.array([name.endswith("K1") for name in found.base.names])
    np.testing.assert_allclose(found.base_parameters[~cubic], expected[~cubic], rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(found.base_parameters[cubic], expected[cubic], rtol=0.05)


def test_the_filter_does_not_bias_nonlinear_springs():
    """Powers of the filtered deflection find K0 a fifth too large, K1 a third too small (12 Hz, cutoff of 20 Hz)."""
    t = np.arange(2501) * 1e-3
    robot = elbow().replace(elastic=[Elastic(joint=2, K=(500.0, 2e4), D=(1.0, 0.2), Dm=(0.3, 0.5), Mm=0.1)])

    def tones(amplitudes, frequencies):
        w = 2.0 * np.pi * np.array(frequencies)
        waves = np.sin(w * t[:, None]), w * np.cos(w * t[:, None]), -(w**2) * np.sin(w * t[:, None])
        return [wave @ amplitudes for wave in waves]

    link = [np.column_stack([y, y]) for y in tones([0.3, 0.05], [0.7, 4.0])]
    motor = [y[:, 1:] + d[:, None] for y, d in zip(link, tones([0.1, 0.08], [1.3, 12.0]), strict=True)]
    spring = robot.elastic_torque(link[0], motor[0]) + robot.elastic_damping_torque(link[1], motor[1])
    tau = robot.inverse_dynamics(*link)
    tau[:, 1:] = spring + robot.motor_damping_torque(motor[1]) + robot.motor_inertia_torque(motor[2])
    data = {"tau": tau, "x": motor[0], "joint_torque": spring, "cutoff": 20.0, "unknown": "elastic"}
    found = identify(robot.with_elastic_parameters(K=[100.0, 0.0]), t, link[0], **data)
    for name, tolerance in (("K", 1e-3), ("D", 0.03), ("Dm", 0.03), ("Mm", 1e-3)):
        np.testing.assert_allclose(found.robot.elastic_parameters[name], robot.elastic_parameters[name], rtol=tolerance)


@cache
def offset_errors(offset):
    """Errors of the elastic parameters and of the offsets in standard deviations, rows of seeds."""
    errors = []
    for seed in range(4):
        log = noisy(run(), seed, 5e-5, 0.1)
        log["x"] = log["x"] + offset
        found = identify(soft_elbow(), **log, cutoff=20.0, hold=1e-3, unknown="elastic")
        both = (found.base_parameters - truth(found, soft_elbow())) / found.standard_deviations
        errors.append([*both, *(found.offsets - offset) / found.offset_deviations])
    return np.array(errors)


def test_an_offset_between_encoders_is_found():
    """Also with nonlinear springs, for which it is no constant torque: the same errors as without an offset."""
    offset = 5e-3
    errors = offset_errors(offset)
    assert np.abs(errors[:, :4]).max() < 3.0  # stiffnesses
    assert 0.6 < np.sqrt(np.mean(np.square(errors[:, -2:]))) < 1.5  # offsets
    np.testing.assert_allclose(errors, offset_errors(0.0), atol=0.05)


@cache
def stiff_run():
    """A robot with one stiff joint, and its run."""
    stiff = elbow().replace(elastic=[Elastic(joint=2, K=(1e4,), D=(5.0,), Dm=(0.2,), Mm=0.08)])
    law = th.PassivityBased(elbow(), 4.0, [2.0, 1.0])
    motion = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    return stiff, th.simulate(stiff, law, motion, 5.0, dt=2.5e-4, control_period=1e-3)


@pytest.mark.parametrize("consistent", [False, True])
def test_noise_of_the_deflection_does_not_soften_the_spring(consistent):
    """A third of the mean square of x - q is noise of the encoders: least squares finds two thirds of K0."""
    stiff, log = stiff_run()
    encoder = 0.5 * np.sqrt(np.mean((log.x - log.q[:, 1:]) ** 2) / noise_gain(sampling_period(log.t), 20.0))
    naive, mine, sigma = [], [], []
    for seed in range(4):
        data = noisy(log, seed, encoder, 0.02)
        how = {"unknown": "K", "consistent": consistent, "regularization": 1e-3, "offsets": False}
        found = identify(stiff, **data, cutoff=20.0, hold=1e-3, **how)
        mine.append(found.base_parameters[0] / 1e4)
        sigma.append(found.standard_deviations[0] / 1e4)
        motors, links = (differentiate(data["t"], data[name], 20.0) for name in ("x", "q"))
        d, v = motors.q[:, 0] - links.q[:, 1], motors.dq[:, 0] - links.dq[:, 1]
        left = lowpass(data["t"], data["tau"], 20.0)[:, 1] - 5.0 * v - 0.2 * motors.dq[:, 0] - 0.08 * motors.ddq[:, 0]
        naive.append(np.linalg.lstsq(d[200:-200, None], left[200:-200], rcond=None)[0][0] / 1e4)
    assert np.mean(naive) < 0.75
    assert abs(np.mean(mine) - 1.0) < 3.0 * np.mean(sigma) / np.sqrt(4)
    assert np.mean(sigma) < 0.1


def test_a_stiffness_that_noise_hides_is_told_and_keeps_the_prior():
    stiff, log = stiff_run()
    before = stiff.with_elastic_parameters(K=[5e3])
    data = noisy(log, 0, 1e-2, 0.1)
    with pytest.warns(ThunderWarning, match=r"^the log hardly determines joint2\.K0 \(not at all\), given with their"):
        found = identify(before, **data, cutoff=20.0, hold=1e-3, unknown="K")
    assert found.rank == 0
    assert np.isinf(found.standard_deviations).all()
    assert found.robot.elastic_parameters["K"][0] == 5e3


@pytest.mark.parametrize("derivative", [0, 1, 2])
def test_gain_of_the_filter_for_noise(derivative):
    t = np.arange(4001) * 1e-3
    impulse = np.zeros((t.size, 1))
    impulse[2000] = 1.0
    response = differentiate(t, impulse, 15.0)[derivative]
    assert np.sum(response**2) == pytest.approx(noise_gain(1e-3, 15.0, derivative), rel=0.01)


# --- MuJoCo -----------------------------------------------------------------------------------------------------------

_ARM = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="5e-4" integrator="RK4" gravity="0 -9.81 0"/>
  <worldbody>
    <body name="upper">
      <joint name="joint1" axis="0 0 1"/>
      <inertial pos="0.2 0.01 0" mass="3" diaginertia="0.01 0.05 0.05"/>
      <body name="fore" pos="0.4 0 0">
        <joint name="joint2" axis="0 0 1"/>
        <inertial pos="0.15 -0.02 0" mass="2" diaginertia="0.01 0.03 0.03"/>
      </body>
    </body>
    {motors}
  </worldbody>
  {springs}
</mujoco>
"""
_MOTOR = """<body name="motor{k}"><joint name="x{k}" axis="0 0 1" damping="{Dm}"/>
<inertial pos="0 0 0" mass="1" diaginertia="{Mm} {Mm} {Mm}"/></body>"""
_SPRING = """<fixed name="spring{k}" stiffness="{K}" damping="{D}" springlength="0">
<joint joint="x{k}" coef="1"/><joint joint="joint{k}" coef="-1"/></fixed>"""
_DRIVES = [{"k": 1, "K": 800.0, "D": 1.5, "Dm": 0.4, "Mm": 0.2}, {"k": 2, "K": 300.0, "D": 0.6, "Dm": 0.1, "Mm": 0.05}]


def mujoco_log(mujoco, duration):
    """Motors as bodies of their own, springs as tendons between two joints; torques with tones up to 6 Hz."""
    springs = "<tendon>" + "".join(_SPRING.format(**each) for each in _DRIVES) + "</tendon>"
    motors = "".join(_MOTOR.format(**each) for each in _DRIVES)
    model = mujoco.MjModel.from_xml_string(_ARM.format(motors=motors, springs=springs))
    data = mujoco.MjData(model)
    order = [model.joint(name).qposadr[0] for name in ("joint1", "joint2", "x1", "x2")]
    rows = []
    for k in range(round(duration / model.opt.timestep)):
        t, y = k * model.opt.timestep, data.qpos[order]
        tones = np.array([8.0, 3.0]) * (
            np.sin(2 * np.pi * np.array([2.3, 3.1]) * t) + np.sin(2 * np.pi * np.array([6.1, 4.7]) * t)
        )
        tau = tones - np.array([80.0, 20.0]) * (y[2:] - [-1.2, 0.4]) - np.array([4.0, 1.0]) * data.qvel[order][2:]
        data.qfrc_applied[order[2:]] = tau
        rows.append([t, *y, *tau])
        mujoco.mj_step(model, data)
    return np.array(rows)


def test_a_log_of_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    log = mujoco_log(mujoco, 4.0)
    (tmp_path / "arm.xml").write_text(_ARM.format(motors="", springs=""))
    arm = th.Robot.load(tmp_path / "arm.xml")
    robot = arm.replace(elastic=[Elastic(joint=k, K=(100.0,), D=(0.1,), Dm=(0.1,), Mm=0.1) for k in (1, 2)])
    found = identify(
        robot.replace(inertial=0.7 * arm.inertial),
        log[:, 0],
        log[:, 1:3],
        x=log[:, 3:5],
        tau=log[:, 5:],
        cutoff=40.0,
        hold=5e-4,
    )
    for name in ("K", "D", "Dm", "Mm"):
        expected = [each[name] for each in _DRIVES]
        np.testing.assert_allclose(found.robot.elastic_parameters[name], expected, rtol=5e-3)
    rigid = found.robot.base_parameters().mapping
    np.testing.assert_allclose(rigid @ found.robot.parameters, rigid @ arm.parameters, rtol=5e-3, atol=5e-4)


def warned(**changes):
    data = {name: values[:2000] for name, values in noisy(run(), 0, 1e-6, 0.05).items()}
    with pytest.warns(ThunderWarning) as found:
        identify(soft_elbow(), **{**data, **{key: change(data) for key, change in changes.items()}}, cutoff=20.0)
    return [str(each.message) for each in found]


@pytest.mark.parametrize(("factor", "told"), [(-1.0, "x = -")])
def test_motors_in_other_units_are_told(factor, told):
    message = warned(x=lambda data: factor * data["x"])[0]
    start = "x must be on the joint's side of the gear, in rad or m like q, but does not resemble q at joint1 ("
    assert message.startswith(start + told)


def test_bad_data_are_refused():
    def given(**changes):
        return identify(soft_elbow(), T, **{**states(soft_elbow()), **changes})

    assert_refused(
        (lambda: given(x=None), "x must be given, because ... has elastic joints, whose torques drive motors..."),
        (lambda: given(ddx=None), "dx and ddx must be given together with ddq"),
        (lambda: given(x=np.zeros((T.size, 1))), "x must have shape (401, 2), got (401, 1)"),
        (lambda: given(joint_torque=np.full((T.size, 2), np.nan)), "joint_torque must be finite..."),
        (lambda: given(unknown="joint3.K0"), "no parameter of ... is called 'joint3.K0'; did you mean 'joint2.K0'?"),
        (lambda: given(unknown=["K", "joint1.K7"]), "no parameter of ... is called 'joint1.K7'; did you mean ..."),
        (lambda: given(unknown="elastics"), "...; did you mean 'elastic'?"),
        (lambda: given(unknown="inertia"), "...; did you mean 'inertial'?"),
        (lambda: given(prior=elbow()), "prior must have the parameters of..."),
    )


def test_motors_and_runs_of_another_robot_are_refused():
    assert_refused(
        (lambda: identify(elbow(), T, **states(soft_elbow())), "x must be None, because ... has no elastic joints"),
        (lambda: identify(elbow(), run(), cutoff=20.0), "t must be a run without elastic joints: their torques ..."),
    )
    one = soft_elbow().replace(elastic=soft_elbow().elastic[:1])
    assert_refused(
        (lambda: identify(one, run(), cutoff=20.0), "t must be a run with 1 elastic joints: ..."),
        (lambda: identify(soft_elbow(), run(), x=run().x, cutoff=20.0), "x must be None where t is a SimulationResult"),
    )


def test_an_offset_without_noise_is_exact():
    robot, data = soft_elbow(), states(soft_elbow())
    data["x"] = data["x"] + [0.02, -0.01]
    found = identify(wrong(robot), T, **data)
    np.testing.assert_allclose(found.offsets, [0.02, -0.01], rtol=1e-6)
    np.testing.assert_allclose(found.base_parameters, truth(found, robot), rtol=1e-6, atol=1e-7)
    biased = identify(wrong(robot), T, **data, offsets=False)
    np.testing.assert_array_equal(biased.offsets, 0.0)
    assert np.abs(biased.base_parameters - truth(biased, robot)).max() > 1.0
