import ast
import graphlib
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
SOURCE = ROOT / "src"


def _module(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: Path, node: ast.ImportFrom) -> str:
    """Absolute name of the module that a statement imports from."""
    parts = list(path.relative_to(SOURCE).parts)[: -node.level] if node.level else []
    return ".".join([*parts, *([node.module] if node.module else [])])


def _matches(pattern: str, name: str) -> bool:
    return fnmatchcase(name, pattern.replace("**", "*"))


@pytest.mark.release
def test_facades_import_when_they_are_called():
    """What the contracts leave out is imported inside functions, or for type checking only."""
    facades = [rule.split(" -> ") for contract in CONTRACTS for rule in contract.get("ignore_imports", [])]
    seen = 0
    for path in SOURCE.rglob("*.py"):
        importer, tree = _module(path), ast.parse(path.read_text(encoding="utf-8"))
        at_once = {id(node) for node in tree.body}
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom):
                continue
            target = _imported(path, node)
            if any(_matches(a, importer) and _matches(b, target) and a != b for a, b in facades):
                drawing = importer.endswith((".plot", ".figure"))
                seen += 1
                assert drawing or id(node) not in at_once, f"{importer} imports {target} at once"
    assert seen > 10


def test_folders_of_headers_have_no_circles():
    """The same for the core: `graphlib` names the folders of a circle."""
    include = ROOT / "cpp" / "include" / "thunder"
    folders: dict[Path, set[Path]] = {}
    for header in include.rglob("*.hpp"):
        named = re.findall(r'^#include "(.+)"', header.read_text(encoding="utf-8"), re.MULTILINE)
        others = {(header.parent / name).resolve().parent for name in named}
        folders.setdefault(header.parent, set()).update(others - {header.parent})
    assert len(folders) > 10
    assert all(folder.is_relative_to(include) for needed in folders.values() for folder in needed)
    assert len(list(graphlib.TopologicalSorter(folders).static_order())) == len(folders)


def test_no_module_imports_ros() -> None:
    for path in (ROOT / "src" / "thunder_py").rglob("*.py"):
        assert not re.search(r"^\s*(?:import|from) (?:rospy|rclpy)\b", path.read_text(encoding="utf-8"), re.MULTILINE)
