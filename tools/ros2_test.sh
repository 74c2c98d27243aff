#!/usr/bin/env bash
# Run the closed loop over ROS 2 of PyPI: tools/ros2_test.sh [WHEEL] [pytest arguments].
# ROS 2 and the wheel are installed in an environment of their own, by $PYTHON (3.10 or later; the wheel's version).
# Without an argument the checkout is built, which takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build

what=${1:-.}
shift || true
python=build/ros2-venv/bin/python
[[ -x $python ]] || "${PYTHON:-python3}" -m venv build/ros2-venv
$python -m pip install -q "numpy>=1.26" "scipy>=1.11" "pyyaml>=6" "lazy_loader>=0.4" pytest pytest-xdist \
  "ros-kilted-rclpy[fastrtps]==9.1.2" ros-diagnostic-msgs ros-geometry-msgs ros-sensor-msgs ros-std-msgs ros-std-srvs \
  ros-trajectory-msgs
$python -m pip install -q --no-deps --force-reinstall "$what"
exec "$python" -m pytest -n0 -q tests/ros/test_ros2_loop.py "$@"
