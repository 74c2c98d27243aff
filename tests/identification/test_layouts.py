"""Layouts of logs: each is read to the same numbers, by the options that its description proposes."""

import gzip
import json
import warnings
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest

import thunder_py as th
from tests.control.arms import elbow
from tests.identification.test_identify_elastic import soft_elbow
from thunder_py.errors import ThunderWarning
from thunder_py.identification import LogFile

ARMS = {"elbow": elbow, "ur5e": lambda: th.Robot.load("ur5e")}
START = 1_700_000_000


@lru_cache
def recorded(arm):
    """Return a motion at 125 Hz, with the names of the joints, and torques with noise."""
    robot, rng = ARMS[arm](), np.random.default_rng(5)
    t = np.arange(500) / 125.0
    w, phase, size = rng.uniform(2.0, 6.0, (3, robot.n)), rng.uniform(0.0, 6.0, robot.n), rng.uniform(0.4, 1.2, robot.n)
    angle = np.multiply.outer(t, w[0]) + phase
    q, dq, ddq = size * np.sin(angle), size * w[0] * np.cos(angle), -size * w[0] ** 2 * np.sin(angle)
    tau = robot.inverse_dynamics(q, dq, ddq)
    tau = tau + 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape)
    noisy = q + 1e-4 * rng.normal(size=q.shape)
    return SimpleNamespace(
        robot=robot, n=robot.n, joints=robot.joint_names, t=t, q=noisy, dq=dq, ddq=ddq, tau=tau, qd=q
    )


def each(pattern, n, start=1):
    return [pattern.format(k) for k in range(start, start + n)]


def table(folder, columns, names=(), mark=",", name="log.csv", encoding="utf-8", end="\n", before=(), form="{:.12g}"):
    """Write columns of numbers or texts."""
    rows = [
        [cell if isinstance(cell, str) else form.format(cell) for cell in row] for row in zip(*columns, strict=True)
    ]
    lines = [*before, *([mark.join(names)] if len(names) else []), *(mark.join(row) for row in rows)]
    (folder / name).write_bytes((end.join(lines) + end).encode(encoding))
    return folder / name


def plain(m):
    return ["t", *each("q{}", m.n), *each("tau{}", m.n)], [m.t, *m.q.T, *m.tau.T]


def of(m, *patterns, start=1):
    return [name for pattern in patterns for name in each(pattern, m.n, start)]


def by_joint(m, *patterns, names=None):
    return [pattern.format(joint) for joint in names or m.joints for pattern in patterns]


def in_turn(m, *signals):
    return [signal[:, k] for k in range(m.n) for signal in signals]


def matrix(m):
    return np.hstack([m.t[:, None], m.q, m.dq, m.tau])


def commas(columns):
    return [[f"{value:.12g}".replace(".", ",") for value in column] for column in columns]


def stamps(m, form):
    start = np.datetime64("2024-03-09T23:59:58")
    times = [str(start + np.timedelta64(round(1e6 * t), "us")) for t in m.t]
    return [form(time) for time in times]


def ros_echo(folder, m):
    """``rostopic echo -p``: texts among the numbers, stamps of the epoch in ns."""
    stamp = [f"{START * 10**9 + round(1e9 * t)}" for t in m.t]
    names = ["%time", "field.header.seq", "field.header.stamp", "field.header.frame_id", *each("field.name{}", m.n, 0)]
    names += of(m, "field.position{}", "field.velocity{}", "field.effort{}", start=0)
    texts = [["base"] * len(m.t), *([joint] * len(m.t) for joint in m.joints)]
    columns = [stamp, np.arange(len(m.t)), stamp, *texts, *m.q.T, *m.dq.T, *m.tau.T]
    return table(folder, columns, names)


