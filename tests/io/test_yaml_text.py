"""Numbers, places and limits of the YAML reader."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError
from thunder_py.io.yaml_text import MAX_BYTES, MAX_DEPTH, parse_number, parse_yaml


def test_numbers():
    numbers = [
        ("1e-3", 1e-3),
        ("1", 1.0),
        ("010", 10.0),
        (".5", 0.5),
        ("2.", 2.0),
        ("+3.25E+2", 325.0),
        ("pi", math.pi),
        ("-pi/2", -math.pi / 2),
        ("3*pi/4", 3 * math.pi / 4),
        ("170 * pi / 180", 170 * math.pi / 180),
        ("0.1/12", 0.1 / 12),
        ("inf", math.inf),
        ("-.inf", -math.inf),
        ("-0.0", 0.0),
    ]
    for text, number in numbers:
        assert parse_number(text) == number
    wrong = [
        "",
        "nan",
        ".nan",
        "true",
        "0x10",
        "1_000",
        "12:30",
        "pi pi",
        "1+1",
        "--1",
        "1/0",
        "1/0.0",
        "1e",
        "*2",
        "2*",
    ]
    for text in [*wrong, "__import__('os')", "1" * 101]:
        with pytest.raises(ValueError):  # noqa: PT011 - the caller words the message
            parse_number(text)


@given(st.floats(allow_nan=False))
def test_every_float_reads_back(value):
    assert parse_number(repr(value)) == value


def assert_fails(text, message, use=lambda value: value):
    with pytest.raises(FileFormatError, match=message) as caught:
        use(parse_yaml(text, "arm.yaml"))
    return caught.value


def test_errors_carry_path_line_and_key():
    error = assert_fails(
        "links:\n  - name: a\n    mass: heavy\n",
        r"^arm.yaml:3: links\[0\].mass: must be a number \(such as 0.1, 1e-3, -pi/2\), got 'heavy'$",
        lambda value: value.section()["links"].items()[0].section()["mass"].number(),
    )
    assert (error.path, error.line, error.key) == ("arm.yaml", 3, "links[0].mass")


def entry(kind):
    """Take the value of the only key."""
    return lambda value: kind(value.section()["a"])


def test_messages():
    cases = [
        ("", r"^arm.yaml: is empty, expected a mapping$", None),
        ("a: 1\n---\nb: 2", r"^arm.yaml:2: not YAML: but found another document$", None),
        ("a: 1\nb: [1, 2\n", r"^arm.yaml:3: not YAML: ", None),
        ("a: 1\n\tb: 2", r"^arm.yaml:2: not YAML: ", None),
        ("a: &x 1\nb: 2\nc: &x 1", r"^arm.yaml:3: an anchor must be defined once, first in line 1$", None),
        ("a: *x", r"^arm.yaml:1: not YAML: found undefined alias", None),
        (b"a: \xff", r"^arm.yaml: not UTF-8 text: invalid start byte at byte 3$", None),
        ("a: \x01", r"^arm.yaml: not YAML: ", None),
        ("[1]", r"^arm.yaml:1: must be a mapping, got a list of 1$", lambda v: v.section()),
        ("a: 1\n\na: 2", r"^arm.yaml:3: key 'a' must occur once, first in line 1$", lambda v: v.section()),
        ("? [1]\n: 2", r"^arm.yaml:1: a key must be a word$", lambda v: v.section()),
        ("x: &x {b: 1}\na:\n  <<: *x", r"^arm.yaml:3: a: merge keys \(<<\) are not read", entry(lambda v: v.section())),
        ("a: 1", r"^arm.yaml:1: unknown key 'a'; did you mean 'ab'\?$", lambda v: v.section(("ab", "xyz"))),
        ("a: 1", r"^arm.yaml:1: unknown key 'a'; known are bcd, xyz$", lambda v: v.section(("bcd", "xyz"))),
        ("a: 1", r"^arm.yaml:1: missing key 'mass'$", lambda v: v.section()["mass"]),
        ("Mass: 1", r"^arm.yaml:1: missing key 'mass'; is 'Mass' meant\?$", lambda v: v.section()["mass"]),
        ("a: .inf", r"^arm.yaml:1: a: must be finite, got '.inf'$", entry(lambda v: v.number())),
        ("a: .nan", r"^arm.yaml:1: a: must be a number .* got '.nan'$", entry(lambda v: v.number())),
        ("a: 1e999", r"^arm.yaml:1: a: must be finite, got '1e999'$", entry(lambda v: v.number())),
        ("a:", r"^arm.yaml:1: a: must be a number .* got nothing$", entry(lambda v: v.number())),
        ("a: {}", r"^arm.yaml:1: a: must be a number .* got a mapping$", entry(lambda v: v.number())),
        ("a: 1.5", r"^arm.yaml:1: a: must be an integer from 1 to 3, got '1.5'$", entry(lambda v: v.whole(1, 3))),
        ("a: 4", r"^arm.yaml:1: a: must be an integer from 1 to 3, got '4'$", entry(lambda v: v.whole(1, 3))),
        ("a: ~", r"^arm.yaml:1: a: must be text, got '~'$", entry(lambda v: v.text())),
        ("a: 2", r"^arm.yaml:1: a: must be true or false, got '2'$", entry(lambda v: v.flag())),
        ("a: r", r"^arm.yaml:1: a: must be one of R, P, got 'r'", entry(lambda v: v.one_of(("R", "P")))),
        ("a: 1", r"^arm.yaml:1: a: must be a list of 3, got '1'$", entry(lambda v: v.numbers(3))),
        ("a: [1, 2]", r"^arm.yaml:1: a: must be a list of 3, got a list of 2$", entry(lambda v: v.numbers(3))),
        ("a: [[1],\n [x]]", r"^arm.yaml:2: a\[1\]\[0\]: must be a number", entry(lambda v: v.numbers(2, 1))),
    ]
    for text, message, use in cases:
        assert_fails(text, message, use or (lambda value: value))


def test_hostile_text_is_refused_quickly():
    assert_fails("[" * (MAX_DEPTH + 1), rf"^arm.yaml:1: nested more than {MAX_DEPTH} deep$")
    assert_fails("[" * 200_000, r"nested more than")
    assert_fails("{a: " * 200_000, r"nested more than")
    assert_fails("#" * (MAX_BYTES + 1), r"^arm.yaml: must be at most 1000000 bytes, got 1000001$")
    assert_fails(
        "a: [" + "1," * 2000 + "1]", r"must hold at most 1000 entries, got 2001$", entry(lambda v: v.numbers(None))
    )


def test_tags_run_nothing():
    assert_fails("a: !!python/object/apply:os.system [id]", r"must be a number", entry(lambda value: value.number()))


def test_anchors_and_quotes():
    top = parse_yaml("q: &q 1e-3\na: [*q, '2', \"pi\"]").section()
    assert top["a"].numbers(3).tolist() == [1e-3, 2.0, math.pi]


def test_refusals():
    levels = "".join(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 9)}]\n" for i in range(1, 60))
    document = parse_yaml("x0: &x0 [1, 1]\n" + levels)
    assert_refused((lambda: document.section()["x59"].numbers(9), "...must be a number...", FileFormatError))
