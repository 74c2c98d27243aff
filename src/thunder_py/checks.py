"""Checks of arguments at the API boundary: types, shapes, ranges; results are independent copies."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .errors import ThunderError, UnknownNameError, nearest_hint

Array = npt.NDArray[np.float64]

#: largest deviation of rotation matrices and axes from orthonormality
ROTATION_TOLERANCE = 1e-6
#: largest deviation that may be rounding, which `nearest_rotation` repairs
REPAIRED_TOLERANCE = 0.1
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
#: most characters of a label
MAX_LABEL = 255


def check_name(name: object, what: str = "robot name") -> str:
    """Return `name` if it is an identifier: names appear in file names and C identifiers.

    Examples
    --------
    >>> from thunder_py.checks import check_name
    >>> check_name("panda_2")
    'panda_2'
    """
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
        raise ThunderError(
            f"{what} must be an identifier (letters, digits, underscores, at most 63, no leading digit), got {name!r}"
        )
    return str(name)  # numpy's strings too


def is_label(text: str) -> bool:
    r"""Return whether a text can name a joint, link or frame: printable, not blank at its ends, no ``" \ *``.

    Examples
    --------
    >>> from thunder_py.checks import is_label
    >>> is_label("/arm link 1"), is_label("a\nb")
    (True, False)
    """
    return 0 < len(text) <= MAX_LABEL and text.isprintable() and text == text.strip() and not set(text) & set('"\\*')


def check_label(name: object, what: str) -> str:
    """Return `name` if it is valid for a joint, link or frame, see `is_label`.

    Examples
    --------
    >>> from thunder_py.checks import check_label
    >>> check_label("arm/link-1", "link name")
    'arm/link-1'
    """
    if not isinstance(name, str) or not is_label(name):
        raise ThunderError(
            f"{what} must be 1 to {MAX_LABEL} printable characters without blanks at the ends and without "
            f"quotation marks, backslashes and asterisks, got {name!r:.300}"
        )
    return str(name)  # numpy's strings too


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:200]} ..."


def array(value: Any, shape: tuple[int | None, ...], what: str, *, finite: bool = True) -> Array:
    """Return `value` as a read-only float64 copy of exactly `shape`.

    Parameters
    ----------
    value : array_like
        Numbers.
    shape : tuple
        Expected shape; ``None`` stands for any length.
    what : str
        Name used in messages.
    finite : bool
        Refuse infinities; NaN is always refused.

    Raises
    ------
    ThunderError
        For other values; the message has `what`, the expected shape and the value.

    Examples
    --------
    >>> from thunder_py.checks import array
    >>> q = array([1, 2, 3], (3,), "q")
    >>> q.dtype.name, q.flags.writeable
    ('float64', False)
    """
    expected = str(shape).replace("None", "n")
    if isinstance(value, np.ndarray) and value.dtype.kind not in "fiu":
        raise ThunderError(f"{what} must be real numbers of shape {expected}, got dtype {value.dtype}")
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ThunderError(f"{what} must be numbers of shape {expected}, got {_short(value)}") from error
    if len(shape) != result.ndim or any(s not in (None, r) for s, r in zip(shape, result.shape, strict=True)):
        raise ThunderError(f"{what} must have shape {expected}, got {result.shape}")
    if np.isnan(result).any() or (finite and np.isinf(result).any()):
        raise ThunderError(f"{what} must be {'finite' if finite else 'without NaN'}, got {_short(value)}")
    result.setflags(write=False)
    return result


def _has_none(data: npt.NDArray[Any]) -> bool:
    """Return True for an array of objects with None, which NumPy converts to NaN."""
    return data.dtype.kind == "O" and any(entry is None for entry in data.flat)


def real(value: Any, what: str, *, finite: bool = True, expected: str = "real numbers") -> Array:
    """Return real numbers of any shape as float64, without a copy where possible.

    Parameters
    ----------
    value : array_like
        Numbers.
    what : str
        Name used in messages.
    finite : bool
        Refuse NaN and infinities.
    expected : str
        Requirement in messages.

    Raises
    ------
    ThunderError
        For other values, also complex numbers; the message has `what` and the value.

    Examples
    --------
    >>> from thunder_py.checks import real
    >>> real([[1, 2], [3, 4]], "gains").shape
    (2, 2)
    """
    try:
        entries = np.asarray(value)
        if entries.dtype.kind not in "fiubO" or _has_none(entries):
            raise TypeError(f"entries of type {entries.dtype}")
        result = np.asarray(entries, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ThunderError(f"{what} must be {expected}, got {_short(value)}") from error
    if finite and not np.isfinite(result).all():
        raise ThunderError(f"{what} must be finite, got {_short(value)}")
    return result


def pose(value: Any, what: str) -> Array:
    """Return `value` as a read-only (4, 4) rigid transform, or raise `ThunderError` naming `what`.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.checks import pose
    >>> pose(np.eye(4), "base").shape
    (4, 4)
    """
    T = array(value, (4, 4), what)
    R = T[:3, :3]
    if not np.array_equal(T[3], (0.0, 0.0, 0.0, 1.0)):
        raise ThunderError(f"{what} must have the last row [0, 0, 0, 1], got {T[3].tolist()}")
    wrong = no_rotation(R)
    if wrong is not None:
        raise ThunderError(f"{what} must hold {wrong}")
    return T


def no_rotation(R: Array, tolerance: float = ROTATION_TOLERANCE) -> str | None:
    """Return what a matrix (3, 3) must be, and by how much it is not; None for a rotation matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.checks import no_rotation
    >>> no_rotation(np.diag([1.0, 1.0, -1.0]))
    'a rotation, got a reflection (determinant -1): [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]'
    """
    with np.errstate(over="ignore", invalid="ignore"):
        off = float(np.abs(R.T @ R - np.eye(3)).max())
    if not off <= tolerance:
        hint = "; thunder_py.spatial.nearest_rotation repairs one that was rounded"
        return (
            f"an orthonormal rotation matrix (to {tolerance:g}), got {R.tolist()}, whose R^T R deviates from the "
            f"identity by {off:.2g}{hint if off <= REPAIRED_TOLERANCE and np.linalg.det(R) > 0.0 else ''}"
        )
    if np.linalg.det(R) < 0.0:
        return f"a rotation, got a reflection (determinant -1): {R.tolist()}"
    return None


def rotation(value: Any, what: str) -> Array:
    """Return `value` as a read-only (3, 3) rotation matrix, or raise `ThunderError` naming `what`.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.checks import rotation
    >>> rotation(np.eye(3), "R").shape
    (3, 3)
    """
    T = np.eye(4)
    T[:3, :3] = array(value, (3, 3), what)
    return pose(T, what)[:3, :3]


def unit_axis(value: Any, what: str) -> Array:
    """Return `value` as a read-only (3,) unit vector, or raise `ThunderError` naming `what`.

    Examples
    --------
    >>> from thunder_py.checks import unit_axis
    >>> unit_axis([0, 0, 1], "axis").tolist()
    [0.0, 0.0, 1.0]
    """
    axis = array(value, (3,), what)
    if abs(np.linalg.norm(axis) - 1.0) > ROTATION_TOLERANCE:
        raise ThunderError(f"{what} must have unit length, got {axis.tolist()} of length {np.linalg.norm(axis):g}")
    return axis


def is_number(value: object) -> bool:
    """Return True for a real number; booleans are not numbers.

    Examples
    --------
    >>> from thunder_py.checks import is_number
    >>> is_number(1.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Return True for an integer; booleans are not integers.

    Examples
    --------
    >>> from thunder_py.checks import is_whole
    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _number(value: Any) -> float:
    """Return a number, also from an array without dimensions; NaN for anything else."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    return float(value) if is_number(value) else math.nan


def _got(value: Any, number: float) -> str:
    return _short(value) if math.isnan(number) else f"{number:g}"


def positive(value: Any, what: str, unit: str = "", *, finite: bool = True) -> float:
    """Return a number above zero, or raise `ThunderError`.

    Examples
    --------
    >>> from thunder_py.checks import positive
    >>> positive(2, "duration", "s")
    2.0
    """
    number = _number(value)
    if not number > 0.0 or (finite and number == math.inf):
        end = " and finite" if number == math.inf else ""
        raise ThunderError(f"{what} must be positive{end}{unit and f' [{unit}]'}, got {_got(value, number)}")
    return number


def nonnegative(value: Any, what: str, unit: str = "") -> float:
    """Return a finite number of at least zero, or raise `ThunderError`.

    Examples
    --------
    >>> from thunder_py.checks import nonnegative
    >>> nonnegative(0, "margin")
    0.0
    """
    number = _number(value)
    if not 0.0 <= number < math.inf:
        rule = "be finite" if number == math.inf else "not be negative"
        raise ThunderError(f"{what} must {rule}{unit and f' [{unit}]'}, got {_got(value, number)}")
    return number


def within(value: Any, what: str, low: float, high: float, *, ends: str = "[]") -> float:
    """Return a number from `low` to `high`, or raise `ThunderError`.

    Parameters
    ----------
    value : float
        The number.
    what : str
        Name used in messages.
    low, high : float
        Bounds.
    ends : str
        ``"[]"``, ``"[)"``, ``"(]"`` or ``"()"``: a round bracket excludes the bound.

    Examples
    --------
    >>> from thunder_py.checks import within
    >>> within(0.5, "damping", 0.0, 1.0, ends="[)")
    0.5
    """
    inside = is_number(value) and low <= value <= high
    if not inside or (ends[0] == "(" and value == low) or (ends[1] == ")" and value == high):
        raise ThunderError(f"{what} must be a number in {ends[0]}{low:g}, {high:g}{ends[1]}, got {value!r}")
    return float(value)


def whole(value: Any, what: str, least: int, most: int | None = None) -> int:
    """Return an integer from `least` to `most`, or raise `ThunderError`.

    Examples
    --------
    >>> from thunder_py.checks import whole
    >>> whole(64, "samples", 1)
    64
    """
    if not is_whole(value) or value < least or (most is not None and value > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ThunderError(f"{what} must be a whole number {bounds}, got {value!r}")
    return int(value)


def seed_of(value: Any) -> int:
    """Return a seed; None is refused, because results would not be reproducible.

    Examples
    --------
    >>> from thunder_py.checks import seed_of
    >>> seed_of(42)
    42
    """
    return whole(value, "seed", 0)


def numbers(value: Any, what: str, dimensions: int | None = None) -> Array:
    """Return a float64 copy of an array, which may contain NaN and infinities, or raise `ThunderError`.

    Parameters
    ----------
    value : array_like
        Numbers; strings are refused.
    what : str
        Name used in messages.
    dimensions : int, optional
        Required number of dimensions.

    Examples
    --------
    >>> from thunder_py.checks import numbers
    >>> numbers([1, float("nan")], "samples", 1).tolist()
    [1.0, nan]
    """
    try:
        data = np.asarray(value)
        if data.dtype.kind in "USOcMmV" and (data.dtype.kind != "O" or any(isinstance(v, str) for v in data.flat)):
            raise TypeError(f"entries of type {data.dtype}")
        if _has_none(data):
            raise TypeError("entries that are None")
        result = np.array(data, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if sizes := _unequal(value):
            raise ThunderError(f"{what} must have rows of equal length, got {sizes}") from None
        raise ThunderError(f"{what} must be numbers, got {type(value).__name__}: {error}") from error
    if dimensions is not None and result.ndim != dimensions:
        raise ThunderError(f"{what} must have {dimensions} dimension(s), got shape {result.shape}")
    return result


def _unequal(value: Any) -> str:
    """Describe the first two rows of different shape; empty without such rows."""
    if not isinstance(value, (list, tuple)):
        return ""
    try:
        shapes = [np.shape(row) for row in value]
    except ValueError:
        return ""
    for k, shape in enumerate(shapes):
        if shape != shapes[0]:
            return f"shape {shapes[0]} at index 0 and {shape} at index {k}"
    return ""


def points(value: Any, what: str, tail: tuple[int, ...] = (3,)) -> Array:
    """Return a float64 copy of an array of shape (..., *tail), which may contain NaN and infinities.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.checks import points
    >>> points(np.zeros((5, 3)), "phi").shape
    (5, 3)
    """
    result = numbers(value, what)
    if result.shape[-len(tail) :] != tail:
        raise ThunderError(f"{what} must have shape (..., {', '.join(map(str, tail))}), got {result.shape}")
    return result


T = TypeVar("T")


def of_kind(value: object, kind: type[T], what: str) -> T:
    """Return an object if it is an instance of a type.

    Parameters
    ----------
    value : object
        The object.
    kind : type
        Required type.
    what : str
        Name used in messages.

    Raises
    ------
    ThunderError
        If the object is not an instance of `kind`.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.checks import of_kind
    >>> of_kind(th.Robot.load("elbow"), th.Robot, "robot").n
    2
    """
    if not isinstance(value, kind):
        name = f"an {kind.__name__}" if kind.__name__[0] in "AEIOU" else f"a {kind.__name__}"
        raise ThunderError(f"{what} must be {name}, got {type(value).__name__}: {value!r:.80}")
    return value


def finite(value: Any, what: str) -> float:
    """Return a finite number, or raise `ThunderError`."""
    number = value if type(value) is float else _number(value)
    if not math.isfinite(number):
        raise ThunderError(f"{what} must be a finite number, got {value!r}")
    return number


def one_of(value: object, options: Collection[str], what: str) -> str:
    """Return `value` if it is one of `options`, or raise `UnknownNameError` naming `what`."""
    if not isinstance(value, str) or value not in options:
        hint = nearest_hint(value, options) if isinstance(value, str) else ""
        raise UnknownNameError(f"{what} must be one of {', '.join(options)}, got {value!r:.80}{hint}")
    return str(value)


def known_name(name: Any, known: Collection[str], text: str) -> None:
    """Raise `UnknownNameError` for a name that is not known: the text, the name and the nearest known one.

    Examples
    --------
    >>> from thunder_py.checks import known_name
    >>> known_name("panda", ["panda", "ur5e"], "no robot is called")
    """
    if name not in known:
        raise UnknownNameError(f"{text} {name!r}{nearest_hint(str(name), known)}")


def all_positive(values: Array, what: str) -> Array:
    """Return `values` if all are positive, or raise `ThunderError` naming `what`."""
    if not (values > 0.0).all():
        raise ThunderError(f"{what} must be positive, got {values.tolist()}")
    return values


def all_nonnegative(values: Array, what: str) -> Array:
    """Return `values` if none is negative, or raise `ThunderError` naming `what`."""
    if (values < 0.0).any():
        raise ThunderError(f"{what} must not be negative, got {values.tolist()}")
    return values


def number_or_row(value: object, what: str, *, finite: bool = True) -> Array:
    """Return `value` as an array if it is a number or a row of them, or raise `ThunderError` naming `what`."""
    if value is None or isinstance(value, (str, bytes)):
        raise ThunderError(f"{what} must be a number or a row of numbers, got {value!r}")
    return array(value, (None,) if np.iterable(value) else (), what, finite=finite)


def one_or_each(value: Any, n: int, what: str, *, finite: bool = True) -> Array:
    """Return n numbers, given as a row or as one number for all.

    Examples
    --------
    >>> from thunder_py.checks import one_or_each
    >>> one_or_each(0.5, 2, "blend").tolist()
    [0.5, 0.5]
    """
    return np.full(n, array(value, () if np.ndim(value) == 0 else (n,), what, finite=finite))


def per_joint(value: object, n: int, what: str, *, finite: bool = True) -> Array:
    """Return `value` as n numbers, one per joint, or raise `ThunderError` naming `what`."""
    row = number_or_row(value, what, finite=finite)
    if row.ndim == 1 and row.size != n:
        raise ThunderError(f"{what} must be a number or {n} numbers, one per joint, got {row.size}")
    return np.full(n, row)


def positives(value: object, n: int, what: str, *, finite: bool = True) -> Array:
    """Return `value` as n positive numbers, one per joint, read-only, or raise `ThunderError` naming `what`."""
    row = all_positive(per_joint(value, n, what, finite=finite), what)
    row.setflags(write=False)
    return row


def apart(*values: float) -> list[str]:
    """Return numbers with as few digits, six at least, as tell those apart that differ.

    Examples
    --------
    >>> from thunder_py.checks import apart
    >>> apart(2.8973, 2.5), apart(2.8973, 2.8973001)
    (['2.8973', '2.5'], ['2.8973', '2.8973001'])
    """
    for digits in range(6, 17):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) >= len(set(values)):
            return texts
    return [repr(float(value)) for value in values]


def given_group(what: str, *groups: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the one group of arguments that is given, the others being None, or raise `ThunderError`.

    Examples
    --------
    >>> from thunder_py.checks import given_group
    >>> given_group("gains", {"Lambda": None}, {"K_0": 100.0, "K_1": 20.0})
    {'K_0': 100.0, 'K_1': 20.0}
    """
    given = [name for group in groups for name, value in group.items() if value is not None]
    for group in groups:
        if given == list(group):
            return group
    expected = ", or ".join(" and ".join(group) for group in groups)
    raise ThunderError(f"{what} must be {expected}, got {' and '.join(given) or 'none'}")


@contextmanager
def argument_names(**names: str) -> Iterator[None]:
    """Replace the core's names of arguments, the keys, by Python's in messages of errors."""
    try:
        yield
    except ValueError as error:
        error.args = (re.sub(rf"\b({'|'.join(names)})\b", lambda match: names[match[0]], str(error)),)
        raise


def is_pose(T: Array) -> bool:
    """Return whether a (4, 4) matrix, finite or not, is a rigid transform."""
    R = T[:3, :3]
    return bool(
        np.isfinite(T).all()
        and np.array_equal(T[3], (0.0, 0.0, 0.0, 1.0))
        and np.abs(R.T @ R - np.eye(3)).max() <= ROTATION_TOLERANCE
        and np.linalg.det(R) > 0.0
    )
