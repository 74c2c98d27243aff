"""Grasping moving objects (D4.2, section 6.1)."""
