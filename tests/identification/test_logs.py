"""Logs in files: what is read is what was written; bad files are refused by name and line."""

import io
import os
import re
import warnings
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.control.arms import elbow
from tests.damage import answers, in_time
from tests.identification.test_identify import motion, wrong
from tests.identification.test_identify_elastic import run, soft_elbow
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderWarning
from thunder_py.identification import Log, LogFile, identify
from thunder_py.identification.log import Resampled
from thunder_py.identification.readers import scale
from thunder_py.identification.signals import JITTER, instants, sampling_period

T = np.arange(200) * 1e-2
#: every reader with parts of 70 instants, so that the last is shorter
SIZE = 70


@pytest.fixture
def log():
    rng = np.random.default_rng(0)
    return Log(t=T, q=rng.normal(size=(T.size, 2)), tau=rng.normal(size=(T.size, 2)))


def read(source, robot=None):
    parts = list(source.chunks(elbow() if robot is None else robot, SIZE))
    assert [len(part) for part in parts] == [70, 70, 60]
    return Log.joined(parts)


def assert_same(found, log, **tolerance):
    for name in ("t", "q", "tau"):
        np.testing.assert_allclose(getattr(found, name), getattr(log, name), **tolerance or {"rtol": 0}, err_msg=name)


def write_table(path, header, log, mark=","):
    rows = np.column_stack([log.t, log.q, log.tau])
    path.write_text("\n".join([header, *(mark.join(map(repr, map(float, row))) for row in rows)]) + "\n")


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("t,q1,q2,tau1,tau2", None),
        ("Time [s],q_0,q_1,effort_0,effort_1", None),
        ("stamp;position[1];position[2];torque[1];torque[2]", None),
        ("time joint1.pos joint2.pos joint1.torque joint2.torque", None),
        ("# t\tq_joint1\tq_joint2\ttau_joint1\ttau_joint2", None),
        ("when,a,b,c,d", {"t": "when", "q": ["a", "b"], "tau": ["c", "d"]}),
    ],
)
def test_text_tables(header, columns, log, tmp_path):
    mark = next((mark for mark in (",", ";", "\t") if mark in header), " ")
    write_table(tmp_path / "log.csv", header, log, mark)
    file = LogFile(tmp_path / "log.csv", columns=columns)
    assert_same(read(file), log)
    assert abs(file.rows() - T.size) < 10


@pytest.mark.parametrize(
    "lines",
    [
        "# recorded Monday, lab 3\nt,q1,q2,tau1,tau2",
        "# recorded Monday, lab 3\n# t,q1,q2,tau1,tau2\n\n# slow, and then fast",
    ],
)
def test_a_comment_is_no_header(lines, log, tmp_path):
    write_table(tmp_path / "log.csv", lines, log)
    assert_same(LogFile(tmp_path / "log.csv").load(elbow()), log)
    text = (tmp_path / "log.csv").read_text()
    (tmp_path / "log.csv").write_text(text + '2.0,"x",0,0,0\n')
    line = 1 + len(text.splitlines())
    with pytest.raises(ValueError, match=rf"log\.csv:{line}: values must be numbers, got 'x'$"):
        LogFile(tmp_path / "log.csv").load(elbow())


def test_units_in_the_names_of_columns_are_converted(log, tmp_path):
    scaled = Log(t=1e3 * log.t, q=log.q * [180.0 / np.pi, 1.0], tau=log.tau * [1e-3, 1.0])
    header = "time [ms],q1 [deg],q2 (rad or m),tau1 [kN·m],tau2"
    write_table(tmp_path / "log.csv", header, scaled)
    assert_same(LogFile(tmp_path / "log.csv").load(elbow()), log, rtol=1e-14)
    names = header.split(",")
    columns = {"t": names[0], "q": names[1:3], "tau": names[3:]}
    for unit in ("rad", "deg"):  # that of the names comes first
        assert_same(LogFile(tmp_path / "log.csv", columns=columns, unit=unit).load(elbow()), log, rtol=1e-14)


