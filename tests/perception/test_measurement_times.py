from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from thunder_py.errors import ThunderError
from thunder_py.perception.pose_source import measurement_times


def _times(**options: Any) -> tuple[Any, Any]:
    return measurement_times(options.pop("duration", 2.0), 30.0, rng=np.random.default_rng(3), **options)


def test_without_faults_pictures_are_regular_and_late_by_the_latency() -> None:
    taken, available = _times(latency=0.1)
    assert np.array_equal(taken, np.arange(61) / 30.0)
    assert np.array_equal(available, taken + 0.1)


@pytest.mark.parametrize(("duration", "rate", "count"), [(0.3, 10.0, 4), (0.7, 10.0, 8), (0.0, 5.0, 1), (0.99, 1.0, 1)])
def test_the_picture_at_the_end_counts(duration: float, rate: float, count: int) -> None:
    taken, _ = measurement_times(duration, rate, rng=np.random.default_rng(0))
    assert len(taken) == count


def test_jitter_stays_within_its_bound_and_lets_results_overtake() -> None:
    taken, available = _times(duration=60.0, latency=0.05, jitter=0.2)
    delay = available - taken - 0.05
    assert 0.0 <= delay.min() < 0.01
    assert 0.19 < delay.max() <= 0.2
    assert abs(delay.mean() - 0.1) < 4.0 * 0.2 / np.sqrt(12.0 * len(taken))
    assert (np.diff(available) < 0.0).any()


def test_dropped_pictures_leave_the_others_as_they_are() -> None:
    every = dict(zip(*_times(duration=100.0, jitter=0.1), strict=True))
    some = dict(zip(*_times(duration=100.0, jitter=0.1, dropout=0.3), strict=True))
    assert some.items() <= every.items()
    assert abs(len(some) / len(every) - 0.7) < 4.0 * np.sqrt(0.21 / 3001)
    assert len(_times(dropout=1.0)[0]) == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"duration": -1.0},
        {"duration": np.inf},
        {"rate": 0.0},
        {"rate": np.nan},
        {"latency": -0.1},
        {"jitter": np.nan},
        {"dropout": 1.1},
        {"dropout": "some"},
        {"rng": 3},
    ],
)
def test_nonsense_is_refused_by_name(bad: dict[str, Any]) -> None:
    (name,) = bad
    options: dict[str, Any] = {"duration": 1.0, "rate": 10.0, "rng": np.random.default_rng(0)} | bad
    with pytest.raises(ThunderError, match=rf"^{name} must"):
        measurement_times(options.pop("duration"), options.pop("rate"), **options)
