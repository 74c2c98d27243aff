import io
import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_urdfs import description, real_urdf_cases

import thunder_py as th
from tests.polygons import corners
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError
from thunder_py.io import Meshes
from thunder_py.io.urdf_geometry import read_geometry
from thunder_py.plotting.shapes import merge

_CASES = {case.id: case for case in real_urdf_cases() if case.id in ("panda", "ur5")}
#: what is read of each: the one's are DAE files, much thinned; the other's STL, as they are
_READ: dict[str, dict[str, Any]] = {
    "panda": {"geometry": "visual", "faces": 200},
    "ur5": {"geometry": "collision", "faces": 1_000_000},
}
_SQUARE = "v 0 0 0\nv 1 0 0\nv 1 2 0\nv 0 2 0\nf 1 2 3\nf 1 3 4\n"


@pytest.fixture(scope="module", params=list(_CASES))
def arm(request: pytest.FixtureRequest) -> tuple[th.Robot, Meshes]:
    case = _CASES[request.param]
    return th.Robot(description(case)), Meshes.load(case.path, **_READ[case.id])


def test_vertices_stand_at_forward_kinematics_of_their_link(arm: tuple[th.Robot, Meshes]) -> None:
    robot, meshes = arm
    q = np.random.default_rng(1).uniform(-1.0, 1.0, robot.n)
    surface, colors = meshes.placed(robot, q)
    assert len(colors) == len(surface.faces)
    start = 0
    for part in meshes.parts:
        T = robot.forward_kinematics(q, part.link)
        size = len(part.surface.vertices)
        there = surface.vertices[start : start + size]
        np.testing.assert_allclose(there, part.surface.vertices @ T[:3, :3].T + T[:3, 3], atol=1e-12)
        start += size
    assert start == len(surface.vertices)
    assert 0.0 <= colors.min() <= colors.max() <= 1.0


def test_they_are_where_yourdfpy_puts_them(arm: tuple[th.Robot, Meshes]) -> None:
    robot, meshes = arm
    yourdfpy = pytest.importorskip("yourdfpy")
    logging.getLogger("yourdfpy").setLevel(logging.ERROR)
    urdf = meshes.path
    root = next(parent for parent in urdf.parents if (parent / "example-robot-data").is_dir())
    visual = _READ[robot.name]["geometry"] == "visual"
    other = yourdfpy.URDF.load(
        str(urdf),
        filename_handler=lambda fname: str(root / fname.removeprefix("package://")),
        build_scene_graph=visual,
        load_meshes=visual,
        build_collision_scene_graph=not visual,
        load_collision_meshes=not visual,
        force_mesh=False,
        force_collision_mesh=False,
    )
    scene = other.scene if visual else other.collision_scene
    q = np.random.default_rng(2).uniform(-0.5, 0.5, robot.n)
    other.update_cfg({**_CASES[robot.name].locked, **dict(zip(robot.joint_names, q, strict=True))})
    for link in {part.link for part in meshes.parts} - {"panda_rightfinger"}:  # which mimics the other, there
        theirs = _their_vertices(other, scene, link)
        surface = merge([part.surface for part in meshes.parts if part.link == link])
        ours = surface.placed(robot.forward_kinematics(q, link)).vertices
        size = np.ptp(theirs, axis=0).max()
        off = 0.1 * size if visual else 1e-6 * size  # thinned, and single precision
        np.testing.assert_allclose(ours.min(axis=0), theirs.min(axis=0), atol=off)
        np.testing.assert_allclose(ours.max(axis=0), theirs.max(axis=0), atol=off)


def _their_vertices(other: Any, scene: Any, link: str) -> Any:
    """Vertices of a link in the world: of the nodes whose nearest link above is this one."""
    parents, found = scene.graph.transforms.parents, []
    for node in scene.graph.nodes_geometry:
        at = node
        while at not in other.link_map:
            at = parents[at]
        if at == link:
            T, name = scene.graph[node]
            found.append(scene.geometry[name].vertices @ T[:3, :3].T + T[:3, 3])
    return np.concatenate(found)


def test_meshes_are_drawn_instead_of_sticks(arm: tuple[th.Robot, Meshes]) -> None:
    robot, meshes = arm
    q = np.full(robot.n, 0.2)
    axes = robot.plot(q, meshes=meshes)
    assert len(axes.lines) == 6  # two triads, no sticks
    surface, _ = meshes.placed(robot, q)
    np.testing.assert_allclose(corners(axes.collections[-1]), surface.corners(), atol=1e-12)
    limits = np.array([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()])
    assert (surface.vertices > limits[:, 0]).all()
    assert (surface.vertices < limits[:, 1]).all()
    one, other = (_pixels(robot.plot(p, meshes=meshes)) for p in (q, q + 0.5))
    assert np.array_equal(one, _pixels(axes))
    assert not np.array_equal(one, other)


def _pixels(axes: Any) -> Any:
    with io.BytesIO() as file:
        axes.figure.savefig(file, format="rgba", dpi=30)
        return np.frombuffer(file.getvalue(), dtype=np.uint8)


def test_thinning_keeps_the_shape() -> None:
    case = _CASES["panda"]
    few, many = (Meshes.load(case.path, geometry="collision", faces=faces) for faces in (60, 100_000))
    assert len(few.parts) == len(many.parts) > 8
    for thin, whole in zip(few.parts, many.parts, strict=True):
        assert len(thin.surface.faces) <= max(0.5 * len(whole.surface.faces), 80)
        size = np.ptp(whole.surface.vertices, axis=0).max()
        for edge, outwards in ((np.min, -1.0), (np.max, 1.0)):
            moved = outwards * (edge(thin.surface.vertices, axis=0) - edge(whole.surface.vertices, axis=0))
            assert (moved <= 1e-9).all()
            assert (moved > -0.1 * size).all()


