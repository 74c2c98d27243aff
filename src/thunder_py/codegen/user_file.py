"""Execution of a user's Python file of functions, only on explicit request."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import FileFormatError
from ..files import read_whole
from ..symbolic import SymbolicModel


def run_user_file(path: str | Path, model: SymbolicModel) -> None:
    """Execute ``functions(model)`` of a file, which calls ``model.add_function(...)`` for each function.

    Parameters
    ----------
    path : path-like
        A Python file that defines ``functions``.
    model : SymbolicModel
        Receives the functions.

    Raises
    ------
    FileFormatError
        If the file does not compile, does not define ``functions``, or fails; with line and reason.
    OSError
        If the file cannot be read.
    """
    source = Path(path)
    text = read_whole(source)
    # a registered module, as dataclasses require; its folder is on the path for imports
    module = ModuleType(f"_thunder_functions_{source.stem}")
    module.__file__ = str(source)
    before = len(model.functions)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(source.resolve().parent))
    try:
        _guarded(source, lambda: exec(compile(text, str(source), "exec"), module.__dict__))
        functions: Any = getattr(module, "functions", None)
        if not callable(functions):
            raise FileFormatError("must define functions(model), which calls model.add_function(...)", path=source)
        _guarded(source, lambda: functions(model))
    finally:
        sys.path.remove(str(source.resolve().parent))
        del sys.modules[module.__name__]
    if len(model.functions) == before:
        raise FileFormatError("functions(model) must call model.add_function(...), got no function", path=source)


def _guarded(source: Path, call: Callable[[], object]) -> None:
    try:
        call()
    except SyntaxError as error:
        raise FileFormatError(f"is not valid Python: {error.msg}", path=source, line=error.lineno) from error
    except (Exception, SystemExit) as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(source)]
        line = frames[-1].lineno if frames else None
        raise FileFormatError(f"{type(error).__name__}: {error}", path=source, line=line) from error
