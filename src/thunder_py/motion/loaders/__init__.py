"""Recordings from files; every loader gives a `MotionSet` in metres, radians and seconds."""

from __future__ import annotations

import importlib
from typing import Any

_LAZY = {
    "load_bvh": "bvh",
    "load_c3d": "c3d",
    "load_culm": "culm",
    "load_kinesis": "kinesis",
    "load_npz": "npz",
    "load_table": "table",
    "load_trc": "trc",
    "load_ulimb_mhh": "ulimb_mhh",
    "load_ulimb_unipi": "ulimb_unipi",
    "load_ulimb_uzh": "ulimb_uzh",
}

__all__ = [*_LAZY]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
