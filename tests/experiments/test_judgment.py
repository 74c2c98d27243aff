"""Joint judgments: the factor of one choice, orders, a search that is deterministic, tables, figures and refusals."""

import json

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import UnknownNameError
from thunder_py.papers.judgment.judge import FreeParameter, Judgment, judge
from thunder_py.papers.tables import plain

GAIN = FreeParameter("gain", 2.0, (1.0, 8.0), "gain [1/s]", "a factor of eight")
DELAY = FreeParameter("delay", 0.0, (0.0, 0.2), "delay [s]")
WAY = FreeParameter("way", "near", ("near", "far"))


def loop(gain: float, way: str, delay: float = 0.0) -> dict[str, object]:
    draws = np.array([0.9, 1.0, 1.3])
    return {"error": draws / gain * (1.0 if way == "near" else 0.5), "rest": 0.3 + delay, "constant": 3.0}


PRINTED = {"error": 0.1, "rest": 0.4, "constant": 4.0}


@pytest.fixture(scope="module")
def found() -> Judgment:
    return judge("Table 0", loop, [GAIN, WAY, DELAY], PRINTED, orders=[list(PRINTED)], budget=80)


def test_values_and_ranges():
    assert GAIN.values == (1.0, 2.0, 8.0)
    assert FreeParameter("way", "x", ("a",)).values == ("a", "x")
    assert [GAIN.at(share) for share in (0.0, 1 / 3, 1.0)] == [1.0, 2.0, 8.0]  # logarithmic
    assert [DELAY.at(share) for share in (0.0, 0.5)] == [0.0, 0.1]  # zero has no logarithm
    assert [WAY.at(share) for share in (0.0, 0.6, 1.0)] == ["near", "far", "far"]
    assert FreeParameter("count", 3, (2, 50)).at(0.5) == 10


def test_each_value_alone_comes_first(found):
    assert found.points[0] == {"gain": 2.0, "way": "near", "delay": 0.0}
    values, results = found.over("error", "gain")
    assert values == [1.0, 2.0, 8.0]
    assert np.array_equal(results[1], np.array([0.9, 1.0, 1.3]) / 2.0)
    assert found.moved_by("error") == {"gain": (0.125, 1.0), "way": (0.25, 0.5)}
    assert found.moved_by("constant") == {}


def test_factor_is_that_of_one_choice_and_the_worst_number(found):
    """No choice moves the constant, 4 / 3; the others come nearer than that together."""
    assert found.factor == pytest.approx(4.0 / 3.0)
    assert all(abs(np.log(ratio[found.best])) <= np.log(4.0 / 3.0) + 1e-12 for ratio in found.ratios.values())
    assert found.factors[0] == pytest.approx(5.0)  # 0.5 for 0.1
    assert len(found.points) == 85  # nominal, 4 values alone, 80


def test_search_finds_a_narrow_optimum_of_many_quantities():
    """Eight numbers that agree at one point only, to which no number leads alone."""
    goal = np.array([0.2, 0.7, 0.4, 0.9])
    turn = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])

    def numbers(**given: float) -> dict[str, float]:
        x = np.log10(list(given.values()))
        return {f"{k}": float(v) for k, v in enumerate(np.exp(2.0 * np.append(turn @ (x - goal), (x - goal) ** 2)))}

    four = [FreeParameter(f"q{k}", 1.0, (1.0, 10.0)) for k in range(4)]
    again = [judge("", numbers, four, {f"{k}": 1.0 for k in range(8)}, budget=120, seed=3) for _ in range(2)]
    assert again[0].factor == again[1].factor < 1.3
    assert again[0].factors[0] > 20.0


def test_orders(found):
    assert set(found.pairs) == {("error", "rest"), ("error", "constant"), ("rest", "constant")}
    assert found.reversed == {}
    assert found.factor_in_order == found.factor
    swapped = judge("", loop, [GAIN, WAY], {"rest": 4.0, "constant": 0.4}, orders=[["rest", "constant"]])
    assert swapped.reversed == {("constant", "rest"): 0.0}
    assert swapped.factor_in_order == np.inf
    text = swapped.sentence()
    assert text.startswith("Reversed at the best choice: 1 of 1 printed orders: rest > constant (as printed at 0 %).")
    assert text.endswith("No choice has all printed orders, at most 0 of 1.")


def test_zero_is_judged_by_its_order_only():
    nothing = judge("", lambda gain: {"a": gain, "b": 0.0}, [GAIN], {"a": 2.0, "b": 0.0}, orders=[["a", "b"]], budget=9)
    assert list(nothing.ratios) == ["a"]
    assert (nothing.factor, nothing.reversed) == (1.0, {})


def test_divergence_counts_as_infinite():
    diverging = judge("", lambda gain: {"error": np.nan if gain > 2 else 1.0}, [GAIN], {"error": 5.0}, budget=12)
    assert diverging.factor == pytest.approx(5.0)
    assert np.isinf(diverging.factors).any()
    assert "1 to diverged" in diverging.table()
    diverging.plot(["error"], ["gain"])


def test_table_has_paper_ratio_choice_and_causes(found):
    text = found.table()
    assert "All 3 printed orders are reproduced at the best choice." in text
    assert "within a factor of 1.333, the nominal one of 5." in text
    assert "gain [1/s]: 0.125 to 1; way: 0.25 to 0.5" in text
    assert "a factor of eight" in text
    row = next(line for line in text.splitlines() if "constant" in line and "|" in line)
    assert [cell.strip() for cell in row.split("|")[1:-1]] == ["constant", "4", "3", "0.75", "3", ""]


def test_results_are_json(found):
    again = json.loads(json.dumps(plain(found.to_dict())))
    assert again["factor"] == found.factor
    assert again["results"]["constant"]["ratio"] == 0.75


def test_figure_has_the_paper_and_the_best_choice(found):
    figure = found.plot(["error", "rest"], ["gain", "way"])
    assert len(figure.axes) == 4
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("gain [1/s]", "error")
    lines = {line.get_label(): line for line in ax.lines}
    assert list(lines["paper"].get_ydata()) == [0.1, 0.1]
    assert list(lines["best choice"].get_xdata()) == [found.choice["gain"]]


def test_refusals(found):
    assert_refused(
        (lambda: judge("", loop, [], {}), "...quantities must have at least one..."),
        (lambda: judge("", loop, [GAIN, WAY], {"error": -1.0}), "...at least 0, for ratios, got -1.0 for 'error'..."),
        (
            lambda: found.plot(["eror"], ["gain"]),
            "...results are error, rest, constant, got 'eror'...",
            UnknownNameError,
        ),
        (lambda: found.over("error", "x"), "...quantities are gain, way, delay, got 'x'...", UnknownNameError),
        (lambda: judge("", lambda gain: {"a": [1.0] * int(gain)}, [GAIN], {}), "...same results with one shape..."),
    )
