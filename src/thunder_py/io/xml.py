"""XML elements with their line in the file, parsing of attributes, and writing of elements.

The parser is Python's expat. It reports the line of every element and reports a document type before its contents take
effect: entities are refused at their declaration, and nothing is expanded or fetched.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from ..checks import Array
from ..errors import FileFormatError
from ..spatial.single import quaternion_of

#: similarity above which an unknown name is a misspelling; less similar names are extensions
_MISSPELLING = 0.8
XACRO = "is xacro, which is expanded in files that end in .xacro"


@dataclass(eq=False)
class Element:
    """Store an XML element: its tag, attributes and text as written, its first line, the enclosing link or joint.

    Attributes
    ----------
    owner : str
        Enclosing link or joint (or the element itself), for messages; otherwise empty.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    path: str | Path | None = None
    owner: str = ""
    children: list[Element] = field(default_factory=list)
    content: str = ""

    def error(self, message: str) -> FileFormatError:
        """Return an error about this element."""
        inner = self.owner and self.tag not in ("link", "joint")
        key = f"{self.owner} <{self.tag}>" if inner else self.owner or f"<{self.tag}>"
        return FileFormatError(message, path=self.path, line=self.line, key=key)

    def all(self, tag: str) -> list[Element]:
        """Return the children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def optional(self, tag: str) -> Element | None:
        """Return the child with this tag or None; two of them are an error."""
        children = self.all(tag)
        if len(children) > 1:
            raise children[1].error(f"must occur once, first in line {children[0].line}")
        return children[0] if children else None

    def required(self, tag: str, *, hint: str = "") -> Element:
        """Return the only child with this tag; a missing one is an error, explained by `hint`."""
        child = self.optional(tag)
        if child is None:
            raise self.error(f"needs a <{tag}> element{hint}")
        return child

    def text(self, attribute: str) -> str:
        """Return a required attribute that is not empty."""
        value = self.attributes.get(attribute, "").strip()
        if not value:
            raise self.error(f"needs the attribute {attribute!r}")
        return value

    def number(self, attribute: str, default: float | None = None, *, finite: bool = True) -> float:
        """Return a number; an attribute without `default` is required; ``finite=False`` accepts infinities."""
        if attribute not in self.attributes and default is not None:
            return default
        return self._parse(attribute, self.text(attribute), finite)

    def non_negative(self, attribute: str, default: float | None = None, *, finite: bool = True) -> float:
        """Return a number that must not be negative; see `number`."""
        value = self.number(attribute, default, finite=finite)
        if value < 0.0:
            raise self.error(f"{attribute!r} must not be negative, got {value:g}")
        return value

    def vector(self, attribute: str, default: Sequence[float]) -> list[float]:
        """Return as many finite numbers as `default` has, or `default` if the attribute is absent."""
        if attribute not in self.attributes:
            return list(default)
        words = self.attributes[attribute].split()
        if len(words) != len(default):
            raise self.error(f"{attribute!r} must be {len(default)} numbers, got {self.attributes[attribute]!r}")
        return [self._parse(attribute, word, True) for word in words]

    def _parse(self, attribute: str, text: str, finite: bool) -> float:
        if "${" in text or "$(" in text:
            raise self.error(f"{attribute!r} {XACRO}, got {text!r}")
        try:
            value = float(text.replace("_", "?"))  # float() accepts 1_000
        except ValueError:
            value = math.nan
        if math.isnan(value) or (finite and math.isinf(value)):
            raise self.error(f"{attribute!r} must be {'a finite number' if finite else 'a number'}, got {text!r}")
        return value

    def check_spelling(self, *, children: tuple[str, ...] = (), attributes: tuple[str, ...] = ()) -> None:
        """Refuse misspelt children and attributes; names unlike any known one are extensions and pass."""
        for child in self.children:
            if child.tag.startswith("xacro:") and self.tag != "robot":
                raise child.error(XACRO)
            if child.tag not in children and (near := _misspelt(child.tag, children)):
                raise child.error(f"unknown element <{child.tag}> in <{self.tag}>; did you mean <{near}>?")
        for name in self.attributes:
            if name not in attributes and (near := _misspelt(name, attributes)) and near not in self.attributes:
                raise self.error(f"unknown attribute {name!r}; did you mean {near!r}?")


@lru_cache(1 << 12)
def _misspelt(name: str, known: tuple[str, ...]) -> str:
    """Return the known name that an unknown `name` resembles, or an empty string."""
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=_MISSPELLING)
    return near[0] if near else ""


class _Builder:
    """Build the tree below `root` in callbacks of expat."""

    def __init__(self, path: str | Path | None, skipped: int) -> None:
        self.path, self.skipped = path, skipped
        self.root: Element | None = None
        self.open: list[Element] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.doctype

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        owner = self.open[-1].owner if self.open else ""
        if len(self.open) == 1 and tag in ("link", "joint"):
            owner = f"{tag} {attributes.get('name', '')!r}"
        element = Element(tag, attributes, self.line(), self.path, owner)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def text(self, data: str) -> None:
        if not data.isspace():
            self.open[-1].content += data

    def end(self, tag: str) -> None:
        self.open.pop()

    def doctype(self, name: str, system: str | None, public: str | None, has_subset: bool) -> None:
        raise FileFormatError(
            "document type declarations (DTD, entities) are refused; remove <!DOCTYPE ...>",
            path=self.path,
            line=self.line(),
        )

    def line(self) -> int:
        """Return the current line of the file."""
        return self.parser.CurrentLineNumber + self.skipped


def parse_xml(text: str | bytes, path: str | Path | None = None) -> Element:
    """Return the root of an XML document; bytes are in the encoding that it declares.

    Raises
    ------
    FileFormatError
        If it is not well-formed XML or declares a document type; with the line. Blank lines before the declaration and
        double hyphens in comments are accepted.
    """
    started = text.lstrip()
    builder = _Builder(path, len(text[: len(text) - len(started)].splitlines()))
    try:
        try:
            builder.parser.Parse(started, True)
        except expat.ExpatError:
            plain = _without_comments(started)
            if plain == started:
                raise
            builder = _Builder(path, builder.skipped)
            builder.parser.Parse(plain, True)
    except expat.ExpatError as error:
        reason, line = expat.ErrorString(error.code), error.lineno + builder.skipped
        raise FileFormatError(f"not well-formed XML: {reason}", path=path, line=line) from None
    except FileFormatError:
        raise
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise FileFormatError(f"not readable as text: {error}", path=path) from None
    assert builder.root is not None  # expat refuses a document without elements
    return builder.root


def _without_comments(text: str | bytes) -> str | bytes:
    """Return a text with blank lines in place of its comments."""
    if isinstance(text, bytes):
        return re.sub(rb"<!--.*?-->", lambda comment: b"\n" * comment[0].count(b"\n"), text, flags=re.DOTALL)
    return re.sub(r"<!--.*?-->", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.DOTALL)


def number(value: float) -> str:
    """Return the shortest text that reads back as this number."""
    return repr(float(value) + 0.0).removesuffix(".0")  # the sum turns -0.0 into 0.0


def numbers(values: Iterable[float]) -> str:
    """Return numbers separated by blanks."""
    return " ".join(number(value) for value in values)


def tag(element: str, /, **attributes: str | None) -> str:
    """Return an element without content; attributes with value None are omitted."""
    return f"<{_inside(element, attributes)}/>"


def open_tag(element: str, /, **attributes: str | None) -> str:
    """Return the start tag of an element; attributes with value None are omitted."""
    return f"<{_inside(element, attributes)}>"


def nested(element: str, inside: Iterable[str], /, **attributes: str | None) -> list[str]:
    """Return the lines of an element with lines inside."""
    return [open_tag(element, **attributes), *(f"  {line}" for line in inside), f"</{element}>"]


def _inside(element: str, attributes: Mapping[str, str | None]) -> str:
    return element + "".join(f" {key}={quoteattr(text)}" for key, text in attributes.items() if text is not None)


def comment(text: str) -> str:
    """Return a comment; double hyphens, invalid in XML comments, are separated."""
    safe = " ".join(text.split()).replace("--", "- -")
    return f"<!-- {safe}{' ' if safe.endswith('-') else ''} -->"


def quaternion(R: Array) -> Array:
    """Return the unit quaternion [w, x, y, z] of a rotation matrix (3, 3), with w >= 0."""
    x, y, z, w = quaternion_of(R)
    return np.array([w, x, y, z])
