"""The ROS 2 package as text: its launch files run on stand-ins for `launch`, which is on no package index."""

import ast
import runpy
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from thunder_py.realtime.nodes.middleware import CONTROL_MSGS, MESSAGES

from .network import EXAMPLES

PACKAGE = EXAMPLES / "ros2"
LAUNCH = {
    "launch": ("LaunchDescription",),
    "launch.actions": ("DeclareLaunchArgument", "IncludeLaunchDescription"),
    "launch.substitutions": ("LaunchConfiguration", "PathJoinSubstitution"),
    "launch_ros": (),
    "launch_ros.actions": ("Node",),
    "launch_ros.substitutions": ("FindPackageShare",),
}


def setup_arguments(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    given: dict[str, Any] = {}
    module = ModuleType("setuptools")
    module.setup = given.update  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "setuptools", module)
    monkeypatch.chdir(PACKAGE)
    monkeypatch.setattr(module, "setup", lambda **arguments: given.update(arguments))
    runpy.run_path("setup.py")
    return given


def description(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """What a launch file describes: each object as its class's name and arguments."""
    for module_name, kinds in LAUNCH.items():
        module = ModuleType(module_name)
        for kind in kinds:
            setattr(module, kind, lambda *a, _kind=kind, **k: SimpleNamespace(kind=_kind, args=a, **k))
        monkeypatch.setitem(sys.modules, module_name, module)
    made = runpy.run_path(str(PACKAGE / "launch" / name))["generate_launch_description"]()
    return list(made.args[0])


def joined(substitution: Any) -> Path:
    """The file that a path in the package's share stands for, in the checkout."""
    share, folder, name = substitution.args[0]
    assert (share.kind, share.args) == ("FindPackageShare", ("thunder_ros",))
    return (EXAMPLES if folder == "config" else PACKAGE) / folder / name


def test_what_the_launch_file_starts_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    actions = description(monkeypatch, "panda.launch.py")
    nodes = [a for a in actions if a.kind == "Node"]
    arguments = {a.args[0]: joined(a.default_value) for a in actions if a.kind == "DeclareLaunchArgument"}
    assert [n.name for n in nodes] == ["robot", "controller", "reference"] == list(arguments)
    assert all(path.is_file() for path in arguments.values())
    scripts = [line.split(" = ")[0] for line in setup_arguments(monkeypatch)["entry_points"]["console_scripts"]]
    for node in nodes:
        assert node.executable in scripts
        assert node.parameters[0]["config"].args == (node.name,)


def test_the_second_launch_file_includes_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    (include,) = description(monkeypatch, "panda_poses.launch.py")
    assert joined(include.args[0]) == PACKAGE / "launch/panda.launch.py"
    declared = {a.args[0] for a in description(monkeypatch, "panda.launch.py") if a.kind == "DeclareLaunchArgument"}
    for name, path in include.launch_arguments:
        assert name in declared
        assert joined(path).is_file()


def test_what_is_installed_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    given = setup_arguments(monkeypatch)
    files = {folder: names for folder, names in given["data_files"]}
    assert all((PACKAGE / name).is_file() for names in files.values() for name in names)
    assert len(files["share/thunder_ros/launch"]) == 2
    assert len(files["share/thunder_ros/config"]) == len(list((EXAMPLES / "config").glob("*.yaml")))
    for line in given["entry_points"]["console_scripts"]:
        module = line.split(" = ")[1].removesuffix(":main")
        assert (PACKAGE / (module.replace(".", "/") + ".py")).is_file()


def test_the_manifest_names_what_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = {e.text for e in ET.parse(PACKAGE / "package.xml").getroot().findall("exec_depend")}
    imported = {name.split(".")[0] for name in (*MESSAGES, *CONTROL_MSGS)}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.split(".")[0])
            elif isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
    others = set(sys.stdlib_module_names) | {"setuptools", "thunder_py", "yaml"}
    assert imported - others == declared
    assert setup_arguments(monkeypatch)["name"] == ET.parse(PACKAGE / "package.xml").getroot().findtext("name")