def rtde(folder, m):
    names = ["timestamp", *of(m, "target_q_{}", "actual_q_{}", "actual_qd_{}", "target_current_{}", start=0)]
    names += [*of(m, "actual_current_{}", start=0), *each("actual_TCP_pose_{}", 6, 0), "robot_mode"]
    columns = [m.t, *m.qd.T, *m.q.T, *m.dq.T, *m.tau.T * 0.9, *m.tau.T, *np.ones((6, len(m.t))), np.full(len(m.t), 7)]
    return table(folder, columns, names, " ")


def franka(folder, m):
    names = ["time", "success_rate", *of(m, "q[{}]", "q_d[{}]", "dq[{}]", "tau_J[{}]", "tau_J_d[{}]", start=0)]
    names += [*of(m, "tau_ext_hat_filtered[{}]", "theta[{}]", "dtheta[{}]", start=0), *each("I_total[{}]", 9, 0)]
    columns = [m.t, np.ones_like(m.t), *m.q.T, *m.qd.T, *m.dq.T, *m.tau.T, *m.tau.T * 0.9, *m.tau.T * 0.1]
    columns += [*m.qd.T, *m.dq.T, *np.ones((9, len(m.t)))]
    return table(folder, columns, names)


def sunrise(folder, m):
    names = ["ZeitInSec", "ZeitInNanoSec"]
    names += of(m, "axisTauExtMsr_LBR_iiwa_14_R820_1_{}", "axisTauMsr_LBR_iiwa_14_R820_1_{}", start=0)
    names += of(m, "axisQMsr_LBR_iiwa_14_R820_1_{}", "axisQCmd_LBR_iiwa_14_R820_1_{}", start=0)
    seconds = np.floor(m.t) + START
    columns = [seconds, np.round((m.t - np.floor(m.t)) * 1e9), *m.tau.T * 0.1, *m.tau.T, *m.q.T, *m.qd.T]
    return table(folder, columns, names, " ", "log.log")


def headless(folder, m, columns, mark=",", **how):
    return table(folder, columns, (), mark, **how)


def parquet(folder, m, columns):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table(columns), folder / "log.parquet")
    return folder / "log.parquet"


def saved(folder, save, name, **arrays):
    save(folder / name, **arrays)
    return folder / name


def mat(folder, m, **arrays):
    from scipy.io import savemat

    savemat(folder / "log.mat", arrays)
    return folder / "log.mat"


