"""Joint judgments of the papers' numbers."""
