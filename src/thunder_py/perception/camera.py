"""The pinhole camera and its calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, finite, positive, whole, within
from ..checks import points as vectors
from ..errors import ThunderError
from ..values import Value, set_fields

#: iterations of the fixed point that removes distortion, and its tolerance [in units of the focal length]
_ROUNDS, _LEFT = 100, 1e-10
#: numbers of coefficients of distortion, without and with k3, and of the rational model
_COUNTS = (4, 5, 8)


@dataclass(frozen=True, eq=False)
class PinholeCamera(Value):
    """A calibrated camera. Its frame has x to the right, y down and z forward; pixel centers have integer coordinates.

    Attributes
    ----------
    width, height : int
        Size of its pictures [pixel].
    fx, fy : float
        Focal lengths [pixel].
    cx, cy : float
        Principal point [pixel].
    distortion : (4,), (5,) or (8,) array
        k1, k2, p1, p2, k3, k4, k5, k6 in OpenCV's order (Brown and Conrady): radial (k1 to k3), tangential, and the
        denominator of the rational model (k4 to k6). Those that are left out are 0.

    Raises
    ------
    ThunderError
        If a focal length is not positive, the principal point is outside the picture, or the distortion is not
        invertible in the picture.

    Examples
    --------
    >>> from thunder_py.perception import PinholeCamera
    >>> camera = PinholeCamera(640, 480, 600.0, 605.0, 321.3, 238.7, distortion=(-0.2, 0.05, 1e-3, -1e-3, 0.0))
    >>> pixel = camera.project([0.1, -0.05, 1.0])
    >>> pixel.round(1).tolist()
    [381.1, 208.5]
    >>> camera.directions(pixel).round(3).tolist()
    [0.1, -0.05, 1.0]
    >>> PinholeCamera.from_field_of_view(640, 480, 1.2).matrix.round(1).tolist()
    [[467.7, 0.0, 319.5], [0.0, 467.7, 239.5], [0.0, 0.0, 1.0]]
    """

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    distortion: npt.ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check the calibration."""
        fields: dict[str, Any] = {name: whole(getattr(self, name), name, 1) for name in ("width", "height")}
        fields |= {name: positive(getattr(self, name), name, "pixel") for name in ("fx", "fy")}
        fields |= {name: finite(getattr(self, name), name) for name in ("cx", "cy")}
        set_fields(self, **fields, distortion=array(self.distortion, (None,), "distortion"))
        if np.size(self.distortion) not in _COUNTS:
            raise ThunderError(f"distortion must have 4, 5 or 8 coefficients, got {np.size(self.distortion)}")
        if not (0.0 <= self.cx <= self.width - 1 and 0.0 <= self.cy <= self.height - 1):
            raise ThunderError(
                f"the principal point must lie in the picture of {self.width} x {self.height} pixels, "
                f"got ({self.cx:g}, {self.cy:g})"
            )
        # a distortion is strongest at the corners
        corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]) * (self.width - 1.0, self.height - 1.0)
        with np.errstate(all="ignore"):
            again = self.project(self.directions(corners))
        if np.any(self.distortion) and not np.allclose(again, corners, atol=1e-4):
            raise ThunderError(
                f"distortion must be invertible everywhere in the picture, got {np.asarray(self.distortion).tolist()}"
            )

    @classmethod
    def from_field_of_view(cls, width: int, height: int, angle: float) -> PinholeCamera:
        """Return a camera without distortion, with square pixels and the principal point in the middle.

        Parameters
        ----------
        width, height : int
            Size of the pictures [pixel].
        angle : float
            Angle between the left and the right edge of the picture [rad], below pi.
        """
        f = whole(width, "width", 1) / (2.0 * np.tan(within(angle, "angle", 0.0, np.pi, ends="()") / 2.0))
        return cls(width, height, f, f, (width - 1) / 2.0, (whole(height, "height", 1) - 1) / 2.0)

    @property
    def matrix(self) -> Array:
        """Camera matrix K (3, 3), which maps directions with z = 1 to pixels."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    def project(self, points: npt.ArrayLike) -> Array:
        """Return pixels (..., 2) of points (..., 3) in the camera's frame [m]; NaN for points not in front of it."""
        p = vectors(points, "points")
        z = np.where(p[..., 2:] > 0.0, p[..., 2:], np.nan)
        return np.asarray((self.fx, self.fy) * self._distorted(p[..., :2] / z) + (self.cx, self.cy))

    def directions(self, pixels: npt.ArrayLike) -> Array:
        """Return directions (..., 3) with z = 1 that are seen at pixels (..., 2), the inverse of `project`."""
        uv = vectors(pixels, "pixels", (2,))
        seen = flat = (uv - (self.cx, self.cy)) / (self.fx, self.fy)
        for _ in range(_ROUNDS if np.any(self.distortion) else 0):
            left = seen - self._distorted(flat)
            if np.nanmax(np.abs(left), initial=0.0) < _LEFT:
                break
            flat = flat + left
        return np.concatenate([flat, np.ones_like(flat[..., :1])], axis=-1)

    def pixels(self) -> Array:
        """Return the coordinates of every pixel, (height, width, 2)."""
        u, v = np.meshgrid(np.arange(self.width, dtype=float), np.arange(self.height, dtype=float))
        return np.stack([u, v], axis=-1)

    def _distorted(self, flat: Array) -> Array:
        """Return places (..., 2) on the plane z = 1 as the lens shows them."""
        given = np.asarray(self.distortion)
        k1, k2, p1, p2, k3, k4, k5, k6 = np.pad(given, (0, max(_COUNTS) - len(given)))
        x, y = flat[..., 0], flat[..., 1]
        r2 = x * x + y * y
        radial = (1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1.0 + r2 * (k4 + r2 * (k5 + r2 * k6)))
        u = x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x)
        v = y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y
        return np.stack([u, v], axis=-1)


def check_picture(picture: Any, camera: PinholeCamera, what: str = "picture", kind: str = "uint8") -> npt.NDArray[Any]:
    """Return a picture of the camera's size and of a kind of numbers, gray or (bytes) colored, or raise."""
    image, gray = np.asarray(picture), (camera.height, camera.width)
    shapes = [gray, (*gray, 3)] if kind == "uint8" else [gray]
    if image.dtype != kind or image.shape not in shapes:
        expected = " or ".join(map(str, shapes))
        raise ThunderError(f"{what} must be {kind} of shape {expected}, got {image.dtype} of {image.shape}")
    return image
