"""Picking by visual servoing (D4.2, section 6.2)."""
