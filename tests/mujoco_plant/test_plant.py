import pickle

import numpy as np
import pytest

import thunder_py as th
from tests.mujoco_plant.arms import HAND_WRITTEN, relative
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError, UnknownNameError
from thunder_py.model.description import Friction
from thunder_py.mujoco import MujocoPlant
from thunder_py.reference import Sinusoid


def loop(plant, robot, integrator="rk4", duration=0.5, dt=1e-3, **options):
    """Follow a sinusoid with half of the robot's gravity, so that there is an error."""
    center = np.minimum(0.3, robot.limits.upper - 0.5)
    reference = Sinusoid(np.full(robot.n, 0.4), np.linspace(0.5, 1.0, robot.n), center=center)
    controller = th.ComputedTorque(robot, 100.0, 20.0)
    return th.simulate(
        plant, controller, reference, duration, dt, control_period=1e-3, integrator=integrator, **options
    )


def distance(a, b):
    return np.abs(a.q - b.q).max()


def rubbing(robot):
    friction = Friction(terms=("viscous", "coulomb", "cubic"), coefficients=np.tile([0.5, 2.0, 0.1], (robot.n, 1)))
    return robot.replace(friction=friction)


@pytest.mark.parametrize("name", ["scara", "panda"])
def test_same_integrator_same_motion(name):
    robot = th.Robot.load(name)
    assert distance(loop(MujocoPlant(robot), robot), loop(robot, robot)) < 1e-9


@pytest.mark.parametrize(("method", "order"), [("implicitfast", 1), ("euler", 1), ("implicit", 1), ("rk4", 4)])
def test_own_integrators_converge_with_their_order(method, order):
    """Torques are held over control periods of 8 ms, so that plants are smooth in between."""
    robot = th.Robot.load("elbow").replace(friction=Friction(terms=("viscous",), coefficients=[[0.5], [0.3]]))
    options = {"control_period": 8e-3, "duration": 0.4}
    reference = Sinusoid([0.4, 0.3], [1.0, 2.0])
    law = th.PDGravity(robot, 60.0, 6.0)

    def run(plant, dt, integrator):
        return th.simulate(plant, law, reference, options["duration"], dt, control_period=8e-3, integrator=integrator)

    exact = run(robot, 2.5e-4, "rk4")
    steps = (8e-3, 4e-3, 2e-3)
    found = [distance(run(MujocoPlant(robot, integrator=method, timestep=h), 8e-3, "plant"), exact) for h in steps]
    rates = np.log2(np.divide(found[:-1], found[1:]))
    np.testing.assert_allclose(rates, order, atol=0.25)


def test_friction_of_all_kinds():
    robot = rubbing(th.Robot.load("elbow"))
    ours, plant = loop(robot, robot), MujocoPlant(robot)
    short = 1e-4  # friction is not stiff for it, and so integrated alike
    assert distance(loop(plant, robot, dt=short), loop(robot, robot, dt=short)) < 1e-9
    assert distance(loop(plant, robot), ours) < 1e-4
    apart = [distance(loop(MujocoPlant(robot, timestep=h), robot, "plant"), ours) for h in (1e-3, 2.5e-4)]
    assert apart[0] < 1e-2
    assert apart[1] < 0.4 * apart[0]


def test_payloads_come_at_their_time():
    robot = th.Robot.load("panda")
    tensor = [[1e-3, 2e-4, 0], [2e-4, 2e-3, -3e-4], [0, -3e-4, 2.5e-3]]
    payloads = (
        th.Payload(2.0, (0.0, 0.0, 0.1), time=0.2),
        th.Payload(0.5, (0.0, 0.02, 0.0), tensor, link="link5", time=0.1),
        th.Payload(0.5, (0.0, 0.0, 0.0), link=3, time=0.1),
    )
    ours = loop(robot, robot, payloads=payloads, duration=0.3)
    plant = MujocoPlant(robot, payloads=payloads)
    theirs = loop(plant, robot, duration=0.3)
    assert distance(ours, theirs) < 1e-9
    stepped = loop(MujocoPlant(robot, payloads=payloads, integrator="rk4"), robot, "plant", duration=0.3)
    assert distance(stepped, ours) < 1e-9
    assert distance(loop(robot, robot, duration=0.3), ours) > 1e-3
    plant.begin_step(0.0)
    assert relative(plant.mass_matrix(np.ones(7)), robot.mass_matrix(np.ones(7))) < 1e-12
    loaded = payloads[0].added_to(payloads[1].added_to(payloads[2].added_to(robot)))
    plant.begin_step(0.2)
    assert relative(plant.mass_matrix(np.ones(7)), loaded.mass_matrix(np.ones(7))) < 1e-12


