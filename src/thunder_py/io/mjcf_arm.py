"""The chain of a MuJoCo model that ends in one body, with everything fixed to it lumped into its links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..checks import Array
from ..errors import UnknownNameError, nearest_hint
from ..inertia import reg_from_pseudo_inertia
from .mjcf_tree import Tree

__all__ = ["Arm", "assemble"]

_LISTED = 20


@dataclass(eq=False)
class Arm:
    """Joints, in the model's numbers, and for each its placement, its offset and its link.

    Attributes
    ----------
    base, tool : (4, 4) array
        Base in the world, end effector in the last link.
    joints : list of int
        From the base outwards.
    placements, offsets : list of (4, 4) array
        Before and after the motion.
    inertial : (n, 10) array
        REG parameters of the links.
    link_names : list of str
        Of the bodies, empty where one has no name.
    frames : dict
        Link and pose of fixed bodies and sites, by name.
    """

    base: Array
    joints: list[int]
    placements: list[Array] = field(default_factory=list)
    offsets: list[Array] = field(default_factory=list)
    link_names: list[str] = field(default_factory=list)
    inertial: Array = field(default_factory=lambda: np.zeros((0, 10)))
    tool: Array = field(default_factory=lambda: np.eye(4))
    frames: dict[str, tuple[int, Array]] = field(default_factory=dict)


def assemble(tree: Tree, tip_link: str | None, locked: Mapping[int, float]) -> Arm:
    """Return the arm that ends in `tip_link`.

    Raises
    ------
    FileFormatError
        If there is none, or more than one, or it has joints of other kinds.
    UnknownNameError
        If nothing is called so.
    """
    tip, site = _tip(tree, tip_link, locked)
    path = _path(tree, tip)
    joints = [j for body in path for j in tree.joints_of(body) if j not in locked]
    if not joints:
        raise tree.error(f"no joint moves between the world and {tree.body_name(tip)!r}: the chain is empty")
    for j in joints:
        if not tree.is_simple(j):
            raise tree.error("ball and free joints are not supported", f"joint {tree.joint_name(j)!r}")
    return _Builder(tree, path, joints, locked).arm(tip, site)


def _path(tree: Tree, body: int) -> list[int]:
    """Bodies from the world's child down to `body`."""
    path: list[int] = []
    while body > 0:
        path.append(body)
        body = int(tree.model.body_parentid[body])
    return path[::-1]


def _tip(tree: Tree, tip_link: str | None, locked: Mapping[int, float]) -> tuple[int, int | None]:
    """Return the body, and the site if it is one, that is the end effector."""
    bodies = {tree.body_name(b): b for b in range(1, tree.model.nbody)}
    sites = {tree.site_name(s): s for s in range(tree.model.nsite)}
    if tip_link is not None:
        if tip_link in bodies:
            return bodies[tip_link], None
        if tip_link in sites and tip_link:
            return int(tree.model.site_bodyid[sites[tip_link]]), sites[tip_link]
        known = [name for name in (*bodies, *sites) if name]
        raise UnknownNameError(f"tip_link: there is no body or site {tip_link!r}{nearest_hint(str(tip_link), known)}")
    if "tool" in sites:
        return int(tree.model.site_bodyid[sites["tool"]]), sites["tool"]
    leaves = [b for b in range(1, tree.model.nbody) if not tree.children[b] and _is_moved(tree, b, locked)]
    if not leaves:
        raise tree.error("no joint moves: there is no arm")
    if len(leaves) > 1:
        some = ", ".join(repr(tree.body_name(b)) for b in leaves[:_LISTED])
        raise tree.error(f"{len(leaves)} bodies could be the tip; pass one of them as tip_link: {some}")
    return leaves[0], None


def _is_moved(tree: Tree, body: int, locked: Mapping[int, float]) -> bool:
    return any(j not in locked for b in _path(tree, body) for j in tree.joints_of(b))


