"""YAML text as values with file, line and key for error messages.

The text is parsed to nodes; tags are never converted to Python objects and cannot run code. Numbers are parsed by this
module: YAML 1.1 reads ``1e-3`` as a word and ``010`` as eight; here they are 0.001 and ten.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import yaml

from ..checks import Array
from ..errors import FileFormatError, ThunderError, nearest_hint

#: limits of a file, far above the size of 64 joints
MAX_BYTES = 1_000_000
MAX_DEPTH = 24
MAX_ITEMS = 1000
MAX_VALUES = 100_000

T = TypeVar("T")
U = TypeVar("U")

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FACTOR = r"(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|pi)"
_EXPRESSION = re.compile(rf"\s*([+-]?)\s*({_FACTOR}(?:\s*[*/]\s*{_FACTOR})*)\s*")
_TOKEN = re.compile(rf"([*/]?)\s*({_FACTOR})")
_TAG = "tag:yaml.org,2002:"
_KINDS = ("map", "seq", "null", "bool", "int", "float", "str", "timestamp", "value")
_INFINITE = re.compile(r"([+-]?)\.?inf", re.IGNORECASE)


def parse_number(text: str) -> float:
    """Parse a number, or a product and quotient of numbers and ``pi``: ``1e-3``, ``-pi/2``, ``170*pi/180``, ``inf``.

    Anything else is a `ValueError`.
    """
    infinite = _INFINITE.fullmatch(text.strip())
    if infinite:
        return -math.inf if infinite[1] == "-" else math.inf
    match = _EXPRESSION.fullmatch(text)
    if not match or len(text) > 100:
        raise ThunderError(text)
    result = 1.0
    for operator, factor in _TOKEN.findall(match[2]):
        value = math.pi if factor == "pi" else float(factor)
        if operator == "/":
            if value == 0.0:
                raise ThunderError(text)
            result /= value
        else:
            result *= value
    return -result if match[1] == "-" else result


@dataclass(frozen=True)
class Value:
    """Store one value of a YAML document, with its file and its dotted key, which is empty for the whole document."""

    node: yaml.Node
    path: str | Path | None
    key: str

    @property
    def line(self) -> int:
        """Line in the file, counted from 1."""
        return int(self.node.start_mark.line) + 1

    def error(self, message: str) -> FileFormatError:
        """Return an error about this value."""
        return FileFormatError(message, path=self.path, line=self.line, key=self.key or None)

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Convert `ThunderError` inside the context to an error about this value."""
        try:
            yield
        except FileFormatError:
            raise
        except ThunderError as error:
            raise self.error(str(error)) from error

    def shown(self) -> str:
        """Return the value, shortened, for a message."""
        if isinstance(self.node, yaml.MappingNode):
            return "a mapping"
        if isinstance(self.node, yaml.SequenceNode):
            return f"a list of {len(self.node.value)}"
        return repr(self.node.value[:60]) if self.node.value else "nothing"

    @property
    def _word(self) -> str:
        """Text of a scalar, empty for others."""
        return str(self.node.value) if isinstance(self.node, yaml.ScalarNode) else ""

    def number(self, *, infinite: bool = False) -> float:
        """Return a finite number (any real one if `infinite`), or raise `FileFormatError`."""
        try:
            result = parse_number(self._word)
        except ValueError:
            raise self.error(f"must be a number (such as 0.1, 1e-3, -pi/2), got {self.shown()}") from None
        if not infinite and not math.isfinite(result):
            raise self.error(f"must be finite, got {self.shown()}")
        return result

    def whole(self, least: int, most: int) -> int:
        """Return an integer from `least` to `most`, or raise `FileFormatError`."""
        if re.fullmatch(r"[+-]?\d{1,9}", self._word) and least <= int(self._word) <= most:
            return int(self._word)
        raise self.error(f"must be an integer from {least} to {most}, got {self.shown()}")

    def text(self) -> str:
        """Return text, or raise `FileFormatError`."""
        if not isinstance(self.node, yaml.ScalarNode) or self.node.tag == f"{_TAG}null":
            raise self.error(f"must be text, got {self.shown()}")
        return str(self.node.value)

    def flag(self) -> bool:
        """Return true or false (also 1 or 0), or raise `FileFormatError`."""
        word = self._word.lower()
        if word not in ("true", "false", "1", "0"):
            raise self.error(f"must be true or false, got {self.shown()}")
        return word in ("true", "1")

    def one_of(self, known: Collection[str]) -> str:
        """Return one of the known words, or raise `FileFormatError` suggesting the nearest."""
        if self._word not in known:
            hint = nearest_hint(self._word, known) if self._word else ""
            raise self.error(f"must be one of {', '.join(known)}, got {self.shown()}{hint}")
        return self._word

    def items(self, count: int | None = None) -> list[Value]:
        """Return the values of a list, of exactly `count` if given, or raise `FileFormatError`."""
        expected = "a list" if count is None else f"a list of {count}"
        if not isinstance(self.node, yaml.SequenceNode) or count not in (None, len(self.node.value)):
            raise self.error(f"must be {expected}, got {self.shown()}")
        if len(self.node.value) > MAX_ITEMS:
            raise self.error(f"must hold at most {MAX_ITEMS} entries, got {len(self.node.value)}")
        return [Value(node, self.path, f"{self.key}[{i}]") for i, node in enumerate(self.node.value)]

    def numbers(self, *shape: int | None, infinite: bool = False) -> Array:
        """Return an array of numbers of `shape` (``None``: any length), or raise `FileFormatError`."""
        if len(shape) == 1:
            return np.array([value.number(infinite=infinite) for value in self.items(shape[0])])
        return np.array([value.numbers(*shape[1:], infinite=infinite) for value in self.items(shape[0])])

    def number_or_numbers(self) -> float | tuple[float, ...]:
        """Return a finite number or a list of them, or raise `FileFormatError`."""
        is_list = isinstance(self.node, yaml.SequenceNode)
        return tuple(self.numbers(None).tolist()) if is_list else self.number()

    def section(self, known: Collection[str] | None = None) -> Section:
        """Return a mapping whose keys are unique and, if `known` is given, known; or raise `FileFormatError`."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"must be a mapping, got {self.shown()}")
        entries: dict[str, Value] = {}
        for key_node, node in self.node.value:
            place = Value(key_node, self.path, self.key)
            if not isinstance(key_node, yaml.ScalarNode):
                raise place.error("a key must be a word")
            name = str(key_node.value)
            if key_node.tag == f"{_TAG}merge":
                raise place.error(
                    "merge keys (<<) are not read; write the entries out or use aliases for single values"
                )
            if name in entries:
                raise place.error(f"key {name!r} must occur once, first in line {entries[name].line}")
            if known is not None and name not in known:
                raise place.unknown(name, known)
            entries[name] = Value(node, self.path, f"{self.key}.{name}" if self.key else name)
        return Section(self, entries)

    def unknown(self, name: str, known: Collection[str]) -> FileFormatError:
        """Return the error about an unknown key at this place."""
        hint = nearest_hint(name, known) or f"; known are {', '.join(known)}"
        return self.error(f"unknown key {name!r}{hint}")


class Section:
    """Access required and optional `entries` of a mapping, `value`, in a YAML document."""

    def __init__(self, value: Value, entries: dict[str, Value]) -> None:
        self.value, self.entries = value, entries

    def __contains__(self, key: str) -> bool:
        """Return True if the entry exists."""
        return key in self.entries

    def __getitem__(self, key: str) -> Value:
        """Return a required entry, or raise `FileFormatError`."""
        if key not in self.entries:
            similar = difflib.get_close_matches(key, self.entries, n=1, cutoff=0.7)
            raise self.value.error(f"missing key {key!r}" + (f"; is {similar[0]!r} meant?" if similar else ""))
        return self.entries[key]

    def get(self, key: str) -> Value | None:
        """Return an optional entry or None."""
        return self.entries.get(key)

    def read(self, key: str, read: Callable[[Value], T], default: U) -> T | U:
        """Return what a function reads of an optional entry, or `default`."""
        return read(self.entries[key]) if key in self.entries else default

    def number(self, key: str, default: float, *, infinite: bool = False) -> float:
        """Return an optional number, or raise `FileFormatError` for another value."""
        return self.read(key, lambda value: value.number(infinite=infinite), default)


def _yaml_error(error: yaml.YAMLError, path: str | Path | None) -> FileFormatError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).splitlines()[0]
    line = None if mark is None else mark.line + 1
    if "duplicate anchor" in str(getattr(error, "context", "")) and (first := getattr(error, "context_mark", None)):
        problem = f"an anchor must be defined once, first in line {first.line + 1}"
        return FileFormatError(problem, path=path, line=line)
    if "nesting" in problem:  # the parser reads ahead and has its own limit, above ours
        return _too_deep(path, line)
    return FileFormatError(f"not YAML: {problem}", path=path, line=line)


def _too_deep(path: str | Path | None, line: int | None) -> FileFormatError:
    return FileFormatError(f"nested more than {MAX_DEPTH} deep", path=path, line=line)


def _check_depth(text: str, path: str | Path | None) -> None:
    """Refuse deep nesting before composing, which recurses (and in C overflows the stack)."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
            if depth > MAX_DEPTH:
                line = event.start_mark.line + 1 if event.start_mark else None
                raise _too_deep(path, line)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1


