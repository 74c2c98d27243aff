import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py import _core, cli, robots
from thunder_py.cli import data_sets, identify
from thunder_py.cli.info import consistency
from thunder_py.cli.robot_options import as_options
from thunder_py.io.selection import gripper_joints
from thunder_py.recordings import downloads

URDF = Path(__file__).parent / "data" / "urdf" / "pendulum.urdf"
ARMS = Path(__file__).parents[2] / "shared" / "data" / "logs"


@pytest.fixture
def thunder(capsys, tmp_path, monkeypatch):
    """Run the command in an empty folder; returns exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as exit_:
            status = exit_.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_version(thunder):
    assert thunder("--version") == (0, f"thunder_py {th.__version__}\n", "")


def test_python_dash_m_is_the_same_command():
    done = subprocess.run([sys.executable, "-m", "thunder_py", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"thunder_py {th.__version__}\n"


def test_a_reader_that_leaves_early_is_no_error():
    command = [sys.executable, "-m", "thunder_py", "info", "panda"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the streams")
@pytest.mark.parametrize(("streams", "robot", "status"), [(">&- 2>&-", "panda", 0), (">&- 2>&-", "nope", 2)])
def test_closed_streams_are_no_bug(streams, robot, status):
    command = f"exec {shlex.quote(sys.executable)} -m thunder_py info {robot} {streams}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


#: every subcommand, with output that is cheap
COMMANDS = (
    "--help",
    "info",
    "info panda",
    "info panda --json",
    "info panad",
    "convert panda out.urdf --force",
    "gen elbow --select G",
    "view elbow --output a.png --backend matplotlib",
    "demo --duration 0.1",
    "experiment list",
    "experiment --help",
    "experiment softhand --quick --seeds 1 --results a.json --no-plot",
    "experiment nothing",
)
#: each is run several times; the others are left to CI
QUICK_COMMANDS = ("convert panda out.urdf --force",)
#: a terminal that knows nothing, one column wide, in ASCII, of a user without a home
POOR = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "TERM": "dumb", "COLUMNS": "1"}


def shell(command, redirection, folder, **environment):
    """Run a subcommand in a shell; returns its exit status and standard error."""
    script = f"{shlex.quote(sys.executable)} -m thunder_py {command} {redirection}"
    source = str(Path(th.__file__).parents[1])
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": source, "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR", "")}
    done = subprocess.run(["sh", "-c", script], cwd=folder, env={**kept, **environment}, capture_output=True)
    return done.returncode, done.stderr.decode()


@pytest.mark.skipif(sys.platform != "linux", reason="needs sh, /dev/full and /proc")
@pytest.mark.parametrize(
    "command", [pytest.param(c, marks=[] if c in QUICK_COMMANDS else [pytest.mark.release]) for c in COMMANDS]
)
def test_no_output_leaves_a_traceback(command, tmp_path):
    """Poor terminals, readers that left, full disks, and folders that cannot be written."""
    wrong = 2 if command in ("info panad", "experiment nothing") else 0
    writes = command.startswith(("convert", "gen", "view", "demo", "experiment softhand"))
    prints = "--help" not in command  # argparse ignores errors of its streams
    cases = [
        ("", tmp_path if writes else "/proc", POOR, wrong),
        *([] if writes else [("| head -c 1 >&-", tmp_path, {}, None)]),  # the others print a line or two
        (">/dev/full", tmp_path, {}, 2 if prints else 0),
        *([("", "/proc", {}, 2)] if writes else []),
    ]
    for redirection, folder, environment, expected in cases:
        status, err = shell(command, redirection, folder, **environment)
        assert expected in (None, status), (redirection, folder, err)
        assert "Traceback" not in err
        assert "Exception" not in err
        assert err.count("\n") <= 1, err


def test_characters_that_an_encoding_lacks_are_replaced(tmp_path):
    program = "import sys, thunder_py.cli.command as c; c._prepare_streams(); print('±'); print('±', file=sys.stderr)"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, check=True)
    assert (done.stdout, done.stderr) == (b"?\n", b"\\xb1\n")


def test_an_error_that_nobody_reads_is_still_an_error():
    command = [sys.executable, "-m", "thunder_py", "info", "panad"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        process.stderr.close()
    assert process.returncode == 2


@pytest.mark.release
def test_a_backend_that_matplotlib_does_not_have():
    command = [sys.executable, "-m", "thunder_py", "demo", "--duration", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "bogus"})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("thunder demo: error: MPLBACKEND: Key backend: 'bogus' is not a valid value")


def test_a_full_disk_leaves_no_half_picture(thunder, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    (tmp_path / "demo.png").write_text("the last one")

    def full(self, path, **options):
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Figure, "savefig", full)
    status, _, err = thunder("demo", "--duration", 0.1, "--output", "demo.png")
    assert status == 2
    assert "No space left on device" in err
    assert [path.name for path in tmp_path.iterdir()] == ["demo.png"]
    assert (tmp_path / "demo.png").read_text() == "the last one"


# demo


def test_demo_prints_tables_and_draws(thunder, tmp_path):
    status, out, err = thunder("demo", "--duration", 2)
    assert status == 0
    for text in ("steady-state position error [mm]", "rise time [s]", "m [kg]", "c_z [m]", "Izz [kg m2]", "0.7355"):
        assert text in out
    assert "mean over the last 1 s" in out
    assert err == ""  # bars are for terminals
    assert "100%" not in out
    assert [file.name for file in tmp_path.iterdir()] == ["thunder_demo.png"]
    assert (tmp_path / "thunder_demo.png").read_bytes().startswith(b"\x89PNG")


def test_demo_json(thunder, tmp_path):
    status, out, _ = thunder("demo", "--duration", 2, "--json", "--no-plot")
    assert status == 0
    facts = json.loads(out)
    assert (facts["duration_s"], facts["control_period_s"], facts["steady_state_window_s"]) == (2.0, 1e-3, 1.0)
    for run in ("adaptive", "fixed"):
        assert facts[run]["statuses"] == ["ok"]
    for name in ("position", "orientation", "norm"):
        key = {"position": "position_m", "orientation": "orientation_rad"}.get(name, name)
        errors = [facts[run]["steady_state"][key] for run in ("fixed", "adaptive")]
        assert facts["improvement"][name] == pytest.approx(errors[0] / errors[1])
    link = facts["link7"]
    assert link["names"][:4] == ["m", "c_x", "c_y", "c_z"]
    assert link["initial"] == pytest.approx([2.5, 0.2, 0.2, 0.2, 0.2, -0.1, -0.1, 0.2, -0.1, 0.2])
    np.testing.assert_allclose(link["truth"][:4], [0.735522, 0.010517, -0.004252, -0.045403], rtol=1e-12)
    assert facts["files"] == {"picture": None, "runs": None}
    assert list(tmp_path.iterdir()) == []


def test_demo_without_a_picture_leaves_matplotlib_alone(tmp_path):
    program = (
        "import sys, thunder_py.cli as cli; cli.main(['demo', '--duration', '0.1', '--no-plot']); "
        "sys.exit('matplotlib' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.release
def test_demo_saves_both_runs(thunder, tmp_path):
    status, out, _ = thunder("demo", "--duration", 1, "--save", "run.npz", "--output", "curve.svg")
    assert status == 0
    assert "curve.svg" in out
    assert "run.npz" in out
    assert sorted(file.name for file in tmp_path.iterdir()) == ["curve.svg", "run.npz"]
    run = th.SimulationResult.load(tmp_path / "run.npz")
    assert run.t.shape == (101,)
    assert run.error.shape == run.signals["fixed_error"].shape == (101, 6)
    assert run.signals["fixed_q"].shape == (101, 7)
    unknown = [name.startswith("link7.") for name in run.names["parameters"]]
    moved = np.any(run.parameters != run.parameters[0], axis=0)
    assert moved.any()
    assert not moved[np.logical_not(unknown)].any()
    assert not np.ptp(run.signals["fixed_parameters"], axis=0).any()


def test_demo_refuses_before_it_runs(thunder, tmp_path):
    duration = "argument --duration: must be a time of 0.1 to 3600 seconds, got"
    for arguments, message in (
        *((f"--duration {wrong}", f"{duration} '{wrong}'") for wrong in ("long", "-1", "nan")),
        ("--save run.csv", "thunder demo: error: --save must end in .npz, got 'run.csv'"),
        ("--output a.gif", "thunder demo: error: --output must end in .png or .pdf or .svg, got 'a.gif'"),
        ("--no-plot --save none/run.npz", "--save: there is no folder 'none'; make it first or choose another"),
        ("--fast", "unrecognized arguments: --fast"),
    ):
        status, out, err = thunder("demo", *arguments.split())
        assert (status, out) == (2, "")
        assert message in err
        assert "Traceback" not in err
        assert "adaptation" not in err
        assert list(tmp_path.iterdir()) == []


def test_demo_refuses_a_folder_as_file(thunder, tmp_path):
    (tmp_path / "run.npz").mkdir()
    status, _, err = thunder("demo", "--save", "run.npz")
    assert (status, err) == (2, "thunder demo: error: --save: 'run.npz' is a folder; give the name of a file\n")


def test_a_bug_is_not_taken_for_bad_input(thunder, monkeypatch):
    def fail(*_, **__):
        raise ValueError("from inside")

    monkeypatch.setattr("thunder_py.papers.run_lissajous_panda", fail)
    status, _, err = thunder("demo", "--no-plot")
    assert status == 1
    assert "ValueError: from inside" in err
    assert err.endswith("thunder demo: this is a bug; please report it with the lines above\n")


def test_an_interruption_leaves_no_traceback(thunder, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("thunder_py.papers.run_lissajous_panda", interrupt)
    assert thunder("demo", "--no-plot") == (130, "", "thunder demo: interrupted\n")


def command(**environment):
    return subprocess.run(
        [sys.executable, "-m", "thunder_py", "info"], env={**os.environ, **environment}, capture_output=True, text=True
    )


def test_an_unknown_instruction_set_is_one_line():
    known = ", ".join(_core.build_config()["instruction_sets"])
    done = command(THUNDER_ISA="nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "thunder: error: instruction set 'nonsense' (from THUNDER_ISA) is not available: "
        f"this build on this processor has {known}\n"
    )


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (ImportError("numpy"), None)])
def test_an_import_that_ends(monkeypatch, error, status):
    class Interrupted:
        def find_spec(self, name, *_):
            if name == "thunder_py.cli.command":
                raise error

    monkeypatch.delitem(sys.modules, "thunder_py.cli.command")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    if status is None:
        with pytest.raises(ImportError, match="numpy"):
            cli.main(["info"])
    else:
        assert cli.main(["info"]) == status


# info


def test_info_of_the_installation(thunder):
    status, out, _ = thunder("info")
    assert status == 0
    assert th.__version__ in out
    assert _core.build_config()["compiler"] in out
    assert [name for name in robots.names() if f"\n{name}" not in out] == []
    status, out, _ = thunder("info", "--json")
    facts = json.loads(out)
    assert facts["build"] == _core.build_config()
    assert facts["robots"]["panda"] == {"joints": 7, "joint_types": "RRRRRRR", "parameters": 70}
    assert facts["dependencies"]["numpy"] == np.__version__


@pytest.mark.parametrize("name", ["cart_pendulum", "panda"])
def test_info_of_a_bundled_robot(thunder, name):
    robot = th.Robot.load(name)
    status, out, err = thunder("info", name)
    assert (status, err) == (0, "")
    for text in (*robot.joint_names, *robot.link_names, *robot.frame_names, *robot.parameter_names[10 * robot.n :]):
        assert text in out
    facts = json.loads(thunder("info", name, "--json")[1])
    base = facts["base_parameters"]
    condition = f"condition number {base['condition_number']:.3g}, gap of singular values infinite"
    assert f"base parameters: {base['count']} of {robot.p}, {condition}" in out
    assert base["gap"] is None
    assert len(base["names"]) == base["count"]
    assert facts["parameters"] == dict(zip(robot.parameter_names, robot.parameters, strict=True))
    assert facts["frames"] == list(robot.frame_names)
    assert [joint["type"] for joint in facts["joints"]] == list(robot.joint_types)
    physical = [link["consistency"] == "physical" for link in facts["links"]]
    assert physical == robot.inertial_is_physical().tolist()


def test_info_gives_limits_and_leaves_out_absent_ones(thunder):
    joint = json.loads(thunder("info", "panda", "--json")[1])["joints"][3]
    assert joint == {"name": "joint4", "type": "R", "lower": -3.0718, "upper": -0.0698, "velocity": 2.175, "effort": 87}
    joint = json.loads(thunder("info", "scara", "--json")[1])["joints"][2]
    assert joint == {"name": "joint3", "type": "P", "lower": None, "upper": None, "velocity": None, "effort": None}


@pytest.mark.parametrize(
    ("dyn", "expected"),
    [
        ([1, 0.1, 0, 0, 2, 0, 0, 2, 0, 2], "physical"),
        ([1, 0.1, 0, 0, 0, 0, 0, 0, 0, 0], "degenerate"),
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "massless"),
        ([1, 0, 0, 0, 1, 0, 0, 1, 0, 3], "not physical"),
        ([-1, 0, 0, 0, 1, 0, 0, 1, 0, 1], "not physical"),
    ],
)
def test_consistency_of_a_body(dyn, expected):
    assert consistency(th.model.inertia.reg_from_dyn(np.array(dyn, dtype=float))) == expected


def test_what_makes_a_link_impossible_is_told(tmp_path, capsys):
    reg = th.Robot.load("elbow").inertial.copy()
    reg[0, 4:] = [0.01, 0, 0, 0.02, 0, 0.05]
    reg[0, 1:4] = 0.0
    th.Robot.load("elbow").replace(inertial=reg, name="wrong").save(tmp_path / "wrong.yaml")
    cli.main(["info", str(tmp_path / "wrong.yaml")])
    out = capsys.readouterr().out
    assert "link1: principal moments about the center of mass must satisfy J1 <= J2 + J3" in " ".join(out.split())
    assert "got 0.05 > 0.02 + 0.01, by 0.02 kg m^2" in " ".join(out.split())
    assert out.count("must satisfy") == 1
    assert "robot.nearest_physical()" in out
    assert th.model.inertia.violation([-1.0, *np.zeros(9)]) == "mass must be positive, got -1 kg"


def test_info_of_files(thunder, tmp_path):
    status, out, _ = thunder("info", URDF)
    assert status == 0
    assert "pendulum: 1 joint, convention placements" in out
    th.Robot.load("elbow").save(tmp_path / "mine.yaml")
    status, out, _ = thunder("info", "mine.yaml")
    assert status == 0
    assert "elbow: 2 joints" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["panad"], "thunder info: error: no robot is called 'panad'; did you mean 'panda'?\n"),
        (["none.yaml"], "thunder info: error: none.yaml: No such file or directory\n"),
        (
            ["arm.txt"],
            "thunder info: error: arm.txt: a robot's file must end in .yaml, .yml, .urdf, .xml, .mjcf, .xacro\n",
        ),
        (
            ["panda", "--tip-link", "hand"],
            "thunder info: error: --tip-link: for URDF and MJCF files only, got 'panda'\n",
        ),
    ],
)
def test_info_refuses_in_one_sentence(thunder, arguments, message):
    assert thunder("info", *arguments) == (2, "", message)


def test_info_takes_the_links_of_a_urdf(thunder):
    status, out, _ = thunder("info", URDF, "--base-link", "base", "--tip-link", "rod", "--json")
    assert status == 0
    assert json.loads(out)["joints"][0]["name"] == "swing"
    status, _, err = thunder("info", URDF, "--tip-link", "rodd")
    assert status == 2
    assert "did you mean 'rod'?" in err


FINGER = """
  <link name="finger"><inertial><mass value="0.1"/>
    <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="grip" type="prismatic"><parent link="rod"/> <child link="finger"/> <axis xyz="0 1 0"/>
    <limit lower="0" upper="0.05" effort="5" velocity="0.1"/></joint>
