"""Throws by physics: the grip, the measured delay, the release, and the landing."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py.errors import ReleaseError
from thunder_py.manipulation.throwing import simulate_flight

pytest.importorskip("mujoco")

from tests.refusals import assert_refused
from thunder_py.mujoco import GraspWorld, ParallelGripper, WorldObject, grip, opening_delay, throw_by_hand
from thunder_py.papers.tables import plain
from thunder_py.papers.throwing.physics import (
    MOTIONS,
    OBJECTS,
    Throw,
    ThrowsByHand,
    Worlds,
    cases,
    make_worlds,
    throws_of_seed,
)
from thunder_py.papers.throwing.setup import ThrowArm

Q = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])


def held(delay: float = 0.02, effort: float = 40.0):
    """Return a world whose gripper holds a ball, and the law that holds the arm."""
    world = GraspWorld(
        th.Robot.load("panda"), ParallelGripper(delay=delay), [WorldObject.sphere("ball"), WorldObject.box()]
    )
    controller = th.PDGravity(world.robot, [200] * 4 + [50] * 3, [20] * 4 + [1] * 3)
    goal = th.reference.Sinusoid(np.zeros(7), np.ones(7), center=Q)(0.0)

    def law(t, q, dq):
        return controller.step(t, q, dq, goal)

    grip(world, "ball", Q, law, effort=effort)
    return world, law


def test_grip_holds_the_object_where_it_was_grasped():
    world, _ = held()
    assert world.touching("ball") == {"hand"}
    assert world.hand_state.effort == pytest.approx(40.0, rel=1e-3)
    assert np.linalg.norm(world.pose("ball")[:3, 3] - world.robot.forward_kinematics(world.q)[:3, 3]) < 2e-3
    assert world.pose("box")[2, 3] < -40.0


@pytest.mark.parametrize("delay", [0.0, 0.05])
def test_delay_is_measured_by_the_motor_alone(delay):
    """It exceeds the delay of the command by the time in which the force falls and the fingers move by 1 %."""
    world, law = held(delay)
    assert 0.005 < opening_delay(world, law) - delay < 0.02


def test_a_lost_object_is_counted_and_has_no_landing():
    case, ideal = cases()[0], np.array([0.01, 0.0])
    landed = Throw(np.array([0.03, 0.04]), ideal, -0.006, False, 0.002)
    lost = Throw(np.full(2, np.nan), ideal, np.nan, False, np.nan)
    for throws, row in (([landed, lost], "| 1 | 5.00 | 1.00 |"), ([lost], "| 1 | | |")):
        found = ThrowsByHand(Worlds(ThrowArm.of(), {}, {}), len(throws), {}, {case: throws})
        assert row in " ".join(found.table().split())
        assert plain(found.to_dict())["throws"][0]["lost"] == [throw is lost for throw in throws]


@pytest.mark.release
def test_throws_land_where_the_ballistics_of_their_release_says():
    """A free throw lands as planned within 1 cm; a hand that does not fall with the object touches it again."""
    worlds = make_worlds()
    world, motion = worlds.world(MOTIONS[0]), worlds.motions[MOTIONS[0]]
    controller = th.ComputedTorque(world.robot, 400.0, 40.0)
    thrown = throw_by_hand(motion, controller, world, OBJECTS["heavy tennis ball"].name, delay=0.03)
    assert not thrown.again
    assert abs(thrown.release - thrown.planned) < 0.015
    assert np.linalg.norm(thrown.miss) < 0.015
    flight = simulate_flight(thrown.at_release.p, thrown.at_release.v, float(motion.release.target[2]))
    assert np.linalg.norm(flight.landing.p - thrown.landing) < 0.01
    found = throws_of_seed(worlds, 0, repetitions=0, only="heavy tennis ball")
    assert list(found) == [case for case in cases() if case.name == "heavy tennis ball"]
    again = {case: throw.again for case, throw in found.items()}
    assert all(value for case, value in again.items() if case.motion == "joints")


def test_refusals():
    world, law = held(delay=1.0)
    assert_refused(
        (lambda: opening_delay(world, law, longest=0.1), "the hand must open within 0.1 s, its motor...", ReleaseError)
    )
