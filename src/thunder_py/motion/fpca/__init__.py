"""Functional principal component analysis of motions (D4.2, section 5.1.1)."""
