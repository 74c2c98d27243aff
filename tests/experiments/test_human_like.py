"""The validation of section 5 as a whole, in its short form: every part with its tables, one figure."""

from __future__ import annotations

import matplotlib.pyplot as plt

from thunder_py.papers.human_like.run import PARTS, HumanLike

from .quick import quick

#: a number of the report and one of our columns, from each part
IN_PARTS = {
    "sampling": ("6.88", "Friedman"),
    "real": ("30.6 ± 19.4", "minimum jerk"),
    "obstacles": ("0.0324 ± 0.054", "minimum jerk, via"),
    "arm": ("0.049", "DMP Gaussian"),
}


def test_short_form_has_every_part_table_and_figure() -> None:
    found = quick("human-like")
    assert isinstance(found, HumanLike)
    assert list(found.parts) == list(PARTS) == list(IN_PARTS)
    text = found.table()
    sections = text.split("## 5.3.")[1:]
    for section, (printed, column) in zip(sections, IN_PARTS.values(), strict=True):
        assert printed in section
        assert column in section
    for number in (10, 11, 12, 13, 14, 15):
        assert f"Table {number}:" in text
    figure = found.plot()
    titles = [axes.get_title() for axes in figure.axes]
    places = ("Figure 30", "Table 10", "Figure 31", "Table 13", "Figure 33", "Figure 34")
    assert all(place in title for place, title in zip(places, titles, strict=True))
    assert all(axes.has_data() for axes in figure.axes)
    plt.close(figure)
