import copy
from dataclasses import replace

import numpy as np
import pytest

import thunder_py as th
from thunder_py.errors import ThunderError, UnknownNameError

pytest.importorskip("mujoco")

import mujoco

from tests.refusals import assert_refused
from thunder_py.mujoco import (
    CompliantHand,
    ConveyorBelt,
    GraspWorld,
    HandCommand,
    ParallelGripper,
    Part,
    SuctionTool,
    Table,
    WorldObject,
)

G = 9.81
Q = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
BOX = WorldObject.box(size=(0.06, 0.05, 0.04))
ELBOW = th.Robot.load("elbow").replace(gravity=(0.0, 0.0, -G))


def bare(thing, surface):
    """Return a world whose arm does nothing."""
    world = GraspWorld(ELBOW, None, [thing], [surface])
    world.reset([0.0, 0.0], {thing.name: [0.0, 5.0, 1.0]})
    T = np.array(surface.pose)
    T[:3, 3] += T[:3, 2] * thing.rest_height
    world.place(thing.name, T)
    return world


def idle(world, seconds):
    """Step a world without torques."""
    for _ in range(round(seconds / world.period)):
        world.step([0.0, 0.0])


@pytest.mark.parametrize("friction", [0.3, 0.6])
@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_box_slides_at_the_angle_of_friction(friction, factor):
    """Below atan(mu) it stays; above it accelerates with g (sin - mu cos)."""
    slope = factor * np.arctan(friction)
    world = bare(BOX, Table.at((0.0, 5.0, 1.0), slope=slope, friction=friction))
    idle(world, 0.1)
    before = np.linalg.norm(world.velocity("box"))
    idle(world, 0.2)
    rate = (np.linalg.norm(world.velocity("box")) - before) / 0.2
    expected = max(0.0, G * (np.sin(slope) - friction * np.cos(slope)))
    assert abs(rate - expected) < 0.01 * friction * G
    assert (expected > 0.05) == (factor > 1.0)
    if factor < 1.0:
        assert np.linalg.norm(world.velocity("box")) < 5e-3  # the creep of MuJoCo's soft friction


def test_belt_accelerates_an_object_by_friction():
    """Speed mu g t, then that of the belt; an instant stop lets it slip and brakes it at mu g."""
    belt = ConveyorBelt.at((0.0, 5.0, 1.0), heading=0.5, speed=0.5, friction=0.4)
    world = bare(BOX, belt)
    speeds = []
    for _ in range(30):
        idle(world, 0.01)
        speeds.append(belt.direction @ world.velocity("box"))
    t = 0.01 * np.arange(1, 31)
    sliding = (t > 0.04) & (t < 0.125)  # it lands on the compliant surface first
    assert np.abs(np.polyfit(t[sliding], np.array(speeds)[sliding], 1)[0] / (0.4 * G) - 1.0) < 0.02
    assert abs(speeds[-1] - 0.5) < 1e-3
    world.set_belt_speed(0.0)
    idle(world, 0.05)
    assert world.belt_speed() == 0.0
    assert abs(belt.direction @ world.velocity("box") - (0.5 - 0.05 * 0.4 * G)) < 0.02


def gripping(hand, thing, *, seconds=0.4):
    """Return a world in which a hand of a held arm has closed around an object, held in the air until then."""
    world = GraspWorld(th.Robot.load("panda"), hand, [thing])
    T = world.robot.forward_kinematics(Q)
    world.reset(Q, {thing.name: T})
    law, goal = th.PDGravity(world.robot, [400] * 4 + [100] * 3, [40] * 4 + [2.0] * 3), th.reference.SetPoint(Q)

    def step(command=None):
        world.step(law.step(world.time, world.q, world.dq, goal(world.time)), command)

    step(HandCommand(1.0))
    while world.time < seconds:
        step()
        world.place(thing.name, T)
    return world, step


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_gripper_holds_the_weight_of_coulombs_law(factor):
    """Two pads hold m g <= 2 mu F, here within 3 %."""
    hand = ParallelGripper(effort=5.0, friction=0.6, speed=4.0, delay=0.0)
    world, step = gripping(
        hand, WorldObject.box(size=(0.05, 0.05, 0.05), mass=factor * 2.0 * 0.6 * 5.0 / G), seconds=0.2
    )
    heights = []
    for _ in range(2):
        for _ in range(120):
            step()
        heights.append(world.pose("box")[2, 3] - world.robot.forward_kinematics(world.q)[2, 3])
    assert abs(world.hand_state.effort - 5.0) < 1e-3
    slip = heights[0] - heights[1]
    assert slip < 2e-5 if factor < 1.0 else slip > 1e-3
    assert factor > 1.0 or world.touching("box") == {"hand"}


