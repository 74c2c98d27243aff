"""The arm in a tree of links and joints: one rule of selection for URDF, xacro and MJCF.

A reader gives the links and joints of its file to `Tree`; the numbers of a part are read only when they act on the arm.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..checks import MAX_LABEL, Array, array, check_name, is_label, known_name
from ..errors import FileFormatError, ThunderError, ThunderWarning, nearest_hint, outer_level
from ..model.description import RESERVED_NAMES, without_own_frames
from ..model.inertia import pseudo_inertia, reg_from_pseudo_inertia
from ..spatial.single import exp, make_pose

#: names of end effectors, the first one found is the tip: with any prefix, and with or without one of `_SUFFIXES`
TIPS = (
    *("tool0", "tcp", "ee", "eef", "end_effector", "endeffector", "tool", "tool_center_point", "ee_gripper"),
    *("grasp", "pinch", "attachment", "flange"),
)
_SUFFIXES = re.compile(r"_(link|frame|site|point)$")
_GRIPPER = re.compile(r"grip|finger|jaw|claw|thumb", re.IGNORECASE)
_MOVABLE = ("R", "P")
#: most frames and joints named in a notice
_NAMED = 12
#: most characters of a name in a notice
_LONG = 60


def gripper_joints(joints: Sequence[str]) -> list[str]:
    """Return the last joints of an arm that are named like those of a gripper; none if all joints are.

    Parameters
    ----------
    joints : sequence of str
        Names of the joints, from the base to the tip.

    Returns
    -------
    list of str
        Names at the end of `joints`.

    Examples
    --------
    >>> from thunder_py.io.selection import gripper_joints
    >>> gripper_joints(["shoulder", "elbow", "jointGripper"])
    ['jointGripper']
    """
    first = len(joints)
    while first > 0 and _GRIPPER.search(joints[first - 1]):
        first -= 1
    return list(joints[first:]) if first > 0 else []


def identifier(text: str, default: str = "robot", taken: Collection[str] = ()) -> str:
    """Return the identifier of a name: accents are dropped, other characters become underscores.

    At most 63 characters are kept; an empty name becomes `default`, one that starts with a digit gets ``default_`` in
    front, and a name that is taken gets a number.

    Examples
    --------
    >>> from thunder_py.io.selection import identifier
    >>> identifier("2-link arm é"), identifier("arm", taken=["arm"])
    ('robot_2_link_arm_e', 'arm_2')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"\W+", "_", plain, flags=re.ASCII)
    words = words if words == plain else words.strip("_")
    name = (f"{default}_{words}" if words[:1].isdigit() else words or default)[:63]
    return _numbered(name, taken, 63)


def _numbered(name: str, taken: Collection[str], most: int) -> str:
    """Return a name, with a number if it is taken."""
    chosen, count = name, 2
    while chosen in taken:
        end = f"_{count}"
        chosen, count = name[: most - len(end)] + end, count + 1
    return chosen


def labels(names: Iterable[str], prefix: str = "", taken: Collection[str] = ()) -> list[str]:
    """Return the names of joints, links or frames as labels that differ: as they are where that is possible.

    Characters that no label can have become underscores; repeated names get a number, and reserved names `prefix`.
    """
    found: list[str] = []
    for name in names:
        label = f"{prefix}:{name}" if prefix and name in RESERVED_NAMES else name
        if not is_label(label):
            label = "".join(c if is_label(c) or c == " " else "_" for c in label).strip()[:MAX_LABEL] or "_"
        found.append(_numbered(label, {*found, *taken}, MAX_LABEL))
    return found


def robot_name(written: str, name: str | None) -> str:
    """Return the given name, checked, or the identifier of the name in the file."""
    return identifier(written.strip()) if name is None else check_name(name, "name")


@dataclass(eq=False)
class Link:
    """Store a link: its name, and functions for its inertia and for errors about it.

    Attributes
    ----------
    name : str
        Name in the file.
    read : callable
        Returns the REG parameters (10,), None without an inertia; raises `FileFormatError` for wrong numbers.
    error : callable
        Returns a `FileFormatError` with a message and the place in the file.
    """

    name: str
    read: Callable[[], Array | None]
    error: Callable[[str], FileFormatError]

    @cached_property
    def inertial(self) -> Array | None:
        """REG parameters (10,), None without an inertia."""
        return self.read()

    @property
    def has_mass(self) -> bool:
        """Whether the link has a mass; False where it cannot be read."""
        with suppress(FileFormatError):
            return self.inertial is not None and bool(self.inertial[0] > 0.0)
        return False


