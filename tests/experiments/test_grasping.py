import gc
import math
import types
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the extra mujoco is not installed")

import thunder_py as th
from thunder_py.errors import ThunderError
from thunder_py.manipulation import Approach, CameraClock, GraspJudge, YawEstimate
from thunder_py.mujoco import GraspWorld, WorldCamera, WorldObject, run_hand_loop
from thunder_py.mujoco import rendering as gl
from thunder_py.papers.grasping import trial
from thunder_py.papers.grasping.setup import CAMERA_TIMES, SURFACE
from thunder_py.papers.grasping.trial import Case, belt_station, draw_scene, run_trial
from thunder_py.papers.picking import physics
from thunder_py.papers.picking.physics import PickCase, pick, table_station
from thunder_py.perception import PinholeCamera
from thunder_py.perception.clouds import Cuboid, DepthCamera, look_at
from thunder_py.reference import TaskReference

from ..refusals import assert_refused


@pytest.fixture
def _drawing() -> None:
    try:
        gl.open_context(8, 8).free()
    except ThunderError as error:
        pytest.skip(str(error))


@pytest.mark.release
@pytest.mark.usefixtures("_drawing")
def test_a_box_is_lifted_from_the_belt_and_a_seed_repeats() -> None:
    """A scene that was used neither while the loop was made nor for the tables."""
    found = [run_trial(Case("box", 0.38, "time augmentation", 5000)) for _ in range(2)]
    assert found[0].success, found[0].outcome
    assert found[0].outcome == "lifted"
    assert found[0].lift > 0.1
    assert math.hypot(found[0].along, found[0].across) < 0.015
    assert found[0].error < 0.01
    assert found[0].detections > 30
    assert found[0]._replace(computing=0.0) == found[1]._replace(computing=0.0)


@pytest.mark.release
@pytest.mark.usefixtures("_drawing")
@pytest.mark.parametrize(("arm", "hand", "clock"), [(None, "compliant", 0.1), ("iiwa14", "gripper", -0.07)])
def test_a_waving_arm_measures_the_clock_of_the_camera(arm: str | None, hand: str, clock: float) -> None:
    at = belt_station(hand, None if arm is None else th.Robot.load(arm))
    found = trial.measure_clock(Case("box", 0.26, "time augmentation", 5000, hand), at, clock)
    assert abs(found - clock) < 0.012  # with noise of the joints, on an arm that is not quite the known one


def seen(offset: float, size: float) -> CameraClock:
    """A clock whose pictures showed a point that moves with the hand, and by chance."""
    robot, q = th.Robot.load("ur5e"), [0.0, -2.0, 2.0, -1.6, -1.6, 0.0]
    camera = DepthCamera(PinholeCamera.from_field_of_view(8, 6, 1.2), look_at((1.2, 0.0, 0.7), (0.5, 0.0, 0.0)))
    clock, rng = CameraClock(robot, camera, q), np.random.default_rng(0)
    home, t = robot.forward_kinematics(q)[:3, 3], np.arange(0.0, 4.0, 0.01)
    wave = np.array([home + clock._wave(each) for each in t])
    clock._moved = list(zip(t.tolist(), wave, strict=True))
    points = size * (wave[::3] - home) + 1e-3 * rng.normal(size=(len(t[::3]), 3))
    clock._seen = list(zip((t[::3] + offset).tolist(), points, strict=True))
    return clock


def test_the_offset_of_a_clock_has_its_deviation() -> None:
    found = [(seen(offset, 0.7).result(), offset) for offset in (-0.2, 0.0, 0.123)]
    assert max(abs(each.offset - offset) / each.deviation for each, offset in found) < 3.0
    assert max(each.deviation for each, _ in found) < 2e-3
    assert_refused(
        (seen(0.0, 0.0).result, "pictures must show the hand move..."),
        (seen(0.31, 0.7).result, "the offset must be less than 0.3 s: give a larger value of longest"),
        (seen(5.0, 0.7).result, "pictures must show the hand: 0 do, of at least 20"),
    )


