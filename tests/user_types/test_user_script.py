"""The script that is checked by ``mypy --strict`` (in .ci/run) runs, too: its annotations are no wishes."""

from __future__ import annotations

import pytest

from tests.user_types.user_script import main


@pytest.mark.release
def test_user_script(tmp_path):
    main(tmp_path)