@pytest.mark.parametrize("name", ["log.csv", "log.npz", "log.parquet"])
def test_logs_without_time(name, log, tmp_path):
    """Instants follow from the rows per second, also where the log is read in parts."""
    even, path = Log(t=np.arange(T.size) / 125.0, q=log.q, tau=log.tau), tmp_path / name
    if name == "log.csv":
        rows = np.column_stack([log.q, log.tau])
        np.savetxt(path, rows, "%.17g", ",", header="q1,q2,tau1,tau2", comments="")
    elif name == "log.npz":
        np.savez(path, q=log.q, tau=log.tau)
    else:
        pa = pytest.importorskip("pyarrow")
        columns = dict(zip(["q1", "q2", "tau1", "tau2"], [*log.q.T, *log.tau.T], strict=True))
        pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), path)
    file = LogFile(path, rate=125)
    assert_same(read(file), even)
    assert_same(Log.joined(list(file.chunks(elbow(), 37))), even)
    assert abs(file.rows() - T.size) < 10
    assert_refused((lambda: LogFile(path).load(elbow()), "...give the number of rows per second with rate= of LogFile"))


BY_NUMBER = {"t": 0, "q": "1:3", "tau": range(3, 5)}
BY_NAME = {"t": "t", "q": ["a1", "a2"], "tau": ["3", "4"]}


@pytest.mark.parametrize(
    ("header", "columns", "options"),
    [
        ("", BY_NUMBER, {}),
        ("t,q,q,tau,tau", {"t": 0, "q": [1, 2], "tau": [3, "4"]}, {}),
        ("t,a1,a2,b1,b2", BY_NAME, {}),
        ("t,q1,q2,i1,i2", None, {"gain": [2.0, -5.0]}),
        ("", BY_NUMBER, {"gain": 3.0, "time_unit": "ms"}),
        ("t,q1,q2,tau1,tau2", None, {"time_unit": "us"}),
        ("t [s],q1,q2,tau1,tau2", None, {"time_unit": "us"}),  # the unit in the name comes first
    ],
)
def test_columns_by_number_units_of_time_and_gains(header, columns, options, log, tmp_path):
    factor = 1.0 if "[s]" in header else {"s": 1.0, "ms": 1e-3, "us": 1e-6}[options.get("time_unit", "s")]
    raw = Log(t=log.t / factor, q=log.q, tau=log.tau / options.get("gain", 1.0))
    write_table(tmp_path / "log.csv", header, raw)
    file = LogFile(tmp_path / "log.csv", columns=columns, **options)
    assert_same(read(file), log, rtol=1e-12)
    assert "5 columns" in str(file.describe())


def test_wrong_numbers_of_columns_are_refused(log, tmp_path):
    write_table(tmp_path / "log.csv", "", log)

    def given(**columns):
        return LogFile(tmp_path / "log.csv", columns={**BY_NUMBER, **columns}).load(elbow())

    assert_refused(
        (lambda: given(q="1:9"), "...columns of q must be numbers from 0 to 4, got 1:9"),
        (lambda: given(q="2:2"), "...columns of q must be numbers from 0 to 4, got 2:2"),
        (lambda: given(q="1:4"), "...columns must name 2 of q, got '1:4'"),
        (lambda: given(q=["a", "b"]), "...columns a of q must be there, got 0, 1, 2, 3, 4"),
    )


@pytest.mark.parametrize("flat", [False, True])
def test_folders_with_a_table_for_each_signal(flat, log, tmp_path):
    for name, values in (("my_time", log.t), ("joint_positions", log.q), ("torque-measured", log.tau)):
        np.savetxt(tmp_path / f"{name}.txt", values.ravel() if flat else values, "%.17g")
    assert_same(read(LogFile(tmp_path)), log)
    (tmp_path / "my_time.txt").rename(tmp_path / "when.txt")
    assert_refused(
        (lambda: LogFile(tmp_path).load(elbow()), "...there must be a column of time, such as t or time, ...")
    )
    files = {"t": "when.txt", "q": "joint_positions.txt", "tau": "torque-measured.txt"}
    assert_same(read(LogFile(tmp_path, columns=files)), log)
    even = LogFile(tmp_path, rate=100.0)
    assert_same(read(even), log, atol=1e-12)
    assert "when.txt" in str(even.describe())
    np.savetxt(tmp_path / "torque-measured.txt", log.tau[:-1], "%.17g")
    message = "...; torque-measured.txt has shape (199, 2), not 200 rows"
    assert_refused((lambda: LogFile(tmp_path, columns=files).load(elbow()), message))