def _urdf(folder: Path, geometry: str, material: str = "", origin: str = "") -> Path:
    """Write an arm of one joint whose moving link looks like `geometry`."""
    file = folder / "arm.urdf"
    file.write_text(
        f"""<robot name="arm"><material name="red"><color rgba="0.9 0.1 0.2 1"/></material><link name="ground"/>
        <link name="rod"><inertial><mass value="1"/><origin xyz="0.5 0 0"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual>{origin}<geometry>{geometry}</geometry>{material}</visual></link>
        <joint name="hinge" type="continuous"><parent link="ground"/><child link="rod"/><axis xyz="0 0 1"/>
        <origin xyz="0 0 1"/></joint></robot>"""
    )
    return file


@pytest.mark.parametrize(
    ("geometry", "extent"),
    [
        ('<box size="1 2 3"/>', [1.0, 2.0, 3.0]),
        ('<cylinder radius="0.5" length="3"/>', [1.0, 1.0, 3.0]),
        ('<sphere radius="0.5"/>', [1.0, 1.0, 1.0]),
        ('<mesh filename="square.obj" scale="1 0.5 1"/>', [1.0, 1.0, 0.0]),
    ],
)
def test_primitives_and_files_have_size_place_and_color(tmp_path: Path, geometry: str, extent: list[float]) -> None:
    (tmp_path / "square.obj").write_text(_SQUARE)
    file = _urdf(tmp_path, geometry, '<material name="red"/>', '<origin xyz="2 0 0" rpy="0 0 0"/>')
    robot, meshes = th.Robot.load(file), Meshes.load(file)
    (part,) = meshes.parts
    np.testing.assert_allclose(np.ptp(part.surface.vertices, axis=0), extent, atol=0.03)
    np.testing.assert_allclose(part.colors, np.tile([0.9, 0.1, 0.2], (len(part.surface.faces), 1)))
    turned, _ = meshes.placed(robot, [np.pi / 2])  # x of the link is y of the world, a meter up
    middle = 0.5 * (part.surface.vertices.min(axis=0) + part.surface.vertices.max(axis=0))
    there = 0.5 * (turned.vertices.min(axis=0) + turned.vertices.max(axis=0))
    np.testing.assert_allclose(there, [-middle[1], middle[0], 1.0 + middle[2]], atol=1e-12)


def test_packages_are_found_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere" / "arm_description"
    (elsewhere / "meshes").mkdir(parents=True)
    (elsewhere / "meshes" / "square.obj").write_text(_SQUARE)
    folder = tmp_path / "here"
    folder.mkdir()
    file = _urdf(folder, '<mesh filename="package://arm_description/meshes/square.obj"/>')
    with pytest.raises(FileFormatError, match=r"arm\.urdf:4: .*package 'arm_description' .* was not found: pass"):
        Meshes.load(file)
    for given in (elsewhere.parent, elsewhere):
        assert len(Meshes.load(file, given).parts[0].surface.faces) == 2
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(elsewhere.parent))
    assert len(Meshes.load(file).parts) == 1
    (elsewhere / "meshes" / "square.obj").unlink()
    with pytest.raises(FileFormatError, match=r"package 'arm_description' has no mesh 'meshes/square\.obj'"):
        Meshes.load(file)


def test_broken_geometry_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.stl").write_bytes(b"solid nothing")
    (tmp_path / "empty.obj").write_text("v 0 0 0\n")
    assert_refused(
        ('<mesh filename="none.stl"/>', "...arm.urdf:4: ...there is no mesh '...none.stl'..."),
        ('<mesh filename="http://example.org/a.stl"/>', "...meshes come from files, not over http..."),
        ('<mesh filename="broken.stl"/>', "...broken.stl: not a mesh..."),
        ('<mesh filename="empty.obj"/>', "...empty.obj: not a mesh..."),
        ('<box size="1 2"/>', "...'size' must be 3 numbers..."),
        ("<box/>", "...needs the attribute 'size'..."),
        ('<box size="1 -2 3"/>', "...'size' must not be negative..."),
        ('<cylinder radius="-1" length="1"/>', "...'radius' must not be negative..."),
        ('<sphere radius="nan"/>', "...'radius' must be a finite number..."),
        ("<capsule/>", "...needs one of box, cylinder, sphere, mesh..."),
        call=lambda geometry: Meshes.load(_urdf(tmp_path, geometry)),
        error=FileFormatError,
    )


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    file = _urdf(tmp_path, '<box size="1 2 3"/>')
    with pytest.raises(ThunderError, match=r"no link has a <collision>"):
        Meshes.load(file, geometry="collision")
    for arguments, message in (({"geometry": "both"}, "geometry must be"), ({"faces": 0}, "faces must be")):
        with pytest.raises(ThunderError, match=message):
            Meshes.load(file, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ThunderError, match=r"urdf must be a \.urdf file"):
        Meshes.load(tmp_path / "arm.yaml")
    with pytest.raises(ThunderError, match="the robot 'panda' has no frame with the name of a link"):
        th.Robot.load("panda").plot(meshes=Meshes.load(file))
    assert read_geometry(file)[0].size == (1.0, 2.0, 3.0)


def test_without_its_package_a_mesh_file_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "square.obj").write_text(_SQUARE)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(ModuleNotFoundError, match=r'trimesh is not installed, .*"thunder_py\[visual\]"'):
        Meshes.load(_urdf(tmp_path, '<mesh filename="square.obj"/>'))
    assert len(Meshes.load(_urdf(tmp_path, '<sphere radius="1"/>')).parts) == 1
