"""The world: an arm with a hand among objects and surfaces, stepped with torques and commands to the hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, known_name, of_kind, pose, positive
from ...errors import ThunderError
from ...io.xml import quaternion
from ...optional import require
from ...robot import Payload, Robot
from ...spatial.single import make_pose
from ...values import Stateful
from ..plant import Damping, robot_mjcf, set_small_inertia, small_inertias
from ..scene import add_scenery
from .hand import Hand, HandCommand, HandState
from .objects import CONTACT, HAND, WorldObject, lowest
from .surfaces import ConveyorBelt, Table

#: body of the hand, and the names under which its contacts and those of the arm's links are reported
_HAND, _ARM = "hand", "arm"
#: time constant of contacts in steps: MuJoCo needs two
_STIFF = 4.0
#: largest torque, as MuJoCo's bound of positions, velocities and accelerations [N m or N]
_LARGEST_TORQUE = 1e10
_ROUNDING = 1e-9  # tolerance of periods that are multiples of a step [s]


class GraspWorld(Stateful):
    """An arm with a hand, objects and surfaces in MuJoCo, with contacts.

    Everything touches everything, except the parts of arm and hand each other. The arm's links are as drawn: capsules
    and cylinders around the joints and the lines between them; the last one touches nothing where there is a hand.

    Parameters
    ----------
    robot : Robot
        The arm, without the hand. Its motors are torques, its friction is exact at the start of a step; elastic joints
        are supported.
    hand : Hand, optional
        `ParallelGripper`, `CompliantHand` or `SuctionTool`; without one the arm is bare.
    things : sequence of WorldObject
        Objects.
    surfaces : sequence of Table or ConveyorBelt
        Surfaces.
    mount : (4, 4) array_like, optional
        Frame of the hand in that of the robot's end effector; default the same.
    period : float
        Time of a control period [s].
    timestep : float
        Step of MuJoCo [s], a fraction of the period.
    floor : float, optional
        Height of a drawn floor without contact [m]; default none.
    picture : (2,) sequence of int
        Width and height of the largest picture [pixels].
    extend : callable, optional
        Called with the ``mujoco.MjSpec`` before it is compiled, for additions such as cameras and textures.

    Attributes
    ----------
    robot : Robot
        The arm as a controller may know it: with the hand as a load of its last link, and the tool at the center of
        grasps. Objects are unknown to it.
    model, data : mujoco.MjModel, mujoco.MjData
        Model and state.
    n : int
        Number of joints of the arm.
    period : float
        Time of a control period [s].
    things, surfaces : dict
        Objects and surfaces by name.

    Raises
    ------
    ThunderError
        If an argument is invalid or a name occurs twice.
    ModuleNotFoundError
        If MuJoCo is not installed.

    Notes
    -----
    The friction of a contact is that of the hand or surface, not that of the object; between objects it is 0.5.
    Contacts have elliptic friction cones and a time constant T of four steps. MuJoCo's contacts neglect the
    acceleration a due to the turning of the hand, so an object creeps in a moving hand with about a T / 2, whatever its
    mass.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.mujoco import GraspWorld, HandCommand, ParallelGripper, Table, WorldObject
    >>> table = Table.at((0.5, 0.0, 0.0))
    >>> world = GraspWorld(th.Robot.load("panda"), ParallelGripper(), [WorldObject.box()], [table])
    >>> q = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
    >>> world.reset(q, {"box": (0.6, 0.2, 0.0)})
    >>> law = th.PDGravity(world.robot, [200] * 4 + [50] * 3, [20] * 4 + [1] * 3)
    >>> goal = th.reference.SetPoint(q)
    >>> for _ in range(100):
    ...     world.step(law.step(world.time, world.q, world.dq, goal(world.time)), HandCommand(1.0))
    >>> bool(abs(world.q - q).max() < 1e-3), sorted(world.touching("box")), world.hand_state.closure > 0.05
    (True, ['table'], True)
    """

    def __init__(
        self,
        robot: Robot,
        hand: Hand | None = None,
        things: Sequence[WorldObject] = (),
        surfaces: Sequence[Table] = (),
        *,
        mount: npt.ArrayLike | None = None,
        period: float = 1e-3,
        timestep: float = 5e-4,
        floor: float | None = None,
        picture: tuple[int, int] = (640, 480),
        extend: Callable[[Any], None] | None = None,
    ) -> None:
        self._mujoco = require("mujoco", "mujoco")
        self.period = positive(period, "period", "s")
        self._steps = round(self.period / positive(timestep, "timestep", "s"))
        if self._steps < 1 or abs(self._steps * timestep - self.period) > _ROUNDING:
            raise ThunderError(f"timestep must be a fraction of the period {period:g} s, got {timestep:g} s")
        self._dt = self.period / self._steps
        of_kind(robot, Robot, "robot")
        self.things: dict[str, WorldObject] = _named(things, WorldObject, "things")
        self.surfaces: dict[str, Table] = _named(surfaces, Table, "surfaces")
        tip = np.asarray(robot.description.tool)
        self._mount = tip if mount is None else tip @ pose(mount, "mount")
        self.hand = hand
        spec = self._specification(robot)
        view = np.array([0.4, 0.0, 0.3])
        add_scenery(spec, picture, floor, view, 1.0)
        if extend is not None:
            extend(spec)
        self.model: Any = self._compiled(spec, robot)
        self.data: Any = self._mujoco.MjData(self.model)
        self._damping = Damping(robot.description.friction)
        self._motor = None if hand is None else hand.drive(self.model, self.data)
        self._locate(robot)
        self._load = self._open_hand(robot)
        self._tool = tip if hand is None else self._mount @ make_pose(np.eye(3), np.array(hand.grasp_point))
        self.robot = self.carrying(robot)
        self._periods = 0
        self._speeds = {s.name: [s.speed, s.speed] for s in surfaces if isinstance(s, ConveyorBelt)}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the package: modules cannot be pickled."""
        return {name: part for name, part in vars(self).items() if name != "_mujoco"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _mujoco=require("mujoco", "mujoco"))

    def _specification(self, robot: Robot) -> Any:
        mujoco = self._mujoco
        spec = mujoco.MjSpec.from_string(robot_mjcf(robot))
        spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO
        links = robot.link_names if self.hand is None else robot.link_names[:-1]  # whose drawing ends in the hand
        for geom in (geom for link in links for geom in spec.body(link).geoms):
            geom.contype, geom.conaffinity, geom.solimp[:] = *HAND, CONTACT["solimp"]
        if self.hand is not None:
            link = spec.body(robot.link_names[-1])
            body = link.add_body(name=_HAND, pos=self._mount[:3, 3], quat=quaternion(self._mount[:3, :3]))
            self.hand.add_to(spec, body, mujoco)
        taken = {part.name for part in (*spec.bodies, *spec.joints)}
        parts: list[Table | WorldObject] = [*self.surfaces.values(), *self.things.values()]
        for part in parts:
            if part.name in taken:
                raise ThunderError(
                    f"{part.name!r} names a part of the arm or the hand, or occurs twice; choose another"
                )
            part.add_to(spec, mujoco)
            taken.add(part.name)
        for geom in spec.geoms:
            geom.solref = [_STIFF * self._dt, 1.0]
        option = spec.option
        option.timestep, option.integrator = self._dt, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        # elliptic cones hold the law of friction; impratio makes friction stiffer than normal forces, against creep
        option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 20.0
        return spec

    def _compiled(self, spec: Any, robot: Robot) -> Any:
        try:
            model = spec.compile()
        except ValueError as error:
            raise ThunderError(f"MuJoCo refuses the world: {' '.join(str(error).split())}") from None
        for link, dyn in small_inertias(robot).items():
            set_small_inertia(model, link, dyn)
        return model

    def _locate(self, robot: Robot) -> None:
        """Find the indices of joints, bodies and contacts."""
        model = self.model
        self._places, self._dofs = self._addresses(robot.joint_names)
        self._motor_places, self._motor_dofs = self._addresses(robot.motor_names)
        self.n = len(self._places)
        self._driven = self._dofs.copy()
        self._driven[[e.joint - 1 for e in robot.elastic]] = self._motor_dofs
        belts = [name for name, surface in self.surfaces.items() if isinstance(surface, ConveyorBelt)]
        self._free, self._belts = (
            dict(zip(names, self._addresses(names).T.tolist(), strict=True)) for names in (list(self.things), belts)
        )
        self._owners = np.array([self._owner(int(body)) for body in model.geom_bodyid], dtype=object)

    def _addresses(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the addresses of joints in the positions and in the velocities, (2, count)."""
        joints = [self.model.joint(name) for name in names]
        places = [(int(joint.qposadr[0]), int(joint.dofadr[0])) for joint in joints]
        return np.array(places, dtype=np.int64).reshape(-1, 2).T

    def _owner(self, body: int) -> str:
        """Return the name under which contacts of a body are reported; ``"world"`` for the scenery."""
        if self.hand is not None and self._within_hand(body):
            return _HAND
        name = str(self.model.body(int(self.model.body_rootid[body])).name)
        return name if name in self.things or name in self.surfaces or body == 0 else _ARM

    def _within_hand(self, body: int) -> bool:
        hand = self.model.body(_HAND).id
        while body not in (0, hand):
            body = int(self.model.body_parentid[body])
        return bool(body == hand)

    def _open_hand(self, robot: Robot) -> Payload | None:
        """Return the open hand as a load of the last link."""
        if self.hand is None:
            return None
        model, data = self.model, self.data
        self._mujoco.mj_kinematics(model, data)
        link = model.body(robot.link_names[-1]).id
        R, p = data.xmat[link].reshape(3, 3), data.xpos[link]
        bodies = [body for body in range(model.nbody) if self._within_hand(body)]
        masses = model.body_mass[bodies]
        centers = (data.xipos[bodies] - p) @ R
        com = masses @ centers / masses.sum()
        inertia = np.zeros((3, 3))
        for body, mass, center in zip(bodies, masses, centers - com, strict=True):
            axes = R.T @ data.ximat[body].reshape(3, 3)
            inertia += axes @ np.diag(model.body_inertia[body]) @ axes.T
            inertia += mass * (center @ center * np.eye(3) - np.outer(center, center))
        return Payload(float(masses.sum()), com, 0.5 * (inertia + inertia.T))

    def carrying(self, robot: Robot) -> Robot:
        """Return an arm, the world's as far as it is known, with the hand and the tool of `GraspWorld.robot`."""
        return (robot if self._load is None else self._load.added_to(robot)).replace(tool=self._tool)

    # --- state ----------------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Time since the last `reset` [s]."""
        return self._periods * self.period

    @property
    def q(self) -> Array:
        """Positions of the joints, (n,) [rad or m]."""
        return np.array(self.data.qpos[self._places])

    @property
    def dq(self) -> Array:
        """Velocities of the joints, (n,) [rad/s or m/s]."""
        return np.array(self.data.qvel[self._dofs])

    @property
    def x(self) -> Array:
        """Positions of the motors of elastic joints, (e,) [rad or m]."""
        return np.array(self.data.qpos[self._motor_places])

    @property
    def dx(self) -> Array:
        """Velocities of the motors of elastic joints, (e,) [rad/s or m/s]."""
        return np.array(self.data.qvel[self._motor_dofs])

    @property
    def hand_state(self) -> HandState:
        """Measurements of the hand's motor, of MuJoCo's last step."""
        if self._motor is None:
            raise ThunderError("hand_state needs a hand, and the world has none")
        return self._motor.state

    def reset(self, q: npt.ArrayLike, placements: Mapping[str, npt.ArrayLike] | None = None) -> None:
        """Return to time 0 with the arm at rest, an open hand, belts at their first speed, and objects in place.

        Parameters
        ----------
        q : (n,) array_like
            Positions of the joints [rad or m].
        placements : mapping of str to (3,) or (4, 4) array_like
            For every object its pose, or the point of a surface on which it stands upright; see `place`.

        Raises
        ------
        ThunderError
            If a shape is wrong, or an object has no place.
        """
        where = dict(placements or {})
        missing = [name for name in self.things if name not in where]
        if missing:
            raise ThunderError(f"placements must name every object, got none for {', '.join(missing)}")
        start = array(q, (self.n,), "q")
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self._places] = start
        if len(self._motor_places):
            self.data.qpos[self._motor_places] = self.robot.elastic_equilibrium(start)
        self._periods = 0
        for name, speeds in self._speeds.items():
            belt = self.surfaces[name]
            assert isinstance(belt, ConveyorBelt)
            speeds[:] = [belt.speed, belt.speed]
        for name, place in where.items():
            self.place(name, place)
        if self._motor is not None:
            self._motor.reset(0.0)
        self._mujoco.mj_forward(self.model, self.data)

    def place(self, name: str, place: npt.ArrayLike, velocity: npt.ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Put an object somewhere.

        Parameters
        ----------
        name : str
            Its name.
        place : (3,) or (4, 4) array_like
            Point of a surface on which it stands upright, or its pose [m].
        velocity : (3,) array_like
            Its linear velocity [m/s].
        """
        thing = self._thing(name)
        if np.shape(place) == (3,):
            T = make_pose(np.eye(3), array(place, (3,), "place"))
            T[2, 3] += thing.rest_height
        else:
            T = pose(place, "place")
        at, dof = self._free[name]
        self.data.qpos[at : at + 7] = np.concatenate([T[:3, 3], quaternion(T[:3, :3])])
        self.data.qvel[dof : dof + 6] = np.concatenate([array(velocity, (3,), "velocity"), np.zeros(3)])

    def set_belt_speed(self, speed: float, name: str = "belt") -> None:
        """Let a belt approach a new speed [m/s] within its acceleration."""
        self._belt(name)[1] = float(array(speed, (), "speed"))

    def belt_speed(self, name: str = "belt") -> float:
        """Return the present speed of a belt [m/s]."""
        return self._belt(name)[0]

    def _belt(self, name: str) -> list[float]:
        known_name(name, self._speeds, "name must be a belt, got")
        return self._speeds[name]

    @property
    def diverged(self) -> bool:
        """True once a velocity is not finite; the next `step` is refused."""
        return not math.isfinite(float(self.data.qvel.sum()))

    # --- time -----------------------------------------------------------------------------------------------------

    def step(self, tau: npt.ArrayLike, command: HandCommand | None = None) -> None:
        """Simulate one control period.

        Parameters
        ----------
        tau : (n,) array_like
            Torques of the motors, held over the period [N m or N]. They are not limited by those of the robot.
        command : HandCommand, optional
            New command to the hand; default none.

        Raises
        ------
        ThunderError
            If a torque is not finite or above 1e10, there is no hand to command, or the simulation has diverged.
        """
        torque, data = array(tau, (self.n,), "tau"), self.data
        if np.abs(torque).max() > _LARGEST_TORQUE:
            raise ThunderError(f"tau must be within +-{_LARGEST_TORQUE:g}, got {torque.tolist()}")
        if self.diverged:
            raise ThunderError(f"the simulation has diverged before {self.time:.3g} s: reduce gains or the timestep")
        if command is not None:
            if self._motor is None:
                raise ThunderError("command needs a hand, and the world has none")
            self._motor.command(self.time, command)
        data.qfrc_applied[self._driven] = torque
        for k in range(self._steps):
            self.model.dof_damping[self._dofs] = self._damping(data.qvel[self._dofs])
            if self._motor is not None:
                self._motor.step(self.time + k * self._dt, self._dt)
            self._move_belts()
            self._mujoco.mj_forward(self.model, data)
            self._mujoco.mj_implicit(self.model, data)
        self._periods += 1

    def _move_belts(self) -> None:
        for name, (place, dof) in self._belts.items():
            speed, goal = self._speeds[name]
            belt = self.surfaces[name]
            assert isinstance(belt, ConveyorBelt)
            if speed != goal:
                most = belt.acceleration * self._dt
                speed = goal if math.isinf(most) else speed + min(max(goal - speed, -most), most)
                self._speeds[name][0] = speed
            self.data.qpos[place], self.data.qvel[dof] = 0.0, speed

    # --- truth, for judgement and measurement ---------------------------------------------------------------------

    def pose(self, name: str) -> Array:
        """Return the true pose of an object, (4, 4)."""
        at, _ = self._free[self._thing(name).name]
        R = np.zeros(9)
        self._mujoco.mju_quat2Mat(R, self.data.qpos[at + 3 : at + 7])
        return make_pose(R.reshape(3, 3), self.data.qpos[at : at + 3])

    def velocity(self, name: str) -> Array:
        """Return the true velocity of an object's center of mass, (3,) [m/s]."""
        _, dof = self._free[self._thing(name).name]
        return np.array(self.data.qvel[dof : dof + 3])

    def lowest_point(self, name: str) -> float:
        """Return the height of the lowest point of an object [m]."""
        return lowest(self._thing(name), self.pose(name))

    def touching(self, name: str) -> frozenset[str]:
        """Return what an object touched in MuJoCo's last step: ``"hand"``, ``"arm"``, surfaces and objects.

        `name` is that of an object or a surface, or ``"arm"``, the links, or ``"hand"``.
        """
        known_name(name, (*self.things, *self.surfaces, _HAND, _ARM), "name must be an object or a surface, got")
        contact = self.data.contact
        owners = self._owners[contact.geom[(contact.dist < 0.0) & (contact.exclude == 0)]]
        pairs = owners[(owners == name).any(axis=1)] if len(owners) else owners
        return frozenset(pairs.ravel().tolist()) - {name}

    def _thing(self, name: str) -> WorldObject:
        known_name(name, self.things, "name must be an object, got")
        return self.things[name]

    def __repr__(self) -> str:
        hand = "without a hand" if self.hand is None else f"with a {type(self.hand).__name__}"
        return f"<GraspWorld: {self.n} joints {hand}, objects {', '.join(self.things) or 'none'}>"


def _named(parts: Sequence[Any], kind: type[Any], what: str) -> dict[str, Any]:
    if not isinstance(parts, Collection):
        raise ThunderError(f"{what} must be a sequence of {kind.__name__}, got {parts!r}")
    found: dict[str, Any] = {of_kind(part, kind, f"each of {what}").name: part for part in parts}
    if len(found) < len(parts) or _HAND in found or _ARM in found:
        raise ThunderError(
            f"{what} must have different names other than {_HAND!r} and {_ARM!r}, got {[part.name for part in parts]}"
        )
    return found
