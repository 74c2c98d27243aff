"""A suction tool: a pump with a tube and a bellows cup, which holds what its lip seals on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, nonnegative, positive, within
from ...errors import ThunderError
from ...optional import require
from ...values import Value, set_fields
from .hand import HandCommand, HandDrive, HandState
from .objects import CONTACT, HAND

_GRAY, _RUBBER = (0.75, 0.76, 0.78, 1.0), (0.15, 0.25, 0.5, 1.0)
_NAME = "cup"
#: sides of the pump [m], close to those of pumps for arms
_PUMP = (0.08, 0.08, 0.05)
#: length of pump and tube, of the cup below them, and radius of the lip's section [m]
_TUBE, _CUP, _LIP = 0.10, 0.02, 0.002
#: bounds of lip, vacuum, gap and stroke; the pressure of the air is 101325 Pa
_RANGES = {"radius": (1.5 * _LIP, 0.1), "vacuum": (0.0, 101325.0), "gap": (0.0, 0.003), "stroke": (0.0, _CUP)}
#: number of points of the lip
_POINTS = 8
#: bellows: stiffness along the axis [N/m] and against tilts [N m/rad], largest tilt [rad], dampings over them [s]
_SPRING, _TILTING, _TILT, _RELAXATION = 300.0, 0.5, 0.25, (0.2, 0.02)
#: masses of tube and cup [kg], further inertia of its motions [kg], [kg m^2]
_TUBE_MASS, _CUP_MASS, _INERTIA, _ARMATURE = 0.08, 0.02, 0.02, 1e-5
#: impedance of the stops of its motions
_STOP = {"solref_limit": [0.01, 1.0], "solimp_limit": [0.99, 0.999, 0.001, 0.5, 2.0]}


@dataclass(frozen=True)
class SuctionTool(Value):
    """A pump with a tube and a bellows cup that holds objects by vacuum; z of the hand's frame points out of the cup.

    Closure 1 switches the vacuum on, closures below 0.5 switch it off.

    Parameters
    ----------
    radius : float
        Radius of the lip, above 3 mm and at most 0.1 m [m].
    vacuum : float
        Pressure below that of the air, once all air is out of the cup, at most 101325 [Pa].
    time : float
        Time constant with which the cup is evacuated and filled [s].
    friction : float
        Coefficient of friction of the lip with every object.
    gap : float
        Largest gap between lip and object, along the axis, with which the lip seals, at most 3 mm [m].
    stroke : float
        Way by which the bellows give along the axis, at most the length of the cup, 0.02 [m].
    delay : float
        Time from a command to the valve's reaction [s].
    mass : float
        Mass of pump, tube and cup [kg].

    Raises
    ------
    ThunderError
        If a number is invalid.

    Notes
    -----
    The lip is a ring of eight points, which touch objects with friction. While the vacuum is on and the gap below every
    one is small, on the same body, air is drawn out, and the pressure difference p approaches `vacuum`. It presses the
    object against the lip with

        F = p A,  A = pi radius^2,

    along the axis of the cup, and the tool against the object with the opposite. Nothing else holds the object: the
    limits follow from Coulomb's contacts of the lip. A pull N along the axis leaves the lip a force F - N. It separates
    if N > F, slides if the lateral force is above friction (F - N), and tips over a point of the lip at the distance
    a <= radius from the axis if a load m g hangs at a distance e on the other side with m g (e + a) > F a. The seal
    breaks at once when a gap opens, and the object falls. (Mantriota, Theoretical model of the grasp with vacuum
    gripper, 2007, and Mahler et al., Dex-Net 3.0, 2018, have the same limits.) Leaks, porous objects and soft lips are
    not modeled: a lip across an edge does not seal at all.

    The bellows are springs along the axis and against tilts up to 0.25 rad. The force acts on the tube, so that they
    contract under vacuum and lift the object by up to `stroke`.

    Measured are the flow of air, as closure: 1 if it is free, 0 with the vacuum off or an evacuated cup; and F as
    effort. So, as with other hands, a closure near 1 means that a closed hand holds nothing.

    Examples
    --------
    >>> from thunder_py.mujoco import SuctionTool
    >>> tool = SuctionTool()
    >>> round(tool.effort, 1), tool.grasp_point
    (27.1, (0.0, 0.0, 0.12))
    """

    radius: float = 0.012
    vacuum: float = 6e4
    time: float = 0.05
    friction: float = 0.6
    gap: float = 0.001
    stroke: float = 0.012
    delay: float = 0.02
    mass: float = 0.8

    def __post_init__(self) -> None:
        """Check everything."""
        for name in ("time", "friction", "mass"):
            set_fields(self, **{name: positive(getattr(self, name), name)})
        for name, (low, high) in _RANGES.items():
            set_fields(self, **{name: within(getattr(self, name), name, low, high, ends="(]")})
        set_fields(self, delay=nonnegative(self.delay, "delay"))
        if self.mass < 0.2:
            raise ThunderError(f"mass must be at least 0.2 kg, got {self.mass:g}")

    @property
    def effort(self) -> float:
        """Largest force of the vacuum, `vacuum` times the area within the lip [N]."""
        return self.vacuum * math.pi * self.radius**2

    @property
    def grasp_point(self) -> tuple[float, float, float]:
        """Middle of the lip in the hand's frame [m]."""
        return (0.0, 0.0, round(_TUBE + _CUP, 6))

    def covers(self, points: Array, closure: float) -> npt.NDArray[np.bool_]:
        """Return the mask (k,) of points (k, 3) in the frame of a grasp that are on the tool, or near."""
        across, z = np.hypot(points[:, 0], points[:, 1]), points[:, 2]
        return np.asarray(((across < self.radius + 0.02) & (z < -0.004)) | ((across < 0.09) & (z < -_TUBE + 0.03)))

    def add_to(self, spec: Any, body: Any, mujoco: Any) -> None:
        """Add pump, tube and cup to a body of a MuJoCo specification."""
        touch = {"contype": HAND[0], "conaffinity": HAND[1], "condim": 3, "priority": 2, "group": 1, **CONTACT}
        friction, cylinder = [self.friction, 0.005, 1e-4], mujoco.mjtGeom.mjGEOM_CYLINDER
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5 * side for side in _PUMP], pos=[0.0, 0.0, 0.5 * _PUMP[2]],
            rgba=_GRAY, mass=self.mass - _TUBE_MASS - _CUP_MASS, friction=friction, **touch,
        )  # fmt: skip
        body.add_geom(
            type=cylinder, size=[0.012, 0.5 * _TUBE, 0.0], pos=[0.0, 0.0, 0.5 * _TUBE], rgba=_GRAY,
            mass=_TUBE_MASS, friction=friction, **touch,
        )  # fmt: skip
        cup, joint = body.add_body(name=_NAME, pos=[0.0, 0.0, _TUBE]), mujoco.mjtJoint
        cup.add_joint(
            name=_NAME, type=joint.mjJNT_SLIDE, axis=[0.0, 0.0, -1.0], stiffness=_SPRING, armature=_INERTIA,
            damping=_RELAXATION[0] * _SPRING, range=[0.0, self.stroke], limited=True, **_STOP,
        )  # fmt: skip
        for name, axis in ((f"{_NAME}_x", [1.0, 0.0, 0.0]), (f"{_NAME}_y", [0.0, 1.0, 0.0])):
            cup.add_joint(
                name=name, type=joint.mjJNT_HINGE, axis=axis, stiffness=_TILTING, damping=_RELAXATION[1] * _TILTING,
                armature=_ARMATURE, range=[-_TILT, _TILT], limited=True, **_STOP,
            )  # fmt: skip
        height = _CUP - _LIP
        cup.add_geom(
            type=cylinder, size=[0.8 * self.radius, 0.5 * height, 0.0], pos=[0.0, 0.0, 0.5 * height], rgba=_RUBBER,
            mass=0.5 * _CUP_MASS, contype=0, conaffinity=0, group=1,
        )  # fmt: skip
        for x, y, z in self._lip().tolist():
            cup.add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[_LIP, 0.0, 0.0], pos=[x, y, z], rgba=_RUBBER,
                mass=0.5 * _CUP_MASS / _POINTS, friction=friction, **touch,
            )  # fmt: skip

    def _lip(self) -> Array:
        """Return the centers of the lip's points in the frame of the cup, (8, 3) [m]."""
        angle = 2.0 * np.pi * np.arange(_POINTS) / _POINTS
        return np.column_stack(
            [self.radius * np.cos(angle), self.radius * np.sin(angle), np.full(_POINTS, _CUP - _LIP)]
        )

    def drive(self, model: Any, data: Any) -> Vacuum:
        """Return the vacuum in a simulation."""
        return Vacuum(self, model, data)


