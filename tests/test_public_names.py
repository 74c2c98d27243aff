import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import thunder_py as th

PACKAGES = [
    "thunder_py",
    *(
        module.name
        for module in pkgutil.walk_packages(th.__path__, "thunder_py.")
        if module.ispkg and Path(importlib.import_module(module.name).__file__).with_suffix(".pyi").exists()
    ),
]


@pytest.mark.parametrize("package", PACKAGES)
def test_names_given_out_lazily_are_there(package):
    module = importlib.import_module(package)
    assert module.__all__
    for name in module.__all__:
        thing = getattr(module, name)
        assert name in dir(module)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert hasattr(importlib.import_module(thing.__module__), name)


def test_some_packages_are_lazy():
    assert {"thunder_py", "thunder_py.motion", "thunder_py.recordings", "thunder_py.realtime"} <= set(PACKAGES)


def test_a_robot_costs_no_import_of_scipy():
    """A third of a second, which scripts and nodes that only evaluate quantities need not wait."""
    load = "import sys, thunder_py as th; th.Robot.load('panda').mass_matrix([0.0] * 7)"
    script = f"{load}; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_only_generating_a_library_imports_jinja2():
    script = "import sys, thunder_py as th; th.codegen.generate; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
    script = "import sys, thunder_py.cli as cli; cli.main(['info', 'panda']); sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], stdout=subprocess.DEVNULL).returncode == 0


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="HumanPlanner"):
        _ = th.motion.HumanPlanner
