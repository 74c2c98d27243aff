"""Recordings of positions p (T, m, 3) in the dialects that loaders read."""

import numpy as np


def csv(p, rate=100.0, mark=".", delimiter=";"):
    """Return a table of the first marker; ``mark`` stands for the decimal point."""
    rows = [[f"{k / rate:.6f}", *(f"{v:.6f}" for v in row)] for k, row in enumerate(p[:, 0])]
    return "\n".join(delimiter.join(row) for row in [["t", "x", "y", "z"], *rows]).replace(".", mark)


def trc(p, unit="mm", rate=100.0, mark="."):
    names = "\t\t\t".join(f"m{k}" for k in range(p.shape[1]))
    head = f"PathFileType\t4\nDataRate\tNumFrames\tNumMarkers\tUnits\n{rate:g}\t{len(p)}\t{p.shape[1]}\t{unit}\n"
    rows = ["\t".join([str(k + 1), f"{k / rate:.4f}", *(f"{v:.9g}" for v in q.ravel())]) for k, q in enumerate(p)]
    return (head + f"Frame#\tTime\t{names}\n\tX\n" + "\n".join(rows)).replace(".", mark)


def bvh(p, step="0.01", mark="."):
    """Return a joint at the first marker that does not turn."""
    channels = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    rows = "\n".join(" ".join(f"{v:.6f}" for v in [*row, 0.0, 0.0, 0.0]) for row in p[:, 0])
    joint = f"HIERARCHY\nROOT Hand {{\nOFFSET 0 0 0 {channels}\nEnd Site {{\nOFFSET 0 9 0\n}}\n}}\n"
    return f"{joint}MOTION\nFrames: {len(p)}\nFrame Time: {step}\n{rows}".replace(".", mark)


def kinesis(p, trials=1):
    """Return index and thumb at the first two markers, in several trials."""
    names = ["subjName", "trialN", "globalTime", "fingersOccluded"]
    names += [f"{finger}{axis}raw" for finger in ("index", "thumb") for axis in "XYZ"]
    size = len(p) // trials
    rows = [["s", str(k // size), str(10 * k), "0", *(f"{v:.6f}" for v in q[:2].ravel())] for k, q in enumerate(p)]
    return "\n".join("\t".join(row) for row in [names, *rows])


def mhh(p, mark="."):
    """Return a table of 21 markers, whatever their number."""
    values = np.resize(np.reshape(p, (len(p), -1)), (len(p), 63)) if p.shape[1] != 21 else p.reshape(len(p), 63)
    rows = "\n".join(";".join(f"{v:.6f}" for v in row) for row in values)
    return f"MHH\nVicon\n{rows.replace('.', mark)}"


def qualisys(p, timed=True, rate=100.0, names=True):
    """Return a TSV file of QTM, in millimeters; NaN is an empty cell."""
    markers = [f"m{k}" for k in range(p.shape[1])]
    head = [["NO_OF_FRAMES", len(p)], ["NO_OF_CAMERAS", 8], ["NO_OF_MARKERS", len(markers)], ["FREQUENCY", f"{rate:g}"]]
    head += [["NO_OF_ANALOG", 0], ["ANALOG_FREQUENCY", 0], ["DESCRIPTION", "--"]]
    head += [["TIME_STAMP", "2024-04-15, 10:39:38.777", 4066.5], ["EVENT", "go", 3, 0.02], ["DATA_INCLUDED", "3D"]]
    head += [["MARKER_NAMES", *markers], ["TRAJECTORY_TYPES", *["Measured"] * len(markers)]]
    if names:
        head += [["Frame", "Time"] * timed + [f"{marker} {axis}" for marker in markers for axis in "XYZ"]]
    rows = [[k + 1, f"{k / rate:.5f}"] * timed + list(map(cell, q.ravel())) for k, q in enumerate(p)]
    return "\n".join("\t".join(map(str, row)) for row in [*head, *rows])


def vicon(p, first=1, rate=100.0, mark=",", before="Devices\n1000\n,,Force\nFrame,Sub Frame,Fx\n,,N\n1,0,4.5\n\n"):
    """Return a CSV file of Vicon Nexus, in millimeters, with a section before the trajectories."""
    labels = [cell for k in range(p.shape[1]) for cell in (f"S1:m{k}", "", "")]
    head = [["Trajectories"], [f"{rate:g}"], ["", "", *labels], ["Frame", "Sub Frame", *"XYZ" * p.shape[1]]]
    head += [["", "", *["mm"] * 3 * p.shape[1]]]
    rows = [[first + k, 0, *map(cell, q.ravel())] for k, q in enumerate(p)]
    return before + "\n".join(mark.join(map(str, row)) for row in [*head, *rows]) + "\n\n"


def optitrack(p, quaternion=None, rate=100.0, unit="Meters", rotation="Quaternion", left="Type,Name,ID,"):
    """Return a CSV file of OptiTrack Motive: a rigid body at the first marker, its marker, and all markers."""
    turns = quaternion if quaternion is not None else np.tile([0.0, 0.0, 0.0, 1.0], (len(p), 1))
    points = [("Rigid Body", "Cup", "7", "Rotation", axis) for axis in "XYZW"]
    points += [("Rigid Body", "Cup", "7", "Position", axis) for axis in "XYZ"]
    points += [("Rigid Body", "Cup", "7", "Mean Marker Error", "")]
    points += [("Rigid Body Marker", "m0", "8", "Position", axis) for axis in "XYZ"]
    points += [("Marker", f"m{k}", f"9{k}", "Position", axis) for k in range(p.shape[1]) for axis in "XYZ"]
    head = f"Format Version,1.23,Take Name,reach,Capture Frame Rate,{rate:f},Export Frame Rate,{rate:f}"
    head += f",Total Exported Frames,{len(p)},Rotation Type,{rotation},Length Units,{unit},Coordinate Space,Global\n\n"
    for label, cells in zip([*left.split(","), "Frame"], zip(*points, strict=True), strict=True):
        start = ["Frame", "Time (Seconds)"] if label == "Frame" else ["", label]
        head += ",".join([*start, *cells]) + "\n"
    rows = np.concatenate([turns, p[:, 0], np.zeros((len(p), 1)), p[:, 0], p.reshape(len(p), -1)], axis=1)
    return head + "\n".join(",".join([f"{k},{k / rate:.6f}", *map(cell, row)]) for k, row in enumerate(rows))


def storage(columns, degrees="yes", title="Coordinates", rate=100.0, sep="\t", **header):
    """Return a file of OpenSim with columns {name: values}."""
    rows = np.column_stack(list(columns.values()))
    keys = {"version": 1, "nRows": len(rows), "nColumns": len(columns) + 1, "inDegrees": degrees} | header
    head = [title, *(f"{key}={value}" for key, value in keys.items() if value is not None)]
    head += ["", "Units are S.I. units (second, meters, Newtons, ...)", "", "endheader", sep.join(["time", *columns])]
    return "\n".join([*head, *(sep.join([f"{k / rate:.6f}", *map(cell, row)]) for k, row in enumerate(rows))])


def cell(value):
    return "" if np.isnan(value) else f"{value:.9g}"
