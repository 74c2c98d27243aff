"""Human-like planning (D4.2, section 5.1.2)."""
