import re

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py import optional
from thunder_py.table import Table

TABLE = Table(["law", "e | [rad]", "n"], [["a", 0.123456, 3], ["bb", float("nan"), None], ["c", np.array([1.5, 2]), 0]])


def test_text_and_markdown_leave_unknown_values_empty():
    assert str(TABLE).splitlines() == ["law  e | [rad]  n", "a       0.1235  3", "bb", "c        1.5 2  0"]
    assert TABLE.to_markdown().splitlines() == [
        r"| law | e \| [rad] |   n |",
        "| --: | ---------: | --: |",
        "|   a |     0.1235 |   3 |",
        "|  bb |            |     |",
        "|   c |      1.5 2 |   0 |",
    ]
    assert TABLE._repr_markdown_() == TABLE.to_markdown()
    assert "0.12 " in str(Table(TABLE.header, TABLE.rows, digits=2))


def test_dictionary_and_data_frame():
    pandas = pytest.importorskip("pandas")
    assert TABLE.to_dict()["a"] == {"e | [rad]": 0.123456, "n": 3}
    numbers = Table(["law", "e", "n"], [["a", 0.5, 3], ["b", 0.25, 4]])
    frame = numbers.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.index.tolist() == ["a", "b"]
    assert frame["e"].tolist() == [0.5, 0.25]
    assert frame.to_dict("index") == numbers.to_dict()


def test_refusals(monkeypatch):
    assert_refused(
        (lambda: Table(["a", "b"], [[1, 2], [1, 2, 3]]), "row 1 must have 2 values, got 3"),
        (lambda: Table(["a"], [1]), "row 0 must be a sequence of values, got 1"),
        (lambda: Table([], []), "header must name at least one column"),
        (lambda: Table(["a", "b", "b"], [[1, 2, 3]]).to_dict(), "columns of a table must have different names to b..."),
    )
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(optional.MissingExtraError, match=re.escape('pip install "thunder_py[tables]"')):
        TABLE.to_pandas()