@pytest.mark.parametrize("degrees", [False, True])
@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("n", [2, 6])
def test_a_table_without_names_is_understood(n, timed, degrees, tmp_path):
    """Positions, velocities, their rate and units, and the options that read them; the first joint stands still."""
    t, rng = np.arange(800) / 125.0, np.random.default_rng(n)
    still = np.arange(n) > 0
    waves = still * np.sin(np.outer(t, rng.uniform(2.0, 6.0, n)) + rng.uniform(0.0, 6.0, n))
    rates = np.gradient(waves, t, axis=0)
    blocks = [(57.3 if degrees else 1.0) * waves, (57.3 if degrees else 1.0) * rates, rng.normal(size=(t.size, n))]
    np.savetxt(tmp_path / "log.csv", np.column_stack([*([1e3 * t] if timed else []), *blocks]), "%.9g", ",")
    text, k = str(LogFile(tmp_path / "log.csv").describe()), int(timed)
    columns = f"{'t=0,' if timed else ''}q={k}:{k + n},tau={k + 2 * n}:{k + 3 * n}"
    assert f"--columns {columns}" in text
    assert ("--unit deg" in text) == degrees
    assert ("125 Hz" in text and "--time-unit ms" in text) if timed else ("at about 12" in text)


LOGS = Path(__file__).parents[2].parent / "shared" / "data" / "logs"
PUBLIC = {
    "panda_gaz": ("panda", 20544, {}, "exciting_traj_time.txt"),
    "ur10e/load.csv": (
        "ur10e/ur10e.urdf",
        5307,
        {"columns": {"t": 0, "q": "1:7", "tau": "25:31"}},
        "t=0,q=1:7,tau=25:31",
    ),
    "xmate7p/xm1.csv": (
        "xmate7p/XM7p.urdf",
        1001,
        {"rate": 50.0, "columns": {"q": "0:7", "tau": "21:28"}},
        "q=0:7,tau=21:28",
    ),
    "ur10_bag/ur10.db3": ("ur10_bag/ur10.urdf", 3441, {}, "/joint_states"),
}


@pytest.mark.release
@pytest.mark.filterwarnings("ignore:.*the tip is 'tool0':thunder_py.errors.ThunderWarning")
@pytest.mark.skipif(not LOGS.is_dir(), reason="needs ../shared/data/logs")
@pytest.mark.parametrize("name", PUBLIC)
def test_public_logs(name):
    arm, rows, options, described = PUBLIC[name]
    file = LogFile(LOGS / name, **options)
    log = file.load(th.Robot.load(arm if "/" not in arm else LOGS / arm))
    assert len(log) == rows
    assert described in str(file.describe())


def test_a_column_of_time_beside_a_rate_is_told(log, tmp_path):
    header = ["time [s]", "q1", "q2", "tau1", "tau2"]
    rows = np.column_stack([T, log.q, log.tau])
    np.savetxt(tmp_path / "log.csv", rows, "%.17g", ",", header=",".join(header), comments="")
    np.savez(tmp_path / "log.npz", t=T, q=log.q, tau=log.tau)
    for name, column in (("log.csv", "'time .s.'"), ("log.npz", "'t'")):
        with pytest.warns(ThunderWarning, match=f"{column} is not read"):
            assert LogFile(tmp_path / name, rate=125).load(elbow()).t[1] == 1.0 / 125.0