</robot>"""


def test_a_finger_of_a_urdf_is_locked(thunder, tmp_path):
    (tmp_path / "gripper.urdf").write_text(URDF.read_text(encoding="utf-8").replace("</robot>", FINGER))
    options = ("gripper.urdf", "--base-link", "base", "--tip-link", "rod")
    status, _, err = thunder("info", *options)
    assert status == 2
    assert "joint 'grip': moves off the chain" in err
    status, out, _ = thunder("info", *options, "--fix-joint", "grip=0.02", "--json")
    assert status == 0
    assert [joint["name"] for joint in json.loads(out)["joints"]] == ["swing"]
    assert thunder("gen", *options, "--fix-joint", "grip=0.02", "--select", "G")[0] == 0
    assert thunder("convert", "gripper.urdf", "out.yaml", *options[1:], "--fix-joint", "grip=0.02")[0] == 0


@pytest.mark.filterwarnings("always:.*the gripper is part of the arm")
def test_a_gripper_that_is_part_of_the_arm_is_pointed_out(thunder, tmp_path):
    """In a warning if the tip was not chosen, and in a line of `info`; not if it is locked, or nothing else moves."""
    (tmp_path / "arm.urdf").write_text(URDF.read_text(encoding="utf-8").replace("</robot>", FINGER))
    status, out, err = thunder("info", "arm.urdf")
    assert status == 0
    assert err == (
        "thunder info: arm.urdf: the gripper is part of the arm: 'grip' of 2 joints; "
        "lock it with --fix-joint='grip'=0.0, or keep it with --tip-link='finger'\n"
    )
    assert "\nthe gripper is part of the arm: grip\n" in out
    status, out, err = thunder("info", "arm.urdf", "--tip-link", "finger", "--json")
    assert (status, err, json.loads(out)["gripper"]) == (0, "", ["grip"])
    status, out, err = thunder("info", "arm.urdf", "--fix-joint", "grip=0.02")
    assert (status, err, "gripper" in out) == (0, "", False)
    assert gripper_joints(["finger_1", "finger_2"]) == []
    with pytest.warns(UserWarning, match="the gripper is part of the arm: 'grip' of 2 joints") as caught:
        th.Robot.load(tmp_path / "arm.urdf")
    assert caught[0].filename == __file__


@pytest.mark.parametrize("given", ["grip", "=1", "grip=x"])
def test_a_lock_is_a_joint_and_a_position(thunder, given):
    status, _, err = thunder("info", URDF, "--fix-joint", given)
    assert status == 2
    assert f"expected JOINT=POSITION, such as grip=0.02, got {given!r}" in err


@pytest.fixture
def logs(tmp_path):
    """Three CSV files of an elbow with friction, and the file of the robot with that friction unknown."""
    friction = th.robot.Friction(terms=("viscous",), coefficients=[[2.0], [1.0]])
    real, t = th.Robot.load("elbow").replace(friction=friction), np.arange(0.0, 3.0, 0.01)
    zero = th.robot.Friction(terms=("viscous",), coefficients=[[0.0], [0.0]])
    real.replace(friction=zero).save(tmp_path / "arm.yaml")
    rng = np.random.default_rng(0)
    for k in range(3):
        q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5 + 0.2 * k, 0.8], phase=[k, 2 * k])(t)
        tau = real.inverse_dynamics(q, dq, ddq) + rng.normal(scale=0.05, size=q.shape)
        rows = np.column_stack([t, q, tau])
        np.savetxt(tmp_path / f"log{k}.csv", rows, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    return ["log0.csv", "log1.csv", "log2.csv"]


@pytest.mark.filterwarnings("always")
def test_identify_from_files_to_files(thunder, logs):
    options = ["--cutoff", 12, "--held-out", logs[2], "--output", "found.yaml", "--json"]
    status, out, err = thunder("identify", "arm.yaml", *logs[:2], *options)
    doubt = (
        "Errors on held-out logs exceed those of the fit by more than 1.5 times at joint1: the fit does not generalize "
        "to these logs."
    )
    assert (status, err) == (0, f"thunder identify: {doubt}\n\nrobot   found.yaml\n")
    found = json.loads(out)
    assert found["parameters"]["joint1.viscous"] == pytest.approx(2.0, abs=0.02)
    assert found["cross_validation"]["folds"] == 2
    assert max(found["held_out"]["log2.csv"]["relative"]) < 0.02
    assert th.Robot.load("found.yaml").parameters[-2:] == pytest.approx([2.0, 1.0], abs=0.02)


@pytest.mark.filterwarnings("always")
def test_identify_reports(thunder, logs):
    options = ["--cutoff", 12, "--friction", "coulomb", "--report", "report.html"]
    status, out, err = thunder("identify", "elbow", logs[0], *options)
    assert status == 0
    assert "thunder identify: The standard deviation exceeds the value of joint1.coulomb.\n" in err
    assert re.search(r"joint1.viscous +(1\.9|2\.0)", out)
    assert out.endswith("\nreport  report.html\n")
    assert "Identification of elbow" in Path("report.html").read_text(encoding="utf-8")


def test_identify_finds_friction_next_to_other_unknowns(thunder, logs):
    options = ["--cutoff", 12, "--friction", "viscous", "--unknown", "link2", "--json"]
    status, out, err = thunder("identify", "elbow", logs[0], *options)
    assert (status, err) == (0, "")
    assert json.loads(out)["parameters"]["joint1.viscous"] == pytest.approx(2.0, abs=0.05)


@pytest.mark.filterwarnings("always")
def test_identify_finds_sensors_and_a_payload(thunder, logs):
    """Of logs without either."""
    options = ["--cutoff", 12, "--friction", "viscous", "--sensors", "torque_bias", "--loaded", logs[1], "--json"]
    status, out, _ = thunder("identify", "elbow", logs[0], *options, "--held-out-loaded", logs[2], "--weights", "9,9")
    found = json.loads(out)
    assert (status, found["extra_names"][0], found["extra_names"][-1]) == (0, "payload.m", "joint2.torque_bias")
    assert found["extra"][0] == pytest.approx(0.0, abs=0.1)
    assert found["extra"][-2:] == pytest.approx([0.0, 0.0], abs=0.3)
    known = ["--cutoff", 12, "--friction", "stribeck,none", "--loaded", logs[1], "--payload", "0,0,0,0", "--json"]
    status, out, _ = thunder("identify", "elbow", logs[0], *known, "--calibration", "torque_gain=1")
    assert (status, json.loads(out)["extra_names"][-1]) == (0, "joint1.stribeck_velocity")


@pytest.mark.filterwarnings("always")
def test_identify_takes_public_logs(thunder, logs, monkeypatch):
    """Files of a folder are known by their hashes; options of the command line come before those of the set."""
    there = [
        downloads.Download("", "x.csv", hashlib.sha256(Path(log).read_bytes()).hexdigest(), "", "") for log in logs
    ]
    options = "--columns t=0,q=1:3,tau=3:5 --cutoff 12 --friction viscous"
    sets = {"lab": data_sets.DataSet("elbow", tuple((entry,) for entry in there), options, "the lab", "none")}
    monkeypatch.setattr(data_sets, "DATA_SETS", sets)
    monkeypatch.setattr(identify, "DATA_SETS", sets)
    for given, count in ([], 2), (["--friction", "coulomb"], 4):
        status, out, _ = thunder("identify", "--data", "lab", "--folder", ".", "--json", *given)
        found = json.loads(out)
        assert status == 0
        assert sum(name.endswith(("viscous", "coulomb")) for name in found["parameters"]) == count
        assert found["parameters"]["joint1.viscous"] == pytest.approx(2.0, abs=0.1)
        assert found["cross_validation"]["folds"] == 3
    for wrong, message in (([logs[0]], "must come without logs"), (["--folder", "nowhere"], "--folder must be a")):
        assert message in thunder("identify", "elbow", *wrong, "--data", "lab")[2]


@pytest.mark.filterwarnings("always")
def test_identify_reads_motors_that_turn_two_joints(thunder, tmp_path):
    """The layout of the TX40's log: positions and torques of motors in a file each, without time."""
    robot, t = th.Robot.load("ur5e"), np.arange(0.0, 4.0, 2e-4)
    q, dq, ddq = th.reference.Sinusoid([0.6] * 6, [0.3, 0.4, 0.5, 0.6, 0.7, 0.8], center=[0, -1.5, 1.5, 0, 0, 0])(t)
    turns = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    turns[5, 4] = 32.0
    zero = np.array([0.0, -0.5 * np.pi, 0.5 * np.pi, 0.0, 0.0, 0.0])
    motors = {
        "pos_read_data": (q - zero) @ turns.T,
        "curr_data": robot.inverse_dynamics(q, dq, ddq) @ np.linalg.inv(turns),
    }
    for name, values in motors.items():
        np.savetxt(tmp_path / f"{name}.csv", values, "%.10g", ",", header="j1,j2,j3,j4,j5,j6", comments="")
    status, out, err = thunder("identify", "ur5e", "--data", "tx40", "--folder", tmp_path, "--json")
    assert status == 0, err
    assert max(json.loads(out)["residual_rms"]) < 0.02
    (tmp_path / "curr_data.csv").unlink()
    assert (
        "curr_data.csv, whose hash is unknown, must be in"
        in thunder("identify", "ur5e", "--data", "tx40", "--folder", tmp_path)[2]
    )


