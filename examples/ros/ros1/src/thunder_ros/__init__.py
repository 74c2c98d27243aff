"""The adapter of ROS 1 for thunder_py.realtime.nodes."""
