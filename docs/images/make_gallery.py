"""Draw the pictures of docs/gallery.md: ``python docs/images/make_gallery.py [NAME ...]``.

The page lists the pictures: each is followed by its command ``thunder experiment ...`` or by a Python expression.
NAME is a picture without its suffix, or an experiment: its picture and those whose names begin with ``EXPERIMENT_``.
"""

from __future__ import annotations

import re
import sys
import time
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from PIL import Image

from thunder_py.papers import run_experiment
from thunder_py.papers.lectures.run import adaptation_study, passivity_study
from thunder_py.papers.speed.table import count_operations, plot_operations
from thunder_py.plotting import style

PAGE = Path(__file__).parents[1] / "gallery.md"
FOLDER = Path(__file__).parent / "gallery"
WIDTH = 900  # [pixels]
LARGEST = 60_000  # [bytes]
_IMAGE = re.compile(r"^!\[.+\]\(images/gallery/([\w-]+)\.png\)$", re.MULTILINE)
_COMMAND = re.compile(r"^thunder experiment (\S+)(.*)$", re.MULTILINE)
_EXPRESSION = re.compile(r"`([a-z_]+\(.*\))`")


def entries(page: str) -> dict[str, str]:
    """Return the Python expression of each picture of the page."""
    parts = _IMAGE.split(page)[1:]
    found = {}
    for picture, text in zip(parts[::2], parts[1::2], strict=True):
        command = _COMMAND.search(text)
        if command:
            quick = ", quick=True" if "--quick" in command[2].split() else ""
            found[picture] = f'run_experiment("{command[1]}"{quick}).plot()'
        else:
            found[picture] = _EXPRESSION.findall(text)[-1]
    return found


def draw(expression: str) -> Any:
    """Return the figure of an expression of the page; experiments run once."""
    names = {
        "run_experiment": _run,
        "adaptation_study": adaptation_study,
        "passivity_study": passivity_study,
        "plot_operations": plot_operations,
        "count_operations": count_operations,
    }
    return eval(expression, {"__builtins__": {"range": range}}, names)


@cache
def _run(name: str, quick: bool = False) -> Any:
    return run_experiment(name, quick)


def palette() -> Any:
    """Return shades of the plot style's colors up to white, viridis and a coarse grid of all, (c <= 256, 3)."""
    named = {value for value in vars(style).values() if isinstance(value, str) and value.startswith("#")}
    shades = np.linspace(1.0, 0.1, 6)[:, None]
    rows = [255.0 + shades * (255.0 * np.array(to_rgb(color)) - 255.0) for color in sorted(named)]
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 255.0, 5)] * 3), axis=-1).reshape(-1, 3)
    maps = 255.0 * plt.get_cmap("viridis")(np.linspace(0.0, 1.0, 24))[:, :3]
    return np.concatenate([grid, maps, *rows])[:256].round().astype(int)


def compressed(figure: Any) -> bytes:
    """Return a figure as PNG in the colors of `palette`, at most `LARGEST` bytes."""
    colors = palette()
    for width in (WIDTH, WIDTH * 3 // 4, WIDTH // 2, WIDTH // 3):
        raw, small = BytesIO(), BytesIO()
        figure.savefig(raw, format="png", dpi=width / figure.get_size_inches()[0])
        pixels = np.asarray(Image.open(raw).convert("RGB"), dtype=int)
        # each color once: a picture has some thousands
        values, places = np.unique(pixels @ [65536, 256, 1], return_inverse=True)
        rgb = np.stack([values >> 16, values >> 8 & 255, values & 255], axis=-1)
        nearest = np.array([np.argmin(np.sum((colors - color) ** 2, axis=1)) for color in rgb], dtype=np.uint8)
        picture = Image.fromarray(nearest[places].reshape(pixels.shape[:2]))
        picture.putpalette(colors.astype(np.uint8).tobytes())
        picture.save(small, format="png", optimize=True)
        if len(small.getvalue()) <= LARGEST:
            break
    return small.getvalue()


def main(names: list[str]) -> int:
    """Draw the named pictures, or all; return the number of failures."""
    pictures = entries(PAGE.read_text(encoding="utf-8"))
    chosen = [p for p in pictures if not names or any(p == n or p.startswith(f"{n}_") for n in names)]
    unknown = [n for n in names if not any(p == n or p.startswith(f"{n}_") for p in pictures)]
    if unknown:
        print(f"no picture of {PAGE.name} is called {', '.join(unknown)}", file=sys.stderr)
    FOLDER.mkdir(exist_ok=True)
    failures = len(unknown)
    for picture in chosen:
        start = time.perf_counter()
        try:
            content = compressed(draw(pictures[picture]))
        except Exception as error:  # the others do not depend on it
            failures += 1
            print(f"{picture}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        finally:
            plt.close("all")
        (FOLDER / f"{picture}.png").write_bytes(content)
        print(f"{picture}: {len(content) / 1000:.0f} kB, {time.perf_counter() - start:.0f} s", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
