from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.refusals import assert_refused
from thunder_py import samples


def test_a_grid_has_every_combination() -> None:
    sets = samples.grid(K=np.array([4.0, 8.0]), law="PD", seed=range(3), limits=None)
    assert sets == [{"K": K, "law": "PD", "seed": s, "limits": None} for K in (4.0, 8.0) for s in range(3)]
    assert type(sets[0]["K"]) is float
    assert samples.grid() == [{}]


@pytest.mark.parametrize("sample", [samples.random, samples.latin_hypercube])
def test_values_have_their_distributions(sample: Any) -> None:
    ranges = {
        "low": (2.0, 4.0),
        "q": ([-1.0, 0.0], [0.0, 5.0]),
        "mass": stats.expon(scale=0.5),
        "count": stats.poisson(3.0),
        "law": ["PD", "CT"],
        "name": "panda",
    }
    sets = sample(2000, 7, **ranges)
    columns = {name: [one[name] for one in sets] for name in ranges}
    assert stats.kstest(columns["low"], stats.uniform(2.0, 2.0).cdf).pvalue > 1e-3
    assert stats.kstest(columns["mass"], stats.expon(scale=0.5).cdf).pvalue > 1e-3
    q = np.array(columns["q"])
    assert stats.kstest(q[:, 0], stats.uniform(-1.0, 1.0).cdf).pvalue > 1e-3
    assert stats.kstest(q[:, 1], stats.uniform(0.0, 5.0).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(q.T)[0, 1]) < 0.1
    assert np.mean(columns["count"]) == pytest.approx(3.0, abs=0.2)
    assert type(columns["count"][0]) is int
    assert np.mean([law == "PD" for law in columns["law"]]) == pytest.approx(0.5, abs=0.05)
    assert set(columns["name"]) == {"panda"}
    again = sample(2000, 7, **ranges)
    assert all(np.array_equal(a["q"], b["q"]) and a["low"] == b["low"] for a, b in zip(sets, again, strict=True))
    assert sample(5, 8, low=(2.0, 4.0)) != sample(5, 9, low=(2.0, 4.0))


def test_a_latin_hypercube_has_one_value_in_each_interval() -> None:
    sets = samples.latin_hypercube(50, 3, a=(0.0, 50.0), b=stats.norm())
    assert sorted(int(one["a"]) for one in sets) == list(range(50))
    assert sorted(int(50 * stats.norm.cdf(one["b"])) for one in sets) == list(range(50))


def test_values_that_are_constant_or_drawn() -> None:
    array = np.zeros(2)
    sets = samples.random(40, 0, same=[array], law={"K": [1.0, 2.0]}, seed=range(3), noise=stats.norm)
    assert all(one["same"] is array and one["law"] == {"K": [1.0, 2.0]} for one in sets)
    assert {one["seed"] for one in sets} == {0, 1, 2}
    assert len({one["noise"] for one in sets}) == 40


def test_refusals() -> None:
    assert_refused(
        ({"a": (1.0, 2.0, 3.0)}, "a must be a tuple (low, high), or a list of values, got (1.0, 2.0, 3.0)"),
        ({"a": (2.0, 1.0)}, "a must have finite ends low <= high, got (2.0, 1.0)"),
        ({"a": (0.0, np.inf)}, "a must have finite ends low <= high, got (0.0, inf)"),
        ({"a": ([0.0, 1.0], [1.0, 2.0, 3.0])}, "a must have ends of one shape, got (2,) and (3,)"),
        ({"a": []}, "a must have at least one value, got none"),
        ({"a": ("PD", "CT")}, "a[0] must be numbers, got str..."),
        ({"a": (-1e308, 1e308)}, "a must have ends with a finite distance, got (-1e+308, 1e+308)"),
        ({"a": np.zeros(3)}, "a must be a tuple (low, high), a list of values, or a distribution, got ndarray: a l..."),
        ({"a": {1, 2}}, "a must be a tuple (low, high), a list of values, or a distribution, got set..."),
        ({"a": range(0)}, "a must have at least one value, got none"),
        ({"a": stats.beta}, "a must be a distribution with its parameters, got <scipy.stats._continuous_distns.bet..."),
        ({"a": stats.multivariate_normal([0.0, 1.0])}, "a must be a distribution of one number, got <scipy.stats..."),
        ({"a": stats.norm([0.0, 1.0])}, "a must be a distribution of one number, got <scipy.stats..."),
        ({"a": stats.norm(0.0, -1.0)}, "a must be a distribution with valid parameters, got <scipy.stats..."),
        call=lambda **arguments: samples.random(3, 0, **arguments),
    )
    assert_refused(
        (lambda: samples.latin_hypercube(0, 0, a=(0.0, 1.0)), "count must be a whole number of at least 1, got 0"),
        (lambda: samples.random(3, None, a=(0.0, 1.0)), "seed must be a whole number of at least 0, got None"),
        (lambda: samples.grid(a=[]), "a must have at least one value, got none"),
    )
