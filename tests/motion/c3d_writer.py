"""A small writer of C3D files in the dialects that exist: processors, integers, long records, missing parameters."""

import struct

import numpy as np

INTEL, DEC, MIPS = 84, 85, 86


class C3D:
    """Parts of a file; `tobytes` joins them. `points` (T, n, 3) in the unit of the file."""

    def __init__(self, points, labels=(), *, processor=INTEL, scale=-1.0, unit="mm", rate=100.0, analog=0, first=1):
        self.points, self.processor, self.scale = np.asarray(points, dtype=np.float64), processor, scale
        self.order = ">" if processor == MIPS else "<"
        frames, count, _ = self.points.shape
        self.residuals = np.zeros((frames, count))
        self.analog = np.full((frames, analog), 7.0)
        self.header = {"points": count, "analog": analog, "first": first, "last": first + frames - 1, "rate": rate}
        self.padding = b""
        self.point = {
            "USED": count,
            "SCALE": scale,
            "FRAMES": frames,
            "RATE": rate,
            "UNITS": [unit],
            "DATA_START": None,
        }
        self.point |= {"LABELS": list(labels or map("m{}".format, range(count)))}
        self.groups = {"POINT": self.point}
        if analog:
            self.groups["ANALOG"] = {"USED": analog, "RATE": rate}

    def real(self, *values):
        if self.processor != DEC:
            return struct.pack(f"{self.order}{len(values)}f", *values)
        halves = np.frombuffer(struct.pack(f"<{len(values)}f", *(4.0 * v for v in values)), "<u2").reshape(-1, 2)
        return halves[:, ::-1].tobytes()

    def whole(self, *values):
        return struct.pack(f"{self.order}{len(values)}H", *(v & 0xFFFF for v in values))

    def parameter(self, group, name, value):
        if isinstance(value, list):
            width = max(map(len, value), default=0)
            body = struct.pack("bBBB", -1, 2, width, len(value)) + b"".join(v.encode().ljust(width) for v in value)
        elif isinstance(value, tuple):
            body = struct.pack("bBB", 2, 1, len(value)) + self.whole(*value)
        else:
            body = (
                struct.pack("bB", 4, 0) + self.real(value) if isinstance(value, float) else b"\2\0" + self.whole(value)
            )
        body += b"\0"  # no description
        return struct.pack("bb", len(name), group) + name.encode() + self.whole(2 + len(body)) + body

    def tobytes(self):
        for _ in range(2):  # the second time with the start of the data
            parameters = b""
            for k, (name, group) in enumerate(self.groups.items(), 1):
                parameters += struct.pack("bb", len(name), -k) + name.encode() + self.whole(3) + b"\0"
                parameters += b"".join(self.parameter(k, n, v) for n, v in group.items() if v is not None)
            blocks = -(-(len(parameters) + 6) // 512)
            if "DATA_START" in self.point:
                self.point["DATA_START"] = blocks + 2
        h = self.header
        head = bytes([2, 0x50]) + self.whole(h["points"], h["analog"], h["first"], min(h["last"], 0xFFFF), 10)
        head += self.real(self.scale) + self.whole(blocks + 2, 1) + self.real(h["rate"])
        body = bytes([1, 0x50, blocks, self.processor]) + parameters
        frames = len(self.points)
        if self.scale < 0:
            rows = np.concatenate([self.points, self.residuals[..., None]], axis=2).reshape(frames, -1)
            data = self.real(*np.hstack([rows, self.analog]).ravel())
        else:
            rows = np.concatenate([np.round(self.points / self.scale), self.residuals[..., None]], axis=2)
            data = np.hstack([rows.reshape(frames, -1), self.analog]).astype(f"{self.order}i2").tobytes()
        data = data.ljust(-(-len(data) // 512) * 512, b"\0")
        return head.ljust(512, b"\0") + body.ljust(512 * blocks, b"\0") + data + self.padding
