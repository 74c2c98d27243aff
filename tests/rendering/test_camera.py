import copy
import pickle
from typing import Any

import numpy as np
import pytest

from thunder_py.errors import ThunderError
from thunder_py.perception import PinholeCamera, detect_tags
from thunder_py.perception.clouds import CloudPipeline, CloudPoseSource, Cuboid, DepthCamera, Plane, look_at
from thunder_py.perception.tags import _card_modules
from thunder_py.spatial import pose_from_rpy

pytest.importorskip("mujoco", reason="the extra mujoco is not installed")

import mujoco

from thunder_py.mujoco import RenderedCamera
from thunder_py.mujoco import rendering as gl

#: neither square pixels nor a principal point in the middle
LENS = PinholeCamera(120, 90, 101.0, 96.0, 55.3, 48.7)
EYE = (0.4, -0.6, 0.6)
YAW, SIZE, PLACE = 0.6, (0.12, 0.06, 0.08), (0.03, 0.02, 0.04)
NOISE = {"noise_per_z2": 0.002, "resolution": 0.001, "dropout": 0.05, "edge_dropout": 0.3}
SCENE = f"""<mujoco><compiler angle="radian"/><worldbody>
<geom type="box" size=".6 .6 .01" pos="0 0 -.01"/>
<body pos="{PLACE[0]} {PLACE[1]} {PLACE[2]}" euler="0 0 {YAW}"><geom type="box" size=".06 .03 .04"/></body>
</worldbody></mujoco>"""


@pytest.fixture(scope="module", autouse=True)
def _drawing() -> None:
    try:
        gl.open_context(8, 8).free()
    except ThunderError as error:
        pytest.skip(str(error))


def _world(text: str = SCENE) -> tuple[Any, Any]:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.fixture(scope="module")
def world() -> tuple[Any, Any]:
    return _world()


def _camera(**noise: float) -> DepthCamera:
    return DepthCamera(LENS, look_at(EYE, (0.0, 0.0, 0.0)), near=0.1, far=5.0, **noise)


def test_depths_are_those_of_rays_through_the_lens(world: tuple[Any, Any]) -> None:
    """Independent of OpenGL: the ray caster of `DepthCamera`, whose lens agrees with OpenCV's projection."""
    camera = _camera()
    with RenderedCamera(world[0], camera) as rendered:
        depth = rendered.see_exactly(world[1]).depth
    shapes = [Cuboid((1.2, 1.2, 0.02), pose_from_rpy((0, 0, -0.01))), Cuboid(SIZE, pose_from_rpy(PLACE, (0, 0, YAW)))]
    cast = camera.depth(shapes, np.random.default_rng(0))
    both = np.isfinite(depth) & np.isfinite(cast)
    assert both.mean() > 0.6
    away = np.abs(depth - cast)[both]
    assert np.quantile(away, 0.97) < 1e-4  # pixels on edges may show either side
    assert (np.isfinite(depth) != np.isfinite(cast)).mean() < 0.02


def test_what_is_in_front_hides_what_is_behind(world: tuple[Any, Any]) -> None:
    screen = SCENE.replace("</worldbody>", '<geom type="box" size=".1 .005 .2" pos=".1 -.2 .2"/></worldbody>')
    model, data = _world(screen)
    with RenderedCamera(model, _camera()) as hidden, RenderedCamera(world[0], _camera()) as free:
        a, b = hidden.see_exactly(data).depth, free.see_exactly(world[1]).depth
    assert (a < b - 0.05).mean() > 0.05
    assert (a > b + 1e-4).mean() == 0.0


def test_errors_of_depth_have_their_statistics_and_seeds(world: tuple[Any, Any]) -> None:
    with RenderedCamera(world[0], _camera(noise_per_z2=0.004, dropout=0.1), seed=3) as camera:
        exact = camera.see_exactly(world[1]).depth
        seen = [camera.see(world[1]).depth for _ in range(4)]
        camera.reset()
        np.testing.assert_array_equal(camera.see(world[1]).depth, seen[0])
    hit = np.isfinite(exact)
    assert abs(np.mean([np.isnan(z[hit]).mean() for z in seen]) - 0.1) < 0.01
    scaled = np.concatenate([((z - exact) / (0.004 * exact**2))[np.isfinite(z)] for z in seen])
    assert abs(scaled.mean()) < 0.02
    assert abs(scaled.std() - 1.0) < 0.02
    assert not np.array_equal(seen[0], seen[1], equal_nan=True)


def test_a_copy_of_the_world_is_seen_as_the_world(world: tuple[Any, Any]) -> None:
    with RenderedCamera(world[0], _camera()) as camera:
        picture = camera.see_exactly(world[1])
        for other in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
            np.testing.assert_array_equal(camera.see_exactly(other[1]).depth, picture.depth)


