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
