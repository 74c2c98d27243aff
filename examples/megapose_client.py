"""Ask a MegaPose server for an object's pose: ``python examples/megapose_client.py picture.png cube 200 120 380 300``.

The numbers are the box that the object is in: left, top, right, bottom [pixel]. The server is ViSP's; it runs where a
graphics card and models of the objects are, for instance ``python -m megapose_server.run --meshes-directory models``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import matplotlib.image
import numpy as np

from thunder_py.perception import MegaPoseClient, PinholeCamera, PoseServerError


def main(arguments: Sequence[str] | None = None) -> np.ndarray | None:
    """Print what the server knows and where it sees the object; return its pose in the camera's frame."""
    parser = argparse.ArgumentParser(description="Ask a MegaPose server for the pose of an object.")
    parser.add_argument("picture")
    parser.add_argument("label")
    parser.add_argument("box", type=float, nargs=4, metavar="PIXEL", help="left, top, right, bottom")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5555)
    parser.add_argument("--view", type=float, default=60.0, help="of the camera, from left to right [deg]")
    parser.add_argument("--timeout", type=float, default=30.0, help="[s]")
    if arguments is None and len(sys.argv) == 1:
        parser.print_help()
        return None
    given = parser.parse_args(arguments)

    picture = np.round(255.0 * matplotlib.image.imread(given.picture)[..., :3]).astype(np.uint8)
    height, width = picture.shape[:2]
    camera = PinholeCamera.from_field_of_view(width, height, np.radians(given.view))
    try:
        with MegaPoseClient(camera, host=given.host, port=given.port, timeout=given.timeout) as client:
            print("objects that the server knows:", ", ".join(client.objects()))
            (seen,) = client.poses(picture, [given.label], boxes=[given.box])
            # from a pose that is nearly right it is much faster, so this is how an object is followed
            (again,) = client.poses(picture, [given.label], initial=[seen.pose], refinements=1)
    except PoseServerError as error:
        print(f"no pose: {error}")
        return None
    print(f"{given.label}: score {again.score:.2f}, at {np.round(again.pose[:3, 3], 4)} m from the camera")
    return again.pose


if __name__ == "__main__":
    main()
