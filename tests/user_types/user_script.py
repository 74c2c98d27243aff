"""What a user with a strict type checker writes: ``mypy --strict user_script.py`` against the installed package.

Every result is annotated, so that a type which is wrong, or unknown, is an error; it also runs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import thunder_py as th
from thunder_py.identification import identify, persistent_excitation
from thunder_py.kinematics import CLIK, InverseKinematics, Posture
from thunder_py.manipulation import Belt, InterceptionOptions, Interceptor, TimeAugmentation
from thunder_py.motion import DMP, FPCA, HumanLikePlanner
from thunder_py.perception import PinholeCamera, SimulatedPoseSource
from thunder_py.recordings.synthetic import minimum_jerk_reaches
from thunder_py.spatial import pose_from_rpy
from thunder_py.symbolic import SymbolicModel
from thunder_py.trajectory import Line, point_to_point, spline, trapezoidal
from thunder_py.trajectory.hermite import minimum_jerk

Array = NDArray[np.float64]


def dynamics(robot: th.Robot) -> Array:
    """Quantities of one state and of many."""
    q, dq, ddq = np.random.default_rng(0).uniform(-1, 1, (3, 20, robot.n))
    M: Array = robot.mass_matrix(q)
    C: Array = robot.coriolis_matrix(q, dq)
    G: Array = robot.gravity_vector(q)
    Y: Array = robot.regressor(q, dq, ddq)
    T: Array = robot.forward_kinematics(q[0], "tool")
    names: tuple[str, ...] = robot.parameter_names
    joints: int = robot.n
    pi: Array = robot.parameters
    assert T.shape == (4, 4)
    assert len(names) == Y.shape[-1] == pi.size
    assert joints == M.shape[-1]
    tau: Array = (M @ ddq[..., None] + C @ dq[..., None])[..., 0] + G
    return tau


def files(robot: th.Robot, folder: Path) -> th.Robot:
    """A robot to a file and back, and one from numbers."""
    robot.save(folder / "arm.yaml")
    planar = th.Robot.from_dh([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0]], joint_types="RR", gravity=[0, -9.81, 0])
    assert planar.n == 2
    return th.Robot.load(folder / "arm.yaml")


def control(robot: th.Robot) -> th.SimulationResult:
    """A law in a loop of one's own, then in the simulator."""
    motion = th.reference.Sinusoid([0.3] * 7, np.linspace(0.1, 0.5, 7), center=[0, -0.3, 0, -2, 0, 1.8, 0.7])
    adaptation = th.control.GradientAdaptation(1.0, unknown="link7")
    law = th.SlotineLi(robot, 5.0, [20] * 4 + [2] * 3, adaptation=adaptation)
    torque: Array = law.step(0.0, motion(0.0).q, np.zeros(7), motion(0.0))
    status: str = law.status.name
    assert status == "ok"
    assert torque.shape == (7,)
    result = th.simulate(
        robot,
        law,
        motion,
        1.0,
        payloads=[th.Payload(1.0, (0, 0, 0.1), time=0.5)],
        sensors=th.Sensors(velocity_noise=0.01, seed=1),
    )
    error: float = result.steady_state_error()
    q: Array = result.q
    assert error >= 0
    assert q.shape[1] == 7
    return result


def kinematics(robot: th.Robot) -> None:
    """Differential and numeric inverse kinematics."""
    q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
    path = th.reference.Lissajous.starting_at(robot.forward_kinematics(q0), (0.10, 0.15, 0.10), (0.2, 0.1, 0.4))
    clik = CLIK(robot, Lambda=50.0, null_space=Posture(q0, gain=2.0))
    dq: Array = clik.step(0.0, q0, path(0.0))
    assert dq.shape == (7,)
    assert clik.follow(path, q0, duration=0.1).ok
    found = InverseKinematics(robot).solve(robot.forward_kinematics(q0), q0)
    assert np.allclose(robot.forward_kinematics(found.q), robot.forward_kinematics(q0), atol=1e-6)