class _Builder:
    """Walks the tree once: every body is the base, a link, or fixed to one of these."""

    def __init__(self, tree: Tree, path: list[int], joints: list[int], locked: Mapping[int, float]) -> None:
        self.tree, self.path, self.locked = tree, set(path), locked
        first = int(tree.model.jnt_bodyid[joints[0]])
        carrier = int(tree.model.body_parentid[first])
        base = np.eye(4)
        for body in _path(tree, carrier):
            base = base @ self._fixed(body)
        self._arm = Arm(base=base, joints=joints)
        self._inertia = [np.zeros((4, 4)) for _ in range(len(joints) + 1)]
        # link number and pose in the link of each body that takes part
        self._places: dict[int, tuple[int, Array]] = {carrier: (0, np.eye(4))}
        self._walk(carrier)

    def arm(self, tip: int, site: int | None) -> Arm:
        """Return the arm; the end effector is a body or a site."""
        arm, tree = self._arm, self.tree
        T = self._places[tip][1]
        arm.tool = T if site is None else T @ tree.site_pose(site)
        arm.inertial = reg_from_pseudo_inertia(np.array(self._inertia[1:]))
        self._frames(tip, site)
        return arm

    def _fixed(self, body: int) -> Array:
        """Pose of a body in its parent, its joints locked."""
        T = self.tree.pose(body)
        for j in self.tree.joints_of(body):
            T = T @ self.tree.motion(j, self.locked[j])
        return T

    def _walk(self, carrier: int) -> None:
        waiting = [carrier]
        while waiting:
            parent = waiting.pop()
            for body in self.tree.children[parent]:
                if self._place(body, parent):
                    waiting.append(body)

    def _place(self, body: int, parent: int) -> bool:
        """Make a body a link, or fix it to that of its parent; tell whether it takes part in the arm."""
        tree, (link, T) = self.tree, self._places[parent]
        joints = tree.joints_of(body)
        if all(j in self.locked for j in joints):
            link, T = link, T @ self._fixed(body)
        elif body in self.path:
            link, T = self._links(body, link, T), np.eye(4)
        elif link == 0:
            return False  # another arm on the same base
        else:
            loose = ", ".join(f"{tree.joint_name(j)!r}: 0.0" for j in joints)
            raise tree.error(
                f"moves off the chain, on a branch that the arm carries; a serial arm needs it locked: "
                f"fix_joints={{{loose}}}, at positions of your choice",
                f"body {tree.body_name(body)!r}",
            )
        self._places[body] = (link, T)
        self._inertia[link] = self._inertia[link] + T @ tree.inertia(body) @ T.T
        return True

    def _links(self, body: int, link: int, T: Array) -> int:
        """Add a link for each joint of a body; all but the last are massless."""
        tree, arm, before = self.tree, self._arm, T @ self.tree.pose(body)
        for j in tree.joints_of(body):
            if j in self.locked:
                if link > 0 and arm.joints[link - 1] in tree.joints_of(body):
                    arm.offsets[-1] = arm.offsets[-1] @ tree.motion(j, self.locked[j])
                else:
                    before = before @ tree.motion(j, self.locked[j])
                continue
            anchor = np.eye(4)
            if not tree.slides(j):
                anchor[:3, 3] = tree.model.jnt_pos[j]
            back = np.eye(4)
            back[:3, 3] = -anchor[:3, 3]
            arm.placements.append(before @ tree.motion(j, 0.0) @ anchor)
            arm.offsets.append(back)
            link += 1
            name = tree.body_name(body)
            last = j == [k for k in tree.joints_of(body) if k not in self.locked][-1]
            arm.link_names.append(name if last else f"{name}_{tree.joint_name(j)}" if name else "")
            before = np.eye(4)
        return link

    def _frames(self, tip: int, site: int | None) -> None:
        """Keep fixed bodies and sites as frames; of two of one name the body stays."""
        arm, tree = self._arm, self.tree
        own = set(arm.link_names)
        for body, (link, T) in self._places.items():
            name = tree.body_name(body)
            at_base = link == 0 and np.array_equal(T, np.eye(4))
            if name and name not in own and not (name == "base" and at_base) and body != 0:
                arm.frames[name] = (link, T)
        for s in range(tree.model.nsite):
            name, body = tree.site_name(s), int(tree.model.site_bodyid[s])
            if not name or body not in self._places or name in own or (name == "tool" and s == site):
                continue
            link, T = self._places[body]
            arm.frames.setdefault(name, (link, T @ tree.site_pose(s)))
