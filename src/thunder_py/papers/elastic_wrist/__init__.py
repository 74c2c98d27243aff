"""Throwing with an elastic wrist (D4.2, section 4)."""
