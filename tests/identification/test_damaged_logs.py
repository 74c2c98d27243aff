"""Logs that are damaged, endless, or claim to be larger than they are: errors of ours, in bounded time and memory."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.control.arms import elbow
from tests.damage import answers, in_time
from tests.identification.test_logs import write_bag, write_table
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError
from thunder_py.identification import Log, LogFile, identify

T = np.arange(120) * 1e-2
KINDS = ["npz", "parquet", "csv", "bag", "folder"]


@pytest.fixture
def log() -> Log:
    rng = np.random.default_rng(3)
    return Log(t=T, q=rng.normal(size=(T.size, 2)), tau=rng.normal(size=(T.size, 2)))


def written(folder: Path, kind: str, log: Log) -> Path:
    path = folder / f"log.{kind}"
    if kind == "npz":
        np.savez_compressed(path, t=log.t, q=log.q, tau=log.tau)
    elif kind == "parquet":
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        joints = {f"{name}{k + 1}": getattr(log, name)[:, k] for name in ("q", "tau") for k in range(2)}
        parquet.write_table(pyarrow.table({"t": log.t, **joints}), path, write_page_checksum=True)
    elif kind == "csv":
        write_table(path, "t,q1,q2,tau1,tau2", log)
    else:
        pytest.importorskip("rosbags")
        return write_bag(folder, 1 if kind == "bag" else 2, log)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_an_error_of_ours(kind: str, log: Log, tmp_path: Path) -> None:
    path = written(tmp_path, kind, log)
    source = LogFile(path)

    def read() -> None:
        found = source.load(elbow())
        source.rows()
        if kind in ("npz", "parquet"):  # which have checksums
            for name in ("t", "q", "tau"):
                np.testing.assert_array_equal(getattr(found, name), getattr(log, name))

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


def test_a_pipe_in_a_bag_is_refused(log: Log, tmp_path: Path) -> None:
    path = written(tmp_path, "folder", log)
    file = next(path.glob("*.db3"))
    file.unlink()
    os.mkfifo(file)
    with in_time(), pytest.raises(FileFormatError, match="must be a regular file"):
        LogFile(path).load(elbow())


@pytest.mark.parametrize("kind", ["npz", "parquet", "csv", "bag"])
def test_names_need_not_be_utf_8(kind: str, log: Log, tmp_path: Path) -> None:
    path = written(tmp_path, kind, log)
    other = path.rename(tmp_path / f"l\udcf6g.{kind}")
    np.testing.assert_array_equal(LogFile(other).load(elbow()).q, log.q)
    other.write_bytes(b"\x93\0\0")
    with pytest.raises(FileFormatError, match=r"l\\udcf6g\.") as error:
        LogFile(other).load(elbow())
    str(error.value).encode()


@pytest.mark.parametrize("rows", [10**15, 121, 119])
def test_rows_of_an_archive_that_are_not_there(rows: int, log: Log, tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in (("t", log.t), ("q", log.q), ("tau", log.tau)):
            file = io.BytesIO()
            shape = (rows, *values.shape[1:])
            np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
            archive.writestr(f"{name}.npy", file.getvalue() + values.tobytes())
    with in_time(), pytest.raises(FileFormatError, match=rf"t must hold {8 * rows} bytes for \({rows},\), got 960$"):
        LogFile(path).load(elbow())


def test_a_line_without_end_is_refused(log: Log, tmp_path: Path) -> None:
    """Also one that is no text: a file with a hole, as after a power failure."""
    path = tmp_path / "log.csv"
    for start in ("", "t,q1,q2,tau1,tau2\n0,0,0,0,0\n"):
        path.write_text(start)
        os.truncate(path, 1 << 34)
        line = 1 + start.count("\n")
        with in_time(), pytest.raises(FileFormatError, match=rf"log\.csv:{line}: lines must have at most 1048576 char"):
            LogFile(path).load(elbow())


@pytest.mark.parametrize("value", [1e300, -1e51])
@pytest.mark.parametrize("name", ["t", "q", "tau"])
def test_numbers_without_meaning_are_refused(name: str, value: float, log: Log, tmp_path: Path) -> None:
    signals = {"t": log.t.copy(), "q": log.q.copy(), "tau": log.tau.copy()}
    signals[name][-1] = value
    np.savez(tmp_path / "log.npz", **signals)
    message = rf"^log\.npz: {name} must be at most 1e\+50 in magnitude, got {value:g} in row 119".replace(
        "e+300", r"e\+300"
    )
    with pytest.raises(ValueError, match=message.replace("-1e+51", r"-1e\+51")):
        identify(elbow(), tmp_path / "log.npz", cutoff=10.0)


def test_logs_larger_than_memory_are_read_in_chunks_only(log: Log, tmp_path: Path, monkeypatch) -> None:
    path = written(tmp_path, "csv", log)
    monkeypatch.setattr("thunder_py.identification.log_file.LARGEST_DATA", 1000)
    assert_refused((lambda: LogFile(path).load(elbow()), "...log.csv: must hold at most ..."), error=FileFormatError)
    assert sum(len(part) for part in LogFile(path).chunks(elbow(), 50)) == T.size
