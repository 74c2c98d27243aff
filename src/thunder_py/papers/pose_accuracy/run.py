"""D4.2, section 7.1 and Figure 43: accuracy of poses of resting, moving and partly hidden objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array
from ...parallel import Workers, map_seeds
from ...perception.camera import PinholeCamera
from ...perception.clouds import Ball, CloudPipeline, Cuboid, Cylinder
from ...perception.clouds.scenes import Shape
from ...perception.tags import detect_tags, render_tag
from ...plotting.panels import new_panels
from ...plotting.style import BLUE, LINE, SKY, VERMILION, draw_truth, label, outside_legend
from ...spatial import exp, pose_from_rpy, rotation_about
from ...spatial.single import angle_of, make_pose
from ..belt_camera import belt_camera
from ..results import titled
from ..tables import markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: largest position error of the report's poses, of a moving tool too [m]
PRINTED = 0.01

BELT = Cuboid((1.2, 0.5, 0.02), pose_from_rpy((0.0, 0.0, -0.01)))
EYE = (0.5, -0.7, 0.7)
DEPTH_CAMERA = belt_camera(EYE, (0.0, 0.0, 0.0))
OBJECTS = ("box", "upright cylinder", "lying cylinder", "ball")
#: share of an object's visible surface that something in front of it hides
HIDDEN = (0.0, 0.2, 0.4, 0.6)

CAMERA = PinholeCamera(640, 480, 600.0, 605.0, 321.3, 238.7, (-0.2, 0.05, 1e-3, -1e-3, 0.0))
TAG_SIZE = 0.08
DISTANCES = (0.4, 0.8, 1.6)
#: distance of moving tags [m], speeds across the view [m/s], exposure [s] and pictures of which it is the mean
MOVING_AT, SPEEDS, EXPOSURE, INSTANTS = 0.5, (0.0, 0.1, 0.2, 0.4), 0.01, 5
#: share of the black square that is covered, from one side
COVERED = (0.0, 0.05, 0.1, 0.2)


def shape_of(name: str, x: float, y: float, yaw: float) -> tuple[Shape, tuple[float, float, float]]:
    """Return an object on the belt, and where its middle is."""
    if name == "box":
        return Cuboid((0.18, 0.07, 0.10), pose_from_rpy((x, y, 0.05), (0.0, 0.0, yaw))), (x, y, 0.05)
    if name == "upright cylinder":
        return Cylinder(0.04, 0.12, pose_from_rpy((x, y, 0.06))), (x, y, 0.06)
    if name == "lying cylinder":
        return Cylinder(0.03, 0.20, pose_from_rpy((x, y, 0.03), (0.0, np.pi / 2.0, yaw))), (x, y, 0.03)
    return Ball(0.05, (x, y, 0.05)), (x, y, 0.05)


def cloud_errors(seed: int) -> Array:
    """Return errors of clouds, (objects, hidden, 7): centroid and center [m], yaw [rad]; NaN for what is not found."""
    rng = np.random.default_rng([1, seed])
    x, y, yaw = rng.uniform((-0.15, -0.1, -np.pi / 2.0), (0.15, 0.1, np.pi / 2.0))
    side = rng.choice((-1.0, 1.0))
    found = np.full((len(OBJECTS), len(HIDDEN), 7), np.nan)
    for i, name in enumerate(OBJECTS):
        shape, truth = shape_of(name, x, y, yaw)
        for j, share in enumerate(HIDDEN):
            scene = [BELT, shape, *_screen(shape, truth, share, side)]
            seen = CloudPipeline()(DEPTH_CAMERA.see(scene, rng).cloud, near=truth)
            if seen.centroid is None or seen.center is None:
                continue
            found[i, j, :3], found[i, j, 3:6] = seen.centroid - truth, seen.center - truth
            if seen.yaw is not None:
                found[i, j, 6] = (seen.yaw - yaw + np.pi / 2.0) % np.pi - np.pi / 2.0
    return found


def _screen(shape: Shape, middle: tuple[float, float, float], share: float, side: float) -> list[Shape]:
    """Return a screen half way to the camera that hides a share of the object's visible pixels from one side."""
    if share == 0.0:
        return []
    eye, rng = np.asarray(EYE), np.random.default_rng(0)
    pixels = DEPTH_CAMERA.camera.directions(DEPTH_CAMERA.camera.pixels()) @ np.asarray(DEPTH_CAMERA.pose)[:3, :3].T
    rays = pixels[DEPTH_CAMERA.see([BELT, shape], rng).shape == 1]
    away = float(np.linalg.norm(np.asarray(middle) - eye))
    forward, reach = (np.asarray(middle) - eye) / away, 0.5 * away
    across = side * np.cross(forward, (0.0, 0.0, 1.0)) / np.linalg.norm(np.cross(forward, (0.0, 0.0, 1.0)))
    at = reach * (rays @ across) / (rays @ forward)  # of each ray on the plane of the screen
    edge, width = float(np.quantile(at, 1.0 - share)), 0.2
    R = np.stack([across, np.cross(forward, across), forward], axis=1)
    return [Cuboid((width, 0.3, 0.002), make_pose(R, eye + reach * forward + (edge + width / 2.0) * across))]


