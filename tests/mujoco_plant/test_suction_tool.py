import pickle

import numpy as np
import pytest

import thunder_py as th

pytest.importorskip("mujoco")

from tests.refusals import assert_refused
from thunder_py.mujoco import GraspWorld, HandCommand, SuctionTool, WorldObject
from thunder_py.spatial import pose_from_rpy

G = 9.81
ARMS = {
    "panda": (np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.7, 0.7]), [400] * 4 + [100] * 3, [40] * 4 + [2.0] * 3),
    "ur5e": (
        np.array([0.0, -1.6, 1.8, -1.77, -np.pi / 2.0, 0.3]),
        [500, 500, 300, 50, 30, 10],
        [50, 50, 30, 3, 1, 0.2],
    ),
}
FLAT = WorldObject.box(size=(0.08, 0.08, 0.02), mass=0.2)


class Held:
    """A world in which a tool points down, above a thing, without gravity unless it is told."""

    def __init__(self, tool, thing, *, gravity=0.0, arm="panda", away=None):
        robot = th.Robot.load(arm).replace(gravity=(0.0, 0.0, -gravity))
        q, K_p, K_d = ARMS[arm]
        self.world, self.name, self.tool = GraspWorld(robot, tool, [thing]), thing.name, tool
        T = self.world.robot.forward_kinematics(q)
        self.world.reset(
            q, {thing.name: T @ (np.eye(4) if away is None else away) @ pose_from_rpy((0.0, 0.0, thing.rest_height))}
        )
        self._law, self._goal = th.PDGravity(self.world.robot, K_p, K_d), th.reference.SetPoint(q)

    def run(self, seconds, command=None, load=None):
        """Run for a time, with a load (6,) of time on the thing: force and moment at its center, axes of the cup."""
        world, body = self.world, self.world.model.body(self.name).id
        for _ in range(round(seconds / world.period)):
            if load is not None:
                given = np.reshape(load(world.time), (2, 3)) @ self._cup[0].T
                world.data.xfrc_applied[body] += given.ravel()
            world.step(self._law.step(world.time, world.q, world.dq, self._goal(world.time)), command)
            if load is not None:
                world.data.xfrc_applied[body] -= given.ravel()
            command = None
        return self

    @property
    def _cup(self):
        """Axes and middle of the lip."""
        cup = self.world.data.body("cup")
        R = cup.xmat.reshape(3, 3)
        return R, cup.xpos + 0.02 * R[:, 2]

    @property
    def away(self):
        """The thing's place as seen from the lip (3,)."""
        R, p = self._cup
        return R.T @ (self.world.pose(self.name)[:3, 3] - p)

    @property
    def holds(self):
        return self.world.hand_state.effort > 0.0


def limit(held, load, most):
    """Return the load at which a held thing is lost or has slid by 2 mm, when it grows slowly to its largest."""
    held.run(0.4, HandCommand(1.0))
    assert held.holds
    start, began = held.away, held.world.time
    for _ in range(100):
        held.run(0.02, load=lambda t: load(most * (t - began) / 2.0))
        if not held.holds or np.linalg.norm((held.away - start)[:2]) > 2e-3:
            return most * (held.world.time - began) / 2.0  # as much late as it takes to open the gap
    return np.inf


@pytest.mark.parametrize("tool", [SuctionTool(), SuctionTool(radius=0.02, vacuum=2e4)])
def test_a_pull_along_the_axis_breaks_the_seal_at_pressure_times_area(tool):
    force = tool.vacuum * np.pi * tool.radius**2
    found = limit(Held(tool, FLAT), lambda f: (0.0, 0.0, f, 0.0, 0.0, 0.0), 1.3 * force)
    assert -0.02 < found / force - 1.0 < 0.05


@pytest.mark.parametrize("lever", [0.005, 0.02])
def test_a_pull_beside_the_axis_tips_the_thing_over_the_lip(lever):
    """N (e + a) = F a: the point of the lip on the other side carries what is left of the vacuum."""
    tool = SuctionTool()
    most = tool.effort * tool.radius / (lever + tool.radius)
    found = limit(Held(tool, FLAT), lambda f: (0.0, 0.0, f, 0.0, -lever * f, 0.0), 1.3 * most)
    assert -0.02 < found / most - 1.0 < 0.06


@pytest.mark.parametrize(("friction", "share"), [(0.3, 0.0), (0.3, 0.4), (0.6, 0.0)])
def test_a_lateral_force_slides_the_thing_at_the_friction_that_the_pull_leaves(friction, share):
    """T = friction (F - N), here in the plane of the lip, with a pull N that is a share of F."""
    tool = SuctionTool(friction=friction)
    most = friction * (1.0 - share) * tool.effort
    arm = FLAT.rest_height  # of the plane of the lip above the center

    def load(f):
        return (f, 0.0, share * tool.effort * min(1.0, 5.0 * f / most), 0.0, -arm * f, 0.0)

    found = limit(Held(tool, FLAT), load, 1.3 * most)
    assert -0.02 < found / most - 1.0 < 0.06


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("factor", [0.7, 1.1])
def test_a_weight_is_held_up_to_the_limit(arm, factor):
    tool = SuctionTool(vacuum=1e4)
    held = Held(tool, WorldObject.cylinder(radius=0.03, height=0.05, mass=factor * tool.effort / G), gravity=G, arm=arm)
    held.run(0.05)  # it falls 1 cm, out of the reach of the lip
    assert held.run(0.1, HandCommand(1.0)).world.hand_state == (1.0, 0.0, 0.0)
    held = Held(tool, held.world.things["cylinder"], arm=arm).run(0.4, HandCommand(1.0))
    held.world.model.opt.gravity[2] = -G
    held._law = th.PDGravity(held.world.robot.replace(gravity=(0.0, 0.0, -G)), *ARMS[arm][1:])
    held.run(1.0)
    assert held.holds == (factor < 1.0)
    assert (held.world.touching("cylinder") == {"hand"}) == (factor < 1.0)