def test_units_of_signals():
    for signal, revolute, column, factor in (
        ("dq", True, "dq1 [deg/s]", np.pi / 180.0),
        ("dq", True, "dq1 [rpm]", np.pi / 30.0),
        ("ddq", True, "ddq[1] (rad/s²)", 1.0),
        ("ddq", False, "ddq1 [mm/s^2]", 1e-3),
        ("q", True, "q1 [°]", np.pi / 180.0),
        ("tau", True, "tau1 [N m or N]", 1.0),
        ("tau", True, "tau(1)", None),
        ("t", False, "t [µs]", 1e-6),
    ):
        assert scale(signal, revolute, column, Path("log.csv")) == factor, column


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives(save, log, tmp_path):
    save(tmp_path / "log.npz", t=log.t, q=log.q, tau=log.tau, other=np.zeros(3))
    assert_same(read(LogFile(tmp_path / "log.npz")), log)
    save(tmp_path / "log.npz", time=log.t, positions=log.q.astype(np.float32), torques=log.tau)
    named = LogFile(tmp_path / "log.npz", columns={"t": "time", "q": "positions", "tau": "torques"})
    assert_same(read(named), log, atol=1e-6)
    assert named.rows() == T.size


@pytest.mark.parametrize("elastic", [False, True])
def test_saved_runs(elastic, tmp_path):
    robot = soft_elbow() if elastic else elbow()
    if elastic:
        result = run()
    else:
        waves = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
        result = th.simulate(robot, th.PassivityBased(robot, 4.0, [2.0, 1.0]), waves, 2.0)
    result.save(tmp_path / "run.npz")
    how = {"cutoff": 40.0, "hold": 1e-3}
    direct, read_again = (identify(robot, each, **how) for each in (result, tmp_path / "run.npz"))
    np.testing.assert_array_equal(direct.parameters, read_again.parameters)
    assert read_again.logs == ("run.npz",)


def test_parquet(log, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"q1": log.q[:, 0], "q2": log.q[:, 1], "t": log.t, "tau1": log.tau[:, 0], "tau2": log.tau[:, 1]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "log.parquet", row_group_size=1000)
    assert_same(read(LogFile(tmp_path / "log.parquet")), log)
    assert LogFile(tmp_path / "log.parquet").rows() == T.size


@pytest.mark.parametrize("version", [1, 2])
def test_bags_of_ros(version, log, tmp_path):
    """Joints in another order, a further joint, and messages of a gripper in between."""
    rosbags = pytest.importorskip("rosbags")
    assert rosbags
    path = write_bag(tmp_path, version, log)
    file = LogFile(path)
    assert_same(read(file), log, rtol=0, atol=1e-8)
    if version == 2:
        assert_same(read(LogFile(next(path.glob("*.db3")))), log, rtol=0, atol=1e-8)
    assert "position/joint2" in str(file.describe())
    other = elbow().replace(joint_names=("shoulder", "elbow"))
    assert_refused(
        (
            lambda: file.load(other),
            "...messages must have all joints, never had shoulder, elbow, got joint2, finger, joint1; ...",
        )
    )
    renamed = LogFile(path, columns={"q": ["joint1", "joint2"]})
    assert_same(renamed.load(other), log, rtol=0, atol=1e-8)
    both = ["joint1", "joint2"]
    for columns, message in (
        ({"q": ["joint1"]}, "columns must name 2 of q, got ...joint1"),
        ({"q": both, "tau": both}, "columns joint1 of q must be there, got t, position/joint2"),
    ):
        assert_refused((lambda columns=columns: LogFile(path, columns=columns).load(other), f"...{message}..."))
    assert_refused((lambda: LogFile(path, topic="/other").load(elbow()), "...there must be a topic of ..."))


