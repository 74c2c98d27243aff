"""Throwing (D4.2, section 3.3.3)."""