def tag_errors(seed: int) -> dict[str, Array]:
    """Return errors of tags, (cases, 2): position [m] and angle [rad]; NaN where no tag was found."""
    rng = np.random.default_rng([2, seed])
    poses = {distance: _tag_pose(rng, distance) for distance in (*DISTANCES, MOVING_AT)}
    resting = [_found(render_tag(CAMERA, poses[d], size=TAG_SIZE, rng=rng), poses[d]) for d in DISTANCES]
    angle, T = rng.uniform(0.0, 2.0 * np.pi), poses[MOVING_AT]
    direction = np.array([np.cos(angle), np.sin(angle), 0.0])
    moving = [_found(_moving(T, speed * direction, rng), T) for speed in SPEEDS]
    covered = [_found(_covered(T, share, rng), T) for share in COVERED]
    return {"resting": np.array(resting), "moving": np.array(moving), "covered": np.array(covered)}


def _tag_pose(rng: np.random.Generator, distance: float) -> Array:
    azimuth, tilt, roll = rng.uniform((0.0, 0.2, -np.pi), (2.0 * np.pi, 0.9, np.pi))
    leaning = tilt * np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    R = rotation_about("x", np.pi) @ exp(leaning) @ rotation_about("z", roll)
    return make_pose(R, np.array([*rng.uniform(-0.15, 0.15, 2) * distance, distance]))


def _moving(T: Array, velocity: Array, rng: np.random.Generator) -> Any:
    """Return the mean of pictures over an exposure, with noise; T is the pose in its middle."""
    total = np.zeros((CAMERA.height, CAMERA.width))
    for fraction in np.linspace(-0.5, 0.5, INSTANTS):
        now = T.copy()
        now[:3, 3] += fraction * EXPOSURE * velocity
        total += render_tag(CAMERA, now, size=TAG_SIZE, noise=0.0, samples=2)
    noisy = total / INSTANTS + 2.0 * rng.normal(size=total.shape)
    return np.clip(np.round(noisy), 0.0, 255.0).astype(np.uint8)


def _covered(T: Array, share: float, rng: np.random.Generator) -> Any:
    """Return a picture in which a gray stripe covers a share of the tag's black square, from its left side."""
    picture = render_tag(CAMERA, T, size=TAG_SIZE, rng=rng)
    if share == 0.0:
        return picture
    rays = CAMERA.directions(CAMERA.pixels())
    normal = T[:3, 2]
    points = rays * (T[:3, 3] @ normal / (rays @ normal))[..., None] - T[:3, 3]
    u, v = (points @ T[:3, k] / TAG_SIZE + 0.5 for k in (0, 1))
    picture[(u > -0.3) & (u < share) & (v > -0.3) & (v < 1.3)] = 130
    return picture


def _found(picture: Any, T: Array) -> tuple[float, float]:
    tags = detect_tags(picture, CAMERA, size=TAG_SIZE)
    if not tags:
        return np.nan, np.nan
    found = tags[0].pose
    return float(np.linalg.norm(found[:3, 3] - T[:3, 3])), angle_of(found[:3, :3].T @ T[:3, :3])