@pytest.mark.release
@pytest.mark.skipif(not ARMS.is_dir(), reason="needs ../shared/data/logs")
@pytest.mark.parametrize("name", [name for name in data_sets.DATA_SETS if name != "tx40"])
@pytest.mark.filterwarnings("always")
def test_identify_takes_the_logs_of_real_arms(thunder, name):
    """The hashes are those of the files, and the model explains the largest torque to a few percent."""
    status, out, err = thunder("identify", "--data", name, "--folder", ARMS, "--json")
    assert status == 0, err
    found = json.loads(out)
    assert min(found["residual_rms"]) > 0.01
    if "cross_validation" in found:
        assert min(found["cross_validation"]["relative"]) < 0.06


@pytest.mark.filterwarnings("always")
def test_identify_reads_other_tables(thunder, logs):
    table = np.loadtxt(logs[0], delimiter=",", skiprows=1) * [1.0, *[180.0 / np.pi] * 2, 1.0, 1.0]
    np.savetxt("degrees.csv", table, delimiter=",", header="when,a,b,c,d", comments="")
    options = ["--cutoff", 12, "--json"]
    columns = ["--unit", "deg", "--columns", "q=a,b", "tau=c,d"]
    for time in (["t=when"], ["--rate", 100]):
        status, out, err = thunder("identify", "arm.yaml", "degrees.csv", *options, *columns, *time)
        assert (status, err) == (
            0,
            "thunder identify: No physical body has the parameters of link1: use --consistent.\n",
        )
        assert json.loads(out)["parameters"]["joint1.viscous"] == pytest.approx(2.0, abs=0.05)