def compressed(path):
    target = path.with_name(path.name + ".gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target


def per_joint(folder, m):
    for k in range(m.n):
        table(folder, [m.t, m.q[:, k], m.tau[:, k]], ["time", "position", "torque"], name=f"joint{k + 1}.csv")
    return folder


def per_signal(folder, m, ending=".csv"):
    for name, values in (("positions", m.q), ("torques", m.tau)):
        table(folder, [m.t, *values.T], ["t", *each("j{}", m.n)], name=name + ending)
    return folder


def arrays_in_files(folder, m):
    for name, values in (("t", m.t), ("q", m.q), ("tau", m.tau)):
        np.save(folder / f"{name}.npy", values)
    return folder


def lines_of_json(folder, m):
    rows = zip(m.t, m.q.tolist(), m.tau.tolist(), strict=True)
    text = "\n".join(json.dumps({"header": {"stamp": t}, "position": q, "effort": tau}) for t, q, tau in rows)
    (folder / "log.jsonl").write_text(text)
    return folder / "log.jsonl"


def without(m, rows):
    kept = np.setdiff1d(np.arange(len(m.t)), rows)
    return SimpleNamespace(
        **{**vars(m), **{name: getattr(m, name)[kept] for name in ("t", "q", "dq", "ddq", "tau", "qd")}}
    )


def broken(folder, m):
    """NaN and empty cells in two rows, which are left out."""
    names, columns = plain(m)
    columns = [[f"{value:.12g}" for value in column] for column in columns]
    columns[1][100], columns[2][200] = "NaN", ""
    return table(folder, columns, names)


def ragged(folder, m):
    path = table(folder, plain(m)[1], plain(m)[0])
    path.write_text(path.read_text() + "4.0,0.1")
    return path


def twice(folder, m):
    names, columns = plain(m)
    return table(folder, [np.repeat(column, 2) for column in columns], names)


def coarse(folder, m):
    """Stamps of a clock of 20 ms for rows of 8 ms."""
    return table(
        folder, [np.floor(m.t * 50.0) / 50.0, *m.q.T, *m.dq.T, *m.tau.T], ["t", *of(m, "q{}", "dq{}", "tau{}")]
    )


def bag(folder, m, version=2, split=False):
    pytest.importorskip("rosbags")
    half = len(m.t) // 2 if split else len(m.t)
    write = lambda part, name: write_joints(folder, m, part, version, name)  # noqa: E731
    paths = [write(slice(0, half), "first"), *([write(slice(half, None), "second")] if split else [])]
    if not split:
        return paths[0]
    target = folder / "both"
    target.mkdir()
    for path in paths:
        for file in (path, *path.glob("*.db3")) if path.is_dir() else (path,):
            if file.is_file():
                file.rename(target / f"{path.stem}{file.suffix}")
    return target


def write_joints(folder, m, part, version, name):
    """Write joint states, a wrench, and joint states of a gripper on another topic."""
    from rosbags.rosbag1 import Writer as Writer1
    from rosbags.rosbag2 import Writer as Writer2
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC if version == 1 else Stores.ROS2_HUMBLE)
    types = store.types
    path = folder / (f"{name}.bag" if version == 1 else name)
    with Writer1(path) if version == 1 else Writer2(path, version=9) as writer:
        kinds = {"/arm": "sensor_msgs/msg/JointState", "/hand": "sensor_msgs/msg/JointState"}
        kinds["/wrench"] = "geometry_msgs/msg/WrenchStamped"
        connections = {topic: writer.add_connection(topic, kind, typestore=store) for topic, kind in kinds.items()}
        for k in range(len(m.t))[part]:
            stamp = types["builtin_interfaces/msg/Time"](sec=int(m.t[k]), nanosec=round(1e9 * (m.t[k] % 1.0)))
            header = types["std_msgs/msg/Header"](stamp=stamp, frame_id="", **({"seq": k} if version == 1 else {}))
            state, none = types[kinds["/arm"]], np.zeros(0)
            vector = types["geometry_msgs/msg/Vector3"](0.0, 0.0, 1.0)
            wrench = types["geometry_msgs/msg/Wrench"](force=vector, torque=vector)
            messages = {
                "/arm": state(header, list(m.joints), m.q[k], m.dq[k], m.tau[k]),
                "/hand": state(header, ["finger"], np.ones(1), none, none),
                "/wrench": types[kinds["/wrench"]](header, wrench),
            }
            write = store.serialize_ros1 if version == 1 else store.serialize_cdr
            for topic, message in messages.items():
                writer.write(connections[topic], 1 + round(1e9 * m.t[k]), write(message, kinds[topic]))
    return path


def T(folder, m, names=None, columns=None, **how):
    """Write the plain log in another way."""
    return table(folder, plain(m)[1] if columns is None else columns, plain(m)[0] if names is None else names, **how)


