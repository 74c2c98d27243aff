"""Run notebooks, two at a time, and compare what they print with their stored outputs.

Usage: python tools/run_notebooks.py [--write | --full] [--jobs N] [NOTEBOOK ...]

Without names, all of notebooks/ are run, each in its folder. `--write` stores the outputs in the notebooks, with
compressed pictures, instead of comparing. A failure or a difference names notebook and cell, the others go on, and the
exit code is 1.

Metadata of a notebook: ``"thunder_py": {"quick": true}`` runs it with ``QUICK=1`` in the environment, and ``"dpi": 60``
draws its pictures smaller, where many have to share the limit. With ``"long":
true``, a notebook of minutes, the stored outputs are those of a full run, and a run without `--write` or `--full` is a
quick one that only has to end without an error, with outputs of the same kinds.

Comparison: words and whole numbers are equal, numbers with a decimal point or an exponent agree within one unit of
their last printed digit, numbers below 1e-9 are roundings, and versions (1.2.3) do not count. Pictures only have to be
there. Tags of a cell: ``tolerance=5%`` widens that for numbers of any kind, and ``varies`` excludes its text from the
comparison (times).
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import copy
import io
import itertools
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from PIL import Image

ROOT = Path(__file__).parent.parent
TIMEOUT = 1800  # of one cell [s]
LIMIT = 300_000  # of a stored notebook [bytes]
# colors of a stored picture: all, or those of a palette, of the largest pictures first, until the limit is met
COLORS = (None, 256, 128, 64)
DPI = 80  # of pictures as they are drawn: they are not scaled later, which would blur them and make them larger
ROUNDING = 1e-9
TEXTS = ("text/markdown", "text/latex", "text/plain")
_VERSION = re.compile(r"\d+(?:\.\d+){2,}")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)


class CountingClient(NotebookClient):  # type: ignore[misc]
    """A client that knows the cell it is at."""

    current = 0

    async def async_execute_cell(self, cell: Any, cell_index: int, *args: Any, **kwargs: Any) -> Any:
        """Remember the number of the cell, and run it."""
        self.current = cell_index
        return await super().async_execute_cell(cell, cell_index, *args, **kwargs)


def is_quick(notebook: Any) -> bool:
    """Return whether a notebook is stored as a quick run."""
    return bool(notebook.metadata.get("thunder_py", {}).get("quick"))


def is_long(notebook: Any) -> bool:
    """Return whether a full run of a notebook takes minutes."""
    return bool(notebook.metadata.get("thunder_py", {}).get("long"))


async def execute(stored: Any, folder: Path, quick: bool) -> tuple[Any, str | None]:
    """Return a copy of a notebook with the outputs of a run, and an error message or None."""
    made = copy.deepcopy(stored)
    resources = {"metadata": {"path": folder}}
    options: dict[str, Any] = {"record_timing": False, "coalesce_streams": True, "resources": resources}
    client = CountingClient(made, timeout=TIMEOUT, kernel_name="python3", **options)
    dropped = ("QUICK", "MPLBACKEND", "MATPLOTLIBRC", "THUNDER_MOTION_DATA")  # outputs must not depend on the caller's
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"QUICK": "1"} if quick else {}
    with tempfile.NamedTemporaryFile("w", suffix=".rc") as settings:
        print("figure.dpi:", stored.metadata.get("thunder_py", {}).get("dpi", DPI), file=settings, flush=True)
        try:
            await client.async_execute(env=environment | {"MATPLOTLIBRC": settings.name})
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            return made, f"cell {client.current}: {error}"
    made.metadata = stored.metadata  # without the version of Python
    for k, cell in enumerate(made.cells):
        for output in cell.get("outputs", ()):
            if "text/markdown" in output.get("data", {}):  # says the same
                output.data.pop("text/html", None)
            if output.get("name") == "stderr":
                return made, f"cell {k}: writes to stderr:\n{output.text}"
    return made, None


def compressed(picture: str, colors: int | None) -> str:
    """Return a PNG picture in base64 on white, with all its colors or a palette of so many."""
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGBA")
    flat = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    file = io.BytesIO()
    reduced = flat if colors is None else flat.quantize(colors, Image.Quantize.MEDIANCUT, kmeans=1)
    reduced.save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def store(made: Any, path: Path) -> str | None:
    """Write a notebook with compressed pictures, or return why it cannot be stored."""
    made = copy.deepcopy(made)
    outputs = [output.data for cell in made.cells for output in cell.get("outputs", ()) if "data" in output]
    shown = [data for data in outputs if "image/png" in data]
    drawn, levels = [data["image/png"] for data in shown], [0] * len(shown)
    for data in shown:
        data["image/png"] = compressed(data["image/png"], COLORS[0])
    while True:
        text = nbformat.writes(made) + "\n"
        size = len(text.encode())
        if size <= LIMIT:
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(path)
            return None
        left = [k for k, level in enumerate(levels) if level < len(COLORS) - 1]
        if not left:
            return f"{size} bytes with its outputs, and at most {LIMIT} are stored: lower its dpi"
        k = max(left, key=lambda k: len(shown[k]["image/png"]))
        levels[k] += 1
        shown[k]["image/png"] = compressed(drawn[k], COLORS[levels[k]])


def unit(number: str) -> float:
    """Return one unit of the last digit of a printed number with a decimal point or an exponent, else zero."""
    digits, _, exponent = number.lower().partition("e")
    _, point, decimals = digits.partition(".")
    return float(10.0 ** (int(exponent or 0) - len(decimals))) if point or exponent else 0.0


def close(old: str, new: str, tolerance: float) -> bool:
    """Return whether two printed numbers agree."""
    a, b = float(old), float(new)
    whole = not any(mark in text for text in (old, new) for mark in ".e")
    last = max(unit(old), unit(new), 1.0 if tolerance and whole else 0.0)
    return abs(a - b) <= max(1.001 * last, tolerance * abs(a)) or max(abs(a), abs(b)) < ROUNDING


def line_difference(old: str, new: str, tolerance: float) -> str | None:
    """Return how two lines differ, or None."""
    old, new = (_VERSION.sub("", line) for line in (old, new))
    words = [["".join(part.split()) for part in _NUMBER.split(line)] for line in (old, new)]
    if words[0] != words[1]:
        return f"stored {old!r}, now {new!r}"
    for a, b in zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True):
        if not close(a, b, tolerance):
            return f"stored {a}, now {b} in {new!r}"
    return None


def shown(cell: Any) -> list[tuple[str, str]]:
    """Return the kind and the text of each output of a cell."""
    outputs = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        picture = any(kind.startswith("image/") for kind in data)
        text = "" if picture else output.get("text") or next((data[kind] for kind in TEXTS if kind in data), "")
        outputs.append((", ".join(sorted(data)) or output.get("name", ""), text))
    return outputs


def cell_differences(stored: Any, made: Any) -> list[str]:
    """Return all differences between the stored outputs of a cell and new ones."""
    old, new = shown(stored), shown(made)
    if [kind for kind, _ in old] != [kind for kind, _ in new]:
        return [f"stored outputs {[kind for kind, _ in old]}, now {[kind for kind, _ in new]}"]
    tags = stored.metadata.get("tags", ())
    if "varies" in tags:
        return []
    tolerance = max((float(tag[10:-1]) / 100 for tag in tags if tag.startswith("tolerance=")), default=0.0)
    lines = ("\n".join(text.rstrip() for _, text in each).splitlines() for each in (old, new))
    pairs = enumerate(itertools.zip_longest(*lines, fillvalue=""), 1)
    found = ((k, line_difference(a, b, tolerance)) for k, (a, b) in pairs)
    return [f"line {k}: {difference}" for k, difference in found if difference]


def differences(stored: Any, made: Any, kinds: bool) -> list[str]:
    """Return all differences between the stored outputs of a notebook and new ones, or those of their kinds alone."""
    if kinds:
        stored, made = copy.deepcopy(stored), copy.deepcopy(made)
        for cell in stored.cells:
            cell.metadata["tags"] = ["varies"]
    pairs = enumerate(zip(stored.cells, made.cells, strict=True))
    return [f"cell {k}, {each}" for k, (a, b) in pairs for each in cell_differences(a, b)]


async def run(path: Path, write: bool, full: bool) -> list[str]:
    """Run one notebook, and store or compare its outputs; return what went wrong."""
    stored = nbformat.read(path, as_version=4)
    short = is_long(stored) and not (write or full)
    made, error = await execute(stored, path.parent, is_quick(stored) or short)
    if error is None and write:
        error = store(made, path)
    return differences(stored, made, short) if error is None and not write else [error] if error else []


async def run_all(paths: list[Path], write: bool, full: bool, jobs: int) -> int:
    """Run notebooks, `jobs` at a time, report on them, and return the number of those that failed."""
    free, failures, begun = asyncio.Semaphore(jobs), 0, time.monotonic()

    async def one(path: Path) -> None:
        nonlocal failures
        async with free:
            start = time.monotonic()
            errors = await run(path, write, full)
        failures += bool(errors)
        seconds = time.monotonic() - start
        print(f"{path.name}: {'failed' if errors else 'done'} after {seconds:.0f} s", flush=True)
        for error in errors:
            print(f"{path.name}, {error}", file=sys.stderr, flush=True)

    await asyncio.gather(*map(one, paths))
    print(f"{len(paths) - failures} of {len(paths)} notebooks in {time.monotonic() - begun:.0f} s")
    return failures


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of notebooks/")
    parser.add_argument("--write", action="store_true", help="store the outputs in the notebooks")
    parser.add_argument("--full", action="store_true", help="compare long notebooks too, which take minutes")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    arguments = parser.parse_args()
    paths = arguments.notebooks or sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in paths:
        if not path.is_file():
            parser.error(f"there is no notebook {path}")
    # kernels inherit the environment: one thread of linear algebra each, as several run beside each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["TQDM_DISABLE"] = "1"  # progress bars are no outputs
    resolved = [path.resolve() for path in paths]
    sys.exit(1 if asyncio.run(run_all(resolved, arguments.write, arguments.full, arguments.jobs)) else 0)


if __name__ == "__main__":
    main()