@pytest.mark.filterwarnings("always")
def test_identify_takes_one_gain_of_all_joints(thunder, logs):
    one, each = (
        json.loads(thunder("identify", "arm.yaml", logs[0], "--cutoff", 12, "--json", "--gain", gain)[1])
        for gain in ("2", "2,2")
    )
    assert one["base_parameters"] == each["base_parameters"]


@pytest.mark.filterwarnings("always")
def test_identify_points_out_wrong_data(thunder, logs):
    table = np.loadtxt(logs[0], delimiter=",", skiprows=1) * [1.0, 1.0, 1.0, -1.0, -1.0]
    np.savetxt("negated.csv", table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    status, _, err = thunder("identify", "arm.yaml", "negated.csv", "--cutoff", 12)
    assert status == 0
    option = re.search(r"thunder identify: the log fits with --correct '(.*)': the residual of joint", err).group(1)
    corrected, right = (
        json.loads(thunder("identify", "arm.yaml", *rest, "--cutoff", 12, "--json")[1])["base_parameters"]
        for rest in (["negated.csv", "--correct", option], [logs[0]])
    )
    np.testing.assert_allclose(corrected, right, rtol=1e-9)


REFUSED = {
    "log0.csv --folds 2 --no-folds": "--folds and --no-folds exclude each other",
    "log0.csv --report report.pdf": "--report must end in .html or .htm, got 'report.pdf'",
    "log0.csv --output none/arm.urdf": "--output: there is no folder 'none'; make it first",
    "log0.csv --unknown joint3": "no parameter of elbow is called 'joint3'; did you mean 'joint2'?",
    "log0.csv --friction viscuous": "friction must be one of none, viscous, coulomb, asymmetric, stribeck, got",
    "log0.csv --payload 2": "--payload must come with --loaded",
    "log0.csv --calibration torque_gian=1.1": "--calibration must name quantities, got 'torque_gian'; did you mean",
    "log0.csv --folds 2": "--folds must have several logs, got 1",
    "log0.csv --regularization 2": "--regularization must come with --consistent",
    "log0.csv --held-out log1.csv ./log0.csv": "each log must be given once, to fit or with --held-out, got",
    "log9.csv --output arm.urdf": "--output: .urdf cannot hold all of this robot: gravity is lost: pass gravity=[0.0",
    "log0.csv --columns t=t q=q1,q3 tau=tau1,tau2": "log0.csv: columns q3 of q must be there, got t, q1, q2, tau1",
    "other.csv": "other.csv: there must be a column of time, such as t or time, got when, q1, q2, tau1, tau2; "
    "name them with --columns",
    "log9.csv": "log9.csv: No such file or directory",
}


@pytest.mark.usefixtures("logs")
def test_what_identify_refuses(thunder):
    Path("other.csv").write_text(Path("log0.csv").read_text().replace("t,q1", "when,q1"))
    for arguments, message in REFUSED.items():
        status, out, err = thunder("identify", "arm.yaml", *arguments.split(), "--cutoff", "12")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"thunder identify: error: {message}")


