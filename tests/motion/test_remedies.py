"""What a message of a loader proposes exists in that loader, and works."""

import inspect
import re
import warnings

import numpy as np
import pytest

from thunder_py import recordings
from thunder_py.errors import FileFormatError
from thunder_py.recordings import RecordingWarning, check_plausible, loaders
from thunder_py.recordings.loaders import load_bvh, load_c3d, load_kinesis, load_table, load_trc, load_ulimb_mhh

from .c3d_writer import C3D
from .test_lost_markers import reaches

P = reaches(count=1)
XYZ = {"columns": ["x", "y", "z"]}


def trc(unit="mm", scale=1.0, mark=".", rate=100.0):
    head = (
        f"PathFileType\t4\nDataRate\tNumFrames\tNumMarkers\tUnits\n{rate:g}\t120\t1\t{unit}\nFrame#\tTime\thand\n\tX\n"
    )
    rows = [[str(k + 1), f"{k / rate:.4f}", *(f"{v:.6f}" for v in scale * p)] for k, p in enumerate(P[:, 0])]
    return (head + "\n".join("\t".join(row) for row in rows)).replace(".", mark)


def csv(scale=1.0, mark=".", time=1.0, delimiter=";"):
    rows = [[f"{time * k / 100:.6f}", *(f"{v:.6f}" for v in scale * p)] for k, p in enumerate(P[:, 0])]
    return "\n".join(delimiter.join(row) for row in [["t", "x", "y", "z"], *rows]).replace(".", mark)


def bvh(step="0.01", scale=0.1, mark="."):
    channels = "CHANNELS 3 Xposition Yposition Zposition End Site { OFFSET 0 9 0 } }"
    rows = "\n".join(" ".join(f"{v:.6f}" for v in scale * p) for p in P[:, 0])
    return f"HIERARCHY ROOT Hand {{ OFFSET 0 0 0 {channels}\nMOTION\nFrames: 120\nFrame Time: {step}\n{rows}".replace(
        ".", mark
    )


def c3d(**options):
    return C3D(options.pop("points", P), **options).tobytes()


def mhh(scale=1.0, mark="."):
    rows = [";".join(f"{v:.6f}" for v in scale * np.arange(63.0) + k) for k in range(20)]
    return "a\nb\n" + "\n".join(rows).replace(".", mark)


#: loader, content, arguments, and the arguments that a message proposes and that solve the problem
CASES = [
    (load_trc, trc(mark=","), {}, {"decimal": ","}),
    (load_trc, trc(unit=""), {}, {"unit": "mm"}),
    (load_trc, trc(unit="inches"), {}, {"unit": "mm"}),
    (load_bvh, bvh(mark=","), {"unit": "cm"}, {"decimal": ","}),
    (load_bvh, bvh("10"), {"unit": "cm"}, {"time_unit": "ms"}),
    (load_bvh, bvh(), {"unit": "m"}, {"unit": "cm"}),
    (load_table, csv(mark=","), XYZ | {"unit": "mm", "time": "t"}, {"decimal": ","}),
    (load_table, csv(), XYZ | {"unit": "m", "time": "t"}, {"unit": "mm"}),
    (load_table, csv(scale=1e-4), XYZ | {"unit": "cm", "time": "t"}, {"unit": "m"}),
    (load_table, csv(time=1000.0), XYZ | {"unit": "mm", "time": "t"}, {"time_unit": "ms"}),
    (load_table, csv(scale=0.1), {"columns": {"elbow": "x"}, "unit": "rad", "time": "t"}, {"unit": "deg"}),
    (load_c3d, c3d(unit=""), {}, {"unit": "mm"}),
    (load_c3d, c3d(unit="feet"), {}, {"unit": "mm"}),
    (load_c3d, c3d(rate=0.0), {}, {"rate": 100.0}),
]


def said(loader, path, options):
    """Return trials, if there are any, and all errors and warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            motions = loader(path, **options)
        except FileFormatError as error:
            return None, [str(error)]
    return motions, [str(warning.message) for warning in told]


@pytest.mark.parametrize(("loader", "content", "options", "remedy"), CASES)
def test_a_remedy_works(tmp_path, loader, content, options, remedy):
    path = tmp_path / "file.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    _, before = said(loader, path, options)
    assert len(before) == 1
    ((name, value),) = remedy.items()
    assert re.search(rf"\b{name}=|the unit '{value}'", before[0]), before
    motions, after = said(loader, path, options | remedy)
    assert motions is not None
    assert [text for text in after if "was replaced by" not in text] == []


#: problems that no argument of the loader solves
STUCK = [
    (load_c3d, c3d(points=1e3 * P), {}),
    (load_c3d, c3d(rate=0.1), {}),
    (load_trc, trc(scale=1e3), {}),
    (load_trc, trc(rate=0.1), {}),
    (load_ulimb_mhh, mhh(mark=","), {"rate": 100.0, "unit": "mm"}),
    (load_table, csv(mark="#"), XYZ | {"unit": "mm", "time": "t"}),
    (load_table, csv().replace("\n", "\n'", 3), XYZ | {"unit": "mm", "time": "t"}),
    (load_table, csv(delimiter=",").replace("0.020000", '"0,02"'), XYZ | {"unit": "mm", "time": "t"}),
    (load_bvh, bvh(mark="#"), {"unit": "cm"}),
    (load_kinesis, "subjName", {}),
]


@pytest.mark.parametrize(("loader", "content", "options"), [case[:3] for case in CASES] + STUCK)
def test_every_argument_proposed_exists(tmp_path, loader, content, options):
    path = tmp_path / "file.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    _, texts = said(loader, path, options)
    assert texts
    known = inspect.signature(loader).parameters
    for text in texts:
        for name in re.findall(r"\b([a-z_]+)=", text):
            assert name in known, text
        assert (loader, content) not in [case[:2] for case in STUCK] or "pass " not in text, text
        for place, name in re.findall(r"\b(Trial|MotionSet|processing)\.(\w+)", text):
            assert hasattr(getattr(recordings, place), name), text


def test_the_remedies_without_an_argument_work(tmp_path):
    path = tmp_path / "a.c3d"
    path.write_bytes(c3d(points=1e3 * P))
    with pytest.warns(RecordingWarning, match=r"can hardly be right; .*scale the positions \(Trial\.with_values\)$"):
        (trial,) = load_c3d(path)
    check_plausible([trial.with_values(1e-3 * trial.x)])
    path.write_bytes(c3d(rate=0.1))
    with pytest.warns(RecordingWarning, match=r"time steps of 10 s .*; scale the times \(Trial\.with_values\)$"):
        (trial,) = load_c3d(path)
    check_plausible([trial.with_values(trial.x, 1e-3 * trial.t)])


def test_every_loader_that_takes_a_unit_says_so():
    """`check_plausible` learns the arguments from its callers; this is what they say against what they have."""
    for name in loaders.__all__:
        function = getattr(loaders, name)
        proposed = re.findall(r"check_plausible\((?:motions|trials), \((.*?)\)\)", inspect.getsource(function))
        known = inspect.signature(loaders.load_table if name == "load_folder" else function).parameters
        assert set(re.findall(r'"(\w+)"', " ".join(proposed))) <= set(known), name