def test_a_file_is_a_plant_too(tmp_path):
    path = tmp_path / "wrist.xml"
    path.write_text(HAND_WRITTEN)
    plant = MujocoPlant(path)
    assert plant.n == 4
    assert plant.joint_names == ("joint1", "joint2", "finger_joint1", "finger_joint2")
    assert plant.link_names == ("link1", "link2", "left_finger", "right_finger")
    # position actuators are left out: at rest without torque the arm falls
    ddq = plant.forward_dynamics([0.0, 1.0, 0.0, 0.0], np.zeros(4), np.zeros(4))
    assert abs(ddq[1]) > 1.0
    robot = th.Robot.load("panda")
    robot.save(tmp_path / "panda.xml")
    assert distance(loop(MujocoPlant(tmp_path / "panda.xml"), robot), loop(robot, robot)) < 1e-9


def test_results_have_the_joints_names_and_plants_can_be_pickled():
    robot = th.Robot.load("ur5e")
    result = loop(MujocoPlant(robot), robot, duration=0.002)
    assert result.names["joints"] == robot.joint_names
    again = pickle.loads(pickle.dumps(MujocoPlant(robot)))
    state = np.full((3, 6), 0.3)
    np.testing.assert_array_equal(again.forward_dynamics(*state), MujocoPlant(robot).forward_dynamics(*state))


def test_an_integrator_of_the_plants_own_is_asked_for():
    robot = th.Robot.load("elbow")
    assert_refused(
        (lambda: loop(robot, robot, "plant"), "...plant must have advance for integrator='plant', got Rob..."),
        (
            lambda: loop(MujocoPlant(robot), robot, "plant", actuators=th.Actuators(lag=0.1)),
            "...actuators must have no lag...",
        ),
    )
    late = th.Actuators(delay=2e-3, rate_limits=500.0)
    ours = loop(robot, robot, actuators=late)
    assert distance(loop(MujocoPlant(robot, integrator="rk4"), robot, "plant", actuators=late), ours) < 1e-6

    class Broken(MujocoPlant):
        def advance(self, t, q, dq, tau, dt):
            return [q]

    with pytest.raises(ValueError, match=r"plant.advance must return q, dq, got \["):
        loop(Broken(robot), robot, "plant")


@pytest.mark.filterwarnings("ignore:the run diverged:RuntimeWarning")
@pytest.mark.parametrize("integrator", ["rk4", "plant"])
def test_torques_without_end_stop_a_run_and_write_no_log(integrator, tmp_path, monkeypatch):
    """MuJoCo would write of what is not finite into a file of the working folder."""
    monkeypatch.chdir(tmp_path)

    class Endless:
        def step(self, t, q, dq, reference):
            return np.full(2, np.inf if t > 0.01 else 0.0)

    robot = th.Robot.load("elbow")
    reference = Sinusoid([0.4, 0.3], [1.0, 2.0])
    runs = [th.simulate(plant, Endless(), reference, 0.1, integrator=method)
            for plant, method in ((robot, "rk4"), (MujocoPlant(robot), integrator))]  # fmt: skip
    assert [run.status[-1] for run in runs] == [th.control.Status.diverged] * 2
    state = np.full(2, np.nan)
    assert np.isnan(MujocoPlant(robot).forward_dynamics(state, state, state)).all()
    assert np.isnan(MujocoPlant(robot).advance(0.0, state, state, state, 1e-3)).all()
    assert not list(tmp_path.iterdir())