@dataclass(eq=False)
class Joint:
    """Store a joint: names, and functions for its geometry and for errors about it.

    Attributes
    ----------
    name : str
        Name in the file.
    kind : str
        ``R``, ``P``, ``fixed``, or the name of an unsupported type.
    parent, child : str
        Links.
    read : callable
        Returns pose (4, 4) of the joint in the parent, unit axis (3,), pose (4, 4) of the child after the motion.
    error : callable
        Returns a `FileFormatError` with a message and the place in the file.
    leader : str or None
        The joint that it follows.
    follow : callable
        Returns its position for a position of the leader.
    check : callable, optional
        Raises `FileFormatError` for wrong values other than the geometry.
    source : object
        The reader's own.
    """

    name: str
    kind: str
    parent: str
    child: str
    read: Callable[[], tuple[Array, Array, Array]]
    error: Callable[[str], FileFormatError]
    leader: str | None = None
    follow: Callable[[float], float] = float
    check: Callable[[], object] | None = None
    source: Any = None

    @cached_property
    def geometry(self) -> tuple[Array, Array, Array]:
        """Pose of the joint in the parent, axis, pose of the child after the motion."""
        return self.read()

    @property
    def step(self) -> float:
        """Distance from the parent's origin; zero where it cannot be read."""
        with suppress(FileFormatError):
            return float(np.linalg.norm(self.geometry[0][:3, 3]))
        return 0.0

    def pose(self, q: float) -> Array:
        """Return the pose (4, 4) of the child in the parent with the joint at `q` [rad or m]."""
        before, axis, after = self.geometry
        if not q:
            return before @ after
        motion = make_pose(np.eye(3), q * axis) if self.kind == "P" else make_pose(exp(q * axis), np.zeros(3))
        return before @ motion @ after


class Arm(NamedTuple):
    """Name an arm in a file: what `Robot.load` takes as ``base_link`` and ``tip_link``, and its joints.

    Attributes
    ----------
    name : str
        What the names of its joints have in common, or the name of the tip.
    base, tip : str
        Links.
    joints : tuple of str
        Names of the joints from base to tip.

    Examples
    --------
    >>> import thunder_py as th
    >>> arm = th.io.Arm("left", "stand", "left_tool0", ("left_turn", "left_lift"))
    >>> print(arm)
    base_link='stand', tip_link='left_tool0'  # 2 joints: left_turn, left_lift
    """

    name: str
    base: str
    tip: str
    joints: tuple[str, ...]

    def __str__(self) -> str:
        some = self.joints if len(self.joints) < 4 else (self.joints[0], "...", self.joints[-1])
        return f"base_link={self.base!r}, tip_link={self.tip!r}  # {_count(self.joints, 'joint')}: {', '.join(some)}"


class MissingInertiaError(FileFormatError):
    """Tell that the inertia of a link is defined elsewhere, and not found."""


class SeveralArmsError(FileFormatError):
    """Tell that a file has several arms, `arms`."""

    def __init__(self, arms: Sequence[Arm], path: str | Path | None, whole: str = "") -> None:
        lines = "".join(f"\n  {arm}" for arm in arms)
        super().__init__(f"has {len(arms)} arms, pass one of these:{lines}{whole}", path=path)
        self.arms, self.whole = tuple(arms), whole


@dataclass(eq=False)
class Chain:
    """Store what acts on an arm: joints, body and pose of each of its links, links that follow its joints."""

    base: str
    tip: str
    joints: list[Joint]
    locked: dict[str, float]
    places: dict[str, tuple[int, Array]]
    placements: Array
    offsets: Array
    held: set[str]


