"""The arm in a tree of links and joints: one rule of selection for URDF, xacro and MJCF.

A reader gives the links and joints of its file to `Tree`; the numbers of a part are read only when they act on the arm.
"""

from __future__ import annotations

import logging
import re
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..checks import MAX_LABEL, Array, array, check_name, is_label, known_name, one_of
from ..errors import FileFormatError, ThunderError, ThunderWarning, nearest_hint, outer_level
from ..model.description import RESERVED_NAMES, Friction, RobotDescription, without_own_frames
from ..model.inertia import pseudo_inertia, reg_from_dyn, reg_from_pseudo_inertia
from ..spatial.single import exp, make_pose

_LOG = logging.getLogger(__name__)

#: names of end effectors, the first one found is the tip: with any prefix, and with or without one of `_SUFFIXES`
TIPS = (
    *("tool0", "tcp", "ee", "eef", "end_effector", "endeffector", "tool", "tool_center_point", "ee_gripper"),
    *("grasp", "pinch", "attachment", "flange"),
)
_SUFFIXES = re.compile(r"_(link|frame|site|point)$")
_GRIPPER = re.compile(r"grip|finger|jaw|claw|thumb", re.IGNORECASE)
_MOVABLE = ("R", "P")
_UPPER = np.triu_indices(3)
#: most frames and joints named in a notice
_NAMED = 12
#: most characters of a name in a notice
_LONG = 60


def gripper_joints(joints: Sequence[str]) -> list[str]:
    """Return the last of the joints of an arm, base first, that are named like a gripper's; none if all are.

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


def identifier(text: str) -> str:
    """Return the identifier of a robot's name by the rule in docs/robot_format.md.

    Examples
    --------
    >>> from thunder_py.io.selection import identifier
    >>> identifier("2-link arm é")
    'robot_2_link_arm_e'
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"\W+", "_", plain, flags=re.ASCII)
    words = words if words == plain else words.strip("_")
    return (f"robot_{words}" if words[:1].isdigit() else words or "robot")[:63]


