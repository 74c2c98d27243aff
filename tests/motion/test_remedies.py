"""What a message of a loader proposes exists in that loader, and works."""

import inspect
import re
import warnings

import pytest

from thunder_py import recordings
from thunder_py.errors import FileFormatError
from thunder_py.recordings import RecordingWarning, check_plausible
from thunder_py.recordings.loaders import load_bvh, load_c3d, load_kinesis, load_table, load_trc, load_ulimb_mhh

from .c3d_writer import C3D
from .test_lost_markers import reaches
from .written import bvh, csv, mhh, trc

P = reaches(count=1)
XYZ = {"columns": ["x", "y", "z"], "time": "t"}


def c3d(points=P, **options):
    return C3D(points, **options).tobytes()


#: loader, content, arguments, and the arguments that a message proposes and that solve the problem
CASES = [
    (load_trc, trc(P, mark=","), {}, {"decimal": ","}),
    (load_trc, trc(P, unit=""), {}, {"unit": "mm"}),
    (load_trc, trc(P, unit="inches"), {}, {"unit": "mm"}),
    (load_bvh, bvh(0.1 * P, mark=","), {"unit": "cm"}, {"decimal": ","}),
    (load_bvh, bvh(0.1 * P, "10"), {"unit": "cm"}, {"time_unit": "ms"}),
    (load_bvh, bvh(0.1 * P), {"unit": "m"}, {"unit": "cm"}),
    (load_table, csv(P, mark=","), XYZ | {"unit": "mm"}, {"decimal": ","}),
    (load_table, csv(P), XYZ | {"unit": "m"}, {"unit": "mm"}),
    (load_table, csv(1e-4 * P), XYZ | {"unit": "cm"}, {"unit": "m"}),
    (load_table, csv(P, rate=0.1), XYZ | {"unit": "mm"}, {"time_unit": "ms"}),
    (load_table, csv(0.1 * P), {"columns": {"elbow": "x"}, "unit": "rad", "time": "t"}, {"unit": "deg"}),
    (load_c3d, c3d(unit=""), {}, {"unit": "mm"}),
    (load_c3d, c3d(unit="feet"), {}, {"unit": "mm"}),
    (load_c3d, c3d(rate=0.0), {}, {"rate": 100.0}),
]
#: problems that no argument of the loader solves
STUCK = [
    (load_c3d, c3d(points=1e3 * P), {}),
    (load_c3d, c3d(rate=0.1), {}),
    (load_trc, trc(1e3 * P), {}),
    (load_trc, trc(P, rate=0.1), {}),
    (load_ulimb_mhh, mhh(P, mark=","), {"rate": 100.0, "unit": "mm"}),
    (load_table, csv(P, mark="#"), XYZ | {"unit": "mm"}),
    (load_table, csv(P).replace("\n", "\n'", 3), XYZ | {"unit": "mm"}),
    (load_table, csv(P, delimiter=",").replace("0.020000", '"0,02"'), XYZ | {"unit": "mm"}),
    (load_bvh, bvh(P, mark="#"), {"unit": "cm"}),
    (load_kinesis, "subjName", {}),
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


def proposed(path, loader, content, options, solvable):
    """Return the one message, or all, whose arguments and functions exist."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    _, texts = said(loader, path, options)
    assert texts
    for text in texts:
        for name in re.findall(r"\b([a-z_]+)=", text):
            assert name in inspect.signature(loader).parameters, text
        assert solvable or "pass " not in text, text
        for place, name in re.findall(r"\b(Trial|MotionSet|processing)\.(\w+)", text):
            assert hasattr(getattr(recordings, place), name), text
    return texts


def test_remedies_work(tmp_path):
    path = tmp_path / "file.txt"
    for loader, content, options, remedy in CASES:
        (before,) = proposed(path, loader, content, options, True)
        ((name, value),) = remedy.items()
        assert re.search(rf"\b{name}=|the unit '{value}'", before), before
        motions, after = said(loader, path, options | remedy)
        assert motions is not None
        assert [text for text in after if "was replaced by" not in text] == []
    for loader, content, options in STUCK:
        proposed(path, loader, content, options, False)


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
