"""Sweeps over unprinted quantities: bands, what moves a result, tables, figures and refusals."""

import json

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import UnknownNameError
from thunder_py.papers.sweeps.sweep import FreeParameter, Sweep, sweep
from thunder_py.papers.tables import plain

GAIN = FreeParameter("gain", 2.0, (1.0, 4.0), "gain [1/s]", "a factor of two")
WAY = FreeParameter("way", "near", ("near", "far"))


def loop(gain: float, way: str) -> dict[str, object]:
    draws = np.array([0.9, 1.0, 1.3])
    return {"error": draws / gain * (1.0 if way == "near" else 0.5), "constant": 3.0}


@pytest.fixture(scope="module")
def found() -> Sweep:
    return sweep("Table 0", loop, [GAIN, WAY], {"error": 0.2, "constant": 4.0}, combined=20)


def test_nominal_value_is_added_in_order():
    assert GAIN.values == (1.0, 2.0, 4.0)
    assert FreeParameter("way", "x", ("a",)).values == ("a", "x")
    assert FreeParameter("gain", 2.0, (1.0,)).label == "gain"


def test_points_are_different_and_the_first_is_nominal(found):
    assert found.points[0] == {"gain": 2.0, "way": "near"}
    assert len(found.points) == 6  # 4 of one at a time, and both combinations left
    assert len({tuple(point.items()) for point in found.points}) == 6


def test_combinations_widen_the_band(found):
    alone = sweep("", loop, [GAIN, WAY], {})
    assert alone.range("error") == (0.25, 1.0)
    assert found.range("error") == (0.125, 1.0)


def test_paper_is_within_the_band_or_not(found):
    assert found.within("error") is True
    assert found.within("constant") is False
    assert sweep("", loop, [GAIN, WAY], {}).within("error") is None


def test_what_moves_a_result(found):
    assert found.moved_by("error") == {"gain": (0.25, 1.0), "way": (0.25, 0.5)}
    assert found.moved_by("constant") == {}


def test_over_one_quantity(found):
    values, results = found.over("error", "gain")
    assert values == [1.0, 2.0, 4.0]
    assert np.array_equal(results[1], np.array([0.9, 1.0, 1.3]) / 2.0)


def test_table_has_paper_band_and_causes(found):
    text = found.table()
    assert "gain [1/s]: 0.25 to 1; way: 0.25 to 0.5" in text
    assert "0.125 to 1" in text
    assert "a factor of two" in text
    row = next(line for line in text.splitlines() if "constant" in line)
    assert [cell.strip() for cell in row.split("|")[1:-1]] == ["constant", "4", "3", "3 to 3", "no", ""]


def test_divergence_counts_as_infinite():
    diverging = sweep("", lambda gain: {"error": np.nan if gain > 2 else 1.0}, [GAIN], {"error": 5.0})
    assert diverging.range("error") == (1.0, np.inf)
    assert diverging.within("error") is False  # a run that diverges has no error of 5
    assert "1 to diverged" in diverging.table()
    diverging.plot()


def test_results_are_json(found):
    again = json.loads(json.dumps(plain(found.to_dict())))
    assert again["results"]["error"]["range"] == [0.125, 1.0]


def test_figure_has_the_paper_and_the_band(found):
    figure = found.plot()
    assert len(figure.axes) == 4
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("gain [1/s]", "error")
    paper = next(line for line in ax.lines if line.get_label() == "paper")
    assert list(paper.get_ydata()) == [0.2, 0.2]
    assert len(found.plot(results=["error"], quantities=["way"]).axes) == 1
    many = [FreeParameter(f"q{k}", 1.0, (1.0, 2.0 + k)) for k in range(8)]
    assert len(sweep("", lambda **q: {"sum": sum(q.values())}, many, {}).plot().axes) == 6


def test_refusals(found):
    assert_refused(
        (lambda: sweep("", loop, [], {}), "...quantities must have at least one..."),
        (lambda: found.plot(["eror"]), "...results are error, constant, got 'eror'...", UnknownNameError),
        (lambda: found.over("error", "x"), "...swept quantities are gain, way, got 'x'...", UnknownNameError),
        (lambda: sweep("", lambda gain: {"a": [1.0] * int(gain)}, [GAIN], {}), "...same results with one shape..."),
    )
