import re
from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.text import Text

from thunder_py.papers.elastic_wrist.run import run_elastic_wrist
from thunder_py.papers.moving_objects.run import run_moving_objects
from thunder_py.papers.picking.figure import plot_pick, plot_servoing_domain
from thunder_py.papers.picking.run import trace
from thunder_py.plotting.style import LAW_COLORS

from .quick import quick

pytestmark = pytest.mark.release  # runs of experiments come before the drawing

#: shortest runs that fill every panel
RESULTS: dict[str, Callable[[], Any]] = {
    "elastic wrist": lambda: run_elastic_wrist(
        seeds=(12,), sweep=13, cells=30, starts=1, plan_cells=60, turning=(False,)
    ),
    "human-like": lambda: quick("human-like"),
    "moving objects": lambda: run_moving_objects(arm_seeds=1, point_seeds=3, variant_seeds=1),
    "picking": lambda: quick("picking"),
    "throwing": lambda: quick("throwing"),
}


@cache
def result(name: str) -> Any:
    return RESULTS[name]()


FIGURES: dict[str, Callable[[], Figure]] = {
    "elastic wrist": lambda: result("elastic wrist").plot(),
    "elastic wrist, arms": lambda: result("elastic wrist").plot_arms(),
    "human-like": lambda: result("human-like").plot(),
    "human-like, sampling": lambda: result("human-like").parts["sampling"].plot(),
    "human-like, real": lambda: result("human-like").parts["real"].plot(),
    "human-like, obstacles": lambda: result("human-like").parts["obstacles"].plot(),
    "human-like, arm": lambda: result("human-like").parts["arm"].plot(),
    "moving objects": lambda: result("moving objects").plot(),
    "picking": lambda: result("picking").plot(),
    "picking, one pick": lambda: plot_pick(trace("tool", "servoing", 0)),
    "picking, domain of eq. 124": plot_servoing_domain,
    "throwing": lambda: result("throwing").plot(),
}
#: what a title begins with: the place in the paper, or that the paper has no such picture
TITLE = r"(D4\.2, (Figures?|Tables?|Section|eqs?\.) \d|Not in D4\.2: )"


@cache
def drawn(name: str) -> Figure:
    figure = FIGURES[name]()
    figure.canvas.draw()
    plt.close(figure)
    return figure


@pytest.fixture(params=FIGURES)
def figure(request: pytest.FixtureRequest) -> Figure:
    return drawn(request.param)


def panels(figure: Figure) -> list[Axes]:
    """Return the panels that show something."""
    return [axes for axes in figure.axes if axes.axison]


def test_six_panels_at_most_on_twelve_by_eight_inches(figure: Figure) -> None:
    width, height = figure.get_size_inches()
    assert 1 <= len(panels(figure)) <= 6
    assert width <= 12.0
    assert height <= 8.0
    assert all(axes.has_data() for axes in panels(figure))


def test_titles_name_the_place_in_the_paper(figure: Figure) -> None:
    for axes in panels(figure):
        assert re.match(TITLE, axes.get_title()), axes.get_title()


def test_axes_have_labels_with_units(figure: Figure) -> None:
    for axes in panels(figure):
        for axis in axes._axis_map.values():  # type: ignore[attr-defined]
            words = [tick.get_text() for tick in axis.get_ticklabels()]
            named = any(re.search("[a-z]{2}", word) for word in words if "mathdefault" not in word)
            text = axis.get_label_text()
            assert named or re.search(r"\[.+\]|^number of ", text), (axes.get_title(), axis.axis_name, text)


def test_text_has_eight_points_at_least(figure: Figure) -> None:
    small = [text.get_text() for text in figure.findobj(Text) if text.get_text() and text.get_fontsize() < 8.0]
    assert not small


def test_legends_hide_no_data(figure: Figure) -> None:
    for axes in panels(figure):
        legend = axes.get_legend()
        if legend is not None:
            box = legend.get_window_extent()
            for line in axes.lines:
                assert not line.get_transform().transform_path(line.get_path()).intersects_bbox(box, filled=False)
        for outside in figure.legends:
            assert not outside.get_window_extent().overlaps(axes.get_window_extent())


def test_nothing_is_cut_off(figure: Figure) -> None:
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    room = 0.05  # [inch]
    assert box.x0 >= -room
    assert box.y0 >= -room
    assert box.x1 <= width + room
    assert box.y1 <= height + room


def test_a_law_has_its_color(figure: Figure) -> None:
    for axes in panels(figure):
        for line in axes.lines:
            name = str(line.get_label())
            assert name not in LAW_COLORS or same_color(line.get_color(), LAW_COLORS[name]), name