@pytest.mark.parametrize("version", ["0.8", "1.0"])
def test_an_arm_is_converted_for_thunder_and_read(version, thunder, tmp_path):
    status, out, err = thunder("convert", "ur5e", "arm_conf.yaml", "--thunder", version)
    assert (status, out) == (0, "arm_conf.yaml\n")
    assert "not carried over: link frames other than those of modified Denavit-Hartenberg parameters are lost" in err
    assert thunder("convert", "ur5e", "arm_par_REG.yaml", "--thunder", version)[0] == 0
    status, _, err = thunder("convert", "ur5e", "arm.yaml", "--thunder", version)
    assert (status, "--thunder is for files NAME_conf.yaml" in err) == (2, True)
    assert ("pipeline:" in (tmp_path / "arm_conf.yaml").read_text()) == (version == "1.0")
    for file in ("arm_conf.yaml", "arm_par_REG.yaml"):
        arm, q = th.Robot.load(tmp_path / file), np.linspace(-1.0, 1.0, 6)
        np.testing.assert_allclose(arm.mass_matrix(q), th.Robot.load("ur5e").mass_matrix(q), rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", [["-p"], ["--scalar", "float"]])
def test_gen_names_the_options_that_thunder_excludes(thunder, options):
    status, _, err = thunder("gen", "panda", "--thunder", *options)
    assert (status, err.strip()) == (
        2,
        "thunder gen: error: --thunder is for the C++ class in double; leave out -p (--python) and --scalar float",
    )


def test_names_with_any_quotes_and_braces_are_options():
    text = """pass base_link='b', tip_link="l'eft", fix_joints={"a'1": 0.0, 'b}, 2': 0.5}  # 2 joints"""
    expected = """pass --base-link='b' --tip-link="l'eft" --fix-joint="a'1"=0.0 --fix-joint='b}, 2'=0.5  # 2 joints"""
    assert as_options(text) == expected
