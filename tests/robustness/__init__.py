"""Threads, memory, signals and hostile arguments."""
