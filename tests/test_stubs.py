import ast

import pytest

from tools.make_stubs import STUB, docstrings, generate, outline


@pytest.mark.release
def test_stub_is_up_to_date():
    committed, generated = ast.parse(STUB.read_text()), generate()
    assert outline(committed) == outline(generated), "run python tools/make_stubs.py"
    assert docstrings(committed) == docstrings(generated), "run python tools/make_stubs.py"
