"""Picking from a shelf into a box with the suction tool."""

import math

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the extra mujoco is not installed")

import thunder_py as th
from thunder_py.errors import ThunderError
from thunder_py.mujoco import GraspWorld, Part, WorldObject
from thunder_py.mujoco import rendering as gl
from thunder_py.papers.grasping.setup import HANDS
from thunder_py.papers.picking import physics
from thunder_py.papers.picking.physics import PickCase, pick
from thunder_py.papers.picking.shelf import BOTTOM, BoxJudge, pick_place, table_station

WHERE = pick_place("suction", 0.5)


@pytest.fixture
def _drawing():
    try:
        gl.open_context(8, 8).free()
    except ThunderError as error:
        pytest.skip(str(error))


@pytest.mark.release
@pytest.mark.usefixtures("_drawing")
@pytest.mark.parametrize("k", range(len(physics.SEALED)))
def test_objects_of_all_shapes_go_from_the_shelf_into_the_box(k):
    """Scenes that were used neither while this was made nor for the tables."""
    at = table_station("suction", th.Robot.load("ur5e") if k == 1 else None)
    found = pick(PickCase(physics.SEALED[k], "suction", 5000 + k), at=at)
    assert found.outcome == "in the box"
    assert found.away < 0.012


@pytest.mark.release
@pytest.mark.usefixtures("_drawing")
def test_a_clock_of_the_camera_is_measured_before_the_pick(monkeypatch):
    found = []
    loop = physics.make_loop
    monkeypatch.setattr(physics, "make_loop", lambda *given: found.append(given[-1]) or loop(*given))
    assert pick(PickCase("box", "suction", 5000), clock=0.1).success
    assert pick(PickCase("box", "gripper", 5000), clock=-0.07).success
    assert found == pytest.approx([0.1, -0.07], abs=0.012)  # joints with noise, an arm that is not quite the known one


@pytest.mark.release
@pytest.mark.usefixtures("_drawing")
def test_a_weak_vacuum_fails_and_says_so(monkeypatch):
    """Below the weight of the object the seal breaks on the way."""
    monkeypatch.setitem(HANDS, "suction", type(HANDS["suction"])(vacuum=2000.0))
    found = pick(PickCase("box", "suction", 5000))
    assert not found.success
    assert found.outcome in ("the gripper holds nothing", "the object was lost on the way back")


def judged(start, *, velocity=(0.0, 0.0, 0.0), seconds=2.0, shape=None, lifted=True):
    """Return the verdict on a thing that is let go."""
    thing = WorldObject("object", [shape or Part("box", (0.05, 0.05, 0.05))], 0.2)
    world = GraspWorld(th.Robot.load("elbow").replace(gravity=(0.0, 0.0, -9.81)), None, [thing], WHERE.surfaces)
    world.reset([0.0, 0.0], {"object": start})
    world.place("object", start, velocity)
    judge = BoxJudge(world, float(WHERE.middle[2]))
    if lifted:
        judge.update(-1.0, 0.5, {"hand"})
    while world.time < seconds:
        world.step([0.0, 0.0])
        judge.update(world.time, world.lowest_point("object"), world.touching("object"))
    return judge.verdict


INSIDE = WHERE.goal - np.array([0.0, 0.0, 0.05])


@pytest.mark.parametrize(
    ("given", "success", "failure"),
    [
        ({"start": INSIDE}, True, None),
        ({"start": INSIDE, "seconds": 0.4}, False, "elsewhere"),  # it has just landed
        ({"start": INSIDE, "velocity": (0.3, 0.2, 0.0), "seconds": 4.0}, True, None),
        ({"start": INSIDE + np.array([0.0, 0.23, 0.0])}, False, "elsewhere"),
        ({"start": WHERE.middle}, False, "elsewhere"),  # it was put back
        ({"start": WHERE.middle, "lifted": False}, False, "missed"),
        ({"start": INSIDE, "velocity": (0.0, 3.0, 0.0)}, False, "elsewhere"),  # thrown over the wall
    ],
)
def test_what_rests_in_the_box_is_in_the_box(given, success, failure):
    verdict = judged(**given)
    assert verdict.success == success
    assert (verdict.failure and verdict.failure.name) == failure
    assert math.isfinite(verdict.time) == success


def test_the_box_is_closed_and_the_shelf_is_beside_it():
    surfaces = {surface.name: surface for surface in WHERE.surfaces}
    assert set(surfaces) == {"shelf", "back", BOTTOM, "wall0", "wall1", "wall2", "wall3"}
    bottom = np.asarray(surfaces[BOTTOM].pose)[:3, 3]
    for k in range(4):
        wall = surfaces[f"wall{k}"]
        away = np.abs(np.asarray(wall.pose)[:2, 3] - bottom[:2]) - 0.5 * np.asarray(wall.size)[:2]
        assert away.max() == pytest.approx(0.125)
        assert wall.height - np.asarray(wall.size)[2] == pytest.approx(bottom[2])
    assert WHERE.goal[2] > surfaces["wall0"].height + 0.1


def test_an_arm_that_does_not_reach_the_shelf_picks_from_the_table(monkeypatch):
    """The Gen3 does not get from over the shelf to over the box."""
    gen3 = th.Robot.load("gen3")
    monkeypatch.setattr(physics, "map_seeds", lambda picks, seeds, **_: [])
    found = physics.run(True, robot=gen3)
    assert set(found.stations) == {"gripper", "compliant"}
    assert found.table().count("The shelf is out of this arm's reach.") == 1