def one_body(name="a", compiler=""):
    return (
        f'<mujoco><compiler {compiler}/><worldbody><body name="{name}"><joint axis="0 1 0"/>'
        '<inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>'
    )


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit", "implicitfast"])
def test_the_step_of_a_file_is_that_of_its_options(integrator, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    text = one_body().replace("<worldbody>", f'<option timestep="0.0005" integrator="{integrator}"/><worldbody>')
    (tmp_path / "arm.xml").write_text(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = 0.5, -2.0, 0.3
    mujoco.mj_step(model, data, 2)
    step, end = (0.0, [0.5], [-2.0], [0.3], 1e-3), [data.qpos, data.qvel]
    np.testing.assert_allclose(MujocoPlant(tmp_path / "arm.xml").advance(*step), end, rtol=1e-14)
    other = MujocoPlant(tmp_path / "arm.xml", timestep=1e-3, integrator="rk4")
    assert (np.array(other.advance(*step)) != end).all()


@pytest.mark.parametrize("name", ["a", "a&amp;b", "1 &lt; 2", "a>b", "it's", "&quot;a&quot;"])
def test_payloads_on_bodies_of_any_name(name, tmp_path):
    (tmp_path / "arm.xml").write_text(one_body(name))
    plant = MujocoPlant(tmp_path / "arm.xml", payloads=th.Payload(2.0, (0.0, 0.0, 0.3)))
    np.testing.assert_allclose(plant.mass_matrix([0.0]), 0.02 + 2.0 * 0.3**2, rtol=1e-12)


@pytest.mark.parametrize("compiler", ['settotalmass="5"', 'boundmass="3"', 'boundinertia="0.5"'])
def test_compilers_that_would_change_payloads_are_refused(compiler, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log of attributes that it will not read for ever
    (tmp_path / "arm.xml").write_text(one_body(compiler=compiler))
    assert MujocoPlant("arm.xml").n == 1
    with pytest.raises(ThunderError, match="the file's compiler would change masses or inertias"):
        MujocoPlant("arm.xml", payloads=th.Payload(2.0))


def test_files_with_infinite_masses_are_refused(tmp_path):
    (tmp_path / "arm.xml").write_text(one_body().replace('mass="1"', 'mass="inf"'))
    with pytest.raises(FileFormatError, match="masses, inertias, positions and damping must be finite"):
        MujocoPlant(tmp_path / "arm.xml")


def test_refusals():
    robot = rubbing(th.Robot.load("elbow"))
    assert_refused(
        (lambda: MujocoPlant(robot, integrator="rk4"), "integrator='rk4' needs friction that is viscous only...")
    )
    assert_refused(
        ({"integrator": ["rk4"]}, "integrator must be one of ..., got ['rk4']"),
        (
            {"integrator": "verlet"},
            "integrator must be one of euler, rk4, implicit, implicitfast, got 'verlet'...",
        ),
        ({"timestep": 0.0}, "timestep must be positive, got 0"),
        ({"timestep": np.nan}, "timestep must be positive..."),
        ({"limits": 1}, "limits must be True or False, got 1"),
        ({"payloads": [3]}, "payloads must be a sequence of Payload, got 3 in it"),
        ({"payloads": th.Payload(1.0, link=9)}, "payload link (or its name) must be a whole number from 1 to 7, got 9"),
        call=lambda **options: MujocoPlant(th.Robot.load("panda"), **options),
    )
    assert_refused(
        (
            lambda: MujocoPlant(th.Robot.load("panda"), payloads=th.Payload(1.0, link="lnk7")),
            "payload link must be a link, got 'lnk7'; did you mean 'link7'...",
            UnknownNameError,
        )
    )
    assert_refused(
        (lambda plant, x: plant.forward_dynamics(0.0, x, x), "q must have shape (2,), got ()"),
        (lambda plant, x: plant.forward_dynamics(x, x, np.zeros((3, 2))), "tau must have shape (2,), got (3, 2)"),
        (lambda plant, x: plant.mass_matrix([np.nan, 0.0]), "q must be finite..."),
        (lambda plant, x: plant.bias(x, [np.inf, 0.0]), "dq must be finite..."),
        (lambda plant, x: plant.advance(0.0, x, x, x, 0.0), "dt must be positive and finite..."),
        (lambda plant, x: plant.advance(0.0, x, x, x, np.nan), "dt must be positive and finite..."),
        (lambda plant, x: plant.begin_step(np.nan), "t must be finite, got nan"),
        call=lambda call: call(MujocoPlant(th.Robot.load("elbow")), np.zeros(2)),
    )


def test_limits_stop_joints_only_if_wanted():
    robot = th.Robot.load("panda")
    q, dq, zero = np.array(robot.limits.upper) + 0.1, np.zeros(7), np.zeros(7)
    free = MujocoPlant(robot).forward_dynamics(q, dq, zero)
    np.testing.assert_allclose(free, robot.forward_dynamics(q, dq, zero), rtol=1e-9)
    stopped = MujocoPlant(robot, limits=True).forward_dynamics(q, dq, zero)
    assert (stopped - free).min() < -1.0