def fingers(world):
    joints = [world.model.joint(name) for name in CompliantHand().joint_names]
    return [int(j.qposadr[0]) for j in joints], [int(j.dofadr[0]) for j in joints]


def test_tendon_hand_adapts_to_an_object():
    """One motor position, and angles that contacts decide: K q = r T + contact torques."""
    world, step = gripping(CompliantHand(speed=4.0, delay=0.0), WorldObject.cylinder(height=0.08), seconds=0.5)
    for _ in range(100):
        step()
    assert world.touching("cylinder") == {"hand"}
    hand, (places, dofs) = world.hand, fingers(world)
    data, q = world.data, world.data.qpos[places]
    contact, inertial = data.qfrc_constraint[dofs], data.qfrc_bias[dofs]
    tension = world.hand_state.effort
    residual = hand.pulleys * tension - hand.stiffness * q + contact - inertial
    assert np.abs(contact).max() > 0.3
    assert np.abs(residual).max() < 0.05 * np.abs(contact).max()
    relative = hand.stiffness * q / (hand.pulleys * tension)  # 1 everywhere in a free hand
    assert np.ptp(relative) > 0.5


@pytest.mark.parametrize("hand", [ParallelGripper(), CompliantHand()])
def test_known_arm_carries_the_hand(hand):
    """`world.robot` has the dynamics of the arm with the open hand, without the objects."""
    turn = np.diag([0.0, 0.0, 1.0, 1.0])
    turn[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]
    turn[:3, 3] = (0.01, 0.02, 0.03)
    world = GraspWorld(th.Robot.load("panda"), hand, mount=turn)
    world.reset(Q)
    np.testing.assert_allclose(world.data.qfrc_bias[:7], world.robot.gravity_vector(Q), atol=1e-10)
    M = np.zeros((world.model.nv, world.model.nv))
    mujoco.mj_fullM(world.model, world.data, M)
    np.testing.assert_allclose(M[:7, :7], world.robot.mass_matrix(Q), atol=5e-3)  # armature of the fingers' joints
    body = world.data.body("hand")
    grasp = body.xpos + body.xmat.reshape(3, 3) @ hand.grasp_point
    np.testing.assert_allclose(world.robot.forward_kinematics(Q)[:3, 3], grasp, atol=1e-12)
    assert world.robot.inertial[-1][0] == pytest.approx(th.Robot.load("panda").inertial[-1][0] + hand.mass)


def test_motor_waits_and_moves_at_its_speed():
    world = GraspWorld(ELBOW, ParallelGripper(delay=0.03, speed=2.0))
    world.model.opt.gravity[:] = 0.0
    world.reset([0.0, 0.0])
    world.step([0.0, 0.0], HandCommand(0.5, speed=1.0))
    idle(world, 0.027)
    assert abs(world.hand_state.closure) < 1e-6
    idle(world, 0.302)
    assert world.hand_state.closure == pytest.approx(0.29, abs=0.01)
    assert world.hand_state.rate == pytest.approx(1.0, abs=0.01)
    idle(world, 0.5)
    assert world.hand_state.closure == pytest.approx(0.5, abs=1e-3)


SHAPES = [WorldObject.box(), WorldObject.sphere(), WorldObject.cylinder(), WorldObject.capsule(), WorldObject.bottle()]


