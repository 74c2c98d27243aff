"""Exceptions of the package. All but `MissingAttributeError` derive from `ThunderError`, and so from `ValueError`."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

__all__ = [
    "CompilerError",
    "ConcurrentUseError",
    "FileFormatError",
    "LimitWarning",
    "MissingAttributeError",
    "NoPathError",
    "NotFittedError",
    "ReleaseError",
    "ThunderError",
    "ThunderWarning",
    "UnknownNameError",
    "nearest_hint",
]


class ThunderError(ValueError):
    """Refused argument or file, and base class of all errors of the package.

    Examples
    --------
    >>> import thunder_py as th
    >>> try:
    ...     th.spatial.exp([0.1, 0.2])
    ... except th.errors.ThunderError as error:
    ...     print(error)
    phi must have shape (..., 3), got (2,)
    """


class ThunderWarning(UserWarning):
    """Base class of the warnings about results that may be useless, such as a plan far from its training data.

    Examples
    --------
    >>> import warnings
    >>> import thunder_py as th
    >>> warnings.simplefilter("error", th.errors.ThunderWarning)  # an error instead
    >>> warnings.resetwarnings()
    """


class LimitWarning(ThunderWarning):
    """A simulated joint left the position or velocity limits of its robot: no real arm makes this motion.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, far = th.Robot.load("panda"), th.reference.SetPoint([0.0, 0.0, 0.0, 0.5, 0.0, 1.8, 0.0])
    >>> free = robot.replace(limits=None)  # where limits do not matter
    >>> run = th.simulate(free, th.PDGravity(robot, 20.0, 2.0), far, 0.1)
    """


class UnknownNameError(ThunderError):
    """Unknown name of a robot, frame, link or parameter; the nearest known name is suggested.

    Examples
    --------
    >>> import thunder_py as th
    >>> try:
    ...     th.Robot.load("pandas")
    ... except th.errors.UnknownNameError as error:
    ...     print(error)
    no robot is called 'pandas'; did you mean 'panda'?
    """


class NoPathError(ThunderError):
    """No collision-free motion found, or start or goal inside an obstacle.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.motion import FPCA, HumanLikePlanner
    >>> path = np.stack([np.linspace(0, 1, 51), np.sin(np.linspace(0, 3, 51)), np.zeros(51)], axis=1)
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.5).fit(path[None]))
    >>> try:
    ...     planner.plan([0, 0, 0], [0.4, 0, 0], 1.0, obstacles=[th.geometry.Sphere([0.4, 0, 0], 0.1)])
    ... except th.errors.NoPathError as error:
    ...     print(str(error)[:25])
    goal must keep the margin
    """


class ReleaseError(ThunderError):
    """Throw beyond the limits of the arm.

    Parameters
    ----------
    message : str
        Requested throw and violated limit.
    limit : str
        Name of the limit: ``"velocity of joint4"``, ``"reach"``, ``"target"``, ...; ``"convergence"`` if the
        search failed for a throw that may exist.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.trajectory import MotionLimits
    >>> from thunder_py.manipulation.throwing import release_at
    >>> robot, dq = th.Robot.load("panda"), np.array([0, 0, 0, 10.0, 0, 0, 0])
    >>> limits = MotionLimits.of(robot)
    >>> try:
    ...     release_at(robot, limits.center, dq, [1.0, 0.0, 0.0], limits)
    ... except th.errors.ReleaseError as error:
    ...     print(error.limit)
    velocity of joint4
    """

    def __init__(self, message: str, limit: str = "") -> None:
        self.limit = limit
        super().__init__(message)

    def __reduce__(self) -> tuple[type[ReleaseError], tuple[str, str]]:
        """Pickle with the limit, for errors sent between processes."""
        return type(self), (str(self), self.limit)


class NotFittedError(ThunderError, AttributeError):
    """A result of `fit` is used before `fit`.

    Once scikit-learn has been imported, new errors are instances of `sklearn.exceptions.NotFittedError` as well.

    Examples
    --------
    >>> from thunder_py.errors import NotFittedError
    >>> from thunder_py.motion import FPCA
    >>> try:
    ...     FPCA().scores_
    ... except NotFittedError as error:
    ...     print(error)
    FPCA must be fitted before scores_ is used: call fit first
    """

    def __new__(cls, *args: Any) -> NotFittedError:
        """Derive from scikit-learn's error too, if its module is loaded: nothing can catch it otherwise."""
        module = sys.modules.get("sklearn.exceptions")
        theirs = getattr(module, "NotFittedError", None)
        if theirs is None or issubclass(cls, theirs):
            return super().__new__(cls, *args)
        return super().__new__(_joined(theirs), *args)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by message: the class with scikit-learn's error as a base has no importable name."""
        return NotFittedError, self.args


@cache
def _joined(theirs: type) -> type[NotFittedError]:
    return type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__})


class CompilerError(ThunderError):
    """Missing or failed C compiler (with its message), or a cache folder that cannot be written.

    Examples
    --------
    >>> import os
    >>> from unittest import mock
    >>> from thunder_py.errors import CompilerError
    >>> from thunder_py.symbolic.compiler import find_compiler
    >>> with mock.patch.dict(os.environ, CC="/opt/missing/cc"):
    ...     try:
    ...         find_compiler()
    ...     except CompilerError as error:
    ...         print(error)
    environment variable CC must name a program on the path, got '/opt/missing/cc'
    """


