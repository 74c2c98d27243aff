"""Processing of recordings: filters, gaps, segments, sampling, registration; for a `Trial` or a `MotionSet`."""

from __future__ import annotations

from .filtering import fill_gaps, low_pass, median_filter, moving_average, split_at_gaps
from .registration import half_path_time, landmark_map, peak_speed_time, register
from .resampling import NormalizedTrial, normalize_time, resample
from .segmentation import crop_to_movement, segment_by_speed, speed

__all__ = [
    "NormalizedTrial",
    "crop_to_movement",
    "fill_gaps",
    "half_path_time",
    "landmark_map",
    "low_pass",
    "median_filter",
    "moving_average",
    "normalize_time",
    "peak_speed_time",
    "register",
    "resample",
    "segment_by_speed",
    "speed",
    "split_at_gaps",
]
