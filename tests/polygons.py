"""Corners of the polygons that matplotlib draws in space, which it keeps under a name of each version."""

from typing import Any

import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection


def corners(drawn: Poly3DCollection) -> Any:
    """Return (polygons, corners, 3) coordinates, for polygons with equally many corners."""
    faces = getattr(drawn, "_faces", None)
    return np.asarray(faces if faces is not None else [drawn._vec[:3, part].T for part in drawn._segslices])