def write_bag(folder, version, log):
    from rosbags.rosbag1 import Writer as Writer1
    from rosbags.rosbag2 import Writer as Writer2
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC if version == 1 else Stores.ROS2_HUMBLE)
    types, kind = store.types, "sensor_msgs/msg/JointState"
    path = folder / ("log.bag" if version == 1 else "bag")
    writer = Writer1(path) if version == 1 else Writer2(path, version=9)
    with writer:
        connection = writer.add_connection("/joint_states", kind, typestore=store)
        for k, t in enumerate(log.t):
            stamp = types["builtin_interfaces/msg/Time"](sec=int(t), nanosec=round(1e9 * (t - int(t))))
            number = {"seq": k} if version == 1 else {}
            header = types["std_msgs/msg/Header"](stamp=stamp, frame_id="", **number)
            arm = ["joint2", "finger", "joint1"], [log.q[k, 1], 9.0, log.q[k, 0]], [log.tau[k, 1], 9.0, log.tau[k, 0]]
            for names, position, effort in (arm, (["finger"], [9.0], [9.0])):
                message = types[kind](
                    header=header,
                    name=names,
                    position=np.array(position),
                    velocity=np.zeros(0),
                    effort=np.array(effort),
                )
                raw = store.serialize_ros1(message, kind) if version == 1 else store.serialize_cdr(message, kind)
                writer.write(connection, 1 + round(1e9 * t), raw)
    return path


def test_resampling_keeps_a_cubic_and_does_not_depend_on_parts():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0.0, 1.0, 300))
    cubic = np.column_stack([t**3, 1.0 - t**2])
    with pytest.warns(ThunderWarning, match="^interpolated to 400 Hz"):
        whole, parts = (
            Log.joined(list(Resampled(Log(t=t, q=cubic, tau=-cubic), 400.0).chunks(elbow(), size))) for size in (300, 7)
        )
    np.testing.assert_allclose(whole.t, t[0] + np.arange(len(whole)) / 400.0, rtol=1e-12)
    assert t[-1] - 1.0 / 400.0 < whole.t[-1] <= t[-1]
    np.testing.assert_allclose(whole.q, np.column_stack([whole.t**3, 1.0 - whole.t**2]), atol=1e-9)
    for name in ("t", "q", "tau"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-9)


def uneven():
    t = np.arange(1001) * 1e-2
    t = t + 3e-3 * np.random.default_rng(0).uniform(-1.0, 1.0, t.size)
    waves = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    return Log(t=t, q=waves.q, tau=elbow().inverse_dynamics(*waves), name="morning")


def test_a_log_with_uneven_instants_is_resampled_with_a_warning():
    with pytest.warns(
        ThunderWarning, match=r"^morning: interpolated to 100 Hz, from periods of 0\.00\d+ to 0\.01\d+ s$"
    ):
        found = identify(wrong(elbow()), uneven(), cutoff=10.0, resample=100.0)
    with pytest.warns(ThunderWarning) as caught:
        identify(wrong(elbow()), uneven(), cutoff=10.0, resample=100.0, robust=True)
    assert len(caught) == 1
    expected = found.base.mapping @ elbow().parameters
    np.testing.assert_allclose(found.base_parameters, expected, atol=5e-3)


def test_logs_with_bad_instants_are_refused():
    def given(change, how):
        return identify(elbow(), change(uneven()), cutoff=10.0, **how)

    def gap(log):
        return Log(t=log.t + (log.t > 5.0), q=log.q, tau=log.tau, name="gap")

    cases = (
        (lambda log: log, {}, "morning: t must be evenly spaced, got periods from ... s: interpolate a log ..."),
        (gap, {"resample": 100.0}, "gap: t must have no gap longer than 0.05 s, half a period of the cutoff, got ..."),
        (lambda log: log, {"resample": 50.0}, "morning: resample must be at least the sampling frequency of the ..."),
        (lambda log: log, {"resample": 0.0}, "resample must be positive, got 0"),
        (lambda log: log[::-1], {}, "morning: t must increase from instant to instant, got ... in row 1"),
        (lambda log: log[:3], {}, "morning: t must hold at least 5 instants, got 3"),
        (lambda log: log[:0], {}, "morning: t must hold at least 5 instants, got 0"),
    )
    assert_refused(*((partial(given, *case), message) for *case, message in cases))


