"""Robots as MJCF."""

from __future__ import annotations

from ..io.mjcf_writer import write_mjcf
from ..robot import Robot

__all__ = ["to_mjcf"]


def to_mjcf(robot: Robot, *, lossy: bool = False) -> str:
    """Return a robot as the text of an MJCF file, as ``robot.save("robot.xml")`` writes it.

    Bodies have the names of links, joints and actuators (torques) those of joints, sites those of frames; the end
    effector is the site ``tool`` and the base the body ``base``. Shapes have no mass and touch nothing.

    Parameters
    ----------
    robot : Robot
        Any whose links MuJoCo can take, see `thunder_py.io.mjcf_writer`.
    lossy : bool
        Whether to write a robot some of whose behaviour MJCF cannot hold (elastic joints, friction of other kinds than
        viscous, rotors that couple to carriers which turn in space); comments in the text say what is missing.

    Returns
    -------
    str
        For ``mujoco.MjModel.from_xml_string``. MuJoCo itself is not needed to write it.

    Raises
    ------
    ModelError
        If something would be lost and `lossy` is not set, or a link is no body.
    """
    return write_mjcf(robot, lossy=lossy)