class Tree:
    """Connect links and joints, and select the arm.

    Joints that do not fit into a tree are left out; they are errors only if no arm is left or they act on it.

    Parameters
    ----------
    error : callable
        Returns a `FileFormatError` about the whole file.
    path : path-like or None
        Path for messages.
    prefix : str
        Prefix of reserved names.
    carrier : bool
        Put the base where the first joint is carried, unless a base is given.
    """

    def __init__(
        self, error: Callable[[str], FileFormatError], path: str | Path | None, prefix: str, *, carrier: bool = False
    ) -> None:
        self.error, self.path, self.prefix, self._carrier = error, path, prefix, carrier
        #: links that do not become frames
        self.hidden: set[str] = set()
        self.links: dict[str, Link] = {}
        self.joints: dict[str, Joint] = {}
        self.above: dict[str, Joint] = {}
        self.below: dict[str, list[Joint]] = {}
        #: defects of parts that are left out, and the links next to them
        self.lost: list[tuple[FileFormatError, str | None, str | None]] = []
        #: defects of joints that may move, by the link below them, None if that is unknown
        self.cut: dict[str | None, FileFormatError] = {}
        #: what the user is told in one warning
        self.notes: list[str] = []

    def add_link(self, link: Link) -> None:
        """Add a link; all links come before the joints."""
        if link.name in self.links:
            self.lost.append((link.error("name is taken by another link"), link.name, None))
        else:
            self.links[link.name], self.below[link.name] = link, []

    def add_joint(self, joint: Joint) -> None:
        """Add a joint if it fits into a tree."""
        reason = ""
        for end in ("parent", "child"):
            if (name := getattr(joint, end)) not in self.links:
                reason = reason or f"{end}: there is no link {name!r}{nearest_hint(name, self.links)}"
        if joint.child in self.above:
            other = self.above[joint.child].name
            reason = f"link {joint.child!r} is the child of joint {other!r}: closed loops are not supported"
        elif not reason and joint.child in self._above_of(joint.parent):
            reason = f"links form a loop through {joint.child!r}"
        if reason:
            self._lose(joint.error(reason), joint.parent, joint.child, joint.kind != "fixed")
            return
        written, joint.name = joint.name, _numbered(joint.name, self.joints, MAX_LABEL)
        if joint.name != written and joint.kind != "fixed":
            self.notes.append(f"two joints are called {_short(written)}: the later one becomes {_short(joint.name)}")
        self.joints[joint.name] = self.above[joint.child] = joint
        self.below[joint.parent].append(joint)

    def _lose(self, error: FileFormatError, parent: str | None, child: str | None, moves: bool) -> None:
        self.lost.append((error, parent, child))
        if moves:
            self.cut[child if child in self.links else None] = error

    @contextmanager
    def collecting(self, parent: str | None = None, child: str | None = None, *, moves: bool = False) -> Iterator[None]:
        """Take the error of a part between two links that is left out for a defect."""
        try:
            yield
        except FileFormatError as error:
            self._lose(error, parent, child, moves)

    def links_below(self, base: str) -> Iterator[str]:
        """Yield the names of `base` and of all links below it, parents first."""
        waiting = [base]
        while waiting:
            name = waiting.pop()
            yield name
            waiting.extend(joint.child for joint in reversed(self.below[name]))

    def _moving_below(self, link: str, locked: Mapping[str, float]) -> list[Joint]:
        """Return the first moving joints below a link."""
        found, waiting = [], [link]
        while waiting:
            for joint in self.below[waiting.pop(0)]:
                if joint.kind == "fixed" or joint.name in locked:
                    waiting.append(joint.child)
                else:
                    found.append(joint)
        return found

    def _joints_below(self, joint: Joint, locked: Mapping[str, float]) -> list[Joint]:
        """Return a moving joint and all moving joints below it."""
        links = self.links_below(joint.child)
        return [joint] + [j for link in links for j in self.below[link] if j.kind != "fixed" and j.name not in locked]

    def positions(
        self, fix_joints: Mapping[str, float] | None, names: Collection[str] | None = None
    ) -> dict[str, float]:
        """Return the positions of locked joints and of those that follow them, or raise an error for other names."""
        if not isinstance(fix_joints, Mapping | None):
            raise ThunderError(f"fix_joints must map joint names to positions, got {fix_joints!r}")
        known = self.joints if names is None else names
        for name in fix_joints or ():
            known_name(name, known, "fix_joints: there is no joint")
            if (kind := self.joints[name].kind) not in _MOVABLE:
                raise ThunderError(f"fix_joints: joint {name!r} is {kind}; only revolute and prismatic can be locked")
        locked = {name: float(array(q, (), f"fix_joints[{name!r}]")) for name, q in (fix_joints or {}).items()}
        return self._followed(locked)

    def _leader(self, joint: Joint) -> Joint:
        """Return the independent joint that a joint follows, by default itself, or raise an error if there is none."""
        seen = [joint]
        while (name := seen[-1].leader) is not None:
            if name not in self.joints:
                raise seen[-1].error(f"follows {name!r} (mimic), which does not exist{nearest_hint(name, self.joints)}")
            if self.joints[name] in seen:
                raise seen[-1].error(f"follows {name!r} (mimic): it follows itself")
            seen.append(self.joints[name])
        return seen[-1]

    def _followed(self, locked: dict[str, float]) -> dict[str, float]:
        """Add the joints that follow locked ones."""
        waiting = list(locked)
        followers = [joint for joint in self.joints.values() if joint.leader is not None]
        while waiting:
            leader = waiting.pop()
            for joint in followers:
                if joint.leader == leader and joint.name not in locked:
                    locked[joint.name] = joint.follow(locked[leader])
                    waiting.append(joint.name)
        return locked

    # --- the rule -----------------------------------------------------------------------------------------------------

    def _sides(self, chain: Sequence[Joint], locked: Mapping[str, float]) -> tuple[list[Joint], list[Joint]]:
        """Return the moving joints behind a chain, without branches that only follow others, and those of a gripper."""
        branches = {
            joint.name: self._joints_below(joint, locked) for joint in self._moving_below(chain[-1].child, locked)
        }
        inside = {joint.name for branch in branches.values() for joint in branch}
        fingers = [
            branch
            for branch in branches.values()
            if any(joint.leader is None or joint.leader in inside for joint in branch)
        ]
        length = sum(joint.step for joint in self._between(chain[0].child, chain[-1].child))
        if len(fingers) > 1 and all(self._is_finger(branch, len(chain), length) for branch in fingers):
            return [branch[0] for branch in fingers], [joint for branch in fingers for joint in branch]
        names = [joint.name for joint in chain]
        for branch in branches.values() if len(branches) == 1 else ():
            if branch[0].name in {joint.leader for joint in branch} and inside <= {*gripper_joints([*names, *inside])}:
                return [branch[0]], branch
        free = [branch for branch in branches.values() if any(joint.leader is None for joint in branch)]
        return [branch[0] for branch in (branches.values() if len(branches) == 1 else free)], []

    def _is_finger(self, branch: Sequence[Joint], count: int, length: float) -> bool:
        """Return whether a branch has fewer joints than its arm and at most half of its length."""
        for joint in branch:
            path = self._between(branch[0].child, joint.child)
            if sum(step.kind != "fixed" for step in path) + 1 >= count or 2.0 * sum(j.step for j in path) > length:
                return False
        return all(joint.kind in _MOVABLE for joint in branch)

    def _between(self, base: str, tip: str) -> list[Joint]:
        """Return the joints from link `base` to link `tip` below it."""
        joints: list[Joint] = []
        while tip != base:
            joints.append(self.above[tip])
            tip = joints[-1].parent
        return joints[::-1]

    def find(self, base: str | None, locked: Mapping[str, float]) -> tuple[list[Arm], list[FileFormatError]]:
        """Return the arms above a base, by default those of the file, and why further chains are none."""
        found: list[tuple[str, list[Joint]]] = []
        refused: list[FileFormatError] = []
        roots = [name for name in self.links if name not in self.above]
        for name in (*roots, None) if base is None else ():
            if name in self.cut and (name is not None or len(roots) > 1):
                raise self.cut[name]
        below = set() if base is None else {*self.links_below(base)}
        for error, parent, child in self.lost if base is not None else ():
            if error in self.cut.values() and parent not in self.links and child not in below:
                raise error  # it may be a joint of the arm
        waiting, carried = roots if base is None else [base], set[str]()
        while waiting:
            start = waiting.pop(0)
            for first in self._moving_below(start, locked):
                if first.kind not in _MOVABLE:
                    refused.append(self._unsupported(first))
                    if start in carried:
                        raise refused[-1]
                    if base is None and not self._defect(first):
                        waiting.append(first.child)
                elif first.leader is None:
                    chain, end = self._chain(first, locked)
                    if end is None:
                        found.append((start, chain))
                    elif isinstance(end, str):
                        waiting.append(end)
                        carried.add(end)
                    else:
                        refused.append(end)
                else:
                    refused.append(self._coupled(first))
        names: list[str] = []
        arms = []
        for start, chain in found:
            tip, joints = self._tip(chain[-1].child), tuple(joint.name for joint in chain)
            names.append(_numbered(_common(joints) or tip, names, MAX_LABEL))
            arms.append(Arm(names[-1], start, tip, joints))
        return arms, refused

    def _chain(self, first: Joint, locked: Mapping[str, float]) -> tuple[list[Joint], str | FileFormatError | None]:
        """Return the joints from `first` on, and the link where the chain branches, why it is no arm, or None."""
        chain = [first]
        while True:
            own, gripper = self._sides(chain, locked)
            if not own or gripper:
                return chain, self._astray(chain, locked)
            if len(own) > 1 or own[0].kind not in _MOVABLE:
                return chain, chain[-1].child
            if own[0].leader is not None:
                inside = [*chain, *self._joints_below(own[0], locked)]
                if own[0].leader in {joint.name for joint in inside}:
                    return chain, self._coupled(own[0])
                return chain, self._astray(chain, locked)
            chain.append(own[0])

    def _astray(self, chain: Sequence[Joint], locked: Mapping[str, float]) -> FileFormatError | None:
        """Return why a joint that moves with a chain follows none."""
        try:
            for joint in self._joints_below(chain[0], locked):
                self._leader(joint)
        except FileFormatError as error:
            return error
        return None

    def _defect(self, joint: Joint) -> FileFormatError | None:
        """Return what is wrong with the geometry of a joint, if anything."""
        try:
            joint.geometry  # noqa: B018
        except FileFormatError as error:
            return error
        return None

    def _unsupported(self, joint: Joint) -> FileFormatError:
        if error := self._defect(joint):  # no type at all
            return error
        way_out = f"if the arm starts below it, pass base_link={joint.child!r}"
        return joint.error(f"{joint.kind} joints are not supported; {way_out}")

    def _coupled(self, joint: Joint) -> FileFormatError:
        try:
            leader = self._leader(joint).name
        except FileFormatError as error:
            return error
        if leader in {j.name for link in self.links_below(joint.child) for j in self.below[link]}:
            return joint.error(f"follows joint {leader!r} (mimic), which it carries")
        return joint.error(
            f"follows joint {joint.leader!r} (mimic): a serial arm has independent joints, and a lock would change it"
        )

    def _tip(self, link: str) -> str:
        """Return the end effector among the links fixed to a link: the first of `TIPS`, or the last one with mass."""
        return self._tips(link)[0]

    def _tips(self, link: str) -> list[str]:
        """Return the end effector, and what else may be one: other `TIPS`, or the last links where there are none."""
        fixed, waiting = [], [link]
        while waiting:
            fixed.append(waiting.pop(0))
            waiting += [joint.child for joint in self.below[fixed[-1]] if joint.kind == "fixed"]
        ranks = {name: rank for name in fixed if (rank := _rank(name)) is not None}
        if ranks:
            return sorted(ranks, key=lambda name: (ranks[name], not name.startswith("robot:"), len(name)))
        heavy = next((name for name in reversed(fixed) if self.links[name].has_mass), link)
        return [heavy, *(name for name in fixed if not self.below[name] and name != heavy)]

    # --- the arm ------------------------------------------------------------------------------------------------------

    def select(self, base: str | None, tip: str | None, locked: dict[str, float]) -> Chain:
        """Return the arm between two links, or the only arm.

        Raises
        ------
        FileFormatError
            If there is no arm, several arms, or joints that move with it and are no gripper.
        UnknownNameError
            If there is no such link.
        """
        for what, name in (("base_link", base), ("tip_link", tip)):
            if name is not None:
                if not isinstance(name, str):
                    raise ThunderError(f"{what} must be the name of a link, got {name!r}")
                known_name(name, self.links, f"{what}: there is no link")
        given = base
        if tip is None:
            for leader, joint in ((self.joints[name].leader, name) for name in locked):
                if leader in self.joints and leader not in locked:  # it would become a joint of the arm
                    raise ThunderError(f"fix_joints: joint {joint!r} follows {leader!r} (mimic): lock {leader!r}")
            arms, refused = self.find(base, locked)
            if len(arms) > 1:
                raise SeveralArmsError(arms, self.path, self._whole(base, arms, locked))
            if not arms:
                raise self._none(refused)
            base, tip = arms[0].base, arms[0].tip
            mobile = [j for j in self._between(self._root(base), base) if j.kind not in ("fixed", *_MOVABLE)]
            if mobile and given is None:
                what = ", ".join(f"{j.kind} joint {_short(j.name)}" for j in mobile)
                self.notes.append(f"the base {_short(base)} is at rest: {what} left out")
        start = self._root(tip) if base is None else base
        joints = self._moving(start, tip, locked)
        start = joints[0].parent if self._carrier and given is None else start
        _, gripper = self._sides(joints, locked)
        if gripper:
            locked = self._followed({**locked, **{j.name: 0.0 for j in gripper if j.leader is None}})
            locked = {**{joint.name: 0.0 for joint in gripper}, **locked}
            self.notes.append(
                f"the gripper is locked at zero: {_some(joint.name for joint in gripper)}; others by fix_joints"
            )
        return self._assemble(start, tip, joints, locked)

    def _whole(self, base: str | None, arms: Sequence[Arm], locked: dict[str, float]) -> str:
        """Return the longest chain with its side branches locked, if they are shorter, for a message."""
        tip = max(arms, key=lambda arm: len(arm.joints)).tip
        start = self._root(tip) if base is None else base
        with suppress(FileFormatError):
            path = self._moving(start, tip, locked)
            skip = [*path, *self._sides(path, locked)[1]]
            side = [j.name for j in self._joints_below(path[0], locked) if j not in skip and j.leader is None]
            if 0 < len(side) < len(path):
                locks = ", ".join(f"{name!r}: 0.0" for name in side)
                joints = tuple(joint.name for joint in path)
                whole = str(Arm("", start, tip, joints)).replace("  #", f", fix_joints={{{locks}}}  #")
                return f"\nor the longest chain, with what it carries locked:\n  {whole}"
        return ""

    def _none(self, refused: Sequence[FileFormatError]) -> FileFormatError:
        """Return the error for a file without an arm: the first defect of a moving joint, if there is one."""
        for error in (*(lost[0] for lost in self.lost), *refused):
            return error
        return self.error("no joint moves: there is no arm" if self.links else "has no links")

    def _moving(self, base: str, tip: str, locked: Mapping[str, float]) -> list[Joint]:
        """Return the moving joints between two links."""
        if base not in self._above_of(tip):
            self._raise_lost([self._root(tip)])
            raise self.links[tip].error(f"the tip is not below the base link {base!r}")
        path = [joint for joint in self._between(base, tip) if joint.kind != "fixed" and joint.name not in locked]
        if not path:
            raise self.links[tip].error(f"no joint moves between {base!r} and this link: the chain is empty")
        for joint in path:
            if joint.kind not in _MOVABLE:
                raise self._unsupported(joint)
            if joint.leader is not None:
                raise self._coupled(joint)
        return path

    def _raise_lost(self, links: Collection[str | None]) -> None:
        """Raise the first defect next to one of the links."""
        for error, *ends in self.lost:
            if any(end in links for end in ends if end is not None):
                raise error

    def _above_of(self, link: str) -> Iterator[str]:
        yield link
        while link in self.above:
            link = self.above[link].parent
            yield link

    def _root(self, link: str) -> str:
        """Return the link that carries a link and is carried by none."""
        return [*self._above_of(link)][-1]

    def _assemble(self, base: str, tip: str, joints: list[Joint], locked: dict[str, float]) -> Chain:
        """Assign the links to bodies: 0 is the base, body k moves with the k-th joint of the chain."""
        number = {joint.name: k for k, joint in enumerate(joints, start=1)}
        places: dict[str, tuple[int, Array]] = {base: (0, np.eye(4))}
        placements, loose, following = [np.eye(4)] * len(joints), [], []
        follow, path = self._followed({**locked, **dict.fromkeys(number, 0.0)}), {*self._above_of(tip)}
        for link in self.links_below(base):
            if link not in places:
                continue  # on another branch from the base: no influence on the arm's dynamics
            body, pose = places[link]
            for joint in self.below[link]:
                if joint.name in number:
                    placements[number[joint.name] - 1] = pose @ joint.geometry[0]
                    places[joint.child] = (number[joint.name], np.eye(4))
                elif joint.kind == "fixed" or joint.name in locked:
                    if body > 0 or joint.child in path or not self._defect(joint):
                        places[joint.child] = (body, pose @ joint.pose(locked.get(joint.name, 0.0)))
                elif body > 0 and joint.name in follow:
                    places[joint.child] = (body, pose @ joint.pose(follow[joint.name]))
                    following.append(joint)
                elif body > 0:
                    loose += self._joints_below(joint, locked)
        if loose:
            raise self._loose(loose, tip)
        self._raise_lost([name for name, (body, _) in places.items() if body > 0])
        held = {name: None for joint in following for name in self.links_below(joint.child)}
        if following:
            heavy = "held at zero, with their mass, and " if any(self.links[name].has_mass for name in held) else ""
            self.notes.append(f"links that follow joints of the arm (mimic) are {heavy}no frames: {_some(held)}")
        after = np.array([joint.geometry[2] for joint in joints])
        return Chain(base, tip, joints, locked, places, np.array(placements), after, {*held})

    def _loose(self, loose: Sequence[Joint], tip: str) -> FileFormatError:
        for joint in loose:
            if joint.kind not in _MOVABLE:
                return joint.error(f"{joint.kind} joints are not supported, and this one is carried by the arm")
        settings = ", ".join(dict.fromkeys(f"{self._leader(joint).name!r}: 0.0" for joint in loose))
        return loose[0].error(
            f"moves off the chain to {tip!r}, on a branch that the arm carries; a serial arm needs it locked: "
            f"fix_joints={{{settings}}}, at positions of your choice"
        )

    def world(self, chain: Chain) -> Array:
        """Return the pose (4, 4) of the base in the root, with the joints between them at zero or locked."""
        T = np.eye(4)
        for joint in self._between(self._root(chain.base), chain.base):
            T = T @ joint.pose(chain.locked.get(joint.name, 0.0))
        return T

    def inertial(self, chain: Chain, missing: str | None) -> Array:
        """Return the REG rows (n, 10) of the bodies: sums over their links in the body's frame.

        Raises
        ------
        FileFormatError
            If `missing` is ``"error"`` and a body has no inertia.
        """
        unknown: list[MissingInertiaError] = []
        found: list[tuple[int, Array, Array]] = []
        for name, (body, T) in chain.places.items():
            try:
                inertial = self.links[name].inertial if body else None
            except MissingInertiaError as error:
                inertial = None
                unknown.append(error)
            if inertial is not None:
                found.append((body, T, inertial))
        total, known = np.zeros((len(chain.joints) + 1, 10)), {0, *(body for body, _, _ in found)}
        poses = np.array([T for _, T, _ in found]).reshape(-1, 4, 4)
        own = np.array([row for _, _, row in found]).reshape(-1, 10)
        moved = reg_from_pseudo_inertia(poses @ pseudo_inertia(own) @ poses.swapaxes(1, 2))
        still = (poses == np.eye(4)).all(axis=(1, 2))  # there the file's numbers stay exact
        for (body, _, _), row in zip(found, np.where(still[:, None], own, moved), strict=True):
            total[body] += row
        if unknown and missing == "error":
            raise unknown[0]
        if unknown and missing is None:
            self.notes.append(f"{_count(unknown, 'massless link')}, such as {self._place(unknown[0])}")
        without = [joint for body, joint in enumerate(chain.joints, start=1) if body not in known]
        if without and missing == "error":
            raise self.links[without[0].child].error(
                f"moves with joint {without[0].name!r} but neither it nor a link fixed to it has an <inertial>; "
                "add one, or pass missing_inertia='zero' to treat it as massless"
            )
        if without and missing is None:
            links = _some(joint.child for joint in without)
            self.notes.append(f"links without inertia are massless, which is enough for kinematics only: {links}")
        return total[1:]

    def named(self, chain: Chain) -> dict[str, Any]:
        """Return the fields of a description that every format has in common."""
        children = [joint.child for joint in chain.joints]
        names = [joint.name for joint in chain.joints]
        links, joints = labels(children, self.prefix), labels(names, self.prefix)
        for name, label in zip([*children, *names], [*links, *joints], strict=True):
            if name in RESERVED_NAMES:
                self.notes.append(f"{name!r} is a reserved name: the joint or link is called {label!r}")
            elif name != label:
                self.notes.append(f"{_short(name)} is no label or taken: it is called {_short(label)}")
        hidden = {*self.hidden, *children, *chain.held}
        others = {name: place for name, place in chain.places.items() if name not in hidden}
        frames = without_own_frames(others, set(links), chain.tip)
        return {
            "joint_types": "".join(joint.kind for joint in chain.joints),
            "placements": chain.placements,
            "axes": np.array([joint.geometry[1] for joint in chain.joints]),
            "offsets": chain.offsets,
            "tool": chain.places[chain.tip][1],
            "joint_names": tuple(joints),
            "link_names": tuple(links),
            "frames": dict(zip(labels(frames, taken=links), frames.values(), strict=True)),
        }

    def tell(self, chain: Chain, chosen: bool) -> None:
        """Warn once of everything that the user should know; `chosen` tells that the user has chosen the tip."""
        names = [joint.name for joint in chain.joints]
        others = [] if chosen else self._tips(chain.joints[-1].child)[1:]
        if others := [name for name in others if name not in self._above_of(chain.tip) and name not in self.hidden]:
            self.notes.append(f"the tip is {_short(chain.tip)}, pass tip_link= for another: {_some(others)}")
        if not chosen and (gripper := gripper_joints(names)):
            locked = ", ".join(f"{name!r}: 0.0" for name in gripper)
            self.notes.append(
                f"the gripper is part of the arm: {_some(gripper)} of {len(names)} joints; lock it with "
                f"fix_joints={{{locked}}}, or keep it with tip_link={chain.tip!r}"
            )
        defects = [*(lost[0] for lost in self.lost), *([] if self._carrier else self._elsewhere(chain))]
        if defects:
            what = _count(defects, "defect")
            self.notes.append(f"{what} without effect on the arm, such as {self._place(defects[0])}")
        if self.notes:
            text = f"{'' if self.path is None else f'{self.path}: '}{'; '.join(self.notes)}"
            warnings.warn(text, ThunderWarning, stacklevel=outer_level())

    def _place(self, error: FileFormatError) -> str:
        """Return a message without the path."""
        text = str(error).removeprefix(f"{self.path}:").strip()
        return text if text == str(error) or error.line is None else f"line {text}"

    def _elsewhere(self, chain: Chain) -> Iterator[FileFormatError]:
        """Yield the defects of parts that do not act on the arm."""
        root = self._root(chain.base)
        for name, link in self.links.items():
            if name not in self.above and name != root:
                yield link.error(f"is not connected to {root!r}")
            try:
                if not chain.places.get(name, (0,))[0]:
                    link.inertial  # noqa: B018
                if (joint := self.above.get(name)) is not None and joint not in chain.joints:
                    joint.geometry  # noqa: B018
                    _ = joint.check and joint.check()
                    self._leader(joint)
            except FileFormatError as error:
                yield error


