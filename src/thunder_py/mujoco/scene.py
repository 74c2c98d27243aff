"""Scenes for MuJoCo's renderer: a robot with floor, sky, light and the meshes of its URDF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Array
from ..errors import FileFormatError, ThunderError
from ..io.mjcf_elastic import couplings
from ..io.mjcf_writer import write_mjcf
from ..optional import LazyModule
from ..robot import Robot
from ..robot.frames import arm_points, default_posture

if TYPE_CHECKING:
    from ..io.meshes import Meshes, MeshPart

mujoco: Any = LazyModule("mujoco", "mujoco")
#: REG parameters of a valid body; pictures need no dynamics
_BODY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
_SAMPLES = 400
_UNTOUCHED = {"contype": 0, "conaffinity": 0}  # of shapes without contacts
_SKY, _HORIZON = (0.55, 0.68, 0.82), (0.93, 0.95, 0.97)
_LIGHT_TILE, _DARK_TILE = (0.80, 0.81, 0.83), (0.71, 0.73, 0.76)


class Stage:
    """Scene with its model and data.

    Attributes
    ----------
    model, data : mujoco.MjModel, mujoco.MjData
        Compiled model and its state.
    places : (n,) array of int
        Indices of the joints in ``data.qpos``.
    center : (3,) array
        Middle of the workspace [m].
    radius : float
        Radius of most of the workspace [m].
    robot : Robot or None
        None if the model is from an MJCF file.
    """

    def __init__(self, model: Any, robot: Robot | None, center: Array, radius: float, names: list[str]) -> None:
        self.model, self.robot, self.center, self.radius = model, robot, center, radius
        self.data = mujoco.MjData(model)
        self.places = np.array([int(model.joint(name).qposadr[0]) for name in names], dtype=np.int64)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.places)

    def move(self, q: Array) -> None:
        """Set joint positions (n,) and update the poses of all bodies."""
        self.data.qpos[self.places] = q
        for step in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_camlight):
            step(self.model, self.data)


def stage(
    source: Robot | str | Path,
    meshes: Meshes | None = None,
    *,
    size: tuple[int, int] = (640, 480),
    sliders: bool = False,
) -> Stage:
    """Return the stage of a robot, or of an MJCF file as it is.

    Parameters
    ----------
    source : Robot or path-like
        A robot, or an MJCF file, to which missing floor, light and sky are added.
    meshes : Meshes, optional
        Meshes of the URDF from which the robot was loaded.
    size : tuple of int
        Width and height of the largest picture [pixels], for which memory is allocated.
    sliders : bool
        Whether to add a control with the range of each joint, for the viewer.

    Raises
    ------
    ThunderError, FileFormatError
        If MuJoCo refuses the model, or the meshes are those of another robot.
    """
    if isinstance(source, Robot):
        return _robot_stage(source, meshes, size, sliders)
    if meshes is not None:
        raise ThunderError("meshes must be None for an MJCF file, which has its own")
    if not isinstance(source, (str, Path)):
        raise ThunderError(f"robot must be a Robot or an MJCF file, got {type(source).__name__}")
    return _file_stage(Path(source), size, sliders)


def _robot_stage(robot: Robot, meshes: Meshes | None, size: tuple[int, int], sliders: bool) -> Stage:
    bodies = np.tile(_BODY, (robot.n, 1))
    plain = robot.replace(inertial=bodies, friction=None, rotors=(), armature=None, elastic=())
    spec = mujoco.MjSpec.from_string(write_mjcf(plain))
    points = _reach(robot)
    center, radius = _ball(points, points[: robot.n + 2])  # the first posture is the default one
    for light in list(spec.lights):
        _delete(spec, light)
    if meshes is not None:
        _dress(spec, robot, meshes)
    if sliders:
        sliding = [kind == "P" for kind in robot.joint_types]
        _add_sliders(spec, list(robot.joint_names), sliding, robot.limits.lower, robot.limits.upper)
    add_scenery(spec, size, _floor_height(robot, points), center, radius)
    return Stage(spec.compile(), robot, center, radius, list(robot.joint_names))


def _file_stage(path: Path, size: tuple[int, int], sliders: bool) -> Stage:
    if not path.is_file():
        raise FileNotFoundError(2, "No such file", str(path))
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        plain = spec.compile()
        kinds = {mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE}
        if plain.njnt == 0 or not set(plain.jnt_type.tolist()) <= {int(kind) for kind in kinds}:
            raise FileFormatError("joints must be revolute or prismatic, and there must be at least one", path=path)
        motors = [drive.motor for drive in couplings(mujoco, plain)]
        joints = [j for j in range(plain.njnt) if j not in motors]
        names = [plain.joint(j).name for j in joints]
        center, radius = np.array(plain.stat.center), 0.7 * float(plain.stat.extent)
        has_floor = int(mujoco.mjtGeom.mjGEOM_PLANE) in plain.geom_type.tolist()
        add_scenery(spec, size, None if has_floor else 0.0, center, radius)
        if sliders:
            slides = (plain.jnt_type[joints] == int(mujoco.mjtJoint.mjJNT_SLIDE)).tolist()
            limits = np.where(plain.jnt_limited[joints, None], plain.jnt_range[joints], [-np.inf, np.inf])
            _add_sliders(spec, names, slides, *limits.T)
        model = spec.compile()
    except ValueError as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"MuJoCo refuses it: {' '.join(str(error).split())}", path=path) from None
    if not all(names):
        raise FileFormatError("every joint must have a name", path=path)
    return Stage(model, None, center, radius, names)


def _reach(robot: Robot) -> Array:
    """Return points (k, 3) of random postures within limits, the default one first."""
    lower, upper = robot.limits.lower, robot.limits.upper
    known = np.isfinite(lower) & np.isfinite(upper)
    rng = np.random.default_rng(0)
    wide = np.where([kind == "R" for kind in robot.joint_types], np.pi, 0.5)
    q = rng.uniform(np.where(known, lower, -wide), np.where(known, upper, wide), (_SAMPLES, robot.n))
    q[0] = default_posture(robot)
    return np.asarray(arm_points(robot, q).reshape(-1, 3))


def _ball(points: Array, shown: Array) -> tuple[Array, float]:
    """Return center and radius of a ball that contains most of the points (k, 3) and one whole posture (m, 3)."""
    center = 0.5 * (np.quantile(points, 0.05, axis=0) + np.quantile(points, 0.95, axis=0))
    most = float(np.quantile(np.linalg.norm(points - center, axis=1), 0.65))  # an arm is rarely stretched
    return center, max(most, 1.05 * float(np.linalg.norm(shown - center, axis=1).max()), 1e-2)


def _floor_height(robot: Robot, points: Array) -> float:
    """Return the height of the base, or for a hanging arm, that of its lowest reachable point."""
    base = float(robot.description.base[2, 3])
    shown = points[: robot.n + 2, 2]
    length = float(np.ptp(points, axis=0).max())
    return base if shown.min() >= base - 0.02 * length else float(points[:, 2].min()) - 0.05 * length


def add_scenery(spec: Any, size: tuple[int, int], floor: float | None, center: Array, radius: float) -> None:
    """Add missing sky, floor and light to a specification.

    Parameters
    ----------
    spec : mujoco.MjSpec
        Specification, changed in place.
    size : tuple of int
        Width and height of the largest picture [pixels].
    floor : float or None
        Height of the floor, which has no contacts [m]; None for no floor.
    center : (3,) array
        Middle of what is shown [m].
    radius : float
        Its radius [m].
    """
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    # shadows at the resolution of the picture
    spec.visual.quality.shadowsize, spec.visual.quality.offsamples = min(4096, 6 * max(size)), 4
    # MuJoCo scales clipping, fog and shadows with the extent
    spec.stat.extent, spec.stat.center = 2.0 * radius, center
    spec.visual.map.znear, spec.visual.map.zfar, spec.visual.map.shadowscale = 0.005, 100.0, 0.8
    # with fog, the distant floor fades into the sky
    spec.visual.rgba.fog = spec.visual.rgba.haze = [*_HORIZON, 1.0]
    spec.visual.map.fogstart, spec.visual.map.fogend = 2.5, 9.0
    if not any(texture.type == mujoco.mjtTexture.mjTEXTURE_SKYBOX for texture in spec.textures):
        builtin, kind = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, mujoco.mjtTexture.mjTEXTURE_SKYBOX
        spec.add_texture(
            name="thunder_sky", type=kind, builtin=builtin, rgb1=_SKY, rgb2=_HORIZON, width=256, height=1536
        )
    if floor is not None:
        _add_floor(spec, floor, radius)
    for light, gray in (("ambient", 0.35), ("diffuse", 0.3), ("specular", 0.0)):
        setattr(spec.visual.headlight, light, [gray] * 3)
    if not spec.lights:
        above = center + radius * np.array([1.5, -3.0, 6.0])
        beam = {"cutoff": 50.0, "exponent": 2.0, "diffuse": [0.65] * 3, "specular": [0.2] * 3}
        spec.worldbody.add_light(name="thunder_light", pos=above, dir=center - above, castshadow=True, **beam)


def _add_floor(spec: Any, height: float, radius: float) -> None:
    tile = 0.25 if radius > 0.3 else 0.05
    checker, edge = mujoco.mjtBuiltin.mjBUILTIN_CHECKER, mujoco.mjtMark.mjMARK_EDGE
    look = {"builtin": checker, "rgb1": _LIGHT_TILE, "rgb2": _DARK_TILE, "mark": edge, "markrgb": [0.62, 0.64, 0.66]}
    spec.add_texture(name="thunder_tiles", type=mujoco.mjtTexture.mjTEXTURE_2D, width=512, height=512, **look)
    material = spec.add_material(name="thunder_floor", texuniform=True, texrepeat=[0.5 / tile, 0.5 / tile])
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "thunder_tiles"
    material.reflectance, material.specular, material.shininess = 0.08, 0.1, 0.1
    plane, place = mujoco.mjtGeom.mjGEOM_PLANE, [0.0, 0.0, height]
    spec.worldbody.add_geom(type=plane, size=[0.0, 0.0, 1.0], pos=place, material="thunder_floor", **_UNTOUCHED)


def _dress(spec: Any, robot: Robot, meshes: Meshes) -> None:
    """Replace capsules and cylinders of the bodies by meshes."""
    meshes.placed(robot, np.zeros(robot.n))  # raises for meshes of another robot
    for geom in list(spec.geoms):
        _delete(spec, geom)
    for number, part in enumerate(meshes.parts):
        frame = meshes.frame(robot, part.link)
        if frame is not None:
            _add_part(spec, robot, part, frame, f"thunder_mesh{number}")


def _add_part(spec: Any, robot: Robot, part: MeshPart, frame: str, name: str) -> None:
    """Add a mesh for each color of a part, because MuJoCo has one color for each mesh."""
    own = frame in robot.link_names
    link, T = (robot.link_names.index(frame) + 1, np.eye(4)) if own else robot.description.frames.get(frame, (0, None))
    body = spec.body(robot.frame_names[0] if link == 0 else robot.link_names[link - 1])
    surface = part.surface if T is None else part.surface.placed(np.asarray(T))
    colors, which = np.unique(np.round(part.colors, 3), axis=0, return_inverse=True)
    for k, rgb in enumerate(colors):
        used, faces = np.unique(surface.faces[which.reshape(-1) == k], return_inverse=True)
        if len(used) < 4:
            continue  # MuJoCo needs four vertices
        mesh = spec.add_mesh(name=f"{name}_{k}", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        mesh.uservert, mesh.userface = surface.vertices[used].ravel().tolist(), faces.ravel().tolist()
        look = {"meshname": mesh.name, "rgba": [*rgb, 1.0], "mass": 0.0, "group": 2}
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, **look, **_UNTOUCHED)


def _add_sliders(spec: Any, names: list[str], sliding: list[bool], lower: Array, upper: Array) -> None:
    """Add a control with the range of each joint; it has no effect by itself, the viewer copies it."""
    for actuator in list(spec.actuators):
        _delete(spec, actuator)
    for name, slides, low, high in zip(names, sliding, lower, upper, strict=True):
        wide = 1.0 if slides else np.pi
        limits = [low, high] if np.isfinite(low) and np.isfinite(high) else [-wide, wide]
        joint = mujoco.mjtTrn.mjTRN_JOINT
        spec.add_actuator(name=name, trntype=joint, target=name, ctrlrange=limits, ctrllimited=True)


def _delete(spec: Any, element: Any) -> None:
    if hasattr(spec, "delete"):
        spec.delete(element)
    else:  # in MuJoCo 3.3.0 elements delete themselves
        element.delete()