@pytest.mark.parametrize("time", [0.05, 0.3])
def test_a_weight_falls_when_the_valve_has_let_enough_air_in(time):
    """F exp(-t / time) = m g, after the delay of the valve; then the gap must open."""
    tool, weight = SuctionTool(time=time, delay=0.05), 2.0
    held = Held(tool, FLAT).run(8.0 * time, HandCommand(1.0))
    assert held.world.hand_state.effort == pytest.approx(tool.effort, rel=1e-2)
    held.run(0.3, load=lambda t: (0.0, 0.0, weight, 0.0, 0.0, 0.0))
    began, command = held.world.time, HandCommand(0.0)
    while held.holds:
        held.run(0.001, command, lambda t: (0.0, 0.0, weight, 0.0, 0.0, 0.0))
        command = None
    late = held.world.time - began - (tool.delay + time * np.log(tool.effort / weight))
    assert 0.0 < late < 0.07


@pytest.mark.parametrize(
    ("thing", "away", "seals"),
    [
        (FLAT, pose_from_rpy((0.02, 0.0, 0.0)), True),
        (FLAT, pose_from_rpy((0.033, 0.0, 0.0)), False),  # the lip reaches over the edge
        (FLAT, pose_from_rpy((0.0, 0.0, 0.0005)), True),
        (FLAT, pose_from_rpy((0.0, 0.0, 0.002)), False),
        (FLAT, pose_from_rpy((0.0, 0.0, 0.005), (0.35, 0.0, 0.0)), False),
        (WorldObject.sphere(radius=0.03), pose_from_rpy((0.0, 0.0, -0.003)), True),
        (WorldObject.sphere(radius=0.013), pose_from_rpy((0.0, 0.0, -0.006)), False),  # too steep for the lip
        (WorldObject.cylinder(radius=0.025), pose_from_rpy((0.0, 0.0, 0.0)), True),
        (WorldObject.cylinder(radius=0.010), pose_from_rpy((0.0, 0.0, 0.0)), False),
    ],
)
def test_the_lip_seals_only_all_around_a_face_close_to_it(thing, away, seals):
    held = Held(SuctionTool(delay=0.0), thing, away=away).run(0.25, HandCommand(1.0))
    assert held.holds == seals
    closure = held.world.hand_state.closure
    assert closure < 0.1 if seals else closure == 1.0  # the flow of air tells
    assert held.run(0.5, HandCommand(0.0)).world.hand_state == pytest.approx((0.0, 0.0, 0.0), abs=0.01)


def test_bellows_lift_by_their_stroke_and_resist_tilts():
    tool = SuctionTool()
    held = Held(tool, FLAT).run(1.0, HandCommand(1.0))
    joint = held.world.model.joint("cup")
    assert held.world.data.qpos[joint.qposadr[0]] == pytest.approx(tool.stroke, abs=5e-4)
    assert held.away == pytest.approx((0.0, 0.0, FLAT.rest_height), abs=5e-4)
    moment = 0.05
    held.run(1.0, load=lambda t: (0.0, 0.0, 0.0, 0.0, moment, 0.0))
    joint = held.world.model.joint("cup_y")
    assert held.world.data.qpos[joint.qposadr[0]] == pytest.approx(moment / joint.stiffness[0], rel=0.1)


def test_the_effort_of_a_command_limits_the_force():
    tool = SuctionTool()
    held = Held(tool, FLAT).run(0.4, HandCommand(1.0, effort=5.0))
    assert held.world.hand_state.effort == pytest.approx(5.0, rel=1e-2)
    began = held.world.time
    held.run(1.0, load=lambda t: (0.0, 0.0, 6.0 * (t - began), 0.0, 0.0, 0.0))
    assert not held.holds
    assert held.world.hand_state.closure == 1.0


def test_a_copy_goes_on_alike():
    held = Held(SuctionTool(), FLAT).run(0.1, HandCommand(1.0))
    copied = pickle.loads(pickle.dumps(held))
    states = [each.run(0.1, load=lambda t: (0.0, 0.0, 2.0, 0.0, 0.0, 0.0)).world for each in (held, copied)]
    assert states[0].hand_state == states[1].hand_state
    assert states[0].hand_state.effort > 0.0
    np.testing.assert_array_equal(states[0].pose("box"), states[1].pose("box"))
    held.world.reset(held.world.q, {"box": (0.5, 0.0, 0.0)})
    assert held.world.hand_state == (0.0, 0.0, 0.0)
    assert not held.world.data.xfrc_applied.any()


def test_refusals():
    assert_refused(
        *(
            (lambda name=name, wrong=wrong: SuctionTool(**{name: wrong}), f"{name} must be a number in (...")
            for name, some in {
                "radius": (0.0, 0.002, 5.0),
                "vacuum": (0.0, 2e5),
                "gap": (0.0, 0.3),
                "stroke": (0.0, 0.2),
            }.items()
            for wrong in some
        ),
        (lambda: SuctionTool(delay=-1.0), "delay must..."),
        (lambda: SuctionTool(mass=0.1), "mass must be at least 0.2 kg, got 0.1"),
    )
