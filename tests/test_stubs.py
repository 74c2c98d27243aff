"""The committed type stub names what the extension has."""

from __future__ import annotations

import ast

from tools.make_stubs import STUB, generate, outline


def test_stub_is_up_to_date():
    assert outline(ast.parse(STUB.read_text())) == outline(generate()), "run python tools/make_stubs.py"


def test_outline_sees_a_changed_argument():
    tree = ast.parse(STUB.read_text())
    before = outline(tree)
    changed = ast.parse(STUB.read_text().replace("dq_r", "dq_ref"))
    assert outline(changed) != before
