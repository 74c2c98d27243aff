"""Places for cameras in a world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import array, check_name, pose, within
from ...errors import ModelError
from ...io.xml import quaternion
from ...values import Value, set_fields

__all__ = ["CameraMount"]


@dataclass(frozen=True, eq=False)
class CameraMount(Value):
    """A camera fixed to the world or to a link.

    Parameters
    ----------
    name : str
        Name of the camera in the model.
    pose : (4, 4) array_like
        Its frame, with x to the right, y down and z forward, in the frame of the link.
    field_of_view : float
        Vertical angle of its pictures [rad].
    link : str, optional
        Name of the link; default the world.

    Raises
    ------
    ModelError
        If an argument is invalid.

    Examples
    --------
    >>> from thunder_py.mujoco import CameraMount
    >>> above = CameraMount.looking("above", at=(0.5, 0.0, 0.1), eye=(0.5, 0.0, 1.1))
    >>> above.pose[:3, 2].round(6).tolist()
    [0.0, 0.0, -1.0]
    """

    name: str
    pose: npt.ArrayLike
    field_of_view: float = 0.75
    link: str | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        set_fields(
            self,
            name=check_name(self.name, "camera name"),
            pose=pose(self.pose, "pose"),
            field_of_view=within(self.field_of_view, "field_of_view", 0.0, np.pi, ends="()"),
        )

    @classmethod
    def looking(cls, name: str, *, at: npt.ArrayLike, eye: npt.ArrayLike, **options: Any) -> CameraMount:
        """Return a camera at a point that looks at another, with the picture's upper edge up.

        Parameters
        ----------
        name : str
            Name of the camera.
        at, eye : (3,) array_like
            Points in the middle of the picture and of the camera [m].
        **options
            Other arguments.
        """
        position = array(eye, (3,), "eye")
        forward = array(at, (3,), "at") - position
        distance = float(np.linalg.norm(forward))
        if distance < 1e-9:
            raise ModelError("at and eye must differ")
        z = forward / distance
        up = np.array([0.0, 0.0, 1.0]) if abs(z[2]) < 0.999 else np.array([1.0, 0.0, 0.0])
        x = np.cross(z, up)
        x /= np.linalg.norm(x)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = np.column_stack([x, np.cross(z, x), z]), position
        return cls(name, T, **options)

    def add_to(self, spec: Any) -> None:
        """Add the camera to a MuJoCo specification."""
        body = spec.worldbody if self.link is None else spec.body(self.link)
        if body is None:
            raise ModelError(f"link must be a body of the world, got {self.link!r}")
        T = np.asarray(self.pose)
        body.add_camera(
            name=self.name, pos=T[:3, 3], quat=quaternion(T[:3, :3] * [1.0, -1.0, -1.0]),
            fovy=float(np.degrees(self.field_of_view)),
        )  # fmt: skip
