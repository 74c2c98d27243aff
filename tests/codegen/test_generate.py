import errno
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py import cli
from thunder_py import files as folder_module
from thunder_py.codegen import generate
from thunder_py.errors import ThunderError, UnknownNameError
from thunder_py.files import MARKER, write_folder

from .libraries import Core, prototypes

ROOT = Path(__file__).parent.parent.parent
FILES = {
    MARKER, "CMakeLists.txt", "README.md", "elbow_conf.yaml", "elbow_gen.cpp", "elbow_gen.h", "elbow_par_REG.yaml",
    "thunder_elbow.cpp", "thunder_elbow.h",
}  # fmt: skip
PYTHON = {
    "pyproject.toml", "python/bindings.cpp", "python/thunder_elbow/__init__.py", "python/thunder_elbow/_core.pyi",
    "python/thunder_elbow/py.typed",
}  # fmt: skip


@pytest.fixture(scope="module")
def elbow() -> th.Robot:
    return th.Robot.load("elbow")


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_writes_what_it_says_and_the_same_again(elbow, tmp_path):
    folder = generate(elbow, tmp_path)
    assert folder == tmp_path / "elbow_generatedFiles"
    assert names(folder) == FILES
    first = contents(folder)
    assert generate(elbow, tmp_path, python=True) == folder
    assert names(folder) == FILES | PYTHON
    generate(elbow, tmp_path)
    assert contents(folder) == first
    assert os.listdir(tmp_path) == [folder.name]


