"""Worker processes for all tests of this folder: each takes a second to start."""

from collections.abc import Iterator

import pytest

from thunder_py.parallel import shared_workers


@pytest.fixture(scope="package")
def processes() -> Iterator[None]:
    """Keep worker processes between tests; started by the first one that needs them."""
    with shared_workers():
        yield