#: how a log is written
LAYOUTS = {
    "commas": lambda f, m: T(f, m),
    "semicolons, decimal commas": lambda f, m: T(f, m, columns=commas(plain(m)[1]), mark=";"),
    "tabs, decimal commas": lambda f, m: T(f, m, columns=commas(plain(m)[1]), mark="\t", name="log.tsv"),
    "blanks, decimal commas": lambda f, m: T(f, m, columns=commas(plain(m)[1]), mark="  ", name="log.dat"),
    "quoted cells, decimal commas": lambda f, m: T(
        f, m, columns=[[f'"{cell}"' for cell in column] for column in commas(plain(m)[1])]
    ),
    "quoted names": lambda f, m: T(f, m, [f'"{name}"' for name in plain(m)[0]]),
    "bars": lambda f, m: T(f, m, mark=" | ", name="log.txt"),
    "comments": lambda f, m: T(f, m, before=["% cell 3, robot 7", "% 2024-03-09", "# a; b"]),
    "lines of a data logger": lambda f, m: T(f, m, before=["Logger 3.1", "Rate;125", "Channels 1 2 3", ""]),
    "line of units": lambda f, m: T(
        f, m, columns=[1e3 * m.t, *np.rad2deg(m.q).T, *m.tau.T],
        before=[",".join(plain(m)[0])], names=["ms", *["deg"] * m.n, *["Nm"] * m.n],
    ),
    "units in brackets": lambda f, m: T(
        f, m, ["time [ms]", *of(m, "q{} [deg]", "tau{} [mNm]")], [1e3 * m.t, *np.rad2deg(m.q).T, *1e3 * m.tau.T]
    ),
    "units behind names": lambda f, m: T(
        f, m, ["time_us", *of(m, "joint_{}_position_deg", "joint_{}_torque_Nm")],
        [1e6 * m.t, *np.rad2deg(m.q).T, *m.tau.T],
    ),
    "Latin-1": lambda f, m: T(
        f, m, ["Zeit [s]", *of(m, "q{} [°]", "tau{}")], [m.t, *np.rad2deg(m.q).T, *m.tau.T], encoding="latin-1"
    ),
    "byte order mark": lambda f, m: T(f, m, encoding="utf-8-sig"),
    "UTF-16": lambda f, m: T(f, m, mark="\t", encoding="utf-16"),
    "UTF-16 without mark": lambda f, m: T(f, m, encoding="utf-16-le"),
    "ends of lines of Windows": lambda f, m: T(f, m, end="\r\n"),
    "separators at the ends": lambda f, m: T(f, m, [*plain(m)[0], ""], [*plain(m)[1], [""] * len(m.t)]),
    "compressed": lambda f, m: compressed(T(f, m)),
    "index of a data frame": lambda f, m: T(f, m, ["", *plain(m)[0]], [np.arange(len(m.t)), *plain(m)[1]]),
    "data frame without names": lambda f, m: T(f, m, [str(k) for k in range(1 + 2 * m.n)]),
    "epoch in ns": lambda f, m: T(
        f, m, ["timestamp", *plain(m)[0][1:]], [[f"{START * 10**9 + round(1e9 * t)}" for t in m.t], *plain(m)[1][1:]]
    ),
    "epoch in s": lambda f, m: T(f, m, columns=[m.t + START, *plain(m)[1][1:]], form="{:.15g}"),
    "dates": lambda f, m: T(f, m, columns=[stamps(m, str), *plain(m)[1][1:]]),
    "dates with blanks": lambda f, m: T(
        f, m, ["timestamp", *plain(m)[0][1:]],
        [stamps(m, lambda text: text.replace("T", " ")), *plain(m)[1][1:]], mark=";",
    ),
    "seconds and nanoseconds": lambda f, m: T(
        f, m, ["header.stamp.sec", "header.stamp.nanosec", *plain(m)[0][1:]],
        [np.floor(m.t), np.round(1e9 * (m.t % 1.0)), *plain(m)[1][1:]],
    ),
    "names in capitals, other order": lambda f, m: T(
        f, m, [*of(m, "TAU_{}", "Q_{}"), "TIME"], [*m.tau.T, *m.q.T, m.t]
    ),
    "joints in turn": lambda f, m: T(
        f, m, ["t", *by_joint(m, "q{0}", "dq{0}", "tau{0}", names=range(1, m.n + 1))],
        [m.t, *in_turn(m, m.q, m.dq, m.tau)],
    ),
    "names of joints": lambda f, m: T(
        f, m, ["time", *by_joint(m, "{}_pos", "{}_vel", "{}_torque")], [m.t, *in_turn(m, m.q, m.dq, m.tau)]
    ),
    "PlotJuggler": lambda f, m: T(
        f, m, ["__time", *by_joint(m, "/joint_states/{}/effort", "/joint_states/{}/position")],
        [m.t, *in_turn(m, m.tau, m.q)],
    ),
    "rostopic echo": ros_echo,
    "RTDE": rtde,
    "libfranka": franka,
    "Sunrise": sunrise,
    "MuJoCo": lambda f, m: T(
        f, m, ["time", *of(m, "qpos_{}", "qvel_{}", "qacc_{}", "qfrc_actuator_{}", start=0)],
        [m.t, *m.q.T, *m.dq.T, *m.ddq.T, *m.tau.T],
    ),
    "Isaac": lambda f, m: T(
        f, m, ["time", *of(m, "joint_pos_{}", "joint_vel_{}", "joint_pos_target_{}", "applied_torque_{}", start=0)],
        [m.t, *m.q.T, *m.dq.T, *m.qd.T, *m.tau.T],
    ),
    "names in camel case": lambda f, m: T(
        f, m, ["Time", *of(m, "PosAct{}", "PosDes{}", "TrqAct{}", "TrqDes{}")],
        [m.t, *m.q.T, *m.qd.T, *m.tau.T, *m.tau.T * 0.9],
    ),
    "desired and measured": lambda f, m: T(
        f, m, ["t", *of(m, "q_des_{}", "q_{}", "dq_{}", "tau_cmd_{}", "tau_{}")],
        [m.t, *m.qd.T, *m.q.T, *m.dq.T, *m.tau.T * 0.9, *m.tau.T],
    ),
    "angles and currents": lambda f, m: T(
        f, m, ["t", *of(m, "theta_{}", "theta_dot_{}", "current_{} [mA]")], [m.t, *m.q.T, *m.dq.T, *1e3 * m.tau.T]
    ),
    "without time": lambda f, m: T(f, m, of(m, "q{}", "qd{}", "qdd{}", "tau{}"), [*m.q.T, *m.dq.T, *m.ddq.T, *m.tau.T]),
    "without names": lambda f, m: headless(f, m, [m.t, *m.q.T, *m.dq.T, *m.tau.T]),
    "without names and time": lambda f, m: headless(f, m, [*m.q.T, *m.dq.T, *m.ddq.T, *m.tau.T], "\t"),
    "without names, in turn, ms": lambda f, m: headless(f, m, [1e3 * m.t, *in_turn(m, m.q, m.dq, m.tau)], " "),
    "without names, degrees": lambda f, m: headless(
        f, m, [m.t, *np.rad2deg(m.q).T, *np.rad2deg(m.dq).T, *m.tau.T], form="{:.9f}"
    ),
    "without names, torques first": lambda f, m: headless(f, m, [m.t, *m.tau.T, *m.q.T, *m.dq.T]),
    "without names, velocities first": lambda f, m: headless(f, m, [m.t, *m.dq.T, *m.q.T, *m.tau.T]),
    "without names, desired and measured": lambda f, m: headless(
        f, m, [m.t, *m.qd.T, *m.q.T, *m.dq.T, *m.dq.T, *m.tau.T]
    ),
    "names that are repeated": lambda f, m: T(
        f, m, ["Time", *["Pos"] * m.n, *["Vel"] * m.n, *["Torque"] * m.n], [m.t, *m.q.T, *m.dq.T, *m.tau.T]
    ),
    "without names, all desired last": lambda f, m: headless(
        f, m, [m.t, *m.q.T, *m.dq.T, *m.qd.T, *m.dq.T, *m.tau.T, *m.tau.T * 0.9]
    ),
    "without names, desired, no velocities": lambda f, m: headless(f, m, [m.t, *m.q.T, *m.qd.T, *m.tau.T]),
    "without names and velocities": lambda f, m: headless(f, m, [m.t, *m.q.T, *m.tau.T]),
    "rows counted": lambda f, m: headless(f, m, [np.arange(len(m.t)), m.t, *m.q.T, *m.dq.T, *m.tau.T]),
    "clock too coarse": coarse,
    "archive": lambda f, m: saved(f, np.savez, "log.npz", time=m.t, positions=m.q, velocities=m.dq, torques=m.tau),
    "archive, transposed": lambda f, m: saved(f, np.savez_compressed, "log.npz", t=m.t, q=m.q.T.copy(), tau=m.tau.T),
    "archive, by columns": lambda f, m: saved(
        f, np.savez, "log.npz", t=m.t[:, None], q=np.asfortranarray(m.q), tau=m.tau
    ),
    "archive of one matrix": lambda f, m: saved(f, np.savez, "log.npz", data=matrix(m)),
    "one array": lambda f, m: saved(f, lambda path, x: np.save(path, x), "log.npy", x=matrix(m)),
    "records": lambda f, m: saved(
        f, lambda path, x: np.save(path, x), "log.npy", x=np.rec.fromarrays(plain(m)[1], names=plain(m)[0])
    ),
    "MATLAB": lambda f, m: mat(f, m, t=m.t, q=m.q, tau=m.tau, name="a"),
    "structure of MATLAB": lambda f, m: mat(f, m, data={"time": m.t, "pos": m.q.T, "trq": m.tau.T}, rate=125.0),
    "JSON": lambda f, m: (f / "log.json").write_text(
        json.dumps({"t": m.t.tolist(), "q": m.q.tolist(), "tau": m.tau.tolist()})
    ) and f / "log.json",
    "lines of JSON": lines_of_json,
    "Parquet": lambda f, m: parquet(f, m, dict(zip(*plain(m), strict=True))),
    "LeRobot": lambda f, m: parquet(
        f, m,
        {
            "observation.state": list(m.q), "action": list(m.qd), "observation.effort": list(m.tau),
            "timestamp": m.t.astype(np.float32), "frame_index": np.arange(len(m.t)), "task": ["wave"] * len(m.t),
        },
    ),
    "Parquet with dates": lambda f, m: parquet(
        f, m, {"stamp": (m.t * 1e6).round().astype("datetime64[us]"), "q": list(m.q), "tau": list(m.tau)}
    ),
    "file for each joint": per_joint,
    "file for each signal": per_signal,
    "array for each signal": arrays_in_files,
    "bag of ROS 1": lambda f, m: bag(f, m, 1),
    "bag of ROS 2": lambda f, m: bag(f, m, 2),
    "bag of ROS 1 in two files": lambda f, m: bag(f, m, 1, True),
    "bag of ROS 2 in two files": lambda f, m: bag(f, m, 2, True),
}  # fmt: skip
#: layouts that are read with a warning, and the rows that are left out
WARNED = {
    "missing numbers": (broken, [100, 200]),
    "repeated rows": (twice, []),
    "last line cut off": (ragged, []),
    "desired positions": (
        lambda f, m: T(f, m, ["t", *of(m, "q_cmd_{}", "tau_{}")], [m.t, *m.q.T, *m.tau.T]), []
    ),
    "gap": (lambda f, m: T(f, without(m, range(100, 150))), range(100, 150)),
}  # fmt: skip


