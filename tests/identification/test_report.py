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
from thunder_py.identification import compare_models, cross_validate, identify
from thunder_py.identification.report.figures import (
    draw_residuals,
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
    found.report(
        path,
        logs=[log_of(arm, 9), replace(log_of(arm, 8), name="")],
        validation=validation,
        comparison=models,
        notes=["a <note>"],
    )
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
    assert {"log <9>", "held-out log 2", "log <0>", "links & more"} <= set(page.cells)
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


@pytest.mark.parametrize(
    ("uneven", "title"), [(0.0, r"spectrum of the residuals, \$\frac\$"), (2e-3, "no spectrum: instants are uneven")]
)
def test_any_name_and_uneven_instants_are_drawn(validation, uneven, title):  # noqa: F811
    prediction = validation.predict(0, most=60)
    t = prediction.t + uneven * np.sin(np.arange(60.0))
    figure = draw_residuals([replace(prediction, t=t, name=r"$\frac$")])
    figure.draw_without_rendering()
    assert figure.axes[1].get_title() == title


def test_a_report_is_html(arm, logs, tmp_path):  # noqa: F811
    with pytest.raises(FileFormatError, match=r"a report is an .html file, got '.pdf'"):
        identify(arm, logs[0]).report(tmp_path / "report.pdf")
