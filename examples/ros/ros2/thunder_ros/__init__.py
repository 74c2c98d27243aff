"""Nodes of ROS 2 around thunder_py.realtime.nodes: here is what rclpy does in its own way, and nothing else."""