@pytest.mark.parametrize("kind", ["decimals", "single precision", "of the epoch"])
def test_even_instants_may_be_rounded(kind):
    t = 2.5e-3 * np.arange(2000) + (900.0 if kind == "single precision" else 1.7e9 if kind == "of the epoch" else 0.0)
    rounded = t.astype(np.float32).astype(float) if kind == "single precision" else np.round(t, 3)
    assert np.abs(np.diff(rounded) / 2.5e-3 - 1.0).max() > JITTER
    np.testing.assert_allclose(instants(rounded) - t[0], t - t[0], atol=6e-4)
    assert sampling_period(rounded) == pytest.approx(2.5e-3, rel=1e-3)
    missing = np.delete(rounded, 1000)
    assert_refused((lambda: sampling_period(missing), "t must be evenly spaced..."))


def test_bad_tables_are_refused(tmp_path):
    def given(text):
        (tmp_path / "log.csv").write_text(text)
        return identify(elbow(), tmp_path / "log.csv", cutoff=10.0)

    assert_refused(
        (lambda: given("t,q1,q2,tau1\n0,0,0,0\n"), "...log.csv: there must be columns of tau, such as tau1 to ..."),
        (lambda: given("a,q1,q2,tau1,tau2\n"), "...log.csv: there must be a column of time, such as t or time, ..."),
        (lambda: given("t,q1,q2,tau1,tau2\n0,0,0,0,0\n1,0,x,0,0\n"), "...log.csv:3: values must be numbers, got 'x'"),
        (lambda: given("t,q1,q2,tau1,tau2\n0,0,0,0,0\n1,0,0\n2,0,0,0,0\n"), "...csv:3: there must be 5 values, got 3"),
        (
            lambda: given("t,q1,q2,tau1,tau2\n0,0,0,0,0\n1,0,inf,0,0\n"),
            "log.csv: q must be finite, got inf in row 1...",
        ),
        (
            lambda: given("t,q1,q2,q_1,q_2,tau1,tau2\n0,0,0,0,0,0,0\n"),
            "...log.csv: there must be one column q_1, got 2",
        ),
        (
            lambda: given("t,left_q1,left_q2,right_q1,right_q2,tau1,tau2\n0,0,0,0,0,0,0\n"),
            "...one column of q for each joint, got left_q1 and right_q1...",
        ),
        (
            lambda: given("t,q1,q2,i1,i2\n0,0,0,0,0\n"),
            "...currents are read with gain=, the torque for each unit of them",
        ),
        (lambda: given("t,q1 [mm],q2,tau1,tau2\n0,0,0,0,0\n"), "...log.csv: the unit of column 'q1 [mm]' must be ..."),
        (lambda: given("t,q1,q2,q3,tau1,tau2\n0,0,0,0,0,0\n"), "...log.csv: there must be columns of 2 joints, ..."),
        (lambda: given("t,q1,Q1,q2,tau1,tau2\n0,0,0,0,0,0\n"), "...log.csv: there must be one column Q1, got 2"),
        (
            lambda: given("0,0,0,0,0\n"),
            "...a column of time, ..., got 0, 1, 2, ...; name them with columns=, or give ...",
        ),
        (
            lambda: given("t,q1,q2,tau1,tau2\n0,0,0,0,0\n# again\n0.1,0,0,0,0\n0.1,0,0,0,1\n"),
            "...log.csv:5: t must increase from instant to instant, got 0.1 after 0.1; where a clock is coarse, ...",
        ),
        (lambda: given("\n"), "...log.csv: there must be rows of numbers, got none"),
        (lambda: given("t,q1,q2,tau1,tau2\n"), "...log.csv: t must hold at least 5 instants, got 0"),
    )


