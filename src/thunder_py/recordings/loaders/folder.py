"""Folders of tables with subject and task in the names of the files."""

from __future__ import annotations

import logging
import re
import warnings
from pathlib import Path
from typing import Any

from ...errors import FileFormatError, ThunderError, nearest_hint, outer_level
from ..motion_set import MotionSet
from ..plausibility import RecordingWarning, check_plausible
from ..trial import LABELS
from .table import load_table

_LOG = logging.getLogger(__name__)


def load_folder(folder: str | Path, pattern: str, **options: Any) -> MotionSet:
    r"""Read all tables of a folder; their names, and those of their folders, contain the labels.

    Parameters
    ----------
    folder : path-like
        The folder.
    pattern : str
        Path of a file in the folder, with ``{subject}``, ``{task}`` (the condition), ``{name}`` and ``{frame}`` in the
        place of labels and ``{}`` for any other text, as ``"{subject}/{task}_{}.csv"``. A field holds no ``/``.
    **options
        Arguments of `load_table`, the same for all files.

    Returns
    -------
    MotionSet
        Trials of all files, sorted by path. Without ``{name}``, their name is the path without suffix.

    Warns
    -----
    RecordingWarning
        If other files have the same suffix; and as for `load_table`, for all files together.

    Raises
    ------
    FileFormatError
        If no file has such a name, or a file cannot be read.
    ThunderError
        If the pattern or an option is invalid.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("S1_near_1", "S1_far_1", "S2_near_1"):
    ...         _ = (Path(folder) / f"{name}.csv").write_text("x,y,z\n0,0,500\n1,0,500\n3,0,501\n")
    ...     motions = load_folder(folder, "{subject}_{task}_{}.csv", columns=["x", "y", "z"], unit="mm", rate=100)
    >>> motions, motions.subjects, motions.tasks
    (<MotionSet of 3 trials, 2 subjects, 2 tasks>, ('S1', 'S2'), ('far', 'near'))
    """
    root, expression = Path(folder), _expression(pattern)
    if taken := set(options) & set(expression.groupindex):
        raise ThunderError(f"{', '.join(sorted(taken))} must be given once, by the pattern or as an argument")
    paths = sorted(path for path in root.rglob(f"*{Path(pattern).suffix}") if path.is_file())
    found = {path: match for path in paths if (match := expression.fullmatch(path.relative_to(root).as_posix()))}
    if not found:
        others = f"; other files are {', '.join(path.name for path in paths[:3])}" if paths else ""
        raise FileFormatError(f"expected files {pattern}, found none{others}", path=root)
    if left := [path for path in paths if path not in found]:
        text = f"{len(left)} files of {root} have other names than {pattern} and were left out, such as"
        text += f" {left[0].relative_to(root).as_posix()}; move them, or change the pattern"
        warnings.warn(text, RecordingWarning, stacklevel=outer_level())
    with warnings.catch_warnings():  # those of check_plausible: once for all of them, below
        warnings.filterwarnings("ignore", "trial ", RecordingWarning)
        motions = MotionSet(
            trial
            for path, match in found.items()
            for trial in load_table(
                path, **{"name": path.relative_to(root).with_suffix("").as_posix()} | match.groupdict() | options
            )
        )
    _LOG.info("%s: %d trials of %d files, %d others left out", root, len(motions), len(found), len(left))
    check_plausible(motions, ("unit", "time_unit", "angle_unit"))
    return motions


def _expression(pattern: str) -> re.Pattern[str]:
    if not isinstance(pattern, str) or not Path(pattern).suffix:
        raise ThunderError(f"pattern must be a path with a suffix, such as '{{subject}}_{{task}}.csv', got {pattern!r}")
    text, seen = "", {""}
    for k, part in enumerate(re.split(r"\{(\w*)\}", pattern)):
        if k % 2 == 0:
            text += re.escape(part)
        elif part and part not in LABELS:
            hint = nearest_hint(part, LABELS)
            raise ThunderError(f"fields of pattern must be {', '.join(LABELS)} or empty, got {part!r}{hint}")
        else:
            text += f"(?P<{part}>[^/]+?)" if part not in seen else f"(?P={part})" if part else "[^/]+?"
            seen.add(part)
    return re.compile(text)