@pytest.fixture
def _unstable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worlds whose arm is at no place after a second."""
    step = GraspWorld.step

    def stepped(world: GraspWorld, *arguments: Any) -> None:
        step(world, *arguments)
        if world.time > 1.0:
            world.data.qvel[:] = world.data.qpos[:] = np.nan

    monkeypatch.setattr(GraspWorld, "step", stepped)


@pytest.mark.release
@pytest.mark.usefixtures("_drawing", "_unstable")
def test_an_unstable_arm_has_failed_and_the_others_go_on() -> None:
    for found in (run_trial(Case("box", 0.38, "no replan", 5000)), pick(PickCase("box", "gripper", 5000))):
        assert not found.success
        assert found.outcome == "the arm became unstable"
        assert found.duration < 1.01


@pytest.mark.release
@pytest.mark.usefixtures("_drawing")
def test_the_compliant_hand_grasps_and_the_gripper_picks() -> None:
    assert run_trial(Case("sphere", 0.16, "time augmentation", 5000, "compliant")).outcome == "lifted"
    assert pick(PickCase("cylinder", "gripper", 5000)).outcome == "lifted"


@pytest.mark.release
@pytest.mark.usefixtures("_drawing")
def test_among_others_the_intended_one_is_lifted_and_another_one_is_told() -> None:
    """The same scene with the size of its object, and with that of the cylinder beside it."""
    at, seed = belt_station("gripper"), 0
    while [part.shape for part in draw_scene("box", 0.26, seed, others=1).things[1].parts] != ["cylinder"]:
        seed += 1
    case = Case("box", 0.26, "time augmentation", seed, others=1)
    assert run_trial(case, at=at).outcome == "lifted"
    scene = draw_scene("box", 0.26, seed, at.x, 1)
    world = trial.make_world(scene, at)
    loop = trial.make_loop(world.carrying(at.arm), at, scene.believed, case._replace(shape="cylinder"))
    with WorldCamera(world, scene.camera, seed=seed, **CAMERA_TIMES) as camera:
        found = run_hand_loop(loop, world, camera, GraspJudge(SURFACE), effort=40.0, longest=12.0)
    assert found.outcome == "another object was lifted: other1"


@pytest.mark.release
@pytest.mark.usefixtures("_drawing")
@pytest.mark.parametrize("name", ["ur5e", "gen3"])
def test_other_arms_grasp_too(name: str) -> None:
    at = belt_station("gripper", th.Robot.load(name))
    assert run_trial(Case("box", 0.26, "time augmentation", 5000), at=at).outcome == "lifted"


@pytest.mark.release
@pytest.mark.usefixtures("_drawing")
@pytest.mark.parametrize("name", ["iiwa14", "gen3"])
def test_other_arms_pick_too(name: str) -> None:
    at = table_station("gripper", th.Robot.load(name))
    assert pick(PickCase("cylinder", "gripper", 5000), at=at).outcome == "lifted"


def _reached(root: object) -> list[object]:
    """Return everything that an object holds, by references, closures and bound methods."""
    found: dict[int, object] = {}
    left = [root]
    while left:
        x = left.pop()
        if id(x) in found or isinstance(x, (type, types.ModuleType, types.BuiltinFunctionType)):
            continue
        found[id(x)] = x
        left += (
            [x.__closure__, x.__defaults__, x.__kwdefaults__]  # not the globals of its module
            if isinstance(x, types.FunctionType)
            else gc.get_referents(x)
        )
    return list(found.values())


@pytest.mark.parametrize("what", ["grasp", "gripper", "suction"])
def test_nothing_that_a_loop_reaches_knows_the_truth(what: str) -> None:
    """Neither world nor true object nor true camera: what it gets are states, closures and pictures."""
    if what == "grasp":
        scene, at = draw_scene("box", 0.26, 1, others=2), belt_station("gripper")
        world = trial.make_world(scene, at)
        case = Case("box", 0.26, "time augmentation", 1, others=2)
        loop: Any = trial.make_loop(world.carrying(at.arm), at, scene.believed, case)
    else:
        scene, at = physics._draw(PickCase("box", what, 1), table_station(what)), table_station(what)
        world = at.world([scene.thing], physics.pick_place(what, at.x).surfaces, 1)
        world.reset(scene.start, {"object": scene.place})
        loop = physics.make_loop(world.carrying(at.arm), at, scene.believed)
    top = [0.5, 0.25, 0.25] if what == "suction" else [0.5, -0.15, 0.1]
    ground = Cuboid((0.4, 0.3 if what == "suction" else 3.0, 0.02), th.spatial.pose_from_rpy([*top[:2], top[2] - 0.01]))
    box = Cuboid((0.07, 0.05, 0.06), th.spatial.pose_from_rpy([*top[:2], top[2] + 0.03]))
    for k in range(400):
        loop.feel(0.0)
        tau = loop.step(world.time, world.q, world.dq)
        if k % 100 == 50:
            loop.see(world.time - 0.02, scene.camera.depth([ground, box], np.random.default_rng(k)))
        world.step(tau)
    assert loop.view.table is not None
    truth = (GraspWorld, type(world.data), type(world.model), type(scene), WorldObject)
    known = _reached(loop)
    assert len(known) > 100
    assert not [x for x in known if isinstance(x, truth)]
    places = scene.places.values() if what == "grasp" else [scene.place]
    hidden = [scene.camera.pose, *places, world.robot.parameters, world.robot.description.inertial]
    assert not [x for x in known if isinstance(x, np.ndarray) and any(np.array_equal(x, y) for y in hidden)]


def test_scenes_depend_on_the_seed_and_not_on_the_strategy() -> None:
    one, same, other = draw_scene("box", 0.26, 1), draw_scene("box", 0.26, 1), draw_scene("box", 0.26, 2)
    np.testing.assert_array_equal(one.places["object"], same.places["object"])
    assert one.things == same.things
    assert not np.array_equal(one.places["object"], other.places["object"])
    away = np.asarray(one.believed.pose)[:3, 3] - np.asarray(one.camera.pose)[:3, 3]
    assert 0.0 < np.abs(away).max() < 0.01  # the loop has a camera with an error


def test_the_approach_is_smooth_and_ends_on_the_path() -> None:
    approach, yaw = Approach(height=0.1, time=0.35, after=0.2), YawEstimate()
    yaw.add(0.8, np.pi)
    path = TaskReference(np.zeros(3), np.eye(3), np.zeros(6), np.zeros(6))
    dt, rows = 5e-4, []
    approach.step(dt, 1.0)
    approach.aim(yaw)
    for k in range(5000):
        approach.step(dt, 0.6 - k * dt)
        p, R, xi, xi_dot = approach.apply(path)
        rows.append([p[2], xi[2], xi_dot[2], math.atan2(R[1, 0], R[0, 0]), xi[5], xi_dot[5]])
    x = np.array(rows)
    for first in (0, 1, 3, 4):
        np.testing.assert_allclose(np.gradient(x[:, first], dt)[2:-2], x[2:-2, first + 1], atol=2e-2)
    assert x[0, 0] == 0.1
    np.testing.assert_allclose(x[-1, [0, 1, 3, 4]], [0.0, 0.0, 0.8, 0.0], atol=1e-3)
    quarter_turn = 0.5 * np.pi / 0.8 * x[:, 4]  # the filter is linear
    assert quarter_turn.max() < th.Robot.load("panda").limits.velocity[6]


def test_directions_are_averaged_up_to_the_symmetry() -> None:
    yaw = YawEstimate()
    for angle in (1.55, -1.56, 1.54):  # a line: the same directions
        yaw.add(angle, np.pi)
    assert abs(abs(yaw.near(1.5)) - 1.553) < 0.02
    cube = YawEstimate()
    cube.add(0.7, np.pi / 2.0)
    assert cube.near(-0.9) == pytest.approx(0.7 - np.pi / 2.0)


def test_noise_does_not_turn_the_hand_to_an_equal_grasp() -> None:
    """A box across the hand: a quarter turn to either side grasps it alike."""
    rng, path = np.random.default_rng(0), TaskReference(np.zeros(3), np.eye(3), np.zeros(6), np.zeros(6))
    approach, yaw, rates, turns = Approach(height=0.1, time=0.35, after=0.2), YawEstimate(), [], []
    for _ in range(90):
        yaw.add(0.5 * np.pi + rng.normal(0.0, 0.1), np.pi)
        approach.aim(yaw)
        turns.append(yaw.near(0.0))
        for _ in range(33):
            approach.step(1e-3, 1.0)
            rates.append(approach.apply(path).xi[5])
    assert min(turns) < -1.4 < 1.4 < max(turns)
    assert np.abs(rates[1000:]).max() < 0.5
