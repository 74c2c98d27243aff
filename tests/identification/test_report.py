"""The report: complete, in one file, safe whatever names are in it."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import thunder_py as th
from tests.identification.test_validation import arm, log_of, logs, validation  # noqa: F401
from thunder_py.errors import FileFormatError
from thunder_py.identification import ModelComparison, compare_models, cross_validate, identify
from thunder_py.identification.report.figures import (
    data_url,
    draw_comparison,
    draw_excitation,
    draw_residuals,
    draw_torques,
)
from thunder_py.identification.report.html import findings


class Page(HTMLParser):
    """Headings, cells of tables, sources of pictures, and whether every element ends."""

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.cells, self.pictures = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.pictures.append(dict(attributes))
        elif tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)
        elif self.open and self.open[-1] in ("td", "th"):
            self.cells.append(data)


@pytest.fixture(scope="module")
def report(arm, logs, validation, tmp_path_factory):  # noqa: F811
    path = tmp_path_factory.mktemp("report") / "report.html"
    found = identify(arm, logs)
    models = compare_models(arm, logs, {"friction": {}, "links & more": {"unknown": "inertial"}}, folds=3)
    found.report(path, logs=[log_of(arm, 9)], validation=validation, comparison=models, notes=["a <note>"])
    return found, path.read_text(encoding="utf-8")


def test_it_has_every_section_and_number(report):
    found, text = report
    page = Page(text)
    assert page.open == []
    assert page.headings == [
        "Identification of robot", "Warnings", "Torques of held-out logs", "Residuals", "Models", "Parameters",
        "Friction", "Excitation", "Provenance",
    ]  # fmt: skip
    assert set(found.base.names) <= set(page.cells)
    assert f"{found.base_parameters[0]:.4g}" in page.cells
    assert {"log <9>", "log <0>", "links & more"} <= set(page.cells)
    assert th.__version__ in text


def test_its_pictures_are_in_it_and_nothing_else_is_loaded(report):
    page = Page(report[1])
    assert len(page.pictures) == 2 + 1 + 1 + 1 + 1 + 1
    for picture in page.pictures:
        kind, _, data = picture["src"].partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert picture["alt"]
        svg = base64.b64decode(data).decode()
        assert "<svg" in svg
        assert re.findall(r"""(?:href|src)=["'](?!#|data:)""", svg) == []
    assert re.findall(r"""(?:href|src)=["'](?!data:)|url\(|@import|<script""", report[1]) == []


def test_names_are_text_and_never_markup(report):
    assert "a &lt;note&gt;" in report[1]
    assert "<note>" not in report[1]
    assert "log &lt;9&gt;" in report[1]


@pytest.mark.filterwarnings("ignore:the log asks for negative inertia at joint2")
def test_it_warns_of_what_is_doubtful(arm, logs):  # noqa: F811
    found = identify(arm.replace(inertial=0.1 * arm.inertial), log_of(arm, 0, noise=3.0)[:60])
    text = " ".join(findings(found, None))
    assert "The standard deviation exceeds the value of" in text
    assert "No physical body has the parameters of link" in text
    days = [replace(log, tau=log.tau + 2.0 * k) for k, log in enumerate(logs)]  # sensors that drift
    drifting = cross_validate(arm, days)
    assert "Parameters vary between folds" in " ".join(findings(identify(arm, days), drifting))


def test_a_report_without_held_out_logs_tells_so(arm, logs, tmp_path):  # noqa: F811
    identify(arm, logs[0]).report(tmp_path / "report.html")
    assert "No log was held out" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_any_name_and_uneven_instants_are_drawn(arm, tmp_path):  # noqa: F811
    log = log_of(arm, 0)[:60]
    uneven = replace(log, t=log.t + 2e-3 * np.sin(np.arange(60.0)), name=r"$\frac$")
    found = identify(arm, log)
    found.report(tmp_path / "report.html", logs=[uneven, replace(log, name="")])
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    svgs = [base64.b64decode(each["src"].partition(",")[2]).decode() for each in page.pictures]
    assert any("no spectrum: instants are uneven" in svg for svg in svgs)
    assert {r"$\frac$", "held-out log 2"} <= set(page.cells)
    predictions = [found.predict(replace(log, name=r"$\frac$"))]
    assert r"of the residuals, $\frac$</text>" in base64.b64decode(data_url(draw_residuals(predictions))[26:]).decode()


def test_panels_of_an_odd_number_of_joints_have_ticks(validation):  # noqa: F811
    prediction = validation.predict(0, most=20)
    three = [0, 1, 0]
    odd = replace(
        prediction,
        rows=("a", "b", "c"),
        measured=prediction.measured[:, three],
        predicted=prediction.predicted[:, three],
    )
    shown = [ax.xaxis.get_tick_params()["labelbottom"] for ax in draw_torques(odd).axes]
    assert shown == [False, True, True]


def test_the_legend_of_the_excitation_covers_no_bar(arm, logs):  # noqa: F811
    found = identify(arm, logs[0])
    figure = draw_excitation(found, [found.predict(logs[0], most=20)])
    assert [len(figure.legends), *(ax.get_legend() for ax in figure.axes)] == [1, None, None]


def test_the_same_numbers_give_the_same_figure(validation):  # noqa: F811
    comparison = ModelComparison(validations={"all": validation})
    first, second = (data_url(draw_comparison(comparison)) for _ in range(2))
    assert first == second


def test_a_report_is_html(arm, logs, tmp_path):  # noqa: F811
    with pytest.raises(FileFormatError, match=r"a report is an .html file, got '.pdf'"):
        identify(arm, logs[0]).report(tmp_path / "report.pdf")
