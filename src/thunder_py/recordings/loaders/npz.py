"""Recordings written by `MotionSet.save`."""

from ..motion_set import load_npz

__all__ = ["load_npz"]
