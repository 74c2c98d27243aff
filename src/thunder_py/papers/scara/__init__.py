"""The SCARA project."""