def test_bad_archives_are_refused(log, tmp_path):
    def made(**arrays):
        given = {"t": log.t, "q": log.q, "tau": log.tau, **arrays}
        np.savez(tmp_path / "log.npz", **{name: value for name, value in given.items() if value is not None})
        return identify(elbow(), [tmp_path / "log.npz"], cutoff=10.0)

    assert_refused(
        (lambda: made(tau=None), "...log.npz: there must be columns of tau, ..., got t, q[0], q[1]; ..."),
        (
            lambda: made(q=np.zeros((3, 2))),
            "...log.npz: there must be columns of q, ...; q has shape (3, 2), not 200 rows",
        ),
        (lambda: made(q=np.zeros(200)), "...log.npz: there must be columns of q, ..., got t, q, tau[0], tau[1]; ..."),
        (lambda: made(q=np.zeros((200, 3))), "...log.npz: there must be columns of 2 joints, got also q[2]; ..."),
        (lambda: made(q=np.where(np.arange(400).reshape(200, 2) == 351, np.inf, 0.0)), "log.npz: q must be ..."),
    )


@pytest.mark.parametrize("name", ["log.npz", "log.parquet", "log.bag"])
def test_files_of_another_format_are_refused(name, tmp_path):
    if name == "log.parquet":
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_text("t,q1\n0,0\n")
    assert_refused((lambda: LogFile(tmp_path / name).load(elbow()), f"...{name}: must be ..."))
    with pytest.raises(FileNotFoundError):
        LogFile(tmp_path / f"missing_{name}").load(elbow())


def test_other_arguments_are_refused(log, tmp_path):
    assert_refused(
        (lambda: identify(elbow(), tmp_path / "log.xlsx", cutoff=10.0), "path must end in ...got '...log.xlsx'"),
        (lambda: LogFile("log.csv", time_unit="h"), "time_unit must be one of s, ms, us, ns, min, got 'h'..."),
        (
            lambda: LogFile("log.csv", gain=[1.0, 0.0]),
            "gain must be a number or one for each joint, ...",
        ),
        (lambda: LogFile("log.csv", topic="/a"), "topic must be None for a file that is no bag, got '/a' for ..."),
        (lambda: identify(elbow(), log, log.q, tau=log.tau, cutoff=10.0), "q, tau must be None where t is a Log"),
        (lambda: identify(elbow(), [log, 3], cutoff=10.0), "t must hold runs, logs or paths, got 3"),
        (lambda: LogFile("log.csv", unit="grad"), "unit must be one of rad, deg, got 'grad'..."),
        (lambda: LogFile("log.csv", rate=0.0), "rate must be positive..."),
        (lambda: LogFile("log.csv", {"t": "t"}, rate=9.0), "columns must not name t where rate is given"),
        (lambda: LogFile("log.bag", rate=9.0), "rate must be None for a bag, whose messages have times, got 9"),
        (lambda: Log(t=log.t, q=log.q[:3], tau=log.tau), "q must have 200 rows like t, got 3"),
    )
    q, dq, ddq = motion(2)
    sensed = Log(t=np.arange(1001.0), q=q, dq=dq, ddq=ddq, tau=q, joint_torque=q)
    assert_refused((lambda: identify(elbow(), sensed), "joint_torque must be None, because ... has no elastic joints"))
    write_table(tmp_path / "log.csv", "t,q1,q2,tau1,tau2", log)
    file = LogFile(tmp_path / "log.csv", columns={"t": "t", "q": ["q1"], "tau": ["tau1", "tau2"]})
    assert_refused((lambda: file.load(elbow()), "...log.csv: columns must name 2 of q, got ('q1',)"))


# --- damaged or endless logs, or such that claim to be larger than they are ---
SHORT = np.arange(120) * 1e-2
KINDS = ["npz", "parquet", "csv", "bag", "folder"]


@pytest.fixture
def short() -> Log:
    rng = np.random.default_rng(3)
    return Log(t=SHORT, q=rng.normal(size=(SHORT.size, 2)), tau=rng.normal(size=(SHORT.size, 2)))