class Vacuum(HandDrive):
    """Vacuum of a suction tool: it finds whether the lip seals, and presses the object and the tool together.

    Parameters
    ----------
    tool : SuctionTool
        The tool.
    model, data : mujoco.MjModel, mujoco.MjData
        The simulation.
    """

    def __init__(self, tool: SuctionTool, model: Any, data: Any) -> None:
        self._tool, self._model, self._data = tool, model, data
        self._cup, self._lip = model.body(_NAME).id, tool._lip()
        self._tube = int(model.body_parentid[self._cup])
        super().__init__(tool.delay)

    def reset(self, closure: float) -> None:
        """Stop with the vacuum off, or on and without an object."""
        super().reset(closure)
        self._on, self._pressure, self._held = closure >= 0.5, 0.0, 0
        self._most = self._tool.vacuum  # as commanded
        self._applied = np.zeros_like(self._data.xfrc_applied)  # all forces on bodies; others may apply further ones

    @property
    def state(self) -> HandState:
        """Flow of air, as closure, and force of the vacuum at the last step."""
        flow = max(0.0, 1.0 - self._pressure / self._most) if self._on else 0.0
        return HandState(flow, 0.0, self._force)

    @property
    def _force(self) -> float:
        return self._pressure / self._tool.vacuum * self._tool.effort

    def step(self, t: float, dt: float) -> None:
        """Apply the force for the step from t to t + dt [s]."""
        super().step(t, dt)
        self._data.xfrc_applied[:] -= self._applied
        self._applied[:] = 0.0
        self._held = self._sealed() if self._on or self._pressure > 0.0 else 0
        if self._held:
            goal = self._most if self._on else 0.0
            self._pressure += (goal - self._pressure) * min(1.0, dt / self._tool.time)
            self._press(self._force)
        else:
            self._pressure = 0.0

    def _begin(self, command: HandCommand) -> None:
        self._on = command.closure >= 0.5
        share = 1.0 if command.effort is None else min(1.0, command.effort / self._tool.effort)
        self._most = share * self._tool.vacuum

    def _sealed(self) -> int:
        """Return the body on which the lip seals; 0 if there is none."""
        mujoco, data = require("mujoco", "mujoco"), self._data
        R, p = data.xmat[self._cup].reshape(3, 3), data.xpos[self._cup]
        hit, bodies = np.zeros(1, dtype=np.int32), set()
        for point in p + self._lip @ R.T:
            way = mujoco.mj_ray(self._model, data, point, R[:, 2], None, True, self._cup, hit)
            if not 0.0 <= way < _LIP + self._tool.gap:
                return 0
            bodies.add(int(self._model.geom_bodyid[hit[0]]))
        return bodies.pop() if len(bodies) == 1 else 0

    def _press(self, force: float) -> None:
        mujoco, data = require("mujoco", "mujoco"), self._data
        axis = data.xmat[self._cup].reshape(3, 3)[:, 2]
        middle = data.xpos[self._cup] + (_CUP - _LIP) * axis
        for body, push in ((self._held, -force * axis), (self._tube, force * axis)):
            self._applied[body, :3] = push
            mujoco.mju_cross(self._applied[body, 3:], middle - data.xipos[body], push)
        data.xfrc_applied[:] += self._applied