def _short(name: str) -> str:
    return repr(name if len(name) <= _LONG else f"{name[:_LONG]}...")


def _count(found: Sequence[object], what: str) -> str:
    return f"{len(found)} {what}{'s' if len(found) > 1 else ''}"


def _some(names: Iterable[str]) -> str:
    """Return the first names of a list."""
    all_names = [_short(name) for name in names]
    return ", ".join(all_names[:_NAMED]) + (f" and {len(all_names) - _NAMED} more" if len(all_names) > _NAMED else "")


def _rank(name: str) -> int | None:
    """Return the place of a name in `TIPS`, None for other names."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    words = _SUFFIXES.sub("", re.sub(r"[^a-z0-9]+", "_", split.lower()))
    ranks = (rank for rank, tip in enumerate(TIPS) if words == tip or words.endswith(f"_{tip}"))
    return next(ranks, None)


def _common(names: Sequence[str]) -> str:
    """Return the words at the start that all names have in common."""
    words = [re.split(r"[^A-Za-z0-9]+", name.removesuffix("_joint")) for name in names]
    common: list[str] = []
    for column in zip(*words, strict=False):
        if len(set(column)) > 1:
            break
        common.append(column[0])
    text = re.sub(r"(^|_)(joint|link)$", "", "_".join(common), flags=re.IGNORECASE).strip("_")
    return text if len(text) > 1 else ""
