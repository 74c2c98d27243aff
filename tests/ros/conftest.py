"""Checks that tests of both ROS share are explained as those of a test file are."""

import pytest

pytest.register_assert_rewrite("tests.ros.closed_loop", "tests.ros.closed_tasks")