class ConcurrentUseError(ThunderError, RuntimeError):
    """Object with state, such as a controller, used by a second thread at the same time.

    Robots, references, plans and recorded functions are immutable and may be shared. Create other objects once for each
    thread, or use them in one thread at a time.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import thunder_py as th
    >>> controller = th.SlotineLi(th.Robot.load("elbow"), Lambda=5.0, K_d=8.0, adaptation=2.0)
    >>> target = th.reference.SetPoint([0.1, 0.2])(0.0)
    >>> class Encoder:  # read by the controller during a step
    ...     def __array__(self, dtype=None, copy=None):
    ...         with ThreadPoolExecutor(1) as pool:
    ...             print(pool.submit(controller.reset).exception())
    ...         return target.q
    >>> torque = controller.step(0.0, Encoder(), [0, 0], target)
    SlotineLi is in use by another thread: make one for each thread, or use it in one at a time
    """


class FileFormatError(ThunderError):
    """File that is not in the expected format.

    Parameters
    ----------
    message : str
        Requirement and value.
    path : path-like, optional
        The file.
    line : int, optional
        Line in the file, counted from 1.
    key : str, optional
        Key (YAML, dotted) or element (URDF) of the value.

    Examples
    --------
    >>> import thunder_py as th
    >>> try:
    ...     th.io.parse_description("format: thunder_py/2", "arm.yaml")
    ... except th.errors.FileFormatError as error:
    ...     print(error)
    arm.yaml:1: format: must be one of thunder_py/1, got 'thunder_py/2'; did you mean 'thunder_py/1'?
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        key: str | None = None,
    ) -> None:
        self.path, self.line, self.key = path, line, key
        where = "" if path is None else f"{path}:" + ("" if line is None else f"{line}:") + " "
        what = "" if key is None else f"{key}: "
        text = f"{where}{what}{message}"
        super().__init__(text.encode("utf-8", "backslashreplace").decode())  # names of files need not be UTF-8


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or ``""``.

    Parameters
    ----------
    name : str
        Unknown name.
    known : iterable of str
        Known names.

    Returns
    -------
    str
        Text to append to an error message.

    Examples
    --------
    >>> from thunder_py.errors import nearest_hint
    >>> print("no robot is called 'pand'" + nearest_hint("pand", ["panda", "ur5e"]))
    no robot is called 'pand'; did you mean 'panda'?
    """
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(fold(candidate), candidate)
    plain = fold(name)
    others = [other for group in _SYNONYMS if plain in group for other in group if other in folded]
    match = [plain] if plain in folded else others or difflib.get_close_matches(plain, folded, n=1, cutoff=0.5)
    return f"; did you mean {folded[match[0]]!r}?" if match else ""


def fold(name: str) -> str:
    """Return a name without what spellings differ in: case, underscores, hyphens and spaces.

    Examples
    --------
    >>> from thunder_py.errors import fold
    >>> fold("K_p"), fold("inverse_kinematics") == fold("InverseKinematics")
    ('kp', True)
    """
    return name.lower().translate(_SEPARATORS)


_SEPARATORS = str.maketrans("", "", "_- ")
#: names of one concept in other packages and books, the likeliest first; as `fold` returns them
_SYNONYMS = [
    text.split()
    for text in (
        "duration t time tend tmax tfinal horizon",
        "dt timestep step period controlperiod",
        "t time times stamps",
        "tau torque torques effort",
        "q position positions angles jointpositions",
        "dq velocity velocities qd qdot v",
        "ddq acceleration accelerations qdd qddot",
        "kp k0 stiffness p",
        "kd k1 kv damping d",
        "q0 x0 qinit start",
        "lambda lam",
        "seed rng randomstate",
        "realtime hardware",
        "simulation result",
        "parameters params theta pi",
        "log file path filename",
        "tiplink tip endeffector eelink ee",
        "baselink base root",
    )
]


class MissingAttributeError(AttributeError):
    """An attribute that does not exist; the nearest one is looked for only when the message is read.

    Parameters
    ----------
    message : str
        What is missing.
    hint : callable
        Returns the text to append, see `nearest_hint`.

    Examples
    --------
    >>> import thunder_py as th
    >>> try:
    ...     th.inverse_kinematics
    ... except AttributeError as error:
    ...     print(error)
    module 'thunder_py' has no attribute 'inverse_kinematics'; did you mean 'InverseKinematics'?
    """

    def __init__(self, message: str, hint: Callable[[], str]) -> None:
        super().__init__(message)
        self._hint = hint

    def __str__(self) -> str:
        """Return the message with the nearest name."""
        return f"{super().__str__()}{self._hint()}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by message."""
        return AttributeError, (str(self),)


class Suggesting:
    """Base of classes whose missing attributes are answered with the nearest one.

    It adds to the time of every call of a method, so that robots and controllers, which work in loops, do without.

    Examples
    --------
    >>> import thunder_py as th
    >>> try:
    ...     th.Payload(mass=1.0).weight
    ... except AttributeError as error:
    ...     print(str(error)[:33])
    Payload has no attribute 'weight'
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # misspelt attributes stay errors of type checkers

        def __getattr__(self, name: str) -> Any:
            """Raise the error of an attribute that does not exist, or the one that a property raised."""
            kind = type(self)
            if name.startswith("_") or hasattr(kind, name):
                return object.__getattribute__(self, name)

            def hint() -> str:
                names = {*dir(kind), *getattr(self, "__dict__", ())}
                return nearest_hint(name, sorted(known for known in names if not known.startswith("_")))

            raise MissingAttributeError(f"{kind.__name__} has no attribute {name!r}", hint)


def outer_level() -> int:
    """Return the `stacklevel` of a warning of the caller that points at the first line outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "thunder_py":
        frame, level = frame.f_back, level + 1
    return level
