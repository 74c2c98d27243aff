import pytest

import thunder_py as th
from tests.mujoco_plant.arms import HAND_WRITTEN
from thunder_py import cli, optional


@pytest.fixture
def convert(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        status = cli.main(["convert", *map(str, arguments)])
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize("suffix", ["yaml", "urdf", "xml", "mjcf"])
def test_every_format(convert, tmp_path, suffix):
    assert convert("panda", f"panda.{suffix}") == (0, f"panda.{suffix}\n", "")
    panda = th.Robot.load(tmp_path / f"panda.{suffix}")
    assert panda.joint_names == th.Robot.load("panda").joint_names
    status, out, err = convert("panda", f"panda.{suffix}")
    assert (status, out) == (2, "")
    assert err == f"thunder convert: error: panda.{suffix} is there already; --force replaces it\n"
    assert convert("elbow", f"panda.{suffix}", "--force", "--name", "arm")[0] == 0
    assert th.Robot.load(tmp_path / f"panda.{suffix}").name == "arm"


def test_what_is_lost_is_told(convert, tmp_path):
    status, out, err = convert("scara", "scara.urdf")
    assert (status, out) == (0, "scara.urdf\n")
    assert err == "not carried over: rotors are lost: joint1, joint2, joint3, joint4\n"
    assert "<!-- not carried over: rotors are lost" in (tmp_path / "scara.urdf").read_text()


def test_out_of_a_tree(convert, tmp_path):
    (tmp_path / "wrist.xml").write_text(HAND_WRITTEN)
    locks = ["--fix-joint", "finger_joint1=0.03", "--fix-joint", "finger_joint2=0.01"]
    assert convert("wrist.xml", "wrist.yaml", "--tip-link", "grip", *locks)[0] == 0
    assert th.Robot.load(tmp_path / "wrist.yaml").joint_names == ("joint1", "joint2")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["panda", "panda.txt"], "OUT must end in .yaml or .yml or .urdf or .xml or .mjcf, got 'panda.txt'"),
        (["panda", "none/panda.xml"], "there is no folder 'none'"),
        (["panad", "panda.xml"], "no robot is called 'panad'; did you mean 'panda'?"),
        (["panda", "panda.xml", "--name", "my arm"], "must be an identifier"),
    ],
)
def test_refusals(convert, tmp_path, arguments, message):
    status, out, err = convert(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_mjcf_is_written_and_not_read(convert, monkeypatch):
    """A sentence on what to install, not a bug."""
    assert convert("elbow", "elbow.xml")[0] == 0

    def absent(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(optional.importlib, "import_module", absent)
    status, out, err = convert("elbow.xml", "again.yaml")
    assert (status, out) == (2, "")
    assert err.endswith('MuJoCo is not installed, and this needs it: pip install "thunder_py[mujoco]"\n')