@dataclass(frozen=True, kw_only=True, eq=False)
class PoseAccuracy:
    """Results of the experiment.

    Attributes
    ----------
    clouds : (scenes, objects, hidden, 7) array
        Errors of centroid and center [m] and of the yaw [rad] of `OBJECTS` with shares `HIDDEN` hidden.
    tags : dict of str to (scenes, cases, 2) array
        Errors of position [m] and angle [rad] of resting tags at `DISTANCES`, of moving ones at `SPEEDS`, and of
        covered ones; NaN where none was found.
    """

    clouds: Array
    tags: Mapping[str, Array]

    def table(self) -> str:
        """Return bias and spread of clouds, and quantiles of tags, as Markdown."""
        clouds, hidden = [], []
        for name, errors in zip(OBJECTS, self.clouds.transpose(1, 2, 0, 3), strict=True):
            yaw = errors[0, np.isfinite(errors[0, :, 6]), 6]
            turned = name in ("box", "lying cylinder") and yaw.size
            shown = float(np.degrees(np.sqrt((yaw**2).mean()))) if turned else None
            clouds.append([name, *_bias_and_rms(errors[0, :, :3]), *_bias_and_rms(errors[0, :, 3:6]), shown])
            cells = []
            for each in errors:
                (bias, rms), missing = _bias_and_rms(each[:, 3:6]), float(np.isnan(each[:, 3]).mean())
                cells.append(f"{bias:.0f}, {rms:.0f}" + (f" ({missing:.0%} not found)" if missing else ""))
            hidden.append([name, *cells])
        header = ["", "centroid: bias [mm]", "RMS [mm]", "center: bias [mm]", "RMS [mm]", "yaw: RMS [deg]"]
        shares = ["hidden", *(f"{share:.0%}" for share in HIDDEN)]
        parts = (
            titled(f"Objects on a belt under a depth camera, {len(self.clouds)} scenes", header, clouds),
            titled("Middle of partly hidden objects: bias and RMS [mm]", shares, hidden),
            "Tags of 8 cm; the report's poses are within 10 mm\n\n" + self._tag_table(),
        )
        return "\n\n".join(parts)

    def _tag_table(self) -> str:
        cases = {
            "resting": [f"at {d:g} m" for d in DISTANCES],
            "moving": [f"at {MOVING_AT:g} m, {v:g} m/s" for v in SPEEDS],
            "covered": [f"at {MOVING_AT:g} m, {c:.0%} covered" for c in COVERED],
        }
        rows: list[list[object]] = []
        for kind, names in cases.items():
            for name, errors in zip(names, self.tags[kind].swapaxes(0, 1), strict=True):
                known = errors[np.isfinite(errors[:, 0])]
                numbers: list[object] = [None] * 5
                if len(known):
                    p, angle = np.quantile(known, (0.5, 0.95, 1.0), axis=0).T
                    numbers = [1e3 * p[0], 1e3 * p[1], 1e3 * p[2], *np.degrees(angle[:2]).tolist()]
                rows.append([name, f"{len(known) / len(errors):.0%}", *numbers])
        header = ["tag", "found", "position: median [mm]", "95 %", "largest", "angle: median [deg]", "95 %"]
        return markdown(header, rows)

    def plot(self) -> Figure:
        """Draw three panels: clouds of partly hidden objects, moving tags, resting tags."""
        figure, panels = new_panels([["hidden", "moving", "resting"]], (12.0, 3.8))
        for name, errors in zip(OBJECTS, self.clouds.transpose(1, 2, 0, 3), strict=True):
            medians = 1e3 * np.nanmedian(np.linalg.norm(errors[:, :, 3:6], axis=2), axis=1)
            panels["hidden"].plot(100.0 * np.array(HIDDEN), medians, "o-", linewidth=LINE, label=name)
        title = "D4.2, Figure 43: middle of partly\nhidden objects, from clouds"
        label(panels["hidden"], title, "hidden part of the visible surface [%]", "error, median [mm]")
        panels["hidden"].legend(fontsize="small")
        _draw_tags(panels["moving"], SPEEDS, self.tags["moving"])
        label(panels["moving"], "D4.2, 7.1: moving tag,\nexposure of 10 ms", "speed [m/s]", "error [mm]", yscale="log")
        _draw_tags(panels["resting"], DISTANCES, self.tags["resting"])
        label(panels["resting"], "Tag at rest", "distance [m]", "error [mm]", yscale="log")
        return outside_legend(figure, panels["moving"], panels["resting"])

    def to_dict(self) -> dict[str, Any]:
        """Return all errors in meters and radians."""
        cases = {"report_largest_m": PRINTED, "objects": OBJECTS, "hidden": HIDDEN}
        return {**cases, "clouds_m_rad": self.clouds, "tags_m_rad": self.tags}


def _bias_and_rms(errors: Array) -> tuple[float, float]:
    known = errors[np.isfinite(errors).all(axis=1)]
    if not len(known):
        return float("nan"), float("nan")
    return 1e3 * float(np.linalg.norm(known.mean(axis=0))), 1e3 * float(np.sqrt((known**2).sum(axis=1).mean()))


def _scene(seed: int) -> tuple[Array, dict[str, Array]]:
    return cloud_errors(seed), tag_errors(seed)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> PoseAccuracy:
    """Run the experiment of the registry: clouds and tags in 60 random scenes, or 3; `seeds` scenes.

    Raises
    ------
    ModuleNotFoundError
        If OpenCV is not installed (extra ``vision``).
    """
    count = (3 if quick else 60) if seeds is None else seeds
    found = map_seeds(_scene, count, workers=workers, progress=not quick, description="poses")
    clouds, tags = zip(*found, strict=True)
    errors = {kind: np.array([each[kind] for each in tags]) for kind in tags[0]}
    return PoseAccuracy(clouds=np.array(clouds), tags=errors)


def _draw_tags(ax: Axes, x: tuple[float, ...], errors: Array) -> None:
    p = 1e3 * errors[:, :, 0]
    ax.fill_between(x, *np.nanquantile(p, (0.05, 0.95), axis=0), color=SKY, alpha=0.4, label="5 to 95 %")
    ax.plot(x, np.nanmedian(p, axis=0), "o-", color=BLUE, linewidth=LINE, label="median")
    draw_truth(ax, 1e3 * PRINTED, "largest error in the report", VERMILION)
