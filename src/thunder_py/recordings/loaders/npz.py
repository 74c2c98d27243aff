"""Recordings written by `MotionSet.save`."""

from ..motion_set import load_npz as load_npz