def test_mode_of_the_folder_is_the_users(elbow, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    assert generate(elbow, tmp_path).stat().st_mode == other.stat().st_mode


def test_select(elbow, tmp_path):
    assert [*prototypes(generate(elbow, tmp_path, select="G, M,Yr"), "elbow")] == ["M", "G", "Yr"]
    assert [*prototypes(generate(elbow, tmp_path, select=["C_std", "J_i"]), "elbow")] == [
        "J_1",
        "J_2",
        "M_dot",
        "C_std",
    ]
    header = (tmp_path / "elbow_generatedFiles/thunder_elbow.h").read_text()
    assert "get_J_2() const" in header
    assert "get_G() const" not in header


def test_defaults_of_what_is_at_run_time(tmp_path, elbow):
    def parameters(robot, **options) -> set[str]:
        functions = prototypes(generate(robot, tmp_path, **options), robot.name)
        return {p.name for ps in functions.values() for p in ps if p.name.startswith("par_")}

    masked = th.Robot.load(ROOT / "tests/data/thunder/sea3.yaml")
    assert parameters(elbow) == {"par_REG"}
    assert parameters(elbow, inertial=False) == set()
    assert parameters(elbow, gravity=True) == {"par_REG", "par_gravity"}
    with_masks = {g.argument for g in masked.symbolic().parameters.values() if g.mask.any()}
    assert parameters(masked) == with_masks


FUNCTIONS = """\
def functions(model):
    gain = model.symbol("gain")
    model.add_function("lifted", gain * model.gravity_vector(), description="Gravity, scaled")
    position, speed = model.forward_kinematics()[:3, 3], model.jacobian()[:3] @ model.dq
    model.add_function("reach", {"position": position, "speed": speed})
"""


def test_functions_of_a_file(elbow, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(FUNCTIONS)
    folder = generate(elbow, tmp_path, functions=file, select="G", name="mine")
    core = Core(folder, "mine")
    assert [*core.functions] == ["G", "lifted", "reach"]
    q, dq = np.array([0.3, -0.4]), np.array([1.0, 2.0])
    values = {"q": q, "dq": dq, "gain": np.array(3.0), "par_REG": elbow.inertial}
    np.testing.assert_allclose(core.call("lifted", values)[0], 3 * elbow.gravity_vector(q), rtol=1e-13)
    position, speed = core.call("reach", values)
    np.testing.assert_allclose(position, elbow.forward_kinematics(q)[:3, 3], rtol=1e-13)
    np.testing.assert_allclose(speed, elbow.jacobian(q)[:3] @ dq, rtol=1e-13)
    header = (folder / "thunder_mine.h").read_text()
    assert "set_gain(double value)" in header
    assert "std::tuple<Vector<3>, Vector<3>> get_reach() const" in header


def test_descriptions_of_functions_are_text_and_nothing_else(elbow, tmp_path):
    """Nothing of a template, no end of a string or comment, one line."""
    description = '{{ 7*7 }} {% raw %} {# gone? #}\n\tand \a"quoted" \\'
    model = elbow.symbolic(inertial=True)
    own = model.add_function("own", model.q, description=description)
    folder = generate(elbow, tmp_path, functions=[own], select="G", python=True)
    for file, text in {
        "elbow_gen.h": '// {{ 7*7 }} {% raw %} {# gone/ #} and "quoted" /; 2\n',
        "thunder_elbow.h": '/// {{ 7*7 }} {% raw %} {# gone? #} and "quoted" /\n',
        "python/bindings.cpp": "\"{{ 7*7 }} {% raw %} {# gone? #} and 'quoted' /\")\n",
        "README.md": '| {{ 7*7 }} {% raw %} {# gone? #} and "quoted" \\ |\n',
    }.items():
        assert text in (folder / file).read_text()


FAILING = (
    ("def function(model):\n    pass\n", "must define functions(model)"),
    ("def functions(model)\n    pass\n", "mine.py:1: is not valid Python"),
    ("raise SystemExit(3)\n", "mine.py:1: SystemExit"),
    ("{add}('a', model.q + undefined)\n", "mine.py:2: NameError"),
    ("{add}('int', model.q)\n    1 / 0\n", "mine.py:3: ZeroDivisionError"),
    ("{add}('M', model.q)\n", "'M' is in the library already"),
    ("{add}('a-b', model.q)\n", "function name must be an identifier"),
    ("{add}('a', model.q, ['q0'])\n", "unknown symbol 'q0'"),
    ("{add}('a', model.symbol('double'))\n", "is a keyword of C or C++"),
    ("{add}('numJoints', model.q)\n", "'numJoints' is taken"),
    ("{add}('a', model.q * model.symbol('dqr'))\n", "member set_dqr already"),
    ("{add}('a', model.q, ['q', 'dq', 'w'])\n", "unknown symbol 'w'"),
)


def test_files_of_functions_that_fail(elbow, tmp_path):
    file = tmp_path / "mine.py"
    for text, message in FAILING:
        file.write_text(text.replace("{add}", "def functions(model):\n    model.add_function"))
        with pytest.raises(ThunderError, match=re.escape(message)):
            generate(elbow, tmp_path, functions=file)
        assert os.listdir(tmp_path) == ["mine.py"]


def test_functions_of_another_robot(elbow, tmp_path):
    other = th.Robot.load("scara").symbolic()
    with pytest.raises(ThunderError, match=r"tip: q must have shape \(2,\) as in the library, got \(4,\)"):
        generate(elbow, tmp_path, functions=[other.add_function("tip", other.forward_kinematics()[:3, 3])])
    dyn = elbow.symbolic(inertial=True, inertial_as="DYN")
    with pytest.raises(UnknownNameError, match=r"the library has no parameters 'par_DYN'"):
        generate(elbow, tmp_path, functions=[dyn.add_function("weight", dyn.par_DYN[0] * dyn.q)])
    with pytest.raises(ThunderError, match=r"functions must hold functions that model.add_function returned"):
        generate(elbow, tmp_path, functions=[len])


def test_bad_arguments(elbow, tmp_path):
    assert_refused(
        ({"select": "M,Cc"}, "...no function is called 'Cc'; did you mean 'C'...", UnknownNameError),
        ({"select": ""}, "...at least one...", UnknownNameError),
        ({"select": "reg_dl"}, "...no function is called 'reg_dl'...", UnknownNameError),
        ({"name": '"; rm -rf'}, "...robot name must be an identifier..."),
        ({"name": "two__lines"}, "...names that C and C++ reserve..."),
        ({"name": "../up"}, "...robot name must be an identifier..."),
        ({"scalar": "half"}, "...scalar must be one of double, float..."),
        ({"scalar": "float", "python": True}, "...Python bindings need the class..."),
        ({"friction": True}, "...elbow has no parameters of the group 'friction'..."),
        ({"inertia": True}, "...did you mean 'inertial'...", UnknownNameError),
        call=lambda **options: generate(elbow, tmp_path, **options),
    )
    assert os.listdir(tmp_path) == []


def test_a_foreign_folder_is_not_touched(elbow, tmp_path):
    target = tmp_path / "elbow_generatedFiles"
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    with pytest.raises(ThunderError, match=r"holds files that were not generated \(thesis.tex\)"):
        generate(elbow, tmp_path)
    assert contents(tmp_path) == {"elbow_generatedFiles/thesis.tex": b"years of work"}
    (target / "thesis.tex").unlink()
    generate(elbow, tmp_path)  # an empty folder is fine
    (target / "build").mkdir()
    (target / "build" / "library.a").write_text("")
    before = contents(tmp_path)
    with pytest.raises(ThunderError, match=r"\(build, build/library.a\)"):
        generate(elbow, tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("kind", ["file", "link", "below a file"])
def test_places_that_cannot_be(elbow, tmp_path, kind):
    target, elsewhere = tmp_path / "elbow_generatedFiles", tmp_path / "elsewhere"
    elsewhere.mkdir()
    if kind == "file":
        target.write_text("")
    if kind == "below a file":
        (tmp_path / "no").write_text("")
    if kind == "link":
        target.symlink_to(elsewhere)
    out = tmp_path / "no" / "where" if kind == "below a file" else tmp_path
    message = "is a symbolic link" if kind == "link" else "is a file"
    with pytest.raises(ThunderError, match=message):
        generate(elbow, out)
    assert os.listdir(elsewhere) == []


def test_a_full_disk_leaves_what_was_there(elbow, tmp_path, monkeypatch):
    folder = generate(elbow, tmp_path)
    before = contents(folder)

    def full(path, files):
        (path / "half").write_text("written")
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(folder_module, "_fill", full)
    with pytest.raises(OSError, match="No space left"):
        generate(elbow, tmp_path, select="G")
    assert contents(folder) == before
    assert os.listdir(tmp_path) == [folder.name]


def test_a_failure_while_replacing_brings_the_old_folder_back(tmp_path, monkeypatch):
    target = tmp_path / "a_generatedFiles"
    write_folder(target, {"one": "1"})
    rename = Path.rename

    def failing(self, to):
        if "old" not in str(self) and Path(to) == target and self.name.startswith("."):
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output"):
        write_folder(target, {"two": "2"})
    digest = hashlib.sha256(b"1").hexdigest()
    assert contents(target) == {MARKER: f"{digest}  one\n".encode(), "one": b"1"}
    assert os.listdir(tmp_path) == [target.name]


def test_an_interrupt_leaves_nothing(elbow, tmp_path):
    def interrupt(step):
        if step == "Yr":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(elbow, tmp_path, progress=interrupt)
    assert os.listdir(tmp_path) == []


@pytest.fixture
def thunder(capsys, tmp_path, monkeypatch):
    """Run the command in an empty folder; returns exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        try:
            status = cli.main(["gen", *map(str, arguments)])
        except SystemExit as exit_:
            status = exit_.code
        return status, *capsys.readouterr()

    return run


def test_command_writes_and_says_where(thunder, tmp_path):
    assert thunder("elbow", "-p") == (0, "elbow_generatedFiles\n", "")
    assert names(tmp_path / "elbow_generatedFiles") == FILES | PYTHON
    (tmp_path / "sub").mkdir()
    options = ["-n", "arm", "-o", "sub", "--select", "M,G", "--baked", "all", "--run-time", "", "--batch"]
    assert thunder(ROOT / "tests/data/urdf/pendulum.urdf", *options)[:2] == (0, "sub/arm_generatedFiles\n")
    assert [*prototypes(tmp_path / "sub/arm_generatedFiles", "arm")] == ["M", "G"]


def test_command_names_what_its_file_cannot(thunder, tmp_path):
    """Hyphens in names of robots and files are common, and no identifier of C."""
    urdf = (ROOT / "tests/data/urdf/pendulum.urdf").read_text()
    (tmp_path / "my-arm.urdf").write_text(urdf.replace('robot name="', 'robot name="my-'))
    assert thunder("my-arm.urdf", "--select", "G") == (0, "my_pendulum_generatedFiles\n", "")
    (tmp_path / "my-arm.yaml").write_text((ROOT / "tests/data/thunder/arm3.yaml").read_text())
    assert thunder("my-arm.yaml", "--select", "G") == (0, "my_arm_generatedFiles\n", "")
    assert thunder("my-arm.yaml", "-n", "arm", "--select", "G") == (0, "arm_generatedFiles\n", "")


def test_command_chooses_parameters(thunder, tmp_path):
    file = ROOT / "tests/data/thunder/sea3.yaml"
    assert thunder(file, "--run-time", "elastic,dh", "--baked", "inertial,friction", "--select", "k,d,G,dl")[0] == 0
    functions = prototypes(tmp_path / "sea3_generatedFiles", "sea3")
    assert [p.name for p in functions["k"]] == ["q", "x", "par_K", "out"]
    assert "par_DHtable" in [p.name for p in functions["G"]]
    assert [p.name for p in functions["dl"]] == ["dq", "out"]


def test_command_refuses(thunder, tmp_path):
    for arguments, message in (
        (['"; rm -rf'], "rm -rf"),
        (["elbow", "--run-time", "inertials"], "did you mean 'inertial'"),
        (["elbow", "--run-time", "inertial", "--baked", "all"], "inertial is named by --run-time and by --baked"),
        (["elbow", "--functions", "missing.py"], "missing.py: No such file"),
        (["elbow", "--scalar", "half"], "invalid choice"),
        (["elbow", "--tip-link", "a"], "for URDF and MJCF files only"),
    ):
        status, out, err = thunder(*arguments)
        assert (status, out) == (2, "")
        assert message in err
        assert "Traceback" not in err
        assert os.listdir(tmp_path) == []


def test_unwritable_folder(thunder, tmp_path):
    if os.geteuid() == 0:  # root may write anywhere; a folder in /proc refuses it too
        status, _, err = thunder("elbow", "-o", "/proc/self")
    else:
        (tmp_path / "locked").mkdir(mode=0o500)
        status, _, err = thunder("elbow", "-o", "locked")
    assert status == 2
    assert err.startswith("thunder gen: error: ")


def test_progress_is_for_terminals(elbow, tmp_path):
    steps: list[str] = []
    generate(elbow, tmp_path, progress=steps.append, select="M,G")
    assert steps == ["M", "G", "writing"]
    done = subprocess.run(
        [sys.executable, "-m", "thunder_py", "gen", "elbow"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_edited_files_are_not_overwritten(tmp_path):
    robot = th.Robot.load("elbow")
    folder = generate(robot, tmp_path, select="G")
    generate(robot, tmp_path, select="G")
    conf = folder / "elbow_conf.yaml"
    conf.write_text(conf.read_text() + "# my values\n")
    with pytest.raises(ThunderError, match=r"edited files \(elbow_conf.yaml\)"):
        generate(robot, tmp_path, select="G")
    assert conf.read_text().endswith("# my values\n")


@pytest.mark.parametrize("name", ["EOF", "errno"])
def test_symbols_that_the_library_uses_itself(name, tmp_path):
    robot = th.Robot.load("elbow")
    model = robot.symbolic(inertial=True)
    own = model.add_function("own", model.q[0] * model.symbol(name))
    for taken in ("damping", "w"):
        with pytest.raises(ThunderError, match=f"'{taken}' exists already"):
            model.symbol(taken)
    with pytest.raises(ThunderError, match=f"symbol name '{name}' is taken"):
        generate(robot, tmp_path, functions=[own], select="G")


def test_user_files_may_hold_dataclasses_and_must_add_something(tmp_path):
    robot, file = th.Robot.load("elbow"), tmp_path / "mine.py"
    head = "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 2\n"
    file.write_text(head + "def functions(model):\n    model.add_function('twice', A().x * model.q)\n")
    folder = generate(robot, tmp_path, functions=file, select="G")
    assert "elbow_twice(" in (folder / "elbow_gen.h").read_text()
    file.write_text("def functions(model):\n    return {'twice': 2 * model.q}\n")
    with pytest.raises(ThunderError, match=r"functions\(model\) must call .*, got no function"):
        generate(robot, tmp_path, functions=file, select="G", name="other")
