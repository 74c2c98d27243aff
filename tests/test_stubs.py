"""The committed type stub names what the extension has."""

from __future__ import annotations

import ast

from tools.make_stubs import STUB, docstrings, generate, outline


def test_stub_is_up_to_date():
    committed, generated = ast.parse(STUB.read_text()), generate()
    assert outline(committed) == outline(generated), "run python tools/make_stubs.py"
    assert docstrings(committed) == docstrings(generated), "run python tools/make_stubs.py"


def test_editors_show_docstrings_of_quantities():
    found = docstrings(ast.parse(STUB.read_text()))
    assert found["Model.slotine_li_regressor"].startswith("Slotine-Li regressor")
    assert "Parameters\n----------\nq : (..., n) array_like" in found["Model.mass_matrix"]


def test_outline_sees_a_changed_argument():
    tree = ast.parse(STUB.read_text())
    before = outline(tree)
    changed = ast.parse(STUB.read_text().replace("dq_r", "dq_ref"))
    assert outline(changed) != before
