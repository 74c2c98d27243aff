"""Damaged files of every loader: an error of this package or a recording, in little time and memory, never a crash."""

import io
import zipfile
from functools import partial

import numpy as np
import pytest
from scipy.io import savemat

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError
from thunder_py.motion import FPCA
from thunder_py.recordings import MotionSet, loaders
from thunder_py.tabular.mat_file import read_mat

from . import written
from .c3d_writer import C3D, DEC, MIPS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of this package; those of NumPy are errors
RNG = np.random.default_rng(0)
P = np.cumsum(RNG.normal(size=(40, 3, 3)), axis=0) * 10.0 + 300.0
TOKENS = (b"1e300", b"-1e308", b"nan", b"1e15", b"-", b"\n", b"\t", b"9", b",", b"0.", b"", b"}", b"<")


def table(path):
    return loaders.load_table(path, columns=["x", "y", "z"], unit="mm", time="t")


def culm(path):
    return loaders.load_culm(path.parent.parent)


def mhh(path):
    return loaders.load_ulimb_mhh(path, rate=100.0, unit="mm")


def unipi(compressed):
    cells = np.empty((5, 1), dtype=object)
    for k in range(5):
        cells[k, 0] = np.column_stack([range(8), P.reshape(-1, 3)[k : 8 + k]])
    return mat(compressed, data=cells)


def mat(compressed=False, **variables):
    stream = io.BytesIO()
    savemat(stream, variables, do_compression=compressed, format=variables.pop("format", "5"))
    return stream.getvalue()


def mvnx():
    pose = "<orientation>1 0 0 0 1 0 0 0</orientation><position>0 0 1.2 0.4 -0.2 1.0</position>"
    frames = "".join(f'<frame index="{k}" type="normal">{pose}</frame>' for k in range(20))
    segments = '<segment label="T8"/><segment label="RightHand"/>'
    return f'<mvnx><subject frameRate="60">{segments}{frames}</subject></mvnx>'.encode()


def saved(tmp_path):
    path = tmp_path / "saved.csv"
    path.write_text(written.csv(P))
    table(path).save(tmp_path / "saved.npz")
    return (tmp_path / "saved.npz").read_bytes()


def book(engine):
    def write(tmp_path):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip(engine)
        path = tmp_path / ("a.xlsx" if engine == "openpyxl" else "a.ods")
        frame = pandas.DataFrame({"t": np.arange(40) / 100.0} | {c: P[:, 0, k] for k, c in enumerate("xyz")})
        with pandas.ExcelWriter(path, engine=engine) as writer:
            frame.to_excel(writer, index=False)
        return path.read_bytes()

    return write


IDS = {"hand": [0, 1, 2, 3], "chest": [4, 5, 6, 7]}
#: name of the file, writers of contents, loader
KINDS = {
    "c3d": (
        "a.c3d",
        [
            lambda: C3D(P).tobytes(),
            lambda: C3D(P, processor=DEC, scale=0.05, analog=4).tobytes(),
            lambda: C3D(P, processor=MIPS).tobytes(),
        ],
        loaders.load_c3d,
    ),
    "trc": ("a.trc", [lambda: written.trc(P).encode()], loaders.load_trc),
    "bvh": ("a.bvh", [lambda: written.bvh(P).encode()], lambda path: loaders.load_bvh(path, unit="cm")),
    "qualisys": ("a.tsv", [lambda: written.qualisys(P).encode()], loaders.load_markers),
    "vicon": ("a.csv", [lambda: written.vicon(P).encode()], loaders.load_markers),
    "optitrack": ("a.csv", [lambda: written.optitrack(P, unit="Millimeters").encode()], loaders.load_markers),
    "opensim": (
        "a.mot",
        [lambda: written.storage({"hip_tx": P[:, 0, 0], "hip": P[:, 1, 0]}).encode()],
        loaders.load_opensim,
    ),
    "table": ("a.csv", [lambda: written.csv(P).encode()], table),
    "culm": (
        "S01/a1.csv",
        [lambda: b"t;X;Y;Z\n" + b"\n".join(b"%.5g;0.1;0;%d" % (k / 120, k) for k in range(30))],
        culm,
    ),
    "kinesis": ("a.txt", [lambda: written.kinesis(P, 2).encode()], loaders.load_kinesis),
    "unipi": (
        "S2_17_1.mat",
        [lambda: unipi(False), lambda: unipi(True)],
        lambda path: loaders.load_ulimb_unipi(path.parent, ids=IDS),
    ),
    "mat": ("a.mat", [lambda: mat(a=P, b={"c": "text"}, d=P > 0.0), lambda: mat(a=P[0], format="4")], read_mat),
    "components": (
        "a.mat",
        [lambda: mat(basis={"S": np.sin(np.linspace(0, 9, 404)).reshape(2, 101, 2), "S0": np.ones((101, 2))})],
        lambda path: FPCA.read_components(path, "basis.S", "basis.S0", axes="ntd"),
    ),
    "uzh": ("P01_T07_R1.mvnx", [mvnx], lambda path: loaders.load_ulimb_uzh(path.parent)),
    "mhh": ("a.csv", [lambda: written.mhh(P).encode()], mhh),
    "npz": ("a.npz", [saved], MotionSet.load),
    "xlsx": ("a.xlsx", [book("openpyxl")], table),
    "ods": ("a.ods", [book("odf")], table),
}
TEXTS = (".trc", ".bvh", ".csv", ".txt", ".mvnx", ".xml")


