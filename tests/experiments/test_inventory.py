"""Rows of the inventory of docs/papers.md; `test_options` compares those of experiments with what is drawn."""

import json
import re

from tests.docs.pages import ROOT

from .inventory import numbers, rows


def test_items_are_read() -> None:
    assert numbers("Figures 5 to 7, (3.8)") == {"Figure 5", "Figure 6", "Figure 7", "Figure 3.8"}
    assert numbers("Tables 6 and 7, Figure 4.7a; Figures (3.3) to (3.5)") == {
        *("Table 6", "Table 7", "Figure 4.7"),
        *("Figure 3.3", "Figure 3.4", "Figure 3.5"),
    }
    assert len(rows()) > 120


def test_every_row_claims_one_outcome_with_a_source() -> None:
    for item, outcome, sources in rows():
        assert re.match(r"(reproduced|factor [\d.]+|reversed|not\b|as in)", outcome), (item, outcome)
        assert sources or outcome.startswith("not"), item


def test_linked_pages_show_something() -> None:
    """A notebook has outputs, a section of a page a picture or a table; named tests exist."""
    for item, _, sources in rows():
        for target in re.findall(r"\]\(([^)]+)\)", sources):
            path, _, anchor = target.partition("#")
            text = (ROOT / "docs" / path).read_text(encoding="utf-8")
            if path.endswith(".ipynb"):
                assert any(cell.get("outputs") for cell in json.loads(text)["cells"]), item
                continue
            heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            ids = {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-"): head for head in heads}
            section = text.partition(f"# {ids[anchor]}\n")[2].partition("\n## ")[0] if anchor else text
            assert re.search(r"!\[|^\|", section, re.MULTILINE), (item, target)
        for test in re.findall(r"`(tests/[\w/.]+)", sources):
            assert (ROOT / test).exists(), item
