import re
from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure

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
        seeds=(12,), sweep=13, cells=30, starts=1, plan_cells=60, targets=((), 0, 0), turning=(False,)
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


def test_figures_can_be_read(figure: Figure) -> None:
    box, (width, height), room = figure.get_tightbbox(), figure.get_size_inches(), 0.05  # [inch]
    assert 1 <= len(panels(figure)) <= 6
    assert width <= 12.0
    assert height <= 8.0
    assert (box.x0 >= -room, box.y0 >= -room, box.x1 <= width + room, box.y1 <= height + room) == (True,) * 4
    for axes in panels(figure):
        assert axes.has_data()
        for axis in axes._axis_map.values():  # type: ignore[attr-defined]
            words = [tick.get_text() for tick in axis.get_ticklabels()]
            named = any(re.search("[a-z]{2}", word) for word in words if "mathdefault" not in word)
            text = axis.get_label_text()
            assert named or re.search(r"\[.+\]|^number of ", text), (axes.get_title(), axis.axis_name, text)
        if axes.get_legend() is not None:
            hidden = axes.get_legend().get_window_extent()
            for line in axes.lines:
                assert not line.get_transform().transform_path(line.get_path()).intersects_bbox(hidden, filled=False)
        for outside in figure.legends:
            assert not outside.get_window_extent().overlaps(axes.get_window_extent())
        for line in axes.lines:
            name = str(line.get_label())
            assert name not in LAW_COLORS or same_color(line.get_color(), LAW_COLORS[name]), name
