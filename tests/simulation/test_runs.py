"""Results of many runs as data frames, datasets and figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py import samples
from thunder_py.simulation import Runs, RunSpec, simulate_many

from ..control.arms import elbow, elbow_motion

pytest.importorskip("xarray")
METRICS = {
    "sum": lambda run: 10 * run.q[0, 0] + run.q[0, 1],
    "start": lambda run: run.q[0],
    "rows": lambda run: len(run.t),
    "status": lambda run: "ok",
}


def make(a: float, b: float, duration: float = 0.01, law: str = "PD") -> RunSpec:
    if a == 3.0:
        raise RuntimeError("not this one")
    return RunSpec(elbow(), th.PDGravity(elbow(), 50.0, 20.0), elbow_motion(), duration, q0=[a, b])


def sweep(sets: list[dict[str, Any]], metrics: Any = METRICS) -> Runs:
    return simulate_many(make, sets, metrics=metrics)


def test_a_grid_becomes_dimensions_whatever_its_order() -> None:
    sets = samples.grid(a=[2.0, 1.0], b=[0.1, 0.2, 0.3], law="PD")
    order = np.random.default_rng(0).permutation(6)
    data = sweep([sets[k] for k in order]).to_xarray()
    assert dict(data.sizes) == {"a": 2, "b": 3, "start_0": 2}
    assert data["a"].values.tolist() == [1.0, 2.0]
    assert data["law"].item() == "PD"
    for a in (1.0, 2.0):
        for b in (0.1, 0.2, 0.3):
            one = data.sel(a=a, b=b)
            assert one["sum"] == pytest.approx(10 * a + b)
            assert one["start"].values.tolist() == [a, b]
            assert (one["rows"].item(), one["status"].item()) == (11, "ok")


@pytest.mark.filterwarnings("ignore:.* runs failed:RuntimeWarning")
def test_other_samples_have_one_dimension_and_failures_are_nan() -> None:
    sets = [{"a": 1.0, "b": 0.1}, {"a": 3.0, "b": 0.2}, {"a": 2.0, "b": 0.2, "law": "CT"}]
    runs = sweep(sets)
    data = runs.to_xarray()
    assert dict(data.sizes) == {"run": 3, "start_0": 2}
    assert data["law"].values.tolist() == ["", "", "CT"]
    assert np.isnan(data["sum"].values).tolist() == [False, True, False]
    assert data["status"].values.tolist() == ["ok", "", "ok"]
    frame = runs.to_pandas()
    assert frame.index.name == "run"
    assert list(frame) == ["a", "b", "law", *METRICS, "failure", "attempts", "seconds", "host"]
    assert frame.loc[1, "failure"] == "RuntimeError: not this one"
    assert frame["a"].tolist() == [1.0, 3.0, 2.0]


def test_trajectories_have_a_dimension_of_time() -> None:
    runs = sweep(samples.grid(a=1.0, b=[0.1, 0.2], duration=[0.01, 0.02]), None)
    data = runs.to_xarray(["rmse"], signals=["q", "error"])
    assert dict(data.sizes) == {"b": 2, "duration": 2, "time": 21, "joint": 2}
    short = data["q"].sel(b=0.2, duration=0.01)
    np.testing.assert_array_equal(short[:11], runs[2].q)
    assert np.isnan(short[11:]).all()
    np.testing.assert_array_equal(data["q"].sel(b=0.2, duration=0.02), runs[3].q)
    assert data["joint"].values.tolist() == ["joint1", "joint2"]


def test_refusals() -> None:
    whole, runs = sweep([{"a": 1.0, "b": 0.1}], None), sweep([{"a": 1.0, "b": 0.1}])
    twice, taken = (
        dict.fromkeys(["a", "failure"], lambda run: 1.0),
        "metrics must not be called as parameters or columns ...: a, failure",
    )
    assert_refused(
        (lambda: whole.to_xarray(signals=["dqq"]), "signals must be arrays over time that were logged, got 'dqq'"),
        (lambda: whole.to_xarray(signals="q"), "signals must be a sequence of names, got the text 'q'"),
        (lambda: runs.to_xarray(signals=["q"]), "signals must be empty where no run has a result"),
        (lambda: whole.to_pandas(twice), taken),
        (lambda: runs.plot_metric("sum", "c"), "x and y must be among a, b, got 'c'"),
        (lambda: runs.plot_metric("start", "a"), "metric 'start' must be one number for each run, got array..."),
    )


@pytest.mark.filterwarnings("ignore:.* runs failed:RuntimeWarning")
def test_a_metric_over_one_parameter() -> None:
    runs = sweep(samples.grid(a=[1.0, 2.0, 3.0], b=[0.1, 0.2, 0.6]))
    ax = runs.plot_metric("sum", "a")
    np.testing.assert_allclose(ax.lines[0].get_ydata()[:2], [10.2, 20.2])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "sum")
    assert ax.get_title() == "3 of 9 runs without a finite value"
    low, high = ax.collections[0].get_datalim(ax.transData).intervaly
    assert (low, high) == pytest.approx((10.1, 20.6))
    names = sweep(samples.grid(a=1.0, b=[0.1, 0.2], law=["PD", "CT"])).plot_metric("sum", "law", log=True)
    assert [text.get_text() for text in names.get_xticklabels()] == ["PD", "CT"]
    assert names.get_yscale() == "log"


def test_a_metric_over_two_parameters() -> None:
    runs = sweep(samples.grid(a=[1.0, 2.0], b=[0.1, 0.2, 0.4], duration=[0.01, 0.02]))
    ax = runs.plot_metric("sum", "a", "b")
    np.testing.assert_allclose(ax.collections[0].get_array().reshape(3, 2), [[10.1, 20.1], [10.2, 20.2], [10.4, 20.4]])
    scattered = sweep(samples.random(12, 0, a=(0.0, 1.0), b=(0.0, 1.0))).plot_metric("sum", "a", "b")
    assert scattered.collections[0].get_offsets().shape == (12, 2)
