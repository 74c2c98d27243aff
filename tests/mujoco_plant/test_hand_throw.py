"""Throws by physics: the grip, the measured delay, the release, and the landing."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py.errors import ReleaseError
from thunder_py.manipulation.throwing import simulate_flight

pytest.importorskip("mujoco")

from tests.refusals import assert_refused
from thunder_py.mujoco import (
    CompliantHand,
    GraspWorld,
    ParallelGripper,
    WorldObject,
    grip,
    learn_throw,
    opening_delay,
    throw_by_hand,
)
from thunder_py.papers.tables import plain
from thunder_py.papers.throwing import physics
from thunder_py.papers.throwing.physics import Case, Throws, ThrowsByHand, make_station
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
def test_delay_lasts_until_the_object_has_no_contact(delay):
    """It is later than the command's delay, and the object then falls freely: checked by its acceleration."""
    world, law = held(delay)
    measured = opening_delay(world, law, "ball")
    assert 0.001 < measured - delay < 0.02
    before, v = world.time, world.velocity("ball")[2]
    for _ in range(20):
        world.step(law(0.0, world.q, world.dq))
    assert (world.velocity("ball")[2] - v) / (world.time - before) == pytest.approx(-9.81, rel=1e-3)


def test_a_lost_object_is_counted_and_has_no_landing():
    case = Case("gripper", 1.2, "coast", "adaptive, low", "wooden box")
    station = make_station(ThrowArm.of(), case, starts=4)
    misses = np.array([[0.03, 0.04], [np.nan, np.nan]])
    opening = th.manipulation.HandOpening(delay=0.024)
    for part, row in ((misses, "| 5.00 | 5.00 | 1 |"), (misses[1:], "| | | 1 |")):
        thrown = Throws(opening, 0.02, part, np.zeros(1), 0, np.array([0.01, 0.0]))
        found = ThrowsByHand(station.arm, {case: (station, thrown), case._replace(distance=3.0): "too far"})
        assert row in " ".join(found.table().split())
        assert "3 m, coast, adaptive, low: too far" in found.table()
        assert plain(found.to_dict())["throws"][1]["reason"] == "too far"


@pytest.mark.release
@pytest.mark.parametrize(("hand", "most"), [(ParallelGripper(speed=3.0), 0.03), (CompliantHand(), 0.08)])
def test_learned_throws_land_where_the_ballistics_of_their_release_says(hand, most, monkeypatch):
    """After the learning, throws with other grasps and noise hit; a free flight is that of the closed form."""
    monkeypatch.setitem(physics.HANDS, "tested", hand)
    station = make_station(ThrowArm.of(), Case("tested", 1.2, "coast", "fixed, high", "heavy tennis ball"))
    world = station.world()

    def law():
        load = th.Payload(0.427, world.robot.description.tool[:3, 3]).added_to(world.robot)
        return th.ComputedTorque(load, 400.0, 40.0)

    learned = learn_throw(station.motion, law, world, "ball", throws=4, repetitions=1)
    assert learned.opening.delay > hand.delay
    for seed in range(3):
        thrown = throw_by_hand(
            learned.motion, law(), world, "ball", delay=learned.opening.delay, repetitions=1, noise=(1e-4, 2e-3),
            seed=seed,
        )  # fmt: skip
        assert np.linalg.norm(thrown.miss) < most
        if not thrown.again:
            flight = simulate_flight(thrown.at_release.p, thrown.at_release.v, float(station.motion.release.target[2]))
            assert np.linalg.norm(flight.landing.p - thrown.landing) < 0.01


def test_refusals():
    world, law = held(delay=0.2)
    empty, hold = held(delay=1.0)  # it has not closed yet
    assert_refused(
        (lambda: opening_delay(empty, hold, "ball"), "ball must be held by the hand before it...", ReleaseError),
        (
            lambda: opening_delay(world, law, "ball", longest=0.1),
            "ball must be free of the hand within 0.1 s...",
            ReleaseError,
        ),
    )