def _numbered(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number if it is taken."""
    chosen, count = name, 2
    while chosen in taken:
        end = f"_{count}"
        chosen, count = name[: MAX_LABEL - len(end)] + end, count + 1
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
        found.append(_numbered(label, {*found, *taken}))
    return found


def dyn_of(mass: float, center: Array, tensor: Array) -> Array:
    """Return the DYN parameters (10,) of a body from its tensor (3, 3) about the center of mass."""
    return np.array([mass, *center, *tensor[_UPPER]])


def friction_of(**terms: Array) -> Friction | None:
    """Return friction with the terms that have a coefficient in some joint, None without friction."""
    used = {term: column for term, column in terms.items() if np.any(column)}
    return Friction(terms=tuple(used), coefficients=np.column_stack(list(used.values()))) if used else None


def _failure(read: Callable[[], object]) -> FileFormatError | None:
    """Return the error of a reading, None if it has none."""
    try:
        read()
    except FileFormatError as error:
        return error
    return None


@dataclass(eq=False)
class Link:
    """Store a link: its name in the file, and functions for its inertia and for errors about it.

    `read` returns DYN parameters (10,), None without an inertia, and raises `FileFormatError` for wrong numbers;
    `error` returns one with a message and the place in the file.
    """

    name: str
    read: Callable[[], Array | None]
    error: Callable[[str], FileFormatError]

    @cached_property
    def inertial(self) -> Array | None:
        """DYN parameters (10,), None without an inertia."""
        return self.read()

    @property
    def has_mass(self) -> bool:
        """Whether the link has a mass; False where it cannot be read."""
        with suppress(FileFormatError):
            return self.inertial is not None and bool(self.inertial[0] > 0.0)
        return False


@dataclass(eq=False)
class Joint:
    """Store a joint: names, and functions for its numbers and for errors about it.

    `kind` is ``R``, ``P``, ``fixed``, or the name of an unsupported type; `read` returns the `geometry`; `follow`
    returns the position for one of the joint `leader`, if it follows one; `check` raises `FileFormatError` for other
    wrong values; `source` is the reader's own.
    """

    name: str
    kind: str
    parent: str
    child: str
    read: Callable[[], tuple[Array, Array, Array]]
    error: Callable[[str], FileFormatError]
    leader: str | None = None
    follow: Callable[[float], float] = float
    check: Callable[[], object] = lambda: None
    source: Any = None

    @cached_property
    def geometry(self) -> tuple[Array, Array, Array]:
        """Pose (4, 4) of the joint in the parent, unit axis (3,), pose (4, 4) of the child after the motion."""
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
    places: dict[str, tuple[int, Array]]
    placements: Array
    held: set[str]


class Lost(NamedTuple):
    """Store why a part is left out, the links next to it, and whether it is a joint that may move."""

    error: FileFormatError
    parent: str | None = None
    child: str | None = None
    moves: bool = False


class Tree:
    """Connect links and joints, and select the arm.

    Joints that do not fit into a tree are left out; they are errors only if no arm is left or they act on it.

    Parameters
    ----------
    name : str
        The robot's name in the file.
    error : callable
        Returns a `FileFormatError` about the whole file.
    path : path-like or None
        Path for messages.
    prefix : str
        Prefix of reserved names.
    carrier : bool
        Put the base where the first joint is carried, unless a base is given.
    tip : str, optional
        End effector, unless one is given; default by the rule.
    """

    def __init__(
        self,
        name: str,
        error: Callable[[str], FileFormatError],
        path: str | Path | None,
        prefix: str,
        *,
        carrier: bool = False,
        tip: str | None = None,
    ) -> None:
        self.name, self.error, self.path, self._prefix = name, error, path, prefix
        self._carrier, self._default_tip = carrier, tip
        #: links that do not become frames
        self.hidden: set[str] = set()
        self.links: dict[str, Link] = {}
        self.joints: dict[str, Joint] = {}
        self.above: dict[str, Joint] = {}
        self.below: dict[str, list[Joint]] = {}
        #: positions of locked joints and of those that follow them
        self.locked: dict[str, float] = {}
        #: parts that are left out for a defect
        self.lost: list[Lost] = []
        #: what the user is told in one warning
        self._notes: list[str] = []

    # --- the file -----------------------------------------------------------------------------------------------------

    def add_link(self, link: Link) -> None:
        """Add a link; all links come before the joints."""
        if link.name in self.links:
            self.lost.append(Lost(link.error("name is taken by another link"), link.name))
        else:
            self.links[link.name], self.below[link.name] = link, []

    def add_joint(self, joint: Joint) -> None:
        """Add a joint if it fits into a tree."""
        missing = [end for end in ("parent", "child") if getattr(joint, end) not in self.links]
        reason = ""
        if joint.child in self.above:
            other = self.above[joint.child].name
            reason = f"link {joint.child!r} is the child of joint {other!r}: closed loops are not supported"
        elif missing:
            name = getattr(joint, missing[0])
            reason = f"{missing[0]}: there is no link {name!r}{nearest_hint(name, self.links)}"
        elif joint.child in self._above_of(joint.parent):
            reason = f"links form a loop through {joint.child!r}"
        if reason:
            self.lost.append(Lost(joint.error(reason), joint.parent, joint.child, joint.kind != "fixed"))
            return
        written, joint.name = joint.name, _numbered(joint.name, self.joints)
        if joint.name != written and joint.kind != "fixed":
            self._notes.append(f"two joints are called {_short(written)}: the later one becomes {_short(joint.name)}")
        self.joints[joint.name] = self.above[joint.child] = joint
        self.below[joint.parent].append(joint)

    @contextmanager
    def collecting(self, parent: str | None = None, child: str | None = None, *, moves: bool = False) -> Iterator[None]:
        """Take the error of a part between two links that is left out."""
        try:
            yield
        except FileFormatError as error:
            self.lost.append(Lost(error, parent, child, moves))

    # --- parts of the tree --------------------------------------------------------------------------------------------

    def _links_below(self, base: str) -> Iterator[str]:
        """Yield the names of `base` and of all links below it, parents first."""
        waiting = [base]
        while waiting:
            name = waiting.pop()
            yield name
            waiting.extend(joint.child for joint in reversed(self.below[name]))

    def _moves(self, joint: Joint) -> bool:
        return joint.kind != "fixed" and joint.name not in self.locked

    def _moving_below(self, link: str) -> list[Joint]:
        """Return the first moving joints below a link."""
        found, waiting = [], [link]
        while waiting:
            for joint in self.below[waiting.pop(0)]:
                if self._moves(joint):
                    found.append(joint)
                else:
                    waiting.append(joint.child)
        return found

    def _joints_below(self, joint: Joint) -> list[Joint]:
        """Return a moving joint and all moving joints below it."""
        return [joint, *(j for link in self._links_below(joint.child) for j in self.below[link] if self._moves(j))]

    def _between(self, base: str, tip: str) -> list[Joint]:
        """Return the joints from link `base` to link `tip` below it."""
        joints: list[Joint] = []
        while tip != base:
            joints.append(self.above[tip])
            tip = joints[-1].parent
        return joints[::-1]

    def _above_of(self, link: str) -> Iterator[str]:
        yield link
        while link in self.above:
            link = self.above[link].parent
            yield link

    def _root(self, link: str) -> str:
        """Return the link that carries a link and is carried by none."""
        return [*self._above_of(link)][-1]

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

    def _lock(self, fix_joints: Mapping[str, float] | None) -> None:
        """Lock joints at positions, and those that follow them."""
        if not isinstance(fix_joints, Mapping | None):
            raise ThunderError(f"fix_joints must map joint names to positions, got {fix_joints!r}")
        for name in fix_joints or ():
            known_name(name, self.joints, "fix_joints: there is no joint")
            if (kind := self.joints[name].kind) not in _MOVABLE:
                raise ThunderError(f"fix_joints: joint {name!r} is {kind}; only revolute and prismatic can be locked")
        locked = {name: float(array(q, (), f"fix_joints[{name!r}]")) for name, q in (fix_joints or {}).items()}
        self.locked = self._followed(locked)

    # --- the rule -----------------------------------------------------------------------------------------------------

    def arms(self) -> list[Arm]:
        """Return the arms of the file."""
        return self._find(None)[0]

    def _find(self, base: str | None) -> tuple[list[Arm], list[FileFormatError]]:
        """Return the arms above a base, by default those of the file, and why further chains are none."""
        roots = [name for name in self.links if name not in self.above]
        self._refuse_cut(base, roots)
        arms: list[Arm] = []
        refused: list[FileFormatError] = []
        waiting, carried = roots if base is None else [base], set[str]()
        while waiting:
            start = waiting.pop(0)
            for first in self._moving_below(start):
                if first.kind in _MOVABLE and first.leader is None:
                    chain, end = self._chain(first)
                    if end is None:
                        arms.append(self._arm(start, chain))
                    elif isinstance(end, str):
                        waiting.append(end)
                        carried.add(end)
                    else:
                        refused.append(end)
                    continue
                refused.append(self._refused(first))
                if first.kind not in _MOVABLE:
                    if start in carried:
                        raise refused[-1]
                    if base is None and not _failure(lambda: first.geometry):  # noqa: B023
                        waiting.append(first.child)
        names = labels(arm.name for arm in arms)
        return [arm._replace(name=name) for arm, name in zip(arms, names, strict=True)], refused

    def _refuse_cut(self, base: str | None, roots: Sequence[str]) -> None:
        """Raise the defect of a joint that may be one of the arm's."""
        below = set() if base is None else {*self._links_below(base)}
        for error, parent, child, moves in self.lost:
            if base is None:
                acts = child in roots or (child not in self.links and len(roots) > 1)
            else:
                acts = parent not in self.links and child not in below
            if moves and acts:
                raise error

    def _arm(self, base: str, chain: Sequence[Joint]) -> Arm:
        tip, joints = self._tip(chain[-1].child), tuple(joint.name for joint in chain)
        return Arm(_shared(joints) or tip, base, tip, joints)

    def _chain(self, first: Joint) -> tuple[list[Joint], str | FileFormatError | None]:
        """Return the joints from `first` on, and the link where the chain branches, why it is no arm, or None."""
        chain = [first]
        while True:
            own, gripper = self._sides(chain)
            if not own or gripper:
                break
            if len(own) > 1 or own[0].kind not in _MOVABLE:
                return chain, chain[-1].child
            if (leader := own[0].leader) is not None:
                if leader in {joint.name for joint in (*chain, *self._joints_below(own[0]))}:
                    return chain, self._refused(own[0])
                break
            chain.append(own[0])
        return chain, next(filter(None, (_failure(partial(self._leader, j)) for j in self._joints_below(first))), None)

    def _sides(self, chain: Sequence[Joint]) -> tuple[list[Joint], list[Joint]]:
        """Return the moving joints behind a chain, without branches that only follow others, and those of a gripper."""
        branches = [self._joints_below(joint) for joint in self._moving_below(chain[-1].child)]
        inside = [joint.name for branch in branches for joint in branch]
        free = [branch for branch in branches if any(joint.leader is None for joint in branch)]
        fingers = [branch for branch in branches if any(joint.leader in (None, *inside) for joint in branch)]
        length = sum(joint.step for joint in self._between(chain[0].child, chain[-1].child))
        gripper = fingers if len(fingers) > 1 and all(self._is_finger(f, len(chain), length) for f in fingers) else []
        if len(branches) == 1 and inside[0] in {joint.leader for joint in branches[0]}:
            named = gripper_joints([*(joint.name for joint in chain), *inside])
            gripper = branches if {*inside} <= {*named} else []
        firsts = gripper or (branches if len(branches) == 1 else free)
        return [branch[0] for branch in firsts], [joint for branch in gripper for joint in branch]

    def _is_finger(self, branch: Sequence[Joint], count: int, length: float) -> bool:
        """Return whether a branch has fewer joints than its arm and at most half of its length."""
        for joint in branch:
            path = self._between(branch[0].child, joint.child)
            if sum(step.kind != "fixed" for step in path) + 1 >= count or 2.0 * sum(j.step for j in path) > length:
                return False
        return all(joint.kind in _MOVABLE for joint in branch)

    def _refused(self, joint: Joint) -> FileFormatError:
        """Return why a joint, of another type or a follower, cannot be one of an arm's."""
        if joint.kind not in _MOVABLE:
            way_out = f"if the arm starts below it, pass base_link={joint.child!r}"
            no_type = _failure(lambda: joint.geometry)
            return no_type or joint.error(f"{joint.kind} joints are not supported; {way_out}")
        if error := _failure(lambda: self._leader(joint)):
            return error
        leader = self._leader(joint)
        if leader in self._joints_below(joint):
            return joint.error(f"follows joint {leader.name!r} (mimic), which it carries")
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

    def describe(
        self,
        base_link: str | None,
        tip_link: str | None,
        fields: Callable[[Chain], dict[str, Any]],
        *,
        missing_inertia: str | None = None,
        fix_joints: Mapping[str, float] | None = None,
        name: str | None = None,
    ) -> RobotDescription:
        """Return the description of the arm between two links, or of the only arm; warn of what the user should know.

        Arguments are those of `thunder_py.io.load_description`; `fields` returns what the format adds to a chain.
        """
        if missing_inertia is not None:
            one_of(missing_inertia, ("error", "zero"), "missing_inertia")
        called = identifier(self.name.strip()) if name is None else check_name(name, "name")
        self._lock(fix_joints)
        chain = self._select(base_link, self._default_tip if tip_link is None else tip_link)
        text = "%s: %d joints from %s to %s, %d links lumped into those that move; locked: %s"
        lumped, locked = len(chain.places) - len(chain.joints), ", ".join(self.locked) or "none"
        _LOG.info(text, self.path, len(chain.joints), chain.base, chain.tip, lumped, locked)
        try:
            description = RobotDescription(
                name=called, inertial=self._inertial(chain, missing_inertia), **fields(chain), **self._common(chain)
            )
        except FileFormatError:
            raise
        except ThunderError as error:  # about numbers of the file; arguments are already checked
            raise self.error(str(error)) from error
        self._tell(chain, chosen=tip_link is not None)
        return description

    def _select(self, base: str | None, tip: str | None) -> Chain:
        """Return the arm between two links, or the only arm."""
        for what, name in (("base_link", base), ("tip_link", tip)):
            if name is not None:
                if not isinstance(name, str):
                    raise ThunderError(f"{what} must be the name of a link, got {name!r}")
                known_name(name, self.links, f"{what}: there is no link")
        given = base
        if tip is None:
            for leader, joint in ((self.joints[name].leader, name) for name in self.locked):
                if leader in self.joints and leader not in self.locked:  # it would become a joint of the arm
                    raise ThunderError(f"fix_joints: joint {joint!r} follows {leader!r} (mimic): lock {leader!r}")
            arms, refused = self._find(base)
            if len(arms) > 1:
                raise SeveralArmsError(arms, self.path, self._whole(base, arms))
            if not arms:
                nothing = self.error("no joint moves: there is no arm" if self.links else "has no links")
                raise next(iter((*(lost.error for lost in self.lost), *refused)), nothing)
            base, tip = arms[0].base, arms[0].tip
            mobile = [j for j in self._between(self._root(base), base) if j.kind not in ("fixed", *_MOVABLE)]
            if mobile and given is None:
                what = ", ".join(f"{j.kind} joint {_short(j.name)}" for j in mobile)
                self._notes.append(f"the base {_short(base)} is at rest: {what} left out")
        base = self._root(tip) if base is None else base
        joints = self._moving(base, tip)
        base = joints[0].parent if self._carrier and given is None else base
        if gripper := self._sides(joints)[1]:
            alone = {joint.name: 0.0 for joint in gripper if joint.leader is None}
            self.locked = {joint.name: 0.0 for joint in gripper} | self._followed(self.locked | alone)
            names = _some(joint.name for joint in gripper)
            self._notes.append(f"the gripper is locked at zero: {names}; others by fix_joints")
        return self._assemble(base, tip, joints)

    def _whole(self, base: str | None, arms: Sequence[Arm]) -> str:
        """Return the longest chain with its side branches locked, if they are shorter, for a message."""
        tip = max(arms, key=lambda arm: len(arm.joints)).tip
        start = self._root(tip) if base is None else base
        with suppress(FileFormatError):
            path = self._moving(start, tip)
            skip = [*path, *self._sides(path)[1]]
            side = [j.name for j in self._joints_below(path[0]) if j not in skip and j.leader is None]
            if 0 < len(side) < len(path):
                whole = str(Arm("", start, tip, tuple(joint.name for joint in path)))
                locked = whole.replace("  #", f", {_locks(side)}  #")
                return f"\nor the longest chain, with what it carries locked:\n  {locked}"
        return ""

    def _moving(self, base: str, tip: str) -> list[Joint]:
        """Return the moving joints between two links."""
        if base not in self._above_of(tip):
            self._raise_lost([self._root(tip)])
            raise self.links[tip].error(f"the tip is not below the base link {base!r}")
        path = [joint for joint in self._between(base, tip) if self._moves(joint)]
        if not path:
            raise self.links[tip].error(f"no joint moves between {base!r} and this link: the chain is empty")
        for joint in path:
            if joint.kind not in _MOVABLE or joint.leader is not None:
                raise self._refused(joint)
        return path

    def _raise_lost(self, links: Collection[str]) -> None:
        """Raise the first defect next to one of the links."""
        for error, parent, child, _ in self.lost:
            if parent in links or child in links:
                raise error

    def _assemble(self, base: str, tip: str, joints: list[Joint]) -> Chain:
        """Assign the links to bodies: 0 is the base, body k moves with the k-th joint of the chain."""
        number = {joint.name: k for k, joint in enumerate(joints, start=1)}
        places: dict[str, tuple[int, Array]] = {base: (0, np.eye(4))}
        placements, loose, following = [np.eye(4)] * len(joints), [], []
        follow, path = self._followed({**self.locked, **dict.fromkeys(number, 0.0)}), {*self._above_of(tip)}
        for link in self._links_below(base):
            if link not in places:
                continue  # on another branch from the base: no influence on the arm's dynamics
            body, pose = places[link]
            for joint in self.below[link]:
                if joint.name in number:
                    placements[number[joint.name] - 1] = pose @ joint.geometry[0]
                    places[joint.child] = (number[joint.name], np.eye(4))
                elif not self._moves(joint):
                    if body > 0 or joint.child in path or not _failure(lambda: joint.geometry):  # noqa: B023
                        places[joint.child] = (body, pose @ joint.pose(self.locked.get(joint.name, 0.0)))
                elif body > 0 and joint.name in follow:
                    places[joint.child] = (body, pose @ joint.pose(follow[joint.name]))
                    following.append(joint)
                elif body > 0:
                    loose += self._joints_below(joint)
        if loose:
            raise self._loose(loose, tip)
        self._raise_lost({name for name, (body, _) in places.items() if body > 0})
        held = dict.fromkeys(name for joint in following for name in self._links_below(joint.child))
        if following:
            heavy = "held at zero, with their mass, and " if any(self.links[name].has_mass for name in held) else ""
            self._notes.append(f"links that follow joints of the arm (mimic) are {heavy}no frames: {_some(held)}")
        return Chain(base, tip, joints, places, np.array(placements), {*held})

    def _loose(self, loose: Sequence[Joint], tip: str) -> FileFormatError:
        for joint in loose:
            if joint.kind not in _MOVABLE:
                return joint.error(f"{joint.kind} joints are not supported, and this one is carried by the arm")
        locks = _locks(dict.fromkeys(self._leader(joint).name for joint in loose))
        return loose[0].error(
            f"moves off the chain to {tip!r}, on a branch that the arm carries; a serial arm needs it locked: "
            f"{locks}, at positions of your choice"
        )

    def world(self, chain: Chain) -> Array:
        """Return the pose (4, 4) of the base in the root, with the joints between them at zero or locked."""
        T = np.eye(4)
        for joint in self._between(self._root(chain.base), chain.base):
            T = T @ joint.pose(self.locked.get(joint.name, 0.0))
        return T

    def _inertial(self, chain: Chain, missing: str | None) -> Array:
        """Return the REG rows (n, 10) of the bodies: sums over their links in the body's frame."""
        unknown: list[MissingInertiaError] = []
        found: list[tuple[int, Array, Array]] = []
        for name, (body, T) in chain.places.items():
            try:
                if body and (row := self.links[name].inertial) is not None:
                    found.append((body, T, row))
            except MissingInertiaError as error:
                unknown.append(error)
        total, known = np.zeros((len(chain.joints) + 1, 10)), {body for body, _, _ in found}
        poses = np.array([T for _, T, _ in found]).reshape(-1, 4, 4)
        own = reg_from_dyn(np.array([row for _, _, row in found]).reshape(-1, 10))
        moved = reg_from_pseudo_inertia(poses @ pseudo_inertia(own) @ poses.swapaxes(1, 2))
        still = (poses == np.eye(4)).all(axis=(1, 2))  # there the file's numbers stay exact
        np.add.at(total, [body for body, _, _ in found], np.where(still[:, None], own, moved))
        if unknown and missing == "error":
            raise unknown[0]
        if unknown and missing is None:
            self._notes.append(f"{_count(unknown, 'massless link')}, such as {self._place(unknown[0])}")
        without = [joint for body, joint in enumerate(chain.joints, start=1) if body not in known]
        if without and missing == "error":
            raise self.links[without[0].child].error(
                f"moves with joint {without[0].name!r} but neither it nor a link fixed to it has an <inertial>; "
                "add one, or pass missing_inertia='zero' to treat it as massless"
            )
        if without and missing is None:
            links = _some(joint.child for joint in without)
            self._notes.append(f"links without inertia are massless, which is enough for kinematics only: {links}")
        return total[1:]

    def _common(self, chain: Chain) -> dict[str, Any]:
        """Return the fields of a description that every format has in common."""
        children = [joint.child for joint in chain.joints]
        names = [joint.name for joint in chain.joints]
        links, joints = labels(children, self._prefix), labels(names, self._prefix)
        for name, label in zip([*children, *names], [*links, *joints], strict=True):
            if name in RESERVED_NAMES:
                self._notes.append(f"{name!r} is a reserved name: the joint or link is called {label!r}")
            elif name != label:
                self._notes.append(f"{_short(name)} is no label or taken: it is called {_short(label)}")
        hidden = {*self.hidden, *children, *chain.held}
        others = {name: place for name, place in chain.places.items() if name not in hidden}
        frames = without_own_frames(others, set(links), chain.tip)
        return {
            "joint_types": "".join(joint.kind for joint in chain.joints),
            "placements": chain.placements,
            "axes": np.array([joint.geometry[1] for joint in chain.joints]),
            "offsets": np.array([joint.geometry[2] for joint in chain.joints]),
            "tool": chain.places[chain.tip][1],
            "joint_names": tuple(joints),
            "link_names": tuple(links),
            "frames": dict(zip(labels(frames, taken=links), frames.values(), strict=True)),
        }

    def _tell(self, chain: Chain, chosen: bool) -> None:
        """Warn once of everything that the user should know; `chosen` tells that the user has chosen the tip."""
        names = [joint.name for joint in chain.joints]
        others = [] if chosen or self._default_tip else self._tips(chain.joints[-1].child)[1:]
        if others := [name for name in others if name not in self._above_of(chain.tip) and name not in self.hidden]:
            self._notes.append(f"the tip is {_short(chain.tip)}, pass tip_link= for another: {_some(others)}")
        if not chosen and (gripper := gripper_joints(names)):
            self._notes.append(
                f"the gripper is part of the arm: {_some(gripper)} of {len(names)} joints; lock it with "
                f"{_locks(gripper)}, or keep it with tip_link={chain.tip!r}"
            )
        defects = [*(lost.error for lost in self.lost), *([] if self._carrier else self._elsewhere(chain))]
        if defects:
            what = _count(defects, "defect")
            self._notes.append(f"{what} without effect on the arm, such as {self._place(defects[0])}")
        if self._notes:
            text = f"{'' if self.path is None else f'{self.path}: '}{'; '.join(self._notes)}"
            warnings.warn(text, ThunderWarning, stacklevel=outer_level())

    def _place(self, error: FileFormatError) -> str:
        """Return a message without the path."""
        text = str(error).removeprefix(f"{self.path}:").strip()
        return text if text == str(error) or error.line is None else f"line {text}"

    def _elsewhere(self, chain: Chain) -> Iterator[FileFormatError]:
        """Yield the defects of parts that do not act on the arm."""
        root = self._root(chain.base)
        for name, link in self.links.items():
            joint = self.above.get(name)
            if joint is None and name != root:
                yield link.error(f"is not connected to {root!r}")
            try:
                if not chain.places.get(name, (0,))[0]:
                    link.inertial  # noqa: B018
                if joint is not None and joint not in chain.joints:
                    joint.geometry  # noqa: B018
                    joint.check()
                    self._leader(joint)
            except FileFormatError as error:
                yield error


def _locks(joints: Iterable[str]) -> str:
    """Return the argument of `Robot.load` that locks joints."""
    return f"fix_joints={{{', '.join(f'{name!r}: 0.0' for name in joints)}}}"


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


def _shared(names: Sequence[str]) -> str:
    """Return the words at the start that all names have in common."""
    words = [re.split(r"[^A-Za-z0-9]+", name.removesuffix("_joint")) for name in names]
    common: list[str] = []
    for column in zip(*words, strict=False):
        if len(set(column)) > 1:
            break
        common.append(column[0])
    text = re.sub(r"(^|_)(joint|link)$", "", "_".join(common), flags=re.IGNORECASE).strip("_")
    return text if len(text) > 1 else ""