def damaged(content, rng, text):
    b = bytearray(content)
    place = int(rng.integers(len(b)))
    kind = rng.integers(6)
    if text and rng.integers(4):
        b[place : place + rng.integers(0, 6)] = TOKENS[rng.integers(len(TOKENS))]
    elif kind == 0:
        del b[place:]
    elif kind == 1:
        del b[place : place + rng.integers(1, 200)]
    elif kind == 2:
        b[place:place] = rng.bytes(rng.integers(1, 60))
    elif kind == 3:
        b[place : place + 8] = [b"\xff" * 8, b"\0" * 8][rng.integers(2)]
    else:
        for k in rng.integers(0, min(len(b), 1500) if kind == 4 else len(b), rng.integers(1, 9)):
            b[k] = rng.integers(256)
    return bytes(b)


def damaged_part(content, rng):
    """Damage a member of a zip file, whose checksum is right again."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        hit = names[rng.integers(len(names))]
        for name in names:
            data = old.read(name)
            new.writestr(name, damaged(data, rng, name.endswith(TEXTS)) if name == hit and data else data)
    return stream.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files(tmp_path, kind, capsys):
    name, writers, load = KINDS[kind]
    path = tmp_path / "files" / name
    path.parent.mkdir(parents=True)
    contents = [w(tmp_path) if w is saved or "book" in w.__qualname__ else w() for w in writers]
    rng = np.random.default_rng(sum(kind.encode()))
    read = 0
    for content in contents:
        path.write_bytes(content)
        load(path)
    for k in range(40):
        content = contents[k % len(contents)]
        is_zip = name.endswith(("npz", "xlsx", "ods"))
        path.write_bytes(
            damaged_part(content, rng) if is_zip and k % 4 else damaged(content, rng, name.endswith(TEXTS))
        )
        try:
            load(path)
            read += 1
        except ThunderError:
            pass
    assert read < 40


NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
ROW = '<row r="{0}"><c r="XFD{0}"><v>1</v></c></row>'
SHEET = f"<worksheet {NAMESPACE}><sheetData>{{}}</sheetData></worksheet>".format
MANY = '<table:table-{0} table:number-{1}s-repeated="900000000" '.format
SHEETS = [
    ("openpyxl", SHEET(ROW.format(1 << 20)), "...1048576 rows of 16384..."),
    ("openpyxl", SHEET("".join(map(ROW.format, range(1, 900)))), "...of 16384..."),
    ("openpyxl", f"<!DOCTYPE a [<!ENTITY b 'c'>]><worksheet {NAMESPACE}/>", "...document type declarations..."),
    ("odf", ("<table:table-cell ", MANY("cell", "column")), "...900000000 columns"),
    ("odf", ("<table:table-row", MANY("row", "row")), "...900000000 rows of..."),
]


def test_spreadsheets_of_many_cells(tmp_path):
    def given(engine, sheet):
        content = book(engine)(tmp_path)
        path = tmp_path / ("b.xlsx" if engine == "openpyxl" else "b.ods")
        with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                data = old.read(name)
                if name == "xl/worksheets/sheet1.xml":
                    data = sheet.encode()
                elif name == "content.xml":
                    data = data.decode().replace(*sheet, 1).encode()
                new.writestr(name, data)
        return table(path)

    assert_refused(*((partial(given, *case), message) for *case, message in SHEETS), error=FileFormatError)
