"""Drives of arms: the protocol, an adapter for each published package, and a simulated one."""
