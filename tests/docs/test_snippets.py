"""Every program of README.md and of the docs runs, top to bottom of its page, and prints what the page says."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import itertools
import os
import re
import shlex
import warnings
from unittest import mock

import matplotlib.pyplot as plt
import pytest

import thunder_py
from tests.docs.pages import ROOT, blocks, name, pages, snippets
from thunder_py.cli.command import _parser

PACKAGE = ROOT / "src" / "thunder_py"
_NUMBER = re.compile(r"-?\d+\.(\d+)(?:e[+-]?\d+)?")
PAGES = [path for path in pages() if any(not snippet.skip for snippet in snippets(path.read_text(encoding="utf-8")))]


def check_printed(printed, shown, digits):
    """Compare with what the page says, to the letter or up to some of the last digit of numbers."""
    if not digits:
        assert printed == shown
        return
    assert same_numbers(printed, shown, digits), f"{printed}\nbut the page shows\n{shown}"


def same_numbers(printed, shown, digits):
    """Whether two texts agree up to some of the last shown digit of numbers with a decimal point."""
    if _NUMBER.sub("#", printed) != _NUMBER.sub("#", shown):
        return False
    for got, wanted in zip(_NUMBER.finditer(printed), _NUMBER.finditer(shown), strict=True):
        exponent = wanted[0].partition("e")[2] or "0"
        unit = 10.0 ** (int(exponent) - len(wanted[1]))
        if abs(float(got[0]) - float(wanted[0])) > (digits + 0.01) * unit:
            return False
    return True


class RoundingChecker(doctest.OutputChecker):
    """Accepts one unit of the last shown digit, and the sign of a zero: both depend on the processor."""

    def check_output(self, want, got, optionflags):
        return super().check_output(want, got, optionflags) or same_numbers(got, want, 1)


def run_examples(text, where):
    """Run the examples of one docstring and return how many failed."""
    example = doctest.DocTestParser().get_doctest(text, {}, where, None, None)
    return doctest.DocTestRunner(RoundingChecker(), verbose=False).run(example).failed


def run_page(path):
    """Run all programs of a page in one namespace and compare what they print."""
    names = {"__name__": "__main__"}
    for snippet in snippets(path.read_text(encoding="utf-8")):
        if snippet.skip:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            # lines of a traceback are those of the page
            exec(compile("\n" * (snippet.line - 1) + snippet.code, str(path), "exec"), names)
        if snippet.shown is not None:
            check_printed(printed.getvalue(), snippet.shown, snippet.digits)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_programs_of_a_page(page, tmp_path, monkeypatch):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # what programs write goes with the test
    try:
        with mock.patch.dict(os.environ):
            run_page(page)
    finally:
        plt.close("all")


def test_commands_are_understood():
    """Every line, and every literal of the papers' inventory, that begins with `thunder` is a command that exists."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        shown = [block.text for block in blocks(text) if block.language != "text"]
        lines = [line for block in shown for line in re.findall(r"^(?:\$ )?thunder (.+)$", block, re.MULTILINE)]
        if page.name == "papers.md":
            lines += re.findall(r"`thunder (experiment [^`]+)`", text)
        for line in lines:
            words = shlex.split(line, comments=True)
            words = words[: min([words.index(end) for end in ("&&", "|", ">", ";") if end in words], default=None)]
            if not {"--help", "--version"} & set(words):
                _parser().parse_args(words)


EXAMPLES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_examples_of_docstrings(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    examples = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert examples
    try:
        for example in examples:
            assert doctest.DocTestRunner(RoundingChecker(), verbose=False).run(example).failed == 0, example.name
    finally:
        plt.close("all")


QUANTITIES = [name for name in dir(thunder_py.Robot) if ">>> robot." in (getattr(thunder_py.Robot, name).__doc__ or "")]


def test_examples_of_quantities():
    """Docstrings of the extension, which doctest does not find by itself; each names its kernel and its theory."""
    assert len(QUANTITIES) > 30
    for quantity in QUANTITIES:
        text = getattr(thunder_py.Robot, quantity).__doc__
        assert run_examples(text, quantity) == 0
        for path in re.findall(r"``((?:cpp|docs)/[^`]+)``", text):
            assert (ROOT / path).exists(), path


def test_example_of_statuses():
    assert ">>> " in thunder_py.control.Status.__doc__
    assert run_examples(thunder_py.control.Status.__doc__, "Status") == 0


def test_what_follows_a_program_at_once_is_what_it_prints():
    """A word too many between the two, and nothing would be compared."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        follow = [b for a, b in itertools.pairwise(blocks(text)) if (a.language, b.language) == ("python", "text")]
        near = [block.line for block in follow if len(block.before.strip().splitlines()) <= 1]
        shown = [snippet.shown for snippet in snippets(text) if snippet.shown is not None]
        assert len(near) <= len(shown), f"{page}: a block of lines {near} follows a program without the word prints"


def test_what_is_printed_is_compared():
    check_printed("a 2.0\n", "a 2.001\n", 1)
    check_printed("a 2.1e-4 b\n", "a 2.2e-4 b\n", 1)
    for printed, digits in (("a 2.0\n", 0), ("b 2.001\n", 2), ("a 2.004\n", 2), ("a 2.0 2.0\n", 2)):
        with pytest.raises((AssertionError, ValueError)):
            check_printed(printed, "a 2.001\n", digits)
