"""Animation of figures: in notebooks, as GIF or MP4 films, or as an HTML page with controls."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..checks import Array, positive
from ..errors import ThunderError
from ..files import whole_file
from ..progress import percentage

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: most frames of a film; more indicate a wrong unit of t
_MOST = 5000
_SUFFIXES = (".gif", ".mp4", ".html")
#: shortest duration of a frame of a GIF [0.01 s]: browsers show shorter ones for 0.1 s
_SHORTEST = 2
#: matplotlib's page takes the icons of its buttons from the network; these characters replace them
_ICONS = {
    "minus": "2212", "plus": "2b", "pause": "23f8", "play": "25b6", "fast-backward": "23ee", "fast-forward": "23ed",
    "step-backward": "23f4", "step-forward": "23f5", "flip-horizontal": "25c0",
}  # fmt: skip


def animate_figure(
    figure: Figure,
    show: Callable[[int], Any],
    frames: int,
    *,
    fps: float,
    path: str | Path | None = None,
    dpi: float = 72,
) -> FuncAnimation:
    """Return an animation of a figure; with `path`, write it, with a progress bar on terminals, and close the figure.

    Parameters
    ----------
    figure : Figure
        Figure of pyplot; its layout is kept for all frames.
    show : callable
        Called with the number of a frame, from 0; changes the artists.
    frames : int
        Number of frames.
    fps : float
        Frames per second.
    path : path-like, optional
        File that ends in ``.gif``, in ``.mp4``, which needs the program ffmpeg, or in ``.html``: a page with controls
        that contains all frames.
    dpi : float
        Dots per inch; the default keeps a GIF of some seconds below a megabyte.

    Raises
    ------
    ThunderError
        If the suffix is another, the folder does not exist, ffmpeg is missing, or `dpi` is not positive.
    """
    from matplotlib.animation import FuncAnimation
    from matplotlib.pyplot import close

    target, dots = None if path is None else _writable(Path(path)), positive(dpi, "dpi")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    animation = FuncAnimation(figure, show, frames=frames, interval=1000.0 / fps, blit=False)
    if target is not None:
        close(figure)
        _save(animation, target, fps, dots)
    return animation


def _writable(path: Path) -> Path:
    from matplotlib.animation import writers

    if path.suffix not in _SUFFIXES:
        raise ThunderError(f"path must end in .gif, .mp4 or .html, got {str(path)!r}")
    if not path.parent.is_dir():
        raise ThunderError(
            f"path must be in an existing folder, got {str(path)!r}: there is no folder {str(path.parent)!r}"
        )
    if path.suffix == ".mp4" and not writers.is_available("ffmpeg"):
        raise ThunderError("path must end in .gif or .html: MP4 needs the program ffmpeg, which is not installed")
    return path


def _save(animation: FuncAnimation, path: Path, fps: float, dpi: float) -> None:
    from matplotlib.animation import HTMLWriter, PillowWriter

    class GIFWriter(PillowWriter):
        def finish(self) -> None:
            written: Any = self
            save_gif(written.outfile, written._frames, written.fps)

    html, gif = path.suffix == ".html", cast(Any, GIFWriter)
    embedded: Any = {"fps": fps, "embed_frames": True, "embed_limit": _MOST}
    with whole_file(path) as temporary, percentage(desc=path.name) as report:
        writer: Any = HTMLWriter(**embedded) if html else gif(fps) if path.suffix == ".gif" else "ffmpeg"
        animation.save(temporary, writer=writer, dpi=dpi, progress_callback=lambda k, n: report((k + 1) / n))
        if html:
            icons = "".join(f'.fa-{name}::before{{content:"\\{code}"}}' for name, code in _ICONS.items())
            page = re.sub(r"<link[^>]*>", "", temporary.read_text())
            head = f'<meta charset="utf-8"><title>{path.stem}</title><style>.fa{{font-style:normal}}{icons}</style>'
            temporary.write_text(f"<!DOCTYPE html>{head}{page}", encoding="utf-8")


def gif_timing(count: int, fps: float) -> tuple[list[int], list[int]]:
    """Return the frames that a GIF of `count` frames at a rate shows, and their durations [ms].

    Durations are whole hundredths of a second. They are differences of rounded times, so that the film lasts as long as
    its frames. Frames that would last less than 20 ms are left out, except for the last one.
    """
    times = [round(100.0 * k / fps) for k in range(count + 1)]
    shown: list[int] = []
    starts: list[int] = []
    for k in range(count):
        start = times[k] if k < count - 1 else min(times[k], times[count] - _SHORTEST)
        while starts and start - starts[-1] < _SHORTEST and k == count - 1:
            start = starts.pop()
            shown.pop()
        if not starts or start - starts[-1] >= _SHORTEST:
            shown.append(k)
            starts.append(max(start, 0))
    ends = [*starts[1:], max(times[count], starts[-1] + _SHORTEST)]
    return shown, [10 * (end - start) for start, end in zip(starts, ends, strict=True)]


def save_gif(path: str | Path, pictures: list[Any], fps: float, **options: Any) -> None:
    """Write pictures of Pillow to a GIF that plays at a rate [1/s] and repeats."""
    shown, durations = gif_timing(len(pictures), fps)
    first, *others = (pictures[k] for k in shown)
    first.save(path, save_all=True, append_images=others, duration=durations, loop=0, **options)


def animate_view(
    ax: Axes, path: str | Path | None = None, *, duration: float = 8.0, fps: float = 10.0, dpi: float = 72
) -> FuncAnimation:
    """Animate one turn of the view of a drawing in 3-D about the vertical.

    Parameters
    ----------
    ax : Axes3D
        Axes of any drawing, such as ``robot.plot(q)``.
    path : path-like, optional
        File to write, ``.gif``, ``.mp4`` or ``.html``; its figure is closed then.
    duration : float
        Time of the turn [s].
    fps : float
        Frames per second.
    dpi : float
        Dots per inch in the file.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        Show it in a notebook with ``to_jshtml``.

    Raises
    ------
    ThunderError
        If `ax` has two dimensions, a number is not positive, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import thunder_py as th
    >>> ax = th.Robot.load("elbow").plot()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     film = th.plotting.animate_view(ax, Path(folder, "elbow.html"), duration=1.0, fps=2, dpi=30)
    ...     "<script" in Path(folder, "elbow.html").read_text()
    True
    """
    if getattr(ax, "name", None) != "3d":
        raise ThunderError(f"ax must be 3-D axes, of add_subplot(projection='3d'), got {ax!r}")
    view: Any = ax
    frames = len(film_times(np.array([0.0, positive(duration, "duration", "s")]), 1.0, fps)) - 1
    start = float(view.azim)

    def show(k: int) -> None:
        view.view_init(elev=view.elev, azim=start + 360.0 * k / frames)

    return animate_figure(view.figure.figure, show, frames, fps=fps, path=path, dpi=dpi)


def film_times(t: Array, playback_speed: float, fps: float) -> Array:
    """Return the times of the frames of a film: evenly spaced, both ends included.

    Raises
    ------
    ThunderError
        If times do not ascend, a number is not positive, or there are more than 5000 frames.
    """
    if len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise ThunderError(f"t must be at least two ascending times, got {len(t)}")
    speed, fps = positive(playback_speed, "playback_speed"), positive(fps, "fps", "1/s")
    duration = t[-1] - t[0]
    count = int(np.ceil(duration * fps / speed - 1e-9)) + 1
    if count > _MOST:
        raise ThunderError(
            f"a film must have at most {_MOST} frames, got {count}; shorten it, play it faster or lower fps"
        )
    return np.asarray(np.minimum(t[0] + np.arange(count) * speed / fps, t[-1]))


def interpolated(t: Array, values: Array, when: Array) -> Array:
    """Interpolate columns linearly; NaN spreads to adjacent times."""
    return np.stack([np.interp(when, t, column) for column in values.T], axis=-1)
