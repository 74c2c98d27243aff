"""Throws by physics: the grip, the measured delay, the release, and the landing."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import thunder_py as th
from thunder_py.errors import ReleaseError
from thunder_py.manipulation.throwing import simulate_flight

pytest.importorskip("mujoco")

from tests.refusals import assert_refused
from thunder_py.manipulation.throwing import plan_throw
from thunder_py.mujoco import (
    GraspWorld,
    ParallelGripper,
    WorldObject,
    grip,
    learn_throw,
    opening_delay,
)
from thunder_py.mujoco.world.hand_throw import best_delay
from thunder_py.papers.tables import plain
from thunder_py.papers.throwing import physics
from thunder_py.papers.throwing.physics import Case, Throws, ThrowsByHand
from thunder_py.papers.throwing.setup import ThrowArm
from thunder_py.papers.wrong_arms import with_friction

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


@pytest.fixture(scope="module")
def coasting() -> th.manipulation.ThrowMotion:
    return plan_throw(th.Robot.load("panda"), (1.0, 0.1, -0.4), objective="limits", coast=0.04, starts=12)


@pytest.mark.parametrize(
    ("delays", "least", "most"),
    [
        ([0.1], 0.1, 0.1),
        ([0.1, 0.12], 0.109, 0.111),  # all fit into the coast: its middle
        ([0.1, 0.1, 0.1, 0.3], 0.1, 0.135),  # one does not: the others stay in it, at the end that is nearer to it
        ([0.1, 0.2, 0.2, 0.2], 0.165, 0.22),
    ],
)
def test_the_command_anticipates_the_delays_that_were_measured(coasting, delays, least, most):
    best = best_delay(coasting, delays)
    assert least - 1e-9 <= best <= most + 1e-9

    def rms(delay):
        off = coasting.landings(np.array(delays) - delay) - coasting.landings([0.0])
        return np.sqrt(np.mean(np.sum(off**2, axis=1)))

    assert all(rms(best) < rms(other) + 2e-3 for other in np.linspace(min(delays), max(delays), 7))


def test_a_lost_object_is_counted_and_is_no_success(coasting):
    case = Case("gripper", 1.2, name="wooden box")
    misses = np.array([[0.01, 0.02], [np.nan, np.nan], [0.03, 0.04]])
    opening = th.manipulation.HandOpening(delay=0.024)
    for part, row, share in (
        (misses, "| 3.87 (", "33.3 (6.1 to 79.2)"),
        (misses[1:2], "| | | | 1 |", "0.0 (0.0 to 79.3)"),
    ):
        late = np.where(np.isnan(part[:, 0]), np.nan, 0.0)
        thrown = Throws(coasting, opening, 30.0, 0.02, part, late, 0.0 * part, 0)
        other = case._replace(motion="joints")  # no part of the rates
        found = ThrowsByHand(ThrowArm.of(), {case: thrown, other: thrown, case._replace(distance=3.0): "too far"})
        table = " ".join(found.table().split())
        assert row in table
        assert share in table
        assert "3 m, coast: too far" in table
        numbers = plain(found.to_dict())["throws"]
        assert numbers[1]["motion"] == "joints"
        assert numbers[1]["delay"] == 0.024
        assert numbers[2]["reason"] == "too far"
        (landings, _, spread) = found.plot().axes
        assert len(landings.lines) == 1
        assert len(spread.lines) == 3  # two cases and the line of a steady hand
        plt.close("all")


def test_spread_times_speed_is_the_miss_of_a_steady_hand(coasting):
    """Landings after small delays, from a hand that goes on with the velocity of the release, by closed form."""
    late, release = np.array([-0.01, 0.0, 0.01]), coasting.release
    ends = [th.manipulation.landing(release.p + t * release.v, release.v, physics.PLANE).p[:2] for t in late]
    thrown = Throws(coasting, th.manipulation.HandOpening(), 30.0, 0.0, np.zeros((3, 2)), late, np.zeros((3, 2)), 0)
    expected = np.sqrt(np.sum(np.var(ends, axis=0, ddof=1)))
    assert thrown.steady == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["panda", "gen3"])
def test_the_model_is_wrong_by_a_tenth(name):
    robot = th.Robot.load(name)
    model = physics.wrong_model(with_friction(robot, 0.3, 0.3))
    ratio = np.asarray(model.inertial)[np.asarray(robot.inertial) != 0.0] / robot.inertial[robot.inertial != 0.0]
    assert sorted(set(ratio.round(9).tolist())) == [0.9, 1.1]
    assert not model.description.friction.coefficients.any()
    assert model.inertial_is_physical().all()


@pytest.mark.release
@pytest.mark.parametrize(("hand", "most"), [("gripper", 0.03), ("compliant hand", 0.08)])
def test_learned_throws_land_where_the_ballistics_of_their_release_says(hand, most, monkeypatch):
    """Throws with a wrong model, friction, other grasps and noise hit; a free flight is that of the closed form."""
    thrown = []
    throws = physics.throw_by_hand
    monkeypatch.setattr(
        physics, "throw_by_hand", lambda *args, **rest: thrown.append(throws(*args, **rest)) or thrown[-1]
    )
    (found,) = physics.throw_cases(ThrowArm.of(), 3, [Case(hand, 1.2, name="silicone tube")])
    assert found.opening.delay > physics.HANDS[hand].delay
    assert np.linalg.norm(found.misses, axis=1).max() < most
    for each in thrown:
        if not each.again:
            flight = simulate_flight(each.at_release.p, each.at_release.v, physics.PLANE)
            assert np.linalg.norm(flight.landing.p - each.landing) < 0.01


@pytest.mark.release
def test_a_grip_that_loses_the_object_is_tightened(coasting):
    world = GraspWorld(th.Robot.load("panda"), ParallelGripper(), [WorldObject.sphere("ball", 0.033, 0.4)])
    learned = learn_throw(coasting, th.ComputedTorque(world.robot, 400.0, 40.0), world, "ball", throws=2, effort=0.3)
    assert 0.3 < learned.effort <= 70.0
    assert len(learned.throws) == 2


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
        (lambda: best_delay(None, []), "delays must be at least one..."),
    )