def written(folder: Path, kind: str, short: Log) -> Path:
    path = folder / f"log.{kind}"
    if kind == "npz":
        np.savez_compressed(path, t=short.t, q=short.q, tau=short.tau)
    elif kind == "parquet":
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        joints = {f"{name}{k + 1}": getattr(short, name)[:, k] for name in ("q", "tau") for k in range(2)}
        parquet.write_table(pyarrow.table({"t": short.t, **joints}), path, write_page_checksum=True)
    elif kind == "csv":
        write_table(path, "t,q1,q2,tau1,tau2", short)
    else:
        pytest.importorskip("rosbags")
        return write_bag(folder, 1 if kind == "bag" else 2, short)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_an_error_of_ours(kind: str, short: Log, tmp_path: Path) -> None:
    path = written(tmp_path, kind, short)
    source = LogFile(path)

    def read() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ThunderWarning)  # of rows that are left out
            found = source.load(elbow())
        source.rows()
        if kind in ("npz", "parquet"):  # which have checksums
            for name in ("t", "q", "tau"):
                np.testing.assert_array_equal(getattr(found, name), getattr(short, name))

    _, refused = answers(path, read, range(40))
    assert refused >= 20


@pytest.mark.parametrize("kind", ["npz", "parquet", "csv", "bag"])
def test_what_is_no_regular_file_is_refused(kind: str, tmp_path: Path) -> None:
    pipe, zero, loop = (tmp_path / f"{name}.{kind}" for name in ("pipe", "zero", "loop"))
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    loop.symlink_to(loop)
    for path, found in ((pipe, "a device, pipe"), (zero, "a device, pipe"), (loop, "a loop of symbolic links")):
        for read in (LogFile(path).rows, lambda path=path: LogFile(path).load(elbow())):
            with in_time(), pytest.raises(FileFormatError, match=rf"{path.name}: must be a regular file, got {found}"):
                read()


@pytest.mark.parametrize("kind", ["npz", "parquet", "csv", "bag"])
def test_names_need_not_be_utf_8(kind: str, short: Log, tmp_path: Path) -> None:
    path = written(tmp_path, kind, short)
    other = path.rename(tmp_path / f"l\udcf6g.{kind}")
    np.testing.assert_array_equal(LogFile(other).load(elbow()).q, short.q)
    other.write_bytes(b"\x93\0\0")
    with pytest.raises(FileFormatError, match=r"l\\udcf6g\.") as error:
        LogFile(other).load(elbow())
    str(error.value).encode()


@pytest.mark.parametrize("rows", [10**15, 121, 119])
def test_rows_of_an_archive_that_are_not_there(rows: int, short: Log, tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in (("t", short.t), ("q", short.q), ("tau", short.tau)):
            file = io.BytesIO()
            shape = (rows, *values.shape[1:])
            np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
            archive.writestr(f"{name}.npy", file.getvalue() + values.tobytes())
    with in_time(), pytest.raises(FileFormatError, match=rf"t must hold {8 * rows} bytes for \({rows},\), got 960$"):
        LogFile(path).load(elbow())


def test_a_line_without_end_is_refused(short: Log, tmp_path: Path) -> None:
    """Also one that is no text: a file with a hole, as after a power failure."""
    path = tmp_path / "log.csv"
    for start in ("", "t,q1,q2,tau1,tau2\n0,0,0,0,0\n"):
        path.write_text(start)
        os.truncate(path, 1 << 34)
        line = 1 + start.count("\n")
        with in_time(), pytest.raises(FileFormatError, match=rf"log\.csv:{line}: lines must have at most 1048576 char"):
            LogFile(path).load(elbow())


@pytest.mark.parametrize(("name", "value"), [("t", 1e300), ("q", -1e51), ("tau", 1e300)])
def test_numbers_without_meaning_are_refused(name: str, value: float, short: Log, tmp_path: Path) -> None:
    signals = {"t": short.t.copy(), "q": short.q.copy(), "tau": short.tau.copy()}
    signals[name][-1] = value
    np.savez(tmp_path / "log.npz", **signals)
    message = (
        f"log.npz: {name} must be at most {1e20 if name == 't' else 1e12:g} in magnitude, got {value:g} in row 119"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        identify(elbow(), tmp_path / "log.npz", cutoff=10.0)