def test_masses_and_lowest_points_are_those_of_the_geometry():
    """Lowest points against MuJoCo's distance to a plane, at random orientations."""
    floor = Table.at((0.0, 0.0, 0.0), size=(20.0, 20.0, 1.0))
    world = GraspWorld(ELBOW, None, SHAPES, [floor])
    rng = np.random.default_rng(0)
    for thing in SHAPES:
        T = np.eye(4)
        T[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        T[:3, 0] *= np.linalg.det(T[:3, :3])
        T[:3, 3] = (1.0, 2.0, 0.3)
        world.reset([0.0, 0.0], {each.name: T for each in SHAPES})
        body, table = world.model.body(thing.name), world.model.geom("table").id
        assert body.mass[0] == pytest.approx(thing.mass)
        geoms = range(body.geomadr[0], body.geomadr[0] + body.geomnum[0])
        near = [mujoco.mj_geomDistance(world.model, world.data, geom, table, 1.0, None) for geom in geoms]
        assert world.lowest_point(thing.name) == pytest.approx(min(near), abs=1e-5)
        np.testing.assert_allclose(world.pose(thing.name), T, atol=1e-12)
    assert {thing.name: round(2.0 * thing.rest_height, 6) for thing in SHAPES} == {
        "box": 0.06, "sphere": 0.06, "cylinder": 0.09, "capsule": 0.1, "bottle": 0.16
    }  # fmt: skip


def test_elastic_arm_stays_and_a_copy_continues():
    """Motors of elastic joints carry the gravity of the arm; a deep copy has a state of its own."""
    robot = th.Robot.load("panda").replace(
        elastic=[th.robot.Elastic(joint=j, K=(3000.0,), D=(5.0,), Dm=(0.5,), Mm=0.3) for j in (2, 4)]
    )
    world = GraspWorld(robot, ParallelGripper(), [BOX], [Table.at((0.5, 0.0, 0.0))])
    world.reset(Q, {"box": (0.5, 0.1, 0.0)})
    tau = world.robot.gravity_vector(Q)
    for _ in range(20):
        world.step(tau)
    assert np.abs(world.q - Q).max() < 1e-6
    assert np.abs(world.x - Q[[1, 3]]).max() > 1e-3
    other = copy.deepcopy(world)
    for each in (world, other):
        each.step(tau + 1.0, HandCommand(1.0))
        each.step(tau)
    assert np.array_equal(world.data.qpos, other.data.qpos)
    world.step(tau)
    assert not np.array_equal(world.data.qpos, other.data.qpos)


def test_friction_of_the_arm_is_that_of_the_robot():
    friction = th.robot.Friction(terms=("viscous", "coulomb"), coefficients=np.full((2, 2), 0.3))
    robot = th.Robot.load("elbow").replace(friction=friction)
    world = GraspWorld(robot, period=1e-4, timestep=1e-4)
    world.reset([0.3, 0.4])
    world.data.qvel[:2] = dq = np.array([0.5, -0.4])
    world.step([1.0, 2.0])
    ddq = robot.forward_dynamics([0.3, 0.4], dq, [1.0, 2.0])
    np.testing.assert_allclose((world.dq - dq) / 1e-4, ddq, rtol=0.02)


def test_refusals():
    assert_refused(
        (lambda: GraspWorld(ELBOW, timestep=3e-4), "timestep must be a fraction of the period 0.001 s, got 0.0003 s"),
        (
            lambda: GraspWorld(ELBOW, None, [BOX, BOX]),
            "things must have different names other than 'hand' and 'arm', got...",
        ),
        (lambda: GraspWorld(ELBOW, SuctionTool(), [replace(BOX, name="cup")]), "'cup' names a part of the arm..."),
        (lambda: GraspWorld(ELBOW, None, [replace(BOX, name="world")]), "'world' names a part of the arm..."),
        *(
            (lambda name=name: GraspWorld(ELBOW, None, [replace(BOX, name=name)]), f"{name!r} names a part of...")
            for name in (*ELBOW.link_names, *ELBOW.joint_names)
        ),
        (
            lambda: GraspWorld(ELBOW, None, [BOX], [Table.at((0.5, 0.0, 0.0), name="box")]),
            "'box' names a part of the arm or the hand, or occurs twice...",
        ),
    )
    assert_refused(
        (dict(things=[None]), "each of things must be a WorldObject, got NoneType..."),
        (dict(things=None), "...things must be a sequence of WorldObject, got None..."),
        (dict(things=[Table.at((0.5, 0.0, 0.0))]), "each of things must be a WorldObject, got Table..."),
        (dict(surfaces=[BOX]), "...each of surfaces must be a Table, got WorldObject..."),
        (dict(robot=None), "...robot must be..."),
        call=lambda **wrong: GraspWorld(**{"robot": ELBOW, **wrong}),
    )
    assert_refused(
        (
            lambda: WorldObject.capsule(radius=0.05, height=0.1),
            "height of a capsule must be more than twice its radius...",
        ),
        (
            lambda: WorldObject("cone", [Part("cone", (0.1,))], 1.0),
            "shape must be one of box, sphere, cylinder, capsule,...",
        ),
        (lambda: HandCommand(1.2), "closure..."),
    )
    world = GraspWorld(ELBOW, None, [BOX])
    with pytest.raises(ThunderError, match="placements must name every object, got none for box"):
        world.reset([0.0, 0.0])
    world.reset([0.0, 0.0], {"box": (0.0, 0.0, 1.0)})
    with pytest.raises(ThunderError, match="command needs a hand, and the world has none"):
        world.step([0.0, 0.0], HandCommand(1.0))
    before = world.data.qpos.copy()
    assert_refused(
        ([0.0, np.nan], "tau must be finite..."),
        ([0.0, 1e300], "tau must be within +-1e+10, got..."),
        (1e300, "tau must have shape (2,), got ()"),
        (np.nan, "tau must have shape..."),
        call=lambda tau: world.step(tau),
    )
    assert world.time == 0.0
    assert np.array_equal(world.data.qpos, before)
    assert not world.data.qfrc_applied.any()
    assert_refused(
        (lambda: world.pose("bx"), "name must be an object, got 'bx'...", UnknownNameError),
        (lambda: world.set_belt_speed(1.0), "name must be a belt, got 'belt'", UnknownNameError),
    )
    assert not world.diverged
    world.data.qvel[0] = np.nan
    assert world.diverged
    with pytest.raises(ThunderError, match="the simulation has diverged before 0 s: reduce gains or the timestep"):
        world.step([0.0, 0.0])


@pytest.mark.parametrize("closure", [0.3, 0.9])
def test_free_tendon_hand_is_in_equilibrium_with_its_springs(closure):
    """K q = r T, and the tendon's length is the motor's."""
    world = GraspWorld(ELBOW, CompliantHand(speed=10.0, delay=0.0))
    world.model.opt.gravity[:] = 0.0
    world.reset([0.0, 0.0])
    world.step([0.0, 0.0], HandCommand(closure))
    idle(world, 0.6)
    hand, (places, _) = world.hand, fingers(world)
    q, tension = world.data.qpos[places], world.hand_state.effort
    np.testing.assert_allclose(hand.stiffness * q, hand.pulleys * tension, rtol=1e-3)
    # the motor is a spring too: its set point less what the tension stretches
    assert abs(hand.pulleys @ q - (closure * hand.motor.stroke - tension / hand.motor.stiffness)) < 1e-5


@pytest.mark.parametrize(
    ("arm", "q"), [("ur5e", [0.0, 0.15, 0.0, 0.0, 0.0, 0.0]), ("panda", [0.0, 1.6, 0.0, -0.2, 0.0, 1.8, 0.7])]
)
def test_links_touch_what_they_meet(arm, q):
    """A table through the upper arm, and one below it; objects and hands are told apart from links."""
    robot = th.Robot.load(arm)
    middle = robot.forward_kinematics(q, 3)[:3, 3]
    for height, met in ((0.0, {"table"}), (-0.2, frozenset())):
        table = Table.at(middle + np.array([0.0, 0.0, height]), size=(0.1, 0.1, 0.02))
        world = GraspWorld(robot, ParallelGripper(), [WorldObject.box()], [table])
        world.reset(q, {"box": (5.0, 5.0, 5.0)})
        assert world.touching("arm") == met
        assert ("arm" in world.touching("table")) == bool(met)
    assert_refused(
        (lambda: world.touching("shelf"), "name must be an object or a surface, got 'shelf'...", UnknownNameError)
    )


def test_a_known_arm_carries_the_same_hand():
    """Whatever the world's arm weighs, the hand adds the same weight at the same place."""
    known = th.Robot.load("panda")
    heavy = known.replace(inertial=1.1 * np.asarray(known.description.inertial))
    world = GraspWorld(heavy, ParallelGripper(), mount=np.diag([-1.0, -1.0, 1.0, 1.0]))
    hand = world.robot.gravity_vector(Q) - heavy.gravity_vector(Q)
    np.testing.assert_allclose(world.carrying(known).gravity_vector(Q) - known.gravity_vector(Q), hand, atol=1e-12)
    np.testing.assert_allclose(world.carrying(known).forward_kinematics(Q), world.robot.forward_kinematics(Q))