def trajectories() -> None:
    """Timing laws, motions of joints and of the hand."""
    law = trapezoidal(0.0, 0.6, v_max=0.5, a_max=2.0)
    duration: float = law.duration
    through = spline([0.0, 1.0, 2.5], np.array([[0.0, 0.0], [0.8, -0.4], [0.3, 0.5]]))
    straight = point_to_point([0.0, 0.0], [0.8, -0.4], v_max=[1.0, 0.5], a_max=2.0)
    line = Line([0.4, -0.2, 0.3], [0.4, 0.2, 0.3], trapezoidal(duration=2.0, blend=0.25))
    p: Array = line(1.0).p
    q: Array = through(1.0).q
    assert duration > 0
    assert straight.duration > 0
    assert p.shape == (3,)
    assert q.shape == (2,)


def identification(robot: th.Robot) -> None:
    """Parameters from a recorded motion."""
    t: Array = np.linspace(0.0, 2.0, 401)
    phase = np.outer(t, np.arange(1, robot.n + 1))
    q, dq, ddq = np.sin(phase), np.cos(phase), -np.sin(phase)
    found = identify(robot, t, q, dq, ddq, robot.inverse_dynamics(q, dq, ddq))
    rank: int = found.rank
    measure: float = float(persistent_excitation(robot, q, dq, ddq, t, window=1.0).l1)
    assert rank > 0
    assert measure >= 0


def symbolic(robot: th.Robot) -> None:
    """Expressions of a robot and a function of them."""
    model: SymbolicModel = robot.symbolic()
    G = model.function("G", model.gravity_vector())
    assert np.allclose(G(np.zeros(robot.n)), robot.gravity_vector(np.zeros(robot.n)))


def generated(robot: th.Robot, folder: Path) -> None:
    """A library for one robot."""
    written: Path = th.codegen.generate(robot, folder)
    assert written.is_dir()


def motion() -> HumanLikePlanner:
    """Components of recorded motions, a planner of them, and a movement primitive."""
    planner = HumanLikePlanner(FPCA(shrinkage=0.1, alignment="none").fit(minimum_jerk_reaches(30, seed=3)))
    plan = planner.plan([0.1, 0.2, 0.3], [0.5, 0.0, 0.4], duration=1.2)
    x: Array = plan.position(1.2)
    assert np.allclose(x, [0.5, 0.0, 0.4])
    rollout = DMP().fit(minimum_jerk([0.0, 0.0, 0.0], [0.4, 0.3, 0.25], 2.0)).rollout(goal=[0.4, 0.4, 0.1])
    end: float = rollout.end_error
    assert end < 0.05
    return planner


def moving_objects(planner: HumanLikePlanner) -> None:
    """What is seen, and a hand that goes to meet it."""
    source = SimulatedPoseSource(lambda t: pose_from_rpy((0.5, -0.4 + 0.26 * t, 0.05)), rate=30.0, latency=0.08)
    camera = PinholeCamera.from_field_of_view(424, 240, 1.2)
    belt = Belt(reference=(0.5, 0.0, 0.25), low=(0.4, -0.25, 0.15), high=(0.6, 0.3, 0.35), offset=(0.0, 0.0, 0.15))
    hand = Interceptor(planner, belt, np.eye(4), options=InterceptionOptions(strategy=TimeAugmentation(p_o=0.01)))
    for measurement in source.poll(0.2):
        usable: bool = measurement.usable
        assert usable
    phase: str = hand.phase
    assert phase == "waiting"
    assert camera.width == 424


def main(folder: Path) -> None:
    """Run all of it."""
    robot = th.Robot.load("panda")
    assert np.allclose(dynamics(files(robot, folder)), dynamics(robot))
    control(robot).save(folder / "run.npz")
    kinematics(robot)
    trajectories()
    identification(robot)
    symbolic(robot)
    generated(th.Robot.load("elbow"), folder)
    moving_objects(motion())


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
    print("done")
