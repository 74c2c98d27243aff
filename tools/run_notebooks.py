"""Run notebooks, two at a time, and write them with what they show to build/notebooks, from where the site takes them.

Usage: [QUICK=1] python tools/run_notebooks.py [--jobs N] [--output FOLDER] [NOTEBOOK ...]

Without names, all of notebooks/ are run, in that folder. A failure names notebook and cell, the others go on, and
the exit code is 1. A notebook that was run with QUICK=1 says so in its metadata, and the site says it to the reader.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

ROOT = Path(__file__).parent.parent
TIMEOUT = 1800  # of one cell [s]


class CountingClient(NotebookClient):  # type: ignore[misc]
    """A client that knows the cell it is at."""

    current = 0

    async def async_execute_cell(self, cell: Any, cell_index: int, *args: Any, **kwargs: Any) -> Any:
        """Remember the number of the cell, and run it."""
        self.current = cell_index
        return await super().async_execute_cell(cell, cell_index, *args, **kwargs)


def write_whole(notebook: Any, path: Path) -> None:
    """Write beside the place, then move there."""
    unfinished = path.with_suffix(".unfinished")
    nbformat.write(notebook, unfinished)
    unfinished.replace(path)


async def run(path: Path, folder: Path) -> str | None:
    """Run one notebook in its folder and write it to another one; return what went wrong."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": path.parent}}
    client = CountingClient(notebook, timeout=TIMEOUT, kernel_name="python3", resources=resources)
    (folder / path.name).unlink(missing_ok=True)  # what an earlier run left would hide a failure
    try:
        await client.async_execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        return f"{path.name}, cell {client.current}: {error}"
    notebook.metadata["thunder_py"] = {"quick": bool(os.environ.get("QUICK"))}
    write_whole(notebook, folder / path.name)
    return None


async def run_all(paths: list[Path], folder: Path, jobs: int) -> int:
    """Run notebooks, `jobs` at a time, tell how they went, and return the number of failures."""
    free, failures, begun = asyncio.Semaphore(jobs), 0, time.monotonic()

    async def one(path: Path) -> None:
        nonlocal failures
        async with free:
            start = time.monotonic()
            trouble = await run(path, folder)
        failures += trouble is not None
        seconds = time.monotonic() - start
        print(f"{path.name}: {'failed' if trouble else 'done'} after {seconds:.0f} s", flush=True)
        if trouble:
            print(trouble, file=sys.stderr, flush=True)

    await asyncio.gather(*map(one, paths))
    print(f"{len(paths) - failures} of {len(paths)} notebooks in {time.monotonic() - begun:.0f} s, in {folder}")
    return failures


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of notebooks/")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "notebooks", help="folder (build/notebooks)")
    given = parser.parse_args()
    paths = given.notebooks or sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in paths:
        if not path.is_file():
            parser.error(f"there is no notebook {path}")
    # kernels inherit the environment: one thread of linear algebra each, as several run beside each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    given.output.mkdir(parents=True, exist_ok=True)
    sys.exit(1 if asyncio.run(run_all([path.resolve() for path in paths], given.output, given.jobs)) else 0)


if __name__ == "__main__":
    main()
