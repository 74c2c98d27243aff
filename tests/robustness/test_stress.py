import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.release
@pytest.mark.parametrize("seed", [1])
def test_stress(seed: int) -> None:
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.robustness.stress", "--seconds", "3"]
    done = subprocess.run(
        [*command, "--seed", str(seed)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.startswith(f"seed {seed}, 3 s, 4 threads\n")
    assert "use " in done.stdout
