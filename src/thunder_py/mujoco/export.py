"""Export of robots as MJCF."""

from __future__ import annotations

from ..io.mjcf_writer import write_mjcf
from ..robot import Robot


def to_mjcf(robot: Robot, *, lossy: bool = False) -> str:
    """Return a robot as the text of an MJCF file, as ``robot.save("robot.xml")`` writes it.

    Bodies have the names of links, joints and actuators (torques) those of joints, sites those of frames; the end
    effector is the site ``tool`` and the base the body ``base``. The motor of an elastic joint is a joint
    ``<joint>_motor`` of a body without mass, and its spring a tendon. Shapes have no mass and no contacts.

    Parameters
    ----------
    robot : Robot
        Robot with links that MuJoCo accepts, see `thunder_py.io.mjcf_writer`.
    lossy : bool
        Whether to write a robot with properties that MJCF does not support (friction of other kinds than viscous,
        springs and dampers of higher than third order, rotors that couple to carriers which turn in space); comments
        in the text list the losses.

    Returns
    -------
    str
        Text for ``mujoco.MjModel.from_xml_string``. MuJoCo is not needed to write it.

    Raises
    ------
    ThunderError
        If something would be lost and `lossy` is not set, or a link is not physically consistent.

    Examples
    --------
    >>> import mujoco
    >>> import thunder_py as th
    >>> from thunder_py.mujoco import to_mjcf
    >>> model = mujoco.MjModel.from_xml_string(to_mjcf(th.Robot.load("panda")))
    >>> model.nv, model.body("link7").name
    (7, 'link7')
    """
    return write_mjcf(robot, lossy=lossy)
