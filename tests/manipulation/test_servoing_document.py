"""docs/visual_servoing.md: its tables are the code's."""

import re
from pathlib import Path

from thunder_py.manipulation.servoing.pick_machine import TRANSITIONS, PickPhase, PickReason
from thunder_py.manipulation.servoing.tracker import Trouble

TEXT = (Path(__file__).parents[2] / "docs" / "visual_servoing.md").read_text()


def test_table_of_phases_is_that_of_the_machine():
    for phase in PickPhase:
        if phase.over:
            continue
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{phase.value}` |"))
        named = {PickPhase(word) for word in re.findall(r"`(\w+)`", row)} - {phase}
        assert named == set(TRANSITIONS[phase]), phase


def test_names_of_the_page_are_there():
    words = set(re.findall(r"`(\w+)`", TEXT))
    assert {t.name for t in Trouble if t is not Trouble.none} <= words
    for word in ("source_invalid", "source_frozen", "source_silent", "source_failed", "target_lost", "target_jumped"):
        assert word in words
        assert word in PickReason.__members__
