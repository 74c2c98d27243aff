#!/usr/bin/env bash
# Run the closed loop over ROS 2 of PyPI: tools/ros2_test.sh [WHEEL | FOLDER OF SITE-PACKAGES] [pytest arguments].
# ROS 2 is installed in an environment of its own, by $PYTHON (3.11; the wheel's version), with the wheel beside what it
# needs. A folder of site-packages of the same version, such as that of the environment that ran the other tests, is used
# as it is: then only ROS 2 is installed. Without an argument the checkout is built, which takes minutes.
# tools/ros2_test.sh --prepare installs ROS 2 and makes the messages, and runs nothing: it can run beside other steps.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build

python=$PWD/build/ros2-venv/bin/python
[[ -x $python ]] || "${PYTHON:-python3}" -m venv build/ros2-venv
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
ros=("ros-kilted-rclpy[fastrtps]==9.1.2" ros-diagnostic-msgs ros-geometry-msgs ros-sensor-msgs ros-std-msgs ros-std-srvs
  ros-trajectory-msgs catkin_pkg)
prepare() {
  "$python" -m pip install -q "${ros[@]}" > build/ros2_pip.log 2>&1 || {
    cat build/ros2_pip.log >&2
    return 1
  }
  # the messages of the action are on no package index; made again only where their definitions changed
  made=$site/control_msgs/made
  if [[ ! -f $made || -n $(find tools/control_msgs.py tests/ros/control_msgs -newer "$made") ]]; then
    rm -rf "$site/control_msgs"
    AMENT_PREFIX_PATH=$PWD/build/ros2-venv "$python" tools/control_msgs.py 2 "$site" > build/ros2_messages.log 2>&1 || {
      tail -n 20 build/ros2_messages.log >&2
      return 1
    }
    touch "$made"
  fi
}

prepare
[[ ${1:-} != --prepare ]] || exit 0
what=${1:-.}
shift || true
rm -f "$site/thunder-site.pth"
if [[ -d $what && $what != . ]]; then
  "$python" -m pip uninstall -q -y thunder_py  # of an earlier run with a wheel
  printf 'import site; site.addsitedir("%s")\n' "$(realpath "$what")" > "$site/thunder-site.pth"
else
  "$python" -m pip install -q "numpy>=1.26" "scipy>=1.11" "pyyaml>=6" joblib tqdm rosbags opencv-python-headless pytest pytest-xdist
  "$python" -m pip install -q --no-deps --force-reinstall "$what"
fi > build/ros2_pip.log 2>&1 || {
  cat build/ros2_pip.log >&2
  exit 1
}
exec "$python" -m pytest -n0 -q tests/ros/test_ros2_loop.py "$@"