def test_exposure_changes_brightness_alone(world: tuple[Any, Any]) -> None:
    with RenderedCamera(world[0], _camera(**NOISE), exposure=0.5, color_noise=2.0, seed=1) as dark:
        a, plain = dark.see(world[1]), dark.see_exactly(world[1]).color
    with RenderedCamera(world[0], _camera(**NOISE), seed=1) as normal:
        b = normal.see(world[1])
    np.testing.assert_array_equal(a.depth, b.depth)
    np.testing.assert_array_equal(b.color, plain)
    assert abs((a.color - 0.5 * b.color.astype(float))[b.color > 20].mean()) < 0.3


def test_an_object_is_found_in_rendered_pictures_with_latency_and_dropouts(world: tuple[Any, Any]) -> None:
    camera = _camera(**NOISE)
    pipeline = CloudPipeline(table=Plane((0.0, 0.0, 1.0), 0.0), fit_shapes=True, voxel=0.008, gap=0.025)
    with RenderedCamera(world[0], camera) as rendered:
        source = CloudPoseSource(
            lambda t: rendered.see(world[1]).depth, camera, pipeline, rate=10.0, latency=0.05, dropout=0.3, seed=2
        )
        found = source.poll(0.95)
    assert 4 <= len(found) < 10
    assert all(m.available == pytest.approx(m.time + 0.05) for m in found)
    errors = np.array([m.pose[:3, 3] - PLACE for m in found if m.pose is not None])
    assert len(errors) == len(found)
    assert np.abs(errors).max() < 0.008  # a voxel
    yaws = [detection.yaw for detection in source.detections.values()]
    assert np.abs(np.array(yaws) - YAW).max() < 0.08


def test_the_robots_own_points_are_ignored(world: tuple[Any, Any]) -> None:
    with RenderedCamera(world[0], _camera()) as rendered:
        source = CloudPoseSource(
            lambda t: rendered.see(world[1]).depth,
            _camera(),
            CloudPipeline(),
            own=lambda points, t: points[:, 2] > 0.005,
        )
        (measurement,) = source.poll(0.0)
    assert not measurement.usable


def test_a_tag_on_an_object_is_detected_in_its_color() -> None:
    """A card with a texture: its pose in the picture is that in the world."""
    pytest.importorskip("cv2")
    modules = np.kron(_card_modules(4), np.ones((32, 32)))[..., None].repeat(3, axis=2).astype(np.uint8)
    spec = mujoco.MjSpec()
    texture = spec.add_texture(name="card", type=mujoco.mjtTexture.mjTEXTURE_2D, width=320, height=320, nchannel=3)
    texture.data = modules.tobytes()
    material = spec.add_material(name="card", emission=1.0, specular=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "card"
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.05, 0.05, 0.01], material="card")
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    lens = PinholeCamera.from_field_of_view(320, 240, 0.8)
    camera = DepthCamera(lens, look_at((0.15, -0.2, 0.35), (0.0, 0.0, 0.0)))
    with RenderedCamera(model, camera) as rendered:
        (tag,) = detect_tags(rendered.see(data).color, lens, size=0.08)
    assert tag.tag_id == 4
    np.testing.assert_allclose(np.asarray(camera.pose) @ tag.pose, np.eye(4), atol=0.02)
    np.testing.assert_allclose((np.asarray(camera.pose) @ tag.pose)[:3, 3], 0.0, atol=2e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"camera": 3}, "camera must be a DepthCamera, got int: 3"),
        ({"camera": DepthCamera(PinholeCamera(8, 8, 9, 9, 4, 4, (0.1, 0, 0, 0, 0)), np.eye(4))}, "no distortion"),
        ({"exposure": 0.0}, "exposure must be positive"),
    ],
)
def test_refusals(world: tuple[Any, Any], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ThunderError, match=message):
        RenderedCamera(world[0], **{"camera": _camera(), **arguments})
    with pytest.raises(ThunderError, match="model must be a MjModel, got NoneType"):
        RenderedCamera(None, _camera())
    with RenderedCamera(world[0], _camera()) as closed:
        with pytest.raises(ThunderError, match="data must be a MjData, got NoneType"):
            closed.see(None)
        more = _world(SCENE.replace("</worldbody>", '<geom size=".1"/>' * 200 + "</worldbody>"))[1]
        with pytest.raises(ThunderError, match="data must be of the model of this RenderedCamera, got data of another"):
            closed.see(more)
    with pytest.raises(ThunderError, match="closed"):
        closed.see(world[1])