def plain_yaml(data: bytes | str, path: str | Path | None = None) -> Any:
    """Return a YAML document as mappings, lists, numbers, texts, True, False and None, or raise errors of `parse_yaml`.

    Texts that `parse_number` reads are numbers, as ``1e-3`` and ``pi/2``; others stay texts, as ``1:30`` and ``0x1F``,
    of which YAML 1.1 makes 90 and 31. A key must occur once, aliases may expand to 100 000 values, tags must be known.

    Examples
    --------
    >>> from thunder_py.io.yaml_text import plain_yaml
    >>> plain_yaml("{rate: 1e3, gains: [010, pi], at: 1:30, robot: panda, hold: true, topic: }")
    {'rate': 1000.0, 'gains': [10, 3.141592653589793], 'at': '1:30', 'robot': 'panda', 'hold': True, 'topic': None}
    """
    return _Plain().of(parse_yaml(data, path))


class _Plain:
    """Conversion of a document to plain data, which counts the values: aliases can multiply them."""

    def __init__(self) -> None:
        self.count = 0

    def of(self, value: Value, depth: int = 0) -> Any:
        self.count += 1
        if self.count > MAX_VALUES or depth > MAX_DEPTH:
            raise value.error(f"must hold at most {MAX_VALUES} values, {MAX_DEPTH} deep, with those of aliases")
        kind = str(value.node.tag).removeprefix(_TAG)
        if kind not in _KINDS:
            raise value.error(f"tag {value.node.tag!r} is not read")
        if isinstance(value.node, yaml.MappingNode):
            return {key: self.of(entry, depth + 1) for key, entry in value.section().entries.items()}
        if isinstance(value.node, yaml.SequenceNode):
            return [self.of(Value(node, value.path, value.key), depth + 1) for node in value.node.value]
        return _plain_scalar(kind, str(value.node.value))


def _plain_scalar(kind: str, text: str) -> bool | int | float | str | None:
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    try:
        return parse_number(text)
    except ValueError:
        return text


def parse_yaml(data: bytes | str, path: str | Path | None = None) -> Value:
    """Parse one YAML document of UTF-8 text, at most 1 MB; `path` is for messages.

    Aliases stay references to one node and are resolved only where a value is read: a few lines cannot expand into
    gigabytes.

    Raises
    ------
    FileFormatError
        If it is too large, too deep, not UTF-8, not YAML, empty or more than one document.
    """
    if len(data) > MAX_BYTES:
        raise FileFormatError(f"must be at most {MAX_BYTES} bytes, got {len(data)}", path=path)
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        _check_depth(text, path)
        node = yaml.compose(text, Loader=_LOADER)
    except UnicodeDecodeError as error:
        raise FileFormatError(f"not UTF-8 text: {error.reason} at byte {error.start}", path=path) from error
    except yaml.YAMLError as error:
        raise _yaml_error(error, path) from error
    if node is None:
        raise FileFormatError("is empty, expected a mapping", path=path)
    return Value(node, path, "")
