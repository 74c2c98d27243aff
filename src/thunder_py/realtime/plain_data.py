"""Configurations as plain data: files and mappings, with checks that name the key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..checks import Array, positive, positives
from ..errors import FileFormatError, ThunderError, UnknownNameError, nearest_hint
from ..files import read_whole
from ..io.yaml_text import MAX_BYTES, parse_number, plain_yaml


def plain(value: Any) -> Any:
    """Return the value with numeric texts as numbers, as `plain_yaml` does, for mappings that others read.

    ``"1e-3"`` and ``"pi/2"`` become floats, in mappings and lists too; other texts stay.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, str):
        try:
            return parse_number(value)
        except ValueError:
            return value
    return value


def read_plain(source: Mapping[str, Any] | str | Path) -> dict[str, Any]:
    """Return a mapping, or the content of a YAML file, as plain data.

    Paths in a file (``robot``; ``path`` and ``model`` of the ``reference``) are relative to its folder, because the
    working folder of a node is arbitrary.

    Raises
    ------
    FileFormatError
        If the file is too large, is not YAML, has a key twice, or does not hold a mapping.
    OSError
        If it cannot be read.
    """
    if isinstance(source, Mapping):
        return dict(plain(source))
    path = Path(source)
    document = plain_yaml(read_whole(path, MAX_BYTES), path)
    if not isinstance(document, dict):
        raise FileFormatError(f"must hold a mapping, got {type(document).__name__}", path=path)
    _stand_beside(path, document, ("robot",))
    if isinstance(document.get("reference"), dict):
        _stand_beside(path, document["reference"], ("path", "model"))
    return document


def _stand_beside(path: Path, entries: dict[str, Any], keys: Sequence[str]) -> None:
    """Replace relative paths by paths from the folder of the file at `path`."""
    for key in keys:
        name = entries.get(key)
        if isinstance(name, str) and Path(name).suffix:  # a robot without a suffix is a bundled one
            entries[key] = str(path.parent / name)


class Table:
    """A mapping that records its location and the keys that were read.

    Parameters
    ----------
    values : mapping
        Plain data.
    where : str
        Location for error messages.
    """

    def __init__(self, values: object, where: str) -> None:
        if not isinstance(values, Mapping):
            raise ThunderError(f"{where} must be a mapping, got {values!r}")
        self._values, self._where, self._asked = dict(values), where, set[str]()

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key."""
        self._asked.add(key)
        return self._values.get(key, default)

    def text(self, key: str, default: str | None = None, among: Sequence[str] = ()) -> str:
        """Return a text, or raise `ThunderError`."""
        value = self.get(key, default)
        if not isinstance(value, str) or (among and value not in among):
            raise ThunderError(f"{self._where}: {key} must be {' or '.join(among) or 'a text'}, got {value!r}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return True or False, or raise `ThunderError`."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            raise ThunderError(f"{self._where}: {key} must be true or false, got {value!r}")
        return value

    def positive(self, key: str, default: float | None = None) -> float:
        """Return a positive number, or raise `ThunderError`."""
        value = positive(self.get(key, default), f"{self._where}: {key}")
        return value

    def whole(self, key: str, default: int) -> int:
        """Return a positive whole number, or raise `ThunderError`."""
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 1 or value % 1 != 0:
            raise ThunderError(f"{self._where}: {key} must be a positive whole number, got {value!r}")
        return int(value)

    def positives(self, key: str, n: int, default: Any, *, finite: bool = True) -> Array:
        """Return n positive numbers, or raise `ThunderError`."""
        entry = self.get(key)
        return positives(default if entry is None else entry, n, f"{self._where}: {key}", finite=finite)

    def table(self, key: str) -> Table:
        """Return a nested mapping, by default an empty one."""
        return Table(self.get(key, {}), f"{self._where}: {key}")

    def rest(self) -> dict[str, Any]:
        """Return the entries that were not read yet."""
        return {key: value for key, value in self._values.items() if key not in self._asked}

    def done(self) -> None:
        """Raise `UnknownNameError` if a key was not read."""
        for key in self.rest():
            hint = nearest_hint(key, self._asked) or f"; there are {', '.join(sorted(self._asked))}"
            raise UnknownNameError(f"{self._where} has no key {key!r}{hint}")