def assert_read(path, m, rows=()):
    expected = without(m, list(rows))
    description = LogFile(path).describe()
    log = LogFile(path, **description.options).load(m.robot)
    for name in ("t", "q", "tau"):
        found, wanted = getattr(log, name), getattr(expected, name)
        found = found - found[0] if name == "t" else found
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=2e-6, err_msg=f"{name}: {description}")


@pytest.mark.parametrize("arm", ["elbow", pytest.param("ur5e", marks=pytest.mark.release)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, arm, tmp_path):
    m = recorded(arm)
    assert_read(LAYOUTS[layout](tmp_path, m), m)


@pytest.mark.parametrize("layout", WARNED)
def test_layouts_with_warnings(layout, tmp_path):
    m = recorded("elbow")
    write, rows = WARNED[layout]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert_read(write(tmp_path, m), m, rows)
    assert layout == "gap" or any(issubclass(each.category, ThunderWarning) for each in caught)


@pytest.mark.parametrize(
    ("names", "signals"),
    [
        ("q{} tau{} x{}", "q tau x"),
        ("q_{} motor_position_{} tau_{} joint_torque_{}", "q x tau joint_torque"),
        ("q{} x{} dx{} joint{}_torque", "q x dx tau"),
        ("tau_J{} q{} x{} tau{}", "joint_torque q x tau"),
    ],
)
def test_signals_of_motors(names, signals, tmp_path):
    values = np.random.default_rng(0).normal(size=(50, 2 * len(names.split())))
    header = ["t", *(name.format(k) for name in names.split() for k in (1, 2))]
    path = table(tmp_path, [np.arange(50) * 0.01, *values.T], header, form="{:.17g}")
    log = LogFile(path).load(soft_elbow())
    for k, signal in enumerate(signals.split()):
        np.testing.assert_array_equal(getattr(log, signal), values[:, 2 * k : 2 * k + 2], err_msg=signal)


@pytest.mark.parametrize(
    ("change", "joints", "note", "end"),
    [
        (lambda t, q, tau: (["q1", "q2", "tau1", "tau2"], [*q, *tau]), 2, "no column of time", "--rate RATE"),
        (
            lambda t, q, tau: (["t", "q1", "q2", "tau1", "tau2"], [t % 5.0, *q, *tau]), 2,
            "t decreases", "--columns t=0,q=1:3,tau=3:5",
        ),
        (
            lambda t, q, tau: (["t", "q1", "q2", "q3", "tau1", "tau2", "tau3"], [t, *q, q[0], *tau, tau[0]]), 2,
            "these are 3 joints, not 2", "--cutoff HZ",
        ),
        (
            lambda t, q, tau: (["t", "q1", "q2", "tau1", "tau2"], [t, q[0], q[1] * np.nan, *tau]), 2,
            "q2 has no numbers", "--cutoff HZ",
        ),
        (
            lambda t, q, tau: (["t", "q1", "q2", "tau1", "tau2"], [np.floor(t / 0.04) * 0.04, *q, *tau]), 2,
            "instants are repeated", "--rate 100.0 --columns q=1:3,tau=3:5",
        ),
        *(
            (
                lambda t, q, tau, gap=gap: (
                    ["t", "q1", "q2", "tau1", "tau2"], [t + gap * (t > 7.0), *q, *tau]
                ), 2, note, end,
            )
            for gap, note, end in (
                (0.1, "uneven: --resample, with a cutoff of at most 4.55 Hz", "--cutoff HZ --resample 100"),
                (3.0, "too long to interpolate: split the log at the one after 7 s", "--cutoff HZ"),
            )
        ),
        (  # the second joint resembles the velocity of the first
            lambda t, q, tau: (
                [*map(str, range(6))],
                [q[0], np.cos(1.3 * t) + 0.2 * q[1], 1.3 * np.cos(1.3 * t),
                 -1.3 * np.sin(1.3 * t) + 0.42 * np.cos(2.1 * t), *tau],
            ), 2, "velocities agree with positions at about 100", "--rate 100.0 --columns q=0:2,tau=4:6",
        ),
    ],
)  # fmt: skip
def test_descriptions_of_flawed_logs(change, joints, note, end, tmp_path):
    t = np.arange(1500) * 0.01
    q, tau = np.sin(np.outer([1.3, 2.1], t)), 9.0 * np.cos(np.outer([1.9, 0.7], t))
    names, columns = change(t, q, tau)
    text = str(LogFile(table(tmp_path, columns, names, form="{:.9g}")).describe(joints))
    assert note in text
    assert text.endswith(end)
