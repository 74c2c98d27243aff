"""The version stands in pyproject.toml; what repeats it must agree."""

from __future__ import annotations

import re
from importlib.metadata import metadata
from pathlib import Path

import yaml

import thunder_py

ROOT = Path(__file__).parents[2]
VERSION = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]


def test_what_repeats_the_version_agrees():
    assert thunder_py.__version__ == VERSION
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == VERSION
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert re.fullmatch(rf"{re.escape(VERSION)}, (unreleased|\d{{4}}-\d{{2}}-\d{{2}})", headings[0])


def test_every_python_in_the_classifiers_is_built_and_tested():
    classified = {
        line.rsplit(" ", 1)[1]
        for line in metadata("thunder_py").get_all("Classifier")
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", line)
    }
    built = set(
        re.findall(r'"(3\.\d+)"', re.search(r"^PYTHONS = .+$", (ROOT / "noxfile.py").read_text(), re.MULTILINE)[0])
    )
    tried = set(re.findall(r'python: "(3\.\d+)"', (ROOT / ".github" / "workflows" / "ci.yml").read_text()))
    assert classified == built == tried
