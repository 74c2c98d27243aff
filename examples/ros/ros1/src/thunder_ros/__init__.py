"""Nodes of ROS 1 around thunder_py.realtime: messages are converted here, and nothing else is done."""
